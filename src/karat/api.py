"""The Python API: `karat.read`, `karat.score`, `karat.compare`, `karat.Scorer` and `karat.coref`."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from os import PathLike, fspath
from typing import Any, cast, overload

from karat import comparison, engine
from karat.comparison import Comparison as _Comparison
from karat.corpus import Corpus, FileCorpus, MemoryCorpus, open_corpus
from karat.counts import ScoreValues
from karat.errors import Findings, Origin, Rule, UsageError, of_side, quoted
from karat.formats import read_options
from karat.model import Document, Unit
from karat.protocols import Protocol, resolve, resolve_all
from karat.report.comparison import comparison_html, comparison_text
from karat.report.notebook import html
from karat.report.text import main_line, text, texts
from karat.results import Result as _Result
from karat.tables.contingency import contingency

IN_TWO_CLUSTERS = Rule("mention-in-clusters", "fatal", "Put each mention into one cluster of its side.")
NO_PAIR = Rule("not-a-pair", "fatal", "Add the two sides of one document, with the same id.")

LONGEST = 80
"""Characters of a mention in a message."""

Side = str | PathLike[str] | Corpus | Document | Iterable[Document]
"""One side of a score: a path, a corpus, or documents in memory."""


class Result(_Result):
    """The scores of one protocol. Printed, it is the report of `karat score`."""

    def __str__(self) -> str:
        return text(self)

    def __repr__(self) -> str:
        return f"<Result {self.protocol}: {'; '.join(filter(None, [_documents(self), main_line(self)]))}>"

    def _repr_html_(self) -> str:
        """A table, for notebooks."""
        return html(self)


class Results(Mapping[str, Result]):
    """The scores of several protocols, each by its name. Printed, they are the report of `karat score`."""

    def __init__(self, results: Sequence[Result]) -> None:
        self._results = {result.protocol: result for result in results}

    def __getitem__(self, protocol: str) -> Result:
        try:
            return self._results[protocol]
        except KeyError:
            raise KeyError(f"{protocol!r} was not scored; scored: {', '.join(self)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def to_dict(self) -> dict[str, Any]:
        """The JSON that `karat score -f json` prints for several protocols."""
        return {"protocols": {name: result.to_dict() for name, result in self.items()}}

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows of all protocols, for pandas or polars."""
        return [row for result in self.values() for row in result.to_dicts()]

    def __str__(self) -> str:
        return texts(list(self.values()))

    def __repr__(self) -> str:
        return f"<Results {', '.join(self)}: {_documents(next(iter(self.values())))}>"

    def _repr_html_(self) -> str:
        """Tables, for notebooks."""
        return "".join(map(html, self.values()))


def _documents(result: _Result) -> str:
    return f"{result.gold.documents:,} document{'s' * (result.gold.documents != 1)}"


def read(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    unit: Unit | None = None,
    tokens: str | None = None,
    sources: str | None = None,
    coreference: Iterable[str] = (),
    max_bytes: int | None = None,
) -> FileCorpus:
    """Open a corpus: a file, a folder, or `@LIST`. It is read lazily, and can be read again.

    Without `format`, the format is detected from the content. The other arguments are the options of these names.
    """
    options = read_options(unit, tokens, sources, coreference, max_bytes)
    return open_corpus(fspath(path), format=format, options=options)


@overload
def score(
    gold: Side,
    system: Side,
    *,
    protocol: str | None = None,
    settings: Mapping[str, Any] | None = None,
    measures: str | Sequence[str] = (),
    by: str | Sequence[str] = (),
    per_unit: bool = False,
    strict: bool = False,
    accept_faults: bool = False,
    details: bool = False,
    ci: float | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> Result: ...


@overload
def score(
    gold: Side,
    system: Side,
    *,
    protocol: list[str] | tuple[str, ...],
    settings: Mapping[str, Any] | None = None,
    measures: str | Sequence[str] = (),
    by: str | Sequence[str] = (),
    per_unit: bool = False,
    strict: bool = False,
    accept_faults: bool = False,
    details: bool = False,
    ci: float | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> Results: ...


def score(
    gold: Side,
    system: Side,
    *,
    protocol: str | list[str] | tuple[str, ...] | None = None,
    settings: Mapping[str, Any] | None = None,
    measures: str | Sequence[str] = (),
    by: str | Sequence[str] = (),
    per_unit: bool = False,
    strict: bool = False,
    accept_faults: bool = False,
    details: bool = False,
    ci: float | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> Result | Results:
    """Score a system against gold under one protocol, or under each of a list of protocols.

    Each side is a path, a corpus (`karat.read`) or a list of documents. Without `protocol`, gold's format chooses.
    `settings` are the parameters that `--set` changes. The result has scores by measure id: `result["nugget.type"].f1`;
    with a list of protocols, `results["tac-2017"]["nugget.type"].f1`. With `ci`, a confidence level such as 0.95, every
    score has an interval: `result["nugget.type"].micro.ci.values["f1"]`.
    """
    findings = Findings()
    gold_corpus = _corpus(gold, "gold", None, findings)
    system_corpus = _corpus(system, "system", gold_corpus, findings)
    names = gold_corpus.protocols[:1] if protocol is None else _listed(protocol)
    if not names:
        raise UsageError("protocol-needed", "the list of protocols is empty", "Name at least one protocol.")
    options = engine.RunOptions(
        _listed(measures),
        _listed(by),
        per_unit,
        strict,
        accept_faults=accept_faults,
        details=details,
        keep_rows=ci is not None,
    )
    chosen = resolve_all(names, settings or {})
    results = _scored(gold_corpus, system_corpus, chosen, options, findings)
    if ci is not None:
        from karat.stats.confidence import with_intervals

        level = _level(ci)
        results = [with_intervals(result, level=level, resamples=resamples, seed=seed) for result in results]
    return results[0] if protocol is None or isinstance(protocol, str) else Results(results)


def _level(ci: float) -> float:
    if not 0 < ci < 1:
        raise UsageError("bad-level", f"{ci!r} is not a confidence level", "Give a fraction, such as 0.95.")
    return ci


class Comparison(_Comparison):
    """Systems under one protocol, best first. Printed, it is the report of `karat compare`."""

    def __str__(self) -> str:
        return comparison_text(self, digits=2)

    def __repr__(self) -> str:
        names = ", ".join(f"{system.rank}. {system.name}" for system in self.systems)
        return f"<Comparison {self.first.protocol}, by {self.sort_by}: {names}>"

    def _repr_html_(self) -> str:
        """Tables, for notebooks."""
        return comparison_html(self)


def compare(
    gold: Side,
    systems: Mapping[str, Side | Sequence[Side]],
    *,
    protocol: str | None = None,
    settings: Mapping[str, Any] | None = None,
    measures: str | Sequence[str] = (),
    baseline: str | None = None,
    sort_by: str | None = None,
    ci: float = 0.95,
    resamples: int | None = None,
    seed: int = 0,
    strict: bool = False,
    accept_faults: bool = False,
    jobs: int = 1,
) -> Comparison:
    """Rank systems against gold: intervals, paired tests against the baseline and between neighbours, ranks.

    Each system is what `karat.score` takes, or a list of paths or corpora: several runs, whose scores are averaged. The
    baseline is the first system unless it is named. By default, there are 1,000 resamples, and at least 40 per
    comparison.
    """
    if not systems:
        raise UsageError("systems-needed", "there is no system to compare", "Give at least one: {name: system}.")
    findings = Findings()
    gold_corpus = _corpus(gold, "gold", None, findings)
    runs = []
    for name, given in systems.items():
        for one in _runs(given):
            found = Findings()
            corpus = _corpus(one, "system", gold_corpus, found)
            runs.append(comparison.Run(name, corpus, [*findings.kept, *found.kept]))
    options = engine.RunOptions(_listed(measures), strict=strict, accept_faults=accept_faults, keep_rows=True)
    names = gold_corpus.protocols[:1] if protocol is None else (protocol,)
    (compared,) = comparison.compared(
        comparison.Task(gold_corpus, names, settings or {}, options),
        runs,
        baseline=comparison.NamedSystems(dict.fromkeys(systems, ())).baseline(baseline),
        sort_by=sort_by,
        level=_level(ci),
        resamples=resamples,
        seed=seed,
        jobs=jobs,
    )
    return Comparison(**vars(compared))


def _runs(given: Side | Sequence[Side]) -> Sequence[Side]:
    """The runs of a system: a list of paths or corpora has several; a list of documents is one."""
    if isinstance(given, list | tuple) and given and all(isinstance(one, str | PathLike | Corpus) for one in given):
        return given
    return [cast("Side", given)]


def _scored(
    gold: Corpus, system: Corpus, protocols: Sequence[Protocol], options: engine.RunOptions, findings: Findings
) -> list[Result]:
    results = engine.score(gold, system, protocols, options, findings=findings)
    return [Result(**vars(result)) for result in results]


def _listed(names: str | Iterable[str]) -> tuple[str, ...]:
    """A list of names; a string is a list of one."""
    return (names,) if isinstance(names, str) else tuple(names)


def _corpus(given: Side, side: Origin, other: Corpus | None, findings: Findings) -> Corpus:
    if isinstance(given, Corpus):
        return given
    if isinstance(given, str | PathLike):
        fallback = other.format if isinstance(other, FileCorpus) else None
        return open_corpus(fspath(given), fallback=fallback, report=of_side(findings.add, side))
    return MemoryCorpus([given] if isinstance(given, Document) else given, name=f"{side} in memory")


class Scorer:
    """Scores documents that arrive one pair after another, for example in a training loop.

    The scorer keeps the documents; `result()` can be called at any time.
    """

    def __init__(
        self,
        protocol: str,
        *,
        settings: Mapping[str, Any] | None = None,
        measures: str | Sequence[str] = (),
        by: str | Sequence[str] = (),
        per_unit: bool = False,
        strict: bool = False,
    ) -> None:
        self._protocol = resolve(protocol, settings)
        self._options = engine.RunOptions(_listed(measures), _listed(by), per_unit, strict)
        self._gold, self._system = MemoryCorpus(name="gold in memory"), MemoryCorpus(name="system in memory")

    def add(self, gold: Document, system: Document) -> None:
        """Add the two sides of one document. A pair that cannot be used is refused, and nothing is added."""
        if gold.id != system.id:
            raise NO_PAIR.error(f"gold is document {quoted(gold.id)}, the system {quoted(system.id)}")
        self._gold.add(gold)
        try:
            self._system.add(system)
        except Exception:
            self._gold.discard(gold.id)
            raise

    def result(self) -> Result:
        """The scores of all pairs so far."""
        return _scored(self._gold, self._system, [self._protocol], self._options, Findings())[0]

    def __len__(self) -> int:
        return len(self._gold)

    def __repr__(self) -> str:
        return f"<Scorer {self._protocol.name}: {len(self):,} document{'s' * (len(self) != 1)}>"


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

    def __repr__(self) -> str:
        f1 = {name: leaf.values.get("f1") for name, leaf in self._leaves.items()}
        return (
            f"<Coref F1: {', '.join(f'{name} {100 * value:.2f}' for name, value in f1.items() if value is not None)}>"
        )


def coref(gold: Iterable[Iterable[Hashable]], system: Iterable[Iterable[Hashable]]) -> Coref:
    """Score clusters in memory, for example in a training loop. A mention is any value, the same on both sides.

    >>> coref([{"a", "b"}, {"c"}], [{"a"}, {"b", "c"}])["b3"].f1
    0.6666666666666666
    """
    from karat.measures.coref import scores

    return Coref(scores(contingency(_clusters(gold, "gold"), _clusters(system, "system"))))


def _clusters(given: Iterable[Iterable[Hashable]], side: Origin) -> list[set[Hashable]]:
    """The clusters of one side; a mention may be in one of them only."""
    clusters = list(map(set, given))
    first: dict[Hashable, int] = {}
    for number, cluster in enumerate(clusters):
        repeated = sorted([mention for mention in cluster if mention in first], key=repr)
        for mention in repeated[:1]:
            where = f"in {side}[{first[mention]}] and in {side}[{number}]"
            raise IN_TWO_CLUSTERS.error(f"mention {repr(mention)[:LONGEST]} is {where}")
        first |= dict.fromkeys(cluster, number)
    return clusters
