"""Values of options: choices with suggestions, files, and names that the shell completes."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import click

from karat.problems import nearest

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

FILE = click.Path(readable=False)
"""A file, whether it exists or not: commands open files, and explain what is wrong with them."""


class Nearest(click.Choice[str]):
    """One of several values."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the value if it is one of the choices."""
        if value not in self.choices:
            choices = [str(choice) for choice in self.choices]
            self.fail(f"{value!r} is not one of {', '.join(choices)}. {nearest(str(value), choices)}", param, ctx)
        return str(value)


Completed = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]


def completes(names: Literal["protocols", "measures", "formats", "names"]) -> Completed:
    """Return a function that completes names; what it needs is imported when the shell asks."""

    def completed(context: click.Context, parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        from karat.cli import completion

        del context, parameter
        items: list[CompletionItem] = getattr(completion, names)(incomplete)
        return items

    return completed
