"""`karat compare`."""

from typing import TYPE_CHECKING

import click

from karat.cli._options import plot_option, progress, worker_options
from karat.cli._output import refuse_overwriting, report_size, write_output
from karat.cli._parameters import FILE, SectionedCommand, name_option
from karat.cli._scoring import (
    LEVEL,
    SEED,
    Output,
    check_options,
    open_gold,
    open_system,
    protocol_names,
    scoring_options,
    write_scores,
)

if TYPE_CHECKING:
    from karat.cli._figures import Plot
    from karat.corpus.files import FileCorpus
    from karat.corpus.interface import Executor
    from karat.problems import Report
    from karat.run.plan import Options

EPILOG = """\b
Examples:
  karat compare gold.tbf baseline.tbf mine.tbf
  karat compare gold.tbf submissions/ --baseline lemma --jobs 2
  karat compare gold.jsonl old.jsonl new=run1.jsonl,run2.jsonl,run3.jsonl
  karat compare gold.jsonl old.jsonl new.jsonl -p simple-cdec -p pure-cdec --sort-by coref.lea
  karat compare gold.tbf baseline.tbf mine.tbf --by type --per-document
  karat compare gold.tbf baseline.tbf mine.tbf -f latex -o table.tex
  karat compare gold.tbf submissions/ -p liu-2015 --plot attributes=figure3.pdf --plot ranks.pdf
  karat compare gold.tbf baseline.tbf mine.tbf -f html -o report.html

A SYSTEM is a file, a folder, @LIST, or NAME=RUN,RUN,... for several runs of one system, which are shown as mean and
standard deviation (sd). A single folder has one file or folder per system; if some cannot be scored, all of them are
listed, and nothing is ranked. Intervals and tests resample the units of evaluation; a corpus that is one unit is scored
again without each topic (jackknife). Systems share a rank if the difference from the system above is not significant.
"""


@click.command(epilog=EPILOG, cls=SectionedCommand)
@click.argument("gold", type=FILE)
@click.argument("systems", nargs=-1, required=True, metavar="SYSTEM...", type=FILE)
@scoring_options
@click.option(
    "--baseline",
    metavar="NAME",
    help="System that the others are tested against. Default: the first; in a folder, the first by name.",
)
@name_option(
    "measures",
    "--sort-by",
    help="Measure that ranks systems. Default: the first headline measure of the protocol that gold supports.",
)
@plot_option(
    "[KIND=]FILE",
    "KIND: ranks (default; ranks:ID by another measure), accuracy, product, attributes, breakdown.",
    "parse_known",
)
@worker_options
def compare(
    gold: str,
    systems: tuple[str, ...],
    options: "Options",
    output: Output,
    baseline: str | None,
    sort_by: str | None,
    plots: "tuple[Plot, ...]",
    executor: "Executor",
) -> None:
    """Rank systems, with confidence intervals and significance tests."""
    from msgspec.structs import replace

    from karat.comparison.comparing import compared
    from karat.comparison.systems import chosen_baseline, named_systems
    from karat.problems import Findings
    from karat.run.scoring import refuse_unknown_family

    check_options(options, output)
    if sort_by is not None:
        refuse_unknown_family(sort_by)
    named = named_systems(systems, gold)
    findings = Findings()
    gold_corpus = open_gold(gold, options, findings.add)
    inputs = gold_corpus.inputs()

    def opened(path: str, report: "Report") -> "FileCorpus":
        system = open_system(path, gold_corpus, options, report)
        inputs.extend(system.inputs())
        return system

    runs = named.opened(opened, findings.kept)
    if plots:
        from karat.cli._figures import refuse_outputs

        refuse_outputs(plots, output.file, inputs)
    refuse_overwriting(output.file, inputs)
    baseline = chosen_baseline(baseline, runs)
    options = replace(options, protocols=protocol_names(options, gold_corpus))
    gathered = None
    if output.form == "html" and not output.summary:
        from karat.protocols import resolve_all
        from karat.report.html.gather import GatheredRuns
        from karat.report.html.report import default_fields

        gathered = GatheredRuns(gold_corpus, runs)
        by = options.by or default_fields(gold_corpus, resolve_all(options.protocols, options.settings))
        options = replace(options, by=by, details=True, errors=True)
    # Other formats show no intervals of the values of a breakdown.
    options = replace(options, keep_rows=True, keep_by_rows=output.form in ("json", "csv"))
    comparisons = compared(
        gold_corpus,
        options,
        runs,
        baseline=baseline,
        sort_by=sort_by,
        level=options.level or LEVEL,
        resamples=options.resamples,
        seed=options.seed or SEED,
        executor=executor,
        on_run=progress("runs"),
        keep=None if gathered is None else gathered.add,
    )
    if plots:
        from karat.cli._figures import write_figures
        from karat.report.figures.kinds import comparison_figure

        write_figures(plots, lambda kind, of: comparison_figure(comparisons, kind, of, sort=output.sort), output.file)
    if output.form == "html":
        from karat.report.html.report import comparison_report

        if gathered is not None:
            gathered.sort([system.name for system in comparisons[0].systems])
        write_output(comparison_report(comparisons, gathered, digits=output.digits, sort=output.sort), output.file)
        report_size(output.file, 0 if gathered is None else len(gathered.documents))
    else:
        write_scores(comparisons, output)
