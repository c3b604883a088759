"""TBF: the TAC event nugget format, one file per corpus, with tab-separated lines in document blocks.

    #BeginOfDocument doc1
    system1  doc1  E1  120,126;130,135  carried out  Life_Die  Actual  0.9
    @Coreference  C1  E1,E2
    @After        R1  E1,E3
    #EndOfDocument

Columns: system id, document id, mention id, span, text, type, realis, then confidences. Spans are character segments
`begin,end` joined by `;` (end exclusive), or token ids joined by `,`. Files are read as by TAC's scorer v1.8, except
that karat refuses what that scorer silently misread: a block that is not closed, a document given twice, a mention
under another document's header, empty spans, overlapping clusters.

`@After` and `@Subevent` are links, and so is any other relation of two mentions, such as `@Member`; its name in lower
case is the kind of the link. Other spellings of Coreference, After and Subevent are ignored, as by TAC's scorer.
"""

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import lru_cache, partial
from itertools import chain

from karat.formats._text import (
    DANGLING,
    MERGED,
    REPEATED,
    SINGLETON,
    TRIMMED,
    TWICE,
    LinesExcept,
    after_line,
    decode,
    search_line,
)
from karat.formats._tokens import LONGEST, char_places, char_span, number
from karat.model import (
    ACYCLIC,
    EMPTY,
    Declared,
    Document,
    Link,
    Mention,
    Places,
    Region,
    Unit,
    Value,
    compact_lines,
    qualified,
)
from karat.plugin.formats import Context, Format, Marker, Piece, ReportLoss, TokenTable, WriteOptions
from karat.problems import KaratError, Report, Rule, quoted
from karat.regions import runs, union

BEGIN, END = b"#BeginOfDocument", b"#EndOfDocument"
MARKER = re.compile(rb"#BeginOfDocument[^\S\n]*(?P<id>\S(?:[^\n]*\S)?)")
BOUNDARY = re.compile(rb"#(?:Begin|End)OfDocument")
OTHER_MARKS = frozenset({"", "#", "@"})  # a line that begins so has no mention
COLUMN_COUNT = 7  # all but confidences
SEGMENT = re.compile(r" *(\d{1,18}) *, *(\d{1,18}) *", re.ASCII)

TAC_LINKS = frozenset({"After", "Subevent"})
"""Links that TAC's scorer reads, only in this spelling."""

DECLARED = Declared(("event",), (("event", "type"), ("event", "realis")))
"""Every mention has these columns, so they are scored even if a file has no mention."""

STRUCTURE = Rule("tbf-structure", "fatal", "Put each document between #BeginOfDocument ID and #EndOfDocument.")
COLUMNS = Rule(
    "tbf-columns",
    "fatal",
    "Write: system id, document id, mention id, span, text, type, realis, separated by tabs.",
)
OTHER_DOCUMENT = Rule("tbf-other-document", "fatal", "Move the mention to its document's block or correct column 2.")
SPAN = Rule(
    "tbf-span",
    "fatal",
    "Write begin,end;begin,end with begin < end. For token ids, use --unit token or --tokens DIR.",
)
RELATION = Rule(
    "tbf-relation", "fatal", "Write: @Name, relation id, arguments joined by commas; columns are separated by tabs."
)
OVERLAPPING = Rule("clusters-overlap", "fatal", "Put all mentions of an event into one @Coreference line.")
UNKNOWN_RELATION = Rule(
    "relation-unknown",
    "note",
    "Known relations are Coreference, After, Subevent and Member. Other names are read as links of that kind; other "
    "spellings of the first three are ignored, as by TAC's scorer.",
)
NO_PAIR = Rule("relation-arguments", "note", "A link joins two mentions; write one line for each pair.")
NO_ROW = Rule(
    "token-unknown", "note", "It still matches the same id on the other side; check the table if it should be there."
)


def sniff(head: bytes) -> bool:
    """The first document begins near the beginning of the file."""
    return BEGIN in head


def read(piece: Piece, context: Context) -> Iterator[Document]:
    """The mentions, clusters and links between #BeginOfDocument and #EndOfDocument."""
    data, file, report = piece.data, piece.name, context.report
    marker = search_line(MARKER, data)
    start = len(data) if marker is None else marker.start()
    _report_stray_lines(data[:start], piece.line, file, report)
    if marker is None:
        return
    line = piece.line + data.count(b"\n", 0, start)
    begin = after_line(data, start)
    mark = search_line(BOUNDARY, data, begin)
    end = len(data) if mark is None else data.rfind(b"\n", 0, mark.start()) + 1
    is_closed = mark is not None and mark[0] == END
    if not is_closed:
        is_over = mark is None and piece.is_last
        event = "the file ends" if is_over else "the next document begins"
        message = f"{event} before #EndOfDocument of {quoted(piece.id)} (begun in line {line})"
        last = piece.line + data.count(b"\n", 0, end) - (is_over and data.endswith(b"\n"))
        report(STRUCTURE.at(message, file=file, line=last, found="" if is_over else None))
    yield _document(data[begin:end], piece.id, line, context, file)
    rest = after_line(data, end) if is_closed else end
    if rest < len(data):
        _report_stray_lines(data[rest:], piece.line + data.count(b"\n", 0, rest), file, report)


def _report_stray_lines(data: bytes, first: int, file: str, report: Report) -> None:
    """Report the first line outside documents that should not be there; one is enough."""
    if not data or data.isspace():
        return
    for line, row in enumerate(data.split(b"\n"), first):
        bare = row.strip()
        message = None
        if bare.startswith(BEGIN):
            message = "#BeginOfDocument without a document id"
        elif bare.startswith(END):
            message = "#EndOfDocument outside a document"
        elif bare and not row.startswith(b"#"):
            message = f"a line outside a document: {quoted(row[:40].decode('utf-8', 'replace').strip())}"
        if message is not None:
            report(STRUCTURE.at(message, file=file, line=line))
            return


def _document(data: bytes, id_: str, line: int, context: Context, file: str) -> Document:
    """Read the lines after the one in which a document begins."""
    options, report = context
    unit: Unit = options.unit or ("char" if options.tokens is None else "token")
    table = TokenTable() if options.tokens is None else options.tokens.table(id_, report)
    first = line + 1
    try:
        decoded = decode(data, file=file, line=first)
    except KaratError as error:
        report(error.finding)
        decoded = data.decode("utf-8", "replace")
    lines = [*map(str.strip, decoded.split("\n"))]
    relations = _Relations(id_, file, report)
    mark = decoded.find("@")
    if mark >= 0:  # relations usually come after all mentions
        before = decoded.count("\n", 0, mark)
        relations.read(lines[before:], first + before)
    region: Callable[[str], Region] = _char_span
    if unit == "token":
        region = partial(_token_span, table=table.rows)
    elif options.tokens is not None:
        region = _projection(table)
    mentions = _Mentions(id_, unit, region, table.rows, relations.cluster_of, file, context)
    mentions.read(lines, first)
    links, link_lines = relations.links(mentions.by_id.keys(), mentions.unreadable)
    document = Document(
        id_,
        producer=mentions.producer,
        unit=unit,
        forms=table.forms if unit == "token" else None,
        token_ids=tuple(table.rows) if unit == "token" else None,
        mentions=tuple(mentions.by_id.values()),
        links=links,
    )
    mention_lines = LinesExcept(first, mentions.others, len(document.mentions))
    return document.at(Places(line, mention_lines, links=compact_lines(link_lines)), DECLARED)


class _Mentions:
    """Mention lines of a document, read one after another. A line that cannot be read is reported and left out."""

    def __init__(
        self,
        document: str,
        unit: Unit,
        region: Callable[[str], Region],
        table: Mapping[str, int],
        clusters: Mapping[str, str],
        file: str,
        context: Context,
    ) -> None:
        self.by_id: dict[str, Mention] = {}
        self.producer: str | None = None
        """The system id of the last line."""
        self.unreadable: set[str] = set()
        """Ids in lines that were left out."""
        self.others = array("I")
        """Lines without a mention."""
        self._document, self._unit, self._clusters = document, unit, clusters
        self._table = table if unit == "token" else {}
        self._region = region
        self._file, self._context = file, context

    def read(self, lines: Iterable[str], first: int) -> None:
        """Read the lines that have mentions; `first` is the number of the first line."""
        document, by_id, clusters, region = self._document, self.by_id, self._clusters, self._region
        skip = self.others.append
        producer = None
        for line, text in enumerate(lines, first):
            if text[:1] in OTHER_MARKS:
                skip(line)
                continue
            columns = text.split("\t")
            confidence: tuple[str, ...] = ()
            if len(columns) != COLUMN_COUNT:
                if len(columns) < COLUMN_COUNT:
                    self._warn(COLUMNS, line, _few_columns(columns), found=None if len(columns) == 1 else "")
                    self.unreadable.update(text.split()[2:3])
                    skip(line)
                    continue
                confidence = tuple(columns[COLUMN_COUNT:])
                del columns[COLUMN_COUNT:]
            producer, named, id_, written, words, type_, realis = columns
            if named != document and named.strip() != document:
                message = f"a mention of document {quoted(named)} in the block of {quoted(document)}"
                self._warn(OTHER_DOCUMENT, line, message, found=named)
                self.unreadable.add(id_.strip())
                skip(line)
                continue
            if not id_ or id_ in by_id or id_ != id_.strip():
                id_ = self._usable_id(line, id_)
            try:
                span = region(written)
            except (ValueError, KaratError) as error:
                finding = SPAN.at(_span_problem(written, self._unit))
                if isinstance(error, KaratError):  # a token that cannot be projected
                    finding = error.finding
                finding = finding._replace(file=self._file, line=line, found=written)
                span = (self._context.misplaced(finding, written),)
            if self._table:
                self._check_tokens(line, written)
            if len(span) > 1 and (merged := union(span)) != span:
                self._warn(MERGED, line, f"overlapping segments in the span {quoted(written)}", found=written)
                span = merged
            if not id_:
                self.unreadable.add(id_)
                skip(line)
                continue
            # By position, as this is done for every line: head, extent and anchor are unknown, and the kind is event.
            by_id[id_] = Mention(
                id_,
                span,
                None,
                None,
                None,
                "event",
                clusters.get(id_),
                _attributes(type_, realis),
                words or None,
                confidence,
                None,
                EMPTY,
                EMPTY,
            )
        self.producer = producer

    def _usable_id(self, line: int, written: str) -> str:
        """The id without blanks around it; empty if it cannot be used."""
        id_ = written.strip()
        if id_ != written:
            self._warn(TRIMMED, line, f"blanks around the mention id {quoted(written)}", found=written)
        if id_ in self.by_id:
            self._warn(TWICE, line, f"mention id {quoted(id_)} was already used in this document", found=id_)
            return ""
        if not id_:
            self._warn(COLUMNS, line, "a mention without an id")
        return id_

    def _check_tokens(self, line: int, span: str) -> None:
        """Report token ids that the table of the document lacks."""
        for token in map(str.strip, span.split(",")):
            if token not in self._table:
                message = f"token {quoted(token)} is not in the table of {quoted(self._document)}"
                self._warn(NO_ROW, line, message, found=token)

    def _warn(self, rule: Rule, line: int, message: str, *, found: str | None = None) -> None:
        self._context.report(rule.at(message, file=self._file, line=line, found=found))


def _few_columns(columns: list[str]) -> str:
    line = "\t".join(columns)
    count = f"{len(columns)} column{'s' * (len(columns) > 1)}, expected at least 7"
    blanks = " (blanks instead of tabs)" if len(columns) == 1 and len(line.split()) >= 7 else ""
    return f"{count}{blanks}: {quoted(line)}"


@lru_cache(maxsize=4096)  # mentions share them
def _attributes(type_: str, realis: str) -> dict[str, Value]:
    return {name: value for name, value in (("type", type_), ("realis", realis)) if value}


@lru_cache(maxsize=4096)  # the two sides of a document are read one after the other, and share most spans
def _char_span(text: str) -> Region:
    """Segments `begin,end` joined by `;`, in order; a ValueError if it is anything else."""
    if ";" not in text:
        return (_segment(text),)
    return tuple(sorted(map(_segment, text.split(";"))))


def _segment(text: str) -> tuple[int, int]:
    match = SEGMENT.fullmatch(text)
    if match is not None:
        segment = int(match[1]), int(match[2])
        if segment[0] < segment[1]:
            return segment
    raise ValueError(text)


def _projection(table: TokenTable) -> Callable[[str], Region]:
    """Return a function from token ids joined by `,` to their characters."""
    places = char_places(table)
    return lambda text: char_span([token.strip() for token in text.split(",")], table, places)


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
        match = SEGMENT.fullmatch(segment)
        if match is None:
            break
        begin, end = map(int, match.groups())
        if begin >= end:
            what = "empty" if begin == end else "reversed"
            return f"the segment {quoted(segment)} of the span {quoted(text)} is {what}"
    return f"the span {quoted(text)} is not made of begin,end pairs of whole numbers"


class _Relations:
    """Relation lines of a document: clusters at once, links when the mentions are known."""

    def __init__(self, document: str, file: str, report: Report) -> None:
        self.cluster_of: dict[str, str] = {}
        self._document, self._file, self._report = document, file, report
        self._lines: list[tuple[int, str, str | None, list[str]]] = []
        """The lines that are read: number, name, kind of link, and arguments."""
        self._clusters: set[str] = set()
        self._times: dict[str, int] = {}

    def read(self, lines: Iterable[str], first: int) -> None:
        """Read the lines that have relations; `first` is the number of the first line."""
        for line, text in enumerate(lines, first):
            if text[:1] != "@":
                continue
            columns = text.split("\t")
            if len(columns) != 3:
                message = f"a relation line with {len(columns)} column{'s' * (len(columns) > 1)}, expected 3"
                self._warn(RELATION, line, f"{message}: {quoted(text)}")
                continue
            mark, id_, listed = columns
            name = mark[1:].lstrip()
            arguments = listed.split(",")
            if " " in listed:
                trimmed = [argument.strip() for argument in arguments]
                if trimmed != arguments:
                    self._warn(TRIMMED, line, f"blanks around ids in {quoted(listed)}")
                arguments = trimmed
            kind = None
            if name == "Coreference":
                self._cluster(line, id_.strip(), arguments)
            elif (kind := self._kind(line, name, arguments)) is None:
                continue
            self._lines.append((line, name, kind, arguments))

    def _kind(self, line: int, name: str, arguments: list[str]) -> str | None:
        """The kind of links that a line is read as, or None; whatever TAC's scorer does not read is reported."""
        kind = link_kind(name)
        if kind is None:
            self._warn(UNKNOWN_RELATION, line, f"unknown relation @{name}, ignored", found=name)
        elif len(arguments) != 2:
            listed, count = ",".join(arguments), f"{len(arguments)} argument{'s' * (len(arguments) > 1)}"
            if name in TAC_LINKS:
                self._warn(RELATION, line, f"@{name} with {count}, expected 2: {quoted(listed)}", found=listed)
            else:
                message = f"@{name} with {count} is not read, expected 2: {quoted(listed)}"
                self._warn(NO_PAIR, line, message, found=listed)
            return None
        elif kind not in ACYCLIC:
            message = f"unknown relation @{name}, read as links of kind {quoted(kind)}"
            self._warn(UNKNOWN_RELATION, line, message, found=name)
        return kind

    def links(self, known: Set[str], unreadable: Set[str]) -> tuple[tuple[Link, ...], list[int]]:
        """The links between known mentions, and their lines; a name that is not known or unreadable is reported."""
        links: list[Link] = []
        lines: list[int] = []
        unknown = {*chain.from_iterable([arguments for _, _, _, arguments in self._lines])} - known
        for line, name, kind, arguments in self._lines:
            if unknown and not unknown.isdisjoint(arguments):
                for argument in arguments:
                    if argument in unknown and argument not in unreadable:
                        message = f"@{name} names {quoted(argument)}, which is not a mention of document"
                        self._warn(DANGLING, line, f"{message} {quoted(self._document)}", found=argument)
            elif kind is not None:
                links.append(Link(kind, arguments[0], arguments[1]))
                lines.append(line)
        return tuple(links), lines

    def _cluster(self, line: int, id_: str, arguments: list[str]) -> None:
        if len(arguments) == 1:
            self._warn(SINGLETON, line, f"@Coreference with one mention, {quoted(arguments[0])}")
        if len(set(arguments)) < len(arguments):
            for argument, count in Counter(arguments).items():
                if count > 1:
                    self._warn(REPEATED, line, f"@Coreference names {quoted(argument)} {count} times", found=argument)
        cluster = self._new_cluster(id_)
        for argument in arguments:
            if self.cluster_of.setdefault(argument, cluster) != cluster:
                message = (
                    f"mention {quoted(argument)} is in two @Coreference lines of document {quoted(self._document)}"
                )
                self._warn(OVERLAPPING, line, message, found=argument)

    def _new_cluster(self, id_: str) -> str:
        """The corpus-wide id of a cluster: the line's id qualified by the document, and numbered if it is repeated."""
        cluster, count = qualified(self._document, id_), self._times.get(id_, 1)
        while cluster in self._clusters:
            count += 1
            cluster = qualified(self._document, f"{id_}#{count}")
        self._clusters.add(cluster)
        self._times[id_] = count
        return cluster

    def _warn(self, rule: Rule, line: int, message: str, *, found: str | None = None) -> None:
        self._report(rule.at(message, file=self._file, line=line, found=found))


@lru_cache  # names are few
def link_kind(name: str) -> str | None:
    """The kind of links that a relation is read as; other spellings of TAC's relations are ignored, as TAC does."""
    kind = name.strip().lower()
    is_respelt = kind.capitalize() in TAC_LINKS and name not in TAC_LINKS
    return None if not kind or kind.startswith("coref") or is_respelt else kind


def write(document: Document, options: WriteOptions, report_loss: ReportLoss) -> bytes:
    """Write one block; report what TBF cannot hold."""
    from karat.formats import _tbf_writer

    return _tbf_writer.write(document, options, report_loss)


FORMAT = Format(
    title="TAC event nuggets",
    about=__doc__,
    suffixes=(".tbf",),
    protocols=("tac-2017",),
    sniff=sniff,
    read=read,
    marker=Marker(pattern=MARKER),
    write=write,
    global_ids="none",
)
