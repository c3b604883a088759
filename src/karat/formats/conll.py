"""CoNLL-2011 and 2012 coreference: one token per line, with brackets in the last column.

    #begin document (nw/x); part 000
    nw/x   0   0   He       (1)
    nw/x   0   1   said     -
    nw/x   0   2   the      (2|(3
    nw/x   0   3   attack   3)|2)

    #end document

The id of a document is the text after `#begin document`; of `#begin document(x);`, without a blank, it is x. If there
is none, the document is named after its file, with a note, and if each side has one such document, the two
are scored as one. Tokens are counted over the whole document, so a mention may span several sentences. Columns are
separated by tabs, or by blanks in a line without tabs. If the first column counts the tokens of sentences or of the
document, as in CoNLL-U, the second column is the word; else, in a line with at least five columns, the fourth. Empty
lines end sentences. Other columns are not read: a conversion loses them.

`(1` begins a mention of cluster 1, `1)` ends the one that began last, and `(1)` is a mention of one token. In a cell,
mentions of one token are read first, then all beginnings, then all ends. They are separated by `|` or by nothing. A
cluster id is any text (`01` is not `1`), and means nothing outside its document.

Mentions are in the order of their first tokens, longer ones first, then in the order in which their clusters appeared.
CoNLL files do not say whether mentions are events or entities; they are read as mentions of kind `event`, which every
protocol scores.

Systems across documents write meta-documents: one `#begin document` holds many documents, or a topic. If each line
names its document, the file is read as these documents, and clusters may have mentions in several of them. Protocols
that score each document alone, such as `conll-2012`, read it as one document, as their programs do. Two layouts are
recognised by the first token of the file, and `--documents column|prefix|none` overrides that (`none`: read each
`#begin document` as one document). `column` has eight columns: topic, subtopic, document, sentence, token, word, True
or False, and brackets. `prefix` has two, of which the first is META_DOCUMENT_TOKEN, where META is the id after `#begin
document` (a DOCUMENT of digits only, as in DOCUMENT_SENTENCE_TOKEN, is not recognised).

    #begin document test_events
    36   36_1   36_4ecbplus   1   12   married   True   (7)
    36   36_1   36_2ecb       0   3    wed       True   (7)
    #end document

    #begin document(metadoc);
    metadoc_d15_12   (7)
    metadoc_d16_3    (7)
    #end document

Spans of such documents count TOKEN, from 0. The lines of a document need not be in one place. Some systems name the
files of ECB+ (36_4ecbplus.xml), and count TOKEN from 1, as these do. If gold has a document of the name without `.xml`,
the system's is read as that document, and its tokens are counted from 1 unless the file has a token 0.
"""

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache
from io import BytesIO
from itertools import groupby, pairwise
from typing import NamedTuple, cast

from karat.formats._columns import LONGEST_TEXT, Bracket, CellError, Words, brackets, place
from karat.formats._metadocuments import LAYOUTS, TOKENS, Layout, Row, detect
from karat.formats._text import LinesExcept, after_line, decode, search_line
from karat.model import EMPTY, Declared, Document, Mention, Places, Region, qualified
from karat.plugin.formats import Context, Format, Marker, Piece, ReadOptions, ReportLoss, WriteOptions
from karat.problems import KaratError, Report, Rule, quoted

SUFFIXES = (".conll", ".v4_gold_conll", ".v4_auto_conll", ".v9_auto_conll")
BEGIN = re.compile(
    rb"#[^\S\n]*begin[ \t]+document(?P<bracket>\((?=[^()\n\r]+\);?\s*?$))?[ \t]*"
    rb"(?P<id>(?(bracket)[^()\n\r]+|[^\n\r]*(?:\r+[^\n\r]+)*))",
    re.MULTILINE,
)
END = re.compile(rb"#[^\S\n]*end[ \t]+document")
COMMENT = b"#"
NO_BRACKETS = frozenset({b"-", b"_"})
EMPTY_CELLS = frozenset({b"-", b"_", b"*"})
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
DOUBLE = Rule("conll-double-antecedent", "note", "No action needed; brackets such as (12+3) are ignored.")
BLANKS = Rule("conll-blanks", "note", "No action needed; write (1)|(2) without blanks to avoid this note.")
META = Rule("conll-meta-document", "note", "To read each #begin document as one document: --documents none.")
META_ROW = Rule(
    "conll-meta-row", "fatal", "Name the document in each line, or read each #begin document as one: --documents none."
)
META_TOKEN = Rule("conll-meta-token", "fatal", "Number the tokens of each document, and write each of them once.")

DECLARED = Declared(kinds=("event",))

_SPLIT_CELL = re.compile(rb"(?<= )[^()|\s]*[()][^|\s]*(?: *\| *[^()|\s]*[()][^|\s]*)+")
"""A column of a line without tabs, if it may have blanks beside a `|`: if it is the last one."""
_NUMBER = re.compile(rb"[0-9]{1,9}")
_OTHER_NUMBER = re.compile(rb"[0-9]+[-.][0-9]+")
"""The number of a word of several tokens (3-4), or of an empty node (8.1)."""
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
    if not piece.id and (layout := _layout(BytesIO(piece.data), context.options)) is not None:
        yield from _read_meta(piece, layout, context)
        return
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
    page = _page(piece.data[after : piece.data.rfind(b"\n", 0, end.start()) + 1], line + 1, piece, report)
    if not begin["id"]:
        report(NO_ID.at("the document has no id and is named after its file", file=file, line=line))
    page.report_ignored(report)
    words = _Words(page.data, page.count)
    document = Document(
        piece.id,
        unit="token",
        forms=cast("tuple[str, ...]", words) if page.count else None,
        sentences=page.sentences(),
        mentions=page.mentions(lambda tokens: words.known([words.rows[token] for token in tokens])),
    )
    tokens = LinesExcept(line + 1, page.empty_lines, page.count)
    yield document.at(Places(line, page.lines(), tokens=tokens), Declared(kinds=("event",), unread=words.unread))
    rest = after_line(piece.data, end.start())
    if rest < len(piece.data):
        _refuse_stray_lines(piece.data[rest:], piece.line + piece.data.count(b"\n", 0, rest), file)


def _layout(lines: Iterable[bytes], options: ReadOptions) -> Layout | None:
    """Return how lines name their documents; None: each `#begin document` is one document."""
    if options.documents is not None:
        return LAYOUTS.get(options.documents)
    meta = b""
    for line in lines:
        bare = line.strip()
        if begin := BEGIN.match(bare):
            meta = begin["id"]
        elif bare and not bare.startswith(COMMENT):
            return detect(bare, meta)
    return None


def _has_documents(lines: Iterable[bytes], options: ReadOptions) -> bool:
    return _layout(lines, options) is None


def _read_meta(piece: Piece, layout: Layout, context: Context) -> Iterator[Document]:
    """Read the documents that the lines of a file name."""
    if context.options.unit == "char":
        raise UNIT.error("offsets of a CoNLL file do not count characters", file=piece.name)
    decode(piece.data, file=piece.name, line=piece.line)
    parts: dict[str, _Part] = {}
    begin: tuple[int, bytes] | None = None
    for line, row in enumerate(piece.data.split(b"\n"), piece.line):
        bare = row.rstrip()
        if not bare:
            continue
        if marker := BEGIN.match(bare.lstrip()):
            if begin is not None:
                raise _not_closed(piece._replace(id=begin[1].decode("utf-8")), begin[0], line)
            begin = line, marker["id"]
        elif begin is None:
            _refuse_stray_lines(bare, line, piece.name)
        elif END.match(bare.lstrip()):
            begin = None
        else:
            token = layout.read(bare, begin[1])
            if token is None:
                message = f"found {quoted(bare[:61].decode('utf-8', 'replace'))}, expected {layout.expected}"
                raise META_ROW.error(message, file=piece.name, line=line)
            if token.document not in parts:
                parts[token.document] = _Part(piece.name, line, token)
            parts[token.document].add(token, begin[1].decode("utf-8"), line, bare)
    if begin is not None:
        raise _not_closed(piece._replace(id=begin[1].decode("utf-8")), begin[0])
    gold = () if context.options.gold is None else context.options.gold.ids()
    files = {id_: id_.removesuffix(".xml") for id_ in parts if id_ not in gold and id_.removesuffix(".xml") in gold}
    message = f"read as {len(parts):,} document{'s' * (len(parts) != 1)}, named {layout.place} of each line"
    first = 0
    if files:
        first = int(not any(parts[id_].begins_with_0 for id_ in files))
        message += f" as files of gold (.xml), with tokens from {first}"
    context.report(META.at(message, file=piece.name))
    for id_, part in parts.items():
        yield part.document(context.report, files.get(id_, id_), first if id_ in files else 0)


def _page(data: bytes, first: int, piece: Piece, report: Report) -> "_Page":
    """The lines of a document; after an error, those before it."""
    page = _Page(piece.name, piece.id)
    try:
        decode(data, file=piece.name, line=first)
        page.read(data, first)
    except KaratError as error:
        report(error.finding)
        page = _Page(piece.name, piece.id)
        rows = data.split(b"\n")[: (error.finding.line or first) - first]
        with suppress(KaratError):
            page.read(b"".join([row + b"\n" for row in rows]), first)
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


def _not_closed(piece: Piece, line: int, next_line: int | None = None) -> KaratError:
    """The error for a document that begins in a line and has no end; the next one may begin in the same piece."""
    is_last = piece.is_last and next_line is None
    event = "the file ends" if is_last else "the next document begins"
    last = next_line or piece.line + piece.data.count(b"\n") - (is_last and piece.data.endswith(b"\n"))
    message = f"{event} before #end document of {quoted(piece.id)} (begun in line {line})"
    return STRUCTURE.error(message, file=piece.name, line=last)


def _separator(row: bytes) -> bytes | None:
    return b"\t" if b"\t" in row else None


def _joined(row: bytes) -> bytes:
    """The line without blanks beside the `|` of its last column."""
    before, tab, last = row.rpartition(b"\t")
    if tab:
        return before + tab + re.sub(rb" *\| *", b"|", last)

    def joined(match: re.Match[bytes]) -> bytes:
        return match[0].replace(b" ", b"") if match.end() == len(row) else match[0]

    return _SPLIT_CELL.sub(joined, row)


class _Words(Words):
    """The words of a document; empty where a line has none."""

    @cached_property
    def rows(self) -> Sequence[bytes]:
        return [row for row in self._data.split(b"\n") if row and not row.isspace()]

    @cached_property
    def column(self) -> int:
        """The index of the column with the words: 1 if the first column counts tokens, else 3."""
        last, counts = -1, False
        for row in self.rows:
            first = row.split(None, 1)[0]
            if _OTHER_NUMBER.fullmatch(first):
                continue
            number = int(first) if _NUMBER.fullmatch(first) else None
            if number is None or (number > 1 and number != last + 1):
                return 3
            counts = counts or last not in (-1, number)  # the id of a document does not change
            last = number
        return 1 if counts else 3

    def known(self, rows: Iterable[bytes]) -> list[bytes | None]:
        """Return the word of each line as written, unless its column is the last or missing."""
        column = self.column
        rows = [_joined(row.rstrip()) if b"|" in row else row.rstrip() for row in rows]
        cells = [row.split(b"\t" if b"\t" in row else None, column + 1) for row in rows]
        return [row[column] if len(row) > column + 1 else None for row in cells]

    def words(self, rows: Iterable[bytes]) -> list[bytes]:
        return [b"" if word is None or word == NOTHING else word for word in self.known(rows)]

    def unread(self) -> Iterator[str]:
        """Yield the columns between word and brackets in which something is written."""
        first = self.column + 1
        rows = [row.rstrip().split(_separator(row.rstrip())) for row in self.rows]
        if not all(EMPTY_CELLS.issuperset(row[first:-1]) for row in rows):
            yield f"the columns after the {'second' if first == 2 else 'fourth'}, except the last one"


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
    cell: bytes
    bracket: Bracket


class _Page:
    """Reads the cells of a document that have brackets."""

    def __init__(self, file: str, scope: str) -> None:
        self.scope = scope
        """The id of the document, or meta-document, to which cluster ids are local."""
        self.spans: list[_Span] = []
        self.data = b""
        self.count = 0
        """The number of tokens."""
        self.empty_lines = array("I")
        self._breaks: list[int] = []
        """How many tokens there are before each empty line."""
        self._blanks: list[int] = []
        """The lines with blanks inside the last column."""
        self._doubles: list[int] = []
        """The lines of brackets that are ignored."""
        self._file = file
        self._ranks: dict[str, int] = {}
        self._begun: dict[str, list[_Begun]] = {}

    def read(self, data: bytes, first: int) -> None:
        """Read all lines; those without a bracket are only counted."""
        self.data, rows = data, data.split(b"\n")
        empty = (b"\t-", b"\t_") if b"\t" in data else (b" -", b" _")
        for index in [index for index, row in enumerate(rows) if not row.endswith(empty)]:
            row = rows[index].rstrip()
            if not row:
                self._breaks.append(index - len(self.empty_lines))
                self.empty_lines.append(first + index)
                continue
            if b"|" in row and (b" |" in row or b"| " in row) and (joined := _joined(row)) != row:
                self._blanks.append(first + index)
                row = joined
            cell = row.rsplit(_separator(row), 1)[-1]
            if cell not in NO_BRACKETS:
                self.add(index - len(self.empty_lines), first + index, row, cell)
        self.count = len(rows) - len(self.empty_lines)
        self.finish()

    def sentences(self) -> Region:
        """The tokens between empty lines. What follows the end of the last line does not count as one."""
        ends = [end for end in self._breaks[:-1] if end]
        return tuple(pairwise(sorted({0, *ends, self.count}))) if ends else ()

    def lines(self) -> Sequence[int]:
        """The line in which each mention begins."""
        return array("I", [span.line for span in self.spans])

    def finish(self) -> None:
        """Refuse mentions without an end, and sort the others."""
        if left := [begun[0] for begun in self._begun.values() if begun]:
            raise self._not_ended(min(left, key=lambda begun: (begun.token, begun.bracket.at)))
        self.spans.sort()

    def add(self, token: int, line: int, row: bytes, cell: bytes) -> None:
        """Read a cell: mentions of one token, then beginnings, then ends. Cells come in the order of tokens."""
        try:
            opening, closing, doubles = _brackets(cell)
        except CellError as error:
            text = cell.decode("utf-8")
            message = f"{place(row, len(text) - error.at)}: {quoted(text)} cannot be read as brackets"
            raise CELL.error(message, file=self._file, line=line) from None
        if doubles:
            self._doubles += [line] * doubles
        for bracket in opening:
            name = qualified(self.scope, bracket.name)
            rank = self._ranks.setdefault(name, len(self._ranks))
            if bracket.closes:
                self.spans.append(_Span(token, -token, rank, line, name))
            else:
                self._begun.setdefault(name, []).append(_Begun(token, line, row, cell, bracket))
        for bracket in closing:
            name = qualified(self.scope, bracket.name)
            if not self._begun.get(name):
                where = place(row, len(cell.decode("utf-8")) - bracket.at)
                message = f"{where}: {quoted(str(bracket))} ends a mention that was not begun"
                raise BRACKET.error(message, file=self._file, line=line)
            begun = self._begun[name].pop()
            self.spans.append(_Span(begun.token, -token, self._ranks[name], begun.line, name))

    def _not_ended(self, begun: _Begun) -> KaratError:
        where = place(begun.row, len(begun.cell.decode("utf-8")) - begun.bracket.at)
        message = f"{where}: {quoted(str(begun.bracket))} begins a mention that has no end before #end document"
        return BRACKET.error(message, file=self._file, line=begun.line)

    def mentions(self, known: Callable[[Iterable[int]], Iterable[bytes | None]]) -> tuple[Mention, ...]:
        """The mentions, numbered in their order; `known` returns the words of tokens as written, if they have one."""
        spans = [range(span.first, 1 - span.minus_last) for span in self.spans]
        tokens = [*{token for span in spans if len(span) <= LONGEST_TEXT for token in span}]
        words = {
            token: word.decode("utf-8") for token, word in zip(tokens, known(tokens), strict=True) if word is not None
        }
        return tuple(
            [
                Mention(
                    f"m{index}",
                    ((span.start, span.stop),),
                    None,
                    None,
                    None,
                    "event",
                    cluster,
                    EMPTY,
                    _text(words, span),
                    (),
                    None,
                    EMPTY,
                    EMPTY,
                )
                for index, (span, (*_, cluster)) in enumerate(zip(spans, self.spans, strict=True), 1)
            ]
        )

    def report_ignored(self, report: Report) -> None:
        """Report what is not read."""
        if self._doubles:
            message = f"double antecedents are not read ({len(self._doubles):,} here)"
            report(DOUBLE.at(message, file=self._file, line=self._doubles[0]))
        if self._blanks:
            message = f"blanks beside | in the last column are ignored ({len(self._blanks):,} here)"
            report(BLANKS.at(message, file=self._file, line=self._blanks[0]))


@lru_cache(maxsize=1 << 12)  # most cells occur again in other documents
def _brackets(cell: bytes) -> tuple[list[Bracket], list[Bracket], int]:
    """The brackets of a cell that begin a mention, those that just end one, and the number of double antecedents."""
    opening: list[Bracket] = []
    closing: list[Bracket] = []
    doubles = 0
    for bracket in brackets(cell.decode("utf-8")):
        if "+" in bracket.name and _DOUBLE.fullmatch(bracket.name):
            if not (bracket.opens and bracket.closes):
                raise CellError(bracket.at)
            doubles += 1
        else:
            (opening if bracket.opens else closing).append(bracket)
    return opening, closing, doubles


def _text(words: Mapping[int, str], tokens: range) -> str | None:
    """The words of a mention, if all of its tokens have one."""
    if len(tokens) == 1:
        word = words.get(tokens.start)
        return None if word == "-" else word
    known = [words[token] for token in tokens if token in words]
    return text_of(known) if len(known) == len(tokens) else None


class _Part:
    """A document of a meta-document, from its lines."""

    def __init__(self, file: str, line: int, first: Row) -> None:
        self._file, self._line, self._first = file, line, first
        self._rows: dict[int, tuple[int, Row, bytes, str]] = {}
        """By token: its line, what it says, its text, and the id of its meta-document."""

    def add(self, row: Row, meta: str, line: int, bare: bytes) -> None:
        """Read a line of the document in a meta-document with this id."""
        if row.token >= TOKENS:
            message = f"token {row.token:,} of document {quoted(row.document)}; karat reads {TOKENS:,} at most"
            raise META_TOKEN.error(message, file=self._file, line=line)
        if row.token in self._rows:
            message = f"token {row.token} of document {quoted(row.document)} was already given"
            raise META_TOKEN.error(f"{message} in line {self._rows[row.token][0]}", file=self._file, line=line)
        if (row.topic, row.subtopic) != (self._first.topic, self._first.subtopic):
            found, expected = (quoted(f"{row.topic}, {row.subtopic}") for row in (row, self._first))
            message = f"document {quoted(row.document)} has topic and subtopic {found} here, {expected} in line"
            raise META_ROW.error(f"{message} {self._line}", file=self._file, line=line)
        self._rows[row.token] = line, row, bare, meta

    @property
    def begins_with_0(self) -> bool:
        """True if its first token is 0."""
        return 0 in self._rows

    def document(self, report: Report, id_: str, first: int) -> Document:
        """Return the document with its tokens counted from `first`; only the column layout has words."""
        self._rows = {token - first: row for token, row in self._rows.items()}
        page = _Page(self._file, "")
        words, lines = [""] * (max(self._rows) + 1), array("I", [self._line]) * (max(self._rows) + 1)
        for token, (line, row, bare, page.scope) in sorted(self._rows.items()):
            cell = bare.rsplit(_separator(bare), 1)[-1]
            if cell not in NO_BRACKETS:
                page.add(token, line, bare, cell)
            lines[token] = line
            if row.word != NOTHING:
                words[token] = (row.word or b"").decode("utf-8")
        page.finish()
        page.report_ignored(report)
        document = Document(
            id_,
            topic=self._first.topic,
            subtopic=self._first.subtopic,
            unit="token",
            forms=None if self._first.word is None else tuple(words),
            sentences=tuple(self._sentences()),
            mentions=page.mentions(
                lambda tokens: [self._rows[token][1].word if token in self._rows else None for token in tokens]
            ),
        )
        return document.at(Places(self._line, page.lines(), tokens=lines), DECLARED)

    def _sentences(self) -> Iterator[tuple[int, int]]:
        for number, tokens in groupby(sorted(self._rows), key=lambda token: self._rows[token][1].sentence):
            if number is not None:
                first, *others = tokens
                yield first, [first, *others][-1] + 1


def choose_protocols(documents: Iterable[Document]) -> tuple[str, ...]:
    """Choose those across documents for meta-documents, whose cluster ids are not local to a document."""
    for document in documents:
        for mention in document.mentions:
            is_local = (mention.cluster or "").startswith(qualified(document.id, ""))
            return PROTOCOLS[:1] if is_local else PROTOCOLS[1:]
    return PROTOCOLS[:1]


def text_of(words: list[str]) -> str | None:
    """The text of a mention with these words, if one of them is known."""
    return None if all(word == "-" for word in words) else " ".join(words)


def write(document: Document, options: WriteOptions, report_loss: ReportLoss) -> bytes:
    """Write the lines of one document; report what CoNLL cannot hold."""
    from karat.formats import _conll_writer

    return _conll_writer.write(document, options, report_loss)


PROTOCOLS = ("conll-2012", "simple-cdec", "pure-cdec")

FORMAT = Format(
    title="CoNLL-2012 coreference",
    about=__doc__,
    suffixes=SUFFIXES,
    unit="token",
    protocols=PROTOCOLS,
    choose_protocols=choose_protocols,
    refers_to_gold=True,
    sniff=sniff,
    read=read,
    marker=Marker(pattern=BEGIN, unnamed=NO_ID_TWICE, applies=_has_documents, is_meta=True),
    write=write,
    global_ids="none",
)
