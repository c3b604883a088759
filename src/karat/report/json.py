"""Results as JSON."""

import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from karat.report.listing import refuse_long, refuse_long_texts
from karat.results import OutcomeRecord, Result
from karat.results.records import encode

AT_ONCE = 1000
"""Outcomes in a piece of the JSON: printing a piece costs more than encoding an outcome."""


def json(results: Sequence[Result]) -> Iterator[str]:
    """The result of one protocol, or the results of several under their names, piece by piece."""
    refuse_details(results)
    return encoded([result.contents() for result in results])


def refuse_details(results: Iterable[Result]) -> None:
    """Refuse details that are too long, before their content is made."""
    for result in results:
        refuse_long(result)
        refuse_long_texts(result)


def encoded(contents: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The content of one protocol, or the contents of several under their names, piece by piece.

    Outcomes have one line each and are encoded one after another, so that they are never all in memory as text.
    """
    content = contents[0] if len(contents) == 1 else {"protocols": {one["protocol"]: one for one in contents}}
    outcomes = list(_set_aside(content))
    first, *others = _pieces(content, len(outcomes))
    yield first
    before = first
    for records, piece in zip(outcomes, others, strict=True):
        yield from _listed(records, indent=_indent(before))
        yield piece
        before = piece
    yield "\n"


class _Held:
    """Stands for a list of outcomes in the frame."""


def _set_aside(content: dict[str, Any]) -> Iterator[Sequence[OutcomeRecord]]:
    """Take the outcomes out of the details of a result, or of all results in a content, in the order of the JSON."""
    parts = [*content.get("protocols", {}).values(), *content.get("systems", {}).values(), *content.get("runs", ())]
    for part in parts:
        yield from _set_aside(part)
    details = content.get("details", {})
    for id_, listed in details.items():
        if isinstance(listed, list):
            details[id_] = _Held()
            yield listed


def _pieces(frame: Any, holes: int) -> list[str]:
    """The JSON around the lists of outcomes, cut where they belong."""
    mark = "\0"
    while True:
        whole = msgspec.json.encode(frame, enc_hook=functools.partial(_marked, mark))
        pieces = msgspec.json.format(whole, indent=2).split(msgspec.json.encode(mark))
        if len(pieces) == holes + 1:
            return [piece.decode() for piece in pieces]
        mark += "\0"  # a name in the corpus looks like the mark


def _marked(mark: str, value: object) -> str:
    assert isinstance(value, _Held), "the rest of a result is plain"
    return mark


def _indent(piece: str) -> str:
    """The blanks that its last line begins with."""
    last = piece.rpartition("\n")[2]
    return last[: len(last) - len(last.lstrip())]


def _listed(records: Sequence[OutcomeRecord], *, indent: str) -> Iterator[str]:
    yield "["
    before = f"\n{indent}  "
    for start in range(0, len(records), AT_ONCE):
        lines = [encode(record.contents()) for record in records[start : start + AT_ONCE]]
        yield before + f",\n{indent}  ".encode().join(lines).decode()
        before = f",\n{indent}  "
    yield f"\n{indent}]" if records else "]"
