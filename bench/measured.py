"""Scores two files several times, in a process of its own, and prints CPU times and the peak of memory as JSON.

    python bench/measured.py GOLD SYSTEM PROTOCOL MEASURES ROUNDS [BARE]

MEASURES are joined by commas. With BARE (`split`, `json.loads`, `lxml`), a bare read of the files takes turns with
scoring. This is also run with other versions of karat, so it uses nothing but `karat.score`.
"""

import json
import resource
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bare import read_bare


def main() -> None:
    """Score once to warm up, which shows the peak, and then in turns with the bare read."""
    gold, system, protocol, measures, rounds, *bare = sys.argv[1:]
    files = Path(gold), Path(system)

    import karat

    def score() -> None:
        karat.score(gold, system, protocol=protocol, measures=[name for name in measures.split(",") if name])

    first, peak = _seconds(score), _megabytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    scored: list[float] = []
    read: list[float] = []
    for _ in range(int(rounds)):
        if bare:
            read.append(_seconds(partial(read_bare, bare[0], *files)))
        scored.append(_seconds(score))
    print(json.dumps({"first": first, "scored": scored, "read": read, "peak": peak, "source": karat.__file__}))


def _seconds(task: Callable[[], object]) -> float:
    """CPU time, which other processes disturb less than they disturb the clock."""
    start = time.process_time()
    task()
    return time.process_time() - start


def _megabytes(peak: int) -> float:
    """A peak as `getrusage` reports it, in kilobytes (on macOS, in bytes)."""
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6


if __name__ == "__main__":
    main()
