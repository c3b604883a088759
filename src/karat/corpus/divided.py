"""Work on a corpus that is divided: what workers make of chunks is merged in order, as if it had been made here.

A worker is given the paths and places of its documents, and sends back tables and counts, never documents. A chunk that
a worker cannot do is done again here, after all earlier ones: so errors are the same, and come in the same order, as in
one process.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from karat.errors import KaratError, Rule

UNABLE = Rule(
    "worker-unable", "fatal", "Check that workers have the same files and packages; --jobs 1 needs no other process."
)

T = TypeVar("T")

Sent = bytes | str
"""What a worker sends: what it made of a chunk, pickled; or why it could not."""


def attempted(work: Callable[[], object]) -> Sent:
    """What some work returns, to be sent; or why it cannot be done, or not be sent."""
    try:
        return pickle.dumps(work(), pickle.HIGHEST_PROTOCOL)
    except KaratError as error:
        return str(error.finding)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def collected(
    chunks: Iterable[T], sent: Iterable[Sent], *, merge: Callable[[Any], bool], add: Callable[[T], None]
) -> Iterator[T]:
    """Each chunk, when what a worker sent is merged. `merge` may refuse it; then the chunk is done here, with `add`."""
    for one, chunk in zip(sent, chunks, strict=True):
        if isinstance(one, str) or not merge(pickle.loads(one)):
            add(chunk)
        if isinstance(one, str):
            raise UNABLE.error(f"a worker could not read documents that this process can: {one}")
        yield chunk
