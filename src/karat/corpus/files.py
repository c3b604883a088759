"""A corpus in files: an index finds the documents, and each is read on demand, as often as needed."""

import re
import threading
from collections.abc import Callable, Iterable, Iterator, KeysView, Mapping, Sequence, Set
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from karat.corpus.index import DocumentReader, Entry, FileState, Index
from karat.corpus.interface import Corpus, GoldReader
from karat.corpus.paths import File
from karat.formats import DOCUMENT_TWICE, FORMATS
from karat.model import Document, Line, Places
from karat.plugin import Completion, Facts, ReadOptions
from karat.problems import Finding, KaratError, Report, Target, ignore, quoted, refusing

if TYPE_CHECKING:
    from karat.corpus.topics import Topics

KEPT, KEPT_ON_REQUEST = 32 << 20, 128 << 20
"""Bytes of documents (see `_size`) that are kept when facts are collected, and on request."""


class FileCorpus:
    """A corpus in files of one format."""

    def __init__(
        self,
        name: str,
        files: list[File],
        format_: str,
        options: ReadOptions,
        *,
        topics: "Topics | None" = None,
        beside: Corpus | None = None,
        skip_broken: bool = False,
        findings: Sequence[Finding] = (),
    ) -> None:
        self.name = name
        self.files = files
        self.format = format_
        self.options = options
        self._format = FORMATS.get(format_)
        self._reader = DocumentReader(files, self._format, options)
        self.tolerated_faults = self._format.tolerated_faults
        self.global_ids = self._format.global_ids == "all"
        self.reading = self._format.reading
        self.topics = topics
        """Only documents of these topics are part of it; None: all."""
        self._beside = beside
        self.findings = tuple(findings)
        """Findings of opening it: parts of a folder that are not read, and why."""
        self._skip_broken = skip_broken
        self._index: Index | None = None
        self._lock = threading.RLock()
        self._kept: dict[str, tuple[Document, list[Finding]]] = {}
        """Documents with what their reader reported: those of files that are read whole, and on request others."""
        self._read_next: Set[str] = frozenset()
        """Of these, the documents that are kept until they are read once more."""
        self._is_read_whole = False
        """True: a file with several documents is read whole."""
        self._room = 0
        """Bytes of further documents that are kept."""
        self._facts: Facts | None = None
        self._completion = Completion()
        self._last: tuple[str, Document | None, Where | None] = "", None, None
        """The document that was read last: who asks for the line of an item usually asks for more."""

    def of_topics(self, topics: "Topics | None", *, beside: Corpus | None = None) -> "FileCorpus":
        """Restrict the corpus to the documents of these topics (None: all); there must be some.

        For a system, `beside` is gold, restricted in the same way. The system's documents need not name their topics:
        those that gold has are also kept, and there may be none.
        """
        if topics is None:
            return self
        return FileCorpus(**self._arguments(topics=topics, beside=beside, skip_broken=False))

    def beside(self, gold: Corpus) -> "FileCorpus":
        """Open the files as those of a system that is compared with gold, and divided into documents as gold is."""
        corpus = self._whole() if isinstance(gold, FileCorpus) and gold.options.documents == "none" else self
        reader = GoldReader(gold) if self._format.refers_to_gold else None
        return FileCorpus(**corpus._arguments(options=replace(corpus.options, is_system=True, gold=reader)))

    def undivided(self) -> "FileCorpus":
        """Read each meta-document as one document, unless the user says how to read it (`--documents`)."""
        if self._format.marker is None or not self._format.marker.is_meta or self.topics is not None:
            return self
        self.ids()
        return self._whole() if self._is_read_whole else self

    def _whole(self) -> "FileCorpus":
        options = replace(self.options, documents=self.options.documents or "none")
        return self if options == self.options else FileCorpus(**self._arguments(options=options))

    def _arguments(self, **changes: Any) -> dict[str, Any]:
        """Return the arguments to open the same files once more, with these changes."""
        return {
            "name": self.name,
            "files": self.files,
            "format_": self.format,
            "options": self.options,
            "topics": self.topics,
            "beside": self._beside,
            "skip_broken": self._skip_broken,
            "findings": self.findings,
            **changes,
        }

    def keep_documents(self) -> None:
        """Keep documents that are read, up to a limit, for a corpus that is scored several times."""
        self._room = self._room or KEPT_ON_REQUEST

    def part(self, ids: Sequence[str]) -> "FileCorpus | None":
        """Some of its documents, with what is known about the corpus; None if a file with several is read whole."""
        if self._is_read_whole:
            return None
        index, numbers = self.index.part(ids)
        part = FileCorpus(self.name, [self.files[number] for number in numbers], self.format, self.options)
        known = self._reader.states
        states = {new: known[old] for new, old in enumerate(numbers) if old in known}
        return part._with(index, states, None if self._facts is None else (self._facts, self._completion))

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process is given files, options and, once they are made, index and facts; it reads for itself."""
        return _reopened, (
            self._arguments(beside=self._beside if self._index is None else None),
            self._index,
            self._reader.states,
            None if self._facts is None else (self._facts, self._completion),
        )

    def _with(
        self, index: Index | None, states: Mapping[int, FileState], facts: tuple[Facts, Completion] | None
    ) -> "FileCorpus":
        """Take over what another process knows."""
        self._index = index
        self._reader.expect(states)
        if facts is not None:
            self._facts, self._completion = facts
        return self

    @property
    def index(self) -> Index:
        """Where the documents are; refuses an id that occurs twice.

        With `skip_broken`, files and documents that cannot be read are skipped instead of refused.
        """
        if self._index is None:
            with self._lock:
                self._index = self._index or self._make_index()
        return self._index

    def ids(self) -> KeysView[str]:
        return self.index.rows.keys()

    def _make_index(self) -> Index:
        index = Index()
        other_topics: set[str | None] = set()
        try:
            for number in range(len(self.files)):
                with self._skipping():
                    for entry in self.entries(number):
                        if self.topics is None and entry.id and entry.is_document and entry.id not in index.rows:
                            index.add(number, entry)
                            continue
                        with self._skipping():
                            self._enter_entry(index, number, entry, other_topics)
        finally:
            self.close()
        if self.topics is not None and self._beside is None and other_topics and not index.rows:
            raise self.topics.absent(other_topics, file=self.name)
        return index

    def _skipping(self) -> AbstractContextManager[None]:
        return suppress(KaratError) if self._skip_broken else nullcontext()

    def _enter_entry(self, index: Index, number: int, entry: Entry, other_topics: set[str | None]) -> None:
        """Add the documents of an entry. If only they themselves have their ids or topics, they are read now."""
        topic = entry.topic
        if self.topics is not None and self._beside is None and topic is not None and topic not in self.topics:
            other_topics.add(topic)
            return
        if entry.id and entry.is_document and (self.topics is None or topic in self.topics):
            if entry.id in index.rows:  # what is wrong with the first one comes first
                [*self._reader.documents(*index.place(entry.id), refusing(ignore))]
            self.enter(index, number, entry)
            return
        findings, reported = list[Finding](), list[Finding]()
        report = findings.append if self._skip_broken else refusing(findings.append)
        for count, document in enumerate(self._reader.documents(number, entry, report), 1):
            self._is_read_whole = self._is_read_whole or count > 1
            reported = [*findings]  # of this document
            findings.clear()
            if not self._is_wanted(document):
                other_topics.add(document.topic)
                continue
            line = entry.line if document.places is None else document.places.line
            self.enter(index, number, replace(entry, id=document.id, line=line))
            if not entry.id:
                self._kept[document.id] = document, reported
        reported += findings

    def _is_wanted(self, document: Document) -> bool:
        if self.topics is None or document.topic in self.topics:
            return True
        return self._beside is not None and document.id in self._beside.ids()

    def entries(self, number: int) -> Iterator[Entry]:
        """Where the documents of one file are, in its order."""
        return self._reader.entries(number)

    def enter(self, index: Index, number: int, entry: Entry) -> None:
        """Add a document to an index; refuse an id that it already has."""
        if entry.id in index.rows:
            first, there = index.place(entry.id)
            message = f"document {quoted(entry.id)} was already given in {self.files[first].name}, line {there.line}"
            raise DOCUMENT_TWICE.error(message, file=self.files[number].name, line=entry.line, found=entry.id)
        index.add(number, entry)

    @property
    def hides_documents(self) -> bool:
        """True if it may be a meta-document whose documents are not known: it has only one, or the user says so."""
        marker = self._format.marker
        is_whole = self.options.documents == "none" or len(self.ids()) == 1
        return marker is not None and marker.is_meta and is_whole

    @cached_property
    def protocols(self) -> tuple[str, ...]:
        """The format's default protocols; in some formats, what the documents hold decides."""
        if self._format.choose_protocols is None:
            return self._format.protocols
        with self._keeping():
            return self._format.choose_protocols(self)

    def facts(self, first: int | None = None) -> Facts:
        """Collect the facts of the documents, or of the first ones of them.

        They are read for it and kept, up to a limit: most corpora are small, and are not read again. The first ones of
        a larger corpus are kept until they are read again.
        """
        if self._facts is not None:
            return self._facts
        if first is not None and self._format.complete is None:
            kept = frozenset(self._kept)
            facts = self._facts_of(islice(self.ids(), first))
            if first < len(self.ids()) and not self._room:
                self._read_next = self._kept.keys() - kept
            return facts
        self._facts = self._facts_of(self.ids())
        return self._facts

    def _facts_of(self, ids: Iterable[str]) -> Facts:
        facts = Facts()
        with self._keeping():
            for id_ in ids:
                with self._skipping():
                    facts.add(self._read(id_, refusing(ignore)))
        if self._format.complete is None:
            return facts
        self._completion = self._format.complete(facts)
        return facts.renamed(self._completion.kinds)

    @contextmanager
    def _keeping(self) -> Iterator[None]:
        """Keep documents that are read meanwhile, up to a limit: they will be read again."""
        room = self._room
        self._room = max(room, KEPT)
        try:
            yield
        finally:
            self._room = min(room, self._room)
            self.close()

    def read(self, id_: str, report: Report) -> Document:
        """One document, which must have nothing fatal; the last one is not read again where nobody hears of it."""
        last, known, _ = self._last
        if report is ignore and last == id_ and known is not None:
            return known
        document = self.completed(self._read(id_, refusing(report)))
        if id_ in self._read_next:
            self._kept.pop(id_, None)
        self._last = id_, document, None
        return document

    def _read(self, id_: str, report: Report) -> Document:
        """One document as its file has it; what its reader reports is reported each time."""
        kept = self._kept.get(id_)
        if kept is not None:
            for finding in kept[1]:
                report(finding)
            return kept[0]
        if self._room:
            return self._read_and_keep(id_, report)
        return self._only(id_, report)

    def _only(self, id_: str, report: Report) -> Document:
        """The document of this id among those of its entry, which are all read."""
        documents = self._reader.documents(*self.index.place(id_), report)
        (document,) = [document for document in documents if document.id == id_]
        return document

    def _read_and_keep(self, id_: str, report: Report) -> Document:
        findings: list[Finding] = []

        def noted(finding: Finding) -> None:
            findings.append(finding)
            report(finding)

        document = self._only(id_, noted)
        self._room = max(self._room - _size(document), 0)
        self._kept[id_] = document, findings
        return document

    def completed(self, document: Document) -> Document:
        """The document with what only the whole corpus can tell about it."""
        if self._format.complete is None:
            return document
        self.facts()
        return self._completion.apply(document)

    def documents(self, number: int, entry: Entry, report: Report) -> Iterator[Document]:
        return map(self.completed, self._reader.documents(number, entry, report))

    def inputs(self) -> list[Path]:
        """The files that are read, with their companions."""
        names = [file.name for file in self.files]
        stems = [re.sub(r"(?i)\.gz$", "", name) for name in names]
        for suffix in self._format.suffixes:
            stems = [stem[: -len(suffix)] if stem.lower().endswith(suffix) else stem for stem in stems]
        companions = [stem + suffix for stem in stems for suffix in self._format.companions]
        return [Path(name) for name in (*names, *companions)]

    def size(self) -> int:
        return sum(file.size() for file in self.files)

    def where(self, id_: str, item: Target | None = None) -> tuple[str, int | None]:
        """The file and the first line of a document, or the line of an item in it."""
        number, entry = self.index.place(id_)
        if item is None:
            return self.files[number].name, entry.line
        last, document, where = self._last
        if last != id_ or document is None:
            document, where = self._read(id_, ignore), None
        where = where or Where(document)
        self._last = id_, document, where
        return where(item, self.files[number].name)

    def close(self) -> None:
        """Close the open file, and that of gold."""
        self._reader.close()
        if isinstance(self.options.gold, GoldReader):
            self.options.gold.close()

    def __iter__(self) -> Iterator[Document]:
        try:
            for id_ in self.ids():
                with self._skipping():
                    yield self.read(id_, ignore)
        finally:
            self.close()

    def __repr__(self) -> str:
        return f"<corpus {self.name}: {self.format}, {len(self.files):,} file{'s' * (len(self.files) != 1)}>"


def _reopened(
    arguments: dict[str, Any],
    index: Index | None,
    states: Mapping[int, FileState],
    facts: tuple[Facts, Completion] | None,
) -> FileCorpus:
    return FileCorpus(**arguments)._with(index, states, facts)


class Where:
    """Finds the lines of the records of a document."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._lines: Callable[[Target], Line | None] | None = None

    def __call__(self, item: Target | None, file: str) -> tuple[str, int | None]:
        """The file and line of an item or token, or those of the document, which is in this file."""
        places = self._document.places
        if places is None:
            return file, None
        if item is None:
            return file, places.line
        if self._lines is None:
            self._lines = _lookup(self._document, places)
        line = self._lines(item)
        if line is None:
            line = places.line
        return (file, line) if isinstance(line, int) else line


def _lookup(document: Document, places: Places) -> Callable[[Target], Line | None]:
    """The line of each record; of repeated ones, that of the first."""
    lines: dict[Target, Line] = {}
    for mention, line in zip(document.mentions, places.mentions, strict=False):
        lines.setdefault(mention.id, line)
    for cluster, line in zip(document.clusters, places.clusters, strict=False):
        lines.setdefault(cluster.id, line)
    for link, line in zip(document.links, places.links, strict=False):
        lines.setdefault((link.kind, link.source, link.target), line)

    def find(item: Target) -> Line | None:
        if isinstance(item, int):
            return places.tokens[item] if 0 <= item < len(places.tokens) else None
        if isinstance(item, tuple) and len(item) == 2:
            return places.regions.get(item) or lines.get(item[0])
        return lines.get(item)

    return find


def _size(document: Document) -> int:
    """About how many bytes a document takes in memory: a record with its strings takes about 600, a form 60."""
    records = len(document.mentions) + len(document.clusters) + len(document.links)
    return 600 * records + 60 * len(document.forms or ()) + len(document.text or "")
