"""Processes that are really started: the same output, and a clean end, however a run is stopped."""

import gzip
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.problems import KaratError
from karat.run.executors import Processes
from karat.run.processes import LOST, Done, in_order

DEMO = Path(karat.__file__).parent / "demo"
GOLD, SYSTEM = str(DEMO / "gold.jsonl"), str(DEMO / "eager.jsonl")

INTERVALS = ("--ci", "95", "--resamples", "50")

linux = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks for processes in /proc")


def karat_command(*args: str, **options: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "karat", *args]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | options)


@pytest.mark.slow
@pytest.mark.parametrize(
    "args",
    [
        ("score", GOLD, SYSTEM, "-p", "tac-2017", "-p", "simple-cdec", "--by", "type", *INTERVALS, "-f", "json"),
        ("validate", GOLD, SYSTEM, "--against", GOLD, "-f", "json"),
    ],
    ids=lambda args: args[0],
)
def test_the_same_bytes_for_any_number_of_processes(args: tuple[str, ...]) -> None:
    """On both streams, also for another hash seed in each process."""
    one, three = (karat_command(*args, "--jobs", jobs, PYTHONHASHSEED=jobs) for jobs in ("1", "3"))
    assert (one.returncode, one.stdout, one.stderr) == (three.returncode, three.stdout, three.stderr)


# The end of a run


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nuggets that take some seconds to score, compressed, so that there is a temporary copy."""
    path = tmp_path_factory.mktemp("large") / "nuggets.tbf.gz"
    mentions = "".join(f"s\tDOC\tE{n}\t{9 * n},{9 * n + 4}\tword\tLife_Die\tActual\n" for n in range(60))
    block = f"#BeginOfDocument DOC\n{mentions}#EndOfDocument\n"
    with gzip.open(path, "wt", compresslevel=1) as stream:
        for number in range(4000):
            stream.write(block.replace("DOC", f"doc{number:05}"))
    return path


def children(process: int) -> list[int]:
    """The processes that a process has started, and those that they have."""
    try:
        started = [int(number) for number in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []
    return [*started, *(other for child in started for other in children(child))]


def are_workers(processes: list[int]) -> Iterator[int]:
    for process in processes:
        try:
            if b"spawn_main" in Path(f"/proc/{process}/cmdline").read_bytes():
                yield process
        except OSError:
            pass


def is_alive(process: int) -> bool:
    """True if a process runs; one that ended and was not waited for by whoever adopted it does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def ticks(process: int) -> int:
    """How long a process has run, in hundredths of a second."""
    try:
        return sum(map(int, Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]))
    except OSError:
        return 0


def stopped(
    large: Path, folder: Path, number: signal.Signals, *, after: int = 0
) -> tuple["subprocess.Popen[str]", str, list[int]]:
    """A run that two workers share, after it received a signal, as from a terminal; with those workers.

    The signal comes when both have started, and have run for so many hundredths of a second.
    """
    command = [sys.executable, "-m", "karat", "score", str(large), str(large), "--jobs", "2", "-o", str(folder / "out")]
    run = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ | {"TMPDIR": str(folder)},
    )
    workers: list[int] = []
    while run.poll() is None and (len(workers) < 2 or min(map(ticks, workers)) < after):
        time.sleep(0.01)
        workers = [*are_workers(children(run.pid))]
    assert len(workers) == 2, "it ended before it was stopped"
    assert [entry.name for entry in folder.iterdir() if entry.name.startswith("karat-")]
    if number == signal.SIGINT:
        os.killpg(run.pid, number)  # Ctrl-C reaches all processes of a terminal
    else:
        os.kill(run.pid, number)
    _, err = run.communicate()
    return run, err, workers


@linux
@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "after", "code", "message"),
    [
        (signal.SIGINT, 0, 1, "\nerror: stopped\n"),
        (signal.SIGTERM, 60, -15, ""),
    ],
    ids=["SIGINT", "later SIGTERM"],
)
def test_a_stopped_run_leaves_nothing(
    large: Path, tmp_path: Path, number: signal.Signals, after: int, code: int, message: str
) -> None:
    """No process, no file, no traceback; while workers start, and in the middle of their work."""
    run, err, workers = stopped(large, tmp_path, number, after=after)
    assert run.returncode == code
    assert err.replace("protocol: tac-2017 (GOLD is tbf; choose with -p)\n", "") == message
    assert not [process for process in workers if is_alive(process)]
    assert not [*tmp_path.iterdir()]


@linux
@pytest.mark.slow
def test_workers_of_a_killed_run_end_by_themselves(large: Path, tmp_path: Path) -> None:
    _, _, workers = stopped(large, tmp_path, signal.SIGKILL)
    for _ in range(1000):
        if not any(map(is_alive, workers)):
            break
        time.sleep(0.01)
    assert not [process for process in workers if is_alive(process)]


@linux
@pytest.mark.slow
def test_a_worker_killed_at_any_moment_is_one_error(large: Path, tmp_path: Path) -> None:
    """Or comes too late to matter; no process and no file is left."""
    for after in (0, 5, 10, 15, 20, 30, 40, 60, 80, 110):
        arguments = ("score", str(large), str(large), "-p", "tac-2017", "-m", "nugget", "--jobs", "2")
        run = subprocess.Popen(
            [sys.executable, "-m", "karat", *arguments, "-o", str(tmp_path / "out")],
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"TMPDIR": str(tmp_path)},
        )
        workers: list[int] = []
        while run.poll() is None and (len(workers) < 2 or ticks(workers[0]) < after):
            time.sleep(0.01)
            workers = [*are_workers(children(run.pid))]
        if run.poll() is None:
            os.kill(workers[0], signal.SIGKILL)
        _, err = run.communicate()
        assert (run.returncode, "[worker-lost]" in err, err.count("\n")) in ((1, True, 2), (0, False, 0)), (after, err)
        assert not [process for process in workers if is_alive(process)]
        assert [path.name for path in tmp_path.iterdir()] == ["out"] * (run.returncode == 0)
        (tmp_path / "out").unlink(missing_ok=True)


def _die(shared: object, task: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _die_while_sending(shared: object, task: int) -> bytes:
    if task == 5:

        def send(connection: Connection, data: bytes) -> None:
            os.write(connection.fileno(), len(data).to_bytes(4, "big") + data[: len(data) // 2])
            os.kill(os.getpid(), signal.SIGKILL)

        Connection.send_bytes = send  # type: ignore[method-assign, assignment]
    return bytes(200_000)


@pytest.mark.slow
@pytest.mark.parametrize("function", [_die, _die_while_sending])
def test_a_worker_that_is_killed_is_reported(function: Callable[[object, int], object]) -> None:
    """As by a system that is out of memory, also with half a result sent: an error, not a run that never ends."""
    with pytest.raises(KaratError) as error, Processes(2) as processes:
        list(processes.map(function, None, range(20)))
    assert error.value.finding.code == LOST.code


def test_tasks_start_before_results_are_asked_for() -> None:
    """So that a process can do something else in the meantime; no more than `ahead` are under way."""
    submitted: list[int] = []

    class Ready:
        def __init__(self, task: int) -> None:
            self.task = task

        def result(self) -> Done[int]:
            return Done(-self.task, [])

    def submit(task: int) -> Ready:
        submitted.append(task)
        return Ready(task)

    results = in_order(submit, range(5), ahead=2)
    assert submitted == [0, 1]
    assert next(results) == 0
    assert submitted == [0, 1, 2]
    assert [*results] == [-1, -2, -3, -4]


@pytest.mark.slow
def test_the_python_interface_uses_processes() -> None:
    options: dict[str, Any] = {"protocol": "tac-2017", "by": "type"}
    one, two = (karat.score(GOLD, SYSTEM, **options, jobs=jobs) for jobs in (1, 2))
    assert one.to_dict() == two.to_dict()
