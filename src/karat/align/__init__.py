"""Alignment: which gold mention is matched with which system mention.

Three separate ideas, each chosen by name in a protocol: how alike two mentions are (`similarities`), which attributes
agree (`attributes`), and how pairs are chosen (`matchings`). All work on candidates: the negative similarity, the
numbers of the system's and of gold's mention, and one bit per attribute that agrees. Sorted, candidates are in the
order of trial: most alike first, then by the order of the system's mentions, then by that of gold's.
"""

from karat.align.matchings import MATCHINGS
from karat.align.similarities import SIMILARITIES

__all__ = ["MATCHINGS", "SIMILARITIES"]
