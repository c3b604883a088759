"""Where the documents of a TBF file are, and which kinds of links they have."""

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from karat.errors import Finding, KaratError, Rule, quoted
from karat.formats._tbf_writer import LINK_KINDS
from karat.formats._text import decode
from karat.plugin.formats import Block, Contents

BEGIN, END = b"#BeginOfDocument", b"#EndOfDocument"
COMMENT, RELATION_MARK = b"#@"
WINDOW = 1 << 18
"""Bytes that are searched at once, up to the end of a line."""
# Every TBF mention has these columns, so they are scored even if a file has no mention.
ATTRIBUTES = frozenset({("event", "type"), ("event", "realis")})
KINDS = frozenset({"event"})
LINKS = {name.encode(): (kind, "event", "event") for name, kind in LINK_KINDS.items()}

STRUCTURE = Rule("tbf-structure", "fatal", "Put each document between #BeginOfDocument ID and #EndOfDocument.")


def blocks(stream: BinaryIO, file: str) -> Iterator[Block]:
    """The lines between each #BeginOfDocument and its #EndOfDocument."""
    id_, start, first, line = None, 0, 0, 0
    links: set[tuple[str, str, str]] = set()
    problems: list[Finding] = []  # since the last block; one about what stands outside documents is enough
    offset = stream.tell()

    def block(end: int, *more: Finding) -> Block:
        contents = Contents(ATTRIBUTES, KINDS, frozenset(links))
        return Block(start, end - start, first, id_ or "", contents=contents, problems=(*problems, *more))

    while window := stream.read(WINDOW) + stream.readline():
        end = 0
        while end < len(window):
            # Inside a document, only a line that begins with # can matter; the others are searched together.
            begin = end
            place = begin if id_ is None else _next_mark(window, begin)
            end = _line_end(window, place)
            line += window.count(b"\n", begin, place) + 1
            links.update(_links(window, begin, end))
            data = window[place:end]
            mark = data.strip()
            if mark.startswith(BEGIN):
                if id_ is not None:
                    yield block(offset + place, _not_closed("the next document begins", id_, first, file, line))
                    problems.clear()
                    links.clear()
                id_ = decode(mark[len(BEGIN) :].strip(), file=file, line=line) or None
                start, first = offset + end, line
                if id_ is None and not problems:
                    problems.append(STRUCTURE.at("#BeginOfDocument without a document id", file=file, line=line))
            elif mark.startswith(END):
                if id_ is not None:
                    yield block(offset + place)
                    id_ = None
                    problems.clear()
                    links.clear()
                elif not problems:
                    problems.append(STRUCTURE.at("#EndOfDocument outside a document", file=file, line=line))
            if id_ is None and not problems and data[0] != COMMENT and not data.isspace():
                text = data[:40].decode("utf-8", "replace").strip()
                problems.append(STRUCTURE.at(f"a line outside a document: {quoted(text)}", file=file, line=line))
        offset += len(window)
    if id_ is not None:
        yield block(offset, _not_closed("the file ends", id_, first, file, line))
    elif problems:
        raise KaratError(problems[0])


def _next_mark(data: bytes, begin: int) -> int:
    """Where the next line with a # in front begins, from the line that begins here on; or else the last line."""
    place = data.find(COMMENT, begin)
    while place >= 0:
        line = _line_begin(data, begin, place)
        if not data[line:place].strip():
            return line
        place = data.find(COMMENT, _line_end(data, place))
    return _line_begin(data, begin, len(data) - 1)


def _links(data: bytes, begin: int, end: int) -> Iterable[tuple[str, str, str]]:
    """The kinds of links that relations in these lines make, and what they join."""
    place = data.find(RELATION_MARK, begin, end)
    if place < 0:
        return ()
    return [link for name, link in LINKS.items() if _has_relation(data, name, _line_begin(data, begin, place), end)]


def _has_relation(data: bytes, name: bytes, begin: int, end: int) -> bool:
    place = data.find(name, begin, end)
    while place >= 0:
        after = _line_end(data, place)
        mark = data[_line_begin(data, begin, place) : after].lstrip().partition(b"\t")[0]
        if mark[0] == RELATION_MARK and mark[1:].lstrip() == name:
            return True
        place = data.find(name, after, end)
    return False


def _line_begin(data: bytes, least: int, place: int) -> int:
    return max(data.rfind(b"\n", least, place) + 1, least)


def _line_end(data: bytes, place: int) -> int:
    return data.find(b"\n", place) + 1 or len(data)


def _not_closed(event: str, id_: str, first: int, file: str, line: int) -> Finding:
    message = f"{event} before #EndOfDocument of {quoted(id_)} (begun in line {first})"
    return STRUCTURE.at(message, file=file, line=line, found="" if event == "the file ends" else None)
