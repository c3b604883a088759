"""What must hold after a command, whatever it was given."""

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from typing import Any, NamedTuple, NoReturn
from unicodedata import category

from fuzz.execution import Outcome

EXIT_CODES = (0, 1, 2)
CODE = re.compile(r" \[([a-z][a-z0-9+-]*)\](?=$|\n| \()", re.MULTILINE)
LINE = re.compile(r"^(fatal|fault|note|error): ", re.MULTILINE)

PLACELESS = frozenset(
    (
        "measure-absent",
        "field-absent",
        "apf-unwritable",
        "conll-unwritable",
        "brat-unwritable",
        "tbf-unwritable",
        "forest-unwritable",
        "jsonl-unwritable",
        "convert-loss",
        "simulation-invalid",
    )
)
"""Codes of refusals that are about a whole run, or about documents in memory, and not about a file."""


REPORTING = frozenset(("validate", "score", "compare", "describe"))
"""Commands whose reports have findings."""
ESCAPES = ("replace", "backslashreplace")


class Problem(NamedTuple):
    """A property that does not hold."""

    property: str
    what: str
    """The same for all cases that have the same cause, as far as can be told."""
    detail: str = ""


def problems(arguments: tuple[str, ...], outcome: Outcome, files: Set[str]) -> Iterator[Problem]:
    """What is wrong with the outcome of a command; `files` are those that it was given."""
    if outcome.raised is not None:
        yield Problem("no traceback", outcome.raised, outcome.trace)
        return
    if refusal(outcome) == "memory-full":
        yield Problem("memory is enough", arguments[0], outcome.err)
    if outcome.code not in EXIT_CODES:
        yield Problem("documented exit codes", f"exit {outcome.code}", outcome.err)
    if outcome.code and not (arguments[0] == "validate" and outcome.out):
        yield from _message(outcome, files)
    if "Warning: " in outcome.err or "Traceback" in outcome.err:
        yield Problem("no traceback", "Python's own warning", outcome.err)
    for line in outcome.err.split("\n"):
        if LINE.match(line) and not line.startswith("error: ") and not CODE.search(line):
            yield Problem("messages have a code", line[:40], outcome.err)
    if "json" in arguments and arguments[0] in ("score", "compare", "validate", "describe", "lab"):
        yield from _json(arguments, outcome)


def _message(outcome: Outcome, files: Set[str]) -> Iterator[Problem]:
    """A refusal has one error, with a code, and with a file if it is about files."""
    _, found, message = outcome.err.rpartition("error: ") if outcome.err.startswith("error: ") else ("", "", "")
    if not found:
        _, found, message = ("\n" + outcome.err).partition("\nerror: ")
    if not found:
        yield Problem("refusals have a message", outcome.err[-60:], outcome.err)
        return
    codes = CODE.findall(message)
    if not codes:
        yield Problem("messages have a code", re.sub(r"['\"].*['\"]|[^\x20-\x7e]", "_", message)[:60], outcome.err)
    elif outcome.code == 1 and codes[0] not in PLACELESS and not _names_any(message, files):
        yield Problem("messages have a place", codes[0], outcome.err)


def _names_any(message: str, files: Set[str]) -> bool:
    """Whether a message names one of these files, in any of the ways to print what cannot be printed."""
    return any(spelled in message for name in files for spelled in _spellings(name.removeprefix("@")[:40]))


def _spellings(name: str) -> Iterator[str]:
    """A name as it may be printed. One that consists of blanks is found only in quotes, as it could be anywhere."""
    if not name.strip():
        yield repr(name)
        return
    for text in {name, os.fsencode(name).decode("utf-8", "replace")}:
        yield "".join(one if one.isprintable() or category(one) == "Zs" else f"\\u{ord(one):04x}" for one in text)
        yield from (repr(text)[1:-1], ascii(text)[1:-1])
        yield from (text.encode("utf-8", how).decode() for how in ESCAPES)


def codes(arguments: tuple[str, ...], outcome: Outcome) -> Counter[str]:
    """The codes of all messages of a command."""
    out = outcome.out.decode("utf-8", "replace")
    found = Counter(CODE.findall(outcome.err))
    if arguments[0] in REPORTING:
        found.update(CODE.findall(out))
        found.update(re.findall(r'"code": "([a-z0-9+-]+)"', out))
    return found


def refusal(outcome: Outcome) -> str | None:
    """The code of the error that ended a command."""
    _, _, message = ("\n" + outcome.err).partition("\nerror: ")
    return next(iter(CODE.findall(message)), None)


def _json(arguments: tuple[str, ...], outcome: Outcome) -> Iterator[Problem]:
    if "-o" in arguments or outcome.code == 2 or not (outcome.code == 0 or arguments[0] == "validate"):
        return
    try:
        content = parsed(outcome.out)
    except ValueError as error:
        if outcome.out or outcome.code == 0:
            yield Problem("valid JSON", type(error).__name__, f"{error}\n{outcome.out[:2000]!r}")
        return
    if arguments[0] == "validate":
        yield from _findings(content)


def _findings(content: Mapping[str, Any]) -> Iterator[Problem]:
    """Every finding has a file, and a line that the file has."""
    for file in content["files"]:
        for finding in file["findings"]:
            if not finding["file"] and not finding["message"].startswith("and "):
                yield Problem("findings have a file", finding["code"], str(finding))
            line, path = finding["line"], Path(finding["file"] or "")
            if line is None or path.suffix == ".gz" or not path.is_file():
                continue
            if not 1 <= line <= path.read_bytes().replace(b"\r", b"\n").count(b"\n") + 1:
                yield Problem("lines exist", finding["code"], str(finding))


def parsed(data: bytes) -> Any:
    """JSON as the standard defines it: without NaN, infinities and keys given twice."""

    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"{constant} is not JSON")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a key is given twice")
        return dict(pairs)

    return json.loads(data, parse_constant=refuse, object_pairs_hook=unique)


def comparable(outcome: Outcome) -> Any:
    """Scores without what depends on the order of files by design: names of files, and lines of warnings."""

    def one(content: dict[str, Any]) -> dict[str, Any]:
        warnings = Counter((warning["severity"], warning["code"]) for warning in content.pop("warnings", ()))
        return {**content, "warnings": warnings}

    content = parsed(outcome.out)
    if "protocols" in content:
        return {name: one(result) for name, result in content["protocols"].items()}
    return one(content)
