"""The sheet of one protocol: what it gathers while documents pass, and the result it becomes."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from karat import __version__
from karat.corpus import Survey
from karat.counts import Counts, Leaf, Rows, finish, mean, settled
from karat.engine.breakdown import Breakdown
from karat.engine.details import Details
from karat.errors import Finding, Findings, Report, Rule, nearest, quoted
from karat.measures import MEASURES, Composite, Measure, Setting
from karat.model import Document, Pair
from karat.protocols import Averages, Protocol
from karat.protocols._signature import signature
from karat.results import Result, Score, Side
from karat.tables import Tables

LEFT_OUT = Rule("false-alarms-uncounted", "note", "The protocol averages only over units with gold mentions.")
NO_KIND = Rule("kind-absent", "fatal", "Choose the kinds of mentions to score with --set kinds=...")
NO_TOPIC = Rule("topic-missing", "note", "Give each document its topic if topics are to be scored.")
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
        details: bool = False,
    ) -> None:
        self.protocol = protocol
        self._report = report
        if protocol.kinds is not None and gold.kinds and gold.kinds.isdisjoint(protocol.kinds):
            found = f"gold has no mention of kind {', '.join(protocol.kinds)}"
            raise NO_KIND.error(f"{found}. {nearest(protocol.kinds[0], sorted(gold.kinds))}")
        self._filters = [filter_.prepare(protocol.comparison, report) for filter_ in protocol.filters]
        attributes = gold.attributes_of(protocol.kinds)
        setting = Setting(
            in_order(attributes),
            protocol.alignments,
            protocol.comparison,
            gold_kinds=gold.kinds,
            system_kinds=system.kinds,
        )
        offered = [
            (row, family.averages)
            for family in protocol.families
            for row in MEASURES.get(family.name).measures(family.parameters, setting)
        ]
        self.offered = [row.id for row, _ in offered]
        twice = [id_ for id_ in self.offered if self.offered.count(id_) > 1]
        if twice:
            raise ROW_TWICE.error(f"two rows of {protocol.name} would be called {twice[0]!r}")
        self._shown = [id_ for id_ in self.offered if not measures or id_.startswith(measures)]
        needed = set(self._shown)
        for row, _ in reversed(offered):  # a composite comes after what it is made of
            if isinstance(row, Composite) and row.id in needed:
                needed.update(row.of)
        wanted = [(row, averages) for row, averages in offered if row.id in needed]
        self._composites = [(row, averages) for row, averages in wanted if isinstance(row, Composite)]
        self.measures: list[tuple[Measure, Averages, Rows]] = [
            (row, averages, Rows(row.kind)) for row, averages in wanted if not isinstance(row, Composite)
        ]
        self._late = any(getattr(measure.artefact, "needs_corpus", False) for measure, _, _ in self.measures)
        known = attributes | system.attributes_of(protocol.kinds)
        known |= {field for measure, _, _ in self.measures for field in getattr(measure, "fields", ())}
        self._by = [Breakdown(field, in_order(known), protocol.comparison) for field in by]
        self._details = Details() if details else None
        self._units: list[str] = []
        self._gold_mentions = array("q")
        self._system_mentions = array("q")
        self._pending: dict[str, list[Tables]] = {}

    def add(self, pair: Pair) -> None:
        """Take one document; one that is a unit by itself is counted at once."""
        for filter_ in self._filters:
            pair = filter_(pair)
        unit = self._unit(pair.gold)
        if self.protocol.unit == "document" and not self._late:
            self._count(unit, [Tables(pair)])
        else:
            self._pending.setdefault(unit, []).append(Tables(pair))

    def _unit(self, document: Document) -> str:
        """The unit of evaluation that a document belongs to; without a topic it is a topic of its own."""
        if self.protocol.unit == "document":
            return document.id
        if self.protocol.unit == "corpus":
            return "corpus"
        if document.topic is None:
            found = f"document {quoted(document.id)} has no topic and is a topic of its own"
            self._report(NO_TOPIC.at(found))
            return f"topic {document.id}"
        within = f" {document.subtopic}" if self.protocol.unit == "subtopic" and document.subtopic else ""
        return f"topic {document.topic}{within}"

    def _count(self, unit: str, documents: Sequence[Tables]) -> None:
        """Count a unit that is complete by itself."""
        self._enter(unit, documents)
        for measure, averages, rows in self.measures:
            made = [tables.get(measure.artefact) for tables in documents]
            rows.append(measure.count(made[0] if len(made) == 1 else measure.artefact.add(made)))
            self._break_down(measure, averages, documents, made)

    def _count_all(self) -> None:
        """Count the units that had to wait for their last document, or for each other."""
        units = sorted(self._pending.items())
        for unit, documents in units:
            self._enter(unit, documents)
        finished: dict[Any, list[Any]] = {}
        for measure, averages, rows in self.measures:
            artefact = measure.artefact
            made = [[tables.get(artefact) for tables in documents] for _, documents in units]
            if artefact not in finished:
                whole = [artefact.add(tables) for tables in made]
                finished[artefact] = artefact.settled(whole) if getattr(artefact, "needs_corpus", False) else whole
            for table in finished[artefact]:
                rows.append(measure.count(table))
            for number, ((_, documents), tables) in enumerate(zip(units, made, strict=True)):
                if getattr(measure.artefact, "joins_documents", False):
                    self._break_down_whole(measure, finished[artefact][number])
                else:
                    self._break_down(measure, averages, documents, tables)

    def _enter(self, unit: str, documents: Sequence[Tables]) -> None:
        self._units.append(unit)
        self._gold_mentions.append(sum(len(tables.pair.gold.mentions) for tables in documents))
        self._system_mentions.append(sum(len(tables.pair.system.mentions) for tables in documents))

    def _break_down(
        self, measure: Measure, averages: Averages, documents: Sequence[Tables], made: Sequence[Any]
    ) -> None:
        for tables, table in zip(documents, made, strict=True):
            self._detail(measure, tables.pair.gold.id, table)
        has_gold = any(tables.pair.gold.mentions for tables in documents)
        if self._by and (has_gold or averages.units == "all"):
            for tables, table in zip(documents, made, strict=True):
                for breakdown in self._by:
                    breakdown.add(measure, tables.pair.gold, measure.outcomes(table))

    def _break_down_whole(self, measure: Measure, table: Any) -> None:
        """A table whose items live in several documents is one, whatever field it is broken down by."""
        self._detail(measure, "", table)
        for breakdown in self._by:
            breakdown.add(measure, None, measure.outcomes(table))

    def _detail(self, measure: Measure, document: str, table: Any) -> None:
        if self._details is not None and hasattr(measure, "details"):
            self._details.add(measure, document, measure.details(table))

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
        self._count_all()
        left_out = list(self._left_out())
        return Result(
            version=__version__,
            protocol=self.protocol.name,
            title=self.protocol.title,
            signature=signature(self.protocol, units=units, fingerprint=str(gold.fingerprint), topics=topics),
            unit=self.protocol.unit,
            gold=gold,
            system=system,
            scores=self._scores(),
            by={breakdown.field: dict(self._by_scores(breakdown)) for breakdown in self._by},
            units=dict(sorted(self._unit_scores())) if per_unit else {},
            details={} if self._details is None else self._details.to_dict(),
            warnings=[*left_out, *findings.listed()],
            warning_counts=findings.counts | {finding.code: 1 for finding in left_out},
        )

    def _scores(self) -> dict[str, Score]:
        micro: dict[str, Leaf] = {}
        macro: dict[str, Leaf] = {}
        for measure, averages, rows in self.measures:
            averaged = [averages.units == "all" or gold > 0 for gold in self._gold_mentions]
            total = rows.total(averaged)
            micro[measure.id] = _leaf(total, averages)
            if averages.macro:
                units = (rows.counts(row) for row, wanted in enumerate(averaged) if wanted)
                values = mean(measure.kind, units, missing=averages.macro_undefined, undefined=averages.undefined)
                macro[measure.id] = Leaf(values)
        micro, macro = self._completed(micro), self._completed(macro)
        return {id_: Score(micro[id_], macro.get(id_)) for id_ in micro}

    def _unit_scores(self) -> Iterator[tuple[str, dict[str, Leaf]]]:
        for row, unit in enumerate(self._units):
            leaves = {measure.id: _leaf(rows.counts(row), averages) for measure, averages, rows in self.measures}
            yield unit, self._completed(leaves)

    def _by_scores(self, breakdown: Breakdown) -> Iterator[tuple[str, dict[str, Score]]]:
        averages = {measure.id: averages for measure, averages, _ in self.measures}
        for key, totals in breakdown.totals():
            leaves = {id_: _leaf(counts, averages[id_]) for id_, counts in totals.items()}
            yield key, {id_: Score(leaf) for id_, leaf in self._completed(leaves).items()}

    def _completed(self, leaves: dict[str, Leaf]) -> dict[str, Leaf]:
        """The rows that are wanted, composites made from the others."""
        for composite, averages in self._composites:
            if all(id_ in leaves for id_ in composite.of):
                values = composite.combine([leaves[id_] for id_ in composite.of])
                leaves[composite.id] = Leaf(settled(values, undefined=averages.undefined))
        return {id_: leaves[id_] for id_ in self._shown if id_ in leaves}

    def _left_out(self) -> Iterator[Finding]:
        """Say what an average over units with gold leaves out, since nobody expects it."""
        mentions = zip(self._gold_mentions, self._system_mentions, strict=True)
        empty = [system for gold, system in mentions if not gold and system]
        names = [measure.id for measure, averages, _ in self.measures if averages.units == "with-gold"]
        if empty and names:
            where = f"{len(empty):,} {self.protocol.unit}{'s' * (len(empty) != 1)} without gold mentions"
            yield LEFT_OUT.at(f"system mentions that do not count as false alarms: {sum(empty):,} in {where}")


def _leaf(counts: Counts, averages: Averages) -> Leaf:
    return Leaf(finish(counts, undefined=averages.undefined), counts)


def in_order(attributes: Iterable[str]) -> tuple[str, ...]:
    """Type, realis, then by name."""
    first = {"type": 0, "realis": 1}
    return tuple(sorted(attributes, key=lambda name: (first.get(name, 2), name)))
