"""Runs one command in this process and checks what must hold after it, whatever it was given."""

import faulthandler
import io
import json
import os
import re
import resource
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, NoReturn
from unicodedata import category

from karat.cli import main

SECONDS = 10
"""CPU time of one command."""
PATIENCE = 300
"""Seconds by the clock after which a command that does not end even then kills its process."""
MEMORY = 3_000_000_000
"""Address space of a process that runs commands."""
CODE = re.compile(r" \[([a-z][a-z0-9+-]*)\](?=$|\n| \()", re.MULTILINE)
MESSAGE = re.compile(r"^(fatal|fault|note|error): ", re.MULTILINE)
PLACELESS = frozenset(("measure-absent", "field-absent", "convert-loss", "simulation-invalid"))
"""Codes of refusals that are about a whole run and not about a file, beside those that end in `-unwritable`."""

Arguments = tuple[str, ...]


class TimeLimit(BaseException):
    """A command took too long. Not an Exception, so that no handler takes it for something else."""


class Outcome(NamedTuple):
    """Exit code and output of a command."""

    code: int | None
    """None: it ended with an exception that nobody handles."""
    out: bytes
    err: str
    raised: str = ""
    """The exception and the function of karat that it came from."""
    trace: str = ""


class Problem(NamedTuple):
    """A property that does not hold."""

    property: str
    what: str
    """A key that cases with one cause share, as far as can be told."""
    detail: str = ""


def limit() -> None:
    """Limit the memory of this process, and the CPU time of its commands."""

    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise TimeLimit

    signal.signal(signal.SIGPROF, stop)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def execute(arguments: Arguments) -> Outcome:
    """Run `karat ARGUMENTS`; in a process without `limit`, a command that takes too long ends the process."""
    out, err = io.BytesIO(), io.BytesIO()
    before = sys.argv, sys.stdin, sys.stdout, sys.stderr
    sys.argv, sys.stdin = ["karat", *arguments], io.TextIOWrapper(io.BytesIO(), "utf-8")
    sys.stdout, sys.stderr = streams = io.TextIOWrapper(out, "utf-8"), io.TextIOWrapper(err, "utf-8")
    raised, trace, code = "", "", None
    try:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        faulthandler.dump_traceback_later(PATIENCE, exit=True, file=before[3])
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raised, trace = _origin(error), traceback.format_exc(limit=-12)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.cancel_dump_traceback_later()
        sys.argv, sys.stdin, sys.stdout, sys.stderr = before
    for stream in streams:
        stream.flush()
    return Outcome(code, out.getvalue(), err.getvalue().decode("utf-8", "replace"), raised, trace)


def _origin(error: BaseException) -> str:
    """Describe a failure by its type and the innermost function of karat."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/karat/" in frame.filename]
    where = f" in {frames[-1].filename.rpartition('/karat/')[2]}, {frames[-1].name}" if frames else ""
    return f"{type(error).__name__}{where}"


def problems(arguments: Arguments, outcome: Outcome, names: Set[str]) -> Iterator[Problem]:
    """Yield what is wrong with the outcome of a command; `names` are the files that it was given."""
    if outcome.raised:
        yield Problem("no traceback", outcome.raised, outcome.trace)
        return
    if refusal(outcome) == "memory-full":
        yield Problem("memory is enough", arguments[0], outcome.err)
    if outcome.code not in (0, 1, 2):
        yield Problem("documented exit codes", f"exit {outcome.code}", outcome.err)
    if outcome.code and not (arguments[0] == "validate" and outcome.out):
        yield from _message(outcome, names)
    if "Warning: " in outcome.err or "Traceback" in outcome.err:
        yield Problem("no traceback", "Python's own warning", outcome.err)
    for line in outcome.err.split("\n"):
        if MESSAGE.match(line) and not line.startswith("error: ") and not CODE.search(line):
            yield Problem("messages have a code", line[:40], outcome.err)
    is_reported = outcome.code == 0 or (arguments[0] == "validate" and outcome.out)
    if "json" in arguments and "-o" not in arguments and is_reported:
        yield from _json(arguments, outcome)


def refusal(outcome: Outcome) -> str | None:
    """Return the code of the error that ended a command."""
    return next(iter(CODE.findall(("\n" + outcome.err).partition("\nerror: ")[2])), None)


def _message(outcome: Outcome, names: Set[str]) -> Iterator[Problem]:
    """A refusal has one error, with a code, and with a file if it is about files."""
    message, code = ("\n" + outcome.err).partition("\nerror: ")[2], refusal(outcome)
    is_named = any(spelling in message for name in names for spelling in _spellings(name.removeprefix("@")[:40]))
    if not message:
        yield Problem("refusals have a message", outcome.err[-60:], outcome.err)
    elif code is None:
        yield Problem("messages have a code", re.sub(r"['\"].*['\"]|[^\x20-\x7e]", "_", message)[:60], outcome.err)
    elif outcome.code == 1 and not is_named and code not in PLACELESS and not code.endswith("-unwritable"):
        yield Problem("messages have a place", code, outcome.err)


def _spellings(name: str) -> Iterator[str]:
    """Yield a name as it may be printed. One that consists of blanks is found only in quotes: it could be anywhere."""
    if not name.strip():
        yield repr(name)
        return
    for text in {name, os.fsencode(name).decode("utf-8", "replace")}:
        yield "".join(c if c.isprintable() or category(c) == "Zs" else f"\\u{ord(c):04x}" for c in text)
        yield from (repr(text)[1:-1], ascii(text)[1:-1])
        yield from (text.encode("utf-8", how).decode() for how in ("replace", "backslashreplace"))


def _json(arguments: Arguments, outcome: Outcome) -> Iterator[Problem]:
    try:
        content = _parsed(outcome.out)
    except ValueError as error:
        yield Problem("valid JSON", type(error).__name__, f"{error}\n{outcome.out[:2000]!r}")
        return
    if arguments[0] == "validate":
        yield from _findings(content)


def _findings(content: Mapping[str, Any]) -> Iterator[Problem]:
    """Every finding has a file, and a line that the file has."""
    for finding in (finding for file in content["files"] for finding in file["findings"]):
        if not finding["file"] and not finding["message"].startswith("and "):
            yield Problem("findings have a file", finding["code"], str(finding))
        line, path = finding["line"], Path(finding["file"] or "")
        if line is None or path.suffix == ".gz" or not path.is_file():
            continue
        if not 1 <= line <= path.read_bytes().replace(b"\r", b"\n").count(b"\n") + 1:
            yield Problem("lines exist", finding["code"], str(finding))


def _parsed(data: bytes) -> Any:
    """Parse JSON as the standard defines it: without NaN, infinities and repeated keys."""

    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"{constant} is not JSON")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("repeated key")
        return dict(pairs)

    return json.loads(data, parse_constant=refuse, object_pairs_hook=unique)


class Workspace:
    """The current folder of all commands, filled anew for each case, and a folder for temporary files beside it."""

    def __init__(self, folder: Path) -> None:
        self._work, self._scratch = folder / "work", folder / "tmp"
        for path in (self._work, self._scratch):
            path.mkdir(parents=True, exist_ok=True)
        self._files: dict[str, bytes] = {}
        tempfile.tempdir = str(self._scratch)
        os.chdir(self._work)

    def fill(self, files: dict[str, bytes]) -> None:
        """Put these files there, and remove all others."""
        for path in sorted(self._work.rglob("*"), reverse=True):
            if path.is_dir() and not path.is_symlink():
                path.rmdir()
            else:
                path.unlink()
        self._files = {str(Path(name)): data for name, data in files.items()}
        for name, data in self._files.items():
            (self._work / name).parent.mkdir(parents=True, exist_ok=True)
            (self._work / name).write_bytes(data)

    def checked(self, arguments: Arguments) -> tuple[Outcome, list[Problem]]:
        """Run a command on these files, and remove what it wrote."""
        outcome = execute(arguments)
        words = {*arguments, *(word.partition("=")[2].removeprefix("+") for word in arguments if "=" in word)}
        listed = self._files.get("gold.list", b"").decode(errors="replace").split("\n")
        names = words | {*self._files} | {name.strip() for name in listed if name.strip()}
        names |= {Path(name).name for name in names if name}
        return outcome, [*problems(arguments, outcome, names), *self._side_effects(arguments, outcome)]

    def _side_effects(self, arguments: Arguments, outcome: Outcome) -> Iterator[Problem]:
        """Yield files that nobody asked for, and inputs that are not as they were."""
        asked_for = {"out", *arguments[2:3]} if arguments[0] == "convert" else {"out", "out.jsonl"}
        wanted = {str(Path(name)) for name in asked_for if name}
        after = {str(path.relative_to(self._work)): path for path in self._work.rglob("*")}
        folders = {str(parent) for name in self._files for parent in Path(name).parents}
        new = sorted(after.keys() - self._files.keys() - folders)
        unwanted = [name for name in new if not any(name == path or name.startswith(f"{path}/") for path in wanted)]
        # Copies of streams may stay in `karat-*` until the process ends.
        stray = [path for path in self._scratch.iterdir() if not path.name.startswith(("karat-", ".karat-"))]
        changed = [
            name
            for name, data in self._files.items()
            if name not in wanted and not (name in after and after[name].read_bytes() == data)
        ]
        if changed:
            yield Problem("inputs stay as they are", arguments[0], str(changed))
        if stray or unwanted:
            yield Problem("no file left behind", f"{arguments[0]}, exit {outcome.code}", str([*stray, *unwanted]))
        elif new and outcome.code and arguments[0] != "validate":
            yield Problem("no file left behind", f"{arguments[0]}: output after a refusal", str(new))
        for path in stray:
            path.unlink()
        if new or changed or wanted & self._files.keys():
            self.fill(self._files)
