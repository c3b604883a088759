"""The executor for a Dask cluster: a scheduler and workers that are already running, on this machine or on many.

Tasks are the same as those of other processes (`karat.run.processes`), and so are results. Dask repeats the tasks of
a worker that is lost. Workers need the same version of karat, and read the files themselves.
"""

import asyncio
import contextlib
import json
import logging
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, NoReturn, Self, TypeVar, cast

from karat import __version__
from karat.inputs import read_bytes
from karat.problems import KaratError, Rule, install_hint, quoted
from karat.run.processes import AHEAD, Done, call_packed, in_order, packed

if TYPE_CHECKING:
    from distributed import Client

S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")

NO_LIBRARY = Rule("dask-missing", "fatal", "Install it: pip install 'karat[dask]'")
UNREACHABLE = Rule(
    "cluster-unreachable", "fatal", "Start it with `dask scheduler`, which prints its address: tcp://HOST:PORT."
)
NO_WORKERS = Rule("cluster-empty", "fatal", "Start workers with `dask worker ADDRESS`, then run karat again.")
UNLIKE = Rule("cluster-unlike", "fatal", "Install the same version of karat, and the same plug-ins, on all workers.")
LOST = Rule("cluster-lost", "fatal", "Check the logs of the workers: they may have too little memory.")
GONE = Rule("cluster-lost", "fatal", "Check its log, start it again, then run karat again.")

TIMEOUT = 5.0
"""Seconds in which a scheduler has to answer."""
PROBE = 0.5
"""Seconds in which any other server at its address has to."""
PATIENCE = 60.0
"""Seconds in which there has to be a worker."""


class Cluster:
    """The workers of a Dask scheduler."""

    def __init__(self, address: str) -> None:
        """`address` is that of the scheduler, or a scheduler file (`.json`)."""
        self._given = address
        self._resources = contextlib.ExitStack()
        self._client: Client

    def __enter__(self) -> Self:
        try:
            import dask
            import distributed  # noqa: F401 - used below
        except ImportError:
            missing = NO_LIBRARY._replace(hint=install_hint("dask"))
            raise missing.error("--cluster needs dask.distributed, which is not installed") from None
        self._resources.enter_context(_silent("distributed"))
        # What is sent is as large as it must be: Dask need not advise against it.
        self._resources.enter_context(dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}))
        with self._resources:
            address = self._address()
            try:
                self._client = _before(TIMEOUT, lambda: self._connected(address))
            except KaratError:
                raise
            except Exception:
                self._refuse_address(_answer(address))
            self._resources.enter_context(self._client)
            self._check_workers()
            self._resources = self._resources.pop_all()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._resources.__exit__(*raised)

    def _address(self) -> str:
        if not self._given.endswith(".json"):
            return self._given
        try:
            return str(json.loads(read_bytes(Path(self._given)))["address"])
        except (OSError, ValueError, LookupError, TypeError):
            self._refuse_address("the scheduler file cannot be read, or names no address")

    def _refuse_address(self, reason: str) -> NoReturn:
        raise UNREACHABLE.error(f"there is no Dask scheduler at {self._given}: {reason}") from None

    def _connected(self, address: str) -> "Client":
        """Return a client, once whatever is at the address has answered as a scheduler does."""
        from distributed import Client

        kind = asyncio.run(_kind(address))
        if kind != "Scheduler":
            self._refuse_address(f"it is the address of a Dask {kind.lower()}")
        return Client(address, timeout=TIMEOUT, set_as_default=False)

    def _check_workers(self) -> None:
        """Refuse a cluster without a worker, or with one that has no karat or another version."""
        with _losses_reported():
            try:
                self._client.wait_for_workers(1, timeout=PATIENCE)
            except TimeoutError:
                raise NO_WORKERS.error(f"the cluster at {self._given} has no workers") from None
            # The expression is sent, and no function of karat, which a worker may not have.
            ask = partial(self._client.run, eval, "__import__('karat').__version__", on_error="return")
            versions: dict[str, str | Exception] = _before(PATIENCE, ask)
        for worker, version in versions.items():
            if version != __version__:
                problem = f"has karat {version}" if isinstance(version, str) else "cannot import karat"
                raise UNLIKE.error(f"worker {worker} {problem}; this is karat {__version__}")

    def width(self, size: int) -> int:
        """Return the number of threads of all workers, for an input of any size: the user asked for them."""
        del size
        threads: list[int] = [worker["nthreads"] for worker in _workers(self._client).values()]
        return max(2, sum(threads))

    def map(self, function: Callable[[S, T], R], shared: S, tasks: Iterable[T]) -> Iterator[R]:
        """Return the result of each task, in their order."""
        data, folder = packed(function, shared), str(Path.cwd())

        def submit(task: T) -> "_Result[Done[R]]":
            with _losses_reported():
                return _Result(self._client.submit(_call_in, folder, data, task, pure=False), self._client)

        return in_order(submit, tasks, AHEAD * self.width(0))


class _Result(Generic[R]):
    """A result on its way from a worker."""

    def __init__(self, future: Any, client: "Client") -> None:
        self._future, self._client = future, client

    def result(self) -> R:
        """Wait for it, as long as there are workers."""
        from distributed import KilledWorker

        while True:
            try:
                result: R = self._future.result(timeout=PATIENCE)
                return result
            except KilledWorker:
                raise LOST.error("several workers ended while they scored the same documents") from None
            except (Exception, asyncio.CancelledError) as error:
                if self._future.status == "error":  # the task has raised it
                    raise
                if not isinstance(error, TimeoutError):
                    raise GONE.error("the scheduler of the cluster is gone") from None
            workers = _workers(self._client)
            if not workers:
                raise LOST.error("all workers of the cluster are gone")
            if all(worker.get("status") == "paused" for worker in workers.values()):
                raise LOST.error("all workers of the cluster have paused: they have too little memory")


def _workers(client: "Client") -> Mapping[str, Mapping[str, Any]]:
    """Return what the scheduler knows of each worker."""
    with _losses_reported():
        workers: Mapping[str, Mapping[str, Any]]
        workers = _before(PATIENCE, partial(client.scheduler_info, n_workers=-1))["workers"]
        return workers


@contextlib.contextmanager
def _losses_reported() -> Iterator[None]:
    """Report a scheduler that no longer answers."""
    try:
        yield
    except KaratError:
        raise
    except (Exception, asyncio.CancelledError):
        raise GONE.error("the scheduler of the cluster is gone") from None


def _before(seconds: float, function: Callable[[], R]) -> R:
    """Return the result of a function that may hang; after so many seconds, raise TimeoutError."""
    answers: SimpleQueue[tuple[R, None] | tuple[None, BaseException]] = SimpleQueue()

    def call() -> None:
        try:
            answers.put((function(), None))
        except BaseException as error:
            answers.put((None, error))

    threading.Thread(target=call, daemon=True).start()
    try:
        result, error = answers.get(timeout=seconds)
    except Empty:
        raise TimeoutError from None
    if error is not None:
        raise error
    return cast("R", result)


_turn = threading.Lock()


def _call_in(folder: str, data: bytes, task: Any) -> Done[Any]:
    """Apply a packed function to a task, on a worker, in the folder in which the user is: paths may be relative to it.

    A process has one such folder, and one interpreter lock: its threads take turns.
    """
    with _turn, contextlib.chdir(folder) if Path(folder).is_dir() else contextlib.nullcontext():
        try:
            return call_packed(data, task)
        except KaratError as error:
            raise error.with_traceback(None) from None


async def _kind(address: str) -> str:
    """Ask a server of Dask what it is."""
    from distributed.core import rpc
    from distributed.security import Security

    arguments = Security().get_connection_args("client")
    async with rpc(address, timeout=TIMEOUT, connection_args=arguments) as server:
        return str((await server.identity())["type"])


def _answer(address: str) -> str:
    """Describe what is at an address where no scheduler answers."""
    scheme, _, place = address.rpartition("://")
    host, _, port = place.rpartition(":")
    if scheme == "tls":
        return "no scheduler answers with the certificates in the configuration of Dask"
    if scheme not in ("", "tcp") or not host or not port.isascii() or not port.isdecimal() or int(port) > 65535:
        return "this is not an address, such as tcp://HOST:PORT"
    try:
        with socket.create_connection((host.strip("[]"), int(port)), PROBE) as connection:
            connection.settimeout(PROBE)
            try:
                answer = connection.recv(40)
            except TimeoutError:
                connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
                answer = connection.recv(40)
    except TimeoutError:
        return "nothing answers"
    except OSError as error:
        return error.strerror or "it cannot be reached"
    line = answer.partition(b"\r")[0].partition(b"\n")[0].decode("ascii", "replace")
    return f"it answers {quoted(line)}" if line.isascii() and line.isprintable() and line else "it is not a Dask server"


@contextlib.contextmanager
def _silent(name: str) -> Iterator[None]:
    """Silence the loggers of a library: its errors are raised, and reported once."""
    handlers = {
        handler
        for logger in map(logging.getLogger, [*logging.root.manager.loggerDict])
        if f"{logger.name}.".startswith(f"{name}.")
        for handler in logger.handlers
    }
    for handler in handlers:
        handler.addFilter(_reject)
    try:
        yield
    finally:
        for handler in handlers:
            handler.removeFilter(_reject)


def _reject(record: logging.LogRecord) -> bool:
    del record
    return False
