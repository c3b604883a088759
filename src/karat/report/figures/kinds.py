"""The kinds of figures: from results and comparisons to panels.

The first three are the figures of Liu, Mitamura and Hovy (2015), for any set of systems.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from karat.comparison import Comparison
from karat.counts import Interval, ScoreValues
from karat.errors import Rule, UsageError, nearest
from karat.report.breakdowns import sorted_scores
from karat.report.figures.confusion import confused, heat_map
from karat.report.figures.figure import Figure
from karat.report.figures.panels import Curves, Panel, Series, Values
from karat.report.figures.style import MOST_SERIES
from karat.report.numbers import SHORT, level, score_names, summary
from karat.report.scores import intervals_line
from karat.report.view import Sort
from karat.results import Confidence, OutcomeRecord, Result, Score, family

NO_FIGURE = Rule(
    "figure-data-absent", "fatal", "Choose a figure that these scores have; `karat score --help` lists them."
)

SPAN = "nugget.span"
TIMES = "\u00d7"
PILOT = "use -p tac-pilot, on gold with types or other attributes"
MOST_BARS = 4
"""Measures of one breakdown; of more, only the main one is drawn."""


class System(NamedTuple):
    """A system with all that figures show of it."""

    name: str
    scores: Mapping[str, Score]
    rank: int | None = None
    by: Mapping[str, Mapping[str, Mapping[str, Score]]] = {}
    outcomes: Mapping[str, Sequence[OutcomeRecord]] = {}


class Scored(NamedTuple):
    """Systems under one protocol: a result or a comparison."""

    protocol: str
    comments: Sequence[str]
    systems: Sequence[System]
    measures: Sequence[str]
    """Those that counted something."""
    confidence: Confidence | None
    sort: Sort = "loss"
    sort_by: str | None = None
    """The measure that systems are ranked by, if there are several."""
    baseline: str | None = None
    headline: Sequence[str] = ()


class Kind(NamedTuple):
    """A kind of figure."""

    panel: Callable[[Scored, str | None], Panel]
    """Refuses scores that do not have its data; the second argument is what the user wants it of."""
    about: str
    of: str = ""
    """What may be named after a colon."""


def result_figure(
    results: Sequence[Result], kind: str | None = None, of: str | None = None, sort: Sort = "loss"
) -> Figure:
    """A figure of one system; by default its breakdown, else its scores."""
    if kind is None:
        kind = "breakdown" if any(result.by for result in results) else "scores"
    return _figure([_of_result(result, sort) for result in results], kind, of)


def systems_figure(results: Mapping[str, Result], kind: str) -> Figure:
    """A figure of several systems under one protocol, by their names, that were not compared."""
    scored = [_of_result(result, "loss") for result in results.values()]
    systems = [one.systems[0]._replace(name=name) for name, one in zip(results, scored, strict=True)]
    return _figure([scored[0]._replace(systems=systems)], kind, None)


def comparison_figure(
    comparisons: Sequence[Comparison], kind: str | None = None, of: str | None = None, sort: Sort = "loss"
) -> Figure:
    """A figure of several systems; by default their ranks."""
    return _figure([_of_comparison(comparison, sort) for comparison in comparisons], kind or "ranks", of)


def _figure(scored: Sequence[Scored], kind: str, of: str | None) -> Figure:
    """One panel per protocol that has the data; refused if none has."""
    checked_kind(kind)
    panels, refusals = [], []
    comments: list[str] = []
    for one in scored:
        try:
            panels.append(KINDS[kind].panel(one, of))
            comments += one.comments
        except MissingDataError as error:
            refusals.append(str(error))
    if not panels:
        raise NO_FIGURE.error(f"{kind}: {'; '.join(dict.fromkeys(refusals))}")
    return Figure.column(panels if len(panels) == 1 else [_titled(panel) for panel in panels], comments=comments)


def checked_kind(name: str) -> None:
    """Refuse an unknown kind of figure."""
    if name not in KINDS:
        hint = f"Known figures: {', '.join(KINDS)}. A file name with = in it needs a figure before it: ranks=a=b.svg."
        raise UsageError("unknown-figure", f"there is no figure {name!r}", hint)


class MissingDataError(Exception):
    """The scores under one protocol do not have what a figure shows."""


def _of_result(result: Result, sort: Sort) -> Scored:
    name = Path(result.system.name).stem or result.system.name
    return Scored(
        protocol=result.protocol,
        comments=_comments(result, result.confidence),
        systems=[System(name, result.scores, by=result.by, outcomes=result.outcomes)],
        measures=result.counted_ids(),
        confidence=result.confidence,
        sort=sort,
        headline=result.headline_ids(),
    )


def _of_comparison(comparison: Comparison, sort: Sort) -> Scored:
    return Scored(
        protocol=comparison.first.protocol,
        comments=_comments(comparison.first, comparison.confidence),
        systems=[System(one.name, one.scores, one.rank, by=one.by) for one in comparison.systems],
        measures=comparison.measures(),
        confidence=comparison.confidence,
        sort=sort,
        sort_by=comparison.sort_by,
        baseline=comparison.baseline,
    )


def _comments(result: Result, how: Confidence | None) -> list[str]:
    intervals = [intervals_line(how).replace(" in brackets", " (low, high)")] if how is not None else []
    return [f"{result.protocol}: {result.title}", *intervals, f"signature {result.signature}"]


# Liu et al. (2015)


def accuracy(scored: Scored, of: str | None) -> Panel:
    """Figure 1: span F1 and the accuracy of each attribute."""
    _refuse_of("accuracy", of)
    ids = [id_ for id_ in scored.measures if id_.startswith("nugget.accuracy.")]
    if not ids:
        raise MissingDataError(f"{scored.protocol} has no accuracies here; {PILOT}")
    names = {id_: f"{id_.removeprefix('nugget.accuracy.')} accuracy" for id_ in ids}
    return _system_lines(scored, {SPAN: "span F1", **names}, SPAN)


def product(scored: Scored, of: str | None) -> Panel:
    """Figure 2: span F1 multiplied by accuracies."""
    _refuse_of("product", of)
    ids = [id_ for id_ in scored.measures if id_.startswith("nugget.product.")]
    if not ids:
        raise MissingDataError(f"{scored.protocol} has no products here; {PILOT}")
    names = {id_: id_.replace("nugget.product.", "span+").replace("+", TIMES) for id_ in ids}
    return _system_lines(scored, {SPAN: "span", **names}, ids[-1])


def attributes(scored: Scored, of: str | None) -> Panel:
    """Figure 3: F1 where attributes must be right, too."""
    _refuse_of("attributes", of)
    ids = [id_ for id_ in scored.measures if id_.startswith("nugget.") and id_.count(".") == 1]
    if (ids == [SPAN] and any(id_.startswith("nugget.accuracy.") for id_ in scored.measures)) or not ids:
        raise MissingDataError(f"{scored.protocol} has no F1 with attributes; use -p liu-2015 or -p tac-2017")
    return _system_lines(scored, {id_: id_.removeprefix("nugget.") for id_ in ids}, ids[-1], axis="F1 [%]")


def _system_lines(scored: Scored, names: Mapping[str, str], sorted_by: str, axis: str = "score [%]") -> Values:
    """The main scores of some measures, systems side by side, the best first."""
    systems = sorted(scored.systems, key=lambda one: (*_place(_main(one, sorted_by)), one.name))
    if len(names) > MOST_SERIES:  # of many combinations, single attributes and all of them
        first, *others, last = names
        names = {id_: names[id_] for id_ in (first, *(id_ for id_ in others if "+" not in id_), last)}
    return Values(
        drawn="lines",
        rows=tuple(system.name for system in systems),
        row_field="system",
        series=tuple(_series(name, id_, [system.scores.get(id_) for system in systems]) for id_, name in names.items()),
        axis=axis,
        protocol=scored.protocol,
    )


# Systems, measures, values, confusions


def ranks(scored: Scored, of: str | None) -> Panel:
    """Systems by one measure, the best first, with intervals."""
    if scored.sort_by is None:
        raise MissingDataError("there is one system; use `karat compare`")
    id_ = _known(of, scored.measures, "measure") if of else scored.sort_by
    systems = list(scored.systems)
    if id_ != scored.sort_by:
        systems.sort(key=lambda one: (*_place(_main(one, id_)), one.name))
    names = [system.name for system in systems]
    series = _series(id_, id_, [system.scores.get(id_) for system in systems])
    return Values(
        drawn="points",
        rows=tuple(names),
        row_field="system",
        series=(series,),
        axis=_axis(id_, [series], scored.confidence),
        protocol=scored.protocol,
        groups=tuple(system.rank or 0 for system in systems) if id_ == scored.sort_by else (),
        reference=names.index(scored.baseline) if scored.baseline in names and len(names) > 1 else None,
    )


def scores(scored: Scored, of: str | None) -> Panel:
    """Precision, recall and the main score of every measure of one system."""
    _refuse_of("scores", of)
    if len(scored.systems) != 1:
        raise MissingDataError("it shows one system; use `karat score`, or another figure")
    (system,) = scored.systems
    leaves = {id_: system.scores[id_] for id_ in scored.measures}
    main = {id_: summary(score_names([score.micro])) for id_, score in leaves.items()}
    shown = {"precision", "recall", *(name for names in main.values() for name in names)}
    names = [name for name in score_names(score.micro for score in leaves.values()) if name in shown]
    series = [_named_series(SHORT.get(name, name), name, list(leaves.values())) for name in names]
    return Values(
        drawn="points",
        rows=tuple(leaves),
        row_field="measure",
        series=tuple(series),
        axis=_axis("", series, scored.confidence),
        protocol=scored.protocol,
    )


def breakdown(scored: Scored, of: str | None) -> Panel:
    """Scores by the values of a field: of a few measures of one system, or of one measure of several systems."""
    fields = list(dict.fromkeys(field for system in scored.systems for field in system.by))
    if not fields:
        raise MissingDataError("there is no breakdown; add --by FIELD")
    field = _known(of, fields, "field") if of else fields[0]
    if len(scored.systems) > MOST_SERIES:
        raise MissingDataError(f"there are {len(scored.systems)} systems; a breakdown has room for {MOST_SERIES}")
    tables = {system.name: system.by.get(field, {}) for system in scored.systems}
    known = [id_ for id_ in scored.measures if any(id_ in row for table in tables.values() for row in table.values())]
    if not known:
        raise MissingDataError(f"{scored.protocol} has no scores by {field}")
    single = len(scored.systems) == 1
    ids = known if single and len(known) <= MOST_BARS else [_headline(scored, known)]
    first = next(iter(tables.values()))
    rows = list(sorted_scores({key: row[ids[0]] for key, row in first.items() if ids[0] in row}, scored.sort))
    rows += sorted({key for table in tables.values() for key in table} - set(rows))
    series = [
        _series(
            _short(id_, ids) if single else name,
            id_,
            [table.get(key, {}).get(id_) for key in rows],
            name * (not single),
        )
        for name, table in tables.items()
        for id_ in ids
    ]
    return Values(
        drawn="bars",
        rows=tuple(rows),
        row_field=field,
        series=tuple(series),
        axis=_axis(ids[0] if len(ids) == 1 else _family(ids), series, scored.confidence),
        protocol=scored.protocol,
    )


def confusion(scored: Scored, of: str | None) -> Panel:
    """Values of an attribute in gold against those in the system."""
    if len(scored.systems) != 1:
        raise MissingDataError("it shows one system; use `karat score`")
    if not scored.systems[0].outcomes:
        raise MissingDataError("it needs the details of a result: details=True, or --details")
    cells = confused(scored.systems[0].outcomes, of or "type")
    if not cells:
        raise MissingDataError(f"{scored.protocol} aligns no mentions that have the attribute {of or 'type'!r}")
    return heat_map(cells, of or "type", protocol=scored.protocol)


KINDS: Mapping[str, Kind] = {
    "accuracy": Kind(accuracy, "span F1 and the accuracy of each attribute (Liu et al. 2015, Figure 1)"),
    "product": Kind(product, "span F1 multiplied by accuracies (Figure 2)"),
    "attributes": Kind(attributes, "F1 of spans whose attributes are right, too (Figure 3)"),
    "ranks": Kind(ranks, "systems, best first, with intervals", "MEASURE"),
    "scores": Kind(scores, "precision, recall and F1 of every measure"),
    "breakdown": Kind(breakdown, "scores by the values of a field of --by", "FIELD"),
    "confusion": Kind(confusion, "gold values of an attribute against the system's", "ATTRIBUTE"),
}
"""By name."""


def _titled(panel: Panel) -> Panel:
    return panel if isinstance(panel, Curves) else replace(panel, title=panel.protocol)


def _series(name: str, id_: str, rows: Sequence[Score | None], system: str = "") -> Series:
    """The main score of a measure."""
    known = [score.micro for score in rows if score is not None]
    main = summary(score_names(known[:1]))
    return _named_series(name, main[0] if main else "", rows, id_, system)


def _named_series(name: str, score: str, rows: Sequence[Score | None], measure: str = "", system: str = "") -> Series:
    leaves = [None if row is None else row.micro for row in rows]
    intervals = tuple(_interval(leaf, score) for leaf in leaves)
    values = tuple(None if leaf is None else leaf.values.get(score) for leaf in leaves)
    return Series(name, values, measure, score, intervals if any(intervals) else (), system)


def _interval(leaf: ScoreValues | None, score: str) -> Interval | None:
    return None if leaf is None or leaf.ci is None else leaf.ci.values.get(score)


def _main(system: System, id_: str) -> float | None:
    return _series("", id_, [system.scores.get(id_)]).values[0]


def _place(score: float | None) -> tuple[bool, float]:
    """What systems are sorted by: the best first, undefined scores last."""
    return score is None, 0.0 if score is None else -score


def _axis(name: str, series: Sequence[Series], how: Confidence | None) -> str:
    """What is measured, with the name of the score if all have the same."""
    kinds = {SHORT.get(one.score, one.score) for one in series}
    has_intervals = any(one.intervals for one in series)
    words = f", {level(how.level)} intervals" if how is not None and has_intervals else ""
    return f"{name} {kinds.pop() if len(kinds) == 1 else 'score'} [%]{words}".strip()


def _family(ids: Sequence[str]) -> str:
    """The family of all these measures; empty if they are of several."""
    families = set(map(family, ids))
    return families.pop() if len(families) == 1 else ""


def _short(id_: str, among: Sequence[str]) -> str:
    """The name of a measure in a legend: without its family, if the axis names that."""
    return id_.partition(".")[2] if len(among) > 1 and _family(among) else id_


def _headline(scored: Scored, known: Sequence[str]) -> str:
    """The measure to show if there is room for one only."""
    quoted = [id_ for id_ in (scored.sort_by, *scored.headline) if id_ in known]
    return quoted[0] or known[-1] if quoted else known[-1]


def _known(name: str, names: Sequence[str], noun: str) -> str:
    if name not in names:
        raise MissingDataError(f"there is no {noun} {name!r} here. {nearest(name, names)}")
    return name


def _refuse_of(kind: str, of: str | None) -> None:
    if of is not None:
        raise UsageError("figure-of", f"the figure {kind} takes nothing after a colon, but found {of!r}", "Omit it.")
