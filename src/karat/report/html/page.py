"""Pages as one file: template, style, script and data, under a policy that allows nothing else."""

from base64 import b64encode
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from karat.problems import visible

STYLESHEET = "report.css"
SORTING = "sorting"
"""The script that sorts rankings."""
DOCUMENTS = ("data", "instances", "controls", "text", "items", "moving", "timeline", "address", "events", SORTING)
"""The files of the script that shows documents, in their order."""
GENERATOR = '<meta name="generator" content="karat '
"""The name of the program in the head of every page."""


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


def rendered(template: str, *, title: str, version: str, script: str = "", **content: Any) -> Iterator[str]:
    """A page with karat's style, in pieces."""
    style = _source(STYLESHEET)
    yield from (
        environment()
        .get_template(template)
        .generate(
            title=title,
            version=version,
            style=Markup(style),
            script=Markup(script),
            policy=policy(style, script),
            **content,
        )
    )


def policy(style: str, script: str) -> str:
    """The content security policy: the page's own style and script, and nothing else."""
    allowed = {"default-src": "'none'", "script-src": _hash(script), "style-src": _hash(style)}
    return "; ".join([*map(" ".join, allowed.items()), "base-uri 'none'", "form-action 'none'"])


def _hash(source: str) -> str:
    return f"'sha256-{b64encode(sha256(source.encode()).digest()).decode()}'"


def page_script(*names: str) -> str:
    return "\n".join(['"use strict";', "(() => {", *(_source(f"script/{name}.js") for name in names), "})();"])


def _source(name: str) -> str:
    return (files("karat.report.html") / name).read_text(encoding="utf-8")


def as_json(data: Any) -> Markup:
    """Data for a script element: without `<`, nothing in it can end the element."""
    return Markup(msgspec.json.encode(data).decode().replace("<", r"\u003c"))  # JSON is not markup


def is_report(path: Path) -> bool:
    """Check that a file is a page that karat made."""
    with path.open("rb") as file:
        return GENERATOR.encode() in file.read(1000)
