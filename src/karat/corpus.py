"""A lazy corpus: documents in files, found in one light pass and read when asked for, as often as asked."""

import re
import sys
from array import array
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, Protocol, runtime_checkable

from msgspec.structs import replace

from karat.errors import Item, Report, Rule, quoted
from karat.formats import FORMATS, attributes_in, links_in
from karat.formats._files import ENCODING, File, find, is_text
from karat.model import Document, Mention, Value
from karat.plugin.formats import Block, Contents, ReadOptions
from karat.topics import Topics

BUFFER = 1 << 16
"""Bytes read at once: documents are mostly asked for in the order of the file."""
OPTIONS = "--gold-format, --system-format, --input-format"
UNKNOWN = Rule("format-unknown", "fatal", f"Name it ({OPTIONS}); `karat formats` lists them.")
MIXED = Rule("format-mixed", "fatal", f"Name the one to read ({OPTIONS}).")
KIN = Rule("file-kin", "fatal", "Name the file with the annotations, or the folder that holds it.")
SKIPPED = Rule("file-skipped", "note", "Nothing to do if it is not part of the corpus.")
TWICE = Rule("document-twice", "fatal", "Give each document once, under its own id.")


class Survey:
    """What only the whole corpus knows. It keeps no mention: an id, a place and a few numbers for each document."""

    def __init__(self) -> None:
        self.rows: dict[str, int] = {}
        self._places = array("q")
        self._contexts: dict[int, str] = {}
        self._more: dict[int, tuple[tuple[int, int, int], ...]] = {}
        self.attributes: set[tuple[str, str]] = set()
        self.kinds: set[str] = set()
        self.links: set[tuple[str, str, str]] = set()
        self.settled_kinds: dict[str, str] = {}
        """Kinds that one document leaves undecided, and what they are in this corpus."""

    def add(self, block: Block, file: int) -> None:
        """Take note of one more document."""
        if block.context is not None:
            self._contexts[len(self.rows)] = block.context
        if block.more:
            self._more[len(self.rows)] = block.more
        self.rows[sys.intern(block.id)] = len(self.rows)  # both sides mostly have the same ids
        self._places.extend((file, block.offset, block.length, block.line))
        if block.contents is not None:
            self.attributes |= block.contents.attributes
            self.kinds |= block.contents.kinds
            self.links |= block.contents.links

    def place(self, id_: str) -> tuple[int, Block]:
        """The file (by number) and the block of a document."""
        row = self.rows[id_]
        file, offset, length, line = self._places[row * 4 : row * 4 + 4]
        return file, Block(offset, length, line, id_, context=self._contexts.get(row), more=self._more.get(row, ()))

    def settle(self, kinds: dict[str, str]) -> None:
        """Take note of what undecided kinds are, once all documents are known."""
        self.settled_kinds = kinds
        self.kinds = {kinds.get(kind, kind) for kind in self.kinds}
        self.attributes = {(kinds.get(kind, kind), name) for kind, name in self.attributes}
        self.links = {(link, kinds.get(one, one), kinds.get(other, other)) for link, one, other in self.links}

    def attributes_of(self, kinds: Iterable[str] | None) -> set[str]:
        """Names of attributes that occur on mentions of these kinds (None: of any kind)."""
        wanted = None if kinds is None else set(kinds)
        return {name for kind, name in self.attributes if wanted is None or kind in wanted}

    def links_of(self, kinds: Iterable[str] | None) -> set[str]:
        """Kinds of links between mentions of these kinds (None: of any kind)."""
        wanted = None if kinds is None else set(kinds)
        return {link for link, *ends in self.links if wanted is None or wanted.issuperset(ends)}


@runtime_checkable
class Corpus(Protocol):
    """Documents by id, each read when asked for."""

    name: str
    refuses_faults: bool
    """Whether the rules of its format want that nothing with faults is scored."""
    tolerated_faults: frozenset[str]
    """Codes of faults that do not count in that."""
    global_ids: bool
    """Whether an id means one thing in all documents."""

    @property
    def protocols(self) -> tuple[str, ...]:
        """What it is scored under when the user names nothing."""
        ...

    def survey(self) -> Survey:
        """The light pass; made once, then remembered."""
        ...

    def read(self, id_: str, report: Report) -> Document:
        """One document."""
        ...

    def where(self, id_: str, item: Item | None = None) -> tuple[str, int | None]:
        """The file and the line of a document, or of an item in it."""
        ...

    def close(self) -> None:
        """Let go of open files; reading opens them again."""
        ...

    def __iter__(self) -> Iterator[Document]: ...


class FileCorpus:
    """A corpus in files of one format."""

    def __init__(
        self,
        name: str,
        files: list[File],
        format_: str,
        options: ReadOptions,
        *,
        topics: Topics | None = None,
        beside: Corpus | None = None,
    ) -> None:
        self.name = name
        self.files = files
        self.format = format_
        self.options = options
        self._format = FORMATS.get(format_)
        self.refuses_faults = self._format.refuses_faults
        self.tolerated_faults = self._format.tolerated_faults
        self.global_ids = self._format.global_ids
        self.topics = topics
        """Only documents of these topics are part of it; None: all."""
        self._beside = beside
        self._survey: Survey | None = None
        self._open: tuple[int, BinaryIO] | None = None

    def of_topics(self, topics: Topics | None, *, beside: Corpus | None = None) -> "FileCorpus":
        """The same files, but only the documents of these topics (None: all); there must be some.

        For a system, name gold, restricted in the same way, as what it stands `beside`: since a system's documents need
        not tell their topics, those that gold has stay, too, and there may be none.
        """
        if topics is None:
            return self
        return FileCorpus(self.name, self.files, self.format, self.options, topics=topics, beside=beside)

    @cached_property
    def protocols(self) -> tuple[str, ...]:
        """By the format, or by what the documents hold where the format leaves that open."""
        choose = self._format.choose_protocols
        return self._format.protocols if choose is None else choose(self)

    def _wanted(self, block: Block) -> bool:
        if self.topics is None or block.topic in self.topics:
            return True
        return self._beside is not None and block.id in self._beside.survey().rows

    def survey(self) -> Survey:
        """Where the documents are; refuses an id given twice."""
        if self._survey is None:
            survey, others = Survey(), set[str | None]()
            for number in range(len(self.files)):
                for block in self.blocks(number):
                    if self._wanted(block):
                        self.enter(survey, number, block)
                    else:
                        others.add(block.topic)
            if self.topics is not None and self._beside is None and others and not survey.rows:
                raise self.topics.absent(others, file=self.name)
            self.settle(survey)
            self._survey = survey
        return self._survey

    @property
    def is_settled_late(self) -> bool:
        """Whether one document cannot be read rightly without knowing the others."""
        return self._format.resolve_kinds is not None or bool(self._format.default_attributes)

    def settle(self, survey: Survey) -> None:
        """Decide, once all documents are known, what none of them tells alone."""
        if self._format.resolve_kinds is not None:
            survey.settle(self._format.resolve_kinds(frozenset(survey.kinds)))

    def blocks(self, number: int) -> Iterator[Block]:
        """Where the documents of one file are, found one after another."""
        file = self.files[number]
        with file.open() as stream:
            yield from self._format.blocks(stream, file.name)

    def enter(self, survey: Survey, number: int, block: Block) -> None:
        """Take note of a document in a survey, or refuse it if there is one of that id."""
        if block.id in survey.rows:
            first, there = survey.place(block.id)
            found = f"document {quoted(block.id)} was already given in {self.files[first].name}, line {there.line}"
            raise TWICE.error(found, file=self.files[number].name, line=block.line)
        survey.add(block, number)

    def read(self, id_: str, report: Report) -> Document:
        """One document, from its place, with what the whole corpus tells of it."""
        survey = self.survey()
        return self.settled(self.read_at(*survey.place(id_), report), survey)

    def settled(self, document: Document, survey: Survey) -> Document:
        """A document with what the whole corpus tells of it."""
        defaults = self._format.default_attributes
        if not survey.settled_kinds and not defaults:
            return document
        defaults = {name: value for name, value in defaults.items() if ("event", name) in survey.attributes}
        return _settled(document, survey.settled_kinds, defaults) if survey.settled_kinds or defaults else document

    def inputs(self) -> list[Path]:
        """The files that are read, with those that stand beside them."""
        names = [file.name for file in self.files]
        stems = [re.sub(r"(?i)\.gz$", "", name) for name in names]
        for suffix in self._format.suffixes:
            stems = [stem[: -len(suffix)] if stem.lower().endswith(suffix) else stem for stem in stems]
        beside = [stem + suffix for stem in stems for suffix in self._format.companions]
        return [Path(name) for name in (*names, *beside)]

    def read_at(self, number: int, block: Block, report: Report) -> Document:
        """The document in a block of a file, as it stands there."""
        data = self._bytes(number, block)
        return self._format.parse(data, block, self.options, self.files[number].name, report)

    def where(self, id_: str, item: Item | None = None) -> tuple[str, int | None]:
        """The file and the first line of a document, or the line of an item in it."""
        return self.where_at(*self.survey().place(id_), item)

    def where_at(self, number: int, block: Block, item: Item | None = None) -> tuple[str, int | None]:
        """The same for a block of a file; only here are lines looked for, so that what is right costs nothing."""
        line = None if item is None else self._format.locate(self._bytes(number, block), block, item)
        return self.files[number].name, block.line if line is None else line

    def _bytes(self, number: int, block: Block) -> bytes:
        stream = self._stream(number)
        stream.seek(block.offset)
        data = stream.read(block.length)
        for offset, length, _ in block.more:
            stream.seek(offset)
            data += stream.read(length)
        return data

    def _stream(self, number: int) -> BinaryIO:
        """The file of that number; the last one stays open, since neighbours are mostly read one after another."""
        if self._open is None or self._open[0] != number:
            self.close()
            self._open = number, open(self.files[number].path, "rb", buffering=BUFFER)
        return self._open[1]

    def close(self) -> None:
        """Let go of the open file."""
        if self._open is not None:
            self._open[1].close()
            self._open = None

    def __iter__(self) -> Iterator[Document]:
        try:
            for id_ in self.survey().rows:
                yield self.read(id_, _ignore)
        finally:
            self.close()

    def __repr__(self) -> str:
        return f"<corpus {self.name}: {self.format}, {len(self.files)} files>"


class MemoryCorpus:
    """A corpus of documents that are already in memory."""

    def __init__(self, documents: Iterable[Document], *, name: str = "memory") -> None:
        self.name = name
        self.protocols: tuple[str, ...] = ()
        self._survey: Survey | None = None
        self.refuses_faults = False
        self.tolerated_faults: frozenset[str] = frozenset()
        self.global_ids = False
        self._documents: dict[str, Document] = {}
        for document in documents:
            if document.id in self._documents:
                raise TWICE.error(f"document {quoted(document.id)} was already given", file=name)
            self._documents[document.id] = document

    def survey(self) -> Survey:
        """Ids and attributes."""
        if self._survey is None:
            self._survey = Survey()
            for document in self:
                kinds = {*(mention.kind for mention in document.mentions), *(c.kind for c in document.clusters)}
                attributes, links = attributes_in(document.mentions), links_in(document)
                contents = Contents(attributes, frozenset(kinds), links)
                self._survey.add(Block(0, 0, 0, document.id, contents=contents), 0)
        return self._survey

    def read(self, id_: str, report: Report) -> Document:
        """One document."""
        del report
        return self._documents[id_]

    def where(self, id_: str, item: Item | None = None) -> tuple[str, int | None]:
        """Nowhere but here."""
        del id_, item
        return self.name, None

    def close(self) -> None:
        """Nothing is open."""

    def __iter__(self) -> Iterator[Document]:
        return iter(self._documents.values())


def _settled(document: Document, kinds: dict[str, str], defaults: dict[str, Value]) -> Document:
    """The document with what only the whole corpus can tell: undecided kinds, and defaults of its events."""

    def settled(mention: Mention) -> Mention:
        kind = kinds.get(mention.kind, mention.kind)
        lacking = defaults.keys() - mention.attributes.keys() if kind == "event" else ()
        if kind == mention.kind and not lacking:
            return mention
        attributes = mention.attributes | {name: value for name, value in defaults.items() if name in lacking}
        return replace(mention, kind=kind, attributes=attributes)

    return replace(document, mentions=tuple(map(settled, document.mentions)))


def _ignore(finding: object) -> None:
    """Findings are for whoever asks for them; a plain loop over documents does not."""


def open_corpus(
    spec: str,
    *,
    format: str | None = None,
    fallback: str | None = None,
    options: ReadOptions | None = None,
    report: Report = _ignore,
) -> FileCorpus:
    """The corpus that a GOLD or SYSTEM argument names."""
    return corpus_of(find(spec), spec, format=format, fallback=fallback, options=options, report=report)


def corpus_of(
    files: list[File],
    spec: str,
    *,
    format: str | None = None,
    fallback: str | None = None,
    options: ReadOptions | None = None,
    report: Report = _ignore,
) -> FileCorpus:
    """The files that an argument names as a corpus; its format is the named one, else what they look like.

    `fallback` is the format of files that are empty: a system that said nothing said it in gold's format.
    """
    options = options or ReadOptions()
    if format is not None:
        chosen = _of_format(files, format)
        _refuse_binary(chosen)
        _refuse_kin(chosen, [format])
        return FileCorpus(spec, chosen, format, options)
    found = _without_companions([(file, _sniffed(file)) for file in files])
    names = sorted({name for _, name in found if name is not None})
    if len(names) > 1:
        raise MIXED.error(f"files of several formats: {', '.join(names)}", file=spec)
    if names:
        is_part = FORMATS.get(names[0]).is_part_of_corpus
        _refuse_kin([file for file, name in found if name is None], [names[0]])
        for file, name in found:
            if name is None and not is_part(file.name, file.head()):
                report(SKIPPED.at(f"is not {names[0]} and was not read", file=file.name))
        return FileCorpus(spec, [file for file, name in found if name], names[0], options)
    _refuse_binary(files)
    _refuse_kin(files, FORMATS.names())
    empty = not any(file.head().strip() for file in files)
    if empty and fallback is not None:
        return FileCorpus(spec, files, fallback, options)
    raise UNKNOWN.error("the file is empty" if empty else "cannot tell what format this is", file=spec)


def _refuse_kin(files: list[File], formats: Iterable[str]) -> None:
    """Refuse files that only stand in for the ones that are meant, with what to give instead."""
    for name in formats:
        redirect = FORMATS.get(name).redirect
        for file in files:
            if message := redirect(file.name, file.head()):
                raise KIN.error(message, file=file.name)


def _refuse_binary(files: list[File]) -> None:
    for file in files:
        if not is_text(file.head()):
            raise ENCODING.error("this looks like UTF-16 (or binary data), not UTF-8", file=file.name)


def _of_format(files: list[File], format_: str) -> list[File]:
    """In a folder, the files whose names end as the format's do, if there are any; else all."""
    suffixes = FORMATS.get(format_).suffixes
    return [file for file in files if _bare(file.name).endswith(suffixes)] or files


def _without_companions(found: list[tuple[File, str | None]]) -> list[tuple[File, str | None]]:
    """All but the files that only stand beside another one (a text beside its annotations)."""
    companions = {
        _bare(file.name).removesuffix(suffix) + beside
        for file, name in found
        if name is not None
        for beside in FORMATS.get(name).companions
        for suffix in FORMATS.get(name).suffixes
        if _bare(file.name).endswith(suffix)
    }
    return [(file, name) for file, name in found if _bare(file.name) not in companions]


def _sniffed(file: File) -> str | None:
    """The format a file looks like, by content and suffix."""
    head, name = file.head(), _bare(file.name)
    if not is_text(head):
        return None
    by_suffix = [known for known, format_ in FORMATS if name.endswith(format_.suffixes)]
    by_both = [known for known in by_suffix if FORMATS.get(known).sniff(head)]
    return min(by_both or [known for known, format_ in FORMATS if format_.sniff(head)] or by_suffix, default=None)


def _bare(name: str) -> str:
    return name.lower().removesuffix(".gz")
