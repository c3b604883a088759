"""Validation: checks every document of every file, whatever is wrong with others, and reports problems.

Documents are found in this process and checked in portions, here or in other processes (`karat.corpus.chunks`).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from itertools import chain, tee
from typing import Any, NamedTuple

from msgspec.structs import replace

from karat.checks import Check, check
from karat.checks.annotations import NamedIds, Reading, checking, id_conflicts, ids_of
from karat.corpus.chunks import LARGEST, PER_WORKER, attempted, collected
from karat.corpus.files import FileCorpus, Where
from karat.corpus.index import DOCUMENT, Entry, Index
from karat.corpus.interface import Executor, Progress
from karat.corpus.opening import absent_names, corpus_of
from karat.corpus.paths import UNREADABLE, File, find
from karat.filters import restricted
from karat.filters.types import types_in
from karat.formats import FORMATS
from karat.model import Document, Pair, Value
from karat.plugin import Comparison, DocumentCheck, ReadOptions
from karat.problems import Finding, KaratError, Rule, UsageError, escalate, without
from karat.protocols import Protocol, opened_for, resolve_all
from karat.run.diagnosis import FirstSpans, swapped
from karat.run.plan import lacking, readings_of
from karat.run.submissions import Reference, Submission, Validation

__all__ = ["Validation", "reference", "validate", "validate_files"]

NO_DOCUMENTS = Rule("no-documents", "fatal", "Check that this is the right file, and that it is complete.")
NO_VOCABULARY = Rule("vocabulary-empty", "fatal", "Write one type per line.")
TYPES = Comparison(form="canonical")
"""Comparison of types with a list of them."""

Resolved = Callable[[FileCorpus], Sequence[Protocol]]
"""The protocols that a corpus is checked for."""


def validate(
    paths: Sequence[str],
    *,
    format: str | None = None,
    options: ReadOptions | None = None,
    types: str | None = None,
    against: str | None = None,
    protocols: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Validation:
    """Check what each path names: a file, a folder, `@LIST` or `-`; each is a separate corpus, as in scoring.

    `types` is a file of all allowed types, one per line. `against` names gold, with or without annotations: each path
    must then have its documents, and agree with their text, units and tokens. `protocols` are those that the files are
    for, without them those that the format chooses; `settings` are their parameters, as `--set` gives them. Only
    unusable options are raised. With an `executor`, documents are checked in other processes.
    """

    def resolved(corpus: FileCorpus) -> Sequence[Protocol]:
        return resolve_all(protocols or corpus.protocols, settings or {})

    options = options or ReadOptions()
    if format is not None:
        FORMATS.get(format)
    known = None if types is None else _vocabulary(types)
    validation = Validation()
    gold = None
    if against is not None:
        gold, of_gold = reference(against, resolved, fallback=format, options=options, executor=executor)
        validation.sources |= of_gold.sources
        for finding in of_gold.findings.kept:
            if finding.severity == "fatal":
                validation.add(finding._replace(origin="gold"))
    corpora = [] if gold is None else [gold.corpus]
    for path in paths:
        with _submission(path, gold, validation) as submission:
            files = find(path, lambda error: validation.add(error.finding), validation.add, max_bytes=options.max_bytes)
            if files:
                corpus = _opened(files, path, gold, format, options, validation)
                checks = CorpusChecks(corpus, resolved(corpus), known, gold)
                _check_corpus(checks, validation, submission, progress=progress, executor=executor)
                corpora.append(corpus)
                for finding in () if gold is None else swapped(gold.corpus.name, corpus.name):
                    validation.add(finding._replace(file=corpus.name))
    for finding in absent_names(*corpora):
        validation.add(finding)
    if gold is not None:
        gold.corpus.close()
    if progress is not None:
        progress(validation.total.documents, validation.total.documents)
    return validation


def _vocabulary(file: str) -> set[Value | None]:
    known = types_in(file, TYPES)
    if not known:
        raise NO_VOCABULARY.error("there is no type in this file", file=file)
    return known


def validate_files(
    files: Callable[[], list[File]],
    name: str,
    gold: Reference,
    protocols: Sequence[Protocol],
    *,
    format: str | None = None,
    options: ReadOptions | None = None,
) -> tuple[Validation, FileCorpus | None]:
    """Check the files of one submission against gold, as `validate` does; if they are a corpus, return that, too.

    `protocols` are those that it will be scored with. An error of `files` is a finding like any other.
    """
    validation = Validation()
    corpus = None
    with _submission(name, gold, validation) as submission:
        corpus = _opened(files(), name, gold, format, options or ReadOptions(), validation)
        _check_corpus(CorpusChecks(corpus, protocols, None, gold), validation, submission)
    return validation, corpus


def reference(
    path: str,
    resolved: Resolved,
    *,
    format: str | None = None,
    fallback: str | None = None,
    options: ReadOptions | None = None,
    executor: Executor | None = None,
) -> tuple[Reference, Validation]:
    """Return gold, to compare submissions with, and its findings; `fallback` is the format of empty files."""
    validation = Validation()
    options = options or ReadOptions()
    files = find(path, max_bytes=options.max_bytes)
    corpus = corpus_of(
        files, path, format=format, fallback=fallback, options=options, report=validation.add, skip_broken=True
    )
    protocols = resolved(corpus)
    corpus = opened_for(corpus, protocols)
    _check_corpus(CorpusChecks(corpus, protocols, is_reference=True), validation, executor=executor)
    return Reference(corpus, validation.findings.by_severity(), protocols), validation


@contextmanager
def _submission(path: str, gold: Reference | None, validation: Validation) -> Iterator[Submission | None]:
    """Compare the documents of a path with gold, if there is one. Errors become findings and end nothing else."""
    before = validation.findings.by_severity()
    submission = None if gold is None else Submission(path, gold)
    with _reporting(validation, path):
        yield submission
    if submission is not None:
        for finding in chain(submission.missing_documents(), submission.absent_links()):
            validation.add(finding)
        after = validation.findings.by_severity()
        submission.findings = {severity: after[severity] - before[severity] for severity in before}
        validation.submissions.append(submission)


@contextmanager
def _reporting(validation: Validation, file: str, line: int | None = None) -> Iterator[None]:
    """Report errors as findings, so that they end nothing else."""
    try:
        yield
    except UsageError:
        raise
    except KaratError as error:
        validation.add(error.finding._replace(file=error.finding.file or file))
    except OSError as error:
        validation.add(UNREADABLE.at(error.strerror or str(error), file=file, line=line))


def _opened(
    files: list[File],
    path: str,
    gold: Reference | None,
    format_: str | None,
    options: ReadOptions,
    validation: Validation,
) -> FileCorpus:
    fallback = None if gold is None else gold.corpus.format
    corpus = corpus_of(
        files, path, format=format_, fallback=fallback, options=options, report=validation.add, skip_broken=True
    )
    return corpus if gold is None else corpus.beside(gold.corpus)


class CorpusChecks(NamedTuple):
    """A corpus and its checks: all that a process needs besides the places of documents."""

    corpus: FileCorpus
    protocols: Sequence[Protocol]
    """Protocols whose refusals and faults are also reported."""
    types: set[Value | None] | None = None
    """All allowed types; None: any."""
    gold: Reference | None = None
    """Gold, if the corpus is compared with it."""
    is_reference: bool = False
    """True if others are compared with the corpus, which may then have no annotations."""


class Portion(NamedTuple):
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


def _check_corpus(
    checks: CorpusChecks,
    validation: Validation,
    submission: Submission | None = None,
    *,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> None:
    """Check all documents of a corpus, and report what is wrong with them."""
    corpus, before, invalid = checks.corpus, dict(validation.findings.counts), validation.invalid
    validation.sources |= {file.name: file for file in corpus.files}
    documents = CheckedDocuments(checks, validation, submission)
    width = 1 if executor is None else executor.width(corpus.size())
    most = LARGEST if width == 1 else min(LARGEST, corpus.size() // (PER_WORKER * width))
    try:
        if executor is None or width == 1:
            for portion in _portions(corpus, most):
                documents.add(portion, progress)
        else:
            corpus.ids()  # workers need the index, and know by it whether files change
            sent, kept = tee(_portions(corpus, most))
            results = executor.map(checked_portion, checks, sent)
            for portion, part in collected(kept, results, documents.add):
                if not documents.merge(part):
                    documents.add(portion)
                if progress is not None:
                    progress(validation.total.documents, None)
        documents.look_across()
        if checks.gold is not None:
            for finding in FirstSpans.of(checks.gold.corpus, corpus).findings(count_texts=False):
                validation.add(finding._replace(file=corpus.name))
    finally:
        corpus.close()
    if submission is not None:
        submission.enter(documents.seen.rows)
    if not documents.seen.rows and validation.findings.counts == before:
        validation.add(NO_DOCUMENTS.at("there is no document", file=corpus.name))
    if submission is None and not checks.is_reference and invalid == validation.invalid:
        absent = [lacking(protocol, documents.kinds, "the corpus") for protocol in checks.protocols]
        for finding in dict.fromkeys(finding for finding in absent if finding is not None):
            validation.add(finding._replace(file=corpus.name))


def _portions(corpus: FileCorpus, most: int) -> Iterator[Portion]:
    """Divide the documents of all files into portions of at most about that many bytes."""
    for file in range(len(corpus.files)):
        entries: list[Entry] = []
        is_first, size, error = True, 0, None
        try:
            for entry in corpus.entries(file):
                entries.append(entry)
                size += entry.length + DOCUMENT
                if size >= most:
                    yield Portion(file, entries, is_first)
                    entries, is_first, size = [], False, 0
        except UsageError:
            raise
        except (KaratError, OSError) as raised:
            error = raised.with_traceback(None)
        yield Portion(file, entries, is_first, error)


def checked_portion(checks: CorpusChecks, portion: Portion) -> CheckedPart | str:
    """Check the documents of a portion in a worker."""
    submission = None if checks.gold is None else Submission(checks.corpus.name, checks.gold)
    documents = CheckedDocuments(checks, Validation(), submission)

    def part() -> CheckedPart:
        documents.add(portion)
        return documents.part()

    try:
        return attempted(part)
    finally:
        checks.corpus.close()
        if checks.gold is not None:
            checks.gold.corpus.close()


class CheckedDocuments:
    """The documents of a corpus that were checked so far."""

    def __init__(self, checks: CorpusChecks, validation: Validation, submission: Submission | None) -> None:
        self._corpus, self._validation, self._submission = checks.corpus, validation, submission
        self._protocols = checks.protocols
        self._gold = checks.corpus if checks.gold is None else checks.gold.corpus
        self.seen = Index()
        self.kinds: set[str] = set()
        """Kinds of all mentions."""
        filters = dict.fromkeys(
            (protocol.kinds, filter_) for protocol in checks.protocols for filter_ in protocol.filters
        )
        self._filters = [(kinds, filter_) for kinds, filter_ in filters if filter_.validates]
        self.ids: dict[str, NamedIds] = {}
        """By document: its ids, if they mean the same in all documents."""
        self.observed: list[dict[str, Any]] = [{} for _ in self._filters]
        """For each filter that looks across documents: what it remembers of each."""
        self._checks: list[Check] = [] if checks.types is None else [checking(checks.types, TYPES.key)]
        self._checks += [_on_kinds(kinds, check) for kinds, filter_ in filters for check in filter_.checks()]
        report = escalate(validation.add, {code for protocol in checks.protocols for code in protocol.faults})
        self._report = without(report, {code for protocol in checks.protocols for code in protocol.superseded})

    def add(self, portion: Portion, progress: Progress | None = None) -> None:
        name = self._corpus.files[portion.file].name
        if portion.is_first:
            self._validation.count(name)
        for entry in portion.entries:
            with _reporting(self._validation, name, entry.line):
                self._check(portion.file, entry)
            if progress is not None:
                progress(self._validation.total.documents, None)
        if portion.error is not None:
            with _reporting(self._validation, name):
                raise portion.error

    def _check(self, file: int, entry: Entry) -> None:
        findings, is_read = list[Finding](), False
        try:
            for document in self._corpus.documents(file, entry, findings.append):
                is_read = True
                line = entry.line if document.places is None else document.places.line
                self._enter(file, replace(entry, id=document.id, line=line), findings)
                self._check_document(document, self._corpus.files[file].name)
        finally:
            if not is_read and entry.is_document:
                self._enter(file, entry, findings)
            for finding in findings:
                self._report(finding)

    def _enter(self, file: int, entry: Entry, findings: list[Finding]) -> None:
        """Count a document. An id that was used before is reported before what the reader reported."""
        name = self._corpus.files[file].name
        self._validation.count(name, documents=1)
        if entry.id:
            with _reporting(self._validation, name):
                self._corpus.enter(self.seen, file, entry)
        for finding in findings:
            self._report(finding)
        findings.clear()

    def _check_document(self, document: Document, name: str) -> None:
        where = partial(Where(document), file=name)
        self._validation.count(name, mentions=len(document.mentions))
        self.kinds.update(mention.kind for mention in document.mentions)
        for finding in check(document, where, self._checks, self._reading):
            self._report(finding)
        if self._corpus.global_ids:
            self.ids[document.id] = ids_of(document)
        for observed, (kinds, filter_) in zip(self.observed, self._filters, strict=True):
            pair = Pair(_of_kinds(document, kinds), Document(document.id))
            if (memory := filter_.observe(pair, pair)) is not None:
                observed[document.id] = memory
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
            *(filter_.across(seen) for seen, (_, filter_) in zip(self.observed, self._filters, strict=True) if seen),
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


def _on_kinds(kinds: tuple[str, ...] | None, check: DocumentCheck) -> Check:
    """A check of only those mentions that the protocol scores."""
    return lambda document: check(_of_kinds(document, kinds))


def _of_kinds(document: Document, kinds: tuple[str, ...] | None) -> Document:
    if kinds is None or {mention.kind for mention in document.mentions} <= {*kinds}:
        return document
    return restricted(document, lambda mention: mention.kind in kinds)
