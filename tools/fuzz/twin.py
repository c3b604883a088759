"""A second warm process with another hash seed: it runs a command again in the folder of the first.

Starting Python and importing karat takes a hundred times as long as most commands do. So one process runs thousands
of them, and is started anew with the next hash seed after that.
"""

import os
import pickle
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import mkdtemp

from fuzz.cases import Arguments
from fuzz.execution import BYTES, execute, limit_time


class Twin:
    """The process as seen from the one that compares."""

    def __init__(self, hash_seed: int) -> None:
        self.hash_seed = hash_seed
        self._scratch = Path(mkdtemp(prefix="karat-twin-"))
        paths = os.pathsep.join(sys.path)  # absolute: the working folder is another one by now
        environment = {
            **os.environ,
            "PYTHONPATH": paths,
            "PYTHONHASHSEED": str(hash_seed),
            "TMPDIR": str(self._scratch),
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "fuzz.twin"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )

    def execute(self, arguments: Arguments) -> tuple[int | None, bytes]:
        """The exit code and standard output of a command; None if it raised something."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        pickle.dump(arguments, self._process.stdin)
        self._process.stdin.flush()
        code, out = pickle.load(self._process.stdout)
        return code, out

    def close(self) -> list[str]:
        """End the process; the names of temporary files that it leaves."""
        with self._process:  # closes the pipes, and waits
            pass
        left = [path for path in self._scratch.rglob("*") if path.is_file()]
        for path in left:
            path.unlink()
        for folder in sorted((path for path in self._scratch.rglob("*")), reverse=True):
            folder.rmdir()
        self._scratch.rmdir()
        return [path.name for path in left]


def main() -> None:
    """Execute what standard input asks for."""
    limit_time()
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            arguments = pickle.load(requests)
        except EOFError:
            return
        outcome = execute(arguments)
        pickle.dump((outcome.code, outcome.out), answers)
        answers.flush()


if __name__ == "__main__":
    main()
