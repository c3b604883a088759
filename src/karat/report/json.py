"""Results as JSON."""

from collections.abc import Sequence

import msgspec

from karat.results import OutcomeRecord, Result


def json(results: Sequence[Result]) -> str:
    """The result of one protocol, or the results of several under their names."""
    contents = [result.contents() for result in results]
    content = contents[0] if len(contents) == 1 else {"protocols": {one["protocol"]: one for one in contents}}
    return msgspec.json.format(msgspec.json.encode(content, enc_hook=_record), indent=2).decode() + "\n"


def _record(record: object) -> object:
    """Outcomes are converted one after another, so that they are never all in memory as dictionaries."""
    assert isinstance(record, OutcomeRecord), "the rest of a result is plain"
    return record.to_dict()
