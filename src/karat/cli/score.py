"""`karat score`."""

from typing import TYPE_CHECKING

import click

from karat.cli._choice import Nearest
from karat.cli._options import progress
from karat.cli._output import output_style, refuse_overwriting, report_size, write_output
from karat.cli._scoring import RESAMPLES, SEED, ScoringOptions, default_fields, scoring_options
from karat.cli.completion import complete_files

if TYPE_CHECKING:
    from karat.report.breakdowns import Sort

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
  karat score gold.tbf system.tbf --ci 95 -f html -o report.html

GOLD and SYSTEM are a file, a folder, @LIST (a file with one path per line), or - for standard input.
"""


class OneSystem(click.Command):
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


@click.command(epilog=EPILOG, cls=OneSystem)
@click.argument("gold", shell_complete=complete_files)
@click.argument("system", shell_complete=complete_files)
@scoring_options
@click.option(
    "--by",
    multiple=True,
    metavar="FIELD",
    help="Break scores down by an attribute, kind, document, topic, ...; may be repeated.",
)
@click.option(
    "--sort",
    type=Nearest(["loss", "name"]),
    default="loss",
    show_default=True,
    help="Order of the rows of --by in text: what lost most first, or by name.",
)
@click.option("--per-unit", is_flag=True, help="Show the scores of each unit of evaluation.")
@click.option("--per-document", is_flag=True, help="Show the scores of each document.")
@click.option(
    "--summary",
    is_flag=True,
    help="Print only the main scores in text, one row per protocol; leave the documents out of html.",
)
@click.option(
    "--details", is_flag=True, help="List what was matched, missed and spurious, item by item; html always does."
)
@click.option(
    "--errors",
    is_flag=True,
    help="Count errors by class, with the score if each class were fixed; scores the system once more per class. "
    "html always does.",
)
def score(
    gold: str,
    system: str,
    scoring: ScoringOptions,
    by: tuple[str, ...],
    per_unit: bool,
    per_document: bool,
    sort: "Sort",
    summary: bool,
    details: bool,
    errors: bool,
) -> None:
    """Score SYSTEM against GOLD under one or more protocols."""
    from karat import engine
    from karat.errors import Findings, UsageError
    from karat.protocols import resolve_all
    from karat.report.json import json
    from karat.report.page import WRITERS, results_page
    from karat.report.text import summaries, texts

    form, output, digits, level = scoring.form, scoring.output, scoring.digits, scoring.level
    if gold == system == "-":
        raise UsageError("standard-input-twice", "GOLD and SYSTEM cannot both be standard input", "Use a file for one.")
    if details and form in WRITERS:
        raise UsageError("details-no-table", f"--details is a list, not a table for -f {form}", "Use text or json.")
    if errors and summary and form != "json":
        message = "--summary prints only the main scores, and --errors what they lost"
        raise UsageError("errors-no-summary", message, "Use one of them, or -f json.")
    if level is None and (scoring.resamples, scoring.seed) != (None, None):
        raise UsageError("level-needed", "--resamples and --seed are for intervals", "Add --ci 95.")
    scoring.check()
    findings = Findings()
    gold_corpus = scoring.gold(gold, findings.add)
    system_corpus = scoring.system(system, gold_corpus, findings.add)
    refuse_overwriting(output, [*gold_corpus.inputs(), *system_corpus.inputs()])
    protocols = resolve_all(scoring.protocol_names(gold_corpus), scoring.values())
    with_documents = form == "html" and not summary
    fields = by or (default_fields(gold_corpus, protocols) if with_documents else ())
    results = engine.score(
        gold_corpus,
        system_corpus,
        protocols,
        engine.RunOptions(
            scoring.measures,
            fields,
            per_unit or per_document,
            scoring.strict,
            None if scoring.topics is None else str(scoring.topics),
            accept_faults=scoring.accept_faults,
            details=details or with_documents,
            keep_rows=level is not None,
        ),
        findings=findings,
        progress=progress(),
    )
    if level is not None:
        from karat.stats.confidence import with_intervals

        resamples, seed = scoring.resamples or RESAMPLES, scoring.seed or SEED
        results = [with_intervals(result, level=level, resamples=resamples, seed=seed) for result in results]
    if errors or with_documents:
        from karat.insight import analysed

        for protocol, result in zip(protocols, results, strict=True):
            result.errors = analysed(
                gold_corpus,
                system_corpus,
                protocol,
                result,
                measures=scoring.measures,
                by=fields,
                list_all=details,
                progress=progress(),
            )
    if form == "html":
        from karat.report.html import Gathered, score_report, short_name

        documents = Gathered(gold_corpus) if with_documents else None
        if documents is not None:
            documents.add(short_name(results[0]), system_corpus, results)
        write_output(score_report(results, documents, digits=digits, sort=sort), output)
        report_size(output, 0 if documents is None else len(documents))
    elif form == "json":
        write_output(json(results), output)
    elif form in WRITERS:
        write_output(WRITERS[form](results_page(results, form, digits=digits, sort=sort, summary=summary)), output)
    elif summary:
        write_output(summaries(results, digits=digits, style=output_style(output)), output)
    else:
        write_output(texts(results, digits=digits, sort=sort, style=output_style(output)), output)
