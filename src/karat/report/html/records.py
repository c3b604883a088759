"""The data that the script of a page reads. Records are encoded as JSON arrays, in the order of their fields."""

from collections.abc import Sequence
from typing import Any

from msgspec import Raw, Struct

from karat.model import Value

Segments = list[tuple[int, int]]

Reference = int | tuple[int]
"""An item of an outcome: a mention by its number; another item of the document, counted from -1 down; or, as an array
of one number, an item that is in several documents."""


class MentionData(Struct, array_like=True, gc=False):
    """A mention of one side of a document."""

    id: str
    place: Segments
    """Where it is in the text that is shown, in UTF-16 code units, as scripts count; empty if it is not known."""
    text: str | None
    kind: str
    cluster: str | None
    attributes: dict[str, Value]
    line: int | None
    span: str
    """Its offsets as the file has them; empty if these are those of `place`."""


class ItemData(Struct, array_like=True, frozen=True, gc=False):
    """An item of an outcome that is not a mention."""

    form: str
    """cluster, link, tree or element."""
    label: str
    parts: tuple[tuple[Any, ...], ...]
    """Numbers of the mentions of each of its parts: a cluster has one part, a link two, a tree one per event. If the
    item is in several documents, a mention is a pair of numbers: of the document, and in it."""
    about: str = ""
    """Its attributes, and what else is known about it."""


class OutcomeData(Struct, array_like=True, gc=False):
    """An outcome of a measure."""

    outcome: int
    """The number of its class in `IndexData.outcomes`; counted from -1 down if an earlier document lists it, too."""
    gold: Reference | None
    system: Reference | None
    earned: int
    """Its share of the score, as a number in `DocumentData.notes`."""


class OutcomeClass(Struct, array_like=True, frozen=True):
    """A class of outcomes as the page shows it."""

    name: str
    label: str
    tone: str
    """right, missed, spurious, wrong or other."""
    about: str = ""
    """An explanation, if the name is not enough."""


class DocumentData(Struct, omit_defaults=True):
    """A document with gold's mentions and those of every system."""

    unit: str
    text: str | None
    mentions: list[Raw]
    """Of gold, then of each system: arrays of `MentionData`."""
    items: list[Raw]
    """Likewise: arrays of `ItemData`."""
    links: list[Sequence[tuple[str, str, str]]]
    """Likewise: kind, source and target of each link."""
    outcomes: list[Raw]
    """Of each system: for each measure an array of `OutcomeData`."""
    notes: list[str]


class MeasureData(Struct):
    """A choice of marks over the text: the outcomes of a measure, or its errors by class."""

    label: str
    protocol: str
    outcomes: int
    """The number of its outcomes in `IndexData.measures`: its own, or, of errors by class, those of the measure."""


class IndexData(Struct):
    """Index of the documents."""

    systems: list[str]
    measures: list[MeasureData]
    outcomes: list[OutcomeClass]
    documents: list[str]
    """Their ids."""
    items: list[list[ItemData]]
    """Of gold, then of each system: the items that are in several documents."""
    measure: int
    """The number of the measure to show first."""
    a: int
    """The number of the system to show first."""
    b: int
    """The number of the system to show beside it; -1: none."""
