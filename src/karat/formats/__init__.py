"""Formats: each module turns files into documents and back, and never computes a score.

A format is a module (or any object another package offers under the entry-point group `karat.formats`) with

    TITLE       what it is, in a few words
    SUFFIXES    file names end so
    PROTOCOLS   scored under these when the user names none
    sniff(head)                                  does a file that begins so look like mine?
    blocks(stream, file)                         the light pass: where in a file each document lies
    parse(data, block, options, file, report)    the documents themselves, one block at a time
    write(document, options, lost)               the bytes of one document; `lost` is told what cannot be held
                                                 (None where the format is only read)
    locate(data, block, item)                    the line of a mention or a link in a block; may be left out where a
                                                 document is a line, and is asked only when something is wrong with it

and, only where it needs them,

    FOLDER = True            a corpus is a folder of files: `write` returns the files of a document, name to bytes
    FOLDER = "either"        a folder, unless a file is named: `options.folder` tells `write` which
    BESIDE                   files that end so, beside a file of this format, belong to it and hold no document
    protocols(documents)     which of the PROTOCOLS, by what the documents hold (their bytes, as `parse` gets them)
    belongs(name, head)      whether a file that no format knows, somewhere in the corpus, is part of it all the same
    instead(name, head)      what to give in place of a file of its family that holds no document, such as an index
    REFUSES_FAULTS = True    its rules want that nothing is scored that has faults, unless the user accepts them
    FORGIVEN                 codes of faults that are counted all the same
    GLOBAL_IDS = True        an id, of a mention too, means one thing in all documents
    LOCAL_CLUSTERS = True    its cluster ids mean nothing outside their document
    DEFAULTS                 what an event has where it lacks an attribute that other events of its corpus have
    settled(kinds)           which kind the mentions of an undecided kind are, in a corpus with all these kinds
    plan(documents, options, lost)    the options to write these documents with, where all must be written in one way
    locate(data, block, item)         the line of a mention or link in a block

Reading is in two steps, `blocks` then `parse`, so that documents can be found in any order, read again, and handed
to another process as a name and a place. What one document cannot tell, but the corpus can (`DEFAULTS`, `settled`),
is settled by the corpus after that.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple, Protocol

from msgspec import Struct

from karat.errors import Report
from karat.formats._sgm import Sources
from karat.formats._tokens import TokenTables
from karat.model import Document, Unit
from karat.registry import Registry, modules_of


class Block(NamedTuple):
    """Where one document lies in its file, and what a light look at it tells."""

    id: str
    offset: int
    length: int
    line: int
    """Number of its first line."""
    attributes: frozenset[tuple[str, str]] = frozenset()
    """(kind of mention, attribute) that occur in it."""
    topic: str | None = None
    subtopic: str | None = None
    kinds: frozenset[str] = frozenset()
    """Kinds of its mentions and clusters, where they are more than those of mentions with attributes."""
    context: str | None = None
    """What the file said before the document and is needed to read it."""
    links: frozenset[tuple[str, str, str]] = frozenset()
    """(kind of link, kinds of the mentions at its source and its target) that occur in it."""
    more: tuple[tuple[int, int, int], ...] = ()
    """Where else in its file the document goes on: offset, length and first line of each further piece."""


class Options(Struct, frozen=True):
    """How to read (or write) a format that does not say it itself."""

    unit: Unit | None = None
    tokens: TokenTables | None = None
    """Where the rows of token ids are looked up."""
    bare: bool = False
    """Writing: no document of the corpus needs more than the format's plainest lines (see `plan`)."""
    sources: Sources | None = None
    """Where the texts of documents are looked up that have them in files of their own."""
    folder: bool = False
    """Writing: into a folder of files (see `FOLDER`)."""

    @classmethod
    def of(cls, unit: Unit | None, tokens: str | None, sources: str | None = None) -> "Options":
        """As `--unit`, `--tokens` and `--sources` say."""
        tables = None if tokens is None else TokenTables(tokens)
        return cls(unit, tables, sources=None if sources is None else Sources(sources))


class Format(Protocol):
    """What a format module offers."""

    TITLE: str
    SUFFIXES: tuple[str, ...]
    PROTOCOLS: tuple[str, ...]
    write: Callable[[Document, Options, Callable[[str], None]], bytes | dict[str, bytes]] | None

    def sniff(self, head: bytes) -> bool:
        """Whether a file that begins with these bytes looks like this format."""
        ...

    def blocks(self, stream: BinaryIO, file: str) -> Iterator[Block]:
        """Where the documents of a file are, in its order."""
        ...

    def parse(self, data: bytes, block: Block, options: Options, file: str, report: Report) -> Document:
        """The document in a block's bytes."""
        ...


class _HasAttributes(Protocol):
    @property
    def kind(self) -> str: ...
    @property
    def attributes(self) -> Mapping[str, object]: ...


def attributes_in(mentions: Iterable[_HasAttributes]) -> frozenset[tuple[str, str]]:
    """(kind, attribute) pairs that occur on mentions."""
    return frozenset([(mention.kind, name) for mention in mentions for name in mention.attributes])


def links_in(document: Document) -> frozenset[tuple[str, str, str]]:
    """(kind of link, kind of mention at its source, at its target); the kind of a cluster is that of its mentions."""
    if not document.links:
        return frozenset()
    kinds = {mention.cluster: mention.kind for mention in document.mentions}
    kinds |= {mention.id: mention.kind for mention in document.mentions}
    return frozenset(
        (link.kind, kinds[link.source], kinds[link.target])
        for link in document.links
        if link.source in kinds and link.target in kinds
    )


FORMATS: Registry[Any] = Registry(
    __name__,
    "format",
    own=lambda: modules_of(sys.modules[__name__]),
    accept=lambda module: module,
    listed_by="karat formats",
)


def planned(name: str, documents: Iterable[Document], options: Options, lost: Callable[[str], None]) -> Options:
    """The options to write a corpus with: some formats write a document in a way that all of them must share."""
    plan: Callable[[Iterable[Document], Options, Callable[[str], None]], Options] | None
    plan = getattr(FORMATS.get(name), "plan", None)
    return options if plan is None else plan(documents, options, lost)


def is_folder(name: str, output: str | None = None) -> bool:
    """Whether a corpus in this format is written into a folder of files; `output` is what the user names for it."""
    format_ = FORMATS.get(name)
    folder = getattr(format_, "FOLDER", False)
    if folder == "either":
        return output is not None and not output.lower().removesuffix(".gz").endswith(format_.SUFFIXES)
    return bool(folder)
