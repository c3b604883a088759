"""Runs one command in this process: arguments in; exit code, both streams and any stray exception out."""

import io
import signal
import sys
import time
import traceback
from types import FrameType
from typing import NamedTuple

from karat.cli import main

SECONDS = 10
"""Most CPU time of one command."""
BYTES = 3_000_000_000
"""Most address space of a process that runs commands."""


class TimeLimit(BaseException):
    """A command took too long. Not an Exception, so that no handler takes it for something else."""


class Outcome(NamedTuple):
    """What a command left behind."""

    code: int | None
    """None: it ended with an exception that nobody handles."""
    out: bytes
    err: str
    seconds: float
    raised: str | None = None
    """The exception and the function of karat that it came from."""
    trace: str = ""


def execute(arguments: tuple[str, ...]) -> Outcome:
    """Run `karat ARGUMENTS` under a limit of CPU time."""
    out, err = io.BytesIO(), io.BytesIO()
    before = sys.argv, sys.stdin, sys.stdout, sys.stderr
    sys.argv, sys.stdin = ["karat", *arguments], io.TextIOWrapper(io.BytesIO(), "utf-8")
    sys.stdout, sys.stderr = streams = io.TextIOWrapper(out, "utf-8"), io.TextIOWrapper(err, "utf-8")
    raised, trace, code = None, "", None
    started = time.process_time()
    try:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raised, trace = _described(error), traceback.format_exc(limit=-12)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.argv, sys.stdin, sys.stdout, sys.stderr = before
    seconds = time.process_time() - started
    for stream in streams:
        stream.flush()
    return Outcome(code, out.getvalue(), err.getvalue().decode("utf-8", "replace"), seconds, raised, trace)


def _described(error: BaseException) -> str:
    """What distinguishes this failure from others: the type, and the innermost function of karat."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/karat/" in frame.filename]
    if not frames:
        return type(error).__name__
    return f"{type(error).__name__} in {frames[-1].filename.rpartition('/karat/')[2]}, {frames[-1].name}"


def limit_time() -> None:
    """Let the timer of a command raise TimeLimit."""

    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise TimeLimit

    signal.signal(signal.SIGPROF, stop)
