"""Results and comparisons in every output format: text, JSON, or tables for papers and other programs."""

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from karat.report.layout import (
    DEFAULT,
    Style,
    View,
    counted,
    finding_lines,
    paint_finding,
    paragraph,
    shared_findings,
    table,
)
from karat.report.scores import Content, definitions, main_scores, result_content
from karat.report.tables import Page, Table, as_text
from karat.result import Result, family

if TYPE_CHECKING:
    from karat.comparison.comparison import Comparison

    Scored = Result | Comparison


AT_ONCE = 1000
"""Outcomes in a piece of the JSON: printing a piece costs more than encoding an outcome."""


def indented(content: Any) -> str:
    """Plain values or records as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(content), indent=2).decode() + "\n"


def json(scored: "Sequence[Result | Comparison]") -> Iterator[str]:
    """The content of one protocol, or the contents of several under their names, piece by piece.

    Outcomes have one line each and are encoded one after another, so that they are never all in memory as text.
    """
    return _pieces([item.contents() for item in scored])


def _pieces(contents: Sequence[dict[str, Any]]) -> Iterator[str]:
    content = contents[0] if len(contents) == 1 else {"protocols": {item["protocol"]: item for item in contents}}
    outcomes: list[Iterator[dict[str, Any]]] = []
    mark = os.urandom(16).hex()

    def set_aside(listed: Any) -> str:
        outcomes.append(listed)
        return mark

    frame = msgspec.json.format(msgspec.json.encode(content, enc_hook=set_aside), indent=2).decode()
    piece, *others = frame.split(f'"{mark}"')
    yield piece
    for listed, following in zip(outcomes, others, strict=True):
        last_line = piece.rpartition("\n")[2]
        yield from _listed(listed, indent=last_line[: len(last_line) - len(last_line.lstrip())])
        yield following
        piece = following
    yield "\n"


def _listed(outcomes: Iterator[dict[str, Any]], *, indent: str) -> Iterator[str]:
    yield "["
    begin, end = f"\n{indent}  ", "]"
    while lines := [msgspec.json.encode(outcome) for outcome in islice(outcomes, AT_ONCE)]:
        yield begin + f",\n{indent}  ".encode().join(lines).decode()
        begin, end = f",\n{indent}  ", f"\n{indent}]"
    yield end


def _content(scored: "Scored", view: View) -> Content:
    if isinstance(scored, Result):
        return result_content(scored, view)
    from karat.report.comparison import comparison_content

    return comparison_content(scored, view)


# Text


def text(scored: "Sequence[Scored]", view: View = DEFAULT) -> str:
    """The report of one protocol, or of several.

    Protocols of one system are also shown side by side, and findings that several of them have stand once, at the end.
    """
    results = [item for item in scored if isinstance(item, Result)]
    if results and view.summary:
        return _summary(results, view)
    contents = [_content(item, view) for item in scored]
    if not results or len(results) == 1:
        return "\n".join(_text(content, view) for content in contents)
    lines = Counter(line for content in contents for line in content.findings)
    repeated = [line for line, count in lines.items() if count > 1]
    each = [_text(content, view, omitted=repeated) for content in contents]
    shared = [*_definitions(results, view), *_side_by_side(results, view)]
    return "\n\n".join([*shared, *each, *_finding_block(repeated, view.style)]) + "\n" * bool(repeated)


def _text(content: Content, view: View, *, omitted: Collection[str] = ()) -> str:
    """Everything about one protocol; `omitted` are lines of findings that are printed elsewhere."""
    style = view.style
    folded = style._replace(width=style.width or content.width)
    label = max(map(len, [*content.sides, *content.facts]))
    sides = [
        [name.ljust(label), side.name, counted(side.documents, "document"), counted(side.mentions, "mention")]
        for name, side in content.sides.items()
    ]
    facts = [
        paragraph(line, style, first=f"{name:<{label}}  ", indent=" " * (label + 2))
        for name, line in content.facts.items()
    ]
    paragraphs = (
        [paragraph(line, style) for line in content.words],
        [paragraph(line, style, indent="  ") for line in content.error_words],
    )
    words, error_words = (["\n".join(lines)] if lines else [] for lines in paragraphs)
    blocks = [
        style.paint(f"{content.protocol}: {content.title}", "bold"),
        "\n".join([table([], sides, left=2, style=style), *facts]),
        *(as_text(cells, style) if cells.rows else "nothing to score" for cells in content.tables),
        *words,
        *(as_text(cells, folded) for cells in content.breakdowns),
        *error_words,
        *(as_text(cells, folded) for cells in content.errors),
        *_details(content, view),
        *_finding_block([line for line in content.findings if line not in omitted], style),
        _signature(content.signature, style),
        *(paragraph(line, style, first="to quote   ", indent=" " * 11) for line in content.quotes),
    ]
    return "\n\n".join(blocks) + "\n"


def _signature(signature: str, style: Style) -> str:
    return paragraph(signature, style, first="signature  ", indent=" " * 11)


def _details(content: Content, view: View) -> Iterator[str]:
    """The outcomes of each measure, or the elements it lists; with error classes, the errors of each class."""
    for title, run in content.runs:
        if run.errors is not None and run.errors.is_listed:
            from karat.report.errors import error_listing

            blocks = list(error_listing(run, view.style))
        elif not run.outcomes and not run.details:
            continue
        else:
            from karat.report.listing import elements, listings

            blocks = list(listings(run.outcomes, view.style))
            for id_, listed in run.details.items():
                blocks += elements(id_, listed, digits=view.digits, style=view.style)
        if title and blocks:
            yield view.style.paint(f"details of {title}", "bold")
        yield from blocks


def _finding_block(lines: Iterable[str], style: Style) -> list[str]:
    """Lines of findings as one block, if there are any."""
    painted = [paint_finding(line, style) for line in lines]
    return ["\n".join(painted)] if painted else []


def findings_of(scored: "Sequence[Scored]", *, style: Style, faults_only: bool = False) -> list[str]:
    """Lines about findings, for outputs that have no place for them."""
    contents = [_content(item, DEFAULT) for item in scored]
    lines = shared_findings({content.protocol: content.findings for content in contents})
    return [paint_finding(line, style) for line in lines if line.startswith("fault") or not faults_only]


def _summary(results: Sequence[Result], view: View) -> str:
    """Return one row per protocol with the main score of each measure, each finding once, and the signatures."""
    style = view.style
    sides = table([], [["gold", results[0].gold.name], ["system", results[0].system.name]], left=2, style=style)
    findings = {result.protocol: finding_lines(result.warnings, result.warning_counts) for result in results}
    blocks = [
        sides,
        *_definitions(results, view),
        *(as_text(cells, style) for cells in _summary_tables(results, view)),
        *_finding_block(shared_findings(findings), style),
        "\n".join(_signature(result.signature, style) for result in results),
    ]
    return "\n\n".join(blocks) + "\n"


def _summary_tables(results: Sequence[Result], view: View) -> Iterator[Table]:
    """Main scores, one row per protocol, and breakdowns; with several protocols, each breakdown names its own."""
    ids = list(dict.fromkeys(id_ for result in results for id_ in result.counted_ids()))
    yield from main_scores("protocol", {result.protocol: result.scores for result in results}, ids, digits=view.digits)
    from karat.report.breakdowns import breakdown_tables

    for result in results:
        for cells in breakdown_tables(result, view):
            name = f"{cells.header[0]} ({result.protocol})" if len(results) > 1 else cells.header[0]
            yield cells._replace(header=[name, *cells.header[1:]])


def _definitions(results: Sequence[Result], view: View) -> list[str]:
    """The definitions of a name side by side, and why they differ."""
    blocks = []
    for cells in definitions(results, digits=view.digits):
        notes = [paragraph(note, view.style) for note in cells.notes]
        blocks.append("\n".join([as_text(cells._replace(notes=[]), view.style), *notes]))
    return blocks


def _side_by_side(results: Sequence[Result], view: View) -> list[str]:
    """Return one table per shared family, one row per protocol, to show how much each setting inflates scores."""
    ids = dict.fromkeys(id_ for result in results for id_ in result.scores)
    families = Counter(name for result in results for name in set(map(family, result.scores)))
    shared = [id_ for id_ in ids if families[family(id_)] > 1]
    rows = {result.protocol: result.scores for result in results}
    return [as_text(cells, view.style) for cells in main_scores("protocol", rows, shared, digits=view.digits)]


# Tables for papers, programs and notebooks


def _page(scored: "Sequence[Scored]", view: View) -> Page:
    contents = [_content(item, view) for item in scored]
    comments = [line for content in contents for line in content.comments()]
    results = [item for item in scored if isinstance(item, Result)]
    tables = list(definitions(results, digits=view.digits))
    if results and view.summary:
        return Page([*tables, *_summary_tables(results, view)], comments)
    for content in contents:
        scores = content.tables
        if len(results) > 1:
            scores = [cells._replace(header=[content.protocol, *cells.header[1:]]) for cells in scores]
        tables += [*scores, *content.breakdowns, *content.errors]
    return Page(tables, comments)


def _csv(scored: "Sequence[Scored]", view: View) -> str:
    """Return one table of everything; the last columns say how the numbers were made."""
    from karat.report.markup import csv_of_records

    records = [item.to_dicts() for item in scored]
    columns = dict.fromkeys(name for rows in records for row in rows for name in row)
    signed = []
    for item, rows in zip(scored, records, strict=True):
        content = _content(item, view)
        how = {name: content.facts.get(name) for name in ("ci", "tests")} | {"signature": content.signature}
        signed += [{**columns, **row, **how} for row in rows]
    return csv_of_records(signed, digits=view.digits)


def _markdown(scored: "Sequence[Scored]", view: View) -> str:
    from karat.report.markup import markdown

    return markdown(_page(scored, view))


def _latex(scored: "Sequence[Scored]", view: View) -> str:
    from karat.report.latex import latex

    results = [item for item in scored if isinstance(item, Result)]
    if results and view.summary:
        titles = [f"{result.protocol}: {result.title}" for result in results]
        tables = [*definitions(results, digits=view.digits), *_summary_tables(results, view)]
        pages = [Page(tables, caption=titles, signatures=[result.signature for result in results])]
    else:
        pages = [_paper(item, view) for item in scored]
    return latex(pages, wide=view.wide)


def _paper(scored: "Scored", view: View) -> Page:
    content = _content(scored, view)
    if isinstance(scored, Result):
        tables, caption = content.tables, [f"{content.protocol}: {content.title}", content.facts.get("ci", "")]
    else:
        from karat.report.comparison import paper_caption, paper_tables

        tables, caption = paper_tables(scored, view), paper_caption(scored)
    return Page(
        [*tables, *content.breakdowns, *content.errors],
        caption=[*filter(None, caption)],
        signatures=[content.signature],
    )


def html(scored: "Scored") -> str:
    """Tables for notebooks: a caption above the first one, words and the signature below the last."""
    from karat.report.html.page import environment

    content = _content(scored, DEFAULT)
    caption, *notes = content.comments()
    tables = [*content.tables, *content.breakdowns]
    if isinstance(scored, Result):
        sides = [
            f"{name}: {counted(side.documents, 'document')}, {counted(side.mentions, 'mention')}"
            for name, side in content.sides.items()
        ]
        caption = f"{caption} ({'; '.join(sides)})"
        notes = [*content.words, *filter(None, [content.facts.get("ci")]), content.signature]
    else:
        from karat.report.comparison import verdict

        tables += content.errors
        notes = [*verdict(scored), *notes]
    return environment().get_template("notebook.html").render(tables=tables, caption=caption, notes=notes)


FORMATS: "Mapping[str, Callable[[Sequence[Scored], View], str | Iterable[str]]]" = {
    "text": text,
    "json": lambda scored, _: json(scored),
    "csv": _csv,
    "markdown": _markdown,
    "latex": _latex,
}
"""Outputs of `karat score -f` and `karat compare -f`."""
