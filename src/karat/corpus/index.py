"""The index of a corpus: where each document is, found by the marker of the format, without parsing anything."""

import os
import re
import sys
import threading
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from karat.corpus.paths import File, is_url
from karat.formats import decode, stem
from karat.model import Document
from karat.plugin import Context, Format, Identity, Marker, Piece, ReadOptions
from karat.problems import Report, Rule

DOCUMENT = 500
"""The cost of a document besides its bytes, in bytes."""
WINDOW = 1 << 18
"""Bytes that are searched at once, up to the end of a line."""


class Entry(Struct, frozen=True):
    """Where one document is in its file. A file that is read whole is one entry without an id."""

    offset: int
    length: int
    line: int
    """The line of its marker."""
    id: str = ""
    """Empty if only the document itself has it, or if there is none."""
    header: bytes = b""
    lead: int = 0
    """How many of its lines stand before the marker: what a file begins with belongs to its first document."""
    more: tuple["Entry", ...] = ()
    """Further pieces of the document."""
    is_unnamed: bool = False
    """True: it has no id, and is called what its file is called."""
    is_document: bool = True
    """False: the file has no marker, although its format does, and only reading it shows which documents it has."""
    topic: str | None = None
    """The topic of the document, if the name of its file says it."""

    @property
    def is_plain(self) -> bool:
        """True if it has nothing but a place and an id."""
        return not (self.header or self.lead or self.more or self.is_unnamed or not self.is_document)

    @property
    def size(self) -> int:
        """Bytes of all its pieces."""
        return self.length + sum([piece.length for piece in self.more])


class Index:
    """Where each document of a corpus is: a few numbers per document."""

    def __init__(self, ids: Iterable[str] = ()) -> None:
        """The documents with these ids are in memory."""
        self.rows = {id_: row for row, id_ in enumerate(ids)}
        """The documents by id, in their order, each with its number."""
        self.unnamed: set[str] = set()
        """Ids of documents that are called what their files are called."""
        self._numbers = array("q")
        """File, offset, length and line of each document."""
        self._entries: dict[int, Entry] = {}
        """Entries that have more than these."""

    def add(self, file: int, entry: Entry) -> None:
        """Add a document of the file with this number."""
        row = len(self.rows)
        self.rows[sys.intern(entry.id)] = row  # both sides usually have the same ids
        self._numbers.extend((file, entry.offset, entry.length, entry.line))
        if not entry.is_plain:
            self._entries[row] = entry if entry.topic is None else replace(entry, topic=None)
        if entry.is_unnamed:
            self.unnamed.add(entry.id)

    def place(self, id_: str) -> tuple[int, Entry]:
        """The file (by number) and the entry of a document."""
        row = self.rows[id_]
        file, offset, length, line = self._numbers[row * 4 : row * 4 + 4]
        entry = self._entries.get(row)
        return file, Entry(offset, length, line, id_) if entry is None else replace(entry, id=id_)

    def size(self, id_: str) -> int:
        """The bytes of a document; 0 if it is in memory."""
        return self.place(id_)[1].size if self._numbers else 0

    def total_size(self) -> int:
        """The bytes of all documents."""
        return sum(self._numbers[2::4]) + sum([entry.size - entry.length for entry in self._entries.values()])

    def part(self, ids: Iterable[str]) -> tuple["Index", list[int]]:
        """The index of some documents, and the numbers of their files; there, files are numbered by this list."""
        part = Index()
        files: dict[int, int] = {}
        for id_ in ids:
            file, entry = self.place(id_)
            part.add(files.setdefault(file, len(files)), entry)
        return part, [*files]

    def rename(self, unnamed: str, id_: str) -> None:
        """Call a document without an id of its own by another one."""
        self.rows = {id_ if known == unnamed else known: row for known, row in self.rows.items()}
        self.unnamed = self.unnamed - {unnamed} | {id_}


def entries(
    stream: BinaryIO, file: File, format_: Format, options: ReadOptions, *, is_only_file: bool
) -> Iterator[Entry]:
    """The documents of an open file, in its order."""
    marker = format_.marker
    if marker is None or not _has_markers(stream, marker, options):
        offset = stream.tell()
        identity = format_.identify(file.name, stream)
        id_, line, topic = identity or Identity()
        length, is_document = stream.seek(0, os.SEEK_END) - offset, identity is not None and marker is None
        yield Entry(offset, length, line, id_, lead=line - 1, is_document=is_document, topic=topic)
    elif marker.joins:
        yield from _joined(_found(stream, file, format_, marker, is_only_file))
    else:
        yield from _found(stream, file, format_, marker, is_only_file)


def _has_markers(stream: BinaryIO, marker: Marker, options: ReadOptions) -> bool:
    offset = stream.tell()
    applies = marker.applies((line for line in stream if not line.isspace()), options)
    stream.seek(offset)
    return applies


def _joined(pieces: Iterable[Entry]) -> Iterator[Entry]:
    """The pieces of each document as one entry, in the order of the first ones."""
    by_id: dict[str, list[Entry]] = {}
    for piece in pieces:
        by_id.setdefault(piece.id, []).append(piece)
    for first, *more in by_id.values():
        yield replace(first, more=tuple(more))


def _found(stream: BinaryIO, file: File, format_: Format, marker: Marker, is_only_file: bool) -> Iterator[Entry]:
    """Find the documents by the marker."""
    fields: list[Any] = []
    """The pieces of the last entry; its length is known when the next one begins."""
    header, is_blank, line = b"", True, 1
    beginning = position = stream.tell()
    names = _Names(file, format_, marker, is_only_file)
    has_header = "header" in marker.pattern.groupindex
    while window := stream.read(WINDOW) + stream.readline():
        counted = 0
        for match in marker.pattern.finditer(window):
            start = window.rfind(b"\n", 0, match.start()) + 1
            if start < match.start() and not window[start : match.start()].isspace():
                continue
            line += window.count(b"\n", counted, start)
            counted = start
            if has_header and match["header"] is not None:
                header = match["header"]
                continue
            id_, is_unnamed = names.name(match, line)
            if fields:
                fields[1] = position + start - fields[0]
                yield Entry(*fields)
            if not fields and not (is_blank and not window[:start].strip()):
                fields = [beginning, 0, line, id_, b"", line - 1, (), is_unnamed]
            else:
                fields = [position + start, 0, line, id_, header, 0, (), is_unnamed]
        is_blank = is_blank and (bool(fields) or not window.strip())
        line += window.count(b"\n", counted)
        position += len(window)
    if fields:
        fields[1] = position - fields[0]
        yield Entry(*fields)
    elif not is_blank:
        yield Entry(beginning, position - beginning, 1, names.whole_file, is_document=False)


class _Names:
    """Names the documents of a file."""

    def __init__(self, file: File, format_: Format, marker: Marker, is_only_file: bool) -> None:
        self._file, self._suffixes, self._marker = file, format_.suffixes, marker
        self._prefix = "" if is_only_file else f"{file.stem(format_.suffixes)}-"
        self._has_id = "id" in marker.pattern.groupindex
        self._number = 0
        self._first_unnamed: int | None = None

    @property
    def whole_file(self) -> str:
        """The id of a file without a marker; empty if it cannot be a document."""
        return f"{self._prefix}1" if self._marker.unnamed == "number" else ""

    def name(self, match: re.Match[bytes], line: int) -> tuple[str, bool]:
        """The id of the next document, and whether it is called what its file is called."""
        self._number += 1
        marker, name = self._marker, self._file.name
        if not self._has_id:
            assert marker.find_id is not None, "the pattern has a group `id`, or `find_id` finds it"
            return marker.find_id(match[0]), False
        if written := match["id"]:
            return decode(written, file=name, line=line), False
        if not isinstance(marker.unnamed, Rule):
            return f"{self._prefix}{self._number}" if marker.unnamed == "number" else str(line), False
        if self._first_unnamed is not None:
            message = f"a second document without an id (the first is in line {self._first_unnamed})"
            raise marker.unnamed.error(message, file=name, line=line)
        self._first_unnamed = line
        return stem(name, self._suffixes), True


CHANGED = Rule("file-changed", "fatal", "Run karat again when nothing else writes to the file.")

BUFFER = 1 << 16
"""Bytes read at once; documents are usually read in file order."""

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

    @property
    def states(self) -> Mapping[int, FileState]:
        """State of each file when it was indexed: a later change would make places wrong."""
        return self._states

    def expect(self, states: Mapping[int, FileState]) -> None:
        """Take over what another reader knows about the files."""
        self._states.update(states)

    def entries(self, number: int) -> Iterator[Entry]:
        """Where the documents of a file are, in its order."""
        file = self._files[number]
        with file.open() as stream:
            self._states[number] = self._state(number, stream)
            yield from entries(stream, file, self._format, self._options, is_only_file=len(self._files) == 1)

    def documents(self, number: int, entry: Entry, report: Report) -> Iterator[Document]:
        """The documents of an entry: one, unless the file is read whole."""
        documents = self._format.read(self.piece(number, entry), Context(self._options, report))
        if not self._options.validated:
            return documents
        from karat.corpus.validated import only_validated

        return (only_validated(document, self._files[number].name) for document in documents)

    def piece(self, number: int, entry: Entry) -> Piece:
        try:
            with self._lock:
                return self._piece(number, entry)
        except OSError as error:
            message = f"the file cannot be read any more: {error.strerror}"
            raise CHANGED.error(message, file=self._files[number].name) from None

    def _piece(self, number: int, entry: Entry) -> Piece:
        return Piece(
            self._files[number].name,
            self._bytes(number, entry.offset, entry.length),
            entry.line - entry.lead,
            entry.id,
            entry.header,
            tuple([self._piece(number, more) for more in entry.more]) if entry.more else (),
            entry.offset + entry.length >= self._states[number][0],
        )

    def _bytes(self, number: int, offset: int, length: int) -> bytes:
        """A piece of a file, mostly from what was read last; the file is checked only when more of it is read."""
        stream = self._stream(number)
        begin, data = self._window
        if begin <= offset and offset + length <= begin + len(data):
            return data[offset - begin : offset - begin + length]
        stream.seek(offset)
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
        """Return the state of a file; that of a URL is the one it was opened with."""
        if (data := self._files[number].data) is not None:
            return len(data), 0
        if number not in self._remote:
            state = os.fstat(stream.fileno())
            return state.st_size, state.st_mtime_ns
        if self._looked_at is None or self._looked_at[0] is not stream:
            from karat.corpus.remote import state_of

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
