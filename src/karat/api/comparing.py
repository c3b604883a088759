"""`karat.compare`."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

from msgspec.structs import asdict

from karat.api.arguments import argument, checked
from karat.api.scoring import Side, corpus, frame, level, listed, processes
from karat.comparison.comparing import compared
from karat.comparison.comparison import Comparison as _Comparison
from karat.comparison.systems import Run, chosen_baseline
from karat.corpus.files import FileCorpus
from karat.corpus.interface import Corpus
from karat.problems import Finding, Findings, KaratError, UsageError, quoted
from karat.protocols import opened_for, resolve_all
from karat.report.outputs import html, text
from karat.run.plan import Options

if TYPE_CHECKING:
    from karat.report.figures.figure import Figure


class Comparison(_Comparison):
    """Systems under one protocol, best first. Printed, it is the report of `karat compare`."""

    def __str__(self) -> str:
        return text([self])

    def __repr__(self) -> str:
        names = ", ".join(f"{system.rank}. {system.name}" for system in self.systems)
        return f"<Comparison {self.first.protocol}, by {self.sort_by}: {names}>"

    @checked
    def figure(self, kind: str | None = None, *, of: str | None = None) -> "Figure":
        """A figure, as `--plot` draws it: `comparison.figure("ranks").save("ranks.pdf")`."""
        from karat.report.figures.kinds import comparison_figure

        return comparison_figure([self], argument("kind", kind, str | None), of)

    def to_frame(self) -> Any:
        """The rows of `to_dicts` as a DataFrame of pandas."""
        return frame(self.to_dicts())

    def _repr_html_(self) -> str:
        """Tables, for notebooks."""
        return html(self)


@checked
def compare(
    gold: Side,
    systems: Mapping[str, Side | Sequence[Side]],
    *,
    protocol: str | None = None,
    settings: Mapping[str, Any] | None = None,
    measures: str | Sequence[str] = (),
    by: str | Sequence[str] = (),
    per_unit: bool = False,
    details: bool = False,
    errors: bool = False,
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
    comparison. With `errors`, each run has its errors by class: `comparison["mine"].runs[0].errors`.
    """
    if not isinstance(systems, Mapping) or not systems:
        message = f"systems: expected a dict with at least one system, found {quoted(systems)}"
        raise UsageError("systems-needed", message, "Name each system: {name: system}.")
    argument("systems", [*systems], list[str])
    findings = Findings()
    gold_corpus = corpus(gold, "gold", None, findings)
    protocols = gold_corpus.protocols[:1] if protocol is None else (protocol,)
    if isinstance(gold_corpus, FileCorpus):
        gold_corpus = opened_for(gold_corpus, resolve_all(protocols, settings or {}))
    runs = [_opened(name, run, gold_corpus, findings.kept) for name, given in systems.items() for run in _runs(given)]
    options = Options(
        listed(measures),
        listed(by),
        per_unit,
        strict,
        accept_faults=accept_faults,
        details=details,
        errors=errors,
        keep_rows=True,
        protocols=protocols,
        settings=settings or {},
    )
    with processes(jobs) as executor:
        (outcome,) = compared(
            gold_corpus,
            options,
            runs,
            baseline=chosen_baseline(baseline, runs),
            sort_by=sort_by,
            level=level(ci),
            resamples=resamples,
            seed=seed,
            executor=executor,
        )
    return Comparison(**asdict(outcome))


def _opened(name: str, given: Side, gold: Corpus, known: Sequence[Finding]) -> Run:
    """A run; if it cannot be opened, the others are tried before it is refused."""
    findings = Findings()
    try:
        opened = corpus(given, "system", gold, findings)
    except KaratError as error:
        return Run(name, error.with_traceback(None))
    return Run(name, opened, [*known, *findings.kept])


def _runs(given: Side | Sequence[Side]) -> Sequence[Side]:
    """The runs of a system: a list of paths or corpora has several; a list of documents is one."""
    if isinstance(given, list | tuple) and given and all(isinstance(run, str | PathLike | Corpus) for run in given):
        return given
    return [cast("Side", given)]
