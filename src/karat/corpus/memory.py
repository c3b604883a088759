"""A corpus of documents that are already in memory, checked as documents in files are."""

from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import msgspec

from karat.corpus.index import Index
from karat.decoding import UNUSABLE, builtins, explained
from karat.formats import DOCUMENT_TWICE, jsonl
from karat.model import Document
from karat.plugin import Context, Facts, ReadOptions
from karat.problems import Finding, Report, Rule, Target, quoted, refusing

NO_DOCUMENT = Rule(
    "not-a-document",
    "fatal",
    'Give documents, such as {"id": "d1", "mentions": [{"span": [[4, 9]]}]} or karat.Document("d1", mentions=[...]); '
    "karat.from_rows makes them from the rows of a table.",
)

Given = Document | Mapping[str, Any]
"""A document in memory, or a dict with the fields of one."""


class MemoryCorpus:
    """Documents in memory. They are what `.jsonl` files hold, and choose protocols in the same way."""

    def __init__(self, documents: Iterable[Given] = (), *, name: str = "memory", is_system: bool = False) -> None:
        self.name = name
        self._options = ReadOptions(is_system=is_system)
        self.tolerated_faults: frozenset[str] | None = None
        self.global_ids = False
        self.reading: str | None = None
        self._facts: Facts | None = None
        self._index: Index | None = None
        self._documents: dict[str, tuple[Document, list[Finding]]] = {}
        for document in documents:
            self.add(document)

    def add(self, given: Given) -> None:
        """Add one document; refuse it if it cannot be used, or if there is one of that id."""
        findings: list[Finding] = []
        context = Context(self._options, refusing(findings.append))
        checked = jsonl.sound(typed(given, self.name), context, file=self.name)
        if checked.id in self._documents:
            raise DOCUMENT_TWICE.error(f"document {quoted(checked.id)} was already given", file=self.name)
        self._documents[checked.id] = checked, findings
        self._facts = self._index = None

    def discard(self, id_: str) -> None:
        """Remove a document."""
        del self._documents[id_]
        self._facts = self._index = None

    @property
    def protocols(self) -> tuple[str, ...]:
        """As for JSONL: by whether clusters have mentions in several documents."""
        return jsonl.choose_protocols(self)

    def ids(self) -> KeysView[str]:
        return self._documents.keys()

    @property
    def index(self) -> Index:
        """The documents, which are in no file."""
        if self._index is None:
            self._index = Index(self._documents)
        return self._index

    def facts(self, first: int | None = None) -> Facts:
        """Collect the facts of the documents, or of the first ones of them."""
        if self._facts is not None:
            return self._facts
        facts = Facts()
        for document in islice(self, first):
            facts.add(document)
        if first is None:
            self._facts = facts
        return facts

    def read(self, id_: str, report: Report) -> Document:
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


def typed(given: Given, name: str) -> Document:
    """The document with fields of the types that the model declares; lists are as good as tuples."""
    if not isinstance(given, Document | Mapping):
        raise NO_DOCUMENT.error(f"expected a document, found {quoted(given)}", file=name)
    try:
        document = jsonl.converted(builtins(given))
        with suppress(OverflowError):  # numbers of any size are allowed
            msgspec.json.encode(document)
        return document
    except UNUSABLE as error:
        id_ = given.id if isinstance(given, Document) else given.get("id")
        which = "a document without id" if id_ is None else f"document {quoted(id_)}"
        raise NO_DOCUMENT.error(f"{which}: {explained(error)}", file=name) from None
