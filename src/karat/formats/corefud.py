"""CorefUD: CoNLL-U with coreference as brackets in the last column.

    # newdoc id = D1
    # global.Entity = eid-etype-head-other
    1   Research      ...   Entity=(e1-abstract-1-new(e2-person-1-giv)
    2   acquisition   ...   SpaceAfter=No|Entity=e1)

A document begins at `# newdoc`. A document without an id, and a file without `# newdoc`, has its number in the file as
its name; in a corpus of several files, the name of the file comes before it. `# global.Entity` names the fields of an
opening bracket `(e1-...`, here and in the documents that follow: the id (`eid`, in older files `GRP`), the head (the
number of one of the mention's words, counted from 1; read as the head of the mention), `etype` (read as the attribute
type), and others, which are read as attributes under these names if they have a value. A head of 0 means that there is
none, and a mention of one word ignores it. `e1)` closes the latest open bracket of e1, and `(e1-...)` is a mention of
one word. A discontinuous mention has brackets `(e5[1/2]-... e5[1/2])` and `(e5[2/2]-... e5[2/2])`; the fields of its
first part count.

Tokens are counted over the whole document. Empty nodes (`8.1`) are also tokens; multiword tokens (`3-4`) are not.
Forms, sentences with their `# sent_id`, and empty nodes with their DEPS are kept. When a document is scored, words are
compared by their order, and empty nodes by sentence and id: an empty node that only one side has shifts nothing.

Cluster ids mean nothing outside their document. Mentions are in the order of their first tokens, then longer ones
first, then in the order of their brackets; they are of kind `event`, as those of CoNLL are. Values are read as written
(`%2D` stays as it is). Bridging and split antecedents are not read, and a note says so. Lemmas, tags, trees, comments
and multiword tokens are not read either: a conversion loses them.

CorefUD is written with these fields, and words, sentences, empty nodes and entities are the same when they are read
back. A mention has no other attributes than its type and `other`.
"""

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property, partial
from itertools import chain, starmap
from typing import NamedTuple, cast

from karat.formats._columns import LONGEST_TEXT, Bracket, CellError, Words, brackets, place
from karat.formats._text import decode, search_line
from karat.model import (
    Declared,
    Document,
    EmptyNode,
    Mention,
    Places,
    Region,
    Value,
    compact_lines,
    qualified,
)
from karat.plugin.formats import Context, Format, Marker, Piece, ReportLoss, WriteOptions
from karat.problems import KaratError, Report, Rule, ignore, quoted
from karat.regions import size, union

IDS = ("eid", "GRP")
"""Names of the field that holds the id."""
HEAD = "head"
TYPE = "etype"
NO_ATTRIBUTES = frozenset((*IDS, HEAD))
COLUMNS = 10
DEPS = 8

STRUCTURE = Rule("corefud-structure", "fatal", "Write `# newdoc id = ID` before the first sentence of each document.")
HEADER = Rule("corefud-header", "fatal", "Write, for example: # global.Entity = eid-etype-head-other")
LINE = Rule("corefud-line", "fatal", "A line of CoNLL-U has ten columns, separated by tabs, with an id in the first.")
ID = Rule(
    "corefud-id",
    "fatal",
    "Number the words of a sentence 1, 2, 3, ..., empty nodes after word 2 as 2.1, 2.2, ...; end it with a blank line.",
)
CELL = Rule(
    "corefud-entity",
    "fatal",
    "Write Entity= and brackets: (e1-... begins a mention, e1) ends it, (e1-...) is one token.",
)
BRACKET = Rule(
    "corefud-bracket", "fatal", "Write a beginning (e1-... and an end e1) for each mention (and each piece)."
)
NO_HEAD = Rule("corefud-head", "fault", "Write the number of a word of the mention, from 1; it is read without a head.")
ACROSS = Rule("corefud-sentence", "fault", "Close a mention, with all its parts, in the sentence in which it begins.")
BAD_DEPS = Rule("corefud-deps", "fault", "Write DEPS as 3:nsubj or 3:nsubj|5:obj; parents are nodes of the sentence.")
NO_DEPS = Rule("corefud-no-deps", "note", "Write DEPS of empty nodes; zeros without them match only by their ids.")
UNDECLARED = Rule("corefud-undeclared", "note", "Write # global.Entity before the first mention to have them read.")
NO_ENTITY = Rule(
    "corefud-no-entity",
    "note",
    "Give a file with coreference: Entity=(e1-... in the last column begins a mention of e1.",
)
UNREAD = Rule("corefud-unread", "note", "No action needed; no score uses them.")
UNIT = Rule("corefud-unit", "fatal", "Omit --unit char; spans of CoNLL-U count tokens.")

_NEWDOC = rb"newdoc(?:[^\S\n]+id[^\S\n]*=[^\S\n]*(?P<id>\S(?:[^\n]*\S)?)?)?"
_FIELDS = rb"global\.Entity[^\S\n]*=[^\S\n]*(?P<header>(?:\S(?:[^\n]*\S)?)?)"
MARKER = re.compile(rb"#[^\S\n]*(?:" + _NEWDOC + rb"|" + _FIELDS + rb")[^\S\n]*(?=\n|\Z)")
NEWDOC = re.compile(rb"#[^\S\n]*" + _NEWDOC + rb"[^\S\n]*(?=\n|\Z)")
_HEADER = re.compile(rb"#\s*" + _FIELDS)
_BEGINNING = re.compile(
    rb"^(?:#\s*global\.Entity\s*=|[0-9]+(?:\.[0-9]+)?\t(?:[^\t\n]*\t){8}(?:[^\t\n]*\|)?Entity=)", re.MULTILINE
)
_SENTENCE = re.compile(rb"#\s*sent_id\s*=\s*(.*?)\s*")
_TOKEN = re.compile(rb"([0-9]{1,9})(?:\.([0-9]{1,9}))?")
_MULTIWORD = re.compile(rb"[0-9]+-[0-9]+")
_PIECE = re.compile(r"(.+)\[([0-9]{1,6})/([0-9]{1,6})\]")


def sniff(head: bytes) -> bool:
    """The fields of entities are declared early on, or a token has an entity."""
    return _BEGINNING.search(head) is not None


def read(piece: Piece, context: Context) -> Iterator[Document]:
    """The mentions and clusters of one document."""
    data, file = piece.data, piece.name
    newdoc = search_line(NEWDOC, data)
    lead = data if newdoc is None else data[: newdoc.start()]
    rows = enumerate(lead.split(b"\n"), piece.line)
    stray = next((line for line, row in rows if row[:1] != b"#" and row.strip()), None)
    if newdoc is not None and stray is not None:
        raise STRUCTURE.error("a sentence comes before the first # newdoc", file=file, line=stray)
    begin = 1 if newdoc is None else piece.line + lead.count(b"\n")
    try:
        if context.options.unit == "char":
            raise UNIT.error("offsets of a CoNLL-U file do not count characters", file=file)
        document = _document(data, begin, piece, context.report)
    except KaratError as error:
        context.report(error.finding)
        document = _part(piece, begin, error.finding.line)
    if newdoc is not None or stray is not None:
        yield document


def _part(piece: Piece, begin: int, line: int | None) -> Document:
    """The document before a line that cannot be read; empty if that cannot be read either."""
    if line is not None and line > begin:
        data = b"\n".join(piece.data.split(b"\n")[: line - piece.line])
        with suppress(KaratError):
            return _document(data, begin, piece, ignore, is_part=True)
    return Document(piece.id, unit="token").at(Places(begin))


def _document(data: bytes, begin: int, piece: Piece, report: Report, *, is_part: bool = False) -> Document:
    """The document in these lines, which begins in line `begin`; of a part, words are not compared with gold's."""
    decode(data, file=piece.name, line=piece.line)
    page = _Page(piece)
    page.read(data)
    page.report(report)
    if piece.header == b"" and b"Entity" not in data:
        report(NO_ENTITY.at("no token has Entity=: there are no mentions", file=piece.name, line=begin))
    words = _Words(data, piece.line, page.lines)
    known = words.of(
        {token for placed in page.placed if size(placed.span) <= LONGEST_TEXT for token in _tokens(placed.span)}
    )
    mentions = [
        Mention(
            f"m{number}",
            placed.span,
            page.head(placed, report),
            None,
            None,
            "event",
            qualified(piece.id, placed.cluster),
            placed.attributes,
            " ".join([form for token in _tokens(placed.span) if (form := known.get(token))]) or None,
        )
        for number, placed in enumerate(page.placed, 1)
    ]
    document = Document(
        piece.id,
        unit="token",
        forms=None if is_part else cast("tuple[str, ...]", words),
        sentences=() if is_part else tuple(page.sentences),
        sentence_ids=() if is_part else tuple(page.sentence_ids),
        empty_nodes=() if is_part else tuple(page.empty_nodes),
        mentions=tuple(mentions),
    )
    places = Places(begin, compact_lines([placed.line for placed in page.placed]), tokens=page.lines)
    return document.at(places, Declared(kinds=("event",), unread=partial(_unread, data)))


def _tokens(span: Region) -> Iterable[int]:
    return chain.from_iterable(starmap(range, span))


class _Words(Words):
    """The forms of a document; that of an empty node may be empty."""

    column = 1

    def __init__(self, data: bytes, first: int, lines: Sequence[int]) -> None:
        """`first` is the number of the first line of the data, `lines` are those of the tokens."""
        super().__init__(data, len(lines))
        self._first, self._lines = first, lines

    @cached_property
    def rows(self) -> Sequence[bytes]:
        rows = self._data.split(b"\n")
        return [rows[line - self._first] for line in self._lines]

    def words(self, rows: Iterable[bytes]) -> list[bytes]:
        columns = [row.split(b"\t", 2) for row in rows]
        return [b"" if form == b"_" and b"." in id_ else form for id_, form, _ in columns]


def _declared(data: bytes, file: str, line: int) -> list[str]:
    """Names of fields joined by dashes, if there is an id among them and none twice."""
    text = data.decode("utf-8")
    names = text.split("-")
    ids = sum(names.count(id_) for id_ in IDS)
    if not ids:
        message = f"entities have no ids: {IDS[0]} is not among the fields {quoted(text)} of # global.Entity"
        raise HEADER.error(message, file=file, line=line)
    if len(set(names)) < len(names) or ids > 1:
        message = f"# global.Entity names the fields {quoted(text)}, expected different ones and one of them {IDS[0]}"
        raise HEADER.error(message, file=file, line=line)
    return names


class _Placed(NamedTuple):
    """A mention with its place; mentions are sorted by the first four fields."""

    first: int
    minus_last: int
    line: int
    minus_rest: int
    """How much of its line is left where its bracket begins: less is later."""
    cluster: str
    span: Region
    attributes: dict[str, Value]
    head: str


class _Begun(NamedTuple):
    """A mention, or a piece of one, that begins."""

    token: int
    sentence: int
    line: int
    row: bytes
    rest: int
    """How much of the row is left where the bracket begins."""
    bracket: Bracket
    label: str
    """The id as it stands there, with the piece; so it stands at the end too."""
    cluster: str
    piece: int
    pieces: int
    values: dict[str, str]


_NEXT = [b"%d\t" % number for number in range(1, 200)]
"""Beginnings of the lines of words; after longer sentences, lines are read with care."""
_PLAIN = (b"\t_", b"\tSpaceAfter=No")


class _Page:
    """The lines of a document, one after another."""

    def __init__(self, piece: Piece) -> None:
        self.placed: list[_Placed] = []
        self.lines = array("I")
        """The line of each token."""
        self.sentences: list[tuple[int, int]] = []
        self.sentence_ids: list[str] = []
        self.empty_nodes: list[EmptyNode] = []
        self._file, self._line = piece.name, piece.line
        self._fields: list[str] | None = None
        if piece.header:
            with suppress(KaratError, UnicodeDecodeError):  # reported with the document that has it
                self._fields = _declared(piece.header, piece.name, piece.line)
        self._sentence_id = ""
        self._begin = 0
        """The first token of the current sentence."""
        self._last = 0, 0
        """The id of its last token; (0, 0) between sentences."""
        self._empty: list[tuple[int, int, int, int, bytes]] = []
        """Its empty nodes: line, token, both numbers of the id, and DEPS."""
        self._begun: dict[str, list[_Begun]] = {}
        # Mentions of which not all parts have come, by cluster and number of parts.
        self._waiting: dict[tuple[str, int], list[tuple[_Begun, list[tuple[int, int]]]]] = {}
        self._unread: list[int] = []
        self._undeclared: list[int] = []
        self._across: list[int] = []
        self._independent: list[int] = []
        self._bad_deps: list[tuple[int, str]] = []

    def read(self, data: bytes) -> None:
        """Read all lines. Of words without brackets, only the id is checked, which is 1.4 times faster."""
        last = 0
        for line, row in enumerate(data.split(b"\n"), self._line):
            if 0 < last < len(_NEXT) and row.startswith(_NEXT[last]) and row.endswith(_PLAIN) and row.count(b"\t") == 9:
                self.lines.append(line)
                last += 1
                self._last = last, 0
            elif bare := row.rstrip():
                self._read(line, bare)
                last = self._last[0]
            else:
                self._end_sentence()
                last = 0
        self._finish()

    def _read(self, line: int, row: bytes) -> None:
        """Read a line that is not blank."""
        if row.startswith(b"#"):
            if b"global.Entity" in row and (header := _HEADER.fullmatch(row)):
                self._fields = _declared(header["header"], self._file, line)
            elif b"sent_id" in row and (sentence := _SENTENCE.fullmatch(row)):
                self._sentence_id = sentence[1].decode("utf-8")
            return
        columns = row.split(b"\t")
        id_ = _TOKEN.fullmatch(columns[0])
        if len(columns) != COLUMNS or not (id_ or _MULTIWORD.fullmatch(columns[0])):
            message = f"{len(columns)} columns, expected {COLUMNS}"
            if len(columns) == COLUMNS:
                message = f"{quoted(columns[0].decode('utf-8'))} is not the id of a token"
            raise LINE.error(f"{message}: {quoted(row.decode('utf-8'))}", file=self._file, line=line)
        if id_ is not None:
            self._token(line, columns, int(id_[1]), None if id_[2] is None else int(id_[2]))
        if b"=" in columns[-1] and columns[-1] != b"SpaceAfter=No":
            self._miscellany(line, row, columns[-1].decode("utf-8"), id_ is None)

    def _token(self, line: int, columns: list[bytes], word: int, number: int | None) -> None:
        """Read a word, or an empty node with its number after a word."""
        token, last = len(self.lines), self._last
        if last == (0, 0):
            self._begin = token
            self.sentence_ids.append(self._sentence_id)
            self._sentence_id = ""
        if number is not None:
            self._empty.append((line, token, word, number, columns[DEPS]))
        self.lines.append(line)
        if not (word == last[0] + 1 if number is None else word == last[0] and number > last[1]):
            before = "at the beginning of a sentence" if last == (0, 0) else f"after {_id(*last)}"
            message = (
                f"the id {columns[0].decode('utf-8')} {before}, expected {last[0] + 1} or {_id(last[0], last[1] + 1)}"
            )
            raise ID.error(message, file=self._file, line=line)
        self._last = word, number or 0

    def _end_sentence(self) -> None:
        """Add a sentence, and its empty nodes with their parents."""
        if self._last != (0, 0):
            self.sentences.append((self._begin, len(self.lines)))
        for line, token, _, number, deps in self._empty:
            self.empty_nodes.append(EmptyNode(token, number, tuple(self._parents(line, deps))))
        self._empty.clear()
        self._last = 0, 0

    def _parents(self, line: int, deps: bytes) -> Iterator[tuple[int | None, str]]:
        for dependency in deps.split(b"|") if deps != b"_" else ():
            parent, colon, relation = dependency.partition(b":")
            token = self._node(parent)
            if colon and (token is not None or parent == b"0"):
                yield token, relation.decode("utf-8")
            else:
                self._bad_deps.append((line, dependency.decode("utf-8")))

    def _node(self, id_: bytes) -> int | None:
        """The token of the sentence that has an id."""
        if (match := _TOKEN.fullmatch(id_)) is None:
            return None
        word, number = int(match[1]), int(match[2] or 0)
        if match[2] is not None:
            return next((token for _, token, *own, _ in self._empty if own == [word, number]), None)
        before = sum(other < word for _, _, other, _, _ in self._empty)
        return self._begin + word - 1 + before if 1 <= word <= self._last[0] else None

    def _miscellany(self, line: int, row: bytes, text: str, multiword: bool) -> None:
        """Read the last column, which has entities among other things."""
        at, seen = 0, False
        for part in text.split("|"):
            name, _, cell = part.partition("=")
            if name in ("Bridge", "SplitAnte"):
                self._unread.append(line)
            elif name == "Entity":
                if multiword:
                    raise self._wrong(
                        CELL, line, row, len(text) - at, "Entity= is on a multiword token, which cannot be in a mention"
                    )
                if seen:
                    raise self._wrong(CELL, line, row, len(text) - at, "Entity= is given twice")
                seen = True
                self._entity(line, row, cell, len(text) - at - len(name) - 1)
            at += len(part) + 1

    def _entity(self, line: int, row: bytes, cell: str, rest: int) -> None:
        """Read the brackets of a token in order; they begin `rest` characters before the end of the row."""
        token = len(self.lines) - 1
        if self._empty and self._empty[-1][1] == token and self._empty[-1][-1] == b"_":
            self._independent.append(line)
        try:
            if not cell:
                raise CellError(0)
            for bracket in brackets(cell):
                if bracket.opens:
                    begun = self._opened(token, line, row, rest - bracket.at, bracket)
                    if bracket.closes:
                        self._ended(begun, token)
                    else:
                        self._begun.setdefault(begun.label, []).append(begun)
                elif self._begun.get(bracket.name):
                    self._ended(self._begun[bracket.name].pop(), token)
                else:
                    message = f"{quoted(str(bracket))} ends a mention that was not begun"
                    raise self._wrong(BRACKET, line, row, rest - bracket.at, message)
        except CellError as error:
            message = f"{quoted(cell)} cannot be read as brackets"
            raise self._wrong(CELL, line, row, rest - error.at, message) from None

    def _opened(self, token: int, line: int, row: bytes, rest: int, bracket: Bracket) -> _Begun:
        values = bracket.name.split("-")
        fields = self._fields
        if fields is None:
            if len(values) > 1:
                self._undeclared.append(line)
            fields, values = [IDS[0]], values[:1]
        if len(values) > len(fields):
            message = f"{quoted(str(bracket))} has {len(values)} fields, expected {'-'.join(fields)}"
            raise self._wrong(CELL, line, row, rest, message)
        named = dict(zip(fields, values, strict=False))
        label = named.get(IDS[0]) or named.get(IDS[1]) or ""
        cluster, number, count = label, 1, 1
        if piece := _PIECE.fullmatch(label):
            cluster, number, count = piece[1], int(piece[2]), int(piece[3])
        if not label or not 1 <= number <= count:
            message = f"{quoted(str(bracket))} has {f'the id {quoted(label)}' if label else 'no id'}"
            raise self._wrong(CELL, line, row, rest, f"{message}, expected one such as e5 or e5[1/2]")
        return _Begun(token, len(self.sentences), line, row, rest, bracket, label, cluster, number, count, named)

    def _ended(self, begun: _Begun, last: int) -> None:
        """Add a mention or a piece that has ended."""
        segment = begun.token, last + 1
        if begun.sentence != len(self.sentences):
            self._across.append(begun.line)
        if begun.pieces == 1:
            self._add(begun, (segment,))
            return
        waiting = self._waiting.setdefault((begun.cluster, begun.pieces), [])
        if begun.piece == 1:
            waiting.append((begun, [segment]))
            return
        for number in reversed(range(len(waiting))):
            start, segments = waiting[number]
            if len(segments) == begun.piece - 1:
                segments.append(segment)
                if start.sentence != begun.sentence:
                    self._across.append(start.line)
                if begun.piece == begun.pieces:
                    del waiting[number]
                    self._add(start, union(segments, touching=True))
                return
        message = f"{quoted(str(begun.bracket))} begins a piece of a mention without the piece before it"
        raise self._wrong(BRACKET, begun.line, begun.row, begun.rest, message)

    def _add(self, begun: _Begun, span: Region) -> None:
        attributes: dict[str, Value] = {
            "type" if name == TYPE else name: value
            for name, value in begun.values.items()
            if value and name not in NO_ATTRIBUTES
        }
        head, rest = begun.values.get(HEAD, ""), -begun.rest
        self.placed.append(_Placed(span[0][0], -span[-1][1], begun.line, rest, begun.cluster, span, attributes, head))

    def _finish(self) -> None:
        self._end_sentence()
        open_ = [(begun[0], "has no end before its document ends") for begun in self._begun.values() if begun]
        open_ += [(waiting[0][0], "lacks some of its pieces") for waiting in self._waiting.values() if waiting]
        if open_:
            begun, what = min(open_, key=lambda pair: (pair[0].token, -pair[0].rest))
            message = f"{quoted(str(begun.bracket))} begins a mention that {what}"
            raise self._wrong(BRACKET, begun.line, begun.row, begun.rest, message)
        self.placed.sort(key=lambda placed: placed[:4])

    def _wrong(self, rule: Rule, line: int, row: bytes, rest: int, message: str) -> KaratError:
        return rule.error(f"{place(row, rest)}: {message}", file=self._file, line=line)

    def report(self, report: Report) -> None:
        """Report what was not read, and what was read but should not be there."""

        def report_lines(rule: Rule, message: str, lines: list[int]) -> None:
            if lines:
                report(rule.at(f"{message} ({len(lines):,} here)", file=self._file, line=lines[0]))

        report_lines(UNDECLARED, "fields of entities are not read: # global.Entity is missing", self._undeclared)
        report_lines(UNREAD, "Bridge= and SplitAnte= are not read", self._unread)
        report_lines(ACROSS, "mentions that go beyond their sentence", self._across)
        report_lines(NO_DEPS, "empty nodes with brackets, but without DEPS", self._independent)
        for line, dependency in self._bad_deps:
            message = f"{quoted(dependency)} in DEPS does not name a node of the sentence and is ignored"
            report(BAD_DEPS.at(message, file=self._file, line=line))

    def head(self, placed: _Placed, report: Report) -> Region | None:
        """The token that is the head of a mention, by its number among the words of the mention; None: not given."""
        words = size(placed.span)
        if placed.head in ("", "0"):
            return None
        if words == 1:
            return placed.span
        if placed.head.isdecimal() and placed.head.isascii() and len(placed.head) < 19:
            left = int(placed.head)
            for begin, end in placed.span if left else ():
                if left <= end - begin:
                    return ((begin + left - 1, begin + left),)
                left -= end - begin
        message = f"the head {quoted(placed.head)} of a mention of {words:,} words"
        report(NO_HEAD.at(message, file=self._file, line=placed.line))
        return None


def _id(word: int, number: int) -> str:
    return f"{word}.{number}" if number else str(word)


def _unread(data: bytes) -> Iterator[str]:
    """Yield what the lines of a document say that is not read."""
    comments = [row for row in data.split(b"\n") if row.startswith(b"#")]
    if any(not (NEWDOC.match(row) or _HEADER.match(row) or _SENTENCE.match(row)) for row in comments):
        yield "comments"
    rows = [row.rstrip().split(b"\t") for row in data.split(b"\n") if row.strip() and not row.startswith(b"#")]
    if any(_MULTIWORD.fullmatch(columns[0]) for columns in rows):
        yield "multiword tokens"
    if any({*columns[2:8]} - {b"_"} or (columns[8] != b"_" and b"." not in columns[0]) for columns in rows):
        yield "lemmas, tags and trees"
    others = {part.partition(b"=")[0] for columns in rows for part in columns[-1].split(b"|")} - {b"_", b"Entity"}
    yield from sorted(f"{name.decode()}= in column 10" for name in others)


def write(document: Document, options: WriteOptions, report_loss: ReportLoss) -> bytes:
    """Write the lines of one document; report what CorefUD cannot hold."""
    del options
    from karat.formats import _corefud_writer

    return _corefud_writer.write(document, report_loss)


FORMAT = Format(
    title="CoNLL-U with Entity= (CorefUD)",
    about=__doc__,
    suffixes=(".conllu",),
    unit="token",
    protocols=("crac-2024",),
    sniff=sniff,
    read=read,
    marker=Marker(pattern=MARKER, unnamed="number"),
    write=write,
    global_ids="none",
)
