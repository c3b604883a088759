"""Scores of one system as tables and lines: all measures, the main ones of several protocols, a line to quote."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from karat.counts import PrecisionRecall, ScoreValues
from karat.report.layout import View, counted, finding_lines, table_width
from karat.report.tables import Cell, Table, as_read, level, percentage, printed, score_cell, score_names, short
from karat.result import Confidence, Result, Score, Side, family

WIDTH = 120
"""Of a table of several measures that is not for a terminal."""
QUOTED_DIGITS = 1
SPAN = "nugget.span"
GAP = 0.05
"""A smaller loss is not worth a sentence."""
LEAD = 0.01
"""The least difference between the largest loss and any other."""
FEW = 20
"""With fewer gold mentions, one or two of them make the gap."""

ScoresByKey = Mapping[str, Mapping[str, Score]] | Mapping[str, Mapping[str, ScoreValues]]


def score_table(result: Result, *, digits: int) -> Table:
    """Return one row per measure: its scores, or its micro and macro averages if any measure has a macro average.

    The rows of the headline are emphasised, if there are others. With intervals, which take room, only the main score
    has one, and only the main macro average is shown.
    """
    listed = {id_: result.scores[id_] for id_ in result.counted_ids()}
    present = {average for score in listed.values() for average in score.averages()}
    averages = sorted(present, key=lambda average: (average != "micro", average))
    names = score_names(score.micro for score in listed.values())
    main = {score.micro.main_name for score in listed.values()}
    macro_names = [name for name in names if name in main] if result.confidence and "micro" in present else names
    scored = {
        (average, name)
        for score in listed.values()
        for average, leaf in score.averages().items()
        for name in leaf.values
    }
    columns = [(average, name) for average in averages for name in (names if average == "micro" else macro_names)]
    columns = [column for column in columns if column in scored]
    prefix = {average: "" if present == {"micro"} else f"{average} " for average in averages}
    header = [prefix[average] + short(name) for average, name in columns]
    rows = []
    for id_, score in listed.items():
        leaves = score.averages()
        cells = [score_cell(leaves.get(average), name, digits, with_interval=name in main) for average, name in columns]
        rows.append([Cell(id_), *cells])
    emphasised = [index for index, id_ in enumerate(listed) if id_ in result.headline and len(listed) > 1]
    return Table(["measure", *header], rows, emphasised=emphasised)


def main_scores(field: str, by_key: ScoresByKey, measures: Sequence[str], *, digits: int) -> list[Table]:
    """Return a table per family, a row per key: all scores of a single measure, or the main score of several.

    A table that would be too wide with intervals has none.
    """
    leaves = {
        key: {id_: leaf.micro if isinstance(leaf, Score) else leaf for id_, leaf in row.items()}
        for key, row in by_key.items()
    }
    if len(measures) == 1:
        (id_,) = measures
        columns = [(id_, name) for name in score_names(row[id_] for row in leaves.values() if id_ in row)]
        header = [field, *(f"{id_} {short(name)}" for id_, name in columns)]
        return [Table(header, _rows(leaves, columns, digits))]
    tables = []
    for name in dict.fromkeys(map(family, measures)):
        main = {
            id_: next((row[id_].main_name for row in leaves.values() if id_ in row), None)
            for id_ in measures
            if family(id_) == name
        }
        columns = [(id_, score) for id_, score in main.items() if score is not None]
        kinds = dict.fromkeys(short(score) for _, score in columns)
        header = [f"{field}: {name} {' '.join(kinds)}", *(id_.partition(".")[2] for id_, _ in columns)]
        rows = {key: row for key, row in leaves.items() if any(id_ in row for id_, _ in columns)}
        table = Table(header, _rows(rows, columns, digits))
        tables.append(table if table_width(header, table.strings()) <= WIDTH else table.without_intervals())
    return tables


def _rows(
    leaves: Mapping[str, Mapping[str, ScoreValues]], columns: Sequence[tuple[str, str]], digits: int
) -> list[list[Cell]]:
    return [
        [Cell(key), *(score_cell(row.get(id_), name, digits) for id_, name in columns)] for key, row in leaves.items()
    ]


def intervals_line(how: Confidence | None) -> str:
    """The method of the intervals, in words; empty if there are none."""
    if how is None:
        return ""
    if how.resamples is None:
        over = f"leaving out each of {counted(how.units, how.unit)}"
    else:
        over = f"{counted(how.resamples, 'resample')} of {counted(how.units, how.unit)}, seed {how.seed}"
    return f"{level(how.level)} intervals in brackets: {how.method}, {over}"


def averages_line(result: Result) -> str:
    """The units that scores are averaged over, and how."""
    units = counted(result.unit_count, result.unit) if result.unit != "corpus" else "the corpus as a whole"
    if result.unit_count < 2:
        return units
    averages = {average for score in result.scores.values() for average in score.averages()}
    if averages == {"macro"}:
        return f"{units}; scores are averages over the items of all {result.unit}s"
    if "macro" in averages:
        return f"{units}; micro pools the counts; macro averages P and R over {result.unit}s and derives F1"
    return f"{units}; the counts are pooled"


def quotable(result: Result) -> Iterator[str]:
    """The headline with its intervals, protocol and signature, as one line for a paper.

    Only if intervals were asked for: without them, the line would repeat the table and the signature below it.
    """
    if result.rows is None:
        return
    for id_ in result.main_ids():
        micro = result.scores[id_].micro
        if as_read(micro, micro.main_name) is None:
            continue
        cell = score_cell(micro, micro.main_name, QUOTED_DIGITS)
        yield f"{id_} {short(micro.main_name)} {cell} ({result.protocol}, signature {result.signature})"


def main_line(result: Result) -> str:
    """The main score of the last measure of each family, which takes the most into account, in percent."""
    last = {family(id_): id_ for id_ in result.counted_ids()}
    micros = {id_: result.scores[id_].micro for id_ in last.values()}
    return ", ".join(
        f"{id_} {short(micro.main_name)} {printed(micro, micro.main_name, 2)}" for id_, micro in micros.items()
    )


def bottleneck(scores: Mapping[str, Score], *, mentions: int, system: str | None = None) -> Iterator[str]:
    """The bottleneck of a system, as Liu et al. (2015), section 4, read their Figure 3; nothing if it is not clear.

    A large gap between span F1 and the F1 with an attribute shows that the attribute is the bottleneck. If attributes
    cost little, it is finding the spans. `mentions` are those of gold.
    """
    span = scores[SPAN].micro.values.get("f1") if SPAN in scores else None
    if span is None or mentions < FEW:
        return
    attributes = {
        id_.removeprefix("nugget."): f1
        for id_, score in scores.items()
        if id_.startswith("nugget.") and id_ != SPAN and not {"+", "."} & set(id_.removeprefix("nugget."))
        if (f1 := score.micro.values.get("f1")) is not None
    }
    if not attributes:
        return
    losses = {name: span - f1 for name, f1 in attributes.items()} | {"span": 1 - span}
    (name, largest), (_, second) = sorted(losses.items(), key=lambda item: -item[1])[:2]
    if largest < GAP or largest - second < LEAD:
        return
    points = f"{100 * largest:.0f} points"
    lost = f"{points} are lost" if system is None else f"{system} loses {points}"
    where, what = ("on spans alone", "detection") if name == "span" else (f"between span and {name}", f"the {name}")
    yield f"{lost} {where}: {what} is {'the' if system is None else 'its'} bottleneck"


# One name, several definitions


class Name(NamedTuple):
    """A name of scores that has several definitions."""

    title: str
    variants: tuple[str, ...]
    """The measures that are called so; the first one usually."""
    noun: str
    """The noun for what they count."""


NAMES = (
    Name("Arg-C", ("arg.c", "arg.c+", "arg.c.coref"), "argument"),
    Name("temporal F1", ("relation.temporal", "temporal.awareness"), "link"),
    Name("causal F1", ("relation.causal", "relation.pair"), "link"),
    Name("subevent F1", ("relation.subevent",), "link"),
)


def definitions(results: Sequence[Result], *, digits: int) -> Iterator[Table]:
    """Yield a table of the definitions of each name that has several, with counts, and why they differ."""
    for name in NAMES:
        rows = [(result, id_) for result in results for id_ in name.variants if id_ in result.scores]
        if len({result.protocol for result, _ in rows}) > 1:
            cells = [_definition(result, id_, digits) for result, id_ in rows]
            table = Table.of([f"{name.title} by", "", "P", "R", "F1"], cells, left=2)
            yield table._replace(notes=_reasons(name, rows))


def _definition(result: Result, id_: str, digits: int) -> list[str]:
    leaf = result.scores[id_].micro
    counts = leaf.counts
    fractions = ""
    if isinstance(counts, PrecisionRecall):
        numbers = [f"{number:g}" for number in counts.to_dict().values()]
        fractions = f"{numbers[0]}/{numbers[1]}, {numbers[2]}/{numbers[3]}"
    values = [percentage(leaf.values[name], digits) for name in ("precision", "recall", "f1")]
    return [f"{result.protocol} {id_}", fractions, *values]


def _reasons(name: Name, rows: Sequence[tuple[Result, str]]) -> list[str]:
    """A sentence with what each definition does with items that others treat differently."""
    values = {tuple(result.scores[id_].micro.values.values()) for result, id_ in rows}
    reasons: dict[tuple[str, int], list[str]] = {}
    of_protocol = Counter(result.protocol for result, _ in rows)
    for result, id_ in rows:
        row = result.protocol if of_protocol[result.protocol] == 1 else f"{result.protocol} {id_}"
        for what, count in result.differences.get(id_, {}).items():
            reasons.setdefault((what, count), []).append(row)
    reasons = {reason: having for reason, having in reasons.items() if len(having) < len(rows)}
    if not reasons:
        return ["They agree here."] if len(values) == 1 else []
    parts = [f"{counted(count, name.noun)} {what} ({', '.join(names)})" for (what, count), names in reasons.items()]
    verb = "They agree here, although they count differently" if len(values) == 1 else "They differ here"
    return [f"{verb}: {'; '.join(parts)}."]


# The report of one protocol, before it has a format


class Content(NamedTuple):
    """Tables and lines in the order in which text shows them."""

    protocol: str
    title: str
    sides: Mapping[str, Side]
    """Gold and, if it is one, the system."""
    facts: Mapping[str, str]
    """Lines on how the scores were made: `unit`, `ci` for intervals, `tests`; only those that apply."""
    tables: Sequence[Table]
    words: Sequence[str]
    breakdowns: Sequence[Table]
    error_words: Sequence[str]
    errors: Sequence[Table]
    runs: Sequence[tuple[str, Result]]
    """The results whose details are listed, each with a title, which is empty if there is one."""
    findings: Sequence[str]
    signature: str
    quotes: Sequence[str]
    width: int | None = None
    """The width of breakdowns and errors where there is no terminal; None: any."""

    def comments(self) -> list[str]:
        """Lines that formats for other programs have as comments."""
        how = [self.facts[name] for name in ("ci", "tests") if name in self.facts]
        return [f"{self.protocol}: {self.title}", *how, f"signature {self.signature}", *self.error_words]


def result_content(result: Result, view: View) -> Content:
    """The report of one system."""
    facts = {"unit": averages_line(result), "ci": intervals_line(result.confidence)}
    breakdowns: list[Table] = []
    errors: list[Table] = []
    error_words: list[str] = []
    if result.by or result.units:
        from karat.report.breakdowns import breakdown_tables

        breakdowns = breakdown_tables(result, view)
    if result.errors is not None:
        from karat.report.errors import error_lines, error_tables

        error_words, errors = list(error_lines(result, digits=view.digits)), error_tables(result, digits=view.digits)
    return Content(
        result.protocol,
        result.title,
        {"gold": result.gold, "system": result.system},
        {name: line for name, line in facts.items() if line},
        [score_table(result, digits=view.digits)],
        list(bottleneck(result.scores, mentions=result.gold.mentions)),
        breakdowns,
        error_words,
        errors,
        [("", result)],
        finding_lines(result.warnings, result.warning_counts),
        result.signature,
        list(quotable(result)),
    )
