"""Charts as numbers: bars and intervals in percent of the width. Templates draw them as inline SVG."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import ceil, floor
from typing import TYPE_CHECKING, NamedTuple

from karat.counts import Interval, ScoreValues
from karat.report.breakdowns import lost
from karat.report.html.gather import LABELS, TONES
from karat.report.layout import Sort
from karat.report.listing import ORDER
from karat.report.tables import bounds, printed, score_names, short
from karat.result import ItemCounts, Score

if TYPE_CHECKING:
    from karat.comparison.comparison import Comparison


class Segment(NamedTuple):
    """A part of a bar."""

    x: float
    width: float
    tone: str


class Whisker(NamedTuple):
    """A score and its interval on an axis; without an interval, both ends are the score."""

    low: float
    value: float
    high: float


class Axis(NamedTuple):
    """The range of fractions that a chart shows."""

    low: float
    high: float

    @classmethod
    def around(cls, values: Iterable[float]) -> "Axis":
        """An axis of whole tens of percent that has room for all values; from 0 to 1 if there are none."""
        known = list(values)
        if not known:
            return cls(0.0, 1.0)
        low, high = floor(10 * min(known)) / 10, ceil(10 * max(known)) / 10
        return cls(low, high) if high > low else cls(low - 0.1, high + 0.1) if high == low else cls(0.0, 1.0)

    def place(self, value: float) -> float:
        """The place of a value, in percent."""
        return round(100 * (value - self.low) / (self.high - self.low), 2)

    def whisker(self, value: float | None, interval: Interval | None) -> Whisker | None:
        """A score and its interval; None if the score is undefined."""
        if value is None:
            return None
        low, high = interval or (value, value)
        return Whisker(self.place(low), self.place(value), self.place(high))


def stacked(parts: Sequence[tuple[str, float]], total: float) -> list[Segment]:
    """The parts of a bar, each with its tone, one after another; a bar of `total` has the whole width."""
    segments = []
    x = 0.0
    for tone, number in parts:
        width = 100 * number / total if total else 0.0
        if number:
            segments.append(Segment(round(x, 2), round(width, 2), tone))
        x += width
    return segments


class Headline(NamedTuple):
    """A score to quote, in large figures."""

    measure: str
    name: str
    value: str
    interval: tuple[str, str] | None
    whisker: Whisker | None
    others: str
    """The scores behind it."""


class Bar(NamedTuple):
    """A row with a bar."""

    name: str
    segments: Sequence[Segment]
    numbers: Sequence[str]


class Bars(NamedTuple):
    """Rows with bars, as a table."""

    title: str
    header: Sequence[str]
    rows: Sequence[Bar]


class Ranked(NamedTuple):
    """A system in a ranking."""

    rank: int
    name: str
    value: str
    interval: tuple[str, str] | None
    whisker: Whisker | None
    is_baseline: bool
    link: str = ""
    """The page about it, if there is one."""
    others: Sequence[str] = ()
    """Its scores in the other headline measures."""


class Ranking(NamedTuple):
    """Systems with their scores and intervals on one axis."""

    measure: str
    low: str
    high: str
    rows: Sequence[Ranked]
    others: Sequence[str] = ()
    """The other headline measures."""


def headline(id_: str, score: Score, digits: int) -> Headline:
    micro = score.micro
    names = score_names([micro])
    name = micro.main_name
    others = [f"{short(other)} {printed(micro, other, digits)}" for other in names if other != name]
    ci = None if micro.ci is None else micro.ci.values.get(name)
    whisker = Axis(0.0, 1.0).whisker(micro.values[name], ci) if (micro.values[name] or 0) >= 0 else None
    return Headline(id_, short(name), printed(micro, name, digits), bounds(ci, digits), whisker, ", ".join(others[:2]))


def ranking_chart(comparison: "Comparison", digits: int, links: Mapping[str, str] | None = None) -> Ranking:
    """Systems on one axis. With `links`, the pages about them, the baseline is not marked: it is just the best."""
    id_, *others = comparison.headline_ids()
    main = {other: comparison.systems[0].scores[other].micro.main_name for other in others}
    micros = {system.name: system.scores[id_].micro for system in comparison.systems}
    name = comparison.systems[0].scores[id_].micro.main_name
    cis = {system: None if micro.ci is None else micro.ci.values.get(name) for system, micro in micros.items()}
    values = [value for micro in micros.values() if (value := micro.values.get(name)) is not None]
    axis = Axis.around([*values, *(bound for ci in cis.values() if ci is not None for bound in ci)])
    rows = [
        Ranked(
            system.rank,
            system.name,
            printed(micros[system.name], name, digits),
            bounds(cis[system.name], digits),
            axis.whisker(micros[system.name].values.get(name), cis[system.name]),
            system.name == comparison.baseline and links is None,
            (links or {}).get(system.name, ""),
            [printed(system.scores[other].micro, score, digits) for other, score in main.items()],
        )
        for system in comparison.systems
    ]
    titles = [f"{other} {short(score)}" for other, score in ((id_, name), *main.items())]
    return Ranking(titles[0], f"{100 * axis.low:.0f}", f"{100 * axis.high:.0f}", rows, titles[1:])


def item_bars(
    field: str, rows: Mapping[str, Mapping[str, Score]], measure: str | None, digits: int, sort: Sort
) -> list[Bars]:
    """Bars of the items of each value that were found, missed and spurious."""
    if measure is None:
        return []
    scores = {key: row[measure] for key, row in rows.items() if measure in row}
    items = {
        key: score.items for key, score in scores.items() if score.items is not None and any(score.items.numbers())
    }
    if not items:
        return []
    widest = max(counts.gold + counts.spurious for counts in items.values())
    order = sorted(items, key=lambda key: (-lost(scores[key].micro), key)) if sort == "loss" else list(items)
    bars = [
        Bar(key, _item_bar(items[key], widest), _item_numbers(items[key], scores[key].micro, digits)) for key in order
    ]
    name = next(iter(scores.values())).micro.main_name
    return [Bars(f"{measure} by {field}", [field, "gold", "missed", "spurious", short(name)], bars)]


def _item_bar(items: ItemCounts, widest: int) -> list[Segment]:
    parts = [("right", items.gold - items.missed), ("missed", items.missed), ("spurious", items.spurious)]
    return stacked(parts, widest)


def _item_numbers(items: ItemCounts, micro: ScoreValues, digits: int) -> list[str]:
    return [f"{items.gold:,}", f"{items.missed:,}", f"{items.spurious:,}", printed(micro, micro.main_name, digits)]


def outcome_bars(measure: str, numbers: Mapping[str, Counter[str]], what: str) -> list[Bars]:
    """Bars of the outcomes of each class, one per measure or system."""
    classes = _in_order(name for counts in numbers.values() for name in counts)
    if not classes:
        return []
    widest = max(counts.total() for counts in numbers.values())
    rows = [
        Bar(
            key,
            stacked([(TONES.get(name, "other"), counts[name]) for name in classes], widest),
            [f"{counts[name]:,}" for name in classes],
        )
        for key, counts in numbers.items()
    ]
    title = f"Outcomes of {measure}" if measure else "Outcomes"
    return [Bars(title, [what, *(LABELS.get(name, name) for name in classes)], rows)]


def _in_order(names: Iterable[str]) -> list[str]:
    tones = ("right", "other", "wrong", "missed", "spurious")

    def place(name: str) -> tuple[int, int, str]:
        return tones.index(TONES.get(name, "other")), ORDER.index(name) if name in ORDER else len(ORDER), name

    return sorted(set(names), key=place)
