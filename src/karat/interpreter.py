"""Settings of the interpreter that suit a program, and are not for a library to change."""

import atexit
import gc
import os


def prepare_interpreter() -> None:
    """Prepare a process that does nothing but run karat."""
    # Python looks for cycles after every 700 new objects. A corpus has many more, and no cycles: comparing two systems
    # takes 1.4 times less CPU time if Python looks less often, and no more memory.
    gc.set_threshold(50_000, 10, 10)
    # At its end, Python looks for cycles among everything that is left: a sixth of the time of a short command. It does
    # not look at what is frozen.
    atexit.register(gc.freeze)
    # Work is divided among processes. Threads of linear algebra would compete with them for cores, and take CPU time
    # while they wait for each other: on busy cores, 50 times as much as the products of resampling need.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
