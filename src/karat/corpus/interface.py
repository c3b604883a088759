"""The interface of a corpus, in files or in memory, and of executors that work on it."""

from collections.abc import Callable, Collection, Iterable, Iterator, KeysView, Sequence
from typing import Protocol, TypeVar, runtime_checkable

from karat.corpus.index import DOCUMENT, Index
from karat.model import Document
from karat.plugin import Facts
from karat.problems import Report, Target, ignore

Progress = Callable[[int, int | None], None]
"""Called after each document with the number done and the total (None: not known yet)."""

S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")


class Executor(Protocol):
    """Applies a function to tasks: in this process, in others, or on a cluster (`karat.run.executors`)."""

    def width(self, size: int) -> int:
        """Return the number of tasks to run at a time for an input of this size; 1: only in this process."""
        ...

    def map(self, function: Callable[[S, T], R], shared: S, tasks: Iterable[T]) -> Iterator[R]:
        """The result of each task, in the order of the tasks. `shared` is the same for all of them.

        Other processes start at once, this one when a result is asked for.
        """
        ...


def workers(executor: Executor | None, ids: Sequence[str], indexes: Sequence[Index]) -> int:
    """Return how many workers share some documents; 1: this process reads them alone."""
    if executor is None:
        return 1
    return executor.width(sum([index.total_size() for index in indexes]) + DOCUMENT * len(ids))


@runtime_checkable
class Corpus(Protocol):
    """Documents by id, each read on demand."""

    name: str
    tolerated_faults: frozenset[str] | None
    """Codes of faults that are scored, if the rules of its format forbid scoring files with others."""
    global_ids: bool
    """True: an id means the same in all documents."""
    reading: str | None
    """The rule by which items get their places, if the files have none; the signature names it."""

    @property
    def protocols(self) -> tuple[str, ...]:
        """The default protocols."""
        ...

    def ids(self) -> KeysView[str]:
        """The ids of all documents, in their order."""
        ...

    def facts(self, first: int | None = None) -> Facts:
        """Collect the facts of the documents, or of the first ones of them, which are read for it."""
        ...

    @property
    def index(self) -> Index:
        """Where the documents are."""
        ...

    def read(self, id_: str, report: Report) -> Document:
        """One document."""
        ...

    def where(self, id_: str, item: Target | None = None) -> tuple[str, int | None]:
        """The file and the line of a document, or of an item in it."""
        ...

    def part(self, ids: Sequence[str]) -> "Corpus | None":
        """Some of its documents as a corpus that can be sent to another process; None: only this process has them."""
        ...

    def close(self) -> None:
        """Close open files; reading opens them again."""
        ...

    def __iter__(self) -> Iterator[Document]: ...


class GoldReader:
    """Reads documents of gold on demand. Their findings are reported when gold itself is read."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus

    def ids(self) -> Collection[str]:
        """The ids of all documents."""
        return self._corpus.ids()

    def read(self, id_: str) -> Document | None:
        """The document of this id, if gold has it."""
        return self._corpus.read(id_, ignore) if id_ in self.ids() else None

    def close(self) -> None:
        """Close the open file of gold."""
        self._corpus.close()
