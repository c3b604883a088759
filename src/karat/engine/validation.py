"""Validation: reads and checks every document of every file, and reports problems instead of raising them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from karat import __version__
from karat.checks import Check, check
from karat.checks.ids import Ids
from karat.checks.types import checking
from karat.corpus import File, FileCorpus, Progress, Survey, absent_names, corpus_of, find
from karat.corpus.folders import UNREADABLE
from karat.engine.against import Reference, Submission
from karat.errors import Finding, Findings, KaratError, Report, Rule, UsageError, graver, without
from karat.filters import restricted
from karat.filters.types import types_in
from karat.formats import FORMATS
from karat.model import Document
from karat.plugin import Block, Comparison, DocumentCheck, ReadOptions
from karat.protocols import Protocol, resolve_all

NO_DOCUMENTS = Rule("no-documents", "fatal", "Check that this is the right file, and that it is complete.")
NO_VOCABULARY = Rule("vocabulary-empty", "fatal", "Write one type per line.")

Resolved = Callable[[FileCorpus], Sequence[Protocol]]
"""The protocols that a corpus is checked for."""

SEVERITIES = ("fatal", "fault", "note")
"""The worst first."""


class Tally(Struct):
    """How many documents (including those with fatal findings) and mentions were read."""

    documents: int = 0
    mentions: int = 0


class Validation:
    """What was read and what was found, file by file."""

    def __init__(self) -> None:
        self.files: dict[str, Tally] = {}
        self.total = Tally()
        self.findings = Findings()
        self.submissions: list[Submission] = []
        """One per path, if they were compared with gold."""
        self.sources: dict[str, File] = {}
        """The files by name, to show the lines that findings are about."""

    def count(self, file: str, *, documents: int = 0, mentions: int = 0) -> None:
        """Add to what was read of a file."""
        for tally in (self.files.setdefault(file, Tally()), self.total):
            tally.documents += documents
            tally.mentions += mentions

    def add(self, finding: Finding) -> None:
        """Add one finding; its file is listed even if nothing in it could be read."""
        self.count(finding.file or "")
        self.findings.add(finding)

    def by_file(self) -> dict[str, list[Finding]]:
        """The kept findings of every file, in the order of its lines."""
        by_file: dict[str, list[Finding]] = {file: [] for file in self.files}
        for finding in self.findings.kept:
            by_file[finding.file or ""].append(finding)
        return {file: sorted(listed, key=lambda finding: finding.line or 0) for file, listed in by_file.items()}

    def by_code(self) -> list[list[Finding]]:
        """The kept findings in groups of one code and side, the worst first, each in the order of files and lines."""
        groups: dict[tuple[str, str, str | None], list[Finding]] = {}
        for findings in self.by_file().values():
            for finding in findings:
                groups.setdefault((finding.severity, *finding.group), []).append(finding)
        return sorted(groups.values(), key=lambda group: SEVERITIES.index(group[0].severity))

    def line_of(self, finding: Finding) -> str | None:
        """The line of its file that a finding is about."""
        file = self.sources.get(finding.file or "")
        if file is None or finding.line is None:
            return None
        try:
            with file.open() as stream:
                for number, line in enumerate(stream, 1):
                    if number == finding.line:
                        return line.decode("utf-8", "replace").rstrip("\r\n")
        except OSError:
            pass
        return None

    @property
    def passed(self) -> bool:
        """Whether nothing worse than a note was found."""
        by_severity = self.findings.by_severity()
        return not by_severity["fatal"] and not by_severity["fault"]

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON; `codes` counts all findings of each code, including those that were not kept."""
        content: dict[str, Any] = {
            "karat": __version__,
            "files": [
                {"file": file, **asdict(self.files[file]), "findings": [finding.to_dict() for finding in listed]}
                for file, listed in self.by_file().items()
            ],
            "summary": {
                **asdict(self.total),
                "findings": self.findings.by_severity(),
                "codes": dict(sorted(self.findings.by_code().items())),
            },
        }
        if self.submissions:
            content["submissions"] = [submission.to_dict() for submission in self.submissions]
        return content


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
) -> Validation:
    """Check what each path names: a file, a folder, `@LIST` or `-`; each is a separate corpus, as in scoring.

    `types` is a file of all allowed types, one per line. `against` names gold, with or without annotations: each path
    must then have its documents, and agree with their text, units and tokens. `protocols` are those that the files are
    for, without them those that the format chooses; `settings` are their parameters, as `--set` gives them. Only
    unusable options are raised.
    """
    options = options or ReadOptions()
    if format is not None:
        FORMATS.get(format)
    checks = [] if types is None else [_vocabulary(types)]
    validation = Validation()
    resolved = _resolving(protocols, settings)
    gold = None
    if against is not None:
        gold, own = reference(against, resolved, fallback=format, options=options)
        validation.sources |= own.sources
        for finding in own.findings.kept:
            if finding.severity == "fatal":
                validation.add(finding._replace(origin="gold"))
    corpora = [] if gold is None else [gold.corpus]
    for path in paths:

        def found(path: str = path) -> list[File]:
            return find(path, lambda error: validation.add(error.finding), validation.add, max_bytes=options.max_bytes)

        corpus = _check_path(path, found, validation, gold, format, options, checks, resolved, progress)
        corpora += [] if corpus is None else [corpus]
    for finding in absent_names(*corpora):
        validation.add(finding)
    if gold is not None:
        gold.corpus.close()
    if progress is not None:
        progress(validation.total.documents, validation.total.documents)
    return validation


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
    corpus = _check_path(name, files, validation, gold, format, options or ReadOptions(), [], lambda _: protocols, None)
    return validation, corpus


def _check_path(
    path: str,
    found: Callable[[], list[File]],
    validation: Validation,
    gold: Reference | None,
    format_: str | None,
    options: ReadOptions,
    checks: Sequence[Check],
    resolved: Resolved,
    progress: Progress | None,
) -> FileCorpus | None:
    """Check the files of one path; return them as a corpus, if they are one."""
    before = validation.findings.by_severity()
    submission = None if gold is None else Submission(path, gold)
    corpus = None
    with _reporting(validation, path):
        if files := found():
            corpus = corpus_of(
                files,
                path,
                format=format_,
                fallback=None if gold is None else gold.corpus.format,
                options=options,
                report=validation.add,
                skip_broken=True,
            )
            if gold is not None:
                corpus = corpus.beside(gold.corpus)
            _check_corpus(corpus, checks, resolved, validation, submission, progress)
    if submission is not None:
        for finding in submission.missing_documents():
            validation.add(finding)
        after = validation.findings.by_severity()
        submission.findings = {severity: after[severity] - before[severity] for severity in before}
        validation.submissions.append(submission)
    return corpus


def _resolving(protocols: Sequence[str], settings: Mapping[str, Any] | None) -> Resolved:
    """These protocols, or else those that the format chooses."""
    return lambda corpus: resolve_all(protocols or corpus.protocols, settings or {})


def _vocabulary(file: str) -> Check:
    comparison = Comparison(form="canonical")
    known = types_in(file, comparison)
    if not known:
        raise NO_VOCABULARY.error("there is no type in this file", file=file)
    return checking(known, comparison.key)


def reference(
    path: str,
    resolved: Resolved,
    *,
    format: str | None = None,
    fallback: str | None = None,
    options: ReadOptions | None = None,
) -> tuple[Reference, Validation]:
    """Gold, to compare submissions with, and what was found in it; `fallback` is the format of empty files."""
    own = Validation()
    options = options or ReadOptions()
    files = find(path, max_bytes=options.max_bytes)
    corpus = corpus_of(files, path, format=format, fallback=fallback, options=options, report=own.add, skip_broken=True)
    _check_corpus(corpus, [], resolved, own, None, None)
    return Reference(corpus, own.findings.by_severity(), resolved(corpus)), own


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


def _check_corpus(
    corpus: FileCorpus,
    checks: Sequence[Check],
    resolved: Resolved,
    validation: Validation,
    submission: Submission | None,
    progress: Progress | None,
) -> None:
    seen, before = Survey(), dict(validation.findings.counts)
    if corpus.global_ids:
        checks = [*checks, Ids().check]
    # What the protocols refuse, or count as a fault, is found here, too.
    protocols = resolved(corpus)
    filters = dict.fromkeys((protocol.kinds, filter_) for protocol in protocols for filter_ in protocol.filters)
    checks = [*checks, *(_on_kinds(kinds, one) for kinds, filter_ in filters for one in filter_.checks())]
    report = graver(validation.add, {code for protocol in protocols for code in protocol.faults})
    report = without(report, {code for protocol in protocols for code in protocol.superseded})
    validation.sources |= {file.name: file for file in corpus.files}
    try:
        for number, file in enumerate(corpus.files):
            validation.count(file.name)
            # An error between two documents is about the structure of the file; the rest of it is not read.
            with _reporting(validation, file.name):
                for block in corpus.blocks(number):
                    validation.count(file.name, documents=1)
                    with _reporting(validation, file.name, block.line):
                        where = partial(corpus.where_at, number, block)
                        try:
                            document = _read(corpus, number, block, seen, validation, report)
                        except KaratError as error:
                            for finding in _check_before(corpus, number, block, error.finding.line, checks):
                                report(finding)
                            raise
                        validation.count(file.name, mentions=len(document.mentions))
                        for finding in check(document, where, checks):
                            report(finding)
                        if submission is not None:
                            for finding in submission.add(document, where):
                                report(finding)
                    if progress is not None:
                        progress(validation.total.documents, None)
    finally:
        corpus.close()
    if submission is not None:
        submission.enter(seen.rows)
    if not seen.rows and validation.findings.counts == before:
        validation.add(NO_DOCUMENTS.at("there is no document", file=corpus.name))


def _on_kinds(kinds: tuple[str, ...] | None, check: DocumentCheck) -> Check:
    """A check of only those mentions that the protocol scores."""

    def check_kinds(document: Document) -> Iterator[Finding]:
        if kinds is not None and not {mention.kind for mention in document.mentions} <= {*kinds}:
            document = restricted(document, lambda mention: mention.kind in kinds)
        return check(document)

    return check_kinds


def _check_before(
    corpus: FileCorpus, number: int, block: Block, line: int | None, checks: Sequence[Check]
) -> Iterator[Finding]:
    """What is wrong before the line at which a parser gave up, if that part can be read by itself."""
    if line is None:
        return
    with suppress(KaratError):
        if (document := corpus.read_before(number, block, line)) is not None:
            yield from check(document, partial(corpus.where_at, number, block), checks)


def _read(
    corpus: FileCorpus, number: int, block: Block, seen: Survey, validation: Validation, report: Report
) -> Document:
    """A document. What is wrong with its file and its id is reported before what the parser reports."""
    findings: list[Finding] = []
    try:
        document = corpus.read_at(number, block, findings.append)
        block = block._replace(id=document.id)
        return document
    finally:
        for problem in block.problems:
            report(problem)
        if block.id:
            with _reporting(validation, corpus.files[number].name):
                corpus.enter(seen, number, block)
        for finding in findings:
            report(finding)
