"""Measures whose errors are analysed: for each family the one that takes the most into account; and their errors."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from karat.families import error_kind
from karat.insight.units import Classes, FoundError, Target, UnitErrors, UnitView
from karat.model import DOCUMENT_FIELDS
from karat.plugin import Composite, Measure
from karat.protocols import Protocol
from karat.records import Cell, ClusterRecord, Confusion, ElementRecord, LinkRecord, MentionRecord, Record, TreeRecord
from karat.result import family
from karat.run.fields import Field, FieldPart, FieldValue, joined

Rows = Sequence[Measure[Any, Any] | Composite]


def targets(rows: Rows, ids: Collection[str], headline: Sequence[str], named: Collection[str]) -> list[Target]:
    """The measures to analyse among those of some ids: those that are named, and the main ones of each family.

    Of a family, those stay that take more into account than any other: all attributes, all kinds of links. If several
    do, the headline is chosen, else the last one that combines others, else the first.
    """
    offered = [target for target in (_target(row, rows) for row in rows if row.id in ids) if target is not None]
    chosen = {target.id for target in offered if target.id in named}
    for name in dict.fromkeys(family(target.id) for target in offered):
        alike = [target for target in offered if family(target.id) == name]
        alike = [target for target in alike if target.errors_of == alike[0].errors_of]
        groups: dict[frozenset[str], list[Target]] = {}
        for target in alike:
            groups.setdefault(target.subjects, []).append(target)
        for subjects, group in groups.items():
            if not any(subjects < other for other in groups) and not chosen.intersection(target.id for target in group):
                chosen.add(_main([target.id for target in group], rows, headline))
    return [target for target in offered if target.id in chosen]


def _main(ids: Sequence[str], rows: Rows, headline: Sequence[str]) -> str:
    quoted = [id_ for id_ in headline if id_ in ids]
    combined = [row.id for row in rows if isinstance(row, Composite) and row.id in ids]
    return (quoted[:1] or combined[-1:] or list(ids))[0]


def _target(row: Measure[Any, Any] | Composite, rows: Rows) -> Target | None:
    """The measure with what its errors are errors of; None if there are no classes for them."""
    measures = _combined(row, {other.id: other for other in rows})
    for measure in measures:
        if (errors_of := measure.table.errors_of) is not None:
            return Target(row.id, errors_of, [measure for measure in measures if measure.table.errors_of == errors_of])
    return None


def _combined(
    row: Measure[Any, Any] | Composite, by_id: dict[str, Measure[Any, Any] | Composite]
) -> list[Measure[Any, Any]]:
    if not isinstance(row, Composite):
        return [row]
    return [measure for id_ in row.of for measure in _combined(by_id[id_], by_id)]


Spell = Callable[[str, Sequence[str | None]], str]
"""From a field and a value of it to the spelling that stands for all values that the protocol considers equal."""


def first_spelling(units: Iterable[Sequence[UnitErrors | None]], fields: Iterable[Field], protocol: Protocol) -> Spell:
    """Return what spells a value as the first error that has it, whichever measure that error is behind."""
    by_name = {field.name: field for field in fields}
    spellings: dict[tuple[str, FieldValue], str] = {}

    def spell(field: str, values: Sequence[str | None]) -> str:
        return spellings.setdefault((field, by_name[field].key(values, protocol.comparison)), joined(values))

    for errors in units:
        for unit_errors in filter(None, errors):
            for _, field, values in unit_errors.values:
                spell(field, values)
    return spell


class TargetErrors:
    """The errors of all units behind one measure."""

    def __init__(self, target: Target, units: Iterable[UnitErrors], protocol: Protocol, spell: Spell) -> None:
        self.target, self._protocol = target, protocol
        self.errors: list[FoundError] = []
        self.by: dict[str, dict[str, dict[str, int]]] = {}
        """By class, field and value: how many there are."""
        self._cells: dict[str, dict[Cell, int]] = {}
        for findings, values in units:
            self.errors += findings.errors
            for name, cells in findings.confusions.items():
                totals = self._cells.setdefault(name, {})
                for cell, count in cells.items():
                    totals[cell] = totals.get(cell, 0) + count
            for name, field, value in values:
                counts = self.by.setdefault(name, {}).setdefault(field, {})
                spelt = spell(field, value)
                counts[spelt] = counts.get(spelt, 0) + 1

    def classes(self) -> Classes:
        """All classes in the order of definition, without those that only some corpora have and this one has not."""
        return error_kind(self.target.errors_of).classes(self.target, {error.name for error in self.errors})

    def confusions(self) -> tuple[Confusion, ...]:
        """Return one per attribute; values that the protocol considers equal are one value, spelt as in gold."""
        return tuple(Confusion(name, _spelt(cells, self._protocol)) for name, cells in self._cells.items() if cells)


def _spelt(cells: Mapping[Cell, int], protocol: Protocol) -> dict[Cell, int]:
    key = protocol.comparison.key
    spellings: dict[Any, str] = {}
    for side in (0, 1):
        for value in sorted({cell[side] for cell in cells} - {None}, key=str):
            spellings.setdefault(key(value), str(value))
    counts: dict[Cell, int] = {}
    for (gold, system), count in cells.items():
        cell = None if gold is None else spellings[key(gold)], None if system is None else spellings[key(system)]
        counts[cell] = counts.get(cell, 0) + count
    order = sorted(counts, key=lambda cell: (cell[0] is None, cell[0] or "", cell[1] is None, cell[1] or ""))
    return {cell: counts[cell] for cell in order}


def unit_errors(unit: UnitView, target: Target, by: Sequence[Field]) -> UnitErrors | None:
    """Return the errors of a unit behind a measure, with the values of some fields; None if it was not counted."""
    ids = {measure.id for measure in target.measures}
    unit = unit._replace(tables=[counted for counted in unit.tables if counted.measure.id in ids])
    if not unit.tables:
        return None
    attributes = [name for field in by for name in field.attributes]
    confused = tuple(dict.fromkeys((*target.attributes, *attributes)))
    findings = error_kind(target.errors_of).find(unit, target, confused)
    values = [
        (error.name, field.name, tuple([_value(part, unit, error) for part in field.parts]))
        for error in findings.errors
        for field in by
    ]
    return UnitErrors(findings, values)


def _value(part: FieldPart, unit: UnitView, error: FoundError) -> str | None:
    """The value of a part of a field: gold's, or the system's if the error has no gold item."""
    records = [*error.instance.gold, *error.instance.system]
    if part.is_of_documents:
        place = error.instance.document or next(filter(None, map(_document, records)), None)
        return None if place is None else DOCUMENT_FIELDS[part.name](unit.documents[place].document)
    for record in records:
        if part.name == "role" and isinstance(record, LinkRecord):
            return record.kind
        for item in _attributed(record):
            if part.attribute is None:
                return item.kind
            if part.attribute in item.attributes:
                return str(part.derived(item.attributes[part.attribute]))
    return None


def _attributed(record: Record) -> Iterator[MentionRecord | ClusterRecord | ElementRecord]:
    """Yield the parts of a record that have attributes: the item itself, then its mentions."""
    if isinstance(record, LinkRecord):
        yield from (*record.source_mentions, *record.target_mentions)
    elif isinstance(record, TreeRecord):
        for event in record.events:
            yield from _attributed(event)
    else:
        yield record
        if isinstance(record, ClusterRecord):
            yield from record.mentions


def _document(record: Record) -> str | None:
    for part in _attributed(record):
        if isinstance(part, MentionRecord) and part.document:
            return part.document
    return None
