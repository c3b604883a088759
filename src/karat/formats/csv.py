"""Tables of mentions, one row per mention: `.csv`, or `.tsv` with tabs. The first row names the columns.

    document,start,end,text,type,cluster
    d1,4,9,raids,Conflict.Attack,E1

`document` (or `doc`, `doc_id`) and `start` are needed, with `end` (exclusive: the offset after the last character or
token) or `last` (inclusive). `id`, `text`, `type`, `realis`, `cluster`, `kind`, `head_start` and `head_end` (or
`head_last`) may follow. Every other column is an attribute; an empty cell has no value. Columns are separated by tabs,
commas or semicolons. Offsets count characters, or tokens with `--unit token`.

The rows of a document may be scattered. Rows of a document with the same `id` are segments of one mention. A row that
has only a document is for a document without mentions. The same `cluster` in two documents is the same cluster.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from typing import NamedTuple, TypeVar

from msgspec.structs import replace

from karat.formats._text import MERGED, decode, of_many_documents
from karat.formats._writing import refuse_unit, report_document, report_regions
from karat.formats.jsonl import ACROSS, WITHIN, choose_protocols, free_ids
from karat.model import Document, Mention, Places, Region, Value, compact_lines
from karat.plugin.formats import Context, Format, Piece, ReportLoss, WriteOptions
from karat.problems import Rule, quoted
from karat.regions import union

HEADER = Rule("csv-header", "fatal", "Name the columns in the first row, such as: document,start,end,type,cluster")
SHAPE = Rule("csv-row", "fatal", "Give each row one cell per column; put a cell with a comma or quotes in quotes.")
SPAN = Rule("csv-span", "fatal", "Write offsets as whole numbers, 0 or more, with start < end (start <= last).")
DIFFERS = Rule("csv-segments", "fatal", "Give each mention its own id; rows with one id are segments of one mention.")
UNIT = Rule("csv-unit", "fatal", "Convert recordings and images to jsonl.")

ALIASES = {"doc": "document", "doc_id": "document"}
PLACES = ("document", "start", "end", "last", "head_start", "head_end", "head_last")
KNOWN = frozenset((*PLACES, "id", "text", "kind", "cluster"))
WRITTEN = ("document", "id", "start", "end", "text", "kind", "cluster", "head_start", "head_end")
DELIMITERS = "\t,;"
V = TypeVar("V")


class Row(NamedTuple):
    """A row of a table. Empty cells are left out."""

    file: str
    line: int | None
    """None: the table is in memory."""
    cells: dict[str, str]
    """By the names of the columns that are known."""
    attributes: dict[str, Value]
    """All others."""


def column(name: str) -> str:
    """Return the known column that a name means, or else the name. Case does not matter for known names."""
    name = name.strip()
    known = ALIASES.get(name.lower(), name.lower())
    return known if known in KNOWN or known in ("type", "realis") else name


def _columns(row: str) -> tuple[list[str], str]:
    """Return the names of columns in a header, and what separates them."""
    delimiter = max(DELIMITERS, key=row.count)
    try:
        return [*map(column, next(csv.reader([row], delimiter=delimiter), []))], delimiter
    except csv.Error:
        return [], delimiter


def _first_row(head: bytes) -> str:
    return head.partition(b"\n")[0].decode("utf-8", "replace").strip("\ufeff\r")


def sniff(head: bytes) -> bool:
    """Return whether the first row names a document and a start."""
    columns, _ = _columns(_first_row(head))
    return {"document", "start"}.issubset(columns)


def related(name: str, head: bytes) -> str | None:
    """Describe a table of something else, such as one of documents: a table of mentions names more places."""
    first = _first_row(head)
    columns, _ = _columns(first)
    if not name.lower().removesuffix(".gz").endswith((".csv", ".tsv")) or not first or len({*PLACES} & {*columns}) > 1:
        return None
    expected = "the first row of a table of mentions names the columns, such as: document,start,end,type,cluster"
    return f"{expected}; found: {quoted(first)}"


def read(piece: Piece, context: Context) -> Iterator[Document]:
    """Read the documents of a table, in the order of their first rows."""
    return documents(_rows(piece), context)


def documents(rows: Iterable[Row], context: Context) -> Iterator[Document]:
    """Return the documents of a table, in the order of their first rows."""
    by_document: dict[str, list[Row]] = {}
    for row in rows:
        id_ = row.cells.get("document")
        if id_ is None:
            raise SHAPE.error("this row has no document", file=row.file, line=row.line)
        by_document.setdefault(id_, []).append(row)
    for id_, own_rows in by_document.items():
        yield _document(id_, own_rows, context)


def _rows(piece: Piece) -> Iterator[Row]:
    text = decode(piece.data, file=piece.name, line=1).removeprefix("\ufeff")
    if not text.strip():
        return
    columns, delimiter = _columns(text.partition("\n")[0].strip("\r"))
    check_columns(columns, piece.name, 1)
    known = [name for name in columns if name in KNOWN]
    others = [name for name in columns if name not in KNOWN]
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for index, row in enumerate(reader):
            if index and any(row):
                if len(row) != len(columns):
                    message = f"found {len(row)} cells, expected {len(columns)}, as the first row has"
                    raise SHAPE.error(message, file=piece.name, line=line)
                cells = {name: cell for name, cell in zip(columns, row, strict=True) if cell}
                yield Row(
                    piece.name,
                    line,
                    {name: cells[name] for name in known if name in cells},
                    {name: cells[name] for name in others if name in cells},
                )
            line = reader.line_num + 1
    except csv.Error:
        message = "a cell in quotes does not end, or text follows its closing quote"
        raise SHAPE.error(message, file=piece.name, line=line) from None


def check_columns(columns: Sequence[str], file: str, line: int | None = None) -> None:
    """Refuse a table without the columns that are needed."""
    expected = [name for name in ("document", "start") if name not in columns]
    if not {"end", "last"}.intersection(columns):
        expected.append("end (exclusive) or last (inclusive)")
    if expected:
        raise HEADER.error(f"no column {', '.join(expected)}; found: {', '.join(columns)}", file=file, line=line)
    if "" in columns:
        index = columns.index("")
        advice = "" if index else "; pandas leaves out its index with to_csv(index=False)"
        raise HEADER.error(f"column {index + 1} has no name{advice}", file=file, line=line)
    if len({*columns}) < len(columns):
        repeated = next(name for index, name in enumerate(columns) if name in columns[:index])
        raise HEADER.error(f"two columns mean {quoted(repeated)}", file=file, line=line)
    if {"end", "last"}.issubset(columns):
        raise HEADER.error("both end (exclusive) and last (inclusive) are given", file=file, line=line)


def _document(id_: str, rows: Sequence[Row], context: Context) -> Document:
    segments: dict[str, list[Row]] = {}
    numbers = free_ids({row.cells.get("id", "") for row in rows})
    for row in rows:
        if row.cells.keys() > {"document"} or not row.attributes.keys().isdisjoint(("type", "realis")):
            segments.setdefault(row.cells.get("id") or next(numbers), []).append(row)
    mentions = tuple([_mention(name, group, context) for name, group in segments.items()])
    document = Document(id_, unit=context.options.unit or "char", mentions=mentions)
    if rows[0].line is None:
        return document
    lines = [group[0].line or 0 for group in segments.values()]
    return document.at(Places(rows[0].line, compact_lines(lines)))


def _mention(id_: str, rows: Sequence[Row], context: Context) -> Mention:
    """Return the mention whose segments these rows are."""
    cells: dict[str, str] = {}
    attributes: dict[str, Value] = {}
    for row in rows:
        _merge(cells, {name: cell for name, cell in row.cells.items() if name not in (*PLACES, "text")}, row, id_)
        _merge(attributes, row.attributes, row, id_)
    heads = [_segment(row, "head_", context) for row in rows if {"head_start", "head_end"} & row.cells.keys()]
    return Mention(
        id_,
        _region([_segment(row, "", context) for row in rows], id_, rows[0], context),
        head=_region(heads, id_, rows[0], context) if heads else None,
        kind=cells.get("kind", "event"),
        cluster=cells.get("cluster"),
        attributes=attributes,
        text=" ".join([row.cells["text"] for row in rows if "text" in row.cells]) or None,
    )


def _merge(merged: dict[str, V], values: Mapping[str, V], row: Row, id_: str) -> None:
    """Add values of a row to those of earlier rows of the same mention."""
    for name, value in values.items():
        if merged.setdefault(name, value) != value:
            before = quoted(str(merged[name]))
            message = f"mention {quoted(id_)} has the {name} {quoted(str(value))}, but {before} before"
            raise DIFFERS.error(message, file=row.file, line=row.line, found=str(value))


def _segment(row: Row, prefix: str, context: Context) -> tuple[int, int]:
    """Return the segment of a row; its columns are `start` and `end` or `last`, after a prefix."""
    end_name = next((name for name in (f"{prefix}end", f"{prefix}last") if name in row.cells), f"{prefix}end")
    written = row.cells.get(f"{prefix}start", ""), row.cells.get(end_name, "")
    begin, end = map(_number, written)
    if begin is not None and end is not None:
        end += end_name.endswith("last")
        if begin < end:
            return begin, end
    message = f"{prefix}start is {quoted(written[0])} and {end_name} is {quoted(written[1])}"
    return context.misplaced(SPAN.at(message, file=row.file, line=row.line), written)


def _number(cell: str) -> int | None:
    """Return an offset; programs for tables write whole numbers as 4.0 where a column has empty cells."""
    digits = cell.strip().removesuffix(".0")
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 19 else None


def _region(segments: Sequence[tuple[int, int]], id_: str, row: Row, context: Context) -> Region:
    merged = union(segments)
    if len(merged) < len(segments):
        message = f"overlapping segments in mention {quoted(id_)}"
        context.report(MERGED.at(message, file=row.file, line=row.line))
    return merged


def plan(documents: Iterable[Document], options: WriteOptions, report_loss: ReportLoss) -> WriteOptions:
    """Give each attribute a column."""
    names: set[str] = set()
    for document in documents:
        for mention in document.mentions:
            names.update(mention.attributes)
    for name in sorted(names):
        if column(name) != name or name in KNOWN or not name:
            report_loss(f"the attribute {name}, whose name means something else in a table")
            names.discard(name)
    columns = (*WRITTEN, *sorted(names))
    return replace(options, columns=columns, head=_lines([columns], options))


def write(document: Document, options: WriteOptions, report_loss: ReportLoss) -> bytes:
    _report_losses(document, report_loss)
    rows: list[Sequence[object]] = []
    for mention in document.mentions:
        heads = mention.head or ()
        if len(heads) > len(mention.span):
            report_loss("segments of heads")
        first: Sequence[object] = [mention.text, mention.kind, mention.cluster]
        for index, segment in enumerate(mention.span):
            head = heads[index] if index < len(heads) else (None, None)
            attributes = [mention.attributes.get(name) for name in options.columns[len(WRITTEN) :]]
            rows.append((document.id, mention.id, *segment, *first, *head, *attributes))
            first = [None, *first[1:]]
    return _lines(rows or [(document.id, *[None] * (len(options.columns) - 1))], options)


def _lines(rows: Iterable[Sequence[object]], options: WriteOptions) -> bytes:
    is_tsv = options.output is not None and options.output.lower().removesuffix(".gz").endswith(".tsv")
    text = StringIO()
    csv.writer(text, delimiter="\t" if is_tsv else ",", lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def _report_losses(document: Document, report_loss: ReportLoss) -> None:
    refuse_unit(document, ("char", "token"), UNIT)
    report_document(document, ("topic", "subtopic", "source", "language", "producer", "text", "tokens"), report_loss)
    if document.clusters:
        report_loss("kinds and attributes of clusters")
    for link in document.links:
        report_loss(f"links of kind {link.kind}")
    for mention in document.mentions:
        report_regions(mention, report_loss, holds=("head",))
        if not mention.span:
            report_loss("mentions without a span")
        if mention.confidence:
            report_loss("confidences")
        for name, value in mention.attributes.items():
            if not isinstance(value, str) or not value:
                report_loss(f"the type of the attribute {name}, which is not text")


FORMAT = Format(
    title="tables of mentions, comma- or tab-separated",
    about=__doc__,
    suffixes=(".csv", ".tsv"),
    protocols=(*WITHIN, *ACROSS),
    choose_protocols=choose_protocols,
    sniff=sniff,
    read=read,
    identify=of_many_documents,
    related=related,
    plan=plan,
    write=write,
)
