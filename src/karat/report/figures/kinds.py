"""The kinds of figures: from results and comparisons to panels.

The first three are the figures of Liu, Mitamura and Hovy (2015), for any set of systems.
"""

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from karat.comparison import Comparison
from karat.errors import Rule, UsageError, nearest
from karat.report.breakdowns import sorted_scores
from karat.report.figures.confusion import heat_map
from karat.report.figures.figure import Figure
from karat.report.figures.panels import Curves, Panel, Values
from karat.report.figures.scored import (
    MissingDataError,
    Scored,
    axis_of,
    family_of,
    main_series,
    main_value,
    named_series,
    of_comparison,
    of_result,
    place,
    short_id,
)
from karat.report.figures.style import MOST_SERIES
from karat.report.layout import Sort
from karat.report.tables import SHORT, score_names, summary
from karat.results import Result

NO_FIGURE = Rule(
    "figure-data-absent", "fatal", "Choose a figure that these scores have; `karat score --help` lists them."
)

SPAN = "nugget.span"
TIMES = "\u00d7"
PILOT = "use -p tac-pilot, on gold with types or other attributes"
MOST_BARS = 4
"""Measures of one breakdown; of more, only the main one is drawn."""


def result_figure(
    results: Sequence[Result], kind: str | None = None, of: str | None = None, sort: Sort = "loss"
) -> Figure:
    """A figure of one system; by default its breakdown, else its scores."""
    if kind is None:
        kind = "breakdown" if any(result.by for result in results) else "scores"
    return _figure([of_result(result, sort) for result in results], kind, of)


def systems_figure(results: Mapping[str, Result], kind: str) -> Figure:
    """A figure of several systems under one protocol, by their names, that were not compared."""
    scored = [of_result(result, "loss") for result in results.values()]
    systems = [one.systems[0]._replace(name=name) for name, one in zip(results, scored, strict=True)]
    return _figure([scored[0]._replace(systems=systems)], kind, None)


def comparison_figure(
    comparisons: Sequence[Comparison], kind: str | None = None, of: str | None = None, sort: Sort = "loss"
) -> Figure:
    """A figure of several systems; by default their ranks."""
    return _figure([of_comparison(comparison, sort) for comparison in comparisons], kind or "ranks", of)


def _figure(scored: Sequence[Scored], kind: str, of: str | None) -> Figure:
    """One panel per protocol that has the data; refused if none has."""
    checked_kind(kind)
    panels, refusals = [], []
    comments: list[str] = []
    for one in scored:
        try:
            panels.append(KINDS[kind](one, of))
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
    systems = sorted(scored.systems, key=lambda one: (*place(main_value(one, sorted_by)), one.name))
    if len(names) > MOST_SERIES:  # of many combinations, single attributes and all of them
        first, *others, last = names
        names = {id_: names[id_] for id_ in (first, *(id_ for id_ in others if "+" not in id_), last)}
    return Values(
        drawn="lines",
        rows=tuple(system.name for system in systems),
        row_field="system",
        series=tuple(
            main_series(name, id_, [system.scores.get(id_) for system in systems]) for id_, name in names.items()
        ),
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
        systems.sort(key=lambda one: (*place(main_value(one, id_)), one.name))
    names = [system.name for system in systems]
    series = main_series(id_, id_, [system.scores.get(id_) for system in systems])
    return Values(
        drawn="points",
        rows=tuple(names),
        row_field="system",
        series=(series,),
        axis=axis_of(id_, [series], scored.confidence),
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
    series = [named_series(SHORT.get(name, name), name, list(leaves.values())) for name in names]
    return Values(
        drawn="points",
        rows=tuple(leaves),
        row_field="measure",
        series=tuple(series),
        axis=axis_of("", series, scored.confidence),
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
        main_series(
            short_id(id_, ids) if single else name,
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
        axis=axis_of(ids[0] if len(ids) == 1 else family_of(ids), series, scored.confidence),
        protocol=scored.protocol,
    )


def confusion(scored: Scored, of: str | None) -> Panel:
    """Values of an attribute in gold against those in the system."""
    if len(scored.systems) != 1:
        raise MissingDataError("it shows one system; use `karat score`")
    errors = scored.systems[0].errors
    if errors is None:
        raise MissingDataError("it needs the errors of a result: errors=True, or --errors")
    found = {one.attribute: one for measure in reversed(errors.measures) for one in measure.confusions}
    if not found:
        raise MissingDataError(f"{scored.protocol} has no confusions of attributes here")
    attribute = _known(of, list(found), "attribute") if of else "type" if "type" in found else next(iter(found))
    return heat_map(found[attribute], protocol=scored.protocol)


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


def _titled(panel: Panel) -> Panel:
    return panel if isinstance(panel, Curves) else replace(panel, title=panel.protocol)


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
