"""Text of files: UTF-8, or an error with the line that is not."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import count, islice
from pathlib import Path
from typing import BinaryIO, overload

from karat.plugin.formats import Identity
from karat.problems import Rule

MISSING = Rule("file-missing", "fatal", "Check the spelling and the current folder.")
ENCODING = Rule(
    "encoding",
    "fatal",
    "Save the file as UTF-8 (in Excel: CSV UTF-8), or convert it: iconv -f WINDOWS-1252 -t UTF-8 IN > OUT "
    "(or -f UTF-16, ...)",
)

NEWLINE = b"\n"[0]
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def decode(data: bytes, *, file: str, line: int) -> str:
    """The text of a block that begins in a line of a file."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        bad = line + data.count(b"\n", 0, error.start)
        raise ENCODING.error(
            f"byte 0x{data[error.start]:02x} is not UTF-8", file=file, line=bad, found="\ufffd"
        ) from None


def text_lines(text: str) -> list[str]:
    """Its lines, as editors count them; `str.splitlines` also splits at form feeds and Unicode's line separators."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def search_line(pattern: re.Pattern[bytes], data: bytes, begin: int = 0) -> re.Match[bytes] | None:
    """The first match that only blanks precede in its line. A pattern that begins with a character is found fastest."""
    match = pattern.search(data, begin)
    while match is not None:
        start = match.start()
        if start == 0 or data[start - 1] == NEWLINE or not data[data.rfind(b"\n", 0, start) + 1 : start].strip():
            return match
        match = pattern.search(data, match.end())
    return None


def after_line(data: bytes, place: int) -> int:
    """Where the line after that of a place begins."""
    return data.find(b"\n", place) + 1 or len(data)


class LinesExcept(Sequence[int]):
    """Line numbers of records that have a line each; some lines have none. Only these are kept."""

    def __init__(self, first: int, others: Sequence[int], count: int) -> None:
        """`first` is the first line, `others` are those without a record, in order."""
        self._first, self._others, self._count = first, others, count

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> list[int]: ...
    def __getitem__(self, index: int | slice) -> int | list[int]:
        if isinstance(index, slice):
            return [self[single] for single in range(*index.indices(self._count))]
        if not 0 <= index < self._count:
            raise IndexError(index)
        line = self._first + index
        for other in self._others:
            if other > line:
                break
            line += 1
        return line

    def __iter__(self) -> Iterator[int]:
        others = {*self._others}
        return islice((line for line in count(self._first) if line not in others), self._count)

    def __len__(self) -> int:
        return self._count


@lru_cache(maxsize=16)  # a reader asks several times about the file that it reads
def stem(file: str, suffixes: tuple[str, ...]) -> str:
    """The name of a file without its folder, `.gz`, and a suffix of its format (or, if it has none, any suffix)."""
    name = Path(file).name
    if name.lower().endswith(".gz"):
        name = name[: -len(".gz")]
    for suffix in sorted(suffixes, key=len, reverse=True):
        if name.lower().endswith(suffix) and len(name) > len(suffix):
            return name[: -len(suffix)]
    return Path(name).stem


def named_after_file(suffixes: tuple[str, ...]) -> Callable[[str, BinaryIO], Identity]:
    """Return an `identify` for files of one document, which is called what the file is called."""

    def identify(name: str, stream: BinaryIO) -> Identity:
        del stream
        return Identity(stem(name, suffixes))

    return identify


def of_many_documents(name: str, stream: BinaryIO) -> None:
    """Identify nothing: a file may hold any number of documents."""
    del name, stream


DOCUMENT_TWICE = Rule("document-twice", "fatal", "Give each document once, under its own id.")
TWICE = Rule("mention-twice", "fatal", "Use each id once in a document.")
DANGLING = Rule(
    "argument-unknown", "fault", "Refer to a mention of the same document; unresolved references are ignored."
)
SINGLETON = Rule(
    "cluster-of-one", "note", "No action needed: a mention without a cluster is a cluster of its own anyway."
)
MERGED = Rule("segments-merged", "note", "No action needed; the segments are read as their union.")
REPEATED = Rule("member-twice", "fault", "Name each mention once; it counts once.")
TRIMMED = Rule("id-trimmed", "note", "No action needed; write ids without blanks to avoid this note.")
