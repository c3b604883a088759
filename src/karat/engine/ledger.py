"""The ledger: counts of units, as a protocol gathers them of a corpus, or of a part of it."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from karat.counts import Counts, Rows, ScoreValues, fill_undefined, finish, mean
from karat.errors import Finding, Report
from karat.measures import Composite, Measure
from karat.protocols import Averages
from karat.results import Score
from karat.tables import Tables

Wanted = Sequence[tuple[Measure | Composite, Averages]]
Remarks = Callable[[Any, Counts], Iterable[Finding]]


class _Waiting(NamedTuple):
    """What is kept of a document until its unit is complete: its size, its finished tables, and all else if asked."""

    gold: int
    system: int
    made: dict[Any, Any]
    tables: Tables | None


class Ledger:
    """Rows that are measured, unit by unit, and the scores that they finish into.

    `counted` is told the documents of each unit when it is complete, `report` what measures remark on a unit.
    """

    def __init__(
        self,
        wanted: Wanted,
        *,
        unit: str,
        counted: Callable[[Sequence[Tables]], None] | None = None,
        report: Report | None = None,
    ) -> None:
        self._counted = counted
        self._report = report
        self.measures: list[tuple[Measure, Averages, Rows]] = [
            (row, averages, Rows(row.kind)) for row, averages in wanted if not isinstance(row, Composite)
        ]
        self._counting = [(measure, rows, getattr(measure, "remarks", None)) for measure, _, rows in self.measures]
        self._composites = [(row, averages) for row, averages in wanted if isinstance(row, Composite)]
        late = any(getattr(measure.artefact, "needs_corpus", False) for measure, _, _ in self.measures)
        self._at_once = unit == "document" and not late
        self.units: list[str] = []
        self.gold_mentions = array("q")
        self.system_mentions = array("q")
        self._artefacts = list(dict.fromkeys(measure.artefact for measure, _, _ in self.measures))
        self._pending: dict[str, list[_Waiting]] = {}
        self.whole: dict[Any, list[Any]] = {}
        """The tables of all units, by artefact, where units had to wait for their last document."""

    def add(self, unit: str, tables: Tables) -> None:
        """Take one document; one that is a unit by itself is counted at once."""
        gold, system = len(tables.pair.gold.mentions), len(tables.pair.system.mentions)
        if self._at_once:
            self._enter(unit, gold, system, [tables])
            for measure, rows, remarks in self._counting:
                self._append(measure, rows, remarks, tables.get(measure.artefact))
        else:
            # Mentions and how they were aligned are let go; only what is counted waits.
            made = {artefact: tables.get(artefact) for artefact in self._artefacts}
            waiting = _Waiting(gold, system, made, None if self._counted is None else tables)
            self._pending.setdefault(unit, []).append(waiting)

    def close(self) -> None:
        """Count the units that had to wait for their last document, or for each other."""
        units = sorted(self._pending.items())
        for unit, documents in units:
            kept = [document.tables for document in documents if document.tables is not None]
            self._enter(unit, sum(one.gold for one in documents), sum(one.system for one in documents), kept)
        finished: dict[Any, list[Any]] = {}
        for measure, rows, remarks in self._counting:
            artefact = measure.artefact
            if units and artefact not in finished:
                whole = [artefact.add([document.made[artefact] for document in documents]) for _, documents in units]
                late = getattr(artefact, "needs_corpus", False)
                self.whole[artefact] = whole
                finished[artefact] = artefact.settled(whole) if late else whole
            for table in finished.get(artefact, ()):
                self._append(measure, rows, remarks, table)
        self._pending = {}

    def _append(self, measure: Measure, rows: Rows, remarks: Remarks | None, table: Any) -> None:
        """Count a unit, and tell what the measure has to say of it."""
        counts = measure.count(table)
        rows.append(counts)
        if remarks is not None and self._report is not None:
            for finding in remarks(table, counts):
                self._report(finding)

    def _enter(self, unit: str, gold: int, system: int, documents: Sequence[Tables]) -> None:
        self.units.append(unit)
        self.gold_mentions.append(gold)
        self.system_mentions.append(system)
        if self._counted is not None:
            self._counted(documents)

    def scores(self) -> dict[str, Score]:
        """Sums over units, and means where the protocol asks for them."""
        micro: dict[str, ScoreValues] = {}
        macro: dict[str, ScoreValues] = {}
        for measure, averages, rows in self.measures:
            averaged = [averages.units == "all" or gold > 0 for gold in self.gold_mentions]
            micro[measure.id] = leaf(rows.total(averaged), averages)
            if averages.macro:
                units = (rows.counts(row) for row, wanted in enumerate(averaged) if wanted)
                values = mean(measure.kind, units, missing=averages.macro_undefined, undefined=averages.undefined)
                macro[measure.id] = ScoreValues(values)
        micro, macro = self.completed(micro), self.completed(macro)
        return {id_: Score(micro[id_], macro.get(id_)) for id_ in micro}

    def unit_scores(self) -> Iterator[tuple[str, dict[str, ScoreValues]]]:
        """The scores of each unit by itself."""
        for row, unit in enumerate(self.units):
            leaves = {measure.id: leaf(rows.counts(row), averages) for measure, averages, rows in self.measures}
            yield unit, self.completed(leaves)

    def completed(self, leaves: dict[str, ScoreValues]) -> dict[str, ScoreValues]:
        """With the composites that can be made from the rows that are there."""
        for composite, averages in self._composites:
            if all(id_ in leaves for id_ in composite.of):
                values = composite.combine([leaves[id_] for id_ in composite.of])
                leaves[composite.id] = ScoreValues(fill_undefined(values, undefined=averages.undefined))
        return leaves


def leaf(counts: Counts, averages: Averages) -> ScoreValues:
    """Counts finished into scores, as the protocol says what is undefined becomes."""
    return ScoreValues(finish(counts, undefined=averages.undefined), counts)
