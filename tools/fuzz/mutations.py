"""Edits of a file: what damage, haste and ill will do to it. Each takes bytes and a source of randomness."""

import re
from collections.abc import Callable
from functools import lru_cache
from random import Random

Edit = Callable[[bytes, Random], bytes]

TOKEN = re.compile(rb"[A-Za-z0-9_.-]+|[^A-Za-z0-9_.\s-]|\s+")
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
WORD = re.compile(rb"[A-Za-z0-9_.-]+")
QUOTED = re.compile(rb'(?<=")[^"<>{}\n]*(?=")')
ELEMENT = re.compile(rb'<(\w+)[^<>]*>[^<>]*</\1>\n?|<\w+[^<>]*/>\n?|\{"[^{}]*\}|\([^()]*\)|^.*\n', re.MULTILINE)
NUMBERS = (
    b"-1", b"0", b"-0", b"1", b"00", b"+5", b"1.5", b"1e9", b"1e400", b"2147483648", b"4294967296",
    b"9223372036854775808", b"-9223372036854775809", b"99999999999999999999999", b"NaN", b"Infinity", b"0x10",
    b"\xd9\xa3", b"1_000", b" 7", b"", b"9" * 400,
)  # fmt: skip
BYTES = (
    b"\x00", b"\x01", b"\x1b[31m", b"\x7f", b"\x80", b"\xc3", b"\xff", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x85",
    b"\x0b", b"\x0c", b"\x1c", b"\r", b"\t", b" ", b"\n", b"\n\n", b"\r\n", b"\xc2\x85", b"\xc2\xa0", b"\xe2\x80\xa8",
    b"\xe2\x80\xae", b"\xef\xbb\xbf", b"\xcc\x81", b"\xf0\x9f\x98\x80", b"\xc4\xb0", b"\xef\xbf\xbe",
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


def mutated(data: bytes, random: Random, others: tuple[bytes, ...]) -> tuple[bytes, int]:
    """The data after some edits, and how many; three times in four at most five. `others` are files to splice in.

    Half of the files get only edits that keep their structure, and so reach what lies behind the parsers.
    """
    edits = random.choice((1, 1, 1, 2, 2, 3, 4, 5)) if random.random() < 0.75 else random.randint(6, 30)
    is_gentle = random.random() < 0.5
    for _ in range(edits):
        if is_gentle:
            data = random.choice(GENTLE)(data, random)
        elif random.random() < 0.02:
            data = _spliced(data, random, random.choice(others))
        else:
            data = random.choices(EDITS, WEIGHTS)[0](data, random)
    return data, edits


def _range(data: bytes, random: Random, most: int) -> tuple[int, int]:
    begin = random.randint(0, len(data))
    return begin, min(len(data), begin + random.randint(0, most))


def replace_bytes(data: bytes, random: Random) -> bytes:
    """Odd bytes in place of some, or between two."""
    begin, end = _range(data, random, 3)
    return data[:begin] + random.choice(BYTES) + data[end:]


def flip_bit(data: bytes, random: Random) -> bytes:
    """One bit."""
    if not data:
        return data
    place = random.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << random.randrange(8)]) + data[place + 1 :]


def delete_bytes(data: bytes, random: Random) -> bytes:
    """Some bytes in a row."""
    begin, end = _range(data, random, random.choice((1, 3, 40)))
    return data[:begin] + data[end:]


def duplicate_bytes(data: bytes, random: Random) -> bytes:
    """A piece a second time, there or elsewhere."""
    begin, end = _range(data, random, random.choice((4, 60, 600)))
    place = random.choice((end, random.randint(0, len(data))))
    return data[:place] + data[begin:end] + data[place:]


def truncate(data: bytes, random: Random) -> bytes:
    """The beginning or the end alone."""
    place = random.randint(0, len(data))
    return data[:place] if random.random() < 0.8 else data[place:]


def _with_lines(data: bytes, change: Callable[[list[bytes]], None]) -> bytes:
    lines = data.splitlines(keepends=True)
    if lines:
        change(lines)
    return b"".join(lines)


def delete_line(data: bytes, random: Random) -> bytes:
    """One line."""
    return _with_lines(data, lambda lines: lines.__delitem__(random.randrange(len(lines))))


def duplicate_line(data: bytes, random: Random) -> bytes:
    """One line a second time, next to itself or elsewhere."""

    def change(lines: list[bytes]) -> None:
        place = random.randrange(len(lines))
        lines.insert(random.choice((place, random.randrange(len(lines)))), lines[place])

    return _with_lines(data, change)


def swap_lines(data: bytes, random: Random) -> bytes:
    """Two lines."""

    def change(lines: list[bytes]) -> None:
        a, b = (random.randrange(len(lines)) for _ in range(2))
        lines[a], lines[b] = lines[b], lines[a]

    return _with_lines(data, change)


@lru_cache(128)
def _tokens(data: bytes) -> tuple[bytes, ...]:
    """The tokens of a file. The first edit of a case is made on a seed, so many are asked for again and again."""
    return tuple(TOKEN.findall(data))


def _with_tokens(data: bytes, change: Callable[[list[bytes]], None]) -> bytes:
    tokens = list(_tokens(data))
    if tokens:
        change(tokens)
    return b"".join(tokens)


def delete_token(data: bytes, random: Random) -> bytes:
    """One token."""
    return _with_tokens(data, lambda tokens: tokens.__delitem__(random.randrange(len(tokens))))


def duplicate_token(data: bytes, random: Random) -> bytes:
    """One token a second time."""

    def change(tokens: list[bytes]) -> None:
        place = random.randrange(len(tokens))
        tokens.insert(place, tokens[place])

    return _with_tokens(data, change)


def swap_tokens(data: bytes, random: Random) -> bytes:
    """Two tokens."""

    def change(tokens: list[bytes]) -> None:
        a, b = (random.randrange(len(tokens)) for _ in range(2))
        tokens[a], tokens[b] = tokens[b], tokens[a]

    return _with_tokens(data, change)


def copy_token(data: bytes, random: Random) -> bytes:
    """A token in place of another: an id that is used twice, a type for a number."""

    def change(tokens: list[bytes]) -> None:
        words = [place for place, token in enumerate(tokens) if token[:1].isalnum()] or [0]
        tokens[random.choice(words)] = tokens[random.choice(words)]

    return _with_tokens(data, change)


def replace_token(data: bytes, random: Random) -> bytes:
    """A word that means something in some format, in place of a token or before it."""

    def change(tokens: list[bytes]) -> None:
        place = random.randrange(len(tokens))
        tokens[place : place + random.randint(0, 1)] = [random.choice(WORDS)]

    return _with_tokens(data, change)


def change_number(data: bytes, random: Random) -> bytes:
    """A number: huge, negative, none, or one more or less."""
    numbers = _places(NUMBER, data)
    if not numbers:
        return data
    begin, end = random.choice(numbers)
    nearby = b"%d" % (int(float(data[begin:end][:15])) + random.choice((-1, 1, 1000)))
    number = nearby if random.random() < 0.4 else random.choice(NUMBERS)
    return data[:begin] + number + data[end:]


def nest(data: bytes, random: Random) -> bytes:
    """Brackets, tags or quotes around a piece, sometimes thousands of them."""
    begin, end = _range(data, random, 40)
    opening, closing = random.choice(OPENINGS)
    depth = random.choice(DEPTHS)
    return data[:begin] + opening * depth + data[begin:end] + closing * depth + data[end:]


def encode(data: bytes, random: Random) -> bytes:
    """The whole file, or a piece of it, in another encoding."""
    encoding = random.choice(("latin-1", "utf-16", "utf-16-le", "utf-8-sig", "cp1252", "utf-7", "utf-32"))
    begin, end = (0, len(data)) if random.random() < 0.3 else _range(data, random, 60)
    piece = data[begin:end].decode("utf-8", "replace").encode(encoding, "replace")
    return data[:begin] + piece + data[end:]


def end_lines(data: bytes, random: Random) -> bytes:
    """Other line ends, everywhere or once."""
    count = random.choice((-1, 1, 1))
    return data.replace(b"\n", random.choice((b"\r\n", b"\r", b"\n\r", b"\xe2\x80\xa8", b"\x0b", b"")), count)


def _pieces(pattern: re.Pattern[bytes], data: bytes, random: Random) -> list[tuple[int, int]]:
    """Two places that match, the first of them first; fewer if there are no two."""
    places = _places(pattern, data)
    return sorted(random.sample(places, min(2, len(places))))


@lru_cache(512)
def _places(pattern: re.Pattern[bytes], data: bytes) -> tuple[tuple[int, int], ...]:
    return tuple(found.span() for found in pattern.finditer(data))


def _exchange(pattern: re.Pattern[bytes], data: bytes, random: Random) -> bytes:
    """One of two pieces in place of the other, or the two exchanged."""
    places = _pieces(pattern, data, random)
    if len(places) < 2:
        return data
    (a, b), (c, d) = places
    first, second = random.choice(((data[c:d], data[a:b]), (data[a:b], data[a:b]), (data[c:d], data[c:d])))
    return data[:a] + first + data[b:c] + second + data[d:]


def exchange_words(data: bytes, random: Random) -> bytes:
    """Words, numbers and ids, wherever they are."""
    return _exchange(WORD, data, random)


def exchange_quoted(data: bytes, random: Random) -> bytes:
    """Values in quotes: attributes of XML, texts of JSON."""
    return _exchange(QUOTED, data, random)


def exchange_numbers(data: bytes, random: Random) -> bytes:
    """Numbers: offsets that belong to something else."""
    return _exchange(NUMBER, data, random)


def exchange_elements(data: bytes, random: Random) -> bytes:
    """Elements of XML, objects of JSON, trees, lines."""
    return _exchange(ELEMENT, data, random)


def delete_element(data: bytes, random: Random) -> bytes:
    """An element, object, tree or line."""
    places = _pieces(ELEMENT, data, random)
    return data[: places[0][0]] + data[places[0][1] :] if places else data


def duplicate_element(data: bytes, random: Random) -> bytes:
    """An element, object, tree or line a second time; objects with the comma that they then need."""
    places = _pieces(ELEMENT, data, random)
    if not places:
        return data
    (begin, end), (place, _) = places[0], places[-1]
    comma = b"," if data[begin : begin + 1] == b"{" else b""
    return data[:place] + data[begin:end] + comma + data[place:]


def nudge_number(data: bytes, random: Random) -> bytes:
    """A number that is a little larger or smaller, or zero."""
    places = _pieces(NUMBER, data, random)
    if not places:
        return data
    begin, end = places[0]
    number = int(float(data[begin:end][:15]))
    return data[:begin] + b"%d" % random.choice((0, number - 1, number + 1, number + 5, abs(number) * 2)) + data[end:]


GENTLE: tuple[Edit, ...] = (
    exchange_words,
    exchange_quoted,
    exchange_quoted,
    exchange_numbers,
    exchange_elements,
    delete_element,
    duplicate_element,
    nudge_number,
)
"""Edits that keep the structure of most files."""


def _spliced(data: bytes, random: Random, other: bytes) -> bytes:
    begin, end = _range(other, random, 400)
    place = random.randint(0, len(data))
    return data[:place] + other[begin:end] + data[place:]


WEIGHED: dict[Edit, int] = {
    replace_bytes: 6,
    flip_bit: 4,
    delete_bytes: 4,
    duplicate_bytes: 3,
    truncate: 1,
    delete_line: 6,
    duplicate_line: 5,
    swap_lines: 4,
    delete_token: 8,
    duplicate_token: 4,
    swap_tokens: 5,
    copy_token: 10,
    replace_token: 10,
    change_number: 12,
    nest: 3,
    encode: 1,
    end_lines: 2,
}
"""Edits and how often each is made; small ones more often, since a file that is still almost valid goes further."""
EDITS, WEIGHTS = tuple(WEIGHED), tuple(WEIGHED.values())
