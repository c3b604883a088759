"""Options of a campaign from a TOML file, under the names that they have on the command line."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from karat.errors import Rule, UsageError, nearest
from karat.opened import read_bytes

FILE = Rule("campaign-file", "fatal", "`karat campaign new DIR` writes a file to start from.")

PATHS = ("submissions", "gold", "output", "tokens", "sources")
"""Options that name files: relative to the folder of the file."""


def configuration(file: str, known: Mapping[str, str]) -> dict[str, Any]:
    """What a file says; `known` has the name of the parameter of each option."""
    path = Path(file)
    try:
        content = tomllib.loads(read_bytes(path).decode())
    except OSError as error:
        raise FILE.error(error.strerror or str(error), file=file) from None
    except ValueError as error:  # no TOML, or no UTF-8
        raise FILE.error(str(error), file=file) from None
    values: dict[str, Any] = {}
    for key, value in content.items():
        if key not in known:
            raise UsageError("unknown-option", f"{file}: there is no option {key!r}", nearest(key, known))
        if key in PATHS:
            value = str(path.parent / str(value))
        elif key == "protocol":
            value = [_protocol(path.parent, str(name)) for name in (value if isinstance(value, list) else [value])]
        elif key == "set":
            value = [f"{name}={in_words(one)}" for name, one in _table(file, key, value).items()]
        values[known[key]] = value
    return values


def _protocol(folder: Path, name: str) -> str:
    return str(folder / name) if name.endswith(".toml") else name


def _table(file: str, key: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise FILE.error(f"{key} is not a table of parameters and values", file=file)
    return value


def in_words(value: Any) -> str:
    """A value as `--set` takes it."""
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
