"""`karat campaign`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from karat.cli._folders import own_folder, refuse_folder, replace_folder
from karat.cli._options import digits_option, format_option, progress, reading_options, settings_option
from karat.cli._output import refuse_overwriting, write_output, write_outputs
from karat.cli._parameters import FILE, Nearest, SectionedCommand, name_option, number_option
from karat.cli._scoring import (
    LEVEL,
    SEED,
    accept_faults_option,
    confidence_level,
    gold_format_option,
    measure_option,
    protocol_option,
    resamples_option,
    seed_option,
    system_format_option,
)
from karat.cli.campaign_new import new
from karat.problems import UsageError

if TYPE_CHECKING:
    from karat.campaign.campaign import Campaign
    from karat.plugin import ReadOptions

STORE = "results.sqlite"

EPILOG = """\b
Examples:
  karat campaign submissions/ --gold gold/
  karat campaign submissions/ --gold gold/ -p tac-2017 --jobs 8 -o results/
  karat campaign ace/ --gold apf/ -p ace-2005 --layout ace
  karat campaign submissions/ --gold gold/ --site NIST
  karat campaign submissions/ --gold gold/ --anonymous
  karat campaign --config campaign.toml
  karat campaign new my-task/

SUBMISSIONS is a folder with one folder, tar (gz, bz2, xz) or zip for each submission: the files of one system, or
language/task/SITEn_primary/files as in the ACE 2005 evaluation plan. Archives are read, never unpacked. A submission
that is not valid, or lacks documents of gold, is refused with an explanation, and the others are ranked.

Scores are kept in results.sqlite in the output folder: an interrupted campaign resumes where it stopped, and only new
submissions are scored. `karat campaign new --help` describes the template.
"""


def _configured(context: click.Context, parameter: click.Parameter, file: str | None) -> str | None:
    """Read options that the command line leaves out from a file."""
    if file is not None:
        from karat.campaign.template import configuration

        known = {name: option.name or name for option in context.command.params for name in _names(option)}
        context.default_map = {**(context.default_map or {}), **configuration(file, known)}
    del parameter
    return file


def _names(parameter: click.Parameter) -> list[str]:
    """Return the names of a parameter in a file: those of the command line, without dashes."""
    if isinstance(parameter, click.Argument):
        return [parameter.name or ""]
    return [name.removeprefix("--") for name in parameter.opts if name.startswith("--") and name != "--config"]


class WithTemplate(SectionedCommand):
    """A command that runs another one if its first argument is `new`."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Return the context of this command, or of the other one."""
        if args[:1] == ["new"]:
            return new.make_context(f"{info_name} new", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


@click.command(epilog=EPILOG, cls=WithTemplate)
@click.argument("submissions", type=FILE)
@click.option("--gold", metavar="DIR", required=True, type=FILE, help="Gold: a folder or a file.")
@click.option(
    "--config",
    metavar="FILE.toml",
    callback=_configured,
    is_eager=True,
    expose_value=False,
    type=FILE,
    help="Read options from FILE, by name. Paths in it are relative to its folder.",
)
@protocol_option
@measure_option
@settings_option
@gold_format_option
@system_format_option
@reading_options
@click.option(
    "--layout",
    type=Nearest(["auto", "ace", "plain"]),
    default="auto",
    show_default=True,
    help="Layout of submissions: language/task/system/files (ace), or system/files (plain). Auto: plain; under an ACE "
    "protocol, that of gold with folders of languages, else of most submissions.",
)
@number_option("--max-members", least=1, default=10_000, help="Maximum number of files and folders in a submission.")
@number_option(
    "--max-member-bytes",
    least=1,
    default=1_000_000_000,
    help="Maximum size of one file of a submission; --max-bytes limits all of them together.",
)
@number_option("--max-ratio", least=1, default=200, help="Maximum compression ratio of an archive.")
@number_option(
    "--cpu-limit",
    least=1,
    default=600,
    metavar="SECONDS",
    help="CPU time for one submission; one that needs more is refused.",
)
@click.option(
    "--memory-limit",
    type=click.FloatRange(0, min_open=True),
    default=4,
    show_default=True,
    metavar="GB",
    help="Memory for one submission, not counting gold; one that needs more is refused.",
)
@number_option(
    "--time-limit",
    least=1,
    default=1800,
    metavar="SECONDS",
    help="Time for one submission; one that needs more is refused.",
)
@name_option(
    "measures",
    "--sort-by",
    help="Measure that ranks systems. Default: that of the ACE task, else the first headline measure that gold "
    "supports.",
)
@click.option(
    "--ci",
    "level",
    type=confidence_level,
    default=str(LEVEL),
    show_default=True,
    metavar="LEVEL",
    help="Confidence level of intervals and tests.",
)
@resamples_option
@seed_option
@accept_faults_option
@number_option("--jobs", least=1, help="Processes to use. Default: one per core.")
@click.option("--site", metavar="NAME", help="Write only what this site may publish: its scores and the best score.")
@click.option("--anonymous", is_flag=True, help="Replace the names of sites with pseudonyms, for a blind phase.")
@click.option("--no-reports", is_flag=True, help="Omit the error reports of systems.")
@click.option("--title", metavar="TEXT", help="Title of the web site. Default: the name of the folder of submissions.")
@format_option("text", "json", "csv", explained="; the output folder has all of them")
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=FILE,
    help="Folder for results.sqlite, the results as text, JSON and CSV, and site/. Default: SUBMISSIONS-results.",
)
@digits_option
def campaign(
    submissions: str,
    gold: str,
    protocols: tuple[str, ...],
    measures: tuple[str, ...],
    settings: tuple[str, ...],
    gold_format: str | None,
    system_format: str | None,
    reading: "ReadOptions",
    layout: Any,
    max_members: int,
    max_member_bytes: int,
    max_ratio: int,
    cpu_limit: int,
    memory_limit: float,
    time_limit: int,
    sort_by: str | None,
    level: float,
    resamples: int | None,
    seed: int | None,
    accept_faults: bool,
    jobs: int | None,
    site: str | None,
    anonymous: bool,
    no_reports: bool,
    title: str | None,
    form: str,
    output: str | None,
    digits: int,
) -> None:
    """Check, score and rank the SUBMISSIONS of a shared task.

    Writes the results as text, JSON, CSV and a web site.
    """
    from karat.campaign.campaign import Run
    from karat.campaign.children import ChildLimits, Children
    from karat.campaign.listing import rows, submission_rows
    from karat.campaign.outputs import Outputs
    from karat.campaign.packages import Limits
    from karat.campaign.ranking import Statistics
    from karat.campaign.scoring import Conditions, gold_path, layout_for
    from karat.campaign.site import slug
    from karat.campaign.store import Store
    from karat.campaign.submissions import Track, submissions_in
    from karat.protocols import parse_setting, resolve_all
    from karat.report.layout import View
    from karat.run.executors import cores
    from karat.run.scoring import refuse_unknown_family

    if site is not None and anonymous:
        message = "--site names a site, and --anonymous hides names"
        raise UsageError("site-anonymous", message, "Use one of them.")
    values = dict(map(parse_setting, settings))
    resolve_all(protocols, values if protocols else {})
    if sort_by is not None:
        refuse_unknown_family(sort_by)
    folder = Path(output or f"{Path(submissions).resolve().name}-results")
    gold_path(gold, Track())
    refuse_folder(str(folder), (submissions, gold))
    for place in (submissions, gold):
        refuse_overwriting(str(folder), folder=place)
    limits = Limits(max_members, max_member_bytes, reading.max_bytes, max_ratio)
    conditions = Conditions(protocols, settings, measures, gold_format, system_format, reading, accept_faults, limits)
    statistics = Statistics(level, resamples, seed or SEED)
    children = Children(jobs or cores(), ChildLimits(cpu_limit, memory_limit, time_limit))
    run = Run(gold, conditions, children, statistics, sort_by)
    layout = layout if layout != "auto" else layout_for(gold, conditions)
    packages = submissions_in(submissions, limits, children, layout=layout, progress=progress("packages"))
    own_folder(str(folder), STORE)
    with Store(folder / STORE) as store:
        if store.is_rebuilt:
            click.echo(f"{store.path}: another version of karat made it, so everything is scored again", err=True)
        done = run.campaign(packages, store, blind=anonymous, progress=progress("submissions"))
        refuse_folder(str(folder))  # now that everything has been read
        click.echo(_summary(done), err=True)
        outputs = Outputs(done, View(digits), title or Path(submissions).resolve().name, site=site)
        if not no_reports:
            for message in outputs.make_reports(run, store, progress=progress("error reports")):
                click.echo(message, err=True)
        if site is None:
            store.replace("rankings", rows(done))
            store.replace("submissions", submission_rows(done))
        target = folder / "sites" / slug(site) if site is not None else folder / "anonymous" if anonymous else folder
        replace_folder(str(target / "site"), outputs.site(store), _is_site)
    files = {"results.txt": outputs.text(), **outputs.files()}
    write_outputs({str(target / name): content for name, content in files.items()})
    printed = {"text": "results.txt", "json": "results.json", "csv": "rankings.csv"}[form]
    write_output(files[printed], None)
    click.echo(f"{target}: {', '.join(files)}, site/index.html", err=True)


def _is_site(folder: Path) -> bool:
    """Return whether a folder is a web site that karat has made."""
    from karat.report.html.page import is_report

    index = folder / "index.html"
    return index.is_file() and is_report(index)


def _summary(campaign: "Campaign") -> str:
    from karat.report.layout import counted

    known = len({entry.job.key for entry in campaign.entries if entry.job is not None}) - campaign.newly_scored
    return f"{counted(campaign.newly_scored, 'submission')} scored, {known:,} known from earlier runs"
