"""What an analysis reads of a unit, and the errors that it finds there."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from karat.engine.records import UnitRecords
from karat.insight.edits import Repair
from karat.model import Document, Pair
from karat.plugin import AlignedPairs, AlignmentSpec, Comparison, Measure
from karat.results.errors import Cell, Instance
from karat.tables.events import Events

Classes = Mapping[str, str]
"""The names of error classes in the order of definition, each with what it is."""


class DocumentView(NamedTuple):
    """A document after filters and collapse."""

    id: str
    pair: Pair
    aligned: Mapping[AlignmentSpec, AlignedPairs]
    """The alignments behind the tables of clusters and links."""
    events: tuple[Events, Events]

    @property
    def document(self) -> Document:
        """Its gold side, for fields of documents."""
        return self.pair.gold


class CountedTable(NamedTuple):
    """A table that was counted, its measure, and its document (None: it has several)."""

    document: str | None
    measure: Measure[Any, Any]
    table: Any


class UnitView(NamedTuple):
    """A unit of evaluation: its documents, the tables that were counted, and records of its items."""

    name: str
    documents: Mapping[str, DocumentView]
    tables: Sequence[CountedTable]
    records: UnitRecords
    comparison: Comparison


class FoundError(Struct, frozen=True, gc=False):
    """An error, and what repairs it. Errors of one class may share a repair, which repairs all of them."""

    name: str
    """Of its class."""
    instance: Instance
    repairs: Sequence[Repair]


class Findings(NamedTuple):
    """The errors of a unit, and how often values of attributes met."""

    errors: Sequence[FoundError]
    confusions: Mapping[str, Mapping[Cell, int]]
