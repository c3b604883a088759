"""Damage to a file: what haste, broken tools and ill will do to it."""

import re
from random import Random

BYTE = re.compile(rb".{1,3}", re.DOTALL)
TOKEN = re.compile(rb"[A-Za-z0-9_.-]+|[^A-Za-z0-9_.\s-]|\s+")
WORD = re.compile(rb"[A-Za-z0-9_.-]+")
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
QUOTED = re.compile(rb'(?<=")[^"<>{}\n]*(?=")')
LINE = re.compile(rb"[^\n]*\n")
ELEMENT = re.compile(rb'<(\w+)[^<>]*>[^<>]*</\1>\n?|<\w+[^<>]*/>\n?|\{"[^{}]*\}|\([^()]*\)|^.*\n', re.MULTILINE)
NUMBERS = (
    b"-1", b"0", b"-0", b"1", b"00", b"+5", b"1.5", b"1e9", b"1e400", b"2147483648", b"4294967296",
    b"9223372036854775808", b"-9223372036854775809", b"99999999999999999999999", b"NaN", b"Infinity", b"0x10",
    b"\xd9\xa3", b"1_000", b" 7", b"", b"9" * 400,
)  # fmt: skip
BYTES = (
    b"\x00", b"\x01", b"\x1b[31m", b"\x7f", b"\x80", b"\xc3", b"\xff", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x85",
    b"\x0b", b"\x0c", b"\x1c", b"\r", b"\t", b" ", b"\n", b"\n\n", b"\r\n", b"\xc2\x85", b"\xc2\xa0", b"\xe2\x80\xa8",
    b"\xe2\x80\xae", b"\xef\xbb\xbf", b"\xcc\x81", b"\xf0\x9f\x98\x80", b"\xc4\xb0", b"\xef\xbf\xbe", b"",
)  # fmt: skip
WORDS = (
    b"null", b"true", b"[]", b"{}", b'""', b"''", b"{", b"}", b"[", b"]", b"(", b")", b"<", b">", b"&", b"&lt;", b"&x;",
    b"&#0;", b"&#xD800;", b'"', b"'", b"\\", b"\\u0000", b"\\ud800", b"\\n", b"#", b"=", b":", b";", b",", b"|", b"/",
    b"../../x", b"..", b".", b"-", b"_", b"*", b"%s", b"%", b"@Coreference", b"#BeginOfDocument", b"#EndOfDocument",
    b"#begin document (x); part 000", b"#end document", b"# newdoc", b"<!-- ", b"-->", b"<![CDATA[", b"<?x", b"?>",
    b"<!DOCTYPE x [<!ENTITY e 'eeee'>]>", b"</document>", b"T1", b"E1", b"R1", b"A1", b"#kind after", b"__proto__",
    b"micro", b"all", b"document", b"event", b"entity", b"NOT_ANNOTATED", b"x" * 300,
)  # fmt: skip
OPENINGS = ((b"(", b")"), (b"[", b"]"), (b"{", b"}"), (b"<a>", b"</a>"), (b'{"a":', b"}"), (b'"', b'"'), (b"{", b""))
DEPTHS = (1, 1, 2, 5, 60, 600, 3000)
ENCODINGS = ("latin-1", "utf-16", "utf-16-le", "utf-8-sig", "cp1252", "utf-7", "utf-32")
LINE_ENDS = (b"\r\n", b"\r", b"\n\r", b"\xe2\x80\xa8", b"\x0b", b"")

MOVED = {TOKEN: 12, WORD: 10, NUMBER: 8, LINE: 14, QUOTED: 4, ELEMENT: 4}
"""Pieces that are moved, and how often."""
EXCHANGED = {WORD: 1, QUOTED: 2, NUMBER: 2, ELEMENT: 3}
"""Pieces that can be moved without harm to the structure of most files."""


def damaged(data: bytes, random: Random, others: tuple[bytes, ...]) -> bytes:
    """Return a file after some edits, few more often than many; `others` are files from which pieces may come.

    Half of the files get only edits that keep their structure, and so reach what lies behind the parsers.
    """
    keeps_structure = random.random() < 0.5
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 4, 5)) if random.random() < 0.75 else random.randint(6, 30)):
        if keeps_structure:
            data = nudge_number(data, random) if random.random() < 0.2 else move(data, random, EXCHANGED)
        elif random.random() < 0.02:
            data = repeat(data, random, random.choice(others))
        elif random.random() < 0.5:
            data = move(data, random, MOVED)
        else:
            edits = (replace, repeat, nest, end_lines, encode, truncate)
            data = random.choices(edits, (32, 5, 3, 2, 1, 1))[0](data, random)
    return data


def move(data: bytes, random: Random, patterns: dict[re.Pattern[bytes], int]) -> bytes:
    """Delete, duplicate, copy or exchange pieces of a file."""
    pattern = random.choices((*patterns,), (*patterns.values(),))[0]
    (a, b), (c, d) = sorted((_place(pattern, data, random), _place(pattern, data, random)))
    comma = b"," if data[a : a + 1] == b"{" else b""
    pieces = [(data[c:d], data[a:b]), (data[a:b], data[a:b]), (data[c:d], data[c:d]), (b"", data[c:d])]
    pieces.append((data[a:b], data[a:b] + comma + data[c:d]))
    first, second = random.choice(pieces)
    return data[:a] + first + data[b:c] + second + data[d:] if b <= c else data[:a] + data[b:]


def nudge_number(data: bytes, random: Random) -> bytes:
    """Make a number a little larger or smaller, or zero."""
    begin, end = _place(NUMBER, data, random)
    number = int(float(data[begin:end][:15] or 0))
    near = random.choice((0, number - 1, number + 1, number + 5, abs(number) * 2, number + 1000))
    return data[:begin] + b"%d" % near + data[end:]


def replace(data: bytes, random: Random) -> bytes:
    """Write something that nobody expects over a number, a token or a byte, or before it."""
    pattern, values = random.choice(((NUMBER, NUMBERS), (TOKEN, WORDS), (BYTE, BYTES)))
    begin, end = _place(pattern, data, random)
    return data[:begin] + random.choice(values) + data[random.choice((begin, end, end)) :]


def repeat(data: bytes, random: Random, other: bytes | None = None) -> bytes:
    """Write a piece a second time, or one of another file."""
    source = data if other is None else other
    begin, end = _range(source, random, random.choice((4, 60, 600)))
    place = random.randint(0, len(data))
    return data[:place] + source[begin:end] + data[place:]


def nest(data: bytes, random: Random) -> bytes:
    """Put brackets, tags or quotes around a piece, sometimes thousands of them."""
    begin, end = _range(data, random, 40)
    opening, closing = random.choice(OPENINGS)
    depth = random.choice(DEPTHS)
    return data[:begin] + opening * depth + data[begin:end] + closing * depth + data[end:]


def end_lines(data: bytes, random: Random) -> bytes:
    """Write other line ends, everywhere or once."""
    return data.replace(b"\n", random.choice(LINE_ENDS), random.choice((-1, 1, 1)))


def encode(data: bytes, random: Random) -> bytes:
    """Write the whole file, or a piece of it, in another encoding."""
    begin, end = (0, len(data)) if random.random() < 0.3 else _range(data, random, 60)
    piece = data[begin:end].decode("utf-8", "replace").encode(random.choice(ENCODINGS), "replace")
    return data[:begin] + piece + data[end:]


def truncate(data: bytes, random: Random) -> bytes:
    """Keep only the beginning, or only the end."""
    place = random.randint(0, len(data))
    return data[:place] if random.random() < 0.8 else data[place:]


def _range(data: bytes, random: Random, longest: int) -> tuple[int, int]:
    begin = random.randint(0, len(data))
    return begin, min(len(data), begin + random.randint(0, longest))


def _place(pattern: re.Pattern[bytes], data: bytes, random: Random) -> tuple[int, int]:
    """Return where a match is; an empty place if there is none."""
    return random.choice([match.span() for match in pattern.finditer(data)] or [(0, 0)])
