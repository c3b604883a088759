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

import functools
from collections import Counter
from collections.abc import Callable, Container, Iterator
from typing import BinaryIO

from karat.errors import Item, KaratError, Report, Rule
from karat.formats import Block, Options
from karat.formats._files import decode
from karat.formats._rules import DANGLING, MERGED, TWICE
from karat.formats._tokens import TokenTables, number
from karat.model import Document, Link, Mention, Region, Unit, Value, qualified
from karat.regions import runs, union

TITLE = "TAC event nuggets"
SUFFIXES = (".tbf",)
PROTOCOLS = ("tac-2017",)

BEGIN, END = b"#BeginOfDocument", b"#EndOfDocument"
COMMENT = b"#"[0]
MARKS = frozenset(b"# \t\r\v\f")  # a line that begins otherwise neither opens nor closes a document
LINK_KINDS = {"After": "after", "Subevent": "subevent"}
# Every TBF mention has these columns, so they are there to be scored even where a file has no mention.
ATTRIBUTES = frozenset({("event", "type"), ("event", "realis")})

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
REPEATED = Rule("member-twice", "fault", "Name each mention once; it is a member once.")
SINGLETON = Rule("cluster-of-one", "note", "Nothing to do: a mention in no line is a cluster of its own anyway.")
TRIMMED = Rule("id-trimmed", "note", "Nothing to do; write ids without blanks to be rid of this note.")
UNWRITABLE = Rule(
    "tbf-unwritable", "fatal", "Rename it: TBF separates columns by tabs, arguments by commas, lines by line ends."
)
NO_ROW = Rule("token-unknown", "note", "It still matches the same id on the other side; check the table otherwise.")


def sniff(head: bytes) -> bool:
    """A TBF file begins its first document early on."""
    return BEGIN in head


def blocks(stream: BinaryIO, file: str) -> Iterator[Block]:
    """The lines between each #BeginOfDocument and its #EndOfDocument."""
    id_, start, first, line = None, 0, 0, 0
    offset = stream.tell()
    for line, data in enumerate(stream, 1):
        after = offset + len(data)
        if data[0] in MARKS:
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
                yield Block(id_, start, offset - start, first, ATTRIBUTES)
                id_ = None
        if id_ is None and data[0] != COMMENT and not data.isspace():
            text = data[:40].decode("utf-8", "replace").strip()
            raise STRUCTURE.error(f"a line outside a document: {text!r}", file=file, line=line)
        offset = after
    if id_ is not None:
        raise _not_closed("the file ends", id_, first, file, line)


def _not_closed(found: str, id_: str, first: int, file: str, line: int) -> KaratError:
    return STRUCTURE.error(f"{found} before #EndOfDocument of {id_!r} (begun in line {first})", file=file, line=line)


def parse(data: bytes, block: Block, options: Options, file: str, report: Report) -> Document:
    """The mentions, clusters and links of one block."""
    unit: Unit = options.unit or ("char" if options.tokens is None else "token")
    line = block.line

    def tell(rule: Rule, message: str) -> None:
        report(rule.at(message, file=file, line=line))

    read_span = _char_span if unit == "char" else _token_reader(block.id, options.tokens, tell, report)
    lines = _lines(decode(data, file=file, line=block.line + 1), block.line + 1)
    relations = _Relations(block.id, file, report)
    for line, text in lines:
        if text[0] == "@":
            relations.read(line, text[1:].lstrip())
    mentions: dict[str, Mention] = {}
    producer = None
    for line, text in lines:
        if text[0] == "@":
            continue
        try:
            producer, document, id_, where, words, type_, realis, *confidence = text.split("\t")
        except ValueError:
            raise COLUMNS.error(_few_columns(text), file=file, line=line) from None
        if document.strip() != block.id:
            found = f"a mention of document {document!r} in the block of {block.id!r}"
            raise OTHER_DOCUMENT.error(found, file=file, line=line)
        if id_ != (trimmed := id_.strip()):
            tell(TRIMMED, f"blanks around the mention id {id_!r}")
            id_ = trimmed
        if id_ in mentions or not id_:
            found = f"mention id {id_!r} was already used in this document" if id_ else "a mention without an id"
            raise TWICE.error(found, file=file, line=line)
        try:
            span = read_span(where)
        except ValueError:
            raise SPAN.error(_span_problem(where, unit), file=file, line=line) from None
        if len(span) > 1 and (merged := union(span)) != span:
            tell(MERGED, f"overlapping segments in the span {where!r}")
            span = merged
        attributes: dict[str, Value] = {"type": type_, "realis": realis}
        if not (type_ and realis):
            attributes = {name: value for name, value in attributes.items() if value}
        cluster = relations.cluster_of.get(id_)
        mentions[id_] = Mention(
            id_, span, None, None, None, "event", cluster, attributes, words or None, tuple(confidence)
        )
    links = relations.links(mentions)
    return Document(block.id, producer=producer, unit=unit, mentions=tuple(mentions.values()), links=links)


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


def _lines(text: str, first: int) -> list[tuple[int, str]]:
    """Mention and relation lines with their numbers."""
    lines = enumerate(map(str.strip, text.split("\n")), first)
    return [(line, bare) for line, bare in lines if bare and bare[0] != "#"]


def _few_columns(line: str) -> str:
    columns = line.split("\t")
    found = f"{len(columns)} column{'s' * (len(columns) > 1)}, expected at least 7"
    blanks = " (there are blanks where tabs belong)" if len(columns) == 1 and len(line.split()) >= 7 else ""
    return f"{found}{blanks}: {line[:60]!r}"


def _char_span(text: str) -> Region:
    """Segments `begin,end` joined by `;`, in order; a ValueError if it is anything else."""
    begin, _, end = text.partition(",")
    if begin.isdecimal() and end.isdecimal():
        segment = int(begin), int(end)
        if segment[0] < segment[1]:
            return (segment,)
    elif ";" in text or text != text.strip() or " " in text:
        return tuple(sorted(_char_span(part.replace(" ", ""))[0] for part in text.split(";")))
    raise ValueError(text)


def _token_reader(
    document: str, folder: str | None, tell: Callable[[Rule, str], None], report: Report
) -> Callable[[str], Region]:
    """How token spans of a document are read: each id is a row of its table."""
    table = _tables(folder).table(document, report)

    def read(text: str) -> Region:
        tokens = [token.strip() for token in text.split(",")]
        if not all(tokens):
            raise ValueError(text)
        for token in tokens:
            if table and token not in table:
                tell(NO_ROW, f"token {token!r} is not in the table of {document!r}")
        return runs(number(token, table) for token in tokens)

    return read


@functools.cache
def _tables(folder: str | None) -> TokenTables:
    return TokenTables(folder)


def _span_problem(text: str, unit: Unit) -> str:
    if unit == "token":
        return f"the span {text!r} has an empty token id"
    for segment in text.split(";"):
        numbers = segment.split(",")
        if len(numbers) != 2 or not all(part.strip().isdecimal() for part in numbers):
            return f"the span {text!r} is not made of begin,end pairs of whole numbers"
        if int(numbers[0]) >= int(numbers[1]):
            return f"the segment {segment!r} of span {text!r} is empty"
    return f"the span {text!r} cannot be read"


class _Relations:
    """Relation lines of a document: first their shape and the clusters, then the links, once mentions are known."""

    def __init__(self, document: str, file: str, report: Report) -> None:
        self.cluster_of: dict[str, str] = {}
        self._document, self._file, self._report = document, file, report
        self._lines: list[tuple[int, str, list[str]]] = []
        self._clusters: set[str] = set()

    def read(self, line: int, text: str) -> None:
        """Take one line, without its @."""
        columns = text.split("\t")
        if len(columns) != 3:
            raise self._wrong(line, f"a relation line with {len(columns)} columns, expected 3: {'@' + text[:60]!r}")
        name, id_, listed = columns
        arguments = listed.split(",")
        if " " in listed:
            trimmed = [argument.strip() for argument in arguments]
            if trimmed != arguments:
                self._tell(TRIMMED, line, f"blanks around ids in {listed!r}")
            arguments = trimmed
        least, most = (2, 2) if name in LINK_KINDS else (1 if name == "Coreference" else 2, len(arguments))
        if not least <= len(arguments) <= most:
            wanted = f"{least}" if most == least else f"{least} or more"
            raise self._wrong(line, f"@{name} with {len(arguments)} argument(s), expected {wanted}: {listed[:60]!r}")
        if name == "Coreference":
            self._cluster(line, id_.strip(), arguments)
        elif name not in LINK_KINDS:
            self._tell(UNKNOWN_RELATION, line, f"unknown relation @{name}")
            return
        self._lines.append((line, name, arguments))

    def links(self, known: Container[str]) -> tuple[Link, ...]:
        """The links between known mentions; what names an unknown one is reported and left out."""
        links: list[Link] = []
        for line, name, arguments in self._lines:
            unknown = [argument for argument in arguments if argument not in known]
            for argument in unknown:
                found = f"@{name} names {argument!r}, which is no mention of document {self._document!r}"
                self._tell(DANGLING, line, found)
            if name in LINK_KINDS and not unknown:
                links.append(Link(LINK_KINDS[name], *arguments))
        return tuple(links)

    def _cluster(self, line: int, id_: str, arguments: list[str]) -> None:
        if len(arguments) == 1:
            self._tell(SINGLETON, line, f"@Coreference with one mention, {arguments[0]!r}")
        if len(set(arguments)) < len(arguments):
            for argument, count in Counter(arguments).items():
                if count > 1:
                    self._tell(REPEATED, line, f"@Coreference names {argument!r} {count} times")
        cluster = self._new_cluster(id_)
        for argument in arguments:
            if self.cluster_of.setdefault(argument, cluster) != cluster:
                found = f"mention {argument!r} is in two @Coreference lines of document {self._document!r}"
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

    def _wrong(self, line: int, message: str) -> KaratError:
        return RELATION.error(message, file=self._file, line=line)


def write(document: Document, options: Options, lost: Callable[[str], None]) -> bytes:
    """One block; what TBF has no place for is told to `lost`."""
    _tell_losses(document, lost)
    mentions = [mention for mention in document.mentions if mention.kind == "event" and mention.span]
    span = _char_text if document.unit == "char" else _token_writer(document, options.tokens, lost)
    lines = [f"#BeginOfDocument {_cell(document.id, document)}"]
    for mention in mentions:
        columns = [
            _cell(document.producer or "karat", document),
            document.id,
            _cell(mention.id, document, also=","),
            span(mention.span),
            _words(mention, document, lost),
            _cell(str(mention.attributes.get("type", "")), document),
            _cell(_realis(mention, lost), document),
            *(_cell(confidence, document) for confidence in mention.confidence),
        ]
        lines.append("\t".join(columns))
    members = _members(mentions)
    for cluster, ids in members.items():
        if len(ids) > 1:
            name = _cell(cluster.removeprefix(qualified(document.id, "")), document)
            lines.append(f"@Coreference\t{name}\t{','.join(ids)}")
    names = {kind: name for name, kind in LINK_KINDS.items()}
    ends = {cluster: ids[0] for cluster, ids in members.items()} | {mention.id: mention.id for mention in mentions}
    for count, link in enumerate(document.links, 1):
        if link.kind in names and link.source in ends and link.target in ends:
            lines.append(f"@{names[link.kind]}\tR{count}\t{ends[link.source]},{ends[link.target]}")
        else:
            lost(f"links of kind {link.kind}")
    return "\n".join([*lines, "#EndOfDocument", ""]).encode("utf-8")


def _tell_losses(document: Document, lost: Callable[[str], None]) -> None:
    for field in ("topic", "subtopic", "source", "language", "text", "tokens"):
        if getattr(document, field) is not None:
            lost(f"the document's {field}")
    if document.clusters:
        lost("kinds and attributes of clusters")
    for mention in document.mentions:
        for field in ("head", "extent", "anchor"):
            if getattr(mention, field) is not None:
                lost(f"the {field} of mentions")
        if mention.kind != "event":
            lost(f"mentions of kind {mention.kind}")
        elif not mention.span:
            lost("mentions without a span")
        for name, value in mention.attributes.items():
            if name not in ("type", "realis"):
                lost(f"the attribute {name}")
            elif not isinstance(value, str):
                lost(f"that {name} is not text")


def _cell(text: str, document: Document, *, also: str = "") -> str:
    """Text that can stand in a column; anything that would be read back as something else is refused."""
    if any(mark in text for mark in "\t\n" + also) or text != text.strip():
        found = f"{text!r} in document {document.id!r} cannot stand in a TBF column"
        raise UNWRITABLE.error(found)
    return text


def _words(mention: Mention, document: Document, lost: Callable[[str], None]) -> str:
    text = mention.text
    if text is None and document.text is not None and document.unit == "char":
        text = " ".join(document.text[begin:end] for begin, end in mention.span)
    words = " ".join((text or "").split())
    if text is not None and words != text:
        lost("tabs, line ends and outer blanks of mentions' text")
    return words


def _realis(mention: Mention, lost: Callable[[str], None]) -> str:
    realis = mention.attributes.get("realis")
    if realis is None:
        lost("that mentions have no realis (written NOT_ANNOTATED)")
        return "NOT_ANNOTATED"
    return str(realis)


def _members(mentions: list[Mention]) -> dict[str, list[str]]:
    members: dict[str, list[str]] = {}
    for mention in mentions:
        if mention.cluster is not None:
            members.setdefault(mention.cluster, []).append(mention.id)
    return members


def _char_text(span: Region) -> str:
    return ";".join(f"{begin},{end}" for begin, end in span)


def _token_writer(document: Document, folder: str | None, lost: Callable[[str], None]) -> Callable[[Region], str]:
    """How token spans are written: by the ids of the document's table, else by row numbers."""
    table = _tables(folder).table(document.id, _silent)
    ids = {row: token for token, row in table.items()}
    if not table:
        lost("token ids (no token table: rows are written by number)")

    def text(span: Region) -> str:
        return ",".join(ids.get(row, str(row)) for begin, end in span for row in range(begin, end))

    return text


def _silent(finding: object) -> None:
    """A missing table is told as a loss."""
