"""The executor for a Dask cluster: a scheduler and workers that run already, on this machine or on many.

Tasks are the same as those of other processes (`karat.run.processes`), and so are results. Dask repeats the tasks of
a worker that is lost. Workers need the same version of karat, and read the files themselves.
"""

import asyncio
import contextlib
import json
import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NoReturn, Self, TypeVar

from karat import __version__
from karat.inputs import read_bytes
from karat.problems import KaratError, Rule, install_hint
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
LOST = Rule("cluster-lost", "fatal", "Look into the logs of the workers: they may have too little memory.")

TIMEOUT = 5.0
"""Seconds in which a scheduler has to answer."""
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
            import distributed
        except ImportError:
            missing = NO_LIBRARY._replace(hint=install_hint("dask"))
            raise missing.error("--cluster needs dask.distributed, which is not installed") from None
        self._resources.enter_context(_silent("distributed"))
        # What is sent is as large as it must be: Dask need not advise against it.
        self._resources.enter_context(dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}))
        with self._resources:
            address = self._address()
            try:
                asyncio.run(_answering(address))
                self._client = distributed.Client(address, timeout=TIMEOUT, set_as_default=False)
            except (OSError, ValueError, ImportError):
                self._refuse_address("no scheduler answers")
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

    def _check_workers(self) -> None:
        """There must be a worker, and each must have this version of karat."""
        try:
            self._client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise NO_WORKERS.error(f"the cluster at {self._given} has no workers") from None
        for worker, version in self._client.run(_version, on_error="return").items():
            if version != __version__:
                problem = f"has karat {version}" if isinstance(version, str) else f"cannot run karat: {version}"
                raise UNLIKE.error(f"worker {worker} {problem}; this is karat {__version__}")

    def width(self, size: int) -> int:
        """The threads of all workers, for an input of any size: the user asked for them."""
        del size
        threads: dict[str, int] = self._client.nthreads()
        return max(2, sum(threads.values()))

    def map(self, function: Callable[[S, T], R], shared: S, tasks: Iterable[T]) -> Iterator[R]:
        """The result of each task, in their order."""
        data, folder = packed(function, shared), str(Path.cwd())

        def submit(task: T) -> "_Result[Done[R]]":
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
            except TimeoutError:
                if not self._client.nthreads():
                    raise LOST.error("all workers of the cluster are gone") from None
            except KilledWorker:
                raise LOST.error("several workers ended while they scored the same documents") from None
            except (CancelledError, asyncio.CancelledError):
                raise LOST.error("the scheduler of the cluster is gone") from None


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


async def _answering(address: str) -> None:
    """Wait until something at the address answers as Dask does."""
    from distributed.comm.core import connect
    from distributed.security import Security

    connection = await connect(address, timeout=TIMEOUT, **Security().get_connection_args("client"))
    await connection.close()


def _version() -> str:
    return __version__


@contextlib.contextmanager
def _silent(name: str) -> Iterator[None]:
    """Errors are raised, and reported once; the library does not also print them."""
    logger = logging.getLogger(name)
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(before)
