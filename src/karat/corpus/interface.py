"""What every corpus offers, whether its documents are in files or in memory."""

from collections.abc import Callable, Iterator
from typing import Protocol, runtime_checkable

from karat.corpus.survey import Survey
from karat.errors import Report, Target
from karat.model import Document

Progress = Callable[[int, int | None], None]
"""Called after each document with the number done and the total (None: not known yet)."""


@runtime_checkable
class Corpus(Protocol):
    """Documents by id, each read on demand."""

    name: str
    refuses_faults: bool
    """Whether the rules of its format forbid scoring files with faults."""
    tolerated_faults: frozenset[str]
    """Codes of faults that are counted nevertheless."""
    global_ids: bool
    """Whether an id means the same in all documents."""

    @property
    def protocols(self) -> tuple[str, ...]:
        """The default protocols."""
        ...

    def survey(self) -> Survey:
        """The light pass over all documents, made once."""
        ...

    def read(self, id_: str, report: Report) -> Document:
        """One document."""
        ...

    def where(self, id_: str, item: Target | None = None) -> tuple[str, int | None]:
        """The file and the line of a document, or of an item in it."""
        ...

    def close(self) -> None:
        """Close open files; reading opens them again."""
        ...

    def __iter__(self) -> Iterator[Document]: ...
