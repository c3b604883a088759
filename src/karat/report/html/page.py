"""The page as one file: template, style, script and data, under a policy that allows nothing else."""

from base64 import b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
from markupsafe import Markup

from karat.report.html.gather import Gathered
from karat.report.html.records import IndexData
from karat.report.html.sections import ProtocolSection
from karat.report.html.templating import environment

STYLESHEET = "report.css"
SCRIPTS = ("data", "instances", "controls", "text", "items", "moving", "events")
"""The files of the script, in their order."""
GENERATOR = '<meta name="generator" content="karat '
"""How the head of every page names its program."""


def page(
    *,
    title: str,
    version: str,
    sections: Sequence[ProtocolSection],
    documents: Gathered | None,
    index: IndexData | None,
) -> Iterator[str]:
    """The page in pieces, so that a large one is never in memory as a whole."""
    script = "\n".join(['"use strict";', "(() => {", *(_source(f"script/{name}.js") for name in SCRIPTS), "})();"])
    return rendered(
        "page.html",
        title=title,
        version=version,
        script=script,
        sections=sections,
        has_breakdowns=any(one.breakdowns or one.breakdown_tables for one in sections),
        has_errors=any(one.errors or one.compared_errors or one.outcomes for one in sections),
        index=index,
        index_json=None if index is None else as_json(index),
        documents=() if documents is None else map(as_json, documents.documents()),
    )


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


def _source(name: str) -> str:
    return (files("karat.report.html") / name).read_text(encoding="utf-8")


def as_json(data: Any) -> Markup:
    """Data for a script element: without `<`, nothing in it can end the element."""
    return Markup(msgspec.json.encode(data).decode().replace("<", r"\u003c"))  # JSON is no markup


def is_report(path: Path) -> bool:
    """Whether a file is a page that karat made."""
    with path.open("rb") as file:
        return GENERATOR.encode() in file.read(1000)
