"""The Python API: `karat.read`, `karat.score` and `karat.coref`."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from os import PathLike, fspath
from typing import Any

from karat import engine
from karat.corpus import Corpus, FileCorpus, open_corpus
from karat.counts import ScoreValues
from karat.errors import Findings, UsageError
from karat.formats import read_options
from karat.model import Unit
from karat.protocols import resolve
from karat.report.text import text
from karat.results import Result as _Result
from karat.tables.contingency import contingency


class Result(_Result):
    """A result that prints like the output of `karat score`."""

    def __str__(self) -> str:
        return text(self)


def read(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    unit: Unit | None = None,
    tokens: str | None = None,
    sources: str | None = None,
    max_bytes: int | None = None,
) -> FileCorpus:
    """Open a corpus: a file, a folder, or `@LIST`. It is read lazily, and can be read again.

    Without `format`, the format is detected from the content. `unit`, `tokens`, `sources` and `max_bytes` are
    the options `--unit`, `--tokens`, `--sources` and `--max-bytes`.
    """
    return open_corpus(fspath(path), format=format, options=read_options(unit, tokens, sources, max_bytes))


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
    """Score a system against gold under one protocol. Default: the first default protocol of gold's format.

    `settings` are the parameters that `--set` changes. The result has scores by measure id: `result["nugget.type"].f1`.
    """
    findings = Findings()
    gold_corpus = _corpus(gold, None, findings)
    system_corpus = _corpus(system, gold_corpus, findings)
    if protocol is None and not gold_corpus.protocols:
        raise UsageError("protocol-needed", "a corpus in memory has no default protocol", "Choose one: protocol=...")
    (result,) = engine.score(
        gold_corpus,
        system_corpus,
        [resolve(protocol or gold_corpus.protocols[0], settings)],
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
    """Score clusters in memory, for example in a training loop. A mention is any value, the same on both sides.

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
