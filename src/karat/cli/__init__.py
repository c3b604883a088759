"""The command line. Commands parse arguments, call karat and print."""

from karat.cli.start import main

__all__ = ["main"]
