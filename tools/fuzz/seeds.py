"""Small valid corpora of every registered format.

A format that can be written is written from two documents of the demo corpus, gold and one system. Files in
`samples/FORMAT` are seeds, too: they are for formats that are only read, or that hold what the demo corpus does not.
"""

import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

import karat
import karat.demo
from karat.errors import KaratError
from karat.formats import FORMATS
from karat.model import Document
from karat.plugin import Format, WriteOptions

SAMPLES = Path(__file__).parent / "samples"
DEMO = Path(karat.demo.__file__).parent
DOCUMENTS = ("norhaven-1", "ostwick-2")
MENTIONS = 5
"""Most mentions of a document: small files are fuzzed faster, and an edit is more likely to matter."""

Files = dict[str, bytes]
"""Contents by name."""


class Seed(NamedTuple):
    """A valid corpus: gold and a system."""

    format: str
    gold: Files
    system: Files


def seeds() -> list[Seed]:
    """The seeds of all formats, in a fixed order."""
    return [seed for name, format_ in FORMATS for seed in (*_written(name, format_), *_samples(name))]


def _samples(name: str) -> list[Seed]:
    files = {path.name: path.read_bytes() for path in sorted((SAMPLES / name).glob("*"))}
    return [Seed(name, files, files)] if files else []


def _written(name: str, format_: Format) -> list[Seed]:
    if format_.write is None:
        return []
    for tokens in (False, True):
        with suppress(KaratError):  # the format cannot hold the demo corpus, or not without tokens
            return [Seed(name, *(_files(format_, _documents(side, tokens=tokens)) for side in ("gold", "eager")))]
    return []


def _documents(side: str, *, tokens: bool) -> list[Document]:
    """Some documents of the demo corpus, with their text and few mentions."""
    gold, corpus = ({one.id: one for one in karat.read(DEMO / f"{name}.jsonl")} for name in ("gold", side))
    return [_small(corpus[id_], gold[id_].text or "", tokens=tokens) for id_ in DOCUMENTS]


def _small(document: Document, text: str, *, tokens: bool) -> Document:
    mentions = document.mentions[:MENTIONS]
    ends = {mention.id for mention in mentions} | {mention.cluster for mention in mentions}
    links = tuple(link for link in document.links if {link.source, link.target} <= ends)
    text = text[: 1 + text.index(".", max(mention.span[-1][1] for mention in mentions))]
    words = tuple(match.span() for match in re.finditer(r"\w+|[^\w\s]", text)) if tokens else None
    return replace(document, mentions=mentions, links=links, text=text, tokens=words)


def _files(format_: Format, documents: Iterable[Document]) -> Files:
    """The files of a corpus; several documents of one file follow each other."""
    documents = list(documents)
    assert format_.write is not None, "only formats that can be written are offered"
    options = format_.plan(documents, WriteOptions(folder=format_.writes_folder("corpus")), _ignore)
    files: Files = {}
    for document in documents:
        piece = format_.write(document, options, _ignore)
        for name, data in (piece if isinstance(piece, dict) else {f"corpus{format_.suffixes[0]}": piece}).items():
            files[name] = files.get(name, b"") + data
    return files


def _ignore(loss: str) -> None:
    """What a format cannot hold does not matter here."""
