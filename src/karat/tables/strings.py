"""Strings of fillers, normalised as question answering does it (Rajpurkar et al. 2016), and their assignment."""

import re
import string
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from math import lcm

from karat.align.assignment import Edge, assignment

_DELETED = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


@lru_cache(maxsize=65536)
def normalised(text: str) -> str:
    """In lower case, without ASCII punctuation (deleted, not blanked), articles and needless white space."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_DELETED)).split())


def best_pairs(values: Mapping[Edge, Fraction]) -> list[Edge]:
    """The one-to-one assignment with the greatest sum of values, computed with whole numbers (see `assignment`)."""
    scale = lcm(*{value.denominator for value in values.values()})
    return assignment({pair: int(value * scale) for pair, value in values.items() if value})
