"""Results as JSON."""

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from karat.results import OutcomeRecord, Result


def json(results: Sequence[Result]) -> Iterator[str]:
    """The result of one protocol, or the results of several under their names, piece by piece.

    Outcomes have one line each and are encoded one after another, so that they are never all in memory as text.
    """
    contents = [result.contents() for result in results]
    outcomes = [records for content in contents for records in _set_aside(content)]
    content = contents[0] if len(contents) == 1 else {"protocols": {one["protocol"]: one for one in contents}}
    for number, piece in enumerate(_frame(content, len(outcomes))):
        if number:
            yield from _listed(outcomes[number - 1])
        yield piece.decode()
    yield "\n"


class _Held:
    """Stands for a list of outcomes in the frame."""


def _set_aside(content: dict[str, Any]) -> Iterator[Sequence[OutcomeRecord]]:
    """Take the outcomes out of the details of a result."""
    details = content.get("details", {})
    for id_, listed in details.items():
        if isinstance(listed, list):
            details[id_] = _Held()
            yield listed


def _frame(content: dict[str, Any], holes: int) -> list[bytes]:
    """The JSON around the lists of outcomes, cut where they belong."""
    mark = "\0"
    while True:
        encoded = msgspec.json.encode(content, enc_hook=functools.partial(_marked, mark))
        pieces = msgspec.json.format(encoded, indent=2).split(msgspec.json.encode(mark))
        if len(pieces) == holes + 1:
            return pieces
        mark += "\0"  # a name in the corpus looks like the mark


def _marked(mark: str, value: object) -> str:
    assert isinstance(value, _Held), "the rest of a result is plain"
    return mark


def _listed(records: Sequence[OutcomeRecord]) -> Iterator[str]:
    yield "["
    for number, record in enumerate(records):
        yield (",\n      " if number else "\n      ") + msgspec.json.encode(record.contents()).decode()
    yield "\n    ]" if records else "]"
