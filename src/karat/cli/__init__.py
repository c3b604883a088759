"""The command line. Commands parse arguments, call karat and print."""

from karat.cli.program import cli, main

__all__ = ["cli", "main"]
