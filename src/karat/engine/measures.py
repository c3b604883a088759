"""Measures that are counted together."""

from array import array
from collections.abc import Sequence
from typing import Any

from msgspec.structs import astuple

from karat.engine.rows import DocumentRow
from karat.plugin import Averages, Composite, Measure, Tables, TableSpec, UnitOfEvaluation

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
        """Whether each document can be counted by itself."""

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
