"""Checks the documents of a corpus: every one of every file, whatever is wrong with others.

Documents are found in this process and checked in batches, here or in other processes (`karat.corpus.chunks`).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from itertools import chain, tee
from typing import Any, NamedTuple

from karat.checks import Check, check
from karat.checks.annotations import NamedIds, checking, id_conflicts, ids_of
from karat.checks.links import Reading
from karat.corpus.chunks import DOCUMENT, LARGEST, PER_WORKER, Sent, attempted, collected
from karat.corpus.files import FileCorpus, Where
from karat.corpus.index import Entry, Index
from karat.corpus.interface import Executor, Progress
from karat.corpus.paths import UNREADABLE
from karat.filters import restricted
from karat.model import Document, Pair, Value
from karat.plugin import Comparison, DocumentCheck
from karat.problems import Finding, KaratError, Rule, UsageError, graver, without
from karat.protocols import Protocol
from karat.run.against import Reference, Submission, Validation
from karat.run.plan import lacking, readings_of

NO_DOCUMENTS = Rule("no-documents", "fatal", "Check that this is the right file, and that it is complete.")
TYPES = Comparison(form="canonical")
"""Comparison of types with a list of them."""


class Plan(NamedTuple):
    """A corpus and its checks: all that a process needs besides the places of documents."""

    corpus: FileCorpus
    protocols: Sequence[Protocol]
    """Those that the format chooses: what they refuse, or count as a fault, is found, too."""
    types: set[Value | None] | None
    """All allowed types; None: any."""
    gold: Reference | None
    """Gold, if the corpus is compared with it."""
    is_reference: bool = False
    """True if others are compared with the corpus, which may then have no annotations."""


class Batch(NamedTuple):
    """Documents of one file: a worker checks them one after another."""

    file: int
    entries: list[Entry]
    is_first: bool
    """True if the file begins with them."""
    error: KaratError | OSError | None = None
    """Why no document was found after them. It is about the structure of the file."""


class CheckedPart(NamedTuple):
    """Findings of some documents, as a worker sends them."""

    validation: Validation
    seen: Index
    ids: dict[str, NamedIds]
    observed: list[dict[str, Any]]
    compared: set[str]
    links: Counter[str]
    kinds: set[str]


def check_corpus(
    plan: Plan,
    validation: Validation,
    submission: Submission | None = None,
    *,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> None:
    """Check all documents of a corpus, and report what is wrong with them."""
    corpus, before, grave = plan.corpus, dict(validation.findings.counts), _grave(validation)
    validation.sources |= {file.name: file for file in corpus.files}
    documents = CheckedDocuments(plan, validation, submission)
    width = 1 if executor is None else executor.width(corpus.size())
    most = LARGEST if width == 1 else min(LARGEST, corpus.size() // (PER_WORKER * width))
    first, second = tee(_batches(corpus, most))
    try:
        if executor is None or width == 1:
            for batch in first:
                documents.add(batch, progress)
        else:
            corpus.ids()  # workers need the index, and know by it whether files change
            for _ in collected(
                second, executor.map(checked_batch, plan, first), merge=documents.merge, add=documents.add
            ):
                if progress is not None:
                    progress(validation.total.documents, None)
        documents.look_across()
    finally:
        corpus.close()
    if submission is not None:
        submission.enter(documents.seen.rows)
    if not documents.seen.rows and validation.findings.counts == before:
        validation.add(NO_DOCUMENTS.at("there is no document", file=corpus.name))
    if submission is None and not plan.is_reference and grave == _grave(validation):
        absent = [lacking(protocol, documents.kinds, "the corpus") for protocol in plan.protocols]
        for finding in dict.fromkeys(finding for finding in absent if finding is not None):
            validation.add(finding._replace(file=corpus.name))


def _grave(validation: Validation) -> int:
    """Return the number of findings that make files invalid."""
    by_severity = validation.findings.by_severity()
    return by_severity["fatal"] + by_severity["fault"]


def _batches(corpus: FileCorpus, most: int) -> Iterator[Batch]:
    """The documents of all files, in batches of up to about so many bytes."""
    for number in range(len(corpus.files)):
        entries: list[Entry] = []
        is_first, size, error = True, 0, None
        try:
            for entry in corpus.entries(number):
                entries.append(entry)
                size += entry.length + DOCUMENT
                if size >= most:
                    yield Batch(number, entries, is_first)
                    entries, is_first, size = [], False, 0
        except UsageError:
            raise
        except (KaratError, OSError) as raised:
            error = raised.with_traceback(None)
        yield Batch(number, entries, is_first, error)


def checked_batch(plan: Plan, batch: Batch) -> Sent:
    """Check the documents of a batch in a worker."""
    submission = None if plan.gold is None else Submission(plan.corpus.name, plan.gold)
    documents = CheckedDocuments(plan, Validation(), submission)

    def part() -> CheckedPart:
        documents.add(batch)
        return documents.part()

    try:
        return attempted(part)
    finally:
        plan.corpus.close()
        if plan.gold is not None:
            plan.gold.corpus.close()


class CheckedDocuments:
    """The documents of a corpus that were checked so far."""

    def __init__(self, plan: Plan, validation: Validation, submission: Submission | None) -> None:
        self._corpus, self._validation, self._submission = plan.corpus, validation, submission
        self._protocols, self._gold = plan.protocols, plan.corpus if plan.gold is None else plan.gold.corpus
        self.seen = Index()
        self.kinds: set[str] = set()
        """Kinds of all mentions."""
        filters = dict.fromkeys(
            (protocol.kinds, filter_) for protocol in plan.protocols for filter_ in protocol.filters
        )
        self._filters = [(kinds, filter_) for kinds, filter_ in filters if filter_.validates]
        self._has_ids = plan.corpus.global_ids
        self.ids: dict[str, NamedIds] = {}
        """By document: its ids, if they mean the same in all documents."""
        self.observed: list[dict[str, Any]] = [{} for _ in self._filters]
        """For each filter that looks across documents: what it remembers of each."""
        self._checks: list[Check] = [] if plan.types is None else [checking(plan.types, TYPES.key)]
        self._checks += [_on_kinds(kinds, check) for kinds, filter_ in filters for check in filter_.checks()]
        report = graver(validation.add, {code for protocol in plan.protocols for code in protocol.faults})
        self._report = without(report, {code for protocol in plan.protocols for code in protocol.superseded})

    def add(self, batch: Batch, progress: Progress | None = None) -> None:
        """Check the documents of a batch."""
        name = self._corpus.files[batch.file].name
        if batch.is_first:
            self._validation.count(name)
        for entry in batch.entries:
            with reporting(self._validation, name, entry.line):
                self._check(batch.file, entry)
            if progress is not None:
                progress(self._validation.total.documents, None)
        if batch.error is not None:
            with reporting(self._validation, name):
                raise batch.error

    def _check(self, number: int, entry: Entry) -> None:
        name, findings, read = self._corpus.files[number].name, list[Finding](), 0
        try:
            for document in self._corpus.documents(number, entry, findings.append):
                read += 1
                line = entry.line if document.places is None else document.places.line
                self._enter(number, entry._replace(id=document.id, line=line), findings)
                self._check_document(document, name)
        except (KaratError, OSError):
            self._end(number, entry, findings, read)
            raise
        self._end(number, entry, findings, read)

    def _end(self, number: int, entry: Entry, findings: list[Finding], read: int) -> None:
        if not read and entry.is_document:
            self._enter(number, entry, findings)
        for finding in findings:
            self._report(finding)

    def _enter(self, number: int, entry: Entry, findings: list[Finding]) -> None:
        """Count a document. An id that was used before is reported before what the reader reported."""
        name = self._corpus.files[number].name
        self._validation.count(name, documents=1)
        if entry.id:
            with reporting(self._validation, name):
                self._corpus.enter(self.seen, number, entry)
        for finding in findings:
            self._report(finding)
        findings.clear()

    def _check_document(self, document: Document, name: str) -> None:
        where = partial(Where(document), file=name)
        self._validation.count(name, mentions=len(document.mentions))
        self.kinds.update(mention.kind for mention in document.mentions)
        for finding in check(document, where, self._checks, self._reading):
            self._report(finding)
        if self._has_ids:
            self.ids[document.id] = ids_of(document)
        for observed, (kinds, filter_) in zip(self.observed, self._filters, strict=True):
            pair = Pair(_of_kinds(document, kinds), Document(document.id))
            if (own := filter_.observe(pair, pair)) is not None:
                observed[document.id] = own
        if self._submission is not None:
            for finding in self._submission.add(document, where):
                self._report(finding)

    def _reading(self, kind: str) -> Reading | None:
        return self._readings.get(kind)

    @cached_property
    def _readings(self) -> dict[str, Reading]:
        """How the protocols read links; gold is read for it, which few documents need."""
        return readings_of(self._protocols, self._gold.facts())

    def look_across(self) -> None:
        """Report what only all documents together show."""
        findings = chain(
            id_conflicts(self.ids),
            *(filter_.across(own) for own, (_, filter_) in zip(self.observed, self._filters, strict=True) if own),
        )
        for finding in findings:
            file, line = self._corpus.where(str(finding.document), finding.item)
            self._report(finding._replace(file=file, line=line, origin=None))

    def part(self) -> CheckedPart:
        """Return the findings, to be sent to another process."""
        compared = set() if self._submission is None else self._submission.compared
        links = Counter[str]() if self._submission is None else self._submission.links
        return CheckedPart(self._validation, self.seen, self.ids, self.observed, compared, links, self.kinds)

    def merge(self, part: CheckedPart) -> bool:
        """Add documents that come after those so far; False: nothing was added, since one is repeated."""
        if not self.seen.rows.keys().isdisjoint(part.seen.rows):
            return False
        self._validation.merge(part.validation)
        for id_ in part.seen.rows:
            self.seen.add(*part.seen.place(id_))
        self.ids |= part.ids
        for observed, later in zip(self.observed, part.observed, strict=True):
            observed |= later
        self.kinds |= part.kinds
        if self._submission is not None:
            self._submission.compared |= part.compared
            self._submission.links += part.links
        return True


@contextmanager
def reporting(validation: Validation, file: str, line: int | None = None) -> Iterator[None]:
    """Report errors as findings, so that they end nothing else."""
    try:
        yield
    except UsageError:
        raise
    except KaratError as error:
        validation.add(error.finding._replace(file=error.finding.file or file))
    except OSError as error:
        validation.add(UNREADABLE.at(error.strerror or str(error), file=file, line=line))


def _on_kinds(kinds: tuple[str, ...] | None, check: DocumentCheck) -> Check:
    """A check of only those mentions that the protocol scores."""
    return lambda document: check(_of_kinds(document, kinds))


def _of_kinds(document: Document, kinds: tuple[str, ...] | None) -> Document:
    if kinds is None or {mention.kind for mention in document.mentions} <= {*kinds}:
        return document
    return restricted(document, lambda mention: mention.kind in kinds)
