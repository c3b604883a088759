"""`--cluster` on a real Dask cluster: a scheduler and workers that are processes of their own, on this machine."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

import karat
from karat.problems import install_hint
from karat.run import cluster
from tests.running import run

DEMO = Path(karat.__file__).parent / "demo"
GOLD, SYSTEM = str(DEMO / "gold.jsonl"), str(DEMO / "eager.jsonl")


class Dask:
    """A scheduler and its workers."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "scheduler.json"
        self._folder = folder
        options = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show")
        self._processes = [self._start("scheduler", *options, "--scheduler-file", str(self.file))]
        while not self.file.exists() and self._processes[0].poll() is None:
            time.sleep(0.05)
        self.address = str(json.loads(self.file.read_bytes())["address"])

    def start_worker(self, *more: str, **environment: str) -> None:
        options = (*more, "--nthreads", "1", "--no-dashboard", "--no-nanny", "--local-directory", str(self._folder))
        self._processes.append(self._start("worker", self.address, *options, **environment))

    def _start(self, *args: str, **environment: str) -> "subprocess.Popen[bytes]":
        log = open(self._folder / f"{args[0]}.log", "ab")
        command, variables = [sys.executable, "-m", "dask", *args], os.environ | environment
        with log:
            return subprocess.Popen(command, stdout=log, stderr=log, cwd=self._folder, env=variables)

    def wait_until_busy(self) -> None:
        """Wait until a worker has work."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            while not any(client.processing().values()):
                time.sleep(0.01)

    def stop(self, first: int = 0) -> None:
        """Kill the processes, but the first ones; the scheduler is the first of all."""
        for process in self._processes[first:]:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dask]:
    pytest.importorskip("distributed", reason="needs the extra karat[dask]")
    started = Dask(tmp_path_factory.mktemp("dask"))
    try:
        for _ in range(2):
            started.start_worker()
        yield started
    finally:
        started.stop()


def large(folder: Path) -> tuple[str, str]:
    """Gold and a system with clusters across documents; the two take a second or two to score."""
    random = Random(17)
    paths = folder / "gold.jsonl", folder / "system.jsonl"
    with open(paths[0], "w") as gold, open(paths[1], "w") as system:
        for number in range(600):
            for stream, clusters in ((gold, 900), (system, 700)):
                mentions = [
                    {
                        "id": f"m{n}",
                        "span": [[9 * n, 9 * n + 5]],
                        "cluster": f"c{random.randrange(clusters)}",
                        "attributes": {"type": random.choice(["Life.Die", "Conflict.Attack"]), "realis": "Actual"},
                    }
                    for n in range(25)
                ]
                stream.write(json.dumps({"id": f"d{number:05}", "mentions": mentions}) + "\n")
    return str(paths[0]), str(paths[1])


@pytest.mark.slow
@pytest.mark.parametrize(
    "args",
    [
        ("score", "gold.jsonl", "eager.jsonl", "-p", "tac-2017", "-p", "simple-cdec", "--by", "type", "-f", "json"),
        ("compare", GOLD, SYSTEM, "literal.jsonl", "-p", "tac-2017", "-m", "nugget", "--resamples", "50", "-f", "json"),
        ("score", f"file://{GOLD}", f"file://{DEMO}/eager.jsonl", "-p", "tac-2017", "--per-document"),
        ("validate", SYSTEM, "--against", GOLD),
    ],
    ids=["relative", "compare", "url", "validate"],
)
def test_a_cluster_gives_the_same_bytes(dask: Dask, monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...]) -> None:
    """Paths that are relative to the folder of the user, too: workers run in another one."""
    monkeypatch.chdir(DEMO)
    alone, together = run(*args, "--jobs", "1"), run(*args, "--cluster", dask.address)
    assert alone == together
    assert alone.out


@pytest.mark.slow
def test_the_result_does_not_change_when_a_worker_is_killed(dask: Dask, tmp_path: Path) -> None:
    """In the middle of its work, with results that nobody has fetched yet: Dask does both again."""
    from distributed import Client

    gold, system = large(tmp_path)
    args = ("score", gold, system, "-p", "tac-2017", "-p", "simple-cdec", "-f", "json", "--per-unit")
    alone = run(*args, "--jobs", "1")
    with Client(dask.address, set_as_default=False) as client:
        client.wait_for_workers(2)
        processes: dict[str, int] = client.run(os.getpid)
        address, victim = next(iter(processes.items()))
        command = [sys.executable, "-m", "karat", *args, "--cluster", str(dask.file)]
        together = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while together.poll() is None and not client.processing([address])[address]:
            time.sleep(0.01)
        assert together.poll() is None, "it ended before a worker was killed"
        os.kill(victim, signal.SIGKILL)
        out, err = together.communicate()
        assert address not in client.nthreads()
    dask.start_worker()
    assert (together.returncode, out, err) == (alone.code, alone.out, alone.err)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "message"),
    [(0, "the scheduler of the cluster is gone"), (1, "all workers of the cluster are gone")],
)
def test_a_cluster_that_is_lost_is_one_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: int, message: str
) -> None:
    """Killed while it works: all of it, or all workers."""
    pytest.importorskip("distributed", reason="needs the extra karat[dask]")
    monkeypatch.setattr(cluster, "PATIENCE", 5)
    lost = Dask(tmp_path)
    try:
        for _ in range(2):
            lost.start_worker()

        def kill() -> None:
            lost.wait_until_busy()
            lost.stop(first)

        threading.Thread(target=kill, daemon=True).start()
        done = run("score", *large(tmp_path), "-p", "tac-2017", "--cluster", lost.address)
    finally:
        lost.stop()
    assert (done.code, done.out) == (1, "")
    first_line, _hint = done.err.splitlines()
    assert first_line == f"error: {message} [cluster-lost]"


@pytest.mark.slow
def test_workers_without_memory_are_one_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dask does not give work to a worker that is near its limit."""
    pytest.importorskip("distributed", reason="needs the extra karat[dask]")
    monkeypatch.setattr(cluster, "PATIENCE", 5)
    full = Dask(tmp_path)
    try:
        full.start_worker("--memory-limit", "50MB")
        done = run("score", *large(tmp_path), "-p", "tac-2017", "--cluster", full.address)
    finally:
        full.stop()
    assert done.code == 1
    assert done.err.startswith("error: all workers of the cluster have paused: they have too little memory [cluster-lo")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "words"),
    [("raise ImportError", "cannot import karat"), ("__version__ = '0.0.9'", "has karat 0.0.9")],
)
def test_workers_with_another_karat_get_no_work(tmp_path: Path, package: str, words: str) -> None:
    pytest.importorskip("distributed", reason="needs the extra karat[dask]")
    (tmp_path / "other" / "karat").mkdir(parents=True)
    (tmp_path / "other" / "karat" / "__init__.py").write_text(package)
    unlike = Dask(tmp_path)
    try:
        unlike.start_worker(PYTHONPATH=str(tmp_path / "other"))
        done = run("score", GOLD, SYSTEM, "--cluster", unlike.address)
    finally:
        unlike.stop()
    assert done.code == 1
    assert f"{words}; this is karat {karat.__version__} [cluster-unlike]" in done.err


@pytest.mark.slow
def test_an_error_is_that_of_one_process(dask: Dask, tmp_path: Path) -> None:
    lines = Path(GOLD).read_text().splitlines(keepends=True)
    broken = tmp_path / "broken.jsonl"
    broken.write_text("".join([*lines[:7], '{"id": "x", "mentions": [{"id": "m", "span": [[4, 2]]}]}\n', *lines[8:]]))
    alone, together = (
        run("score", str(broken), GOLD, *more) for more in (("--jobs", "1"), ("--cluster", dask.address))
    )
    assert alone == together
    assert alone.code == 1
    assert "line 8" in alone.err


@pytest.mark.slow
def test_files_that_workers_do_not_have_are_reported(dask: Dask, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here, since the workers are in another folder and do not know which one the user is in."""
    monkeypatch.chdir(DEMO)
    with monkeypatch.context() as patch:  # until the run ends: other programs ask for the folder, too
        patch.setattr("karat.run.cluster.Path.cwd", lambda: Path("/nowhere"))
        done = run("score", "gold.jsonl", "eager.jsonl", "-p", "tac-2017", "--cluster", dask.address)
    assert done.code == 1
    assert "[worker-unable]" in done.err
    assert "gold.jsonl" in done.err


# What cannot work


@pytest.mark.parametrize(
    "address", ["tcp://127.0.0.1:1", "nonsense", "missing.json", "tls://127.0.0.1:1", "tcp://x:99999", "udp://a"]
)
def test_an_address_without_a_scheduler_is_refused(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    pytest.importorskip("distributed", reason="needs the extra karat[dask]")
    monkeypatch.setattr(cluster, "TIMEOUT", 0.2)
    done = run("score", GOLD, SYSTEM, "--cluster", address)
    assert (done.code, done.out) == (1, "")
    assert f"there is no Dask scheduler at {address}" in done.err
    assert "[cluster-unreachable]" in done.err


def silent(connection: socket.socket) -> None:
    """Accept connections, and nothing else."""
    while connection.recv(1 << 16):
        pass


def http(connection: socket.socket) -> None:
    """A web server, such as Dask's dashboard."""
    if connection.recv(1 << 16).startswith(b"GET "):
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    else:
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


def ssh(connection: socket.socket) -> None:
    connection.sendall(b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n")
    silent(connection)


def zeros(connection: socket.socket) -> None:
    connection.sendall(bytes(64))
    silent(connection)


def closing(connection: socket.socket) -> None:
    connection.close()


@pytest.mark.parametrize(
    ("serve", "answer"),
    [
        (silent, "nothing answers"),
        (http, "it answers 'HTTP/1.1 "),
        (ssh, "it answers 'SSH-2.0-OpenSSH_9.2p1 Debian-2'"),
        (zeros, "it is not a Dask server"),
        (closing, "it is not a Dask server"),
    ],
)
def test_another_server_is_refused_with_its_answer(
    monkeypatch: pytest.MonkeyPatch, serve: Callable[[socket.socket], None], answer: str
) -> None:
    pytest.importorskip("distributed", reason="needs the extra karat[dask]")
    monkeypatch.setattr(cluster, "TIMEOUT", 0.5)
    monkeypatch.setattr(cluster, "PROBE", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def handle(connection: socket.socket) -> None:
            with connection, suppress(OSError):
                serve(connection)

        def accept() -> None:
            with suppress(OSError):
                while True:
                    threading.Thread(target=handle, args=(listener.accept()[0],), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        address = f"tcp://127.0.0.1:{listener.getsockname()[1]}"
        done = run("score", GOLD, SYSTEM, "--cluster", address)
    assert (done.code, done.out) == (1, "")
    first, second, *rest = done.err.splitlines()
    assert first.startswith(f"error: there is no Dask scheduler at {address}: {answer}")
    assert first.endswith(" [cluster-unreachable]")
    assert (second[:9], rest) == ("  Start i", [])


@pytest.mark.slow
def test_the_address_of_a_worker_is_refused(dask: Dask) -> None:
    from distributed import Client

    with Client(dask.address, set_as_default=False) as client:
        client.wait_for_workers(2)
        worker = next(iter(client.nthreads()))
    done = run("score", GOLD, SYSTEM, "--cluster", worker)
    assert (done.code, "it is the address of a Dask worker [cluster-unreachable]" in done.err) == (1, True), done.err


@pytest.mark.slow
def test_a_cluster_without_workers_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="needs the extra karat[dask]")
    monkeypatch.setattr(cluster, "PATIENCE", 0.5)
    empty = Dask(tmp_path)
    try:
        done = run("score", GOLD, SYSTEM, "--cluster", empty.address)
    finally:
        empty.stop()
    assert done.code == 1
    assert "[cluster-empty]" in done.err


def test_without_dask_one_sentence_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    done = run("score", GOLD, SYSTEM, "--cluster", "tcp://127.0.0.1:8786")
    assert done.code == 1
    assert done.err == (
        f"error: --cluster needs dask.distributed, which is not installed [dask-missing]\n  {install_hint('dask')}\n"
    )


def test_jobs_and_cluster_exclude_each_other() -> None:
    done = run("score", GOLD, SYSTEM, "--cluster", "tcp://127.0.0.1:8786", "--jobs", "2")
    assert done.code == 2
    assert "[jobs-and-cluster]" in done.err
