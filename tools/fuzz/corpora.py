"""Small valid corpora of every format.

A format that can be written is written from two documents of the demo corpus, gold and one system. Files in
`samples/FORMAT` are corpora too: they are for formats that are only read, or that hold what the demo corpus does not.
Where systems are written in another way than gold, each side has a folder of its own, `gold` and `system`.
"""

import json
import re
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import karat.demo
from fuzz.checks import execute
from karat.formats import FORMATS

SAMPLES = Path(__file__).parent / "samples"
DEMO = Path(karat.demo.__file__).parent
DOCUMENTS = ("norhaven-1", "ostwick-2")
MENTIONS = 5
"""Mentions kept of each document: in a small file, an edit is more likely to matter."""

Files = dict[str, bytes]


class Corpus(NamedTuple):
    """Gold and a system in one format."""

    format: str
    gold: Files
    system: Files

    @property
    def files(self) -> Files:
        """All files, in a folder for each side."""
        sides = {"gold": self.gold, "system": self.system}
        return {f"{side}/{name}": data for side, files in sides.items() for name, data in files.items()}

    def path(self, side: str) -> str:
        """Return the argument that names a side: its file, or its folder if it has several files."""
        files = self.gold if side == "gold" else self.system
        return f"{side}/{next(iter(files))}" if len(files) == 1 else side


@cache
def corpora() -> tuple[Corpus, ...]:
    """Return the corpora of all formats, in a fixed order."""
    found: list[Corpus] = []
    for name, format_ in FORMATS:
        if format_.write is not None:
            gold, system = (_written(name, side) for side in ("gold", "eager"))
            found += [Corpus(name, gold, system)] if gold and system else []
        folders = [SAMPLES / name / side for side in ("gold", "system")]
        gold, system = (_files(folder if folder.is_dir() else SAMPLES / name) for folder in folders)
        found += [Corpus(name, gold, system)] if gold else []
    return tuple(found)


def _files(folder: Path) -> Files:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*"))}


def _written(format_: str, side: str) -> Files:
    """Convert some documents of the demo corpus; empty if the format cannot hold them."""
    lines = ((DEMO / f"{name}.jsonl").read_text(encoding="utf-8").splitlines() for name in ("gold", side))
    texts, documents = ({document["id"]: document for document in map(json.loads, part)} for part in lines)
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder, "demo.jsonl"), Path(folder, "out")
        for has_tokens in (False, True):
            small = [_small(documents[id_], texts[id_]["text"], has_tokens=has_tokens) for id_ in DOCUMENTS]
            source.write_text("\n".join(map(json.dumps, small)), encoding="utf-8")
            if execute(("convert", str(source), str(out), "--to", format_, "--lossy")).code == 0:
                if out.is_dir():
                    return _files(out)
                return {f"corpus{FORMATS.get(format_).suffixes[0]}": out.read_bytes()}
    return {}


def _small(document: dict[str, Any], text: str, *, has_tokens: bool) -> dict[str, Any]:
    """Cut a document to its first mentions."""
    mentions = document["mentions"][:MENTIONS]
    ends = {mention[key] for mention in mentions for key in ("id", "cluster") if key in mention}
    links = [link for link in document.get("links", ()) if {link["from"], link["to"]} <= ends]
    text = text[: 1 + text.index(".", max(mention["span"][-1][1] for mention in mentions))]
    tokens = {"tokens": [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]} if has_tokens else {}
    return {**document, "mentions": mentions, "links": links, "text": text, **tokens}
