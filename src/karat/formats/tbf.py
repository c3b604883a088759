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
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from functools import lru_cache, partial
from itertools import chain

from karat.errors import Item, KaratError, Report, Rule, quoted
from karat.formats._rules import DANGLING, MERGED, REPEATED, SINGLETON, TRIMMED, TWICE
from karat.formats._tbf_blocks import BEGIN, blocks
from karat.formats._tbf_writer import LINK_KINDS, write
from karat.formats._text import decode
from karat.formats._tokens import LONGEST, number
from karat.model import Document, Link, Mention, Region, Unit, Value, qualified
from karat.model.regions import runs, union
from karat.plugin.formats import Block, Format, Locate, ReadOptions

OTHER_MARKS = frozenset({"", "#", "@"})  # a line that begins so has no mention
COLUMN_COUNT = 7  # all but confidences
LONGEST_SEGMENT = 40  # two numbers of 18 digits, and blanks

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
    "relation-unknown", "note", "Known relations are Coreference, After and Subevent; the line is ignored."
)
NO_ROW = Rule(
    "token-unknown", "note", "It still matches the same id on the other side; check the table if it should be there."
)


def sniff(head: bytes) -> bool:
    """The first document begins near the beginning of the file."""
    return BEGIN in head


def parse(data: bytes, block: Block, options: ReadOptions, file: str, report: Report) -> Document:
    """The mentions, clusters and links of one block."""
    unit: Unit = options.unit or ("char" if options.tokens is None else "token")
    table: Mapping[str, int] = {} if options.tokens is None else options.tokens.table(block.id, report)
    first = block.line + 1
    try:
        decoded = decode(data, file=file, line=first)
    except KaratError as error:
        report(error.finding)
        decoded = data.decode("utf-8", "replace")
    lines = [*map(str.strip, decoded.split("\n"))]
    relations = _Relations(block.id, file, report)
    mark = decoded.find("@")
    if mark >= 0:  # relations usually come after all mentions
        before = decoded.count("\n", 0, mark)
        relations.read(lines[before:], first + before)
    mentions = _Mentions(block.id, unit, table, relations.cluster_of, file, report)
    mentions.read(lines, first)
    return Document(
        block.id,
        producer=mentions.producer,
        unit=unit,
        mentions=tuple(mentions.by_id.values()),
        links=relations.links(mentions.by_id.keys(), mentions.unreadable),
    )


def locator(data: bytes, block: Block) -> Locate:
    """Finds the line of a mention, or the first line that makes a link."""
    lines: dict[Item, int] = {}
    for line, text in enumerate(data.decode("utf-8", "replace").split("\n"), block.line + 1):
        columns = text.strip().split("\t")
        mark = columns[0][:1]
        if mark == "@" and len(columns) == 3:
            kind = LINK_KINDS.get(columns[0][1:].lstrip())
            ends = [argument.strip() for argument in columns[2].split(",")]
            if kind is not None and len(ends) == 2:
                lines.setdefault((kind, ends[0], ends[1]), line)
        elif mark not in ("#", "@") and len(columns) >= COLUMN_COUNT:
            lines.setdefault(columns[2].strip(), line)
    return lines.get


class _Mentions:
    """Mention lines of a document, read one after another. A line that cannot be read is reported and left out."""

    def __init__(
        self,
        document: str,
        unit: Unit,
        table: Mapping[str, int],
        clusters: Mapping[str, str],
        file: str,
        report: Report,
    ) -> None:
        self.by_id: dict[str, Mention] = {}
        self.producer: str | None = None
        """The system id of the last line."""
        self.unreadable: set[str] = set()
        """Ids in lines that were left out."""
        self._document, self._unit, self._clusters = document, unit, clusters
        self._table = table if unit == "token" else {}
        self._region = _char_span if unit == "char" else partial(_token_span, table=table)
        self._file, self._report = file, report

    def read(self, lines: Iterable[str], first: int) -> None:
        """Read the lines that have mentions; `first` is the number of the first line."""
        document, by_id, clusters, region = self._document, self.by_id, self._clusters, self._region
        producer = None
        for line, text in enumerate(lines, first):
            if text[:1] in OTHER_MARKS:
                continue
            columns = text.split("\t")
            confidence: tuple[str, ...] = ()
            if len(columns) != COLUMN_COUNT:
                if len(columns) < COLUMN_COUNT:
                    self._warn(COLUMNS, line, _few_columns(columns), found=None if len(columns) == 1 else "")
                    self.unreadable.update(text.split()[2:3])
                    continue
                confidence = tuple(columns[COLUMN_COUNT:])
                del columns[COLUMN_COUNT:]
            producer, named, id_, written, words, type_, realis = columns
            if named != document and named.strip() != document:
                message = f"a mention of document {quoted(named)} in the block of {quoted(document)}"
                self._warn(OTHER_DOCUMENT, line, message, found=named)
                self.unreadable.add(id_.strip())
                continue
            if not id_ or id_ in by_id or id_ != id_.strip():
                id_ = self._usable_id(line, id_)
            try:
                span = region(written)
            except ValueError:
                self._warn(SPAN, line, _span_problem(written, self._unit), found=written)
                self.unreadable.add(id_)
                continue
            if self._table:
                self._check_tokens(line, written)
            if len(span) > 1 and (merged := union(span)) != span:
                self._warn(MERGED, line, f"overlapping segments in the span {quoted(written)}", found=written)
                span = merged
            if not id_:
                self.unreadable.add(id_)
                continue
            attributes: dict[str, Value] = {"type": type_, "realis": realis}
            if not (type_ and realis):
                attributes = {name: value for name, value in attributes.items() if value}
            # By position, as this is done for every line: head, extent and anchor are unknown, and the kind is event.
            by_id[id_] = Mention(
                id_, span, None, None, None, "event", clusters.get(id_), attributes, words or None, confidence
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
        self._report(rule.at(message, file=self._file, line=line, found=found))


def _few_columns(columns: list[str]) -> str:
    line = "\t".join(columns)
    count = f"{len(columns)} column{'s' * (len(columns) > 1)}, expected at least 7"
    blanks = " (blanks instead of tabs)" if len(columns) == 1 and len(line.split()) >= 7 else ""
    return f"{count}{blanks}: {quoted(line)}"


@lru_cache(maxsize=4096)  # the two sides of a document are read one after the other, and share most spans
def _char_span(text: str) -> Region:
    """Segments `begin,end` joined by `;`, in order; a ValueError if it is anything else."""
    if ";" not in text:
        return (_segment(text),)
    return tuple(sorted(map(_segment, text.split(";"))))


def _segment(text: str) -> tuple[int, int]:
    begin, _, end = text.partition(",")
    if " " in text:
        begin, end = begin.strip(), end.strip()
    if begin.isdecimal() and end.isdecimal() and text.isascii() and len(text) <= LONGEST_SEGMENT:
        segment = int(begin), int(end)
        if segment[0] < segment[1]:
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
    """Relation lines of a document: clusters at once, links when the mentions are known."""

    def __init__(self, document: str, file: str, report: Report) -> None:
        self.cluster_of: dict[str, str] = {}
        self._document, self._file, self._report = document, file, report
        self._links: list[Link] = []
        self._lines: list[tuple[int, str, list[str]]] = []
        self._clusters: set[str] = set()
        self._times: dict[str, int] = {}

    def read(self, lines: Iterable[str], first: int) -> None:
        """Read the lines that have relations; `first` is the number of the first line."""
        made, read = self._links, self._lines
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
            if name in LINK_KINDS:
                if len(arguments) != 2:
                    self._report_miscounted(line, name, listed, "2")
                    continue
                made.append(Link(LINK_KINDS[name], arguments[0], arguments[1]))
            elif name == "Coreference":
                self._cluster(line, id_.strip(), arguments)
            elif len(arguments) < 2:
                self._report_miscounted(line, name, listed, "2 or more")
                continue
            else:
                self._warn(UNKNOWN_RELATION, line, f"unknown relation @{name}", found=name)
                continue
            read.append((line, name, arguments))

    def links(self, known: Set[str], unreadable: Set[str]) -> tuple[Link, ...]:
        """The links between known mentions; a name that is neither known nor unreadable is reported."""
        if known >= {*chain.from_iterable([arguments for _, _, arguments in self._lines])}:
            return tuple(self._links)
        for line, name, arguments in self._lines:
            for argument in arguments:
                if argument not in known and argument not in unreadable:
                    message = f"@{name} names {quoted(argument)}, which is not a mention of document"
                    self._warn(DANGLING, line, f"{message} {quoted(self._document)}", found=argument)
        return tuple([link for link in self._links if link.source in known and link.target in known])

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

    def _report_miscounted(self, line: int, name: str, listed: str, wanted: str) -> None:
        count = listed.count(",") + 1
        message = f"@{name} with {count} argument{'s' * (count > 1)}, expected {wanted}"
        self._warn(RELATION, line, f"{message}: {quoted(listed)}", found=listed)


FORMAT = Format(
    title="TAC event nuggets",
    about=__doc__,
    suffixes=(".tbf",),
    protocols=("tac-2017",),
    sniff=sniff,
    blocks=blocks,
    parse=parse,
    locator=locator,
    write=write,
    local_clusters=True,
)
