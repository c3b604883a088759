"""A corpus of documents that are already in memory."""

from collections.abc import Iterable, Iterator

from karat.corpus.files import TWICE
from karat.corpus.survey import Survey
from karat.errors import Report, Target, quoted
from karat.model import Document
from karat.plugin import Block, Contents


class MemoryCorpus:
    """Documents in memory; they choose no protocol."""

    def __init__(self, documents: Iterable[Document], *, name: str = "memory") -> None:
        self.name = name
        self.protocols: tuple[str, ...] = ()
        self.refuses_faults = False
        self.tolerated_faults: frozenset[str] = frozenset()
        self.global_ids = False
        self._survey: Survey | None = None
        self._documents: dict[str, Document] = {}
        for document in documents:
            if document.id in self._documents:
                raise TWICE.error(f"document {quoted(document.id)} was already given", file=name)
            self._documents[document.id] = document

    def survey(self) -> Survey:
        """Ids, and what the documents hold."""
        if self._survey is None:
            self._survey = Survey()
            for document in self:
                self._survey.add(Block(0, 0, 0, document.id, contents=Contents.of(document)), 0)
        return self._survey

    def read(self, id_: str, report: Report) -> Document:
        """One document."""
        del report
        return self._documents[id_]

    def where(self, id_: str, item: Target | None = None) -> tuple[str, int | None]:
        """The corpus, which has no lines."""
        del id_, item
        return self.name, None

    def close(self) -> None:
        """Nothing is open."""

    def __iter__(self) -> Iterator[Document]:
        return iter(self._documents.values())
