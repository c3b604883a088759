"""Rows: what a run keeps of a document, and of a unit of evaluation, under one protocol.

A document becomes a `DocumentRow`. If each document is a unit, its tables are counted at once and released. Otherwise
the row keeps its small tables until `finish` (`karat.run.units`) has seen the rows of all documents, adds the tables
of each unit, and makes a `UnitRow` of it. Everything after that is a function of lists of rows.
"""

from array import array
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import astuple

from karat.model import Document, Value
from karat.plugin import Averages, Composite, Measure, Tables, TableSpec, UnitOfEvaluation
from karat.problems import Rule

if TYPE_CHECKING:
    from karat.insight.records import DocumentRecords
    from karat.insight.units import DocumentView, UnitErrors
    from karat.records import OutcomeRecord
    from karat.result import ItemCounts
    from karat.run.details import ListedItems
    from karat.run.fields import FieldValue


NO_COUNTS = array("d")


class FieldRow(Struct, gc=False):
    """A row's share of a breakdown by one field."""

    counts: "list[tuple[FieldValue, str, array[float]]]"
    """By value and measure: the sum of outcomes, of each document whose outcomes can be told apart."""
    parts: "list[tuple[FieldValue, int, DocumentRow]]"
    """By value and number of the alignment: the document restricted to mentions with that value."""
    items: "dict[tuple[FieldValue, str], ItemCounts]"
    """By value and measure: how many items there are."""
    spellings: "dict[FieldValue, tuple[bool, str]]"
    """The spelling of each value; gold's spelling sorts first."""


ClassCounts = Mapping[Value, tuple[float, ...]]
"""The counts of each value of an attribute."""


class UnitRow(Struct, gc=False):
    """The counts of a unit of evaluation, and, on request, what lies behind them."""

    unit: str
    gold: int
    """The number of gold's mentions that are aligned."""
    system: int
    counts: "array[float]" = NO_COUNTS
    """The counts of all measures, one after another."""
    unmatchable: Mapping[str, Mapping[str, int]] = {}
    """By measure: items that cannot be matched, and how many."""
    tallies: Mapping[tuple[Rule, str], int] = {}
    """By rule and items: their number."""
    differences: Mapping[str, Mapping[str, int]] = {}
    """By measure: what makes its score differ from that of other protocols, and how often."""
    by: tuple[FieldRow, ...] = ()
    """For each field of a breakdown: sums of outcomes."""
    classes: Mapping[tuple[str, str], ClassCounts] = {}
    """By measure and attribute: counts for the averages over classes."""
    outcomes: "Mapping[str, list[OutcomeRecord]]" = {}
    """With details, by measure."""
    listed: "Mapping[str, ListedItems]" = {}
    """With details: what measures list in place of their outcomes."""
    errors: "tuple[UnitErrors | None, ...]" = ()
    """With errors: those behind each measure that is analysed."""


class DocumentRow(UnitRow, gc=False):
    """A document under one protocol; it has counts if it is a unit by itself, and else its tables."""

    about: Document | None = None
    """The document without its content."""
    tables: tuple[Any, ...] = ()
    """The tables that are counted, in the order of their specs."""
    scored: tuple[int, int] = (0, 0)
    """The numbers of gold and system mentions that the filters leave, singletons included."""
    collapsed: tuple[int, int, int, int] | None = None
    """The numbers of mentions before and after the collapse, of gold and of the system; None: no collapse."""
    has_same_mentions: bool = False
    """True if both sides have the same mentions."""
    parts: tuple[FieldRow, ...] = ()
    """For each field of a breakdown: the document restricted to each value."""
    records: "DocumentRecords | None" = None
    """With details or errors, until the unit is complete: records of its items."""
    view: "DocumentView | None" = None
    """With errors, until the unit is complete: the document and its alignments."""


AveragedMeasure = tuple[Measure[Any, Any], Averages]
"""A measure, and how its units are averaged."""


class MeasureSet:
    """Measures, the tables that they read, and the composites that are computed from their scores."""

    def __init__(
        self,
        measures: Sequence[AveragedMeasure],
        composites: Sequence[tuple[Composite, Averages]],
        *,
        unit: UnitOfEvaluation,
    ) -> None:
        self.measures, self.composites = measures, composites
        self.specs: list[TableSpec[Any]] = list(dict.fromkeys(measure.table for measure, _ in measures))
        self.table_indexes = [self.specs.index(measure.table) for measure, _ in measures]
        """For each measure, the index of its table."""
        self.is_by_document = unit == "document" and all(spec.counted != "corpus" for spec in self.specs)
        """True if each document can be counted by itself."""

    def made(self, tables: Tables) -> tuple[Any, ...]:
        """Return the tables of a document, in the order of the specs."""
        return tuple([tables.get(spec) for spec in self.specs])

    def document_row(self, unit: str, tables: Tables) -> DocumentRow:
        """Return a row with nothing but the counts of a document, or its tables."""
        row = DocumentRow(unit, len(tables.pair.gold.mentions), len(tables.pair.system.mentions))
        if self.is_by_document:
            row.counts = self.counts(self.made(tables))
        else:
            row.tables = self.made(tables)
        return row

    def counts(self, tables: Sequence[Any]) -> "array[float]":
        """Count finished tables, given in the order of the specs."""
        numbers = array("d")
        for (measure, _), index in zip(self.measures, self.table_indexes, strict=True):
            numbers.extend(astuple(measure.count(tables[index])))
        return numbers
