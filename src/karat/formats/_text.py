"""Text of files: UTF-8, or an error with the line that is not."""

from karat.errors import Rule

MISSING = Rule("file-missing", "fatal", "Check the spelling and the current folder.")
ENCODING = Rule("encoding", "fatal", "Save the file as UTF-8, for example with: iconv -f UTF-16 -t UTF-8 IN > OUT")

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
