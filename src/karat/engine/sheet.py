"""The sheet of one protocol: what it gathers while documents pass, and the result it becomes."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from karat import __version__
from karat.corpus import Survey
from karat.counts import ScoreValues
from karat.engine.breakdown import Breakdown, of_unit, rests_on
from karat.engine.details import Details
from karat.engine.ledger import Ledger
from karat.errors import Finding, Findings, Report, Rule, nearest, quoted
from karat.filters import unchanged
from karat.measures import MEASURES, Composite, Measure, Setting
from karat.model import Document, Pair
from karat.protocols import Averages, Protocol
from karat.protocols._signature import signature
from karat.results import Result, Score, Side
from karat.tables import Tables

T = TypeVar("T")

LEFT_OUT = Rule("false-alarms-uncounted", "note", "The protocol averages only over units with gold mentions.")
GIVEN = Rule("mentions-given", "note", "Compare with systems that were given them, too.")
COLLAPSED = Rule("mentions-collapsed", "note", "What each side puts together within a document is not scored here.")
RESTRICTED = Rule("breakdown-restricted", "note", "Such rows do not add up to the whole.")
NO_KIND = Rule("kind-absent", "fatal", "Choose the kinds of mentions to score with --set kinds=...")
NO_TOPIC = Rule("topic-missing", "note", "Give each document its topic if topics are to be scored.")
ABSENT = Rule("row-absent", "note", "Nothing to do if that is meant; otherwise choose another protocol or setting.")
ROW_TWICE = Rule("row-twice", "fatal", "Rename the attribute, or choose others with --set attributes=...")


class Sheet:
    """One protocol at work."""

    def __init__(
        self,
        protocol: Protocol,
        gold: Survey,
        system: Survey,
        *,
        by: Sequence[str],
        measures: tuple[str, ...],
        report: Report,
        tables: Callable[[Pair], Tables] = Tables,
        details: bool = False,
    ) -> None:
        self.protocol = protocol
        self._tables = tables
        self._report = report
        if protocol.kinds is not None and gold.kinds and gold.kinds.isdisjoint(protocol.kinds):
            found = f"gold has no mention of kind {', '.join(protocol.kinds)}"
            raise NO_KIND.error(f"{found}. {nearest(protocol.kinds[0], sorted(gold.kinds))}")
        self._filters = [filter_.prepare(protocol.comparison, report) for filter_ in protocol.filters]
        self._collapsed = unchanged if protocol.collapse is None else protocol.collapse.prepare()
        attributes = gold.attributes_of(protocol.kinds)
        links = sorted(gold.links_of(protocol.kinds))
        setting = Setting(
            in_order(attributes),
            protocol.alignments,
            protocol.comparison,
            links,
            gold_kinds=gold.kinds,
            system_kinds=system.kinds,
        )
        wanted = self._wanted(setting, measures)
        known = attributes | system.attributes_of(protocol.kinds)
        known |= {field for row, _ in wanted for field in getattr(row, "fields", ())}
        self._details = Details() if details else None
        counted = self._add_outcomes if by or details else None
        self._ledger = Ledger(wanted, unit=protocol.unit, counted=counted, report=report)
        self.measures: list[tuple[Measure, Averages]] = [
            (measure, averages) for measure, averages, _ in self._ledger.measures
        ]
        self._by = [
            Breakdown(field, in_order(known), protocol.comparison, self.measures, unit=protocol.unit)
            for field in dict.fromkeys(by)
        ]
        self._same_mentions = any(rests_on(measure) for measure, _ in self.measures)
        self._collapse_sizes = [0, 0, 0, 0]

    def _wanted(self, setting: Setting, prefixes: tuple[str, ...]) -> list[tuple[Measure | Composite, Averages]]:
        """The rows to measure: those asked for, and what they are made of."""
        offered = [
            (row, family.averages)
            for family in self.protocol.families
            for row in MEASURES.get(family.name).measures(family.parameters, setting)
        ]
        self.offered = [row.id for row, _ in offered]
        self.absent: dict[str, str] = {}
        """Rows that the protocol has and that cannot be scored here, and why."""
        for family in self.protocol.families:
            if tell := getattr(MEASURES.get(family.name), "absent", None):
                self.absent |= tell(family.parameters, setting)
        self._asked = prefixes
        twice = [id_ for id_ in self.offered if self.offered.count(id_) > 1]
        if twice:
            raise ROW_TWICE.error(f"two rows of {self.protocol.name} would be called {twice[0]!r}")
        self._shown = [id_ for id_ in self.offered if not prefixes or id_.startswith(prefixes)]
        needed = set(self._shown)
        for row, _ in reversed(offered):  # a composite comes after what it is made of
            if isinstance(row, Composite) and row.id in needed:
                needed.update(row.of)
        return [(row, averages) for row, averages in offered if row.id in needed]

    def add(self, pair: Pair) -> None:
        """Take one document."""
        for filter_ in self._filters:
            pair = filter_(pair)
        unit = self._unit(pair.gold)
        self._same_mentions = self._same_mentions and _have_same_places(pair)
        collapsed = self._collapsed(pair)
        tables = self._tables(collapsed)
        if collapsed is not pair:
            sides = (pair.gold, collapsed.gold, pair.system, collapsed.system)
            for place, side in enumerate(sides):
                self._collapse_sizes[place] += len(side.mentions)
        if self._by:
            whole = tables if collapsed is pair else Tables(pair)
            for breakdown in self._by:
                breakdown.add_parts(unit, whole, self._collapsed)
        self._ledger.add(unit, tables)

    def _add_outcomes(self, documents: Sequence[Tables]) -> None:
        for breakdown in self._by:
            breakdown.add_outcomes(documents)
        for measure, _ in self.measures:
            if self._details is not None and hasattr(measure, "details"):
                for document, table in of_unit(measure, documents):
                    self._details.add(measure, "" if document is None else document.id, measure.details(table))

    def _unit(self, document: Document) -> str:
        """The unit of evaluation that a document belongs to; one that should have a topic and has none is told."""
        if self.protocol.unit in ("topic", "subtopic") and document.topic is None:
            found = f"document {quoted(document.id)} has no topic and is a topic of its own"
            self._report(NO_TOPIC.at(found, origin="gold"))
        return unit_of(document, self.protocol)

    def result(
        self,
        gold: Side,
        system: Side,
        *,
        units: Iterable[str],
        findings: Findings,
        per_unit: bool,
        topics: str | None,
    ) -> Result:
        """Sum what was gathered."""
        scores = self.scores()
        remarks = list(self._remarks())
        return Result(
            version=__version__,
            protocol=self.protocol.name,
            title=self.protocol.title,
            signature=signature(self.protocol, units=units, fingerprint=str(gold.fingerprint), topics=topics),
            unit=self.protocol.unit,
            unit_count=len(self._ledger.units),
            gold=gold,
            system=system,
            scores=scores,
            by={breakdown.field: dict(self._by_scores(breakdown)) for breakdown in self._by},
            units=dict(sorted((unit, self._of_shown(leaves)) for unit, leaves in self._ledger.unit_scores()))
            if per_unit
            else {},
            details={} if self._details is None else self._details.to_dict(),
            warnings=[*remarks, *findings.listed()],
            warning_counts=findings.counts | Counter(finding.code for finding in remarks),
        )

    def scores(self) -> dict[str, Score]:
        """The scores of all that was gathered; there is nothing to add after that."""
        self._ledger.close()
        return self._of_shown(self._ledger.scores())

    def _by_scores(self, breakdown: Breakdown) -> Iterator[tuple[str, dict[str, Score]]]:
        for key, leaves in breakdown.leaves():
            completed: dict[str, ScoreValues] = self._of_shown(self._ledger.completed(leaves))
            yield key, {id_: Score(leaf) for id_, leaf in completed.items()}

    def _of_shown(self, rows: dict[str, T]) -> dict[str, T]:
        return {id_: rows[id_] for id_ in self._shown if id_ in rows}

    def _remarks(self) -> Iterator[Finding]:
        """What nobody expects, and a reader of the scores should know."""
        lacking: dict[str, list[str]] = {}
        for id_, why in self.absent.items():
            if not self._asked or id_.startswith(self._asked):
                lacking.setdefault(why, []).append(id_)
        for why, ids in lacking.items():
            yield ABSENT.at(f"{', '.join(ids)} {'are' if len(ids) > 1 else 'is'} not scored: {why}")
        mentions = zip(self._ledger.gold_mentions, self._ledger.system_mentions, strict=True)
        empty = [system for gold, system in mentions if not gold and system]
        names = [measure.id for measure, averages in self.measures if averages.units == "with-gold"]
        if empty and names:
            where = f"{len(empty):,} {self.protocol.unit}{'s' * (len(empty) != 1)} without gold mentions"
            yield LEFT_OUT.at(f"system mentions that do not count as false alarms: {sum(empty):,} in {where}")
        if self._same_mentions and not self._is_perfect():
            yield GIVEN.at("gold and system have the same mentions, as if gold's had been given to the system")
        if any(self._collapse_sizes):
            gold, gold_left, system, system_left = self._collapse_sizes
            told = f"gold's {gold:,} mentions became {gold_left:,}, the system's {system:,} became {system_left:,}"
            yield COLLAPSED.at(f"clusters within a document were made one mention each: {told}")
        for artefact, tables in self._ledger.whole.items():
            if hasattr(artefact, "remarks"):
                yield from artefact.remarks(tables, self.protocol.unit)
        whole = [measure.id for measure, _ in self.measures if rests_on(measure) and measure.id in self._shown]
        if self._by and whole:
            fields = ", ".join(breakdown.field for breakdown in self._by)
            families = ", ".join(dict.fromkeys(f"{id_.partition('.')[0]}.*" for id_ in whole))
            found = f"{families} by {fields}: each row is scored on the corpus restricted to mentions of that value"
            yield RESTRICTED.at(f"{found} (gold's value where two are aligned)")

    def _is_perfect(self) -> bool:
        """Whether everything that is made of mentions came out right."""
        totals = [rows.kind.summed(rows) for measure, _, rows in self._ledger.measures if rests_on(measure)]
        return all(ratio.value in (None, 1) for total in totals for ratio in total.ratios().values())


def unit_of(document: Document, protocol: Protocol) -> str:
    """The unit of evaluation that a document belongs to; without a topic it is a topic of its own."""
    if protocol.unit == "document":
        return document.id
    if protocol.unit == "corpus":
        return "corpus"
    if document.topic is None:
        return f"topic {document.id}"
    within = f" {document.subtopic}" if protocol.unit == "subtopic" and document.subtopic else ""
    return f"topic {document.topic}{within}"


def _have_same_places(pair: Pair) -> bool:
    """Whether the mentions of both sides stand in the same places; one that stands nowhere is known by its id."""
    gold, system = ([mention.span or mention.id for mention in side.mentions] for side in (pair.gold, pair.system))
    return gold == system or set(gold) == set(system)


def in_order(attributes: Iterable[str]) -> tuple[str, ...]:
    """Type, realis, then by name."""
    first = {"type": 0, "realis": 1}
    return tuple(sorted(attributes, key=lambda name: (first.get(name, 2), name)))
