"""The errors behind the main measures of a run: found unit by unit, and put together."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from karat.insight.anaphors import ANAPHOR_CLASSES, anaphor_errors
from karat.insight.arguments import CHOICE, argument_classes, argument_errors
from karat.insight.clusters import CLUSTER_CLASSES, cluster_errors
from karat.insight.elements import element_classes, element_errors
from karat.insight.found import Classes, CountedTable, DocumentView, Findings, FoundError, UnitErrors, UnitView
from karat.insight.links import LINK_CLASSES, link_errors
from karat.insight.mentions import OTHER, mention_classes, mention_errors
from karat.insight.records import UnitRecords
from karat.insight.targets import Target
from karat.model import DOCUMENT_FIELDS, Value
from karat.plugin import AlignmentSpec
from karat.protocols import Protocol
from karat.results import ClusterRecord, ElementRecord, LinkRecord, MentionRecord, Record, TreeRecord
from karat.results.errors import Cell, Confusion

ABSENT = "(none)"


Spell = Callable[[str, str], str]
"""From a field and a value of it to the spelling that stands for all values that the protocol considers equal."""


def first_spelling(units: Iterable[Sequence[UnitErrors | None]], protocol: Protocol) -> Spell:
    """Return what spells a value as the first error that has it, whichever measure that error is behind."""
    spellings: dict[tuple[str, Value | None], str] = {}

    def spell(field: str, value: str) -> str:
        if field in ("kind", *DOCUMENT_FIELDS):
            return value
        return spellings.setdefault((field, protocol.comparison.key(value)), value)

    for errors in units:
        for found in filter(None, errors):
            for _, field, value in found.values:
                spell(field, value)
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
                own = self._cells.setdefault(name, {})
                for cell, number in cells.items():
                    own[cell] = own.get(cell, 0) + number
            for name, field, value in values:
                counts = self.by.setdefault(name, {}).setdefault(field, {})
                spelt = spell(field, value)
                counts[spelt] = counts.get(spelt, 0) + 1

    def classes(self) -> Classes:
        """All classes in the order of definition, without those that only some corpora have and this one has not."""
        names = {error.name for error in self.errors}
        if self.target.errors_of == "mentions":
            classes = mention_classes(self.target.attributes)
            return {name: text for name, text in classes.items() if name != OTHER or name in names}
        if self.target.errors_of == "clusters":
            return CLUSTER_CLASSES
        if self.target.errors_of == "links":
            return LINK_CLASSES
        if self.target.errors_of == "anaphors":
            return ANAPHOR_CLASSES
        if self.target.errors_of == "arguments":
            classes = argument_classes(self.target.measures[0].argument_parts)
            return {name: text for name, text in classes.items() if name != CHOICE or name in names}
        wrong = sorted(name.removeprefix("wrong ") for name in names if name.startswith("wrong "))
        classes = element_classes(wrong)
        return {name: text for name, text in classes.items() if name in names or name in ("miss", "false alarm")}

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
    for (gold, system), number in cells.items():
        cell = None if gold is None else spellings[key(gold)], None if system is None else spellings[key(system)]
        counts[cell] = counts.get(cell, 0) + number
    order = sorted(counts, key=lambda cell: (cell[0] is None, cell[0] or "", cell[1] is None, cell[1] or ""))
    return {cell: counts[cell] for cell in order}


class ErrorFinder:
    """Finds the errors behind the main measures of a protocol, unit by unit."""

    def __init__(self, targets: Sequence[Target], protocol: Protocol, by: Sequence[str]) -> None:
        self.targets, self._protocol, self._by = targets, protocol, by
        self.alignments: set[AlignmentSpec] = {
            alignment
            for target in targets
            for measure in target.measures
            if (alignment := measure.table.alignment) is not None
        }
        """Alignments that the views of documents need."""

    def errors(
        self, name: str, documents: Mapping[str, DocumentView], tables: Sequence[CountedTable], records: UnitRecords
    ) -> tuple[UnitErrors | None, ...]:
        """Return the errors of a unit for each target; None if none of its tables was counted."""
        return tuple(self._errors(name, documents, tables, records, target) for target in self.targets)

    def _errors(
        self,
        name: str,
        documents: Mapping[str, DocumentView],
        tables: Sequence[CountedTable],
        records: UnitRecords,
        target: Target,
    ) -> UnitErrors | None:
        ids = {measure.id for measure in target.measures}
        own = [counted for counted in tables if counted.measure.id in ids]
        if not own:
            return None
        unit = UnitView(name, documents, own, records, self._protocol.comparison)
        findings = self._findings(unit, target)
        values = [
            (error.name, field, self._value(field, unit, error)) for error in findings.errors for field in self._by
        ]
        return UnitErrors(findings, values)

    def _findings(self, unit: UnitView, target: Target) -> Findings:
        attributes = [name for name in self._by if name not in ("kind", *DOCUMENT_FIELDS)]
        confused = tuple(dict.fromkeys((*target.attributes, *attributes)))
        if target.errors_of == "mentions":
            return mention_errors(unit, target.attributes, confused)
        if target.errors_of == "elements":
            return element_errors(unit)
        if target.errors_of == "anaphors":
            return anaphor_errors(unit)
        if target.errors_of == "arguments":
            roles = ("role",) if "role" in target.measures[0].argument_parts else ()
            return argument_errors(unit, tuple(dict.fromkeys((*roles, *confused))))
        first = unit.tables[0]
        alignment = first.measure.table.alignment
        assert alignment is not None, "clusters and links are compared by an alignment of mentions"
        if target.errors_of == "links":
            return Findings(list(link_errors(unit, alignment)), {})
        collapsed = self._protocol.collapse is not None
        return cluster_errors(unit, alignment, first.table, confused, collapsed=collapsed)

    def _value(self, field: str, unit: UnitView, error: FoundError) -> str:
        """The value of a field: gold's, or the system's if the error has no gold item."""
        records = [*error.instance.gold, *error.instance.system]
        if field in DOCUMENT_FIELDS:
            place = error.instance.document or next(filter(None, map(_document, records)), None)
            value = None if place is None else DOCUMENT_FIELDS[field](unit.documents[place].document)
            return ABSENT if value is None else value
        for record in records:
            if field == "role" and isinstance(record, LinkRecord):
                return record.kind
            for one in _attributed(record):
                if field == "kind":
                    return one.kind
                if field in one.attributes:
                    return str(one.attributes[field])
        return ABSENT


def _attributed(record: Record) -> Iterator[MentionRecord | ClusterRecord | ElementRecord]:
    """What of a record has attributes: the item itself, then its mentions."""
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
    for one in _attributed(record):
        if isinstance(one, MentionRecord) and one.document:
            return one.document
    return None
