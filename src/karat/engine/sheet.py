"""The sheet of one protocol: what it gathers while documents pass, and the result it becomes."""

from array import array
from collections.abc import Iterable, Iterator, Sequence

from karat import __version__
from karat.counts import Counts, Rows, finish, mean
from karat.engine.breakdown import Breakdown
from karat.errors import Finding, Findings, Report, Rule
from karat.formats._corpus import Survey
from karat.measures import MEASURES, Measure, Setting
from karat.model import Pair
from karat.protocols import Averages, Protocol
from karat.protocols._signature import signature
from karat.results import Leaf, Result, Score, Side
from karat.tables import Tables

LEFT_OUT = Rule("false-alarms-uncounted", "note", "The protocol averages only over units with gold mentions.")


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
    ) -> None:
        self.protocol = protocol
        self._filters = [filter_.prepare(protocol.comparison, report) for filter_ in protocol.filters]
        attributes = gold.attributes_of(protocol.kinds)
        setting = Setting(in_order(attributes), protocol.alignments, protocol.comparison)
        offered = [
            (measure, family.averages)
            for family in protocol.families
            for measure in MEASURES.get(family.name).measures(family.parameters, setting)
        ]
        self.offered = [measure.id for measure, _ in offered]
        self.measures: list[tuple[Measure, Averages, Rows]] = [
            (measure, averages, Rows(measure.kind))
            for measure, averages in offered
            if not measures or measure.id.startswith(measures)
        ]
        known = attributes | system.attributes_of(protocol.kinds)
        self._by = [Breakdown(field, in_order(known), protocol.comparison) for field in by]
        self._units: list[str] = []
        self._gold_mentions = array("q")
        self._system_mentions = array("q")
        self._pending: dict[str, list[Tables]] = {}

    def add(self, pair: Pair) -> None:
        """Take one document; one that is a unit by itself is counted at once."""
        for filter_ in self._filters:
            pair = Pair(filter_(pair.gold), filter_(pair.system))
        if self.protocol.unit == "document":
            self._count(pair.gold.id, [Tables(pair)])
        else:
            unit = getattr(pair.gold, self.protocol.unit, "corpus") or pair.gold.id
            self._pending.setdefault(unit, []).append(Tables(pair))

    def _count(self, unit: str, documents: Sequence[Tables]) -> None:
        """Count a finished unit."""
        gold = sum(len(tables.pair.gold.mentions) for tables in documents)
        system = sum(len(tables.pair.system.mentions) for tables in documents)
        self._units.append(unit)
        self._gold_mentions.append(gold)
        self._system_mentions.append(system)
        for measure, averages, rows in self.measures:
            made = [tables.get(measure.artefact) for tables in documents]
            rows.append(measure.count(made[0] if len(made) == 1 else measure.artefact.add(made)))
            if self._by and (gold or averages.units == "all"):
                for tables, table in zip(documents, made, strict=True):
                    for breakdown in self._by:
                        breakdown.add(measure, tables.pair.gold, measure.outcomes(table))

    def result(self, gold: Side, system: Side, *, units: Iterable[str], findings: Findings, per_unit: bool) -> Result:
        """Sum what was gathered."""
        for unit, documents in sorted(self._pending.items()):
            self._count(unit, documents)
        averages = {measure.id: averages for measure, averages, _ in self.measures}
        left_out = list(self._left_out())
        return Result(
            version=__version__,
            protocol=self.protocol.name,
            title=self.protocol.title,
            signature=signature(self.protocol, units=units, fingerprint=str(gold.fingerprint)),
            unit=self.protocol.unit,
            gold=gold,
            system=system,
            scores={measure.id: self._score(averages, rows) for measure, averages, rows in self.measures},
            by={breakdown.field: breakdown.scores(averages) for breakdown in self._by},
            units=dict(sorted(self._unit_scores())) if per_unit else {},
            warnings=[*left_out, *findings.listed()],
            warning_counts=findings.counts | {finding.code: 1 for finding in left_out},
        )

    def _score(self, averages: Averages, rows: Rows) -> Score:
        averaged = [averages.units == "all" or gold > 0 for gold in self._gold_mentions]
        total = rows.total(averaged)
        micro = Leaf(finish(total, undefined=averages.undefined), total)
        if not averages.macro:
            return Score(micro)
        units = (rows.counts(row) for row, wanted in enumerate(averaged) if wanted)
        return Score(
            micro, Leaf(mean(rows.kind, units, missing=averages.macro_undefined, undefined=averages.undefined))
        )

    def _unit_scores(self) -> Iterator[tuple[str, dict[str, Leaf]]]:
        for row, unit in enumerate(self._units):
            yield unit, {measure.id: _leaf(rows.counts(row), averages) for measure, averages, rows in self.measures}

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
