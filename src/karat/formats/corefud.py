"""CorefUD: CoNLL-U with coreference as brackets in the last column. Only read.

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

Tokens are counted over the whole document. Empty nodes (`8.1`) are tokens, too; multiword tokens (`3-4`) are not.
Forms, sentences with their `# sent_id`, and empty nodes with their DEPS are kept. When a document is scored, words are
compared by their order, and empty nodes by sentence and id: an empty node that only one side has shifts nothing.

Cluster ids mean nothing outside their document. Mentions are in the order of their first tokens, then longer ones
first, then in the order of their brackets; they are of kind `event`, as those of CoNLL are. Values are read as written
(`%2D` stays as it is). Bridging and split antecedents are not read, and a note says so.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import BinaryIO, NamedTuple

from karat.errors import Item, KaratError, Report, Rule, quoted
from karat.formats._brackets import LONGEST_TEXT, Bracket, CellError, brackets, place
from karat.formats._text import decode
from karat.model import Document, EmptyNode, Mention, Region, Sentence, Value, qualified
from karat.model.regions import size
from karat.plugin.blocks import Block, BlockFormat, Contents, Locate
from karat.plugin.formats import Facts, ReadOptions

IDS = ("eid", "GRP")
"""What the field of the id is called."""
HEAD = "head"
TYPE = "etype"
COLUMNS = 10
DEPS = 8
KINDS = frozenset({"event"})

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
UNREAD = Rule("corefud-unread", "note", "Nothing to do; no score uses them.")
UNIT = Rule("corefud-unit", "fatal", "Omit --unit char; spans of CoNLL-U count tokens.")

_NEWDOC = re.compile(rb"#\s*newdoc(?:\s+id\s*=\s*(.*?))?\s*")
_HEADER = re.compile(rb"#\s*global\.Entity\s*=\s*(.*?)\s*")
_BEGINNING = re.compile(
    rb"^(?:#\s*global\.Entity\s*=|[0-9]+(?:\.[0-9]+)?\t(?:[^\t\n]*\t){8}(?:[^\t\n]*\|)?Entity=)", re.MULTILINE
)
_SENTENCE = re.compile(rb"#\s*sent_id\s*=\s*(.*?)\s*")
_TOKEN = re.compile(rb"([0-9]{1,9})(?:\.([0-9]{1,9}))?")
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
    whole = _Draft("1", beginning, 1, None, numbered=True)
    for line, data in enumerate(stream, 1):
        if data[0] == b"#"[0]:
            if newdoc := _NEWDOC.fullmatch(data):
                if stray is not None:
                    raise STRUCTURE.error("a sentence stands before the first # newdoc", file=file, line=stray)
                if draft is not None:
                    yield draft.block(offset)
                count += 1
                id_ = decode(newdoc[1] or b"", file=file, line=line)
                draft = _Draft(id_ or str(count), offset, line, fields, numbered=not id_)
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


def _declared(text: str, file: str, line: int) -> str:
    """Names of fields joined by dashes, if there is an id among them and none twice."""
    names = text.split("-")
    if len(set(names)) < len(names) or sum(names.count(id_) for id_ in IDS) != 1:
        found = f"# global.Entity names the fields {quoted(text)}, expected different ones and one of them {IDS[0]}"
        raise HEADER.error(found, file=file, line=line)
    return text


class _Draft:
    """What the light pass knows of a document before its end."""

    def __init__(self, id_: str, offset: int, line: int, context: str | None, *, numbered: bool) -> None:
        self.declared: list[str] = []
        self._numbered = numbered
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
        return Block(
            self._offset, length, self._line, self._id, contents=contents, context=context, numbered=self._numbered
        )


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
    page.report(report)
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
    return Document(
        block.id,
        unit="token",
        forms=tuple([form.decode("utf-8") for form in page.forms]),
        sentences=tuple(page.sentences),
        empty_nodes=tuple(page.empty_nodes),
        mentions=tuple(mentions),
    )


def locator(data: bytes, block: Block) -> Locate:
    """Finds the line in which a mention begins; there are no links."""
    lines: dict[Item, int] = {}
    with suppress(KaratError):  # reported when the document is read
        decode(data, file="", line=block.line)
        page = _page(data, block.line, block.context, "")
        lines = {f"m{number}": found.line for number, found in enumerate(page.found, 1)}
    return lines.get


def locate_token(data: bytes, block: Block, token: int) -> int | None:
    """The line of a token."""
    numbered = enumerate(data.split(b"\n"), block.line)
    lines = [line for line, row in numbered if _TOKEN.fullmatch(row.partition(b"\t")[0])]
    return lines[token] if token < len(lines) else None


def _page(data: bytes, first: int, context: str | None, file: str) -> "_Page":
    page = _Page(context, file)
    for line, row in enumerate(data.split(b"\n"), first):
        bare = row.rstrip()
        if bare:
            page.read(line, bare)
        else:
            page.end_sentence()
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


class _Page:
    """The lines of a document, one after another."""

    def __init__(self, context: str | None, file: str) -> None:
        self.found: list[_Found] = []
        self.forms: list[bytes] = []
        self.sentences: list[Sentence] = []
        self.empty_nodes: list[EmptyNode] = []
        self._file = file
        self._fields = None if context is None else context.split("-")
        self._sentence_id: str | None = None
        self._nodes: dict[bytes, int] = {}
        """The tokens of the current sentence by id; empty between sentences."""
        self._last = 0, 0
        """The id of its last token."""
        self._empty: list[tuple[int, int, int, bytes]] = []
        """Its empty nodes: line, token, number and DEPS."""
        self._begun: dict[str, list[_Begun]] = {}
        # Mentions of which not all parts have come, by cluster and number of parts.
        self._waiting: dict[tuple[str, int], list[tuple[_Begun, list[tuple[int, int]]]]] = {}
        self._unread: list[int] = []
        self._undeclared: list[int] = []
        self._across: list[int] = []
        self._independent: list[int] = []
        self._bad_deps: list[tuple[int, str]] = []

    def read(self, line: int, row: bytes) -> None:
        """Take one line that is not blank."""
        if row[0] == b"#"[0]:
            if header := _HEADER.fullmatch(row):
                self._fields = header[1].decode("utf-8").split("-")
            elif sentence := _SENTENCE.fullmatch(row):
                self._sentence_id = sentence[1].decode("utf-8")
            return
        columns = row.split(b"\t")
        id_ = _TOKEN.fullmatch(columns[0])
        multiword = _MULTIWORD.fullmatch(columns[0])
        if len(columns) != COLUMNS or not (multiword or id_):
            message = f"{len(columns)} columns, expected {COLUMNS}"
            if len(columns) == COLUMNS:
                message = f"{quoted(columns[0].decode('utf-8'))} is not the id of a token"
            raise LINE.error(f"{message}: {quoted(row.decode('utf-8'))}", file=self._file, line=line)
        if id_ is not None:
            self._token(line, columns, int(id_[1]), None if id_[2] is None else int(id_[2]))
        if b"=" in columns[-1] and columns[-1] != b"SpaceAfter=No":
            self._miscellany(line, row, columns[-1].decode("utf-8"), multiword is not None)

    def _token(self, line: int, columns: list[bytes], word: int, number: int | None) -> None:
        """Take a word, or an empty node with its number after a word."""
        token = len(self.forms)
        if not self._nodes:
            self.sentences.append(Sentence(token, self._sentence_id))
            self._sentence_id = None
        last = self._last
        if number is not None:
            in_order = word == last[0] and number > last[1]
            self._empty.append((line, token, number, columns[DEPS]))
            self.forms.append(b"" if columns[1] == b"_" else columns[1])
        else:
            in_order = word == last[0] + 1
            self.forms.append(columns[1])
        if not in_order:
            before = f"after {_id(*last)}" if self._nodes else "at the beginning of a sentence"
            message = (
                f"the id {columns[0].decode('utf-8')} {before}, expected {last[0] + 1} or {_id(last[0], last[1] + 1)}"
            )
            raise ID.error(message, file=self._file, line=line)
        self._nodes[columns[0]] = token
        self._last = word, number or 0

    def end_sentence(self) -> None:
        """A sentence is complete: its empty nodes know their parents."""
        for line, token, number, deps in self._empty:
            self.empty_nodes.append(EmptyNode(token, number, tuple(self._parents(line, deps))))
        self._empty.clear()
        self._nodes.clear()
        self._last = 0, 0

    def _parents(self, line: int, deps: bytes) -> Iterator[tuple[int | None, str]]:
        for dependency in deps.split(b"|") if deps != b"_" else ():
            parent, colon, relation = dependency.partition(b":")
            if colon and (parent == b"0" or parent in self._nodes):
                yield self._nodes.get(parent), relation.decode("utf-8")
            else:
                self._bad_deps.append((line, dependency.decode("utf-8")))

    def _miscellany(self, line: int, row: bytes, text: str, multiword: bool) -> None:
        """Take the last column, in which entities stand among other things."""
        at, seen = 0, False
        for part in text.split("|"):
            name, _, cell = part.partition("=")
            if name in ("Bridge", "SplitAnte"):
                self._unread.append(line)
            elif name == "Entity":
                if multiword:
                    raise self._wrong(
                        CELL, line, row, len(text) - at, "Entity= stands at a multiword token, which is none"
                    )
                if seen:
                    raise self._wrong(CELL, line, row, len(text) - at, "Entity= stands there for the second time")
                seen = True
                self._entity(line, row, cell, len(text) - at - len(name) - 1)
            at += len(part) + 1

    def _entity(self, line: int, row: bytes, cell: str, rest: int) -> None:
        """Take the brackets of a token in their order; `rest` is how much of the row is left where they begin."""
        token = len(self.forms) - 1
        if self._empty and self._empty[-1][1] == token and self._empty[-1][3] == b"_":
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
                    found = f"{quoted(str(bracket))} ends a mention that was not begun"
                    raise self._wrong(BRACKET, line, row, rest - bracket.at, found)
        except CellError as error:
            found = f"{quoted(cell)} cannot be read as brackets"
            raise self._wrong(CELL, line, row, rest - error.at, found) from None

    def _opened(self, token: int, line: int, row: bytes, rest: int, bracket: Bracket) -> _Begun:
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
        number, count = (1, 1) if piece[2] is None else (int(piece[2]), int(piece[3]))
        return _Begun(token, len(self.sentences), line, row, rest, bracket, label, piece[1], number, count, named)

    def _ended(self, begun: _Begun, last: int) -> None:
        """Take a mention or a piece that is whole."""
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
                    self._add(start, _stretches(segments))
                return
        found = f"{quoted(str(begun.bracket))} begins a piece of a mention without the piece before it"
        raise self._wrong(BRACKET, begun.line, begun.row, begun.rest, found)

    def _add(self, begun: _Begun, span: Region) -> None:
        attributes: dict[str, Value] = {
            _attribute(name): value for name, value in begun.values.items() if value and _says(name)
        }
        head, rest = begun.values.get(HEAD, ""), -begun.rest
        self.found.append(_Found(span[0][0], -span[-1][1], begun.line, rest, begun.cluster, span, attributes, head))

    def finish(self) -> None:
        """All lines were taken: nothing may be left open."""
        self.end_sentence()
        open_ = [(begun[0], "has no end before its document ends") for begun in self._begun.values() if begun]
        open_ += [(waiting[0][0], "has not all its pieces") for waiting in self._waiting.values() if waiting]
        if open_:
            begun, what = min(open_, key=lambda pair: (pair[0].token, -pair[0].rest))
            found = f"{quoted(str(begun.bracket))} begins a mention that {what}"
            raise self._wrong(BRACKET, begun.line, begun.row, begun.rest, found)
        self.found.sort(key=lambda found: found[:4])

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

    def head(self, found: _Found, report: Report) -> Region | None:
        """The token that is the head of a mention, by its number among the words of the mention; None: not given."""
        words = size(found.span)
        if found.head in ("", "0"):
            return None
        if words == 1:
            return found.span
        if found.head.isdecimal() and found.head.isascii() and len(found.head) < 19:
            left = int(found.head)
            for begin, end in found.span if left else ():
                if left <= end - begin:
                    return ((begin + left - 1, begin + left),)
                left -= end - begin
        message = f"the head {quoted(found.head)} of a mention of {words:,} words"
        report(NO_HEAD.at(message, file=self._file, line=found.line))
        return None

    def text(self, span: Region) -> str | None:
        """The words of a mention."""
        if size(span) > LONGEST_TEXT:
            return None
        words = [form for begin, end in span for form in self.forms[begin:end] if form]
        return b" ".join(words).decode("utf-8") or None


def _id(word: int, number: int) -> str:
    return f"{word}.{number}" if number else str(word)


FORMAT = BlockFormat(
    title="CoNLL-U with Entity= (CorefUD)",
    about=__doc__,
    suffixes=(".conllu",),
    protocols=("crac-2024",),
    always=Facts(kinds=("event",)),
    sniff=sniff,
    blocks=blocks,
    parse=parse,
    locator=locator,
    locate_token=locate_token,
    local_clusters=True,
)
