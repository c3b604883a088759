"""The pages of the command line: the commands, and the errors by code."""

from collections.abc import Iterable
from functools import cache
from typing import Any

import click
import sources
from markup import badge, code, fence, items, joined, prose, table

from karat.cli import cli
from karat.cli.campaign import WithTemplate
from karat.cli.campaign_new import new
from karat.families import MEASURES
from karat.formats import FORMATS

HELP_WIDTH = 88


# Commands


def commands_page() -> str:
    """The `--help` text of every command."""
    context = click.Context(cli, info_name="karat", **_help_settings())
    parts = ["# Commands", "The output of `karat COMMAND --help`.", fence(cli.get_help(context))]
    for name in cli.list_commands(context):
        command = cli.commands[name]
        inner = click.Context(command, info_name=name, parent=context, **_help_settings())
        parts.append(f"## karat {name}\n\n{fence(command.get_help(inner))}")
        if isinstance(command, WithTemplate):
            below = click.Context(new, info_name=f"{name} new", parent=context, **_help_settings())
            parts.append(f"### karat {name} new\n\n{fence(new.get_help(below))}")
    return joined(parts)


def _help_settings() -> dict[str, Any]:
    return {"terminal_width": HELP_WIDTH, "max_content_width": HELP_WIDTH, "help_option_names": ["-h", "--help"]}


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
    parts = [
        "---\nhide:\n  - toc\n---",
        "# Errors by code",
        about,
        f"## Findings\n\n{table(['code', 'message', 'what to do', 'reported by'], _error_rows(rules, named))}",
        f"## Usage errors\n\n{usage}\n\n"
        + table(["code", "message", "what to do", "reported by"], _error_rows(sources.usage_errors(), named)),
    ]
    return joined(parts)


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
    "campaign": "[karat campaign](commands.md#karat-campaign)",
    "convert": "[karat convert](commands.md#karat-convert)",
    "corpus": "any corpus",
    "checks": "any annotation",
    "demo": "[karat demo](commands.md#karat-demo)",
    "engine": "[karat score](commands.md#karat-score)",
    "filters": "[protocols](concepts/protocols.md)",
    "protocols": "[protocols](concepts/protocols.md)",
    "measures": "[measures](measures/index.md)",
    "registry": "names",
    "simulate": "[karat simulate](commands.md#karat-simulate)",
    "studies": "[karat lab](commands.md#karat-lab), [karat reproduce](commands.md#karat-reproduce)",
}


def _homes(module: str, code_: str) -> list[str]:
    """Where a reader meets a rule that a module declares."""
    _, _, short = module.partition(".")
    room, _, name = short.partition(".")
    if short in ("formats._text", "corpus.paths"):
        return ["any file"]
    if short == "engine.validation":
        return ["[karat validate](commands.md#karat-validate)"]
    if room == "formats":
        return [f"[{name}](formats/{name}.md)" for name in _formats_by_code().get(code_, ())] or [code(short)]
    if room == "measures" and name in MEASURES.names():
        return [f"[{name}](measures/{name}.md)"]
    if room == "cli" and name in cli.commands:
        return [f"[karat {name}](commands.md#karat-{name})"]
    return ["any command"] if room == "cli" else [ROOMS.get(room, code(short or module))]


@cache
def _formats_by_code() -> dict[str, list[str]]:
    """Return the formats that apply each rule."""
    found: dict[str, list[str]] = {}
    for name, format_ in FORMATS:
        for rule_code in dict.fromkeys(rule.code for rule in sources.of_format(format_)):
            found.setdefault(rule_code, []).append(name)
    return found
