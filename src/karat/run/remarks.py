"""Remarks on a result: what is not scored, cannot be matched, or must be known to read the scores."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from karat.problems import Finding, Rule
from karat.run.plan import Plan, is_indivisible
from karat.run.units import UnitTotals

IGNORED = Rule("false-alarms-uncounted", "note", "The protocol averages only over units with gold mentions.")
GIVEN = Rule("mentions-given", "note", "Compare only with systems that were also given gold mentions.")
COLLAPSED = Rule("mentions-collapsed", "note", "Links within a document are not scored here.")
RESTRICTED = Rule("breakdown-restricted", "note", "These rows do not add up to the total.")
NOT_SCORED = Rule("row-absent", "note", "Ignore this if it is intended; otherwise choose another protocol or setting.")
UNMATCHABLE = Rule("items-unmatchable", "note", "Under this protocol they always count as missed or spurious.")


def remarks(plan: Plan, units: UnitTotals, notes: Sequence[Finding]) -> Iterator[Finding]:
    """Yield remarks on the result of a protocol; `notes` are those of its tables."""
    noted, totals = units.noted(), [*units.totals()]
    selected, measures = set(plan.selected), plan.measures.measures
    yield from _not_scored(plan)
    unmatchable = [
        f"{id_}: {items} ({count:,})"
        for (id_, items), count in counted(unit.unmatchable for unit in noted).items()
        if count and id_ in selected
    ]
    if unmatchable:
        yield UNMATCHABLE.at(f"some items cannot be matched: {'; '.join(unmatchable)}")
    tallies: dict[Rule, Counter[str]] = {}
    for unit in noted:
        for (rule, items), count in unit.tallies.items():
            tallies.setdefault(rule, Counter())[items] += count
    for rule, counts in tallies.items():
        yield rule.at("; ".join(f"{items}: {count:,}" for items, count in sorted(counts.items())))
    if units.spurious and any(averages.units == "with-gold" for _, averages in measures):
        yield IGNORED.at(_ignored(units.spurious, units.without_gold, plan.protocol.unit))
    whole = [total for (measure, _), total in zip(measures, totals, strict=True) if is_indivisible(measure)]
    is_perfect = all(value in (None, 1) for total in whole for value in total.values().values())
    if whole and units.has_same_mentions and not is_perfect:
        yield GIVEN.at("gold and system have the same mentions: were gold mentions given to the system?")
    if units.collapsed is not None:
        gold, gold_left, system, system_left = units.collapsed
        if gold or system:
            message = f"{gold:,} gold mentions became {gold_left:,}, {system:,} system mentions became {system_left:,}"
            yield COLLAPSED.at(f"each cluster within a document was collapsed to one mention: {message}")
    yield from notes
    if units.has_gold:
        for (measure, _), total in zip(measures, totals, strict=True):
            yield from measure.notes_on_total(total)
    restricted = [measure.id for measure, _ in measures if is_indivisible(measure) and measure.id in selected]
    if plan.breakdowns and restricted:
        fields = ", ".join(breakdown.field.name for breakdown in plan.breakdowns)
        families = ", ".join(dict.fromkeys(f"{id_.partition('.')[0]}.*" for id_ in restricted))
        yield RESTRICTED.at(
            f"{families} by {fields}: each row is scored on the corpus restricted to mentions with that value (for "
            "aligned mentions, gold's value); gold, system, missed and spurious count mentions"
        )


def _not_scored(plan: Plan) -> Iterator[Finding]:
    """Yield which measures are not scored, and why."""
    reasons: dict[str, list[str]] = {}
    for row in plan.omitted:
        reasons.setdefault(row.reason, []).append(row.id)
    absent = [
        f"{', '.join(ids)} {'are' if len(ids) > 1 else 'is'} not scored: {reason}" for reason, ids in reasons.items()
    ]
    if absent:
        yield NOT_SCORED.at("; ".join(absent))


def counted(notes: Iterable[Mapping[str, Mapping[str, int]]]) -> Counter[tuple[str, str]]:
    """Add up the notes of units, by measure and what they are about."""
    counts: Counter[tuple[str, str]] = Counter()
    for by_measure in notes:
        for id_, noted in by_measure.items():
            for what, count in noted.items():
                counts[id_, what] += count
    return counts


def _ignored(mentions: int, units: int, unit: str) -> str:
    if mentions == 1:
        return f"1 system mention ignored: its {unit} has no gold mentions"
    place = f"{unit} has" if units == 1 else f"{units:,} {unit}s have"
    return f"{mentions:,} system mentions ignored: their {place} no gold mentions"
