"""CoNLL-2011 and 2012 coreference: one token per line, with brackets in the last column.

    #begin document (nw/x); part 000
    nw/x   0   0   He       (1)
    nw/x   0   1   said     -
    nw/x   0   2   the      (2|(3
    nw/x   0   3   attack   3)|2)

    #end document

The id of a document is the text after `#begin document`. If there is none, the document is called what its file is
called, with a note, and if each side has one such document, the two are scored as one. Tokens are counted over the
whole document, so a mention may span several sentences. Columns are separated by tabs, or by blanks in a line without
tabs. In a line with at least five columns, the fourth is the word.

`(1` begins a mention of cluster 1, `1)` ends the one that began last, and `(1)` is a mention of one token. In a cell,
mentions of one token are read first, then all beginnings, then all ends. They are separated by `|` or by nothing. A
cluster id is any text (`01` is not `1`), and means nothing outside its document.

Mentions are in the order of their first tokens, longer ones first, then in the order in which their clusters appeared.
CoNLL files do not say whether mentions are events or entities; they are read as mentions of kind `event`, which every
protocol scores.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import BinaryIO, NamedTuple

from karat.errors import Item, KaratError, Report, Rule, quoted
from karat.formats._brackets import LONGEST_TEXT, Bracket, CellError, brackets, place
from karat.formats._conll_writer import text_of, write
from karat.formats._names import stem
from karat.formats._text import decode
from karat.model import Document, Mention, qualified
from karat.plugin.formats import Block, Contents, Format, Locate, ReadOptions

SUFFIXES = (".conll", ".v4_gold_conll", ".v4_auto_conll", ".v9_auto_conll")
BEGIN = re.compile(rb"\s*#\s*begin[ \t]+document[ \t]*([^\n]*)")
END = re.compile(rb"\s*#\s*end[ \t]+document")
COMMENT = b"#"
MARKS = frozenset(b"# \t\r\v\f")  # only a line that begins so can open or close a document
EMPTY = frozenset({b"-", b"_"})
NOTHING = b"-"
"""What is written for a word that is not known."""
CONTENTS = Contents(kinds=frozenset({"event"}))

STRUCTURE = Rule("conll-structure", "fatal", "Put each document between #begin document ID and #end document.")
CELL = Rule(
    "conll-cell", "fatal", "The last column is - or brackets: (1 begins a mention, 1) ends it, (1) is one of one token."
)
BRACKET = Rule("conll-bracket", "fatal", "Write a beginning (1 and an end 1) for each mention, both in one document.")
UNIT = Rule("conll-unit", "fatal", "Omit --unit char; CoNLL counts tokens.")
NO_ID = Rule("conll-no-id", "note", "Write #begin document ID to give it another id.")
NO_ID_TWICE = Rule("conll-no-id-twice", "fatal", "Give each document an id, #begin document ID, or a file of its own.")
DOUBLE = Rule("conll-double-antecedent", "note", "Nothing to do; brackets such as (12+3) are ignored.")
BLANKS = Rule("conll-blanks", "note", "Nothing to do; write (1)|(2) without blanks to avoid this note.")

_SPLIT_CELL = re.compile(rb"(?<= )[^()|\s]*[()][^|\s]*(?: *\| *[^()|\s]*[()][^|\s]*)+\Z")
"""The last column of a line without tabs, if it has blanks beside a `|`."""
_DOUBLE = re.compile(r"[0-9]+(\+[0-9]+)+")


def sniff(head: bytes) -> bool:
    """The first line that is not blank or a comment is in a document."""
    for line in head.split(b"\n"):
        if BEGIN.match(line):
            return True
        if line.strip() and not line.lstrip().startswith(COMMENT):
            return False
    return False


def blocks(stream: BinaryIO, file: str) -> Iterator[Block]:
    """The lines between each #begin document and its #end document."""
    id_, start, first, line = None, 0, 0, 0
    is_unnamed, unnamed = False, None
    offset = stream.tell()
    for line, data in enumerate(stream, 1):
        after = offset + len(data)
        if data[0] in MARKS or id_ is None:
            if begin := BEGIN.match(data):
                if id_ is not None:
                    raise _not_closed("the next document begins", id_, first, file, line)
                id_ = decode(begin[1].rstrip(b"\r"), file=file, line=line)
                is_unnamed = not id_
                if is_unnamed:
                    if unnamed is not None:
                        message = f"a second document without an id (the first is in line {unnamed})"
                        raise NO_ID_TWICE.error(message, file=file, line=line)
                    id_, unnamed = stem(file, SUFFIXES), line
                start, first = after, line
            elif END.match(data):
                if id_ is None:
                    raise STRUCTURE.error("#end document outside a document", file=file, line=line)
                yield Block(start, offset - start, first, id_, contents=CONTENTS, is_unnamed=is_unnamed)
                id_ = None
            elif id_ is None and (bare := data.strip()) and not bare.startswith(COMMENT):
                text = bare[:61].decode("utf-8", "replace")
                raise STRUCTURE.error(f"a line outside a document: {quoted(text)}", file=file, line=line)
        offset = after
    if id_ is not None:
        raise _not_closed("the file ends", id_, first, file, line)


def _not_closed(event: str, id_: str, first: int, file: str, line: int) -> KaratError:
    message = f"{event} before #end document of {quoted(id_)} (begun in line {first})"
    return STRUCTURE.error(message, file=file, line=line)


def parse(data: bytes, block: Block, options: ReadOptions, file: str, report: Report) -> Document:
    """The mentions and clusters of one document."""
    if options.unit == "char":
        raise UNIT.error("offsets of a CoNLL file do not count characters", file=file)
    decode(data, file=file, line=block.line + 1)
    page = _Page(file)
    page.read(data, block.line + 1)
    if block.is_unnamed:
        report(NO_ID.at("the document has no id; it is called what its file is called", file=file, line=block.line))
    if page.doubles:
        message = f"double antecedents are not read ({len(page.doubles):,} here)"
        report(DOUBLE.at(message, file=file, line=page.doubles[0]))
    if page.blanks:
        message = f"blanks beside | in the last column are ignored ({len(page.blanks):,} here)"
        report(BLANKS.at(message, file=file, line=page.blanks[0]))
    mentions = [
        Mention(
            f"m{number}",
            ((span.first, 1 - span.minus_last),),
            None,
            None,
            None,
            "event",
            qualified(block.id, span.cluster),
            {},
            page.text(span),
        )
        for number, span in enumerate(page.spans, 1)
    ]
    return Document(block.id, unit="token", forms=page.forms(), mentions=tuple(mentions))


def locator(data: bytes, block: Block) -> Locate:
    """Finds the line in which a mention begins; there are no links. A broken line hides only those after it."""
    page = _Page("")
    with suppress(KaratError, UnicodeDecodeError):
        page.read(data, block.line + 1)
    lines: dict[Item, int] = {f"m{number}": span.line for number, span in enumerate(sorted(page.spans), 1)}
    return lines.get


def locate_token(data: bytes, block: Block, token: int) -> int | None:
    """The line of a token."""
    lines = [line for line, row in enumerate(data.split(b"\n"), block.line + 1) if row.strip()]
    return lines[token] if token < len(lines) else None


def _joined(row: bytes) -> bytes:
    """The line without blanks beside the `|` of its last column."""
    before, tab, last = row.rpartition(b"\t")
    if tab:
        return before + tab + re.sub(rb" *\| *", b"|", last)
    return _SPLIT_CELL.sub(lambda match: match[0].replace(b" ", b""), row)


class _Span(NamedTuple):
    """A mention as written; the fields are in the order by which mentions are sorted."""

    first: int
    minus_last: int
    rank: int
    """How many clusters had appeared before its own."""
    line: int
    cluster: str


class _Begun(NamedTuple):
    token: int
    line: int
    row: bytes
    cell: str
    bracket: Bracket


class _Page:
    """Reads the lines of a document, token by token."""

    def __init__(self, file: str) -> None:
        self.spans: list[_Span] = []
        self.doubles: list[int] = []
        """The lines of brackets that are ignored."""
        self.blanks: list[int] = []
        """The lines with blanks inside the last column."""
        self._file = file
        self._words: list[bytes | None] = []
        """The fourth column of each token, if there are more."""
        self._ranks: dict[str, int] = {}
        self._begun: dict[str, list[_Begun]] = {}

    def read(self, data: bytes, first: int) -> None:
        """Read all lines."""
        for line, row in enumerate(data.split(b"\n"), first):
            bare = row.rstrip()
            if not bare:
                continue
            separator = b"\t" if b"\t" in bare else None
            columns = bare.split(separator, 4)
            cell = columns[-1].rsplit(separator, 1)[-1]
            if cell not in EMPTY and b"|" in bare and (joined := _joined(bare)) != bare:
                self.blanks.append(line)
                bare, columns = joined, joined.split(separator, 4)
                cell = bare.rsplit(None, 1)[-1]
            self._words.append(columns[3] if len(columns) > 4 else None)
            if cell not in EMPTY:
                self._take(line, bare, cell.decode("utf-8"))
        if left := [begun[0] for begun in self._begun.values() if begun]:
            raise self._not_ended(min(left, key=lambda begun: (begun.token, begun.bracket.at)))
        self.spans.sort()

    def _take(self, line: int, row: bytes, cell: str) -> None:
        """Read a cell: mentions of one token, then beginnings, then ends."""
        token = len(self._words) - 1
        begins: list[Bracket] = []
        ends: list[Bracket] = []
        for bracket in self._brackets(line, row, cell):
            name = bracket.name
            if bracket.opens:
                self._ranks.setdefault(name, len(self._ranks))
                if bracket.closes:
                    self.spans.append(_Span(token, -token, self._ranks[name], line, name))
                else:
                    begins.append(bracket)
            else:
                ends.append(bracket)
        for bracket in begins:
            self._begun.setdefault(bracket.name, []).append(_Begun(token, line, row, cell, bracket))
        for bracket in ends:
            if not self._begun.get(bracket.name):
                where = place(row, len(cell) - bracket.at)
                message = f"{where}: {quoted(str(bracket))} ends a mention that was not begun"
                raise BRACKET.error(message, file=self._file, line=line)
            begun = self._begun[bracket.name].pop()
            self.spans.append(_Span(begun.token, -token, self._ranks[bracket.name], begun.line, bracket.name))

    def _brackets(self, line: int, row: bytes, cell: str) -> Iterator[Bracket]:
        """The brackets of a cell except double antecedents."""
        try:
            for bracket in brackets(cell):
                if "+" in bracket.name and _DOUBLE.fullmatch(bracket.name):
                    if not (bracket.opens and bracket.closes):
                        raise CellError(bracket.at)
                    self.doubles.append(line)
                else:
                    yield bracket
        except CellError as error:
            where = place(row, len(cell) - error.at)
            message = f"{where}: {quoted(cell)} cannot be read as brackets"
            raise CELL.error(message, file=self._file, line=line) from None

    def _not_ended(self, begun: _Begun) -> KaratError:
        where = place(begun.row, len(begun.cell) - begun.bracket.at)
        message = f"{where}: {quoted(str(begun.bracket))} begins a mention that has no end before #end document"
        return BRACKET.error(message, file=self._file, line=begun.line)

    def forms(self) -> tuple[str, ...] | None:
        """The word of each token; empty where its line has none."""
        words = [b"" if word is None or word == NOTHING else word for word in self._words]
        # One text is decoded faster than many words.
        return tuple(b"\n".join(words).decode("utf-8").split("\n")) if words else None

    def text(self, span: _Span) -> str | None:
        """The words of a mention, if all of its lines have one."""
        if 1 - span.minus_last - span.first > LONGEST_TEXT:
            return None
        words = self._words[span.first : 1 - span.minus_last]
        known = [word.decode("utf-8") for word in words if word is not None]
        return text_of(known) if len(known) == len(words) else None


FORMAT = Format(
    title="CoNLL-2012 coreference",
    about=__doc__,
    suffixes=SUFFIXES,
    unit="token",
    protocols=("conll-2012",),
    sniff=sniff,
    blocks=blocks,
    parse=parse,
    locator=locator,
    locate_token=locate_token,
    write=write,
    local_clusters=True,
)
