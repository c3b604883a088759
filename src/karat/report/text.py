"""A result as a table that a person reads at a glance, the signature under it."""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from karat.counts import Leaf
from karat.errors import Finding
from karat.results import Result, Score

SHORT = {"precision": "P", "recall": "R", "f1": "F1"}
UNDEFINED = "-"


def texts(results: Sequence[Result], *, digits: int = 2) -> str:
    """The results of several protocols: side by side, then each by itself."""
    whole = [text(result, digits=digits) for result in results]
    return "\n\n".join([*side_by_side(results, digits), *whole]) if len(results) > 1 else whole[0]


def side_by_side(results: Sequence[Result], digits: int) -> list[str]:
    """For each family of measures that several protocols have, a row a protocol: how much a setting flatters."""
    families: dict[str, dict[str, None]] = {}
    for result in results:
        for id_ in result.scores:
            families.setdefault(id_.partition(".")[0], {}).setdefault(id_)
    found = []
    for family, ids in families.items():
        having = [result for result in results if any(id_ in result.scores for id_ in ids)]
        if len(having) > 1:
            names = {id_: _names(result[id_].micro for result in having if id_ in result.scores) for id_ in ids}
            shown = [(id_, name) for id_ in ids for name in _summary(names[id_])]
            scores = dict.fromkeys(f"micro {SHORT.get(name, name)}" for _, name in shown)
            header = [f"{family}, {', '.join(scores)}", *(id_.partition(".")[2] for id_, _ in shown)]
            rows = [
                [result.protocol, *(_number(_micro_of(result, id_), name, digits) for id_, name in shown)]
                for result in having
            ]
            found.append(table(header, rows))
    return found


def _micro_of(result: Result, id_: str) -> Leaf | None:
    return result.scores[id_].micro if id_ in result.scores else None


def text(result: Result, *, digits: int = 2) -> str:
    """Everything, top to bottom: what was scored, the scores, breakdowns, remarks, the signature."""
    shown = {id_: score for id_, score in result.scores.items() if id_ in _counted_ids(result.scores)}
    blocks = [
        f"{result.protocol}: {result.title}",
        table([], [_side("gold", result), _side("system", result)], left=2) + "\n" + _averages(result),
        scores(shown, digits),
        *(breakdown(field, rows, list(shown), digits) for field, rows in result.by.items()),
        *([breakdown(result.unit, result.units, list(shown), digits)] if result.units else []),
        *remarks(result),
        f"signature  {result.signature}",
    ]
    return "\n\n".join(blocks) + "\n"


def _side(name: str, result: Result) -> list[str]:
    side = result.gold if name == "gold" else result.system
    return [name, side.name, counted(side.documents, "document"), counted(side.mentions, "mention")]


def _averages(result: Result) -> str:
    """What the scores are averages over, in words."""
    units = counted(result.unit_count, result.unit) if result.unit != "corpus" else "the corpus as a whole"
    told = "micro adds the counts"
    if any(score.macro for score in result.scores.values()):
        told += ", macro is the mean of the scores"
    return f"unit    {units}" + (f"; {told}" if result.unit_count > 1 else "")


def _counted_ids(found: Mapping[str, Score]) -> set[str]:
    """Measures of families that had something to count on either side; all, if there was nothing for any.

    A corpus without a link should not look as if its links had been scored, and badly.
    """
    counts = [(id_, score.micro.counts) for id_, score in found.items()]
    families = {_family(id_) for id_, own in counts if own is not None and any(own.to_dict().values())}
    return {id_ for id_ in found if not families or _family(id_) in families}


def _family(id_: str) -> str:
    return id_.partition(".")[0]


def scores(found: Mapping[str, Score], digits: int) -> str:
    """One row a measure: the micro average, and the macro average where there is one."""
    averages = ["micro"] + ["macro"] * any(score.macro for score in found.values())
    names = _names(score.micro for score in found.values())
    header = ["measure", *(f"{average} {SHORT.get(name, name)}" for average in averages for name in names)]
    rows = []
    for id_, score in found.items():
        leaves = [score.micro, score.macro][: len(averages)]
        rows.append([id_, *(_number(leaf, name, digits) for leaf in leaves for name in names)])
    return table(header, rows)


def breakdown(
    field: str,
    found: Mapping[str, Mapping[str, Score]] | Mapping[str, Mapping[str, Leaf]],
    measures: Sequence[str],
    digits: int,
) -> str:
    """One row a value: all scores of a measure that stands alone, else the one that sums up each measure."""
    leaves = {key: {id_: _micro(leaf) for id_, leaf in row.items()} for key, row in found.items()}
    names = {id_: _names(row[id_] for row in leaves.values() if id_ in row) for id_ in measures}
    shown = [(id_, name) for id_ in measures for name in (names[id_] if len(measures) == 1 else _summary(names[id_]))]
    header = [field, *(f"{id_} {SHORT.get(name, name)}" for id_, name in shown)]
    rows = [[key, *(_number(row.get(id_), name, digits) for id_, name in shown)] for key, row in leaves.items()]
    return table(header, rows)


def _micro(leaf: Score | Leaf) -> Leaf:
    return leaf.micro if isinstance(leaf, Score) else leaf


def _names(leaves: Iterable[Leaf]) -> list[str]:
    """The scores that occur, the well-known ones first."""
    found = dict.fromkeys(name for leaf in leaves for name in leaf.values)
    return [*(name for name in SHORT if name in found), *(name for name in found if name not in SHORT)]


def _summary(names: Sequence[str]) -> list[str]:
    """The one score that sums up a measure."""
    return ["f1"] if "f1" in names else list(names[:1])


def _number(leaf: Leaf | None, name: str, digits: int) -> str:
    if leaf is None or name not in leaf.values:
        return ""
    value = leaf.values[name]
    return UNDEFINED if value is None else f"{100 * value:.{digits}f}"


def remarks(result: Result) -> list[str]:
    """Warnings, if there are any."""
    return ["\n".join(told(result.warnings, result.warning_counts))] if result.warnings else []


def told(findings: Iterable[Finding], counts: Mapping[str, int]) -> list[str]:
    """Findings, a line a kind: the first of them, and how many more there are."""
    lines: dict[str, str] = {}
    for finding in findings:
        more = counts[finding.code] - 1
        lines.setdefault(finding.code, f"{finding.severity}: {finding}" + (f" (and {more:,} more)" if more else ""))
    return list(lines.values())


def counted(number: int, noun: str) -> str:
    """`1 document`, `2 documents`."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """Columns that line up: the first `left` to the left, the others to the right."""
    lines = [[printable(cell) for cell in row] for row in (header, *rows) if row]
    widths = [max(map(width, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell + " " * (wide - width(cell)) if number < left else " " * (wide - width(cell)) + cell
            for number, (cell, wide) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def printable(cell: str) -> str:
    """A cell without anything that a terminal would obey."""
    return cell if cell.isprintable() else cell.encode("unicode_escape").decode()


def width(cell: str) -> int:
    """Columns on a terminal: wide characters take two, marks on a letter none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in cell)
