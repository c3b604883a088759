"""Measures: one module a family, each formula in one place, in the paper's words.

A family is a module (or any object another package offers under the entry-point group `karat.measures`) with

    CARD                          what `karat explain` tells of it
    Parameters                    a struct: what a protocol's [[measures]] entry may say to it
    measures(parameters, setting) the measures of one run, each a `Measure`

A measure has two faces: `count(table)`, and, only when asked, `outcomes(table)`: which gold item met which system
item and what that contributed. The outcomes of a table sum to its counts; a law checks that for every measure.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct

from karat.align import Comparison
from karat.counts import Counts
from karat.model import Mention
from karat.registry import Registry

Law = Literal["perfect", "bounded", "order", "ids", "additive", "outcomes", "swap"]
"""What can be promised of a measure or a protocol; the test suite checks every promise.

perfect    gold against itself scores 1 wherever the score is defined
bounded    scores lie between 0 and 1
order      the order of documents and links does not matter
ids        renaming mentions and clusters changes nothing
additive   counts of documents add up to the counts of the corpus
outcomes   outcomes sum to counts
swap       swapping the two sides swaps precision and recall
"""


class Card(Struct, frozen=True):
    """What a person should know of a family of measures."""

    title: str
    rows: dict[str, str]
    """Ids (or patterns of ids) of its measures, each with what it counts."""
    formula: str
    citation: str
    traps: tuple[str, ...] = ()
    """What readers of the score get wrong."""
    departures: tuple[str, ...] = ()
    """Where paper and program differ, and what karat does."""
    laws: tuple[Law, ...] = ()


class Outcome(Struct, frozen=True):
    """One gold item, one system item, or the two that met, and what that contributed."""

    gold: Mention | None
    system: Mention | None
    counts: Counts


class Measure(Protocol):
    """One row of a result."""

    @property
    def id(self) -> str:
        """Its name, from the command line to the JSON."""
        ...

    @property
    def kind(self) -> type[Counts]:
        """What its counts are."""
        ...

    @property
    def artefact(self) -> Any:
        """The table it reads."""
        ...

    def count(self, table: Any) -> Counts:
        """The counts of a unit."""
        ...

    def outcomes(self, table: Any) -> Iterator[Outcome]:
        """What the counts are made of."""
        ...


class AlignmentChoice(Struct, frozen=True, forbid_unknown_fields=True):
    """An alignment as a protocol names it."""

    similarity: str = "dice"
    agree: str = "span"
    """Attributes that must agree, joined by `+`; `span`: none."""
    method: str = "greedy"
    threshold: float = 0.0
    """The least similarity; zero still means some overlap."""
    ties: Literal["line"] = "line"


class Setting(Struct, frozen=True):
    """What a family may know of the run it is set up for."""

    attributes: Sequence[str]
    """Attributes on at least one gold mention: type, realis, then by name."""
    alignments: Mapping[str, AlignmentChoice]
    comparison: Comparison


MEASURES = Registry(sys.modules[__name__], "measure", option="karat measures")
