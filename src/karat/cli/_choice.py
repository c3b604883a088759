"""A choice on the command line that suggests the nearest value for a misspelt one."""

from typing import Any

import click

from karat.errors import nearest


class Nearest(click.Choice[str]):
    """One of several values."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the value if it is one of the choices."""
        if value not in self.choices:
            choices = [str(choice) for choice in self.choices]
            self.fail(f"{value!r} is not one of {', '.join(choices)}. {nearest(str(value), choices)}", param, ctx)
        return str(value)
