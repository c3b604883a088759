"""`karat protocols`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from karat.cli._parameters import completes
from karat.problems import UsageError

if TYPE_CHECKING:
    from karat.protocols import Protocol

EPILOG = """\b
Examples:
  karat protocols
  karat protocols tac-2017
  karat protocols tac-2017 --file > mine.toml
  karat protocols ace-2005 --weights
"""


@click.command(epilog=EPILOG)
@click.argument("name", required=False, shell_complete=completes("protocols"))
@click.option("--file", "only_file", is_flag=True, help="Print only its file, to copy and change.")
@click.option("--weights", "only_weights", is_flag=True, help="Print only the weights of its measures (ACE).")
def protocols(name: str | None, only_file: bool, only_weights: bool) -> None:
    """List the protocols, or print one.

    For NAME, prints what it does, its sources, the parameters that --set can change, and its file.
    """
    from karat.protocols import PROTOCOLS, resolve
    from karat.protocols.files import lineage, source
    from karat.report.layout import table

    if only_file and only_weights:
        raise UsageError("file-or-weights", "--file and --weights each print one thing", "Use one of them.")
    if name is None:
        if only_file or only_weights:
            message = "--file and --weights are for one protocol"
            raise UsageError("protocol-needed", message, "Add its name; `karat protocols` lists them.")
        rows = [[known, resolve(known).title] for known, _ in PROTOCOLS]
        click.echo(table(["protocol", "description"], rows, left=2))
        return
    if only_file:
        click.echo(source(name).read_text(encoding="utf-8"), nl=False)
        return
    if only_weights:
        click.echo(_weights(resolve(name)))
        return
    click.echo(f"{description(name)}\n")
    for number, path in enumerate(lineage(source(name))):
        title = f"it extends {path.stem}" if number else "file (copy it, change it, and use yours with -p)"
        click.echo(f"{title}\n\n{path.read_text(encoding='utf-8')}")


def description(name: str) -> str:
    """Explain a protocol: what it does, its sources, and the parameters that --set can change."""
    from karat.protocols import resolve
    from karat.report.layout import table

    protocol = resolve(name)
    parameters = [
        [f"  {key}", written(protocol.values[key]) or "''", "|".join(parameter.choices or ()), parameter.help]
        for key, parameter in protocol.parameters.items()
    ]
    header = ["  key", "default", "choices", "description"]
    sources = "\n".join(f"  {source}" for source in protocol.sources)
    description = f"{protocol.name}: {protocol.title}\n\n{protocol.about}\n\nsources\n{sources}"
    if not parameters:
        return description
    return f"{description}\n\nparameters (change them with --set)\n{table(header, parameters, left=4)}"


def written(value: object) -> str:
    """Return the value of a parameter as --set takes it."""
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _weights(protocol: "Protocol") -> str:
    """Weights of each task side by side, under the names that they have in the protocol's file."""
    from karat.report.layout import table
    from karat.report.tables import UNDEFINED

    tasks = {
        task: _flat(weights)
        for choice in protocol.families
        if choice.family.weights is not None
        for task, weights in choice.family.weights(choice.parameters).items()
    }
    if not tasks:
        raise UsageError("no-weights", f"the measures of {protocol.name} have no weights", "Omit --weights.")
    names = list(dict.fromkeys(name for weights in tasks.values() for name in weights))
    groups = list(dict.fromkeys(name.split()[0] for name in names))
    names.sort(key=lambda name: groups.index(name.split()[0]))
    rows = [[name, *(weights.get(name, UNDEFINED) for weights in tasks.values())] for name in names]
    return table([f"{protocol.name} weights", *tasks], rows)


def _flat(weights: Mapping[str, object], *before: str) -> dict[str, str]:
    """Weights by name: `W_err type`."""
    flat: dict[str, str] = {}
    for name, weight in weights.items():
        if isinstance(weight, Mapping):
            flat |= _flat(weight, *before, name)
        elif isinstance(weight, (int, float)):
            short = f"{weight:.2f}"
            flat[" ".join([*before, name])] = short if float(short) == weight else repr(weight)
    return flat
