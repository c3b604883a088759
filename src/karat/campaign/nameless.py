"""A submission whose ids are numbers: what a system calls its annotations may say whose it is."""

from collections.abc import Iterator, KeysView, Sequence

from msgspec.structs import replace

from karat.corpus import FileCorpus, Survey
from karat.errors import Report, Target
from karat.model import Document
from karat.plugin import Facts


class Nameless:
    """A corpus with other ids for mentions and clusters; ids are names, so its scores are the same.

    Mentions without a span match by their ids, which such documents keep.
    """

    def __init__(self, corpus: FileCorpus) -> None:
        self._corpus = corpus
        self.name = "system"
        self.refuses_faults = corpus.refuses_faults
        self.tolerated_faults = corpus.tolerated_faults
        self.global_ids = corpus.global_ids
        self._numbers: dict[str, str] = {}

    @property
    def protocols(self) -> tuple[str, ...]:
        """The default protocols."""
        return self._corpus.protocols

    def ids(self) -> KeysView[str]:
        """The ids of all documents."""
        return self._corpus.ids()

    def facts(self, first: int | None = None) -> Facts:
        """What occurs in the documents."""
        return self._corpus.facts(first)

    def survey(self) -> Survey:
        """That of the corpus."""
        return self._corpus.survey()

    def read(self, id_: str, report: Report) -> Document:
        """One document under other ids."""
        document = self._corpus.read(id_, report)
        if not all(mention.span for mention in document.mentions):
            return document
        return replace(
            document,
            mentions=tuple(
                replace(one, id=self._number(one.id), cluster=one.cluster and self._number(one.cluster))
                for one in document.mentions
            ),
            clusters=tuple(replace(one, id=self._number(one.id)) for one in document.clusters),
            links=tuple(
                replace(one, source=self._number(one.source), target=self._number(one.target)) for one in document.links
            ),
        )

    def _number(self, id_: str) -> str:
        """The same for the same id, in all documents."""
        return self._numbers.setdefault(id_, f"n{len(self._numbers) + 1}")

    def where(self, id_: str, item: Target | None = None) -> tuple[str, int | None]:
        """Where a document is; its items are not looked up, since they have other ids in the file."""
        del item
        return self._corpus.where(id_)

    def part(self, ids: Sequence[str]) -> None:
        """Nothing: only this process has it."""
        del ids

    def close(self) -> None:
        """Close open files."""
        self._corpus.close()

    def __iter__(self) -> Iterator[Document]:
        return (self.read(id_, _ignore) for id_ in self.survey().rows)


def _ignore(finding: object) -> None:
    """A plain loop over documents does not report findings."""
