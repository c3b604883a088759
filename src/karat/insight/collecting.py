"""The observer of a run that finds the errors of each unit as it is counted."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from karat.engine.breakdown import DOCUMENT_FIELDS
from karat.engine.observer import Rows
from karat.engine.records import Records
from karat.insight.anaphors import ANAPHOR_CLASSES, anaphor_errors
from karat.insight.arguments import CHOICE, argument_classes, argument_errors
from karat.insight.clusters import CLUSTER_CLASSES, cluster_errors
from karat.insight.elements import element_classes, element_errors
from karat.insight.found import Classes, CountedTable, DocumentView, Findings, FoundError, UnitView
from karat.insight.links import LINK_CLASSES, link_errors
from karat.insight.mentions import OTHER, mention_classes, mention_errors
from karat.insight.targets import Target, targets
from karat.model import Value
from karat.plugin import AlignmentSpec, Measure, Tables
from karat.protocols import Protocol
from karat.results import ClusterRecord, ElementRecord, LinkRecord, MentionRecord, Record, TreeRecord
from karat.results.errors import Cell, Confusion
from karat.tables.events import BothEvents

ABSENT = "(none)"


class TargetErrors:
    """The errors behind one measure, as they are found."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.errors: list[FoundError] = []
        self.by: dict[str, dict[str, dict[str, int]]] = {}
        """By class, field and value: how many there are."""
        self._cells: dict[str, dict[Cell, int]] = {}

    def add(self, findings: Findings) -> None:
        """Add those of a unit, or of several."""
        self.errors += findings.errors
        for name, cells in findings.confusions.items():
            own = self._cells.setdefault(name, {})
            for cell, number in cells.items():
                own[cell] = own.get(cell, 0) + number

    def findings(self) -> Findings:
        """All that were added."""
        return Findings(self.errors, self._cells)

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

    def confusions(self, protocol: Protocol) -> tuple[Confusion, ...]:
        """One per attribute; values that the protocol considers equal are one value, spelt as in gold."""
        return tuple(Confusion(name, _spelt(cells, protocol)) for name, cells in self._cells.items() if cells)


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


class Collecting:
    """Makes the collector of each protocol of a run."""

    def __init__(self, named: Collection[str], by: Sequence[str]) -> None:
        self._named, self._by = named, by
        self.collectors: list[Collector] = []

    def __reduce__(self) -> tuple[type["Collecting"], tuple[Collection[str], Sequence[str]]]:
        """In another process it makes others."""
        return Collecting, (self._named, self._by)

    def __call__(self, records: Records, protocol: Protocol, rows: Rows, ids: Sequence[str]) -> "Collector":
        """That of a protocol."""
        self.collectors.append(Collector(records, protocol, rows, ids=ids, named=self._named, by=self._by))
        return self.collectors[-1]


CollectedErrors = list[tuple[Findings, dict[str, dict[str, dict[str, int]]]]]
"""For each measure: the errors of some documents; and by class, field and value, how many there are."""


class Collector:
    """Finds the errors behind the main measures of a run."""

    def __init__(
        self,
        records: Records,
        protocol: Protocol,
        rows: Rows,
        *,
        ids: Collection[str],
        named: Collection[str],
        by: Sequence[str],
    ) -> None:
        self._records, self._protocol, self._by = records, protocol, by
        self.found = [TargetErrors(one) for one in targets(rows, ids, protocol.headline, named)]
        self._alignments: set[AlignmentSpec] = {
            alignment
            for found in self.found
            for measure in found.target.measures
            if (alignment := measure.table.alignment) is not None
        }
        self._spellings: dict[tuple[str, Value | None], str] = {}
        self._documents: dict[str, dict[str, DocumentView]] = {}
        self._tables: dict[str, list[CountedTable]] = {}

    def enter(self, unit: str, tables: Tables) -> None:
        """Keep a document until its unit is complete."""
        pair = tables.pair
        aligned = {alignment: tables.get(alignment) for alignment in self._alignments}
        view = DocumentView(pair.gold.id, pair, aligned, tables.get(BothEvents()))
        self._documents.setdefault(unit, {})[view.id] = view

    def add(self, unit: str, document: str | None, measure: Measure[Any, Any], table: Any) -> None:
        """Keep a table until its unit is complete."""
        self._tables.setdefault(unit, []).append(CountedTable(document, measure, table))

    def leave(self) -> None:
        """Find the errors of the units that are complete."""
        for unit, tables in self._tables.items():
            for found in self.found:
                self._find(unit, tables, found)
        self._documents.clear()
        self._tables.clear()

    def _find(self, name: str, tables: Sequence[CountedTable], found: TargetErrors) -> None:
        ids = {measure.id for measure in found.target.measures}
        own = [one for one in tables if one.measure.id in ids]
        if not own:
            return
        unit = UnitView(name, self._documents[name], own, self._records.of(name), self._protocol.comparison)
        findings = self._findings(unit, found.target)
        found.add(findings)
        for error in findings.errors:
            for field in self._by:
                self._count(found, error.name, field, self._value(field, unit, error))

    def _count(self, found: TargetErrors, name: str, field: str, value: str, number: int = 1) -> None:
        counts = found.by.setdefault(name, {}).setdefault(field, {})
        spelt = self._spelt(field, value)
        counts[spelt] = counts.get(spelt, 0) + number

    def part(self) -> CollectedErrors:
        """What it has of the documents that were left, to be sent to another process."""
        return [(found.findings(), found.by) for found in self.found]

    def merge(self, part: CollectedErrors) -> None:
        """Add the errors of later documents."""
        for found, (findings, by) in zip(self.found, part, strict=True):
            found.add(findings)
            for name, fields in by.items():
                for field, values in fields.items():
                    for value, number in values.items():
                        self._count(found, name, field, value, number)

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

    def _spelt(self, field: str, value: str) -> str:
        """Values that the protocol considers equal are one, spelt as they are first."""
        if field in ("kind", *DOCUMENT_FIELDS):
            return value
        return self._spellings.setdefault((field, self._protocol.comparison.key(value)), value)

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
