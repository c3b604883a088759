"""The entry point of the program."""

from typing import NoReturn

from karat.interpreter import prepare_interpreter


def main() -> NoReturn:
    """Run the command that the arguments name."""
    prepare_interpreter()  # before the imports, which are most of the work of a short command
    from karat.cli.program import run

    run()
