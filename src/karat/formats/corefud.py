"""CorefUD: CoNLL-U with coreference as brackets in the last column. Only read.

    # newdoc id = D1
    # global.Entity = eid-etype-head-other
    1   Research      ...   Entity=(e1-abstract-1-new(e2-person-1-giv)
    2   acquisition   ...   SpaceAfter=No|Entity=e1)

A document begins at `# newdoc`; a file without one is a document that has the name of its file, and a `# newdoc`
without an id is named by the file and its number in it. `# global.Entity` names the fields of a beginning `(e1-...`,
here and in the documents that follow: the id (`eid`, in older files `GRP`), the head (a number of one of the mention's
tokens, counted from 1; read as the head of the mention), `etype` (read as the attribute type), and whatever else there
is, read as attributes under these names where they say anything. `e1)` ends what began last of e1, and `(e1-...)` is a
mention of one token. A mention in pieces has brackets `(e5[1/2]-... e5[1/2])` and `(e5[2/2]-... e5[2/2])`; what is said
at its first piece counts.

Tokens are counted over the whole document. Empty nodes (`8.1`) are tokens too, multiword tokens (`3-4`) are not. Ids
mean nothing outside their document. Mentions stand in the order of their first tokens, then the longer first, then in
the order in which their clusters appeared; they are of kind `event`, as those of CoNLL are. Values are read as written
(`%2D` stays as it is). Bridging and split antecedents are not read, and a note says so.
"""

import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from karat.errors import Item, KaratError, Report, Rule, quoted
from karat.formats._brackets import LONGEST_TEXT, Bracket, CellError, brackets, place
from karat.formats._text import decode
from karat.model import Document, Mention, Region, Value, qualified
from karat.model.regions import size
from karat.plugin.formats import Block, Contents, Format, ReadOptions

IDS = ("eid", "GRP")
"""What the field of the id is called."""
HEAD = "head"
TYPE = "etype"
COLUMNS = 10
KINDS = frozenset({"event"})

STRUCTURE = Rule("corefud-structure", "fatal", "Write `# newdoc id = ID` before the first sentence of each document.")
HEADER = Rule("corefud-header", "fatal", "Write, for example: # global.Entity = eid-etype-head-other")
LINE = Rule("corefud-line", "fatal", "A line of CoNLL-U has ten columns, with one tab between two, and an id first.")
CELL = Rule(
    "corefud-entity",
    "fatal",
    "Write Entity= and brackets: (e1-... begins a mention, e1) ends it, (e1-...) is one token.",
)
BRACKET = Rule(
    "corefud-bracket", "fatal", "Write a beginning (e1-... and an end e1) for each mention (and each piece)."
)
NO_HEAD = Rule(
    "corefud-head", "fault", "Write the number of a token of the mention, from 1; it is read without a head."
)
UNDECLARED = Rule("corefud-undeclared", "note", "Write # global.Entity before the first mention to have them read.")
UNREAD = Rule("corefud-unread", "note", "Nothing to do; no score uses them.")
UNIT = Rule("corefud-unit", "fatal", "Leave --unit char away; CoNLL-U is counted in tokens.")

_NEWDOC = re.compile(rb"#\s*newdoc(?:\s+id\s*=\s*(.*?))?\s*")
_HEADER = re.compile(rb"#\s*global\.Entity\s*=\s*(.*?)\s*")
_BEGINNING = re.compile(
    rb"^(?:#\s*global\.Entity\s*=|[0-9]+(?:\.[0-9]+)?\t(?:[^\t\n]*\t){8}(?:[^\t\n]*\|)?Entity=)", re.MULTILINE
)
_TOKEN = re.compile(rb"[0-9]+(?:\.[0-9]+)?")
_MULTIWORD = re.compile(rb"[0-9]+-[0-9]+")
_OPENING = re.compile(rb"\(([^()|\s]+)")
_PIECE = re.compile(r"(.+?)(?:\[([0-9]{1,6})/([0-9]{1,6})\])?")


def sniff(head: bytes) -> bool:
    """The fields of entities are declared early on, or a token has an entity."""
    return _BEGINNING.search(head) is not None


def blocks(stream: BinaryIO, file: str) -> Iterator[Block]:
    """From each `# newdoc` to the next one, or the whole file."""
    draft: _Draft | None = None
    count, line, fields, stray = 0, 0, None, None
    beginning = offset = stream.tell()
    whole = _Draft(_stem(file), beginning, 1, None)
    for line, data in enumerate(stream, 1):
        if data[0] == b"#"[0]:
            if newdoc := _NEWDOC.fullmatch(data):
                if stray is not None:
                    raise STRUCTURE.error("a sentence stands before the first # newdoc", file=file, line=stray)
                if draft is not None:
                    yield draft.block(offset)
                count += 1
                id_ = decode(newdoc[1] or b"", file=file, line=line) or f"{_stem(file)}-{count}"
                draft = _Draft(id_, offset, line, fields)
            elif header := _HEADER.fullmatch(data):
                fields = _declared(decode(header[1], file=file, line=line), file, line)
                (draft or whole).declared.append(fields)
        else:
            if draft is None and stray is None and not data.isspace():
                stray = line
            if b"Entity=" in data:
                (draft or whole).look_at(data)
        offset += len(data)
    if draft is not None or stray is not None:
        yield (draft or whole).block(offset)


def _stem(file: str) -> str:
    return re.sub(r"(\.conllu)?(\.gz)?\Z", "", Path(file).name, count=1, flags=re.IGNORECASE)


def _declared(text: str, file: str, line: int) -> str:
    """Names of fields joined by dashes, if there is an id among them and none twice."""
    names = text.split("-")
    if len(set(names)) < len(names) or sum(names.count(id_) for id_ in IDS) != 1:
        found = f"# global.Entity names the fields {quoted(text)}, expected different ones and one of them {IDS[0]}"
        raise HEADER.error(found, file=file, line=line)
    return text


class _Draft:
    """What the light pass knows of a document before its end."""

    def __init__(self, id_: str, offset: int, line: int, context: str | None) -> None:
        self.declared: list[str] = []
        self._id, self._offset, self._line, self._context = id_, offset, line, context
        self._filled: set[int] = set()

    def look_at(self, data: bytes) -> None:
        """Take note of which fields say anything in a line with entities."""
        for opening in _OPENING.findall(data, data.rfind(b"Entity=")):
            self._filled.update(number for number, value in enumerate(opening.split(b"-")) if value)

    def block(self, end: int) -> Block:
        """The document, which ends before this byte."""
        fields = self.declared[-1] if self.declared else self._context
        names = (fields or IDS[0]).split("-")
        attributes = {("event", _attribute(name)) for n, name in enumerate(names) if n in self._filled and _says(name)}
        length = end - self._offset
        context = None if self.declared == [self._context] else self._context
        contents = Contents(frozenset(attributes), KINDS)
        return Block(self._offset, length, self._line, self._id, contents=contents, context=context)


def _says(field: str) -> bool:
    """Whether a field becomes an attribute."""
    return field not in (*IDS, HEAD)


def _attribute(field: str) -> str:
    return "type" if field == TYPE else field


def parse(data: bytes, block: Block, options: ReadOptions, file: str, report: Report) -> Document:
    """The mentions and clusters of one document."""
    if options.unit == "char":
        raise UNIT.error("offsets of a CoNLL-U file do not count characters", file=file)
    decode(data, file=file, line=block.line)
    page = _page(data, block.line, block.context, file)
    page.tell(report)
    mentions = [
        Mention(
            f"m{number}",
            found.span,
            page.head(found, report),
            None,
            None,
            "event",
            qualified(block.id, found.cluster),
            found.attributes,
            page.text(found.span),
        )
        for number, found in enumerate(page.found, 1)
    ]
    return Document(block.id, unit="token", mentions=tuple(mentions))


def locate(data: bytes, block: Block, item: Item) -> int | None:
    """The line in which a mention begins; there are no links."""
    return _lines(data, block.line, block.context).get(item) if isinstance(item, str) else None


@functools.lru_cache(maxsize=1)
def _lines(data: bytes, first: int, context: str | None) -> dict[str, int]:
    """Lines of mentions; a document in which one thing is wrong is mostly asked about again."""
    return {f"m{number}": found.line for number, found in enumerate(_page(data, first, context, "").found, 1)}


def _page(data: bytes, first: int, context: str | None, file: str) -> "_Page":
    page = _Page(context, file)
    for line, row in enumerate(data.split(b"\n"), first):
        bare = row.rstrip()
        if bare:
            page.read(line, bare)
    page.finish()
    return page


def _stretches(segments: list[tuple[int, int]]) -> Region:
    """The tokens of segments as segments with a gap between any two of them."""
    joined: list[tuple[int, int]] = []
    for begin, end in sorted(segments):
        if joined and begin <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((begin, end))
    return tuple(joined)


class _Found(NamedTuple):
    """A mention as it was found; the first fields are those by which mentions are sorted."""

    first: int
    minus_last: int
    rank: int
    """How many clusters had appeared before its own."""
    line: int
    cluster: str
    span: Region
    attributes: dict[str, Value]
    head: str


class _Begun(NamedTuple):
    """A mention, or a piece of one, that begins."""

    token: int
    line: int
    row: bytes
    rest: str
    """What is left of the row where the bracket begins."""
    bracket: Bracket
    label: str
    """The id as it stands there, with the piece; so it stands at the end too."""
    cluster: str
    piece: int
    pieces: int
    values: dict[str, str]


class _Page:
    """The lines of a document, one after another."""

    def __init__(self, context: str | None, file: str) -> None:
        self.found: list[_Found] = []
        self._file = file
        self._fields = None if context is None else context.split("-")
        self._forms: list[bytes] = []
        self._ranks: dict[str, int] = {}
        self._begun: dict[str, list[_Begun]] = {}
        # Mentions of which not all pieces have come, by cluster and number of pieces.
        self._waiting: dict[tuple[str, int], list[tuple[_Begun, list[tuple[int, int]]]]] = {}
        self._unread: list[int] = []
        self._undeclared: list[int] = []

    def read(self, line: int, row: bytes) -> None:
        """Take one line that is not blank."""
        if row[0] == b"#"[0]:
            if header := _HEADER.fullmatch(row):
                self._fields = header[1].decode("utf-8").split("-")
            return
        columns = row.split(b"\t")
        multiword = _MULTIWORD.fullmatch(columns[0])
        if len(columns) != COLUMNS or not (multiword or _TOKEN.fullmatch(columns[0])):
            found = f"{len(columns)} columns, expected {COLUMNS}"
            if len(columns) == COLUMNS:
                found = f"{quoted(columns[0].decode('utf-8'))} is no number of a token"
            raise LINE.error(f"{found}: {quoted(row.decode('utf-8'))}", file=self._file, line=line)
        if not multiword:
            unspoken = b"." in columns[0] and columns[1] == b"_"
            self._forms.append(b"" if unspoken else columns[1])
        if b"=" in columns[-1] and columns[-1] != b"SpaceAfter=No":
            self._miscellany(line, row, columns[-1].decode("utf-8"), multiword is not None)

    def _miscellany(self, line: int, row: bytes, text: str, multiword: bool) -> None:
        """Take the last column, in which entities stand among other things."""
        at, seen = 0, False
        for part in text.split("|"):
            name, _, cell = part.partition("=")
            if name in ("Bridge", "SplitAnte"):
                self._unread.append(line)
            elif name == "Entity":
                if multiword:
                    raise self._wrong(CELL, line, row, text[at:], "Entity= stands at a multiword token, which is none")
                if seen:
                    raise self._wrong(CELL, line, row, text[at:], "Entity= stands there for the second time")
                seen = True
                self._entity(line, row, cell, text[at + len(name) + 1 :])
            at += len(part) + 1

    def _entity(self, line: int, row: bytes, cell: str, rest: str) -> None:
        """Take the brackets of a token in their order; `rest` is what is left of the row where they begin."""
        token = len(self._forms) - 1
        try:
            if not cell:
                raise CellError(0)
            for bracket in brackets(cell):
                if bracket.opens:
                    begun = self._opened(token, line, row, rest[bracket.at :], bracket)
                    if bracket.closes:
                        self._ended(begun, token)
                    else:
                        self._begun.setdefault(begun.label, []).append(begun)
                elif self._begun.get(bracket.name):
                    self._ended(self._begun[bracket.name].pop(), token)
                else:
                    found = f"{quoted(str(bracket))} ends a mention that was not begun"
                    raise self._wrong(BRACKET, line, row, rest[bracket.at :], found)
        except CellError as error:
            found = f"{quoted(cell)} cannot be read as brackets"
            raise self._wrong(CELL, line, row, rest[error.at :], found) from None

    def _opened(self, token: int, line: int, row: bytes, rest: str, bracket: Bracket) -> _Begun:
        values = bracket.name.split("-")
        fields = self._fields
        if fields is None:
            if len(values) > 1:
                self._undeclared.append(line)
            fields, values = [IDS[0]], values[:1]
        if len(values) > len(fields):
            found = f"{quoted(str(bracket))} has {len(values)} fields, expected {'-'.join(fields)}"
            raise self._wrong(CELL, line, row, rest, found)
        named = dict(zip(fields, values, strict=False))
        label = named.get(IDS[0]) or named.get(IDS[1]) or ""
        piece = _PIECE.fullmatch(label)
        if piece is None or (piece[2] is not None and not 1 <= int(piece[2]) <= int(piece[3])):
            found = f"{quoted(str(bracket))} has the id {quoted(label)}, expected one such as e5 or e5[1/2]"
            raise self._wrong(CELL, line, row, rest, found)
        self._ranks.setdefault(piece[1], len(self._ranks))
        number, count = (1, 1) if piece[2] is None else (int(piece[2]), int(piece[3]))
        return _Begun(token, line, row, rest, bracket, label, piece[1], number, count, named)

    def _ended(self, begun: _Begun, last: int) -> None:
        """Take a mention or a piece that is whole."""
        segment = begun.token, last + 1
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
                if begun.piece == begun.pieces:
                    del waiting[number]
                    self._add(start, _stretches(segments))
                return
        found = f"{quoted(str(begun.bracket))} begins a piece of a mention without the piece before it"
        raise self._wrong(BRACKET, begun.line, begun.row, begun.rest, found)

    def _add(self, begun: _Begun, span: Region) -> None:
        attributes: dict[str, Value] = {
            _attribute(name): value for name, value in begun.values.items() if value and _says(name)
        }
        rank, head = self._ranks[begun.cluster], begun.values.get(HEAD, "")
        found = _Found(span[0][0], -span[-1][1], rank, begun.line, begun.cluster, span, attributes, head)
        self.found.append(found)

    def finish(self) -> None:
        """All lines were taken: nothing may be left open."""
        open_ = [(begun[0], "has no end before its document ends") for begun in self._begun.values() if begun]
        open_ += [(waiting[0][0], "has not all its pieces") for waiting in self._waiting.values() if waiting]
        if open_:
            begun, what = min(open_, key=lambda pair: (pair[0].token, -len(pair[0].rest)))
            found = f"{quoted(str(begun.bracket))} begins a mention that {what}"
            raise self._wrong(BRACKET, begun.line, begun.row, begun.rest, found)
        self.found.sort(key=lambda found: found[:4])

    def _wrong(self, rule: Rule, line: int, row: bytes, rest: str, message: str) -> KaratError:
        return rule.error(f"{place(row, rest)}: {message}", file=self._file, line=line)

    def tell(self, report: Report) -> None:
        """Say what was not read."""
        if self._undeclared:
            found = f"fields of entities are not read, for # global.Entity is missing ({len(self._undeclared):,} here)"
            report(UNDECLARED.at(found, file=self._file, line=self._undeclared[0]))
        if self._unread:
            found = f"Bridge= and SplitAnte= are not read ({len(self._unread):,} here)"
            report(UNREAD.at(found, file=self._file, line=self._unread[0]))

    def head(self, found: _Found, report: Report) -> Region | None:
        """The token that is the head of a mention, by its number in it."""
        if not found.head:
            return None
        if found.head.isdecimal() and found.head.isascii() and len(found.head) < 19:
            left = int(found.head)
            for begin, end in found.span if left else ():
                if left <= end - begin:
                    return ((begin + left - 1, begin + left),)
                left -= end - begin
        tokens = size(found.span)
        message = f"the head {quoted(found.head)} of a mention of {tokens} token{'s' * (tokens > 1)}"
        report(NO_HEAD.at(message, file=self._file, line=found.line))
        return None

    def text(self, span: Region) -> str | None:
        """The words of a mention."""
        if size(span) > LONGEST_TEXT:
            return None
        words = [form for begin, end in span for form in self._forms[begin:end] if form]
        return b" ".join(words).decode("utf-8") or None


FORMAT = Format(
    title="CoNLL-U with Entity= (CorefUD)",
    about=__doc__,
    suffixes=(".conllu",),
    protocols=("conll-2012",),
    sniff=sniff,
    blocks=blocks,
    parse=parse,
    locate=locate,
    local_clusters=True,
)
