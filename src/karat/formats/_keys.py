"""Keys that a JSON object gives twice, of which a decoder keeps only one.

The decoder does not report them, so colons are counted: in the text, and in what was decoded, encoded again. Each key
has one, and those inside strings are the same on both sides; a key that was dropped leaves fewer.
"""

from typing import Any

import msgspec

_encode = msgspec.json.Encoder().encode


def repeated_key(data: bytes, decoded: object) -> str | None:
    """Return a key that an object gives twice; `decoded` is what was decoded from the data."""
    # What karat writes leaves out defaults; what others write may hold them, and is then decoded as plain JSON.
    if holds_all(decoded, data) or holds_all(msgspec.json.decode(data), data):
        return None
    return _first_repeated(data)


def holds_all(decoded: object, data: bytes) -> bool:
    """Return whether a value has all keys of the data that it was decoded from; encoded, it must not have others."""
    if b"\\" in data and b"\\u003" in data:  # a colon may be hidden in an escape
        return False
    return data.count(b":") == _encode(decoded).count(b":")


def _first_repeated(data: bytes) -> str | None:
    import json

    repeated: list[str] = []

    def look(pairs: list[tuple[str, Any]]) -> None:
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                repeated.append(key)
            seen.add(key)

    json.loads(data, object_pairs_hook=look)
    return repeated[0] if repeated else None
