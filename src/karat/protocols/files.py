"""Protocol files: where they are, and what each says together with the protocols it extends.

A file that `extends` another states only what differs: tables are merged key by key, everything else is replaced.
"""

import hashlib
import math
import tomllib
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import msgspec

from karat.inputs import opened
from karat.plugin import ProtocolFile
from karat.problems import Rule, UsageError, nearest
from karat.registry import Registry

FILE = Rule("protocol-file", "fatal", "`karat protocols tac-2017 --file` prints one to copy and change.")
NOT_INHERITED = ("extends", "aliases")


def _own() -> dict[str, Callable[[], object]]:
    return {path.stem: partial(Path, path) for path in sorted(Path(__file__).parent.glob("*.toml"))}


def _existing(loaded: object) -> Path:
    path = Path(str(loaded))
    if not path.is_file():
        raise TypeError(f"expected the path of a protocol file, found {loaded!r}")
    return path


PROTOCOLS: Registry[Path] = Registry(
    "karat.protocols", "protocol", own=_own, accept=_existing, listed_by="karat protocols"
)


def source(name: str) -> Path:
    """The file of a protocol, by name, alias or path."""
    if name.endswith(".toml"):
        if not Path(name).is_file():
            raise FILE.error("there is no such protocol file", file=name)
        return Path(name)
    if PROTOCOLS.has(name):
        return PROTOCOLS.get(name)
    for own_name in PROTOCOLS.own:
        path = PROTOCOLS.get(own_name)
        if name in written(path).aliases:
            return path
    raise UsageError(
        "unknown-protocol",
        f"there is no protocol {name!r}",
        f"{nearest(name, PROTOCOLS.names())} `karat protocols` lists them; a file of your own ends in .toml.",
    )


def is_own(path: Path) -> bool:
    """Return whether a protocol is karat's own, which the version identifies."""
    return path.stem in PROTOCOLS.own and PROTOCOLS.get(path.stem) == path


def lineage(path: Path) -> list[Path]:
    """A protocol file, the one it extends, and so on."""
    paths = [path]
    while base := _toml(paths[-1]).get("extends"):
        if not isinstance(base, str):
            raise FILE.error(f"extends names a protocol or a file, found {base!r}", file=str(paths[-1]))
        beside = paths[-1].parent / base
        paths.append(beside if base.endswith(".toml") and beside.is_file() else source(base))
        if paths[-1] in paths[:-1]:
            raise FILE.error(f"it extends itself: {' -> '.join(ancestor.stem for ancestor in paths)}", file=str(path))
    return paths


def written(path: Path) -> ProtocolFile:
    """Return the content of a protocol file, with that of the files it extends."""
    content: dict[str, Any] = {}
    for file in reversed(lineage(path)):
        inherited = {key: value for key, value in content.items() if key not in NOT_INHERITED}
        content = _merged(inherited, _toml(file))
    content.pop("extends", None)
    try:
        return msgspec.convert(content, ProtocolFile)
    except msgspec.ValidationError as error:
        from karat.decoding import explained

        raise FILE.error(explained(error, record=ProtocolFile), file=str(path)) from None


def digest(path: Path) -> str | None:
    """A hash of the protocol's files that are not karat's own; None where all are."""
    others = [file.read_bytes() for file in lineage(path) if not is_own(file)]
    return hashlib.sha256(b"".join(others)).hexdigest()[:16] if others else None


def _toml(path: Path) -> Mapping[str, Any]:
    text = ""
    try:
        text = opened(path).read_text(encoding="utf-8-sig")
        return _parsed(text)
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise FILE.error("this is not UTF-8", file=str(path), line=line) from None
    except ValueError as error:
        from karat.decoding import toml_problem

        message, place = toml_problem(error, text)
        raise FILE.error(message, file=str(path), line=place) from None
    except RecursionError:
        raise FILE.error("this is nested too deeply", file=str(path)) from None
    except OSError as error:
        raise FILE.error(error.strerror or str(error), file=str(path)) from None


@lru_cache(maxsize=64)
def _parsed(text: str) -> Mapping[str, Any]:
    """Parse a file; a command looks into the same few files many times."""
    return tomllib.loads(text, parse_float=_finite)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not a number that a protocol can use")
    return number


def _merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The base with the changes in it, tables merged key by key."""
    merged = dict(base)
    for key, value in changes.items():
        both = isinstance(value, dict) and isinstance(base.get(key), dict)
        merged[key] = _merged(base[key], value) if both else value
    return merged
