"""Units as an analysis of errors reads them, and the errors that it finds there."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple

from msgspec import Struct

from karat.insight.records import UnitRecords
from karat.insight.repairs import Repair
from karat.match.events import BothEvents, Events
from karat.model import Document, Pair
from karat.plugin import AlignedPairs, AlignmentSpec, Comparison, ErrorsOf, Item, Measure, Tables, TableSpec
from karat.records import Cell, Instance

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


def document_view(tables: Tables, alignments: Iterable[AlignmentSpec]) -> DocumentView:
    """Return what an analysis reads of a document."""
    aligned = {alignment: tables.get(alignment) for alignment in alignments}
    return DocumentView(tables.pair.gold.id, tables.pair, aligned, tables.get(BothEvents()))


def counted_tables(
    measures: Sequence[Measure[Any, Any]],
    tables: Mapping[TableSpec[Any], Any],
    documents: Mapping[str, Mapping[TableSpec[Any], Any]],
) -> Iterator[CountedTable]:
    """Yield the tables of a unit that measures count; those that are counted item by item come document by document.

    `tables` are the finished tables of the unit, `documents` those of each of its documents.
    """
    for measure in measures:
        if len(documents) == 1:
            yield CountedTable(next(iter(documents)), measure, tables[measure.table])
        elif measure.table.counted == "item":
            for id_, document_tables in documents.items():
                yield CountedTable(id_, measure, document_tables[measure.table])
        else:
            yield CountedTable(None, measure, tables[measure.table])


class UnitView(NamedTuple):
    """A unit of evaluation: its documents, the tables that were counted, and records of its items."""

    name: str
    documents: Mapping[str, DocumentView]
    tables: Sequence[CountedTable]
    records: UnitRecords
    comparison: Comparison
    collapsed: bool
    """The protocol keeps one mention per cluster."""

    def instance(
        self, document: str | None, gold: Iterable[Item | None], system: Iterable[Item | None], outcomes: int = 1
    ) -> Instance:
        """Return an error: the records of the items of both sides."""
        record = self.records.record
        golds = tuple(found for item in gold if (found := record(item, "gold", document)) is not None)
        systems = tuple(found for item in system if (found := record(item, "system", document)) is not None)
        return Instance(self.name, document, golds, systems, outcomes)

    @property
    def alignment(self) -> AlignmentSpec:
        """The alignment of mentions by which clusters and links are compared."""
        alignment = self.tables[0].measure.table.alignment
        assert alignment is not None, "clusters and links are compared by an alignment of mentions"
        return alignment


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


class Target(NamedTuple):
    """A measure to analyse."""

    id: str
    errors_of: ErrorsOf
    measures: Sequence[Measure[Any, Any]]
    """Itself, or those that it combines."""

    @property
    def attributes(self) -> tuple[str, ...]:
        """Attributes of mentions that must be right."""
        return tuple(dict.fromkeys(name for measure in self.measures for name in measure.attributes))

    @property
    def subjects(self) -> frozenset[str]:
        """The attributes and kinds of links that it scores; every measure of elements has elements of its own."""
        if self.errors_of == "elements":
            return frozenset({self.id})
        return frozenset(self.attributes).union(
            *((*measure.table.link_kinds, *measure.table.relations) for measure in self.measures)
        )


class ErrorKind(NamedTuple):
    """Errors of one kind of item: their classes, and how they are found. A module of errors offers it as `ERRORS`."""

    classes: Callable[[Target, Set[str]], Classes]
    """Classes in the order of definition; given the names of those that occur, it leaves out irrelevant ones."""
    find: Callable[[UnitView, Target, Sequence[str]], Findings]
    """Find the errors of a unit, and the confusions of some attributes."""


class UnitErrors(NamedTuple):
    """The errors of a unit behind one measure."""

    findings: Findings
    values: list[tuple[str, str, tuple[str | None, ...]]]
    """For each error and each field of a breakdown: the class, the field, the value of each of its parts."""
