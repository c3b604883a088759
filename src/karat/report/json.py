"""Results as JSON."""

from collections.abc import Sequence

import msgspec

from karat.results import Result


def json(results: Sequence[Result]) -> str:
    """The result of one protocol, or the results of several under their names."""
    contents = [result.to_dict() for result in results]
    content = contents[0] if len(contents) == 1 else {"protocols": {one["protocol"]: one for one in contents}}
    return msgspec.json.format(msgspec.json.encode(content), indent=2).decode() + "\n"
