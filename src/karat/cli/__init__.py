"""The command line. Commands parse arguments, call karat and print."""

from typing import TYPE_CHECKING, Any

from karat.cli.start import main

if TYPE_CHECKING:
    from karat.cli.program import cli

__all__ = ["cli", "main"]


def __getattr__(name: str) -> Any:
    """Import the group of commands on first use: `main` prepares the interpreter before that."""
    if name != "cli":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from karat.cli.program import cli

    return cli
