"""`karat score`."""

from typing import TYPE_CHECKING

import click

from karat.cli._options import plot_option, progress, worker_options
from karat.cli._output import refuse_overwriting, report_size, write_output
from karat.cli._parameters import FILE, SectionedCommand
from karat.cli._scoring import (
    RESAMPLES,
    SEED,
    Output,
    check_options,
    open_gold,
    open_system,
    protocol_names,
    report_findings,
    scoring_options,
    write_scores,
)

if TYPE_CHECKING:
    from karat.cli._figures import Plot
    from karat.cli._thresholds import Threshold
    from karat.corpus.interface import Executor
    from karat.run.plan import Options

EPILOG = """\b
Examples:
  karat score gold.tbf system.tbf
  karat score gold.tbf system.tbf --tokens tables/ --per-document
  karat score gold.tbf system.tbf -p tac-2017 --set types=types.txt --by type
  karat score gold.jsonl.gz system.jsonl -p tac-2017 -m nugget.type -f json
  karat score gold.jsonl system.jsonl -p simple-cdec -p pure-cdec
  karat score gold.tbf system.tbf -p araki-2014 --set twinless=own-pairs -m hierarchy
  karat score gold.tbf system.tbf --errors -m nugget.type
  karat score gold.tbf system.tbf --ci 95 -f latex -o scores.tex
  karat score gold.tbf system.tbf -m nugget.type --by type --plot by-type.pdf --plot confusion=confusion.pdf
  karat score gold.tbf system.tbf --ci 95 -f html -o report.html
  karat score gold.tbf system.tbf --value nugget.type
  karat score gold.tbf system.tbf --fail-under nugget.type=20

GOLD and SYSTEM are a file, a folder, @LIST (a file with one path per line), or - for standard input.
"""


class OneSystem(SectionedCommand):
    """A command for one system; several are for `karat compare`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; explain what several systems need."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            if "unexpected extra argument" in error.format_message():
                hint = "To score several systems, use `karat compare`"
                raise click.UsageError(f"{error.format_message().rstrip('.')}. {hint}", ctx) from None
            raise


def _thresholds(given: tuple[str, ...]) -> "tuple[Threshold, ...]":
    if not given:
        return ()
    from karat.cli._thresholds import parse

    return parse(given)


@click.command(epilog=EPILOG, cls=OneSystem)
@click.argument("gold", type=FILE)
@click.argument("system", type=FILE)
@scoring_options
@plot_option(
    "[KIND=]FILE",
    "KIND: breakdown (default with --by), scores (default), confusion, accuracy, product, attributes.",
    "parse_known",
)
@click.option(
    "--value",
    metavar="ID",
    help="Print just this score in percent, such as nugget.type or nugget.type.precision (micro average).",
)
@click.option(
    "--fail-under",
    "thresholds",
    multiple=True,
    metavar="ID=PERCENT",
    callback=lambda _context, _parameter, given: _thresholds(given),
    help="Exit with 3 if a score is lower: nugget.type=60 or nugget.type.precision=75; may be repeated.",
)
@worker_options
def score(
    gold: str,
    system: str,
    options: "Options",
    output: Output,
    plots: "tuple[Plot, ...]",
    value: str | None,
    thresholds: "tuple[Threshold, ...]",
    executor: "Executor",
) -> None:
    """Score SYSTEM against GOLD under one or more protocols."""
    from msgspec.structs import replace

    from karat.problems import Findings, UsageError
    from karat.protocols import resolve_all
    from karat.run.scoring import refuse_unknown_family
    from karat.run.scoring import score as run

    level = options.level
    if gold == system == "-":
        raise UsageError("standard-input-twice", "GOLD and SYSTEM cannot both be standard input", "Use a file for one.")
    if level is None and (options.resamples, options.seed) != (None, None):
        raise UsageError("level-needed", "--resamples and --seed are for intervals", "Add --ci 95.")
    check_options(options, output)
    if value is not None:
        refuse_unknown_family(value)
        if output.form != "text" or output.summary:
            raise UsageError("value-alone", "--value prints one number, and no report", "Omit -f and --summary.")
    findings = Findings()
    gold_corpus = open_gold(gold, options, findings.add)
    system_corpus = open_system(system, gold_corpus, options, findings.add)
    inputs = [*gold_corpus.inputs(), *system_corpus.inputs()]
    if plots:
        from karat.cli._figures import refuse_outputs

        refuse_outputs(plots, output.file, inputs)
    refuse_overwriting(output.file, inputs)
    protocols = resolve_all(protocol_names(options, gold_corpus), options.settings)
    if value is not None and len(protocols) > 1:
        names = ", ".join(protocol.name for protocol in protocols)
        raise UsageError(
            "value-protocol",
            f"--value prints one number, and there are several protocols: {names}",
            "Name one with -p.",
        )
    with_documents = output.form == "html" and not output.summary
    if with_documents:
        from karat.report.html.report import default_fields

        by = options.by or default_fields(gold_corpus, protocols)
        options = replace(options, by=by, details=True, errors=True)
    with_errors = options.errors
    with_confusion = any(plot.kind == "confusion" for plot in plots)
    options = replace(options, errors=with_errors or with_confusion, keep_rows=level is not None)
    results = run(
        gold_corpus, system_corpus, protocols, options, findings=findings, progress=progress(), executor=executor
    )
    if level is not None:
        from karat.stats.confidence import with_intervals

        resamples, seed = options.resamples or RESAMPLES, options.seed or SEED
        results = [with_intervals(result, level=level, resamples=resamples, seed=seed) for result in results]
    if plots:
        from karat.cli._figures import write_figures
        from karat.report.figures.kinds import result_figure

        write_figures(plots, lambda kind, of: result_figure(results, kind, of, sort=output.sort), output.file)
        if not with_errors:  # only a figure needed them
            results = [replace(result, errors=None) for result in results]
    if output.form == "html":
        from karat.report.html.gather import Gathered
        from karat.report.html.report import score_report, short_name

        documents = Gathered(gold_corpus) if with_documents else None
        if documents is not None:
            documents.add(short_name(results[0]), system_corpus, results)
        write_output(score_report(results, documents, digits=output.digits, sort=output.sort), output.file)
        report_size(output.file, 0 if documents is None else len(documents))
    elif value is not None:
        from karat.cli._thresholds import one_value

        write_output(one_value(results[0], value, output.digits), output.file)
        report_findings(results, faults_only=True)
    else:
        write_scores(results, output)
    if thresholds:
        from karat.cli._thresholds import exit_if_below

        exit_if_below(results, thresholds, output.digits)
