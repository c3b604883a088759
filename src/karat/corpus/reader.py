"""Reads pieces of files, each from its place. The file that was read last stays open."""

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO

from karat.corpus.index import Entry, entries
from karat.corpus.paths import File
from karat.corpus.remote import is_url, state_of
from karat.errors import Report, Rule
from karat.model import Document
from karat.plugin import Context, Format, Piece, ReadOptions

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
        """What each file was like when its documents were looked for: a later change would make places wrong."""
        return self._states

    def expect(self, states: Mapping[int, FileState]) -> None:
        """Take over what another reader knows about the files."""
        self._states.update(states)

    def entries(self, number: int) -> Iterator[Entry]:
        """Where the documents of a file are, in its order."""
        file = self._files[number]
        with file.open() as stream:
            self._states[number] = self._state(number, stream)
            yield from entries(stream, file, self._format, is_only_file=len(self._files) == 1)

    def documents(self, number: int, entry: Entry, report: Report) -> Iterator[Document]:
        """The documents of an entry: one, unless the file is read whole."""
        return self._format.read(self.piece(number, entry), Context(self._options, report))

    def piece(self, number: int, entry: Entry) -> Piece:
        """The bytes of an entry."""
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
