"""The pages of the command line: the commands, and the errors by code."""

import inspect
import re
from collections.abc import Iterable
from functools import cache

import click
import sources
from markup import badge, code, fence, items, joined, prose, table

from karat.cli._parameters import SectionedCommand, sections
from karat.cli.campaign import WithTemplate
from karat.cli.campaign_new import new
from karat.cli.program import COMMANDS, cli
from karat.families import MEASURES
from karat.formats import FORMATS

# Commands


def command_pages() -> dict[str, str]:
    """The index of commands, and a page for each."""
    root = click.Context(cli, info_name="karat", help_option_names=["-h", "--help"])
    lists = [
        f"## {title}\n\n" + "\n".join(f"- [karat {name}]({name}.md): {prose(text)}" for name, text in commands.items())
        for title, commands in COMMANDS.items()
    ]
    about = "`karat COMMAND --help` prints these pages in a terminal."
    pages = {"commands/index.md": joined(["# Commands", about, *lists])}
    for name, command in cli.commands.items():
        pages[f"commands/{name}.md"] = _command_page(command, click.Context(command, root, name))
        if isinstance(command, WithTemplate):
            pages[f"commands/{name}-new.md"] = _command_page(new, click.Context(new, root, f"{name} new"))
    return pages


def _command_page(command: click.Command, context: click.Context) -> str:
    """Describe a command, its options by section, and examples."""
    context.help_option_names = ["-h", "--help"]
    summary, _, more = (command.help or "").partition("\n\n")
    options = [
        (f"### {title}\n\n" if isinstance(command, SectionedCommand) else "")
        + table(["option", "meaning"], [[code(names), prose(text)] for names, text in records])
        for title, records in sections(command, context)
        if records
    ]
    usage = command.get_usage(context).removeprefix("Usage: ")
    parts = [f"# {context.command_path}", prose(summary), fence(" ".join(usage.split())), *_paragraphs(more)]
    blocks = (command.epilog or "").replace("\b\n", "").split("\n\n")
    examples = [block for block in blocks if block.startswith("Example")]
    for block in examples:
        parts.append(f"## Examples\n\n{fence(inspect.cleandoc(block.partition(chr(10))[2]), 'sh')}")
    parts += [part for block in blocks if block not in examples for part in _paragraphs(block)]
    return joined([*parts, "## Options", *options])


def _paragraphs(text: str) -> list[str]:
    """Paragraphs as prose; those with aligned columns as they are."""
    blocks = [inspect.cleandoc(block) for block in text.split("\n\n") if block.strip()]
    return [fence(block) if re.search(r"\S {2,}\S", block) else prose(block) for block in blocks]


# Errors


def errors_page() -> str:
    """Every rule, and every usage error, by code."""
    rules = sources.rules()
    named: set[str] = set()
    about = (
        "Every problem has a code, printed in brackets at the end of its message. `…` stands for what karat finds in\n"
        "your file. [Severities](concepts/severities.md) explains what is refused and what is only counted.\n"
        "`karat explain CODE` explains one in a terminal."
    )
    usage = (
        "Mistakes on the command line; the exit code is 2. Misspelt options and missing arguments are reported by the\n"
        "command line parser and have no code."
    )
    by_title: dict[str, list[sources.Entry]] = {}
    for entry in rules:
        by_title.setdefault(_section(entry), []).append(entry)
    header = ["code", "message", "what to do", "reported by"]
    titles = [title for title in SECTIONS if title in by_title]
    formats = sorted(by_title.keys() - {*titles})
    parts = [
        "# Errors by code",
        about,
        *(f"## {title}\n\n{table(header, _error_rows(by_title[title], named))}" for title in titles),
        "## Formats",
        *(f"### {title}\n\n{table(header, _error_rows(by_title[title], named))}" for title in formats),
        f"## Usage errors\n\n{usage}\n\n{table(header, _error_rows(sources.usage_errors(), named))}",
    ]
    return joined(parts)


SECTIONS = {
    "Any file": ("corpus", "inputs", "limits"),
    "Several formats": (),
    "Annotations": ("checks",),
    "Protocols and measures": ("families", "filters", "match", "plugin", "protocols", "registry"),
    "Scores and reports": ("comparison", "report", "run", "stats"),
    "Campaigns": ("campaign",),
    "Python": ("api",),
    "Other commands": (),
}
"""Sections of the errors that no single format has, and the packages of karat that report them."""


def _section(entry: sources.Entry) -> str:
    """The section of an error: the only format that reports it, or what reports it."""
    _, room, *rest = entry.modules[0].split(".")
    if room == "formats":
        formats = _formats_by_code().get(entry.code, ())
        return "Any file" if rest == ["_text"] else formats[0] if len(formats) == 1 else "Several formats"
    return next((title for title, rooms in SECTIONS.items() if room in rooms), "Other commands")


def _error_rows(entries: Iterable[sources.Entry], named: set[str]) -> list[list[str]]:
    rows = []
    for entry in entries:
        anchor = "" if entry.code in named else f'<a id="{entry.code}"></a>'
        named.add(entry.code)
        severity = "" if entry.severity is None else f"<br>{badge(entry.severity)}"
        rows.append(
            [
                f"{anchor}{code(entry.code)}{severity}",
                items(map(prose, entry.messages)) or "depends on what was found",
                items(map(prose, entry.hints)) or "as the message suggests",
                "<br>".join(dict.fromkeys(home for module in entry.modules for home in _homes(module, entry.code))),
            ]
        )
    return rows


# Packages whose rules a reader meets through something that has a page; others are shown by their names.
ROOMS = {
    "api": "[Python](python.md)",
    "audit": "[karat audit](commands/audit.md)",
    "baselines": "[karat baseline](commands/baseline.md)",
    "campaign": "[karat campaign](commands/campaign.md)",
    "comparison": "[karat compare](commands/compare.md)",
    "convert": "[karat convert](commands/convert.md)",
    "corpus": "any corpus",
    "checks": "any annotation",
    "demo": "[karat demo](commands/demo.md)",
    "filters": "[protocols](concepts/protocols.md)",
    "protocols": "[protocols](concepts/protocols.md)",
    "families": "[measures](measures/index.md)",
    "registry": "names",
    "run": "[karat score](commands/score.md)",
    "simulate": "[karat simulate](commands/simulate.md)",
    "studies": "[karat lab](commands/lab.md), [karat reproduce](commands/reproduce.md)",
}


def _homes(module: str, code_: str) -> list[str]:
    """Where a reader meets a rule that a module declares."""
    _, _, short = module.partition(".")
    room, _, name = short.partition(".")
    if short in ("formats._text", "corpus.paths"):
        return ["any file"]
    if short == "run.validation":
        return ["[karat validate](commands/validate.md)"]
    if room == "formats":
        return [f"[{name}](formats/{name}.md)" for name in _formats_by_code().get(code_, ())] or [code(short)]
    if room == "families" and (family := name.partition(".")[0]) in MEASURES.names():
        return [f"[{family}](measures/{family}.md)"]
    if room == "cli" and name in cli.commands:
        return [f"[karat {name}](commands/{name}.md)"]
    return ["any command"] if room == "cli" else [ROOMS.get(room, code(short or module))]


@cache
def _formats_by_code() -> dict[str, list[str]]:
    """Return the formats that apply each rule."""
    found: dict[str, list[str]] = {}
    for name, format_ in FORMATS:
        for rule_code in dict.fromkeys(rule.code for rule in sources.of_format(format_)):
            found.setdefault(rule_code, []).append(name)
    return found
