"""Alignment: which gold mention meets which system mention.

Three separate ideas, each a small function chosen by name in a protocol: how alike two mentions are (`similarity`),
which attributes must agree (`attributes`), and how the pairs are picked (`methods`). All work on candidate pairs,
tuples `(-similarity, system, gold)` of mention numbers, so that sorting them is the order in which they are tried:
most alike first, ties by system line, then by gold line.
"""

from karat.align.attributes import Comparison, agreement
from karat.align.methods import METHODS, Method
from karat.align.similarity import SIMILARITIES, Candidates

__all__ = ["METHODS", "SIMILARITIES", "Candidates", "Comparison", "Method", "agreement"]
