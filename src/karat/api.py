"""The Python API: `karat.read` and `karat.score`."""

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import Any

from karat import engine
from karat.corpus import Corpus, FileCorpus, open_corpus
from karat.errors import Findings, UsageError
from karat.formats import Options
from karat.model import Unit
from karat.protocols import resolve
from karat.report.text import text
from karat.results import Result as _Result


class Result(_Result):
    """A result that prints as the table of `karat score`."""

    def __str__(self) -> str:
        return text(self)


def read(
    path: str | PathLike[str], *, format: str | None = None, unit: Unit | None = None, tokens: str | None = None
) -> FileCorpus:
    """A lazy corpus that can be read again: of a file, a folder, or `@LIST`.

    `format` is sniffed if it is not named; `unit` and `tokens` are what `--unit` and `--tokens` are.
    """
    return open_corpus(fspath(path), format=format, options=Options.of(unit, tokens))


def score(
    gold: str | PathLike[str] | Corpus,
    system: str | PathLike[str] | Corpus,
    *,
    protocol: str | None = None,
    settings: Mapping[str, Any] | None = None,
    measures: Sequence[str] = (),
    by: Sequence[str] = (),
    per_unit: bool = False,
    strict: bool = False,
) -> Result:
    """Score a system against gold under one protocol (none named: the first that gold's format chooses).

    `settings` are what `--set` takes. The result holds scores by measure id: `result["nugget.type"].f1`.
    """
    findings = Findings()
    golden = _corpus(gold, None, findings)
    found = _corpus(system, golden, findings)
    if protocol is None and not golden.protocols:
        raise UsageError("protocol-needed", "a corpus in memory does not choose a protocol", "Name one: protocol=...")
    (result,) = engine.score(
        golden,
        found,
        [resolve(protocol or golden.protocols[0], settings)],
        engine.Options(tuple(measures), tuple(by), per_unit, strict),
        findings=findings,
    )
    return Result(**vars(result))


def _corpus(given: str | PathLike[str] | Corpus, other: Corpus | None, findings: Findings) -> Corpus:
    if isinstance(given, Corpus):
        return given
    fallback = other.format if isinstance(other, FileCorpus) else None
    return open_corpus(fspath(given), fallback=fallback, report=findings.add)
