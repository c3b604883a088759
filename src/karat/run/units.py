"""Units: the rows of documents become the rows of units when all documents are known."""

import math
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from operator import mul
from typing import Any, NamedTuple

from karat.counts import Counts, Means, ScoreValues, fill_undefined, mean, mean_columns, ratio_names, scores_of_counts
from karat.plugin import Averages, Composite
from karat.problems import Report, ignore
from karat.result import Score
from karat.run.rows import DocumentRow, MeasureSet, UnitRow


class CountedRow(NamedTuple):
    """A measure whose counts are summed, and how its sums become scores."""

    id: str
    kind: type[Counts]
    averages: Averages
    has_macro: bool

    def width(self) -> int:
        """Return the number of columns: its counts, and two per ratio for a macro average."""
        return self.macro_start() + 2 * len(ratio_names(self.kind)) * self.has_macro

    def macro_start(self) -> int:
        """Return the number of columns before those of the macro average."""
        return len(self.kind.__struct_fields__)


class ScoreFunction:
    """Computes scores from sums, one sum per column. It can be sent to another process."""

    def __init__(
        self,
        measures: Sequence[CountedRow],
        composites: Sequence[tuple[Composite, Averages]],
        ids: Collection[str] | None = None,
    ) -> None:
        """`ids` are the rows to return; None: all."""
        self._measures, self._composites, self._ids = measures, composites, ids
        starts = [0]
        for row in measures:
            starts.append(starts[-1] + row.width())
        self._places = [
            (row, start, start + row.macro_start(), end)
            for row, start, end in zip(measures, starts, starts[1:], strict=False)
        ]

    def __call__(self, sums: Sequence[float]) -> dict[str, Score]:
        """Return the micro average of each row, and its macro average if it has one."""
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

    def over(self, measures: Sequence[CountedRow]) -> "ScoreFunction":
        """Return the function for sums of other columns, with the same composites."""
        return ScoreFunction(measures, self._composites, self._ids)

    def only(self, ids: Collection[str]) -> tuple["ScoreFunction", list[int]]:
        """Return the function for some rows, and the indexes of the columns that it needs."""
        needed = set(ids)
        for composite, _ in reversed(self._composites):  # a composite comes after the rows it needs
            if composite.id in needed:
                needed.update(composite.of)
        places = [(row, range(start, end)) for row, start, _, end in self._places if row.id in needed]
        composites = [(composite, averages) for composite, averages in self._composites if composite.id in needed]
        chosen = ScoreFunction([row for row, _ in places], composites, [*ids])
        return chosen, [column for _, columns in places for column in columns]


class UnitTable:
    """The counts of units, one column per number, and the scores that they give."""

    def __init__(self, measures: MeasureSet, rows: Sequence[UnitRow]) -> None:
        self._measures, self._rows = measures, rows
        self._numbers = array("d")
        for row in rows:
            self._numbers += row.counts

    def score_function(self, ids: Collection[str] | None = None) -> ScoreFunction:
        """Return the function from one sum per column to scores; `ids` are the measures to return (None: all)."""
        rows = [
            CountedRow(measure.id, measure.counts_type(), averages, has_macro=averages.macro)
            for measure, averages in self._measures.measures
        ]
        return ScoreFunction(rows, self._measures.composites, ids)

    def columns(self) -> "Iterator[array[float]]":
        """Yield what is summed over units: the counts of each measure, and what its macro average needs."""
        for (measure, averages), columns in zip(self._measures.measures, self._columns, strict=True):
            averaged = self._averaged(averages)
            yield from _selected(columns, averaged)
            if averages.macro:
                counted = [row.gold + row.system > 0 for row in self._rows] if averaged is None else averaged
                yield from mean_columns(measure.counts_type(), columns, counted, missing=averages.macro_undefined)

    def scores(self) -> dict[str, Score]:
        """Return the micro average of each measure, and its macro average if the protocol has one."""
        return self.score_function()([math.fsum(column) for column in self.columns()])

    def totals(self) -> list[Counts]:
        """Return the sum of the counts of all units, averaged or not, for each measure."""
        return [
            measure.counts_type()(*map(math.fsum, columns))
            for (measure, _), columns in zip(self._measures.measures, self._columns, strict=True)
        ]

    def micro_scores(self) -> dict[str, ScoreValues]:
        """Return the micro average of each measure, without composites."""
        return {
            row.id: finished_scores(row.kind(*map(math.fsum, columns)), row.averages)
            for row, columns in self.micro_columns()
        }

    def micro_columns(self) -> "Iterator[tuple[CountedRow, list[array[float]]]]":
        """Yield the counts of each measure in each unit; zero in a unit that it does not average."""
        for (measure, averages), columns in zip(self._measures.measures, self._columns, strict=True):
            row = CountedRow(measure.id, measure.counts_type(), averages, has_macro=False)
            yield row, _selected(columns, self._averaged(averages))

    def unit_scores(self) -> Iterator[tuple[str, dict[str, ScoreValues]]]:
        """Yield the scores of each unit."""
        complete = self.score_function().with_composites
        for row in self._rows:
            scores, start = {}, 0
            for measure, averages in self._measures.measures:
                kind = measure.counts_type()
                end = start + len(kind.__struct_fields__)
                scores[measure.id] = finished_scores(kind(*row.counts[start:end]), averages)
                start = end
            yield row.unit, complete(scores)

    @cached_property
    def _columns(self) -> "list[list[array[float]]]":
        """The counts of each measure, one array of all units per field."""
        widths = [len(measure.counts_type().__struct_fields__) for measure, _ in self._measures.measures]
        total, columns, start = sum(widths), [], 0
        for width in widths:
            columns.append([self._numbers[field::total] for field in range(start, start + width)])
            start += width
        return columns

    def _averaged(self, averages: Averages) -> list[bool] | None:
        """Return which units count; None: all."""
        return None if averages.units == "all" else [row.gold > 0 for row in self._rows]


def _selected(columns: "list[array[float]]", averaged: Sequence[bool] | None) -> "list[array[float]]":
    """Return columns with zeros for units that do not count."""
    return columns if averaged is None else [array("d", map(mul, column, averaged)) for column in columns]


def finished_scores(counts: Counts, averages: Averages) -> ScoreValues:
    """Return the scores of some counts, with the protocol's value for an undefined ratio."""
    return ScoreValues(scores_of_counts(counts, undefined=averages.undefined), counts)


MOST_LEFT_OUT = 100
"""Limit on the parts of a unit that are left out in turn."""

Count = Callable[[str, Sequence[DocumentRow], Sequence[Any]], UnitRow]
"""Makes the row of a unit from its documents and its finished tables, in the order of the specs."""


def finish(
    measures: MeasureSet, rows: Sequence[DocumentRow], report: Report, count: Count | None = None
) -> Sequence[UnitRow]:
    """Return the rows of all units: add the tables of each, finish what depends on the whole corpus, and count."""
    if measures.is_by_document:
        return rows
    units = [(unit, list(documents)) for unit, documents in groupby(sorted(rows, key=_unit), key=_unit)]
    tables = []
    for index, spec in enumerate(measures.specs):
        added = [spec.add([row.tables[index] for row in documents]) for _, documents in units] if units else []
        tables.append(spec.finish(added, report) if spec.counted == "corpus" and units else added)
    made = zip(*tables, strict=True) if tables else [() for _ in units]
    if count is not None:
        return [count(unit, documents, finished) for (unit, documents), finished in zip(units, made, strict=True)]
    return [
        UnitRow(
            unit, sum(row.gold for row in documents), sum(row.system for row in documents), measures.counts(finished)
        )
        for (unit, documents), finished in zip(units, made, strict=True)
    ]


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


def leave_out(measures: MeasureSet, rows: Sequence[DocumentRow]) -> tuple[str, Mapping[str, Mapping[str, Score]]]:
    """Score a single unit without each of its topics in turn, or, if it has only one, each of its documents.

    Returns what is left out (a topic, a document, or a group of them) and the scores by its name. Many are left out in
    groups, each named after its first member.
    """
    if measures.is_by_document or len({row.unit for row in rows}) != 1:
        return "", {}
    documents = [row.about for row in rows if row.about is not None]
    part, names = "topic", [document.topic or document.id for document in documents]
    if len(set(names)) == 1 or not any(document.topic for document in documents):
        part, names = "document", [document.id for document in documents]
    sizes = dict.fromkeys(names, 0)
    for name, row in zip(names, rows, strict=True):
        sizes[name] += row.gold
    # What gold has comes first, so that its groups are the same for systems that add different documents.
    parts = sorted(sizes, key=lambda name: (not sizes[name], name))
    if len(parts) == 1:
        return part, {}
    if len(parts) > MOST_LEFT_OUT:
        part += " group"
    group_of = {name: index % MOST_LEFT_OUT for index, name in enumerate(parts)}
    groups = [group_of[name] for name in names]
    return part, dict(zip(parts, _scores_without(measures, rows, groups), strict=False))


def _scores_without(
    measures: MeasureSet, rows: Sequence[DocumentRow], groups: Sequence[int]
) -> Iterator[Mapping[str, Score]]:
    """Yield the scores without each group of documents (jackknife)."""
    sums = [spec.leave_out([row.tables[index] for row in rows], groups) for index, spec in enumerate(measures.specs)]
    for group in range(max(groups) + 1):
        tables = [next(tables) for tables in sums]
        finished = [
            spec.finish([table], ignore)[0] if spec.counted == "corpus" else table
            for spec, table in zip(measures.specs, tables, strict=True)
        ]
        rest = [row for row, other in zip(rows, groups, strict=True) if other != group]
        gold, system = sum(row.gold for row in rest), sum(row.system for row in rest)
        unit = UnitRow(rows[0].unit, gold, system, measures.counts(finished))
        yield UnitTable(measures, [unit]).scores()
