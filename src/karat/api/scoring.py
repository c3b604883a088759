"""The Python API: `karat.read`, `karat.score`, `karat.Scorer` and `karat.coref`.

`karat.compare` has a module of its own, and reports are imported when a result is printed, so that scoring one system
loads only what it needs.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, overload

from msgspec.structs import asdict

from karat.api.arguments import argument, checked
from karat.corpus.files import FileCorpus
from karat.corpus.interface import Corpus, Executor
from karat.corpus.memory import NO_DOCUMENT, Given, MemoryCorpus, typed
from karat.corpus.opening import open_corpus
from karat.formats import read_options
from karat.model import Document, Unit
from karat.plugin.formats import DocumentNames
from karat.problems import Findings, Origin, Rule, UsageError, of_side, quoted
from karat.protocols import Protocol, opened_for, resolve, resolve_all
from karat.result import Result as _Result
from karat.run import scoring
from karat.run.executors import Processes
from karat.run.plan import Options

if TYPE_CHECKING:
    from karat.families.coref.measures import TableScores
    from karat.report.figures.figure import Figure

IN_TWO_CLUSTERS = Rule("mention-in-clusters", "fatal", "Put each mention into one cluster of its side.")
NO_CLUSTERS = Rule("not-clusters", "fatal", 'Give clusters of mentions that can be in a set: [{"a", "b"}, {"c"}].')
NO_PAIR = Rule("not-a-pair", "fatal", "Add the two sides of one document, with the same id.")

LONGEST = 80
"""Characters of a mention in a message."""

NO_PANDAS = Rule("pandas-missing", "fatal", "Install it: pip install pandas; or use to_dicts().")

Side = str | PathLike[str] | Corpus | Given | Iterable[Given]
"""One side of a score: a path, a corpus, or documents in memory, as `karat.Document` or dicts."""


class Result(_Result):
    """The scores of one protocol. Printed, it is the report of `karat score`."""

    def __str__(self) -> str:
        from karat.report.outputs import text

        return text([self])

    def __repr__(self) -> str:
        from karat.report.scores import main_line

        return f"<Result {self.protocol}: {'; '.join(filter(None, [_documents(self), main_line(self)]))}>"

    @checked
    def figure(self, kind: str | None = None, *, of: str | None = None) -> "Figure":
        """A figure, as `--plot` draws it: `result.figure("confusion").save("confusion.pdf")`.

        `of` is what `--plot` takes after a colon, such as the field of a breakdown.
        """
        from karat.report.figures.kinds import result_figure

        return result_figure([self], argument("kind", kind, str | None), of)

    def to_frame(self) -> Any:
        """The rows of `to_dicts` as a DataFrame of pandas."""
        return frame(self.to_dicts())

    def _repr_html_(self) -> str:
        """A table, for notebooks."""
        from karat.report.outputs import html

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

    def to_frame(self) -> Any:
        """The rows of `to_dicts` as a DataFrame of pandas."""
        return frame(self.to_dicts())

    def __str__(self) -> str:
        from karat.report.outputs import text

        return text(list(self.values()))

    def __repr__(self) -> str:
        return f"<Results {', '.join(self)}: {_documents(next(iter(self.values())))}>"

    def _repr_html_(self) -> str:
        """Tables, for notebooks."""
        from karat.report.outputs import html

        return "".join(map(html, self.values()))


def frame(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Rows as a DataFrame of pandas, which is imported only here."""
    try:
        from pandas import DataFrame
    except ImportError:
        raise NO_PANDAS.error("data frames need pandas, which is not installed") from None
    return DataFrame(rows)


def _documents(result: _Result) -> str:
    return f"{result.gold.documents:,} document{'s' * (result.gold.documents != 1)}"


@overload
def read(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    unit: Unit | None = None,
    tokens: str | None = None,
    sources: str | None = None,
    coreference: str | Sequence[str] = (),
    documents: DocumentNames | None = None,
    max_bytes: int | None = None,
) -> FileCorpus: ...


@overload
def read(path: Given | Iterable[Given]) -> MemoryCorpus: ...


@checked
def read(
    path: str | PathLike[str] | Given | Iterable[Given],
    *,
    format: str | None = None,
    unit: Unit | None = None,
    tokens: str | None = None,
    sources: str | None = None,
    coreference: str | Sequence[str] = (),
    documents: DocumentNames | None = None,
    max_bytes: int | None = None,
) -> FileCorpus | MemoryCorpus:
    """Open a corpus: a file, a folder, `@LIST`, or a list of documents (`karat.Document`, or dicts with its fields).

    Files are read lazily, and can be read again.
    Without `format`, the format is detected from the content. The other arguments are the options of these names.
    `findings` of the corpus are parts of a folder that are not read, such as links to other folders. A result has them
    among its warnings. What cannot be read is refused.
    """
    options = read_options(unit, tokens, sources, listed(coreference), documents, max_bytes)
    if isinstance(path, str | PathLike):
        return open_corpus(fspath(path), format=format, options=options)
    if format is not None or options != read_options(None, None):
        message = "options of reading are for files, and these documents are in memory"
        raise UsageError("options-of-files", message, "Omit them; a document has its own unit.")
    return _in_memory(path, "memory")


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
    errors: bool = False,
    ci: float | None = None,
    resamples: int = 1000,
    seed: int = 0,
    jobs: int = 1,
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
    errors: bool = False,
    ci: float | None = None,
    resamples: int = 1000,
    seed: int = 0,
    jobs: int = 1,
) -> Results: ...


@checked
def score(
    gold: Side,
    system: Side,
    *,
    protocol: str | Sequence[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    measures: str | Sequence[str] = (),
    by: str | Sequence[str] = (),
    per_unit: bool = False,
    strict: bool = False,
    accept_faults: bool = False,
    details: bool = False,
    errors: bool = False,
    ci: float | None = None,
    resamples: int = 1000,
    seed: int = 0,
    jobs: int = 1,
) -> Result | Results:
    """Score a system against gold under one protocol, or under each of a list of protocols.

    Each side is a path, a corpus (`karat.read`) or a list of documents (`karat.Document`, or dicts with its fields).
    Without `protocol`, gold's format chooses.
    `settings` are the parameters that `--set` changes. The result has scores by measure id: `result["nugget.type"].f1`;
    with a list of protocols, `results["tac-2017"]["nugget.type"].f1`. With `ci`, a confidence level such as 0.95, every
    score has an interval: `result["nugget.type"].micro.ci.values["f1"]`. With `errors`, `result.errors` has the errors
    by class, where they are, and what each class costs; the system is scored again for each class. With `jobs` above
    1, files are scored in several processes, with the same result; a script that uses them must not do its work on
    import (`if __name__ == "__main__":`). Documents in memory are always scored in this process.
    """
    findings = Findings()
    gold_corpus = corpus(gold, "gold", None, findings)
    names = gold_corpus.protocols[:1] if protocol is None else listed(protocol)
    if not names:
        raise UsageError("protocol-needed", "the list of protocols is empty", "Name at least one protocol.")
    chosen = resolve_all(names, settings or {})
    gold_corpus = opened_for(gold_corpus, chosen) if isinstance(gold_corpus, FileCorpus) else gold_corpus
    system_corpus = corpus(system, "system", gold_corpus, findings)
    options = Options(
        listed(measures),
        listed(by),
        per_unit,
        strict,
        accept_faults=accept_faults,
        details=details,
        errors=errors,
        keep_rows=ci is not None,
    )
    with processes(jobs) as executor:
        results = _scored(gold_corpus, system_corpus, chosen, options, findings, executor)
        if ci is not None:
            from karat.stats.confidence import with_intervals

            results = [with_intervals(result, level=level(ci), resamples=resamples, seed=seed) for result in results]
    return results[0] if protocol is None or isinstance(protocol, str) else Results(results)


def level(ci: float) -> float:
    """A confidence level; refuse what is none."""
    if not 0 < ci < 1:
        raise UsageError("bad-level", f"{ci!r} is not a confidence level", "Give a fraction, such as 0.95.")
    return ci


def processes(jobs: int) -> Processes:
    """Return an executor for this number of processes."""
    if jobs < 1:
        raise UsageError("bad-jobs", f"{jobs!r} is not a number of processes", "Give 1 or more.")
    return Processes(jobs)


def _scored(
    gold: Corpus,
    system: Corpus,
    protocols: Sequence[Protocol],
    options: Options,
    findings: Findings,
    executor: Executor | None = None,
) -> list[Result]:
    results = scoring.score(gold, system, protocols, options, findings=findings, executor=executor)
    return [*map(_public, results)]


def _public(result: _Result) -> Result:
    return Result(**asdict(result))


def listed(names: str | Iterable[str]) -> tuple[str, ...]:
    """A list of names; a string is a list of one."""
    return (names,) if isinstance(names, str) else tuple(names)


def corpus(given: Side, side: Origin, other: Corpus | None, findings: Findings) -> Corpus:
    """One side as a corpus; `other` is gold, if this is a system."""
    if isinstance(given, str | PathLike):
        fallback = other.format if isinstance(other, FileCorpus) else None
        opened = open_corpus(fspath(given), fallback=fallback, report=of_side(findings.add, side))
        return opened if other is None else opened.beside(other)
    if isinstance(given, FileCorpus):
        for finding in given.findings:
            of_side(findings.add, side)(finding)
        return given if other is None else given.beside(other)
    if not isinstance(given, list | tuple | Document | Mapping) and isinstance(given, Corpus):  # slow to test: last
        return given
    return _in_memory(given, f"{side} in memory", is_system=side == "system")


def _in_memory(given: Given | Iterable[Given], name: str, *, is_system: bool = False) -> MemoryCorpus:
    """Documents in memory as a corpus; one of them stands for a list of one."""
    if isinstance(given, Document | Mapping):
        given = [given]
    if not isinstance(given, Iterable) or hasattr(given, "columns"):
        found = "a data frame" if hasattr(given, "columns") else quoted(given)
        raise NO_DOCUMENT.error(f"expected documents, found {found}", file=name)
    return MemoryCorpus(given, name=name, is_system=is_system)


class Scorer:
    """Scores documents that arrive one pair after another, for example in a training loop.

    The scorer keeps the documents; `result()` can be called at any time.
    """

    @checked
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
        from karat.run.growing import GrowingScore

        self._protocol = resolve(argument("protocol", protocol, str), settings)
        self._options = Options(listed(measures), listed(by), per_unit, strict)
        self._score = GrowingScore(self._protocol, self._options)

    def add(self, gold: Given, system: Given) -> None:
        """Add the two sides of one document. A pair that cannot be used is refused, and nothing is added."""
        gold = gold if isinstance(gold, Document) else typed(gold, "gold in memory")
        system = system if isinstance(system, Document) else typed(system, "system in memory")
        if gold.id != system.id:
            raise NO_PAIR.error(f"gold is document {quoted(gold.id)}, the system {quoted(system.id)}")
        self._score.add(gold, system)

    def result(self) -> Result:
        """Return the scores of all pairs so far.

        If the protocol scores documents by themselves, this costs what the pairs cost that were added since the last
        result.
        """
        return _public(self._score.result())

    def reset(self) -> None:
        """Forget all pairs, as before the next epoch."""
        from karat.run.growing import GrowingScore

        self._score = GrowingScore(self._protocol, self._options)

    def __len__(self) -> int:
        return len(self._score.gold)

    def __repr__(self) -> str:
        return f"<Scorer {self._protocol.name}: {len(self):,} document{'s' * (len(self) != 1)}>"


def coref(gold: Iterable[Iterable[Hashable]], system: Iterable[Iterable[Hashable]]) -> "TableScores":
    """Score clusters in memory, for example in a training loop. A mention is any value, the same on both sides.

    >>> coref([{"a", "b"}, {"c"}], [{"a"}, {"b", "c"}])["b3"].f1
    0.6666666666666666
    """
    from karat.families.coref.measures import TableScores
    from karat.families.coref.table import contingency

    return TableScores(contingency(_clusters(gold, "gold"), _clusters(system, "system")))


def _clusters(given: Iterable[Iterable[Hashable]], side: Origin) -> list[set[Hashable]]:
    """The clusters of one side; a mention may be in one of them only."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise NO_CLUSTERS.error(f"{side} is {quoted(given)}, expected a list of clusters")
    clusters: list[set[Hashable]] = []
    for index, mentions in enumerate(given):
        if isinstance(mentions, str) or not isinstance(mentions, Iterable):
            raise NO_CLUSTERS.error(f"{side}[{index}] is {quoted(mentions)}, expected a set of mentions")
        try:
            clusters.append({*mentions})
        except TypeError:
            found = f"{side}[{index}] is {quoted(mentions)}, with a mention that cannot be in a set"
            raise NO_CLUSTERS.error(found) from None
    if sum(map(len, clusters)) == len(set().union(*clusters)):
        return clusters
    first: dict[Hashable, int] = {}
    for index, cluster in enumerate(clusters):
        repeated = sorted([mention for mention in cluster if mention in first], key=repr)
        for mention in repeated[:1]:
            where = f"in {side}[{first[mention]}] and in {side}[{index}]"
            raise IN_TWO_CLUSTERS.error(f"mention {repr(mention)[:LONGEST]} is {where}")
        first |= dict.fromkeys(cluster, index)
    return clusters
