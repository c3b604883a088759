"""What the page shows above its documents: scores, comparisons, breakdowns and outcomes, ready for the templates."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from karat.comparison import Comparison
from karat.counts import ScoreValues
from karat.report.comparison import comparison_facts, comparison_findings, comparison_words, quotable_comparison
from karat.report.comparison_tables import comparison_tables
from karat.report.errors import error_lines
from karat.report.html.charts import Axis, Segment, Whisker, stacked
from karat.report.html.errors import ComparedErrors, ErrorTable, compared_errors, error_tables
from karat.report.html.gather import LABELS, TONES, Gathered, Selection
from karat.report.layout import counted
from karat.report.listing import ORDER
from karat.report.numbers import SHORT, bounds, printed, score_names, summary
from karat.report.scores import intervals_line, quotable, score_table
from karat.report.tables import Cell, Table
from karat.report.text import averages_line, breakdown_tables, finding_lines
from karat.report.view import Sort, View
from karat.report.words import bottleneck
from karat.results import ItemCounts, Result, Score, family


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
    note: str = ""


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


class Ranking(NamedTuple):
    """Systems with their scores and intervals on one axis."""

    measure: str
    low: str
    high: str
    rows: Sequence[Ranked]


class ProtocolSection(NamedTuple):
    """Everything about one protocol."""

    name: str
    title: str
    facts: Mapping[str, str]
    headlines: Sequence[Headline]
    ranking: Ranking | None
    tables: Sequence[Table]
    words: Sequence[str]
    findings: Sequence[str]
    quotable: Sequence[str]
    signature: str
    breakdowns: Sequence[Bars]
    breakdown_tables: Sequence[Table]
    outcomes: Sequence[Bars]
    errors: Sequence[ErrorTable] = ()
    compared_errors: Sequence[ComparedErrors] = ()


def result_section(result: Result, gathered: Gathered | None, *, digits: int, sort: Sort) -> ProtocolSection:
    """A system's scores under one protocol."""
    sides = {
        side: f"{one.name}: {counted(one.documents, 'document')}, {counted(one.mentions, 'mention')}"
        for side, one in (("gold", result.gold), ("system", result.system))
    }
    facts = {**sides, "unit": averages_line(result), "intervals": intervals_line(result.confidence)}
    ids = result.counted_ids()
    listed = [] if gathered is None else gathered.measures(result.protocol)
    measure = shown_first(result, listed)
    counts = {id_: gathered.counts(short_name(result), result.protocol, id_) for id_ in listed if gathered is not None}
    return ProtocolSection(
        result.protocol,
        result.title,
        {name: line for name, line in facts.items() if line},
        [_headline(id_, result.scores[id_], digits) for id_ in result.headline_ids()],
        None,
        [score_table(result, digits=digits)] if ids else [],
        [
            *(f"{line[0].upper()}{line[1:]}." for line in bottleneck(result.scores, mentions=result.gold.mentions)),
            *(f"{line}." for line in error_lines(result, digits=digits)),
        ],
        finding_lines(result.warnings, result.warning_counts),
        list(quotable(result)),
        result.signature,
        [bars for field, rows in result.by.items() for bars in _by(field, rows, measure, digits, sort)],
        breakdown_tables(result, View(digits, sort)),
        _outcomes("", counts, "measure"),
        error_tables(result, gathered, 0, digits),
    )


def comparison_section(
    comparison: Comparison, gathered: Gathered | None, results: Mapping[str, Result], *, digits: int
) -> ProtocolSection:
    """Several systems under one protocol; `results` have the breakdowns of each gathered run."""
    first = comparison.first
    measure = shown_first(first, [] if gathered is None else gathered.measures(first.protocol))
    counts = {
        name: gathered.counts(name, first.protocol, measure)
        for name in results
        if gathered is not None and measure is not None
    }
    return ProtocolSection(
        first.protocol,
        first.title,
        comparison_facts(comparison),
        [],
        ranking_chart(comparison, digits),
        comparison_tables(comparison, View(digits)),
        list(comparison_words(comparison, View(digits))),
        comparison_findings(comparison),
        [quotable_comparison(comparison)],
        first.signature,
        [],
        _compared_by(results, measure, digits),
        _outcomes(measure or "", counts, "system"),
        compared_errors=compared_errors(results, gathered, digits),
    )


def shown_first(result: Result, listed: Sequence[str]) -> str | None:
    """The measure to show first of those that list outcomes: of the headline, or of its family; None if none does."""
    for id_ in result.headline_ids():
        own = [one for one in listed if family(one) == family(id_)]
        if own:
            return id_ if id_ in own else own[0]
    return listed[0] if listed else None


def view_first(result: Result, documents: Gathered, *, by_class: bool) -> Selection | None:
    """What is shown first over the text: errors by class of the headline, if they are wanted, else outcomes."""
    for id_ in result.headline_ids() if by_class else ():
        view = Selection(result.protocol, id_, by_class=True)
        if documents.number(view) is not None:
            return view
    shown = shown_first(result, documents.measures(result.protocol))
    return None if shown is None else Selection(result.protocol, shown)


def short_name(result: Result) -> str:
    """The name of the system without its folder."""
    return Path(result.system.name).name or result.system.name


def _headline(id_: str, score: Score, digits: int) -> Headline:
    micro = score.micro
    names = score_names([micro])
    (name,) = summary(names)
    others = [f"{SHORT.get(one, one)} {printed(micro, one, digits)}" for one in names if one != name]
    ci = None if micro.ci is None else micro.ci.values.get(name)
    whisker = Axis(0.0, 1.0).whisker(micro.values[name], ci) if (micro.values[name] or 0) >= 0 else None
    return Headline(
        id_, SHORT.get(name, name), printed(micro, name, digits), bounds(ci, digits), whisker, ", ".join(others[:2])
    )


def ranking_chart(comparison: Comparison, digits: int, links: Mapping[str, str] | None = None) -> Ranking:
    """Systems on one axis. With `links`, the pages about them, the baseline is not marked: it is just the best."""
    id_ = comparison.sort_by
    micros = {system.name: system.scores[id_].micro for system in comparison.systems}
    (name,) = summary(score_names(micros.values()))[:1]
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
        )
        for system in comparison.systems
    ]
    return Ranking(f"{id_} {SHORT.get(name, name)}", f"{100 * axis.low:.0f}", f"{100 * axis.high:.0f}", rows)


def _by(
    field: str, rows: Mapping[str, Mapping[str, Score]], measure: str | None, digits: int, sort: Sort
) -> list[Bars]:
    """How many items of each value were found, missed and spurious."""
    if measure is None:
        return []
    scores = {key: row[measure] for key, row in rows.items() if measure in row}
    items = {
        key: score.items for key, score in scores.items() if score.items is not None and any(score.items.numbers())
    }
    if not items:
        return []
    widest = max(one.gold + one.spurious for one in items.values())
    order = sorted(items, key=lambda key: (-_lost(scores[key].micro), key)) if sort == "loss" else list(items)
    bars = [
        Bar(key, _item_bar(items[key], widest), _item_numbers(items[key], scores[key].micro, digits)) for key in order
    ]
    (name,) = summary(score_names(score.micro for score in scores.values()))[:1] or ("score",)
    return [Bars(f"{measure} by {field}", [field, "gold", "missed", "spurious", SHORT.get(name, name)], bars)]


def _item_bar(items: ItemCounts, widest: int) -> list[Segment]:
    parts = [("right", items.gold - items.missed), ("missed", items.missed), ("spurious", items.spurious)]
    return stacked(parts, widest)


def _item_numbers(items: ItemCounts, micro: ScoreValues, digits: int) -> list[str]:
    (name,) = summary(score_names([micro]))[:1] or ("",)
    return [f"{items.gold:,}", f"{items.missed:,}", f"{items.spurious:,}", printed(micro, name, digits)]


def _lost(micro: ScoreValues) -> float:
    return 0.0 if micro.counts is None else micro.counts.lost()


def _compared_by(results: Mapping[str, Result], measure: str | None, digits: int) -> list[Table]:
    """The main score of each value of a field, one column per system."""
    tables: list[Table] = []
    if measure is None:
        return tables
    for field in dict.fromkeys(field for result in results.values() for field in result.by):
        values = dict.fromkeys(value for result in results.values() for value in result.by.get(field, {}))
        rows = []
        for value in sorted(values):
            scores = [result.by.get(field, {}).get(value, {}).get(measure) for result in results.values()]
            mains = [None if score is None else score.micro.values.get(_main_name(score)) for score in scores]
            best = max((main for main in mains if main is not None), default=None)
            cells = [
                Cell("" if score is None else printed(score.micro, _main_name(score), digits), is_best=main == best)
                for score, main in zip(scores, mains, strict=True)
            ]
            if any(cell.text for cell in cells):
                rows.append([Cell(value), *cells])
        if rows:
            tables.append(Table([f"{measure} by {field}", *results], rows))
    return tables


def _main_name(score: Score) -> str:
    return next(iter(summary(score_names([score.micro]))), "")


def _outcomes(measure: str, numbers: Mapping[str, Counter[str]], what: str) -> list[Bars]:
    """How many outcomes of each class there are, one bar per measure or system."""
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
    return [
        Bars(f"Outcomes of {measure}" if measure else "Outcomes", [what, *(LABELS.get(n, n) for n in classes)], rows)
    ]


def _in_order(names: Iterable[str]) -> list[str]:
    tones = ("right", "other", "wrong", "missed", "spurious")

    def place(name: str) -> tuple[int, int, str]:
        return tones.index(TONES.get(name, "other")), ORDER.index(name) if name in ORDER else len(ORDER), name

    return sorted(set(names), key=place)
