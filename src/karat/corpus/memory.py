"""A corpus of documents that are already in memory, checked as documents in files are."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

import msgspec

from karat.corpus.files import TWICE
from karat.corpus.survey import Survey
from karat.errors import Finding, Report, Rule, Target, quoted, refusing
from karat.formats import jsonl
from karat.model import Document
from karat.plugin import Block, Contents

NO_DOCUMENT = Rule(
    "not-a-document", "fatal", 'Give documents: karat.Document("d1", mentions=[karat.Mention("m1", [(4, 9)])])'
)


class MemoryCorpus:
    """Documents in memory. They are what `.jsonl` files hold, and choose protocols in the same way."""

    def __init__(self, documents: Iterable[Document] = (), *, name: str = "memory") -> None:
        self.name = name
        self.refuses_faults = False
        self.tolerated_faults: frozenset[str] = frozenset()
        self.global_ids = False
        self._survey: Survey | None = None
        self._documents: dict[str, tuple[Document, list[Finding]]] = {}
        for document in documents:
            self.add(document)

    def add(self, document: Document) -> None:
        """Add one document; refuse it if it cannot be used, or if there is one of that id."""
        findings: list[Finding] = []
        checked = jsonl.sound(_typed(document, self.name), refusing(findings.append), file=self.name)
        if checked.id in self._documents:
            raise TWICE.error(f"document {quoted(checked.id)} was already given", file=self.name)
        self._documents[checked.id] = checked, findings
        self._survey = None

    def discard(self, id_: str) -> None:
        """Remove a document."""
        del self._documents[id_]
        self._survey = None

    @property
    def protocols(self) -> tuple[str, ...]:
        """As for JSONL: by whether clusters have mentions in several documents."""
        across = self.survey().has_shared_clusters
        return jsonl.FORMAT.cross_document_protocols if across else jsonl.FORMAT.protocols

    def survey(self) -> Survey:
        """Ids, and what the documents hold."""
        if self._survey is None:
            self._survey = Survey(watch_clusters=True)
            for document in self:
                self._survey.add(Block(0, 0, 0, document.id, contents=Contents.of(document)), 0)
        return self._survey

    def read(self, id_: str, report: Report) -> Document:
        """One document."""
        document, findings = self._documents[id_]
        for finding in findings:
            report(finding)
        return document

    def where(self, id_: str, item: Target | None = None) -> tuple[str, int | None]:
        """The corpus, which has no lines."""
        del id_, item
        return self.name, None

    def part(self, ids: Sequence[str]) -> "MemoryCorpus | None":
        """Documents in memory stay in this process: sending them would cost more than scoring them."""
        del ids
        return None

    def close(self) -> None:
        """Nothing is open."""

    def __iter__(self) -> Iterator[Document]:
        return (document for document, _ in self._documents.values())

    def __len__(self) -> int:
        return len(self._documents)

    def __repr__(self) -> str:
        return f"<corpus {self.name}: {len(self):,} document{'s' * (len(self) != 1)}>"


def _typed(document: Document, name: str) -> Document:
    """The document with fields of the types that the model declares; lists are as good as tuples."""
    if not isinstance(document, Document):
        raise NO_DOCUMENT.error(f"expected a document, found {quoted(repr(document))}", file=name)
    try:
        typed = msgspec.convert(msgspec.to_builtins(document), Document)
        with suppress(OverflowError):  # numbers of any size are allowed
            msgspec.json.encode(typed)
        return typed
    except (msgspec.ValidationError, TypeError, UnicodeEncodeError) as error:
        message = f"document {quoted(str(document.id))}: {str(error).replace('$', 'the document')}"
        raise NO_DOCUMENT.error(message, file=name) from None
