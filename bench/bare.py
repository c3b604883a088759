"""Bare reads: the minimum that any scorer has to do with a file."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

Bare = Literal["split", "json.loads", "lxml"]


def read_bare(kind: str, *paths: Path) -> None:
    """Split the lines at tabs, decode them as JSON, or parse each file of a folder as XML."""
    for path in paths:
        if kind == "lxml":
            from lxml import etree

            for file in path.glob("*.apf.xml"):
                etree.parse(str(file))
        elif kind == "json.loads":
            for line in _lines(path):
                json.loads(line)
        else:
            for line in _lines(path):
                line.split("\t")


def _lines(path: Path) -> Iterator[str]:
    with open(path, encoding="utf-8") as stream:
        yield from stream
