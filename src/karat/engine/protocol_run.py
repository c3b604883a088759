"""A run of one protocol: collects counts document by document, and returns the result."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from operator import add
from typing import Any, NamedTuple, TypeVar

from msgspec.structs import replace

from karat import __version__
from karat.corpus import Survey
from karat.counts import ScoreValues
from karat.engine.breakdown import AveragedMeasure, Breakdown, BreakdownPart
from karat.engine.details import Details, DetailsPart
from karat.engine.kinds import lacking
from karat.engine.observer import Observe, Observer
from karat.engine.prepare import PreparedPair
from karat.engine.records import Records
from karat.engine.score_function import ScoreFunction
from karat.engine.unit_counts import ScoredRow, UnitCounts, UnitDocument, UnitsPart
from karat.errors import Finding, Findings, KaratError, Report, Rule, quoted
from karat.model import Document, Pair
from karat.plugin import Averages, Composite, Measure, Row, Setting, Tables, Unscored, scorable
from karat.protocols import Protocol
from karat.protocols.signature import signature
from karat.results import Result, Score, Side, UnitRows
from karat.tables.aligned import Alignment

T = TypeVar("T")

IGNORED = Rule("false-alarms-uncounted", "note", "The protocol averages only over units with gold mentions.")
GIVEN = Rule("mentions-given", "note", "Compare only with systems that were also given gold mentions.")
COLLAPSED = Rule("mentions-collapsed", "note", "Links within a document are not scored here.")
RESTRICTED = Rule("breakdown-restricted", "note", "These rows do not add up to the total.")
NO_TOPIC = Rule(
    "topic-missing", "note", "Give each document a topic, or choose a protocol with another unit of evaluation."
)
NOT_SCORED = Rule("row-absent", "note", "Ignore this if it is intended; otherwise choose another protocol or setting.")
UNMATCHABLE = Rule("items-unmatchable", "note", "Under this protocol they always count as missed or spurious.")
ROW_TWICE = Rule("row-twice", "fatal", "Rename the attribute, or choose others with --set attributes=...")


class RunPart(NamedTuple):
    """What a run has of some documents, as it is sent to the process that puts them together."""

    counts: UnitsPart
    by: list[BreakdownPart]
    details: DetailsPart | None
    observed: Any
    same_mentions: bool
    collapse_sizes: list[int]
    mentions: list[int]


class ProtocolRun:
    """One protocol, the rows it scores, and their counts."""

    def __init__(
        self,
        protocol: Protocol,
        gold: Survey,
        system: Survey,
        *,
        report: Report,
        measures: tuple[str, ...] = (),
        by: Sequence[str] = (),
        records: Records | None = None,
        details: Details | None = None,
        observe: Observe | None = None,
        keep_rows: bool = False,
        keep_by_rows: bool = False,
        jackknife: bool = False,
        compare: bool = False,
    ) -> None:
        self.protocol = protocol
        self._report = report
        self._chosen = measures
        self._keeps_rows, self._keeps_by_rows = keep_rows, keep_by_rows
        if (finding := lacking(protocol, gold.kinds, "gold")) is not None:
            raise KaratError(finding)
        rows = self._rows(_setting(protocol, gold, system))
        self._details = details
        self._observer: Observer | None = None
        if observe is not None:
            assert records is not None, "an observer reads records"
            self._observer = observe(records, protocol, [row for row, _ in rows], self._selected)
        self._table_remarks: list[Finding] = []
        self._counts = UnitCounts(
            rows,
            unit=protocol.unit,
            on_unit=self._break_down if by else None,
            on_table=self._show if details is not None or observe is not None else None,
            jackknife=jackknife,
            compare=compare,
            report=report,
        )
        self.measures: list[AveragedMeasure] = [(measure, averages) for measure, averages, _ in self._counts.measures]
        known = gold.attributes_of(protocol.kinds) | system.attributes_of(protocol.kinds)
        offered = known | {field for measure, _ in self.measures for field in measure.fields}
        self._by = [
            Breakdown(field, in_order(offered), _having(field, known, self.measures), protocol)
            for field in dict.fromkeys(by)
        ]
        lists_outcomes = not all(measure.lists_details for measure, _ in self.measures)
        is_recorded = observe is not None or (details is not None and lists_outcomes)
        self._records = records if is_recorded else None
        behind = dict.fromkeys(measure.table.alignment for measure, _ in self.measures)
        self._alignments = [alignment for alignment in behind if alignment is not None]
        self._same_mentions = any(_counts_wholes(measure) for measure, _ in self.measures)
        self._collapse_sizes = [0, 0, 0, 0]
        self._mentions = [0, 0]

    def _rows(self, setting: Setting) -> list[ScoredRow]:
        """The rows to score: the selected ones, and those that selected composites need."""
        offered: list[tuple[Row, Averages]] = [
            (row, choice.averages) for choice in self.protocol.families for row in choice.rows(setting)
        ]
        self.unscored = [row for row, _ in offered if isinstance(row, Unscored)]
        scored = [(row, averages) for row, averages in offered if not isinstance(row, Unscored)]
        self.offered = [row.id for row, _ in scored if isinstance(row, Composite) or not row.hidden]
        repeated = [id_ for id_, count in Counter(self.offered).items() if count > 1]
        if repeated:
            raise ROW_TWICE.error(f"two rows of {self.protocol.name} would be called {repeated[0]!r}")
        chosen = _selected(self._chosen, [row.id for row, _ in offered])
        self._selected = [id_ for id_ in self.offered if id_ in chosen]
        self._omitted = [row for row in self.unscored if row.id in chosen]
        needed = set(self._selected)
        for row, _ in reversed(scored):  # a composite comes after the rows it needs
            if isinstance(row, Composite) and row.id in needed:
                needed.update(row.of)
        return [(row, averages) for row, averages in scored if row.id in needed]

    def add(self, prepared: PreparedPair) -> None:
        """Add one document."""
        filtered, collapsed = prepared.filtered, prepared.tables.pair
        unit = self._unit(filtered.gold)
        self._mentions[0] += prepared.gold_mentions
        self._mentions[1] += prepared.system_mentions
        self._same_mentions = self._same_mentions and _have_same_places(filtered)
        if collapsed is not filtered:
            for place, side in enumerate((filtered.gold, collapsed.gold, filtered.system, collapsed.system)):
                self._collapse_sizes[place] += len(side.mentions)
        if self._by:
            whole = prepared.tables if collapsed is filtered else Tables(filtered)
            for breakdown in self._by:
                breakdown.add_parts(unit, whole)
        if self._records is not None:
            self._records.enter(unit, prepared.tables, self._alignments if self._details is not None else ())
        if self._observer is not None:
            self._observer.enter(unit, prepared.tables)
        self._counts.add(unit, prepared.tables)
        if self._counts.at_once:
            self._leave()

    @property
    def is_by_document(self) -> bool:
        """Whether the counts of a document do not depend on other documents."""
        return self._counts.at_once

    def _leave(self) -> None:
        """The units of all documents so far are complete."""
        if self._observer is not None:
            self._observer.leave()
        if self._records is not None:
            self._records.leave()

    def part(self) -> RunPart:
        """What was added, to be sent to another process."""
        return RunPart(
            self._counts.part(),
            [breakdown.part() for breakdown in self._by],
            None if self._details is None else self._details.part(),
            None if self._observer is None else self._observer.part(),
            self._same_mentions,
            self._collapse_sizes,
            self._mentions,
        )

    def merge(self, part: RunPart) -> None:
        """Add documents that come after those so far."""
        self._counts.merge(part.counts)
        for breakdown, later in zip(self._by, part.by, strict=True):
            breakdown.merge(later)
        if self._details is not None and part.details is not None:
            self._details.merge(part.details)
        if self._observer is not None:
            self._observer.merge(part.observed)
        self._same_mentions = self._same_mentions and part.same_mentions
        self._collapse_sizes = [*map(add, self._collapse_sizes, part.collapse_sizes)]
        self._mentions = [*map(add, self._mentions, part.mentions)]

    def _show(self, unit: str, document: str | None, measure: Measure[Any, Any], table: Any) -> None:
        """Show a table that was counted to those who want to see it."""
        if self._details is not None:
            self._details.add(unit, document, measure, table)
        if self._observer is not None:
            self._observer.add(unit, document, measure, table)

    def _break_down(self, documents: Sequence[UnitDocument]) -> None:
        for breakdown in self._by:
            breakdown.add_outcomes(documents)

    def _unit(self, document: Document) -> str:
        """The unit of evaluation of a document; reports a document without a topic if the unit is a topic."""
        if self.protocol.unit in ("topic", "subtopic") and document.topic is None:
            message = f"document {quoted(document.id)} has no topic and counts as a topic of its own"
            self._report(NO_TOPIC.at(message, origin="gold"))
        return unit_of(document, self.protocol)

    def result(
        self,
        scores: dict[str, Score],
        gold: Side,
        system: Side,
        *,
        units: Iterable[str],
        findings: Findings,
        per_unit: bool,
        topics: str | None,
    ) -> Result:
        """The result of all documents that were added, whose scores are known.

        Of the sides, only the mentions that it scores are counted.
        """
        details = self._details
        remarks = list(self._remarks())
        return Result(
            version=__version__,
            protocol=self.protocol.name,
            title=self.protocol.title,
            signature=signature(self.protocol, units=units, fingerprint=str(gold.fingerprint), topics=topics),
            unit=self.protocol.unit,
            unit_count=len(self._counts.units),
            gold=replace(gold, mentions=self._mentions[0]),
            system=replace(system, mentions=self._mentions[1]),
            scores=scores,
            by={breakdown.field: dict(self._by_scores(breakdown)) for breakdown in self._by},
            units=dict(sorted((unit, self._select(values)) for unit, values in self._counts.unit_scores()))
            if per_unit
            else {},
            headline=self.protocol.headline,
            differences=self._differences(),
            outcomes={} if details is None else details.outcomes(self._selected),
            details={} if details is None else details.listed(),
            warnings=[*remarks, *findings.listed()],
            warning_counts=findings.counts | Counter(finding.group for finding in remarks),
            rows=self._counts.rows(self._selected) if self._keeps_rows else None,
            by_rows={breakdown.field: dict(self._by_rows(breakdown)) for breakdown in self._by}
            if self._keeps_by_rows
            else {},
        )

    def _differences(self) -> dict[str, dict[str, int]]:
        listed: dict[str, dict[str, int]] = {}
        for (id_, what), count in sorted(self._counts.differences.items()):
            if count and id_ in self._selected:
                listed.setdefault(id_, {})[what] = count
        return listed

    def scores(self) -> dict[str, Score]:
        """The scores of all documents that were added; no more can be added afterwards."""
        self._counts.close(self._table_remarks.append)
        self._leave()
        return self._select(self._counts.scores())

    def score_function(self) -> ScoreFunction:
        """What makes scores of the sums of its rows."""
        return self._counts.score_function(self._selected)

    def _by_scores(self, breakdown: Breakdown) -> Iterator[tuple[str, dict[str, Score]]]:
        finish = self._counts.score_function()
        for key, values, items in breakdown.scores():
            complete: dict[str, ScoreValues] = self._select(finish.with_composites(values))
            yield key, {id_: Score(one, items=items.get(id_)) for id_, one in complete.items()}

    def _by_rows(self, breakdown: Breakdown) -> Iterator[tuple[str, UnitRows]]:
        return breakdown.rows(self._counts.units, self._counts.score_function(self._selected))

    def _select(self, rows: dict[str, T]) -> dict[str, T]:
        return {id_: rows[id_] for id_ in self._selected if id_ in rows}

    def _remarks(self) -> Iterator[Finding]:
        """What a reader of the scores should know and may not expect."""
        selected = set(self._selected)
        reasons: dict[str, list[str]] = {}
        for row in self._omitted:
            reasons.setdefault(row.reason, []).append(row.id)
        for measure, _ in self.measures:
            if measure.why_undefined is not None and measure.id in selected:
                reasons.setdefault(measure.why_undefined, []).append(measure.id)
        for reason, ids in reasons.items():
            yield NOT_SCORED.at(f"{', '.join(ids)} {'are' if len(ids) > 1 else 'is'} not scored: {reason}")
        unmatchable = [
            f"{id_}: {items} ({count:,})"
            for (id_, items), count in self._counts.unmatchable.items()
            if count and id_ in selected
        ]
        if unmatchable:
            yield UNMATCHABLE.at(f"some items cannot be matched: {'; '.join(unmatchable)}")
        sizes = zip(self._counts.gold_mentions, self._counts.system_mentions, strict=True)
        false_alarms = [system for gold, system in sizes if not gold and system]
        if false_alarms and any(averages.units == "with-gold" for _, averages in self.measures):
            yield IGNORED.at(_ignored(sum(false_alarms), len(false_alarms), self.protocol.unit))
        if self._same_mentions and not self._is_perfect():
            yield GIVEN.at("gold and system have the same mentions: the system may have been given those of gold")
        if any(self._collapse_sizes):
            gold, gold_left, system, system_left = self._collapse_sizes
            message = f"{gold:,} gold mentions became {gold_left:,}, {system:,} system mentions became {system_left:,}"
            yield COLLAPSED.at(f"each cluster within a document was collapsed to one mention: {message}")
        yield from self._table_remarks
        if any(self._counts.gold_mentions):
            for measure, _, rows in self._counts.measures:
                yield from measure.remarks_on_total(rows.total())
        whole = [measure.id for measure, _ in self.measures if _counts_wholes(measure) and measure.id in selected]
        if self._by and whole:
            fields = ", ".join(breakdown.field for breakdown in self._by)
            families = ", ".join(dict.fromkeys(f"{id_.partition('.')[0]}.*" for id_ in whole))
            message = f"{families} by {fields}: each row is scored on the corpus restricted to mentions with that value"
            yield RESTRICTED.at(f"{message} (for aligned mentions, gold's value)")

    def _is_perfect(self) -> bool:
        """Whether the measures that count mentions together are all perfect."""
        totals = [rows.total() for measure, _, rows in self._counts.measures if _counts_wholes(measure)]
        return all(ratio.value in (None, 1) for total in totals for ratio in total.ratios().values())


def _selected(names: Sequence[str], ids: Sequence[str]) -> set[str]:
    """The ids that are selected: one that is named exactly, else all that start with a name; all, if none is named."""
    if not names:
        return set(ids)
    return {id_ for name in names for id_ in ids if id_ == name or (name not in ids and id_.startswith(name))}


def _ignored(mentions: int, units: int, unit: str) -> str:
    if mentions == 1:
        return f"1 system mention ignored: its {unit} has no gold mentions"
    place = f"{unit} has" if units == 1 else f"{units:,} {unit}s have"
    return f"{mentions:,} system mentions ignored: their {place} no gold mentions"


def _setting(protocol: Protocol, gold: Survey, system: Survey) -> Setting:
    """What families know about the run."""
    attributes = in_order(gold.attributes_of(protocol.kinds))
    return Setting(
        align=partial(_align, protocol, attributes),
        unit=protocol.unit,
        collapse=None if protocol.collapse is None else protocol.collapse.representative,
        attributes=attributes,
        links=sorted(gold.links_of(protocol.kinds)),
        gold_kinds=gold.kinds,
        system_kinds=system.kinds,
        gold_clustered=gold.clustered,
    )


def _align(
    protocol: Protocol,
    attributes: Sequence[str],
    name: str,
    *,
    agree: Sequence[str] | None = None,
    rewarded: Sequence[str] | None = None,
) -> Alignment:
    """All attributes are compared in every alignment, so that alignments share their candidates."""
    choice = protocol.alignment(name)
    rewarded = scorable(attributes) if rewarded is None else rewarded
    after = _align(protocol, attributes, choice.after, agree=agree, rewarded=rewarded) if choice.after else None
    return Alignment.of(choice, protocol.comparison, attributes, agree=agree, rewarded=rewarded, after=after)


def _having(field: str, attributes: Collection[str], measures: Sequence[AveragedMeasure]) -> list[AveragedMeasure]:
    """The measures that can be broken down by a field: all, unless only the items of some of them have it."""
    declaring = [(measure, averages) for measure, averages in measures if field in measure.fields]
    return list(measures) if field in attributes or not declaring else declaring


def _counts_wholes(measure: Measure[Any, Any]) -> bool:
    """Whether mentions are right or wrong together, so that scores of parts do not add up."""
    return measure.table.alignment is not None


def unit_of(document: Document, protocol: Protocol) -> str:
    """The name of a document's unit of evaluation; a document without a topic is a topic of its own."""
    if protocol.unit == "document":
        return document.id
    if protocol.unit == "corpus":
        return "corpus"
    if document.topic is None:
        return f"topic {document.id}"
    within = f" {document.subtopic}" if protocol.unit == "subtopic" and document.subtopic else ""
    return f"topic {document.topic}{within}"


def _have_same_places(pair: Pair) -> bool:
    """Whether the mentions of both sides have the same spans; a mention without a span is identified by its id."""
    gold = [mention.span or mention.id for mention in pair.gold.mentions]
    system = [mention.span or mention.id for mention in pair.system.mentions]
    return gold == system or set(gold) == set(system)


def in_order(attributes: Iterable[str]) -> tuple[str, ...]:
    """Type, realis, then by name."""
    first = {"type": 0, "realis": 1}
    return tuple(sorted(attributes, key=lambda name: (first.get(name, 2), name)))
