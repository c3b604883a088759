"""`karat completion`, and the names that a shell completes: protocols, measures and formats."""

from typing import TYPE_CHECKING

import click

from karat.cli._parameters import Nearest

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


EPILOG = """\b
Examples:
  karat completion bash
  karat completion fish

\b
Add one of these lines to the start-up file of your shell:
  bash  eval "$(karat completion bash)"      in ~/.bashrc
  zsh   eval "$(karat completion zsh)"       in ~/.zshrc
  fish  karat completion fish | source       in ~/.config/fish/config.fish
"""


@click.command(epilog=EPILOG)
@click.argument("shell", type=Nearest(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script that completes commands in SHELL.

    It completes commands, options, files, and the names of protocols, measures and formats.
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None, "only shells that click knows are offered"
    script = kind(context.find_root().command, {}, "karat", "_KARAT_COMPLETE")
    click.echo(script.source_template % script.source_vars())


def protocols(incomplete: str) -> "list[CompletionItem]":
    """Names of protocols; files, if no name matches."""
    from click.shell_completion import CompletionItem

    from karat.protocols import PROTOCOLS

    return _starting(PROTOCOLS.names(), incomplete) or [CompletionItem(incomplete, type="file")]


def measures(incomplete: str) -> "list[CompletionItem]":
    """Families and ids of measures."""
    from karat.cli._measures import KIND, listed
    from karat.families import MEASURES

    ids = [id_.replace(KIND, kind) for id_ in listed() for kind in (("subevent", "member") if KIND in id_ else ("",))]
    return _starting([*MEASURES.names(), *ids], incomplete)


def formats(incomplete: str) -> "list[CompletionItem]":
    from karat.formats import FORMATS

    return _starting(FORMATS.names(), incomplete)


def names(incomplete: str) -> "list[CompletionItem]":
    """Names of measures, protocols and formats."""
    from karat.protocols import PROTOCOLS

    return [*measures(incomplete), *_starting(PROTOCOLS.names(), incomplete), *formats(incomplete)]


def _starting(names: list[str], incomplete: str) -> "list[CompletionItem]":
    from click.shell_completion import CompletionItem

    return [CompletionItem(name) for name in names if name.startswith(incomplete)]
