"""TBF: the TAC event nugget format, one file for a corpus, tab-separated lines in document blocks.

    #BeginOfDocument doc1
    system1  doc1  E1  120,126;130,135  carried out  Life_Die  Actual  0.9
    @Coreference  C1  E1,E2
    @After        R1  E1,E3
    #EndOfDocument

Columns: system id, document id, mention id, span, text, type, realis, then confidences. Spans are character segments
`begin,end` joined by `;` (end exclusive), or token ids joined by `,`. The reading is that of TAC's scorer v1.8, except
that what it mangled without a word is refused here (a block that is not closed, a document given twice, a mention under
another document's header, empty spans, overlapping clusters).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import repeat
from typing import BinaryIO

from karat.errors import Item, KaratError, Report, Rule, quoted
from karat.formats._rules import DANGLING, MERGED, REPEATED, SINGLETON, TRIMMED, TWICE
from karat.formats._tbf_writer import LINK_KINDS, write
from karat.formats._text import decode
from karat.formats._tokens import LONGEST, number
from karat.model import Document, Link, Mention, Region, Unit, Value, qualified
from karat.model.regions import runs, union
from karat.plugin.formats import Block, Contents, Format, ReadOptions

BEGIN, END = b"#BeginOfDocument", b"#EndOfDocument"
COMMENT, RELATION_MARK = b"#@"
MARKS = frozenset(b"# \t\r\v\f")  # a line that begins otherwise neither opens nor closes a document
OTHERS = "#@"  # what begins a line that is no mention; so does nothing, which is in every text
COLUMN_COUNT = 7  # all but confidences
LONGEST_SEGMENT = 40  # two numbers of 18 digits, and blanks
# Every TBF mention has these columns, so they are there to be scored even where a file has no mention.
ATTRIBUTES = frozenset({("event", "type"), ("event", "realis")})
KINDS = frozenset({"event"})
LINKS = {name.encode(): (kind, "event", "event") for name, kind in LINK_KINDS.items()}

STRUCTURE = Rule("tbf-structure", "fatal", "A document stands between #BeginOfDocument ID and #EndOfDocument.")
COLUMNS = Rule(
    "tbf-columns",
    "fatal",
    "Write: system id, document id, mention id, span, text, type, realis, with one tab between two columns.",
)
OTHER_DOCUMENT = Rule("tbf-other-document", "fatal", "Move the mention to its document's block or correct column 2.")
SPAN = Rule(
    "tbf-span",
    "fatal",
    "Write begin,end;begin,end with begin < end. If these are token ids, say --unit token or --tokens DIR.",
)
RELATION = Rule(
    "tbf-relation", "fatal", "Write: @Name, relation id, arguments joined by commas, with one tab between two columns."
)
OVERLAPPING = Rule("clusters-overlap", "fatal", "Put all mentions of an event into one @Coreference line.")
UNKNOWN_RELATION = Rule("relation-unknown", "note", "Known are Coreference, After and Subevent; the line is not used.")
NO_ROW = Rule("token-unknown", "note", "It still matches the same id on the other side; check the table otherwise.")


def sniff(head: bytes) -> bool:
    """A TBF file begins its first document early on."""
    return BEGIN in head


def blocks(stream: BinaryIO, file: str) -> Iterator[Block]:
    """The lines between each #BeginOfDocument and its #EndOfDocument."""
    id_, start, first, line = None, 0, 0, 0
    relations: set[bytes] = set()
    offset = stream.tell()
    for line, data in enumerate(stream, 1):
        after = offset + len(data)
        if data[0] == RELATION_MARK:
            relations.add(data.partition(b"\t")[0])
        elif data[0] in MARKS:
            mark = data.strip()
            if mark.startswith(BEGIN):
                if id_ is not None:
                    raise _not_closed("the next document begins", id_, first, file, line)
                id_ = decode(mark[len(BEGIN) :].strip(), file=file, line=line)
                if not id_:
                    raise STRUCTURE.error("#BeginOfDocument without a document id", file=file, line=line)
                start, first = after, line
            elif mark.startswith(END):
                if id_ is None:
                    raise STRUCTURE.error("#EndOfDocument outside a document", file=file, line=line)
                contents = Contents(ATTRIBUTES, KINDS, _links(relations))
                yield Block(start, offset - start, first, id_, contents=contents)
                id_ = None
                relations.clear()
            elif mark[:1] == b"@":
                relations.add(mark.partition(b"\t")[0])
        if id_ is None and data[0] != COMMENT and not data.isspace():
            text = data[:40].decode("utf-8", "replace").strip()
            raise STRUCTURE.error(f"a line outside a document: {quoted(text)}", file=file, line=line)
        offset = after
    if id_ is not None:
        raise _not_closed("the file ends", id_, first, file, line)


def _links(relations: set[bytes]) -> frozenset[tuple[str, str, str]]:
    """The kinds of links that relations with these first columns draw, and what they join."""
    names = [mark[1:].lstrip() for mark in relations]
    return frozenset([LINKS[name] for name in names if name in LINKS])


def _not_closed(found: str, id_: str, first: int, file: str, line: int) -> KaratError:
    what = f"{found} before #EndOfDocument of {quoted(id_)} (begun in line {first})"
    return STRUCTURE.error(what, file=file, line=line)


def parse(data: bytes, block: Block, options: ReadOptions, file: str, report: Report) -> Document:
    """The mentions, clusters and links of one block."""
    unit: Unit = options.unit or ("char" if options.tokens is None else "token")
    table: Mapping[str, int] = {} if options.tokens is None else options.tokens.table(block.id, report)
    first = block.line + 1
    lines = list(map(str.strip, decode(data, file=file, line=first).split("\n")))
    relations = _Relations(block.id, file, report)
    for place, line in enumerate(lines, first):
        if line[:1] == "@":
            relations.read(place, line)
    said = _MentionLines(lines, first, file, report)
    mentions = said.read(block.id, unit, table, relations.cluster_of)
    links = relations.links({mention.id for mention in mentions})
    return Document(block.id, producer=said.producer, unit=unit, mentions=mentions, links=links)


def locate(data: bytes, block: Block, item: Item) -> int | None:
    """The line of a mention, or the first line that draws a link."""
    names = (item,) if isinstance(item, str) else item[1:]
    wanted = [name.encode() for name in names]
    for line, raw in enumerate(data.split(b"\n"), block.line + 1):
        if all(name in raw for name in wanted) and _is(raw.decode("utf-8").strip(), item):
            return line
    return None


def _is(text: str, item: Item) -> bool:
    """Whether a line says that there is this mention or link."""
    if isinstance(item, str):
        return text[0] not in "#@" and text.split("\t")[2].strip() == item
    if text[0] != "@":
        return False
    name, _, arguments = text[1:].lstrip().split("\t")
    return (LINK_KINDS.get(name), *(argument.strip() for argument in arguments.split(","))) == item


class _MentionLines:
    """Mention lines of a document, read column by column; only what is wrong is looked for line by line."""

    def __init__(self, lines: list[str], first: int, file: str, report: Report) -> None:
        self._rows = [line.split("\t") for line in lines if line[:1] not in OTHERS]
        self._lines, self._first, self._file, self._report = lines, first, file, report

    @property
    def producer(self) -> str | None:
        """What the last line says."""
        return self._rows[-1][0] if self._rows else None

    def read(
        self, document: str, unit: Unit, table: Mapping[str, int], cluster_of: dict[str, str]
    ) -> tuple[Mention, ...]:
        """The mentions of a document."""
        if not self._rows:
            return ()
        widths = list(map(len, self._rows))
        if min(widths) < COLUMN_COUNT:
            row = next(row for row, width in enumerate(widths) if width < COLUMN_COUNT)
            raise self._wrong(COLUMNS, row, _few_columns(self._rows[row]))
        _, documents, ids, wheres, words, types, realis, *_ = zip(*self._rows, strict=False)
        if set(documents) != {document}:
            self._check_documents(documents, document)
        attributes: list[dict[str, Value]] = [
            {"type": type_, "realis": value} for type_, value in zip(types, realis, strict=True)
        ]
        if not (all(types) and all(realis)):
            attributes = [{name: value for name, value in given.items() if value} for given in attributes]
        confidences = [tuple(row[COLUMN_COUNT:]) for row in self._rows] if max(widths) > COLUMN_COUNT else repeat(())
        ids = self._ids(ids)
        spans = self._spans(wheres, document, unit, table)
        nothing = repeat(None)
        return tuple(
            map(
                Mention,
                ids,
                spans,
                nothing,
                nothing,
                nothing,
                repeat("event"),
                map(cluster_of.get, ids),
                attributes,
                words if all(words) else [text or None for text in words],
                confidences,
            )
        )

    def _check_documents(self, documents: Sequence[str], document: str) -> None:
        for row, named in enumerate(documents):
            if named.strip() != document:
                found = f"a mention of document {quoted(named)} in the block of {quoted(document)}"
                raise self._wrong(OTHER_DOCUMENT, row, found)

    def _ids(self, ids: tuple[str, ...]) -> tuple[str, ...]:
        """Ids, each once, without blanks around them."""
        trimmed = tuple(map(str.strip, ids))
        if trimmed != ids:
            for row, (id_, bare) in enumerate(zip(ids, trimmed, strict=True)):
                if id_ != bare:
                    self._tell(TRIMMED, row, f"blanks around the mention id {quoted(id_)}")
        if len(set(trimmed)) < len(trimmed) or "" in trimmed:
            seen: set[str] = set()
            for row, id_ in enumerate(trimmed):
                if id_ in seen:
                    raise self._wrong(TWICE, row, f"mention id {quoted(id_)} was already used in this document")
                if not id_:
                    raise self._wrong(COLUMNS, row, "a mention without an id")
                seen.add(id_)
        return trimmed

    def _spans(self, wheres: Sequence[str], document: str, unit: Unit, table: Mapping[str, int]) -> list[Region]:
        """Spans in order, no segment overlapping another."""
        spans: list[Region] = []
        try:
            spans.extend(map(_char_span, wheres) if unit == "char" else (_token_span(where, table) for where in wheres))
        except ValueError:
            row = len(spans)
            raise self._wrong(SPAN, row, _span_problem(wheres[row], unit)) from None
        for row, where in enumerate(wheres if table and unit == "token" else ()):
            for token in map(str.strip, where.split(",")):
                if token not in table:
                    self._tell(NO_ROW, row, f"token {quoted(token)} is not in the table of {quoted(document)}")
        for row, span in enumerate(spans if max(map(len, spans)) > 1 else ()):
            if len(span) > 1 and (merged := union(span)) != span:
                self._tell(MERGED, row, f"overlapping segments in the span {quoted(wheres[row])}")
                spans[row] = merged
        return spans

    @cached_property
    def _numbers(self) -> list[int]:
        return [place for place, line in enumerate(self._lines, self._first) if line[:1] not in OTHERS]

    def _tell(self, rule: Rule, row: int, message: str) -> None:
        self._report(rule.at(message, file=self._file, line=self._numbers[row]))

    def _wrong(self, rule: Rule, row: int, message: str) -> KaratError:
        return rule.error(message, file=self._file, line=self._numbers[row])


def _few_columns(columns: list[str]) -> str:
    line = "\t".join(columns)
    found = f"{len(columns)} column{'s' * (len(columns) > 1)}, expected at least 7"
    blanks = " (there are blanks where tabs belong)" if len(columns) == 1 and len(line.split()) >= 7 else ""
    return f"{found}{blanks}: {quoted(line)}"


@lru_cache(maxsize=4096)  # the two sides of a document are read one after the other, and mostly share their spans
def _char_span(text: str) -> Region:
    """Segments `begin,end` joined by `;`, in order; a ValueError if it is anything else."""
    if ";" not in text:
        return (_segment(text),)
    return tuple(sorted(map(_segment, text.split(";"))))


def _segment(text: str, *, empty: bool = False) -> tuple[int, int]:
    begin, _, end = text.partition(",")
    if " " in text:
        begin, end = begin.strip(), end.strip()
    if begin.isdecimal() and end.isdecimal() and text.isascii() and len(text) <= LONGEST_SEGMENT:
        segment = int(begin), int(end)
        if segment[0] < segment[1] or empty:
            return segment
    raise ValueError(text)


def _token_span(text: str, table: Mapping[str, int]) -> Region:
    """Token ids joined by `,`: each is a row of the document's table."""
    tokens = [token.strip() for token in text.split(",")]
    if not all(tokens):
        raise ValueError(text)
    return runs(number(token, table) for token in tokens)


def _span_problem(text: str, unit: Unit) -> str:
    if unit == "token":
        return f"the span {quoted(text)} has an empty token id, or one of more than {LONGEST:,} bytes"
    for segment in text.split(";"):
        begin, _, end = (part.strip() for part in segment.partition(","))
        if (
            begin.isdecimal()
            and end.isdecimal()
            and begin.isascii()
            and end.isascii()
            and len(segment) <= LONGEST_SEGMENT
        ):
            if int(begin) >= int(end):
                return f"the segment {quoted(segment)} of the span {quoted(text)} is empty"
        else:
            break
    return f"the span {quoted(text)} is not made of begin,end pairs of whole numbers"


class _Relations:
    """Relation lines of a document: first their shape and the clusters, then the links, once mentions are known."""

    def __init__(self, document: str, file: str, report: Report) -> None:
        self.cluster_of: dict[str, str] = {}
        self._document, self._file, self._report = document, file, report
        self._links: list[Link] = []
        self._named: list[str] = []
        self._lines: list[tuple[int, str, list[str]]] = []
        self._clusters: set[str] = set()

    def read(self, line: int, text: str) -> None:
        """Take one line."""
        columns = text.split("\t")
        if len(columns) != 3:
            found = f"a relation line with {len(columns)} column{'s' * (len(columns) > 1)}, expected 3"
            raise self._wrong(line, f"{found}: {quoted(text)}")
        mark, id_, listed = columns
        name = mark[1:].lstrip()
        arguments = listed.split(",")
        if " " in listed:
            trimmed = [argument.strip() for argument in arguments]
            if trimmed != arguments:
                self._tell(TRIMMED, line, f"blanks around ids in {quoted(listed)}")
            arguments = trimmed
        if (kind := LINK_KINDS.get(name)) is not None:
            if len(arguments) != 2:
                raise self._miscounted(line, name, listed, "2")
            self._links.append(Link(kind, arguments[0], arguments[1]))
        elif name == "Coreference":
            self._cluster(line, id_.strip(), arguments)
        elif len(arguments) < 2:
            raise self._miscounted(line, name, listed, "2 or more")
        else:
            self._tell(UNKNOWN_RELATION, line, f"unknown relation @{name}")
            return
        self._named += arguments
        self._lines.append((line, name, arguments))

    def links(self, known: set[str]) -> tuple[Link, ...]:
        """The links between known mentions; what names an unknown one is reported and left out."""
        if known.issuperset(self._named):
            return tuple(self._links)
        for line, name, arguments in self._lines:
            for argument in arguments:
                if argument not in known:
                    found = f"@{name} names {quoted(argument)}, which is no mention of document"
                    self._tell(DANGLING, line, f"{found} {quoted(self._document)}")
        return tuple([link for link in self._links if link.source in known and link.target in known])

    def _cluster(self, line: int, id_: str, arguments: list[str]) -> None:
        if len(arguments) == 1:
            self._tell(SINGLETON, line, f"@Coreference with one mention, {quoted(arguments[0])}")
        if len(set(arguments)) < len(arguments):
            for argument, count in Counter(arguments).items():
                if count > 1:
                    self._tell(REPEATED, line, f"@Coreference names {quoted(argument)} {count} times")
        cluster = self._new_cluster(id_)
        for argument in arguments:
            if self.cluster_of.setdefault(argument, cluster) != cluster:
                found = f"mention {quoted(argument)} is in two @Coreference lines of document {quoted(self._document)}"
                raise OVERLAPPING.error(found, file=self._file, line=line)

    def _new_cluster(self, id_: str) -> str:
        """Cluster ids are corpus-wide, so a line's id is qualified by its document; it may even stand twice in one."""
        cluster, count = qualified(self._document, id_), 1
        while cluster in self._clusters:
            count += 1
            cluster = qualified(self._document, f"{id_}#{count}")
        self._clusters.add(cluster)
        return cluster

    def _tell(self, rule: Rule, line: int, message: str) -> None:
        self._report(rule.at(message, file=self._file, line=line))

    def _miscounted(self, line: int, name: str, listed: str, wanted: str) -> KaratError:
        count = listed.count(",") + 1
        found = f"@{name} with {count} argument{'s' * (count > 1)}, expected {wanted}"
        return self._wrong(line, f"{found}: {quoted(listed)}")

    def _wrong(self, line: int, message: str) -> KaratError:
        return RELATION.error(message, file=self._file, line=line)


FORMAT = Format(
    title="TAC event nuggets",
    about=__doc__,
    suffixes=(".tbf",),
    protocols=("tac-2017",),
    sniff=sniff,
    blocks=blocks,
    parse=parse,
    locate=locate,
    write=write,
    local_clusters=True,
)
