"""Rows of documents become rows of units (`finish`), and their counts become scores (`UnitTable`, `UnitTotals`).

The counts of a unit are one flat array, measure after measure. In a table of units, each of its numbers is a column;
a macro average adds two columns per ratio. Scores are a function of the sums of the columns (`ScoreFunction`).
"""

import math
from array import array
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import groupby, islice
from operator import add, mul
from typing import Any, NamedTuple

from msgspec.structs import astuple

from karat.counts import Counts, Means, ScoreValues, fill_undefined, mean, mean_columns, ratio_names, scores_of_counts
from karat.plugin import Averages, Composite, Measure, Tables, TableSpec, UnitOfEvaluation
from karat.problems import Report
from karat.result import Score
from karat.run.rows import DocumentRow, UnitRow

MOST_SHAPES = 10_000
"""Limit on shapes whose counts are remembered."""
MOST_SUMMED = 50
"""Limit on numbers that are added with later ones as they are."""
AveragedMeasure = tuple[Measure[Any, Any], Averages]
"""A measure, and how its units are averaged."""


class MeasureColumns(NamedTuple):
    """The columns of a measure in a table of units, and how their sums become scores."""

    id: str
    kind: type[Counts]
    """The type of its counts: each field is a column."""
    averages: Averages
    has_macro: bool

    def width(self) -> int:
        """Return the number of columns: one per count, and two per ratio for a macro average."""
        return self.macro_start() + 2 * len(ratio_names(self.kind)) * self.has_macro

    def macro_start(self) -> int:
        """Return the number of columns before those of the macro average."""
        return len(self.kind.__struct_fields__)


class ScoreFunction:
    """Computes scores from sums, one sum per column. It can be sent to another process."""

    def __init__(
        self,
        measures: Sequence[MeasureColumns],
        composites: Sequence[tuple[Composite, Averages]],
        ids: Collection[str] | None = None,
    ) -> None:
        """`ids` are the measures to return; None: all."""
        self._measures, self._composites, self._ids = measures, composites, ids
        starts = [0]
        for measure in measures:
            starts.append(starts[-1] + measure.width())
        self._places = [
            (measure, start, start + measure.macro_start(), end)
            for measure, start, end in zip(measures, starts, starts[1:], strict=False)
        ]
        """Each measure with the columns where it, its macro average and the next measure start."""

    def __call__(self, sums: Sequence[float]) -> dict[str, Score]:
        """Return the micro average of each measure, and its macro average if it has one."""
        micro: dict[str, ScoreValues] = {}
        macro: dict[str, ScoreValues] = {}
        for (id_, kind, averages, has_macro), start, middle, end in self._places:
            micro[id_] = finished_scores(kind(*sums[start:middle]), averages)
            if has_macro:
                macro[id_] = ScoreValues(mean(kind, sums[middle:end], undefined=averages.undefined))
            elif issubclass(kind, Means):
                macro[id_] = micro[id_]  # a mean over items
        micro, macro = self.with_composites(micro), self.with_composites(macro)
        return {
            id_: Score(score, macro.get(id_)) for id_, score in micro.items() if self._ids is None or id_ in self._ids
        }

    def with_composites(self, scores: dict[str, ScoreValues]) -> dict[str, ScoreValues]:
        """Return the scores, and the composites that can be computed from them."""
        for composite, averages in self._composites:
            if all(id_ in scores for id_ in composite.of):
                values = composite.combine([scores[id_] for id_ in composite.of])
                scores[composite.id] = ScoreValues(fill_undefined(values, undefined=averages.undefined))
        return scores

    def over(self, measures: Sequence[MeasureColumns]) -> "ScoreFunction":
        """Return the function for sums of other columns, with the same composites."""
        return ScoreFunction(measures, self._composites, self._ids)

    def only(self, ids: Collection[str]) -> tuple["ScoreFunction", list[int]]:
        """Return the function for some measures, and the indexes of the columns that it needs."""
        needed = set(ids)
        for composite, _ in reversed(self._composites):  # a composite comes after the measures it needs
            if composite.id in needed:
                needed.update(composite.of)
        places = [(measure, range(start, end)) for measure, start, _, end in self._places if measure.id in needed]
        composites = [(composite, averages) for composite, averages in self._composites if composite.id in needed]
        chosen = ScoreFunction([measure for measure, _ in places], composites, [*ids])
        return chosen, [column for _, columns in places for column in columns]


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
        self.counting = [
            (measure, self.specs.index(measure.table), type(measure).notes is not Measure.notes)
            for measure, _ in measures
        ]
        """Each measure with the index of its table, and whether it makes notes."""
        self.layout = [
            MeasureColumns(measure.id, measure.counts_type(), averages, has_macro=averages.macro)
            for measure, averages in measures
        ]
        """The columns of each measure, in the order of the counts of a row."""
        self.is_by_document = unit == "document" and all(spec.counted != "corpus" for spec in self.specs)
        """True if each document can be counted by itself."""
        self._known: dict[tuple[Hashable, ...], array[float]] = {}
        """Counts by the shapes of tables."""

    @cached_property
    def score_function(self) -> ScoreFunction:
        """Computes the scores of all measures from the sum of each column."""
        return ScoreFunction(self.layout, self.composites)

    def tables_of(self, tables: Tables) -> tuple[Any, ...]:
        """Return the tables of a document, in the order of the specs."""
        return tuple([tables.get(spec) for spec in self.specs])

    def document_row(self, unit: str, tables: Tables) -> DocumentRow:
        """Return a row with nothing but the counts of a document, or its tables (`Plan.row` makes complete ones)."""
        row = DocumentRow(unit, len(tables.pair.gold.mentions), len(tables.pair.system.mentions))
        if self.is_by_document:
            row.counts = self.counts(self.tables_of(tables))
        else:
            row.tables = self.tables_of(tables)
        return row

    def unit_row(self, unit: str, documents: Sequence[DocumentRow], tables: Sequence[Any]) -> UnitRow:
        """Return a row with nothing but the counts of a unit (`Plan.unit_row` makes complete ones)."""
        golds, systems = (sum([getattr(row, side) for row in documents]) for side in ("gold", "system"))
        return UnitRow(unit, golds, systems, self.counts(tables))

    def counts(self, tables: Sequence[Any]) -> "array[float]":
        """Count finished tables, given in the order of the specs."""
        shape = tuple([spec.shape(table) for spec, table in zip(self.specs, tables, strict=True)])
        if shape in self._known:
            return self._known[shape]
        numbers: list[float] = []
        for measure, index, _ in self.counting:
            numbers += astuple(measure.count(tables[index]))
        counts = array("d", numbers)
        if None not in shape and len(self._known) < MOST_SHAPES:
            self._known[shape] = counts
        return counts


MakeUnitRow = Callable[[str, Sequence[DocumentRow], Sequence[Any]], UnitRow]
"""Makes the row of a unit from its name, its documents and its finished tables, in the order of the specs."""


def finish(
    measures: MeasureSet, rows: Sequence[DocumentRow], report: Report, unit_row: MakeUnitRow | None = None
) -> Sequence[UnitRow]:
    """Return the rows of all units: add the tables of each, finish what depends on the whole corpus, and count."""
    if measures.is_by_document:
        return rows  # each document is a unit, and is counted already
    units = [(unit, list(documents)) for unit, documents in groupby(sorted(rows, key=_unit), key=_unit)]
    tables = []
    for index, spec in enumerate(measures.specs):
        added = [spec.add([row.tables[index] for row in documents]) for _, documents in units] if units else []
        tables.append(spec.finish(added, report) if spec.counted == "corpus" and units else added)
    finished_tables = zip(*tables, strict=True) if tables else [() for _ in units]
    make_row = unit_row or measures.unit_row
    return [
        make_row(unit, documents, finished) for (unit, documents), finished in zip(units, finished_tables, strict=True)
    ]


class UnitTable:
    """The counts of units, one column per number, and the scores that they give."""

    def __init__(self, measures: MeasureSet, rows: Sequence[UnitRow]) -> None:
        self._measures, self._rows = measures, rows
        self._numbers = array("d")
        for row in rows:
            self._numbers += row.counts

    def columns(self) -> "Iterator[array[float]]":
        """Yield what is summed over units: the counts of each measure, and what its macro average needs."""
        for measure, columns in self._averaged_columns():
            yield from columns
            if measure.has_macro:
                units = self._averaged(measure.averages)
                yield from mean_columns(measure.kind, columns, units, missing=measure.averages.macro_undefined)

    def scores(self) -> dict[str, Score]:
        """Return the micro average of each measure, and its macro average if the protocol has one."""
        return self._measures.score_function([math.fsum(column) for column in self.columns()])

    def micro_scores(self) -> dict[str, ScoreValues]:
        """Return the micro average of each measure, without composites."""
        return {
            measure.id: finished_scores(measure.kind(*map(math.fsum, columns)), measure.averages)
            for measure, columns in self.micro_columns()
        }

    def micro_columns(self) -> "Iterator[tuple[MeasureColumns, list[array[float]]]]":
        """Yield the counts of each measure in each unit, without a macro average."""
        return ((measure._replace(has_macro=False), columns) for measure, columns in self._averaged_columns())

    def _averaged_columns(self) -> "Iterator[tuple[MeasureColumns, list[array[float]]]]":
        """Yield the counts of each measure in each unit; zero in a unit that it does not average."""
        columns = iter(self.counts)
        for measure in self._measures.layout:
            yield measure, _selected([*islice(columns, measure.macro_start())], self._averaged(measure.averages))

    def unit_scores(self) -> Iterator[tuple[str, dict[str, ScoreValues]]]:
        """Yield the name of each unit, and its scores."""
        complete = self._measures.score_function.with_composites
        for unit in self._rows:
            scores, numbers = {}, iter(unit.counts)
            for measure in self._measures.layout:
                counts = measure.kind(*islice(numbers, measure.macro_start()))
                scores[measure.id] = finished_scores(counts, measure.averages)
            yield unit.unit, complete(scores)

    @cached_property
    def counts(self) -> "list[array[float]]":
        """The counts of all measures, one array of all units per field, averaged or not."""
        width = sum([measure.macro_start() for measure in self._measures.layout])
        return [self._numbers[field::width] for field in range(width)]

    def _averaged(self, averages: Averages) -> list[bool] | None:
        """Return which units count; None: all."""
        return None if averages.units == "all" or not self._lacks_gold else [row.gold > 0 for row in self._rows]

    @cached_property
    def _lacks_gold(self) -> bool:
        return not all(row.gold for row in self._rows)


class UnitTotals:
    """The sums over units that a result needs. Units can be added in several steps: the sums stay exact."""

    def __init__(self, measures: MeasureSet) -> None:
        self._measures = measures
        self._columns: list[Sequence[float]] = []
        """Numbers with the sums that make scores."""
        self._counts: list[Sequence[float]] = []
        """Numbers with the sums of the counts of all units, averaged or not."""
        self.units = 0
        self.scored = [0, 0]
        """The mentions of gold and of the system that the filters leave, singletons included."""
        self.collapsed: list[int] | None = None
        """The numbers of mentions before and after the collapse, of gold and of the system; None: no collapse."""
        self.has_gold = False
        """True if a unit has gold mentions."""
        self.has_same_mentions = True
        """True if both sides of every document have the same mentions."""
        self.spurious = self.without_gold = 0
        """Mentions of the system in units without gold mentions, and the number of these units."""
        self._noted: list[UnitRow] = []

    def add(self, documents: Iterable[DocumentRow], units: Sequence[UnitRow]) -> None:
        """Add documents, and the units that they make."""
        table = UnitTable(self._measures, units)
        self._columns = _joined(self._columns, [*table.columns()])
        self._counts = _joined(self._counts, table.counts)
        self.units += len(units)
        for unit in units:
            if unit.gold:
                self.has_gold = True
            elif unit.system:
                self.spurious += unit.system
                self.without_gold += 1
            if unit.unmatchable or unit.tallies or unit.differences:
                self._noted.append(unit)
        for row in documents:
            self.scored = [*map(add, self.scored, row.scored)]
            self.has_same_mentions &= row.has_same_mentions
            if row.collapsed is not None:
                self.collapsed = [*map(add, self.collapsed or (0, 0, 0, 0), row.collapsed)]

    def sums(self) -> list[float]:
        """Return the sum of each column, from which the scores are computed."""
        return [math.fsum(column) for column in self._columns]

    def totals(self) -> Iterator[Counts]:
        """Yield the sum of the counts of all units, averaged or not, for each measure."""
        counts = map(math.fsum, self._counts)
        for measure in self._measures.layout:
            yield measure.kind(*islice(counts, measure.macro_start()))

    def noted(self) -> list[UnitRow]:
        """Return the units with notes, in the order of their names."""
        return sorted(self._noted, key=_unit)


def _joined(sums: list[Sequence[float]], columns: Sequence[Sequence[float]]) -> list[Sequence[float]]:
    """Return numbers with the same exact sums as all of these; many that were there before become few of them."""
    if not sums:
        return [*columns]
    if len(sums[0]) > MOST_SUMMED:
        sums = [*map(exact_parts, sums)]
    return [[*numbers, *column] for numbers, column in zip(sums, columns, strict=True)]


def exact_parts(numbers: Sequence[float]) -> list[float]:
    """Return few numbers whose exact sum is that of these: the rounded sum, then that of what rounding lost, ..."""
    parts: list[float] = []
    while rest := math.fsum([*numbers, *[-part for part in parts]]):
        parts.append(rest)
    return parts


def _selected(columns: "list[array[float]]", averaged: Sequence[bool] | None) -> "list[array[float]]":
    """Return columns with zeros for units that do not count."""
    return columns if averaged is None else [array("d", map(mul, column, averaged)) for column in columns]


def finished_scores(counts: Counts, averages: Averages) -> ScoreValues:
    """Return the scores of some counts, with the protocol's value for an undefined ratio."""
    return ScoreValues(scores_of_counts(counts, undefined=averages.undefined), counts)


def _unit(row: UnitRow) -> str:
    return row.unit


def folded(measures: MeasureSet, rows: Sequence[DocumentRow]) -> list[DocumentRow]:
    """Add the tables of each unit into one row, where nobody asks for documents apart."""
    joined = []
    for unit, documents in groupby(sorted(rows, key=_unit), key=_unit):
        first, *others = documents
        if others:
            together = [first, *others]
            first.tables = tuple(
                spec.add([row.tables[index] for row in together]) for index, spec in enumerate(measures.specs)
            )
            first.gold, first.system = sum(row.gold for row in together), sum(row.system for row in together)
            first.scored = _sums([row.scored for row in together])
            if first.collapsed is not None:
                first.collapsed = _sums([row.collapsed for row in together])
            first.has_same_mentions = all(row.has_same_mentions for row in together)
        first.unit = unit
        joined.append(first)
    return joined


def _sums(rows: Sequence[Any]) -> Any:
    return tuple(map(sum, zip(*rows, strict=True)))
