"""Rows: what a run keeps of a document, and of a unit of evaluation, under one protocol.

A document becomes a `DocumentRow`. If each document is a unit, its tables are counted at once and released, and the row
is the row of its unit as well: hence a `DocumentRow` is a `UnitRow`. Otherwise the row keeps its small tables until
`finish` (`karat.run.units`) has the rows of all documents, adds the tables of each unit, and makes a `UnitRow` of it.
Everything after that is a function of lists of rows.
"""

from array import array
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from karat.model import Document, Value
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
    """Value, measure, and the sum of its outcomes' counts: an entry for each document, or for several together."""
    parts: "list[tuple[FieldValue, int, DocumentRow]]"
    """Value, index of an alignment, and the row of the document restricted to mentions with that value."""
    items: "dict[tuple[FieldValue, str], ItemCounts]"
    """By value and measure: how many items there are."""
    spellings: "dict[FieldValue, tuple[bool, str]]"
    """The spelling of each value; gold's spelling sorts first."""


ClassCounts = Mapping[Value, tuple[float, ...]]
"""The counts of each value of an attribute."""


class UnitRow(Struct, gc=False):
    """The counts of a unit of evaluation, and, on request, what lies behind them."""

    unit: str
    """The name of the unit."""
    gold: int
    """The number of gold mentions, after the filters and the collapse."""
    system: int
    """The number of system mentions, likewise."""
    counts: "array[float]" = NO_COUNTS
    """The counts of all measures, one after another."""
    unmatchable: Mapping[str, Mapping[str, int]] = {}
    """By measure: items that cannot be matched, and how many."""
    tallies: Mapping[tuple[Rule, str], int] = {}
    """Counts for notes of measures: by rule and name of the items."""
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
    """A document under one protocol, with its counts if it is a unit by itself, or else with its tables."""

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
