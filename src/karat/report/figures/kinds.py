"""The kinds of figures: from results and comparisons to panels.

The first three are the figures of Liu, Mitamura and Hovy (2015), for any set of systems.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from karat.problems import Rule, UsageError, nearest
from karat.records import Confusion, ErrorAnalysis
from karat.report.breakdowns import sorted_scores
from karat.report.figures.figure import Curves, Figure, HeatMap, Panel, Series, Values
from karat.report.layout import Sort
from karat.report.scores import intervals_line
from karat.report.tables import level, score_names, short
from karat.result import Confidence, Result, Score, family

if TYPE_CHECKING:
    from karat.comparison.comparison import Comparison

NO_FIGURE = Rule(
    "figure-data-absent", "fatal", "Choose a figure that these scores have; `karat score --help` lists them."
)

SPAN = "nugget.span"
TIMES = "\u00d7"
PILOT = "use -p tac-pilot, on gold with types or other attributes"
MOST_SERIES = 8
MOST_BARS = 4
"""Measures of one breakdown; of more, only the main one is drawn."""
MISSED, SPURIOUS, ABSENT = "(missed)", "(spurious)", "(none)"


class MissingDataError(Exception):
    """The scores under one protocol do not have what a figure shows."""


class System(NamedTuple):
    """A system with all that figures show of it."""

    name: str
    scores: Mapping[str, Score]
    rank: int | None = None
    by: Mapping[str, Mapping[str, Mapping[str, Score]]] = {}
    errors: ErrorAnalysis | None = None

    def main_value(self, id_: str) -> float | None:
        """The main score of a measure; None if there is none."""
        return _series("", id_, [self.scores.get(id_)]).values[0]


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

    def best_first(self, id_: str) -> list[System]:
        """The systems by a measure; those whose score is undefined come last."""
        values = {system.name: system.main_value(id_) for system in self.systems}
        return sorted(
            self.systems, key=lambda system: (values[system.name] is None, -(values[system.name] or 0.0), system.name)
        )


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
    systems = [single.systems[0]._replace(name=name) for name, single in zip(results, scored, strict=True)]
    return _figure([scored[0]._replace(systems=systems)], kind, None)


def comparison_figure(
    comparisons: "Sequence[Comparison]", kind: str | None = None, of: str | None = None, sort: Sort = "loss"
) -> Figure:
    """A figure of several systems; by default their ranks."""
    return _figure([_of_comparison(comparison, sort) for comparison in comparisons], kind or "ranks", of)


def _of_result(result: Result, sort: Sort) -> Scored:
    name = Path(result.system.name).stem or result.system.name
    return Scored(
        protocol=result.protocol,
        comments=_comments(result, result.confidence),
        systems=[System(name, result.scores, by=result.by, errors=result.errors)],
        measures=result.counted_ids(),
        confidence=result.confidence,
        sort=sort,
        headline=result.headline_ids(),
    )


def _of_comparison(comparison: "Comparison", sort: Sort) -> Scored:
    return Scored(
        protocol=comparison.first.protocol,
        comments=_comments(comparison.first, comparison.confidence),
        systems=[System(system.name, system.scores, system.rank, by=system.by) for system in comparison.systems],
        measures=comparison.measures(),
        confidence=comparison.confidence,
        sort=sort,
        sort_by=comparison.sort_by,
        baseline=comparison.baseline,
    )


def _comments(result: Result, how: Confidence | None) -> list[str]:
    intervals = [intervals_line(how).replace(" in brackets", " (low, high)")] if how is not None else []
    return [f"{result.protocol}: {result.title}", *intervals, f"signature {result.signature}"]


def _figure(scored: Sequence[Scored], kind: str, of: str | None) -> Figure:
    """Return one panel per protocol that has the data; refuse if none has."""
    checked_kind(kind)
    panels: list[Panel] = []
    refusals: list[str] = []
    comments: list[str] = []
    for systems in scored:
        try:
            panels.append(KINDS[kind](systems, of))
            comments += systems.comments
        except MissingDataError as error:
            refusals.append(str(error))
    if not panels:
        raise NO_FIGURE.error(f"{kind}: {'; '.join(dict.fromkeys(refusals))}")
    if len(panels) > 1:
        panels = [panel if isinstance(panel, Curves) else replace(panel, title=panel.protocol) for panel in panels]
    return Figure.column(panels, comments=comments)


def checked_kind(name: str) -> None:
    """Refuse an unknown kind of figure."""
    if not isinstance(name, str) or name not in KINDS:
        hint = f"Known figures: {', '.join(KINDS)}. A file name with = in it needs a figure before it: ranks=a=b.svg."
        raise UsageError("unknown-figure", f"there is no figure {name!r}", hint)


# Liu et al. (2015)


def accuracy(scored: Scored, of: str | None) -> Panel:
    """Figure 1: span F1 and the accuracy of each attribute."""
    _refuse_of("accuracy", of)
    ids = [id_ for id_ in scored.measures if id_.startswith("nugget.accuracy.") and "+" not in id_]
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
    """Figure 3: F1 where attributes must also be right."""
    _refuse_of("attributes", of)
    ids = [id_ for id_ in scored.measures if id_.startswith("nugget.") and id_.count(".") == 1]
    if (ids == [SPAN] and any(id_.startswith("nugget.accuracy.") for id_ in scored.measures)) or not ids:
        raise MissingDataError(f"{scored.protocol} has no F1 with attributes; use -p liu-2015 or -p tac-2017")
    return _system_lines(scored, {id_: id_.removeprefix("nugget.") for id_ in ids}, ids[-1], axis="F1 [%]")


def _system_lines(scored: Scored, names: Mapping[str, str], sorted_by: str, axis: str = "score [%]") -> Values:
    """The main scores of some measures, systems side by side, the best first."""
    systems = scored.best_first(sorted_by)
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
    is_ranking = id_ == scored.sort_by
    systems = scored.systems if is_ranking else scored.best_first(id_)
    names = [system.name for system in systems]
    series = _series(id_, id_, [system.scores.get(id_) for system in systems])
    return Values(
        drawn="points",
        rows=tuple(names),
        row_field="system",
        series=(series,),
        axis=_axis(id_, [series], scored.confidence),
        protocol=scored.protocol,
        groups=tuple(system.rank or 0 for system in systems) if is_ranking else (),
        reference=names.index(scored.baseline) if scored.baseline in names and len(names) > 1 else None,
    )


def scores(scored: Scored, of: str | None) -> Panel:
    """Precision, recall and the main score of every measure of one system."""
    _refuse_of("scores", of)
    if len(scored.systems) != 1:
        raise MissingDataError("it shows one system; use `karat score`, or another figure")
    rows = [scored.systems[0].scores[id_] for id_ in scored.measures]
    main = {score.micro.main_name for score in rows}
    names = [name for name in score_names(score.micro for score in rows) if name in {"precision", "recall"} | main]
    series = [_series(short(name), "", rows, score=name) for name in names]
    return Values(
        drawn="points",
        rows=tuple(scored.measures),
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
    headline = [id_ for id_ in (scored.sort_by, *scored.headline) if id_ in known]
    ids = known if single and len(known) <= MOST_BARS else [*headline, known[-1]][:1]
    families = set(map(family, ids))
    first = next(iter(tables.values()))
    rows = list(sorted_scores({key: row[ids[0]] for key, row in first.items() if ids[0] in row}, scored.sort))
    rows += sorted({key for table in tables.values() for key in table} - set(rows))
    series = []
    for system, table in tables.items():
        for id_ in ids:
            # The axis names the family, if there is one.
            short = id_.partition(".")[2] if len(ids) > 1 and len(families) == 1 else id_
            cells = [table.get(key, {}).get(id_) for key in rows]
            series.append(_series(short, id_, cells) if single else _series(system, id_, cells, system=system))
    shown = ids[0] if len(ids) == 1 else families.pop() if len(families) == 1 else ""
    return Values(
        drawn="bars",
        rows=tuple(rows),
        row_field=field,
        series=tuple(series),
        axis=_axis(shown, series, scored.confidence),
        protocol=scored.protocol,
    )


def confusion(scored: Scored, of: str | None) -> Panel:
    """Values of an attribute in gold against those in the system."""
    if len(scored.systems) != 1:
        raise MissingDataError("it shows one system; use `karat score`")
    errors = scored.systems[0].errors
    if errors is None:
        raise MissingDataError("it needs the errors of a result: errors=True, or --errors")
    found = {table.attribute: table for measure in reversed(errors.measures) for table in measure.confusions}
    if not found:
        raise MissingDataError(f"{scored.protocol} has no confusions of attributes here")
    attribute = _known(of, list(found), "attribute") if of else "type" if "type" in found else next(iter(found))
    return _heat_map(found[attribute], protocol=scored.protocol)


def _heat_map(confusion: Confusion, *, protocol: str) -> HeatMap:
    """Gold values by system values in one order: the most frequent in gold first."""
    golds, systems = Counter[str | None](), Counter[str | None]()
    for (gold, system), count in confusion.cells.items():
        golds[gold] += count
        systems[system] += count
    values: list[str | None] = sorted(
        (value for value in golds.keys() | systems.keys() if value is not None),
        key=lambda value: (value == ABSENT, -golds[value], -systems[value], value),
    )
    rows, columns = ([*values, None] if None in side else values for side in (golds, systems))
    return HeatMap(
        confusion.attribute,
        tuple(SPURIOUS if value is None else value for value in rows),
        tuple(MISSED if value is None else value for value in columns),
        tuple(tuple(confusion.cells.get((gold, system), 0) for system in columns) for gold in rows),
        protocol=protocol,
    )


KINDS: Mapping[str, Callable[[Scored, str | None], Panel]] = {
    "accuracy": accuracy,
    "product": product,
    "attributes": attributes,
    "ranks": ranks,
    "scores": scores,
    "breakdown": breakdown,
    "confusion": confusion,
}
"""By name. Each refuses scores that lack its data; the second argument is what a user names after a colon."""


def _series(name: str, measure: str, rows: Sequence[Score | None], *, score: str = "", system: str = "") -> Series:
    """A score of one row after another, by its name; without one, the main score of the measure."""
    leaves = [None if row is None else row.micro for row in rows]
    score = score or next((leaf.main_name for leaf in leaves if leaf is not None), "")
    intervals = tuple(None if leaf is None or leaf.ci is None else leaf.ci.values.get(score) for leaf in leaves)
    values = tuple(None if leaf is None else leaf.values.get(score) for leaf in leaves)
    return Series(name, values, measure, score, intervals if any(intervals) else (), system)


def _axis(name: str, series: Sequence[Series], how: Confidence | None) -> str:
    """The label of the axis, with the name of the score if all have the same."""
    kinds = {short(values.score) for values in series}
    has_intervals = any(values.intervals for values in series)
    words = f", {level(how.level)} intervals" if how is not None and has_intervals else ""
    return f"{name} {kinds.pop() if len(kinds) == 1 else 'score'} [%]{words}".strip()


def _known(name: str, names: Sequence[str], noun: str) -> str:
    if name not in names:
        raise MissingDataError(f"there is no {noun} {name!r} here. {nearest(name, names)}")
    return name


def _refuse_of(kind: str, of: str | None) -> None:
    if of is not None:
        raise UsageError("figure-of", f"the figure {kind} takes nothing after a colon, but found {of!r}", "Omit it.")
