"""Validation: reads and checks every document of every file, and reports problems instead of raising them."""

from collections.abc import Mapping, Sequence
from typing import Any

from karat.corpus import Executor, Progress, absent_names, corpus_of, find
from karat.engine.against import Reference, Submission
from karat.engine.checking import TYPES, Plan, check_corpus, reporting
from karat.engine.validated import Validation
from karat.errors import Rule
from karat.filters.types import types_in
from karat.formats import FORMATS
from karat.model import Value
from karat.plugin import ReadOptions
from karat.protocols import resolve_all

__all__ = ["Validation", "validate"]

NO_VOCABULARY = Rule("vocabulary-empty", "fatal", "Write one type per line.")


def validate(
    paths: Sequence[str],
    *,
    format: str | None = None,
    options: ReadOptions | None = None,
    types: str | None = None,
    against: str | None = None,
    settings: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Validation:
    """Check what each path names: a file, a folder, `@LIST` or `-`; each is a separate corpus, as in scoring.

    `types` is a file of all allowed types, one per line. `against` names gold, with or without annotations: each path
    must then have its documents, and agree with their text, units and tokens. `settings` are parameters of the
    protocols that the format chooses, as `--set` gives them. Only unusable options are raised. With an `executor`,
    documents are checked in other processes.
    """
    options = options or ReadOptions()
    if format is not None:
        FORMATS.get(format)
    known = None if types is None else _vocabulary(types)
    validation = Validation()
    gold = None if against is None else _reference(against, format, options, settings or {}, validation, executor)
    corpora = [] if gold is None else [gold.corpus]
    for path in paths:
        before = validation.findings.by_severity()
        submission = None if gold is None else Submission(path, gold)
        with reporting(validation, path):
            if files := find(
                path, lambda error: validation.add(error.finding), validation.add, max_bytes=options.max_bytes
            ):
                fallback = None if gold is None else gold.corpus.format
                corpus = corpus_of(
                    files,
                    path,
                    format=format,
                    fallback=fallback,
                    options=options,
                    report=validation.add,
                    skip_broken=True,
                )
                if gold is not None:
                    corpus = corpus.beside(gold.corpus)
                plan = Plan(corpus, resolve_all(corpus.protocols, settings or {}), known, gold)
                check_corpus(plan, validation, submission, progress=progress, executor=executor)
                corpora.append(corpus)
        if submission is not None:
            for finding in submission.missing_documents():
                validation.add(finding)
            after = validation.findings.by_severity()
            submission.findings = {severity: after[severity] - before[severity] for severity in before}
            validation.submissions.append(submission)
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


def _reference(
    path: str,
    format_: str | None,
    options: ReadOptions,
    settings: Mapping[str, Any],
    validation: Validation,
    executor: Executor | None,
) -> Reference:
    """Gold, to compare submissions with. Its fatal findings are reported as gold's; others are only counted."""
    own = Validation()
    corpus = corpus_of(find(path), path, fallback=format_, options=options, report=own.add, skip_broken=True)
    check_corpus(Plan(corpus, resolve_all(corpus.protocols, settings), None, None), own, executor=executor)
    validation.sources |= own.sources
    for finding in own.findings.kept:
        if finding.severity == "fatal":
            validation.add(finding._replace(origin="gold"))
    return Reference(corpus, own.findings.by_severity())
