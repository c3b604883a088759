"""The counts of units under one protocol, on a corpus or a part of it, and the scores computed from them."""

import math
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from msgspec import Struct

from karat.counts import Rows, ScoreValues, mean_columns
from karat.engine.score_function import CountedRow, ScoreFunction, finished_scores
from karat.errors import Finding, Report
from karat.model import Document
from karat.plugin import Averages, Composite, Measure, Tables, TableSpec, UnitOfEvaluation
from karat.results import Score, UnitRows

ScoredRow = tuple[Measure[Any, Any] | Composite, Averages]
"""A row of a result, and how its units are averaged."""

ADDED_UP = 256
"""How many documents, or sums of documents, are added up at a time, so that few wait."""
MOST_LEFT_OUT = 100
"""How many times a unit is scored without a part of it."""

OnTable = Callable[[str, str | None, Measure[Any, Any], Any], None]
"""Receives each table whose counts are averaged: its unit, its document (None: it has several), the measure, the table.

Tables that are counted item by item come document by document.
"""


class WaitingDocument(Struct):
    """What is kept of a document until its unit is complete: the document without its content, sizes, and tables.

    It can also be the sum of several documents that nobody needs apart.
    """

    about: Document
    gold: int
    """How many mentions gold has, and how many the system."""
    system: int
    made: tuple[Any, ...]
    """The tables that are counted, in the order of their specs."""


class UnitsPart(NamedTuple):
    """The counts of some documents, as they are sent to the process that adds them up."""

    units: list[str]
    gold_mentions: "array[int]"
    system_mentions: "array[int]"
    rows: list[Rows]
    unmatchable: Counter[tuple[str, str]]
    differences: Counter[tuple[str, str]]
    waiting: dict[str, list[WaitingDocument]]


class UnitDocument(NamedTuple):
    """A document of a complete unit: the document, perhaps without its content, and its tables."""

    about: Document
    gold: int
    get: Callable[[TableSpec[Any]], Any]


class UnitCounts:
    """Rows that are counted unit by unit.

    `on_unit` receives the documents of each complete unit, `on_table` each table that counts, `report` the remarks of
    measures on a unit. With `jackknife`, a single unit is also scored without each of its topics; with `compare`, what
    makes a measure differ from that of other protocols is counted, too.
    """

    def __init__(
        self,
        rows: Sequence[ScoredRow],
        *,
        unit: UnitOfEvaluation,
        on_unit: Callable[[Sequence[UnitDocument]], None] | None = None,
        on_table: OnTable | None = None,
        jackknife: bool = False,
        compare: bool = False,
        report: Report,
    ) -> None:
        self._rows, self._unit = rows, unit
        self._jackknife = jackknife
        self._left_out: dict[str, dict[str, Score]] = {}
        self._part = ""
        self._on_unit = on_unit
        self._on_table = on_table
        self._report = report
        self.measures: list[tuple[Measure[Any, Any], Averages, Rows]] = [
            (row, averages, Rows(row.counts_type())) for row, averages in rows if not isinstance(row, Composite)
        ]
        self._composites = [(row, averages) for row, averages in rows if isinstance(row, Composite)]
        self._specs: list[TableSpec[Any]] = list(dict.fromkeys(measure.table for measure, _, _ in self.measures))
        self.at_once = unit == "document" and all(spec.counted != "corpus" for spec in self._specs)
        """Whether each document is counted as soon as it is added."""
        self._keeps_documents = on_unit is not None or on_table is not None or jackknife
        self.units: list[str] = []
        self.gold_mentions = array("q")
        self.system_mentions = array("q")
        self.unmatchable: Counter[tuple[str, str]] = Counter()
        """Items that cannot be matched: the measure, what they are, and how many."""
        self._compares = compare
        self.differences: Counter[tuple[str, str]] = Counter()
        """What makes the scores of protocols differ: the measure, what it is, and how often."""
        self._waiting: dict[str, list[WaitingDocument]] = {}
        self._waited = Counter[str]()
        """How many documents of each unit were kept, before they were added up."""

    def add(self, unit: str, tables: Tables) -> None:
        """Add one document. If it is a unit by itself, it is counted at once."""
        gold, system = len(tables.pair.gold.mentions), len(tables.pair.system.mentions)
        if self.at_once:
            self._enter(unit, gold, system, [UnitDocument(tables.pair.gold, gold, tables.get)])
            for measure, averages, rows in self.measures:
                table = tables.get(measure.table)
                self._count(measure, rows, table)
                if self._on_table is not None and _is_averaged(averages, gold):
                    self._on_table(unit, unit, measure, table)
        else:
            # Only the tables that are counted are kept; mentions and alignments are released.
            made = tuple([tables.get(spec) for spec in self._specs])
            self._wait(unit, WaitingDocument(_without_content(tables.pair.gold), gold, system, made))

    def _wait(self, unit: str, document: WaitingDocument) -> None:
        """Keep a document, or a sum. Where nobody needs documents apart, every few are added up, and so are sums."""
        waiting = self._waiting.setdefault(unit, [])
        waiting.append(document)
        if not self._keeps_documents:
            self._waited[unit] = number = self._waited[unit] + 1
            while number % ADDED_UP == 0:
                waiting[-ADDED_UP:] = [self._sum(waiting[-ADDED_UP:])]
                number //= ADDED_UP

    def _sum(self, documents: Sequence[WaitingDocument]) -> WaitingDocument:
        if len(documents) == 1:
            return documents[0]
        made = tuple([self._added(number, documents) for number in range(len(self._specs))])
        gold, system = sum([document.gold for document in documents]), sum([document.system for document in documents])
        return WaitingDocument(documents[0].about, gold, system, made)

    def part(self) -> UnitsPart:
        """What was added, to be sent to another process."""
        return UnitsPart(
            self.units,
            self.gold_mentions,
            self.system_mentions,
            [own for _, _, own in self.measures],
            self.unmatchable,
            self.differences,
            self._waiting
            if self._keeps_documents
            else {unit: [self._sum(documents)] for unit, documents in self._waiting.items()},
        )

    def _added(self, number: int, documents: Sequence[WaitingDocument]) -> Any:
        return self._specs[number].add([document.made[number] for document in documents])

    def merge(self, part: UnitsPart) -> None:
        """Add the counts of documents that come after those so far."""
        self.units += part.units
        self.gold_mentions += part.gold_mentions
        self.system_mentions += part.system_mentions
        for (_, _, rows), later in zip(self.measures, part.rows, strict=True):
            rows.extend(later)
        self.unmatchable.update(part.unmatchable)
        self.differences.update(part.differences)
        for unit, documents in part.waiting.items():
            for document in documents:
                self._wait(unit, document)

    def close(self, report: Report) -> None:
        """Count the units that had to wait for their last document, or for each other.

        `report` receives the remarks of tables on all units together.
        """
        units = sorted(self._waiting.items())
        self._count_units(
            units,
            {
                spec: [self._added(number, documents) for _, documents in units]
                for number, spec in enumerate(self._specs if units else ())
            },
            report,
        )
        if self._jackknife and len(units) == 1:
            self._left_out = dict(self._leave_out(*units[0]))
        self._waiting = {}

    def _count_units(
        self,
        units: Sequence[tuple[str, Sequence[WaitingDocument]]],
        added: Mapping[TableSpec[Any], Sequence[Any]],
        report: Report,
    ) -> None:
        """Count units with these documents and tables."""
        finished = {
            spec: spec.finish(tables, report) if spec.counted == "corpus" else tables for spec, tables in added.items()
        }
        for number, (unit, documents) in enumerate(units):
            listed: list[UnitDocument] = []
            if self._on_unit is not None:
                listed = [UnitDocument(one.about, one.gold, partial(self._made, one)) for one in documents]
            if len(listed) == 1:  # its tables as they are counted, which may depend on all units
                counted = {spec: tables[number] for spec, tables in finished.items()}
                listed = [listed[0]._replace(get=counted.__getitem__)]
            gold, system = sum([one.gold for one in documents]), sum([one.system for one in documents])
            self._enter(unit, gold, system, listed)
        for measure, averages, rows in self.measures:
            for (unit, documents), table in zip(units, finished.get(measure.table, ()), strict=True):
                self._count(measure, rows, table)
                if self._on_table is not None and _is_averaged(averages, sum(one.gold for one in documents)):
                    self._on_table_of(unit, documents, measure, table)

    def _made(self, document: WaitingDocument, spec: TableSpec[Any]) -> Any:
        return document.made[self._specs.index(spec)]

    def _leave_out(self, unit: str, documents: Sequence[WaitingDocument]) -> Iterator[tuple[str, dict[str, Score]]]:
        """The scores of a unit without each of its topics in turn, or, if it has only one, each of its documents.

        Many are left out in groups, each named after its first member.
        """
        part_of = {one.about.id: one.about.topic or one.about.id for one in documents}
        self._part = "topic" if any(one.about.topic for one in documents) else "document"
        if len(set(part_of.values())) == 1:
            self._part = "document"
            part_of = {one.about.id: one.about.id for one in documents}
        golds = Counter[str]()
        for one in documents:
            golds[part_of[one.about.id]] += one.gold
        # What gold has comes first, so that its groups are the same for systems that add different documents.
        parts = sorted(golds, key=lambda part: (not golds[part], part))
        if len(parts) > MOST_LEFT_OUT:
            self._part += " group"
        group_of = {part: number % MOST_LEFT_OUT for number, part in enumerate(parts)}
        groups = [group_of[part_of[one.about.id]] for one in documents]
        sums = [
            (spec, spec.leave_out([one.made[number] for one in documents], groups))
            for number, spec in enumerate(self._specs)
        ]
        for number in range(min(len(parts), MOST_LEFT_OUT) if len(parts) > 1 else 0):
            rest = UnitCounts(self._rows, unit=self._unit, report=_ignore)
            left = [one for one, group in zip(documents, groups, strict=True) if group != number]
            rest._count_units([(unit, left)], {spec: [next(tables)] for spec, tables in sums}, _ignore)
            yield parts[number], rest.scores()

    def _on_table_of(
        self, unit: str, documents: Sequence[WaitingDocument], measure: Measure[Any, Any], table: Any
    ) -> None:
        assert self._on_table is not None, "only called where there is a receiver"
        if len(documents) == 1:
            self._on_table(unit, documents[0].about.id, measure, table)
        elif measure.table.counted == "item":
            for document in documents:
                self._on_table(unit, document.about.id, measure, self._made(document, measure.table))
        else:
            self._on_table(unit, None, measure, table)

    def _count(self, measure: Measure[Any, Any], rows: Rows, table: Any) -> None:
        counts = measure.count(table)
        rows.append(counts)
        for finding in measure.remarks(table, counts):
            self._report(finding)
        if unmatchable := measure.unmatchable(table):
            for items, count in unmatchable.items():
                self.unmatchable[measure.id, items] += count
        if self._compares:
            for what, count in measure.differences(table).items():
                self.differences[measure.id, what] += count

    def _enter(self, unit: str, gold: int, system: int, documents: Sequence[UnitDocument]) -> None:
        self.units.append(unit)
        self.gold_mentions.append(gold)
        self.system_mentions.append(system)
        if self._on_unit is not None:
            self._on_unit(documents)

    def scores(self) -> dict[str, Score]:
        """The micro average of each row, and its macro average if the protocol has one."""
        return self.score_function()([math.fsum(column) for column in self._columns()])

    def rows(self, ids: Collection[str] | None = None) -> UnitRows:
        """The counts of each unit, and the scores that their sums give; `ids` are the rows to return (None: all)."""
        left_out = {
            part: {id_: score for id_, score in scores.items() if ids is None or id_ in ids}
            for part, scores in self._left_out.items()
        }
        return UnitRows(self.units, list(self._columns()), self.score_function(ids), left_out, self._part)

    def micro_scores(self) -> dict[str, ScoreValues]:
        """The micro average of each measure."""
        return {
            id_: finished_scores(rows.total(self._averaged(averages)), averages)
            for id_, averages, rows in self._by_id()
        }

    def micro_columns(self) -> "Iterator[tuple[CountedRow, list[array[float]]]]":
        """The counts of each measure in each unit; zero in a unit that it does not average."""
        for id_, averages, rows in self._by_id():
            yield CountedRow(id_, rows.kind, averages, has_macro=False), rows.columns(self._averaged(averages))

    def _columns(self) -> "Iterator[array[float]]":
        """What is summed over units: the counts of each measure, and what its macro average needs."""
        for _, averages, rows in self.measures:
            averaged = self._averaged(averages)
            yield from rows.columns(averaged)
            if averages.macro:
                yield from mean_columns(rows, averaged, missing=averages.macro_undefined)

    def _averaged(self, averages: Averages) -> list[bool]:
        """Whether each unit counts."""
        if averages.units == "all":
            return [True] * len(self.units)
        return [gold > 0 for gold in self.gold_mentions]

    def score_function(self, ids: Collection[str] | None = None) -> ScoreFunction:
        """What makes scores of one sum per column; `ids` are the rows to return (None: all)."""
        rows = [
            CountedRow(measure.id, rows.kind, averages, has_macro=averages.macro)
            for measure, averages, rows in self.measures
        ]
        return ScoreFunction(rows, self._composites, ids)

    def unit_scores(self) -> Iterator[tuple[str, dict[str, ScoreValues]]]:
        """The scores of each unit."""
        complete = self.score_function().with_composites
        for row, unit in enumerate(self.units):
            scores = {id_: finished_scores(rows.counts(row), averages) for id_, averages, rows in self._by_id()}
            yield unit, complete(scores)

    def _by_id(self) -> Iterator[tuple[str, Averages, Rows]]:
        return ((measure.id, averages, rows) for measure, averages, rows in self.measures)


def _without_content(document: Document) -> Document:
    """What is to be known about a document after its tables were made."""
    return Document(document.id, document.topic, document.subtopic, document.source, document.language)


def _ignore(finding: Finding) -> None:
    """The unit as a whole has reported it."""


def _is_averaged(averages: Averages, gold_mentions: int) -> bool:
    """Whether a unit counts."""
    return averages.units == "all" or gold_mentions > 0
