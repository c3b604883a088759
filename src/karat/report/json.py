"""A result, or several, as the JSON of CONTRACT."""

from collections.abc import Sequence

import msgspec

from karat.results import Result


def json(results: Sequence[Result]) -> str:
    """One protocol's result as it is; several under their names."""
    told = [result.to_dict() for result in results]
    whole = told[0] if len(told) == 1 else {"protocols": {one["protocol"]: one for one in told}}
    return msgspec.json.format(msgspec.json.encode(whole), indent=2).decode() + "\n"
