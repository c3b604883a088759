"""The pages of the commands."""

import inspect
import re

import click
from markup import code, fence, joined, prose, table

from karat.cli._parameters import SectionedCommand, sections
from karat.cli.campaign import WithTemplate
from karat.cli.campaign_new import new
from karat.cli.program import COMMANDS, cli


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
