"""The Python API: `karat.read` and `karat.score`."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from os import PathLike, fspath
from typing import Any

from karat import engine
from karat.corpus import Corpus, FileCorpus, open_corpus
from karat.counts import ScoreValues
from karat.errors import Findings, UsageError
from karat.formats import Options
from karat.model import Unit
from karat.protocols import resolve
from karat.report.text import text
from karat.results import Result as _Result
from karat.tables.contingency import contingency


class Result(_Result):
    """A result that prints as the table of `karat score`."""

    def __str__(self) -> str:
        return text(self)


def read(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    unit: Unit | None = None,
    tokens: str | None = None,
    sources: str | None = None,
) -> FileCorpus:
    """A lazy corpus that can be read again: of a file, a folder, or `@LIST`.

    `format` is sniffed if it is not named; `unit`, `tokens` and `sources` are what `--unit`, `--tokens` and `--sources`
    are.
    """
    return open_corpus(fspath(path), format=format, options=Options.of(unit, tokens, sources))


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
    accept_faults: bool = False,
    details: bool = False,
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
        engine.RunOptions(tuple(measures), tuple(by), per_unit, strict, accept_faults=accept_faults, details=details),
        findings=findings,
    )
    return Result(**vars(result))


class Coref(Mapping[str, ScoreValues]):
    """Coreference scores by name: `scores["b3"].f1`, or `scores["coref.b3"].f1`."""

    def __init__(self, leaves: Mapping[str, ScoreValues]) -> None:
        self._leaves = leaves

    def __getitem__(self, name: str) -> ScoreValues:
        return self._leaves[name.removeprefix("coref.")]

    def __iter__(self) -> Iterator[str]:
        return (f"coref.{name}" for name in self._leaves)

    def __len__(self) -> int:
        return len(self._leaves)


def coref(gold: Iterable[Iterable[Hashable]], system: Iterable[Iterable[Hashable]]) -> Coref:
    """Coreference scores of clusters in memory, for training loops; a mention is any value, the same on both sides.

    >>> coref([{"a", "b"}, {"c"}], [{"a"}, {"b", "c"}])["b3"].f1
    0.6666666666666666
    """
    from karat.measures.coref import scores

    return Coref(scores(contingency(gold, system)))


def _corpus(given: str | PathLike[str] | Corpus, other: Corpus | None, findings: Findings) -> Corpus:
    if isinstance(given, Corpus):
        return given
    fallback = other.format if isinstance(other, FileCorpus) else None
    return open_corpus(fspath(given), fallback=fallback, report=findings.add)
