"""Results and comparisons as JSON."""

import os
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from karat.report.listing import refuse_long
from karat.results import Result

if TYPE_CHECKING:
    from karat.comparison import Comparison

AT_ONCE = 1000
"""Outcomes in a piece of the JSON: printing a piece costs more than encoding an outcome."""


def indented(content: Any) -> str:
    """Plain values or records as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(content), indent=2).decode() + "\n"


def json(scored: "Sequence[Result | Comparison]") -> Iterator[str]:
    """The content of one protocol, or the contents of several under their names, piece by piece.

    Outcomes have one line each and are encoded one after another, so that they are never all in memory as text.
    """
    for item in scored:
        runs = [item] if isinstance(item, Result) else [run for system in item.systems for run in system.runs]
        for run in runs:
            refuse_long(run)
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
