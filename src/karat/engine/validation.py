"""Validation: every document of every file is read and checked, and what is wrong is told instead of raised."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from karat import __version__
from karat.checks import Check, check
from karat.checks.ids import Ids
from karat.checks.types import checking
from karat.corpus import FileCorpus, Progress, Survey, corpus_of, find
from karat.errors import Finding, Findings, KaratError, Report, Rule, UsageError, graver
from karat.filters.types import types_in
from karat.formats import FORMATS
from karat.model import Document
from karat.plugin import Block, Comparison, ReadOptions
from karat.protocols import resolve

NO_DOCUMENTS = Rule("no-documents", "fatal", "Check that this is the right file, and that it is whole.")
NO_VOCABULARY = Rule("vocabulary-empty", "fatal", "Name one type a line.")


class Tally(Struct):
    """How much was read, of one file or of all: documents, those with something fatal among them, and mentions."""

    documents: int = 0
    mentions: int = 0


class Validation:
    """What was read and what was found, file by file."""

    def __init__(self) -> None:
        self.files: dict[str, Tally] = {}
        self.total = Tally()
        self.findings = Findings()

    def count(self, file: str, *, documents: int = 0, mentions: int = 0) -> None:
        """Add to what was read of a file."""
        for tally in (self.files.setdefault(file, Tally()), self.total):
            tally.documents += documents
            tally.mentions += mentions

    def add(self, finding: Finding) -> None:
        """Take one finding; its file is listed even if nothing could be read of it."""
        self.count(finding.file or "")
        self.findings.add(finding)

    def by_file(self) -> dict[str, list[Finding]]:
        """The kept findings of every file, in the order of its lines."""
        found: dict[str, list[Finding]] = {file: [] for file in self.files}
        for finding in self.findings.kept:
            found[finding.file or ""].append(finding)
        return {file: sorted(listed, key=lambda finding: finding.line or 0) for file, listed in found.items()}

    @property
    def passed(self) -> bool:
        """Whether nothing worse than a note was found."""
        found = self.findings.by_severity()
        return not found["fatal"] and not found["fault"]

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON; `codes` counts the findings of each code, those beyond the kept ones too."""
        return {
            "karat": __version__,
            "files": [
                {"file": file, **asdict(self.files[file]), "findings": [finding.to_dict() for finding in listed]}
                for file, listed in self.by_file().items()
            ],
            "summary": {
                **asdict(self.total),
                "findings": self.findings.by_severity(),
                "codes": dict(sorted(self.findings.counts.items())),
            },
        }


def validate(
    paths: Sequence[str],
    *,
    format: str | None = None,
    options: ReadOptions | None = None,
    types: str | None = None,
    progress: Progress | None = None,
) -> Validation:
    """Check what each path names: a file, a folder, `@LIST` or `-`; each is a corpus of its own, as for a score.

    `types` is a file with one type a line that holds all types there are. Only options that cannot be used are raised.
    """
    options = options or ReadOptions()
    if format is not None:
        FORMATS.get(format)
    checks = [] if types is None else [_vocabulary(types)]
    validation = Validation()
    for path in paths:
        with _telling(validation, path):
            files = find(path, lambda error: validation.add(error.finding), validation.add)
            if files:
                corpus = corpus_of(files, path, format=format, options=options, report=validation.add, skip_broken=True)
                _check_corpus(corpus, checks, validation, progress)
    if progress is not None:
        progress(validation.total.documents, validation.total.documents)
    return validation


def _vocabulary(file: str) -> Check:
    comparison = Comparison(form="canonical")
    known = types_in(file, comparison)
    if not known:
        raise NO_VOCABULARY.error("there is no type in this file", file=file)
    return checking(known, comparison.key)


@contextmanager
def _telling(validation: Validation, file: str) -> Iterator[None]:
    """Whatever is refused in here is a finding, and ends nothing else."""
    try:
        yield
    except UsageError:
        raise
    except KaratError as error:
        validation.add(error.finding._replace(file=error.finding.file or file))


def _check_corpus(
    corpus: FileCorpus, checks: Sequence[Check], validation: Validation, progress: Progress | None
) -> None:
    seen, before = Survey(), dict(validation.findings.counts)
    if corpus.global_ids:
        checks = [*checks, Ids().check]
    # What the protocols that the format chooses take for a fault is one here, too.
    report = graver(validation.add, {code for name in corpus.protocols for code in resolve(name).faults})
    try:
        for number, file in enumerate(corpus.files):
            validation.count(file.name)
            # What is raised between two documents is the structure of the file, and nothing after it can be trusted.
            with _telling(validation, file.name):
                for block in corpus.blocks(number):
                    validation.count(file.name, documents=1)
                    with _telling(validation, file.name):
                        document = _read(corpus, number, block, seen, validation, report)
                        validation.count(file.name, mentions=len(document.mentions))
                        for finding in check(document, partial(corpus.where_at, number, block), checks):
                            report(finding)
                    if progress is not None:
                        progress(validation.total.documents, None)
    finally:
        corpus.close()
    if not seen.rows and validation.findings.counts == before:
        validation.add(NO_DOCUMENTS.at("there is no document", file=corpus.name))


def _read(
    corpus: FileCorpus, number: int, block: Block, seen: Survey, validation: Validation, report: Report
) -> Document:
    """A document with what the parser reports, after the error if its id was already used."""
    findings: list[Finding] = []
    try:
        document = corpus.read_at(number, block, findings.append)
        block = block._replace(id=document.id)
        return document
    finally:
        if block.id:
            with _telling(validation, corpus.files[number].name):
                corpus.enter(seen, number, block)
        for finding in findings:
            report(finding)
