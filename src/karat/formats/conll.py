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
from array import array
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from karat.formats._brackets import LONGEST_TEXT, Bracket, CellError, brackets, place
from karat.formats._conll_writer import text_of, write
from karat.formats._text import LinesExcept, after_line, decode, search_line
from karat.model import EMPTY, Declared, Document, Mention, Places, qualified
from karat.plugin.formats import Context, Format, Marker, Piece
from karat.problems import KaratError, Report, Rule, quoted

SUFFIXES = (".conll", ".v4_gold_conll", ".v4_auto_conll", ".v9_auto_conll")
BEGIN = re.compile(rb"#[^\S\n]*begin[ \t]+document[ \t]*(?P<id>[^\n\r]*(?:\r+[^\n\r]+)*)")
END = re.compile(rb"#[^\S\n]*end[ \t]+document")
COMMENT = b"#"
NO_BRACKETS = frozenset({b"-", b"_"})
NOTHING = b"-"
"""The word of a token whose word is not known."""

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

DECLARED = Declared(kinds=("event",))

_SPLIT_CELL = re.compile(rb"(?<= )[^()|\s]*[()][^|\s]*(?: *\| *[^()|\s]*[()][^|\s]*)+\Z")
"""The last column of a line without tabs, if it has blanks beside a `|`."""
_DOUBLE = re.compile(r"[0-9]+(\+[0-9]+)+")


def sniff(head: bytes) -> bool:
    """The first line that is not blank or a comment is in a document."""
    for line in head.split(b"\n"):
        bare = line.lstrip()
        if BEGIN.match(bare):
            return True
        if bare and not bare.startswith(COMMENT):
            return False
    return False


def read(piece: Piece, context: Context) -> Iterator[Document]:
    """The mentions and clusters between #begin document and #end document."""
    file, report = piece.name, context.report
    begin = search_line(BEGIN, piece.data)
    start = len(piece.data) if begin is None else begin.start()
    if start:
        _refuse_stray_lines(piece.data[:start], piece.line, file)
    if begin is None:
        return
    line = piece.line + piece.data.count(b"\n", 0, start)
    after = after_line(piece.data, start)
    end = search_line(END, piece.data, after)
    if end is None:
        raise _not_closed(piece, line)
    if context.options.unit == "char":
        raise UNIT.error("offsets of a CoNLL file do not count characters", file=file)
    data = piece.data[after : piece.data.rfind(b"\n", 0, end.start()) + 1]
    page = _page(data, line + 1, file, report)
    if not begin["id"]:
        report(NO_ID.at("the document has no id; it is called what its file is called", file=file, line=line))
    if page.doubles:
        message = f"double antecedents are not read ({len(page.doubles):,} here)"
        report(DOUBLE.at(message, file=file, line=page.doubles[0]))
    if page.blanks:
        message = f"blanks beside | in the last column are ignored ({len(page.blanks):,} here)"
        report(BLANKS.at(message, file=file, line=page.blanks[0]))
    mentions = [
        Mention(
            f"m{index}",
            ((span.first, 1 - span.minus_last),),
            None,
            None,
            None,
            "event",
            qualified(piece.id, span.cluster),
            EMPTY,
            page.text(span),
            (),
            None,
            EMPTY,
            EMPTY,
        )
        for index, span in enumerate(page.spans, 1)
    ]
    document = Document(piece.id, unit="token", forms=page.forms(), mentions=tuple(mentions))
    lines = array("I", [span.line for span in page.spans])
    tokens = LinesExcept(line + 1, page.empty_lines, len(document.forms or ()))
    yield document.at(Places(line, lines, tokens=tokens), DECLARED)
    rest = after_line(piece.data, end.start())
    if rest < len(piece.data):
        _refuse_stray_lines(piece.data[rest:], piece.line + piece.data.count(b"\n", 0, rest), file)


def _page(data: bytes, first: int, file: str, report: Report) -> "_Page":
    """The lines of a document; after an error, those before it."""
    page = _Page(file)
    try:
        decode(data, file=file, line=first)
        page.read(data, first)
    except KaratError as error:
        report(error.finding)
        page = _Page(file)
        with suppress(KaratError):
            page.read(b"\n".join(data.split(b"\n")[: (error.finding.line or first) - first]), first)
        page.spans.sort()
    return page


def _refuse_stray_lines(data: bytes, first: int, file: str) -> None:
    """Refuse lines outside documents that are not blank or comments."""
    if data and not data.isspace():
        for line, row in enumerate(data.split(b"\n"), first):
            bare = row.strip()
            if END.match(bare):
                raise STRUCTURE.error("#end document outside a document", file=file, line=line)
            if bare and not bare.startswith(COMMENT):
                text = bare[:61].decode("utf-8", "replace")
                raise STRUCTURE.error(f"a line outside a document: {quoted(text)}", file=file, line=line)


def _not_closed(piece: Piece, line: int) -> KaratError:
    """The error for a document that begins in a line and has no end."""
    event = "the file ends" if piece.is_last else "the next document begins"
    last = piece.line + piece.data.count(b"\n") - (piece.is_last and piece.data.endswith(b"\n"))
    message = f"{event} before #end document of {quoted(piece.id)} (begun in line {line})"
    return STRUCTURE.error(message, file=piece.name, line=last)


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
        self.empty_lines = array("I")
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
                self.empty_lines.append(line)
                continue
            separator = b"\t" if b"\t" in bare else None
            columns = bare.split(separator, 4)
            cell = columns[-1].rsplit(separator, 1)[-1]
            if cell not in NO_BRACKETS and b"|" in bare and (joined := _joined(bare)) != bare:
                self.blanks.append(line)
                bare, columns = joined, joined.split(separator, 4)
                cell = bare.rsplit(None, 1)[-1]
            self._words.append(columns[3] if len(columns) > 4 else None)
            if cell not in NO_BRACKETS:
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
    read=read,
    marker=Marker(pattern=BEGIN, unnamed=NO_ID_TWICE),
    write=write,
    global_ids="none",
)
