"""The sheet of one protocol: what it gathers while documents pass, and the result it becomes."""

from array import array
from collections.abc import Iterable, Iterator, Sequence

from karat import __version__
from karat.corpus import Survey
from karat.counts import Counts, Rows, finish, mean, settled
from karat.engine.breakdown import Breakdown
from karat.errors import Finding, Findings, Report, Rule, nearest
from karat.measures import MEASURES, Composite, Measure, Setting
from karat.model import Pair
from karat.protocols import Averages, Protocol
from karat.protocols._signature import signature
from karat.results import Leaf, Result, Score, Side
from karat.tables import Tables

LEFT_OUT = Rule("false-alarms-uncounted", "note", "The protocol averages only over units with gold mentions.")

NO_KIND = Rule("kind-absent", "fatal", "Choose the kinds of mentions to score with --set kinds=...")
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
    ) -> None:
        self.protocol = protocol
        if protocol.kinds is not None and gold.kinds and gold.kinds.isdisjoint(protocol.kinds):
            found = f"gold has no mention of kind {', '.join(protocol.kinds)}"
            raise NO_KIND.error(f"{found}. {nearest(protocol.kinds[0], sorted(gold.kinds))}")
        self._filters = [filter_.prepare(protocol.comparison, report) for filter_ in protocol.filters]
        attributes = gold.attributes_of(protocol.kinds)
        setting = Setting(in_order(attributes), protocol.alignments, protocol.comparison)
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
        self._composites = [
            (row, averages) for row, averages in offered if isinstance(row, Composite) and row.id in self._shown
        ]
        needed = {*self._shown, *(id_ for composite, _ in self._composites for id_ in composite.of)}
        self.measures: list[tuple[Measure, Averages, Rows]] = [
            (row, averages, Rows(row.kind))
            for row, averages in offered
            if not isinstance(row, Composite) and row.id in needed
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
        left_out = list(self._left_out())
        return Result(
            version=__version__,
            protocol=self.protocol.name,
            title=self.protocol.title,
            signature=signature(self.protocol, units=units, fingerprint=str(gold.fingerprint)),
            unit=self.protocol.unit,
            gold=gold,
            system=system,
            scores=self._scores(),
            by={breakdown.field: dict(self._by_scores(breakdown)) for breakdown in self._by},
            units=dict(sorted(self._unit_scores())) if per_unit else {},
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
                values = composite.combine([leaves[id_].values for id_ in composite.of])
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
