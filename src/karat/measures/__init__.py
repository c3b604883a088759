"""Measures: one module a family, each formula in one place, in the paper's words.

A family is a module (or any object another package offers under the entry-point group `karat.measures`) with

    CARD                          what `karat explain` tells of it
    Parameters                    a struct: what a protocol's [[measures]] entry may say to it
    measures(parameters, setting) the rows of one run, each a `Measure`, or a `Composite` of others
    absent(parameters, setting)   if it has that: rows that cannot be scored in this run by their ids, and why

A measure has two faces: `count(table)`, and, only when asked, `outcomes(table)`: which gold item met which system
item and what that contributed. The outcomes of a table sum to its counts; a law checks that for every measure.
A measure may also offer `remarks(table, counts)`: findings on a unit that a reader of the score should know.
"""

import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct

from karat.align import Comparison
from karat.counts import Counts, Scores, ScoreValues
from karat.errors import Rule, nearest
from karat.model import Mention, Value
from karat.registry import Registry, modules_of
from karat.tables.aligned import Alignment, CandidatePairs

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


class Item(Struct, frozen=True):
    """What an outcome is about, where that is not a mention."""

    kind: str
    attributes: Mapping[str, Value]


class Outcome(Struct, frozen=True):
    """One gold item, one system item, or the two that met, and what that contributed."""

    gold: Mention | Item | None
    system: Mention | Item | None
    counts: Counts


class Detail(Struct, frozen=True):
    """One thing that `--details` tells: an item, or a part of one, with the attributes that can be confused."""

    part: str
    """What it is: an entity, a mention of it, an argument, ..."""
    gold: Item | None
    system: Item | None
    told: Mapping[str, Any] | None = None
    """What is listed of it; None: it is only counted."""


class Measure(Protocol):
    """One row of a result. It may have `fields`, more to break its outcomes down by, and `details(table)`."""

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


class Composite(Struct, frozen=True):
    """A row that is a function of other rows' finished scores; it has no counts of its own."""

    id: str
    of: tuple[str, ...]
    combine: Callable[[Sequence[ScoreValues]], Scores]
    """From those rows, finished and with their counts, to its own scores."""


class AlignmentChoice(Struct, frozen=True, forbid_unknown_fields=True):
    """An alignment as a protocol names it."""

    similarity: str = "dice"
    agree: str = "span"
    """Attributes that must agree, joined by `+`; `span`: none."""
    agreement: Literal["before", "after"] = "before"
    """Whether pairs that disagree cannot be aligned, or are aligned like others and then dropped."""
    reward: Literal["none", "attributes"] = "none"
    """`attributes`: each attribute that agrees adds one to the similarity."""
    method: str = "greedy"
    threshold: float = 0.0
    """The least similarity; zero still means some overlap."""
    ties: Literal["line"] = "line"

    def aligned(self, attributes: tuple[str, ...], comparison: Comparison, *, agree: tuple[str, ...]) -> Alignment:
        """The artefact: this alignment with these attributes compared, and some of them required to agree."""
        candidates = CandidatePairs(self.similarity, attributes, comparison, self.reward == "attributes")
        return Alignment(candidates, agree, self.method, self.threshold, self.agreement)


NOT_SCORED = {"id", "ids", "text", "confidence", "confidences", "optional", "relation", "sentence", "validated"}
NOT_IN_GOLD = Rule("attribute-unknown", "fatal", "Only what is on at least one gold mention can be scored.")


class Setting(Struct, frozen=True):
    """What a family may know of the run it is set up for."""

    attributes: Sequence[str]
    """Attributes on at least one gold mention: type, realis, then by name."""
    alignments: Mapping[str, AlignmentChoice]
    comparison: Comparison
    links: Sequence[str] = ()
    """Kinds of links that gold has between mentions that are scored, by name."""
    gold_kinds: Collection[str] = ()
    """Kinds that gold has anywhere."""
    system_kinds: Collection[str] = ()

    def scored(self, named: Sequence[str]) -> tuple[str, ...]:
        """The attributes to score: those named, else all that gold has (not ids, confidences, text)."""
        for name in named:
            if name not in self.attributes:
                raise NOT_IN_GOLD.error(f"no gold mention has the attribute {name!r}. {nearest(name, self.attributes)}")
        return tuple(dict.fromkeys(named)) or tuple(name for name in self.attributes if name not in NOT_SCORED)


MEASURES: Registry[Any] = Registry(
    __name__,
    "measure",
    own=lambda: modules_of(sys.modules[__name__]),
    accept=lambda module: module,
    listed_by="karat measures",
)
