"""The entry point of the program."""

import sys
from typing import NoReturn

from karat.interpreter import prepare_interpreter


def main() -> NoReturn:
    """Run the command that the arguments name."""
    prepare_interpreter()  # before the imports, which are most of the work of a short command
    try:
        from karat.cli.program import run
    except KeyboardInterrupt:
        sys.exit("error: stopped")

    run()
