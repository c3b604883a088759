"""Runs karat as a person does: arguments in, exit code and the two streams out."""

import gc
import os
import shutil
import subprocess
import sys
import traceback
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from click.testing import CliRunner

from karat.cli import main

LIMITED = """
import sys
if sys.platform == "linux":
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]) * 10**6,) * 2)
from karat.cli import main
sys.argv[:] = ["karat", *sys.argv[2:]]
main()
"""


class Run(NamedTuple):
    """The output of a command."""

    code: int
    out: str
    err: str


def run(*args: str, stdin: bytes = b"") -> Run:
    """In this process. Whatever `main` lets through is raised here, so a traceback can never pass for a refusal."""
    with patch.object(sys, "argv", ["karat", *args]), CliRunner().isolation(input=stdin) as (out, err, _):
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        except Exception as error:
            traceback.clear_frames(error.__traceback__)  # what it holds open is let go here, not at some later time
            gc.collect()
            raise
        sys.stdout.flush()
        sys.stderr.flush()
        return Run(code, out.getvalue().decode(), err.getvalue().decode())


def limited(*args: str, megabytes: int = 800) -> Run:
    """Run karat in a child process whose memory is limited, where the system can limit it.

    The limit is several times what any caller needs, and far too little for an entity that expands to gigabytes.
    """
    done = subprocess.run([sys.executable, "-c", LIMITED, str(megabytes), *args], capture_output=True, encoding="utf-8")
    return Run(done.returncode, done.stdout, done.stderr)


def command(*args: str | bytes, stdin: bytes = b"", inherit: tuple[int, ...] = (), **environment: str) -> Run:
    """In a process of its own, through the installed program; `inherit`: file descriptors it gets too."""
    program = shutil.which("karat", path=str(Path(sys.executable).parent))
    assert program is not None, "karat is not installed beside this Python"
    done = subprocess.run(
        [program, *args], input=stdin, capture_output=True, pass_fds=inherit, env={**os.environ, **environment}
    )
    return Run(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))
