"""Text of files: UTF-8, or an error with the line that is not."""

import re

from karat.errors import Rule

MISSING = Rule("file-missing", "fatal", "Check the spelling and the current folder.")
ENCODING = Rule("encoding", "fatal", "Save the file as UTF-8, for example with: iconv -f UTF-16 -t UTF-8 IN > OUT")

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
