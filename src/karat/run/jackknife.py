"""The jackknife: a single unit is scored again without each of its topics, or documents."""

from collections.abc import Iterator, Mapping, Sequence

from karat.problems import ignore
from karat.result import Score
from karat.run.rows import DocumentRow, UnitRow
from karat.run.units import MeasureSet, UnitTable

MOST_LEFT_OUT = 100
"""Limit on the parts of a unit that are left out in turn."""


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
    golds, systems = [0] * (max(groups) + 1), [0] * (max(groups) + 1)
    for row, group in zip(rows, groups, strict=True):
        golds[group] += row.gold
        systems[group] += row.system
    for gold, system in zip(golds, systems, strict=True):
        tables = [next(tables) for tables in sums]
        finished = [
            spec.finish([table], ignore)[0] if spec.counted == "corpus" else table
            for spec, table in zip(measures.specs, tables, strict=True)
        ]
        unit = UnitRow(rows[0].unit, sum(golds) - gold, sum(systems) - system, measures.counts(finished))
        yield UnitTable(measures, [unit]).scores()
