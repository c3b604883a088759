"""A corpus of documents that are already in memory, checked as documents in files are."""

from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from operator import attrgetter
from typing import Any

import msgspec

from karat.corpus.index import Index
from karat.decoding import UNUSABLE, builtins, explained
from karat.formats import DOCUMENT_TWICE, jsonl
from karat.model import Document, Mention
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
        if type(given) is Document and _is_plain(given):
            checked = given
        else:
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


def _is_plain(document: Document) -> bool:
    """Return whether a document needs no closer look, as most that programs make.

    It has nothing but mentions, and these have one segment, no further regions, and fields of the right types.
    """
    mentions = document.mentions
    strings: list[Any] = [document.id, document.unit]
    optional: list[Any] = [*_texts(document)]
    values: list[Any] = []
    try:
        if type(mentions) is not tuple or document.unit not in _UNITS or _rare(document) != _ABSENT:
            return False
        for mention in mentions:
            ((begin, end),) = mention.span
            if not (type(begin) is type(end) is int and 0 <= begin < end):
                return False
            if type(mention.span) is not tuple or type(mention.span[0]) is not tuple:
                return False
            if mention.head is not None or mention.extent is not None or mention.anchor is not None:
                return False
            if mention.scope is not None or mention.confidence or mention.texts or mention.boxes:
                return False
            strings += mention.attributes
            values += mention.attributes.values()
        ids = [mention.id for mention in mentions]
        strings += ids
        strings += [mention.kind for mention in mentions]
        optional += [mention.cluster for mention in mentions]
        optional += [mention.text for mention in mentions]
        strings += [text for text in optional if text is not None]
        strings += [value for value in values if type(value) not in _NUMBERS]
        "".join(strings).encode()
    except (AttributeError, TypeError, ValueError):
        return False
    are_records = {*map(type, mentions)} <= {Mention} and {*map(type, strings)} == {str}
    return are_records and document.id != "" and "" not in ids and len({*ids}) == len(ids)


_UNITS = ("char", "token")
_texts = attrgetter("topic", "subtopic", "source", "language", "producer", "text")
_rare = attrgetter("clusters", "links", "tokens", "forms", "token_ids", "sentences", "empty_nodes", "about")
_ABSENT = _rare(Document("-"))
_NUMBERS = {bool, int, float}


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
