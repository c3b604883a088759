"""Keys that a JSON object gives twice, of which a decoder keeps only one.

The decoder does not report them, so colons are counted: in the text, and in what was decoded, encoded again. Each key
has one, and those inside strings are the same on both sides; a key that was dropped leaves fewer.
"""

from typing import Any

import msgspec

_encode = msgspec.json.Encoder().encode


def repeated_key(data: bytes, decoded: object) -> str | None:
    """A key that an object gives twice; `decoded` is what was decoded from the data."""
    if b"\\" not in data or b"\\u003" not in data:  # no colon is hidden in an escape
        colons = data.count(b":")
        # What karat writes leaves out defaults; what others write may hold them, and is then decoded as plain JSON.
        if colons == _encode(decoded).count(b":") or colons == _encode(msgspec.json.decode(data)).count(b":"):
            return None
    return _first_repeated(data)


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
