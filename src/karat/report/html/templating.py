"""The templates of all pages that karat makes."""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from karat.errors import visible


@cache
def environment() -> Environment:
    """The templates. Everything that they insert is escaped."""
    made = Environment(
        loader=PackageLoader("karat.report.html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["visible"] = visible
    return made
