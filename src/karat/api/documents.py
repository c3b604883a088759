"""Documents from data that programs hold: rows of a table, tags of tokens, documents of spaCy."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from karat.api.arguments import argument, checked
from karat.decoding import UNUSABLE, builtins, explained
from karat.formats import csv
from karat.model import Document, Mention, Unit, Value
from karat.plugin.formats import Context, ReadOptions
from karat.problems import Rule, ignore, quoted, refusing

NO_ROWS = Rule("not-rows", "fatal", 'Give dicts such as {"document": "d1", "start": 4, "end": 9}, or a DataFrame.')
NO_TAGS = Rule(
    "bio-tags",
    "fatal",
    'Give a list of tags per sentence, such as ["O", "B-Attack", "I-Attack"]: names of labels, without padding.',
)
NO_DOCS = Rule("not-spacy", "fatal", "Give spaCy's Doc objects, and the name of a span group that each has, or ents.")

TAG = re.compile(r"O|([BIESLU])(?:-(.+))?")


@checked
def from_rows(rows: Any, *, unit: Unit = "char") -> list[Document]:
    """Return documents from the rows of a table: dicts, or a DataFrame of pandas or polars.

    The columns are those of the format `csv`: document, start, end (exclusive) or last (inclusive), and optionally id,
    text, type, realis, cluster, kind, head_start and head_end; others are attributes. None and NaN are empty cells.
    """
    columns: dict[str, None] = {}
    table = [_row(row, f"rows[{index}]", columns) for index, row in enumerate(_dicts(rows))]
    if table:
        csv.check_columns([*columns], "rows")
    return [*csv.documents(table, Context(ReadOptions(unit=unit), refusing(ignore)))]


def _dicts(rows: Any) -> Iterator[Any]:
    """The rows of a table; a data frame has columns that become lists."""
    try:
        if isinstance(rows, str | bytes | Mapping):
            raise TypeError
        if hasattr(rows, "columns"):
            names = [*rows.columns]
            columns = [rows[name].to_list() for name in names]
            return (dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True))
        return iter(rows)
    except (AttributeError, TypeError):
        raise NO_ROWS.error(f"found {quoted(rows)}, expected the rows of a table", file="rows") from None


def _row(row: Any, place: str, columns: dict[str, None]) -> csv.Row:
    """A row as the format reads it; its columns are added to the others."""
    if not isinstance(row, Mapping) or not all(isinstance(name, str) for name in row):
        raise NO_ROWS.error(f"found {quoted(row)}, expected a dict with names of columns", file=place)
    cells: dict[str, Value] = {}
    for written, cell in row.items():
        name = csv.column(written)
        columns[name] = None
        if (value := _value(cell, written, place)) in (None, ""):
            continue
        if name in cells:
            raise csv.HEADER.error(f"{written!r} and another column mean {name!r}", file=place)
        cells[name] = value
    known = {name: _text(value) for name, value in cells.items() if name in csv.KNOWN}
    return csv.Row(place, None, known, {name: value for name, value in cells.items() if name not in csv.KNOWN})


def _value(cell: object, name: str, place: str) -> Any:
    """The value of a cell; None for NaN and the like."""
    if cell is None or type(cell).__name__ == "NAType":
        return None
    try:
        value: Value = msgspec.convert(builtins(cell), Value)
    except UNUSABLE as error:
        raise NO_ROWS.error(explained(error, name), file=place) from None
    return value if value == value else None


def _text(value: Value) -> str:
    """A value as text: data frames turn a column of numbers with empty cells into 3.0."""
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def from_bio(tags: Any, tokens: Any = None) -> list[Document]:
    """Return one document per sentence from the tags of its tokens, in BIO, IOB, BIOES or BILOU.

    `tags` is a list of sentences, whose documents are called `1`, `2`, ..., or a dict of sentences by id; `tokens` are
    the words, in the same form. Offsets count tokens. The part of a tag after its first `-` is the type. An `I` that
    continues no mention of its type begins one.
    """
    return [_tagged(id_, key, sentence, tokens) for id_, key, sentence in _named(tags, "tags", NO_TAGS)]


def _named(given: Any, name: str, rule: Rule) -> Iterator[tuple[str, Any, Any]]:
    """Each of several values with the id of its document, and with its key."""
    if isinstance(given, Mapping):
        return ((argument(f"the key of {name}", key, str), key, value) for key, value in given.items())
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise rule.error(f"found {quoted(given)}, expected a list", file=name)
    return ((str(index + 1), index, value) for index, value in enumerate(given))


def _tagged(id_: str, key: Any, sentence: Any, tokens: Any) -> Document:
    place = f"tags[{key!r}]"
    tags = _strings(sentence, place)
    forms = None
    if tokens is not None:
        try:
            forms = _strings(tokens[key], f"tokens[{key!r}]")
        except (LookupError, TypeError):
            raise NO_TAGS.error(f"there are no tokens for {place}", file="tokens") from None
        if len(forms) != len(tags):
            raise NO_TAGS.error(f"the number of tags is {len(tags)}, that of tokens {len(forms)}", file=place)
    mentions = [
        Mention(
            f"m{number}",
            ((begin, end),),
            attributes={"type": type_} if type_ else {},
            text=None if forms is None else " ".join(forms[begin:end]),
        )
        for number, (begin, end, type_) in enumerate(_spans(tags, place), 1)
    ]
    return Document(id_, unit="token", forms=forms, mentions=tuple(mentions))


def _strings(given: Any, place: str) -> tuple[str, ...]:
    try:
        values = builtins([*given] if isinstance(given, Iterable) and not isinstance(given, str) else given)
        return msgspec.convert(values, tuple[str, ...])
    except UNUSABLE as error:
        raise NO_TAGS.error(explained(error, place)) from None


def _spans(tags: tuple[str, ...], place: str) -> Iterator[tuple[int, int, str | None]]:
    """The begin, end and type of each mention."""
    begin: int | None = None
    type_: str | None = None
    for index, tag in enumerate((*tags, "O")):
        parsed = TAG.fullmatch(tag)
        if parsed is None:
            raise NO_TAGS.error(f"{place}[{index}] is {quoted(tag)}, expected a tag such as B-Attack, I-Attack or O")
        continues = parsed[1] in ("I", "E", "L") and parsed[2] == type_
        if begin is not None and not continues:
            yield begin, index, type_
            begin = None
        if parsed[1] and begin is None:
            begin, type_ = index, parsed[2]
        if begin is not None and parsed[1] in ("E", "S", "L", "U"):
            yield begin, index + 1, type_
            begin = None


def from_spacy(docs: Any, spans: str = "ents") -> list[Document]:
    """Return documents from spaCy's, whose entities, or spans of a group, are the mentions; their labels are the types.

    `docs` is a list of `Doc` objects, whose documents are called `1`, `2`, ..., or a dict of them by id.
    """
    listed = [docs] if hasattr(docs, "ents") else docs
    return [_from_doc(id_, doc, spans) for id_, _, doc in _named(listed, "docs", NO_DOCS)]


def _from_doc(id_: str, doc: Any, name: str) -> Document:
    try:
        chosen = doc.ents if name == "ents" else doc.spans[name]
        mentions = [
            Mention(
                f"m{number}",
                ((span.start_char, span.end_char),),
                attributes={"type": span.label_} if span.label_ else {},
                text=span.text,
            )
            for number, span in enumerate(chosen, 1)
        ]
        return Document(id_, text=doc.text, mentions=tuple(mentions))
    except (AttributeError, KeyError, TypeError):
        groups = [*doc.spans] if isinstance(getattr(doc, "spans", None), Mapping) else []
        known = f"; it has {', '.join(map(repr, groups))}" if groups else ""
        raise NO_DOCS.error(f"document {quoted(id_)} has no spans {name!r}{known}", file="docs") from None
