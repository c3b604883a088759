"""Units: the rows of documents become the rows of units when all documents are known."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from karat.engine.measures import MeasureSet
from karat.engine.rows import DocumentRow, UnitRow
from karat.engine.scores import UnitTable
from karat.errors import Finding, Report
from karat.results import Score

MOST_LEFT_OUT = 100
"""How many times a unit is scored without a part of it."""

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
        return [count(unit, documents, own) for (unit, documents), own in zip(units, made, strict=True)]
    return [
        UnitRow(unit, sum(row.gold for row in documents), sum(row.system for row in documents), measures.counts(own))
        for (unit, documents), own in zip(units, made, strict=True)
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
            spec.finish([table], _ignore)[0] if spec.counted == "corpus" else table
            for spec, table in zip(measures.specs, tables, strict=True)
        ]
        rest = [row for row, own in zip(rows, groups, strict=True) if own != group]
        gold, system = sum(row.gold for row in rest), sum(row.system for row in rest)
        unit = UnitRow(rows[0].unit, gold, system, measures.counts(finished))
        yield UnitTable(measures, [unit]).scores()


def _ignore(finding: Finding) -> None:
    """The unit as a whole has reported it."""
