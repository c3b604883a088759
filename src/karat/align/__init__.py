"""Alignment: which gold mention meets which system mention.

Three separate ideas, each a small function chosen by name in a protocol: how alike two mentions are (`similarity`),
which attributes agree (`attributes`), and how the pairs are picked (`methods`). All work on candidate pairs
`(-similarity, system, gold, agreeing)`: mention numbers, and a bit for each attribute that agrees. Sorting candidates
puts them into the order of trial: most alike first, ties by system line, then by gold line.
"""

from karat.align.attributes import Comparison, agreement
from karat.align.methods import METHODS, Candidate, Match
from karat.align.similarity import SIMILARITIES

__all__ = ["METHODS", "SIMILARITIES", "Candidate", "Comparison", "Match", "agreement"]
