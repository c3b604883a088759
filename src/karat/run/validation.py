"""Validation: reads and checks every document of every file, and reports problems instead of raising them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

from karat.corpus.files import FileCorpus
from karat.corpus.interface import Executor, Progress
from karat.corpus.opening import absent_names, corpus_of
from karat.corpus.paths import File, find
from karat.filters.types import types_in
from karat.formats import FORMATS
from karat.model import Value
from karat.plugin import ReadOptions
from karat.problems import Rule
from karat.protocols import Protocol, resolve_all
from karat.run.against import Reference, Submission, Validation
from karat.run.checking import TYPES, Plan, check_corpus, reporting

__all__ = ["Validation", "reference", "validate", "validate_files"]

Resolved = Callable[[FileCorpus], Sequence[Protocol]]
"""The protocols that a corpus is checked for."""

NO_VOCABULARY = Rule("vocabulary-empty", "fatal", "Write one type per line.")


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
    options = options or ReadOptions()
    if format is not None:
        FORMATS.get(format)
    known = None if types is None else _vocabulary(types)
    validation = Validation()
    resolved = _resolving(protocols, settings)
    gold = None
    if against is not None:
        gold, own = reference(against, resolved, fallback=format, options=options, executor=executor)
        validation.sources |= own.sources
        for finding in own.findings.kept:
            if finding.severity == "fatal":
                validation.add(finding._replace(origin="gold"))
    corpora = [] if gold is None else [gold.corpus]
    for path in paths:
        with _submission(path, gold, validation) as submission:
            files = find(path, lambda error: validation.add(error.finding), validation.add, max_bytes=options.max_bytes)
            if files:
                corpus = _opened(files, path, gold, format, options, validation)
                plan = Plan(corpus, resolved(corpus), known, gold)
                check_corpus(plan, validation, submission, progress=progress, executor=executor)
                corpora.append(corpus)
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
    corpus = None
    with _submission(name, gold, validation) as submission:
        corpus = _opened(files(), name, gold, format, options or ReadOptions(), validation)
        check_corpus(Plan(corpus, protocols, None, gold), validation, submission)
    return validation, corpus


@contextmanager
def _submission(path: str, gold: Reference | None, validation: Validation) -> Iterator[Submission | None]:
    """Compare the documents of a path with gold, if there is one. Errors become findings and end nothing else."""
    before = validation.findings.by_severity()
    submission = None if gold is None else Submission(path, gold)
    with reporting(validation, path):
        yield submission
    if submission is not None:
        for finding in chain(submission.missing_documents(), submission.absent_links()):
            validation.add(finding)
        after = validation.findings.by_severity()
        submission.findings = {severity: after[severity] - before[severity] for severity in before}
        validation.submissions.append(submission)


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


def _resolving(protocols: Sequence[str], settings: Mapping[str, Any] | None) -> Resolved:
    """These protocols, or else those that the format chooses."""
    return lambda corpus: resolve_all(protocols or corpus.protocols, settings or {})


def _vocabulary(file: str) -> set[Value | None]:
    known = types_in(file, TYPES)
    if not known:
        raise NO_VOCABULARY.error("there is no type in this file", file=file)
    return known


def reference(
    path: str,
    resolved: Resolved,
    *,
    format: str | None = None,
    fallback: str | None = None,
    options: ReadOptions | None = None,
    executor: Executor | None = None,
) -> tuple[Reference, Validation]:
    """Gold, to compare submissions with, and what was found in it; `fallback` is the format of empty files."""
    own = Validation()
    options = options or ReadOptions()
    files = find(path, max_bytes=options.max_bytes)
    corpus = corpus_of(files, path, format=format, fallback=fallback, options=options, report=own.add, skip_broken=True)
    protocols = resolved(corpus)
    check_corpus(Plan(corpus, protocols, None, None, is_reference=True), own, executor=executor)
    return Reference(corpus, own.findings.by_severity(), protocols), own
