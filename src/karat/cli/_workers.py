"""The options `--jobs` and `--cluster`: which processes a command uses."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

from karat.errors import UsageError

_Command = TypeVar("_Command", bound=Callable[..., Any])


def worker_options(command: _Command) -> _Command:
    """The options. The command receives one argument, `executor`, and its processes end with it."""

    @wraps(command)
    def with_executor(*args: Any, jobs: int | None, cluster: str | None, **rest: Any) -> Any:
        with _executor(jobs, cluster) as executor:
            return command(*args, executor=executor, **rest)

    decorated: Any = with_executor
    cluster = click.option(
        "--cluster",
        metavar="ADDRESS",
        help="Dask scheduler whose workers do the work, such as tcp://10.0.0.1:8786; needs the extra karat[dask].",
    )
    jobs = click.option(
        "--jobs",
        type=click.IntRange(1),
        metavar="N",
        help="Processes to use. Default: one per core; just one for a small input. The result is the same.",
    )
    return jobs(cluster(decorated))  # type: ignore[no-any-return]


def _executor(jobs: int | None, cluster: str | None) -> Any:
    from karat.engine.executors import Processes, Serial

    if cluster is None:
        return Serial() if jobs == 1 else Processes(jobs)
    if jobs is not None:
        raise UsageError("jobs-and-cluster", "--jobs is for this machine, --cluster for others", "Use only one.")
    from karat.engine.cluster import Cluster

    return Cluster(cluster)
