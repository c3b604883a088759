"""Reads the documents of files, each from its place.

Documents that the survey had to parse are kept, up to a limit; on request, all that are read.
"""

import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import BinaryIO

from karat.corpus.paths import File
from karat.corpus.remote import is_url, state_of
from karat.errors import Finding, Report, Rule, Target, refusing
from karat.model import Document
from karat.plugin import Block, Contents, Format, Locate, LocateBeside, ReadOptions

CHANGED = Rule("file-changed", "fatal", "Run karat again when nothing else writes to the file.")

BUFFER = 1 << 16
"""Bytes read at once; documents are usually read in file order."""
KEPT = 32 << 20
"""Bytes of documents (see `_size`) that are kept after the survey; others are parsed again."""
KEPT_ON_REQUEST = 128 << 20
"""The same for a corpus that is read several times."""


FileState = tuple[int, int]
"""Size and time of the last change of a file."""


class DocumentReader:
    """Finds and reads the documents of files in one format; any number of threads may read from it."""

    def __init__(self, files: Sequence[File], format_: Format, options: ReadOptions) -> None:
        self._files, self._format, self._options = files, format_, options
        self._remote = {number for number, file in enumerate(files) if is_url(file.path)}
        self._open: tuple[int, BinaryIO] | None = None
        self._window = 0, b""
        """An offset in the open file, and the bytes from there on that were read last."""
        self._lock = threading.Lock()
        self._states: dict[int, FileState] = {}
        self._looked_at: tuple[BinaryIO, FileState] | None = None
        self._kept: dict[tuple[int, int], tuple[Document, list[Finding]]] = {}
        """By file and offset: documents, with what the parser reported."""
        self._room = KEPT
        self._counted = -1, 0, 1
        """A file, an offset in it, and the line there: where `_first_line` goes on counting."""
        self._locators: dict[tuple[int, int], tuple[Locate, LocateBeside]] = {}
        """By file and offset: what finds lines of the last document that was asked about."""
        self._keeps_all = False

    def keep_all(self) -> None:
        """Keep documents when they are read, for a corpus that is read several times."""
        if not self._keeps_all:
            self._keeps_all = True
            self._room += KEPT_ON_REQUEST - KEPT

    @property
    def states(self) -> Mapping[int, FileState]:
        """What each file was like when its documents were looked for: a later change would make places wrong."""
        return self._states

    def expect(self, states: Mapping[int, FileState]) -> None:
        """Take over what another reader knows about the files."""
        self._states.update(states)

    def blocks(self, number: int) -> Iterator[Block]:
        """Where the documents of a file are, in its order."""
        file = self._files[number]
        with file.open() as stream:
            self._states[number] = self._state(number, stream)
            for block in self._format.blocks(stream, file.name):
                if block.numbered and len(self._files) > 1:
                    block = block._replace(id=f"{file.stem(self._format.suffixes)}-{block.id}")
                yield block

    def surveyed(self, number: int, block: Block) -> Block:
        """The block with id, topics and contents of its document, which is parsed to know them."""
        findings: list[Finding] = []
        document = self._parse(number, block, refusing(findings.append))
        self._keep(number, block, document, findings)
        return block._replace(
            id=document.id, topic=document.topic, subtopic=document.subtopic, contents=Contents.of(document)
        )

    def read(self, number: int, block: Block, report: Report) -> Document:
        """The document of a block; the parser's findings are reported each time."""
        if (number, block.offset) in self._kept:
            document, findings = self._kept[number, block.offset]
            for finding in findings:
                report(finding)
            return document
        if not self._keeps_all:
            return self._parse(number, block, report)
        found: list[Finding] = []

        def noted(finding: Finding) -> None:
            found.append(finding)
            report(finding)

        document = self._parse(number, block, noted)
        self._keep(number, block, document, found)
        return document

    def _keep(self, number: int, block: Block, document: Document, findings: list[Finding]) -> None:
        """Keep a document if there is room."""
        self._room -= _size(document)
        if self._room >= 0:
            self._kept[number, block.offset] = document, findings

    def read_before(self, number: int, block: Block, line: int) -> Document | None:
        """The document without this line of its file and those after it; None if nothing is left."""
        if block.more or line <= block.line:
            return None
        lines = self._bytes(number, block).splitlines(keepends=True)
        data = b"".join(lines[: max(line - self._first_line(number, block), 0)])
        if not data.strip():
            return None
        return self._format.parse(data, block, self._options, self._files[number].name, _ignore)

    def _first_line(self, number: int, block: Block) -> int:
        """The line at which the bytes of a block begin, counted on from that of an earlier block of the file."""
        known, offset, line = self._counted
        if known != number or offset > block.offset:
            offset, line = 0, 1
        stream = self._stream(number)
        stream.seek(offset)
        line += stream.read(block.offset - offset).count(b"\n")
        self._counted = number, block.offset, line
        return line

    def locate(self, number: int, block: Block, item: Target | None) -> tuple[str, int]:
        """The file and line of an item or a token, or of the document if it is not found."""
        name, line = self._files[number].name, None
        if isinstance(item, int):
            line = self._format.locate_token(self._bytes(number, block, check=False), block, item)
        elif item is not None:
            if len(item) == 2 and not isinstance(item, str) and not self._format.locates_regions:
                item = item[0]
            locate, locate_beside = self._locator(number, block)
            line = locate(item)
            if line is None and (place := locate_beside(item)) is not None:
                return place
        return name, block.line if line is None else line

    def _locator(self, number: int, block: Block) -> tuple[Locate, LocateBeside]:
        """What finds the lines of a document. The last one is kept: who asks for one line usually asks for more."""
        key = number, block.offset
        locators = self._locators
        if key not in locators:
            data = self._bytes(number, block, check=False)
            beside = self._format.locator_beside(self._files[number].name)
            locators = self._locators = {key: (self._format.locator(data, block), beside)}
        return locators[key]

    def relation_names(self, number: int, block: Block) -> Iterable[str]:
        """Names of the relations of a document, as written."""
        return self._format.relation_names(self._bytes(number, block), self._files[number].name)

    def _parse(self, number: int, block: Block, report: Report) -> Document:
        return self._format.parse(self._bytes(number, block), block, self._options, self._files[number].name, report)

    def _bytes(self, number: int, block: Block, *, check: bool = True) -> bytes:
        try:
            with self._lock:
                data = self._piece(number, block.offset, block.length, check)
                if block.more:
                    pieces = [self._piece(number, offset, length, check) for offset, length, _ in block.more]
                    data = b"".join([data, *pieces])
        except OSError as error:
            message = f"the file cannot be read any more: {error.strerror}"
            raise CHANGED.error(message, file=self._files[number].name) from None
        return data

    def _piece(self, number: int, offset: int, length: int, check: bool) -> bytes:
        """A piece of a file, mostly from what was read last; the file is checked only when more of it is read."""
        stream = self._stream(number)
        begin, data = self._window
        if begin <= offset and offset + length <= begin + len(data):
            return data[offset - begin : offset - begin + length]
        stream.seek(offset)
        if not check:  # lines are looked up after the document was read, and often: it is known to be unchanged then
            return stream.read(length)
        data = stream.read(max(length, BUFFER))
        state = self._state(number, stream)
        if state != self._states.get(number, state):
            raise CHANGED.error("the file was changed while karat was reading it", file=self._files[number].name)
        self._window = offset, data
        return data[:length]

    def _stream(self, number: int) -> BinaryIO:
        """The file with this number. The last one stays open, since documents are usually read in file order."""
        if self._open is None or self._open[0] != number:
            self._close()
            self._open = number, self._files[number].open_whole(BUFFER)
            self._window = 0, b""
        return self._open[1]

    def _state(self, number: int, stream: BinaryIO) -> FileState:
        """What a file is like now; one that is read from a URL was looked at when it was opened."""
        if (data := self._files[number].data) is not None:
            return len(data), 0
        if number not in self._remote:
            state = os.fstat(stream.fileno())
            return state.st_size, state.st_mtime_ns
        if self._looked_at is None or self._looked_at[0] is not stream:
            self._looked_at = stream, state_of(self._files[number].path)
        return self._looked_at[1]

    def close(self) -> None:
        """Close the open file; another thread that reads from it opens it again."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._open is not None:
            self._open[1].close()
            self._open = None


def _ignore(finding: object) -> None:
    """Findings of a part of a document were reported for the whole."""


def _size(document: Document) -> int:
    """About how many bytes a document takes in memory: a record with its strings takes about 600, a form 60."""
    records = len(document.mentions) + len(document.clusters) + len(document.links)
    return 600 * records + 60 * len(document.forms or ()) + len(document.text or "")
