"""Forests: conceptual event hierarchies as trees in parentheses, one document per line (Araki et al. 2014, Table 1).

    #kind subevent
    doc1<TAB>({E6,E7}(E4)(E8(E9))) (E20)

A line is `docid<TAB>trees`, or just trees; the id of the document is then the number of the line. A node is a mention
or a set of coreferent mentions. A child is inside its parent, and blanks have no meaning. `#kind` names the kind of
links in the lines that follow (default: subevent), so a document has one line per kind. `# ` begins a comment.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from karat.errors import KaratError, Report, Rule, quoted
from karat.formats._forest_writer import MARKS, SUBEVENT, plan, write
from karat.formats._rules import REPEATED, TRIMMED
from karat.formats._text import decode
from karat.model import Cluster, Document, Link, Mention, nodes_of, qualified
from karat.plugin.blocks import Block, BlockFormat, Contents, Locate
from karat.plugin.formats import Facts, ReadOptions

STRUCTURE = Rule(
    "forest-structure", "fatal", "Write docid<TAB>(1(2(6))(3)) (8): a node, then its children, each in parentheses."
)
DIRECTIVE = Rule(
    "forest-directive", "fatal", "Write #kind NAME before the lines of that kind; a comment begins with '# '."
)
TWO_NODES = Rule(
    "forest-node-twice",
    "fault",
    "Put each mention into one node. Nodes that share one are read as one event with all their links; NSTMp is null.",
)

KIND = "#kind"
_BEGINNING = re.compile(
    rb"\s*(?:#(?:kind\s|\s)[^\n]*\n\s*)*(?:[^\t\n(#][^\t\n]*\t)?[ \t]*\([ \t]*(?:[^\s(){},]+|\{[^(){}\n]+\})[ \t]*[()]"
)
_TOKEN = re.compile(r"[(){},]|[^\s(){},]+")


def sniff(head: bytes) -> bool:
    """After comments and #kind, the first line has a tree, or an id, a tab and a tree."""
    return _BEGINNING.match(head) is not None


class _Line(NamedTuple):
    """Where one forest of a document is, and the kind of its links."""

    offset: int
    length: int
    line: int
    kind: str


def blocks(stream: BinaryIO, file: str) -> Iterator[Block]:
    """Each document, with all its lines; one with two lines of a kind is given twice, as if in two files."""
    lines: dict[tuple[str, int], list[_Line]] = {}
    times: dict[tuple[str, str], int] = {}
    kind, offset = SUBEVENT, stream.tell()
    for line, data in enumerate(stream, 1):
        if data[:1] == b"#":
            kind = _kind(decode(data, file=file, line=line), kind, file, line)
        elif not data.isspace():
            id_ = _document_id(data, file, line)
            time = times[id_, kind] = times.get((id_, kind), -1) + 1
            lines.setdefault((id_, time), []).append(_Line(offset, len(data), line, kind))
        offset += len(data)
    for (id_, _), (first, *more) in lines.items():
        kinds = [first.kind, *(line.kind for line in more)]
        links = frozenset((name, "event", "event") for name in kinds)
        yield Block(
            *first[:3],
            id_,
            contents=Contents(kinds=frozenset({"event"}), links=links),
            context=None if kinds == [SUBEVENT] else "\n".join(kinds),
            more=tuple(line[:3] for line in more),
        )


def _kind(text: str, current: str, file: str, line: int) -> str:
    """The kind of the lines after a line that begins with #."""
    mark, _, name = text.strip().partition(" ")
    if mark == "#" or text[1].isspace():
        return current
    name = name.strip()
    if mark != KIND or not name or any(blank in name for blank in " \t"):
        raise DIRECTIVE.error(f"found {quoted(text.strip())}, expected {KIND} NAME", file=file, line=line)
    return name


def _document_id(data: bytes, file: str, line: int) -> str:
    before, tab, _ = data.partition(b"\t")
    if before.lstrip().startswith(b"("):
        return str(line)
    id_ = decode(before, file=file, line=line).strip()
    if not tab or not id_:
        what = "an empty document id" if tab else "neither a tab after a document id nor a tree"
        raise STRUCTURE.error(f"{what}: {quoted(decode(data, file=file, line=line).strip())}", file=file, line=line)
    return id_


def parse(data: bytes, block: Block, options: ReadOptions, file: str, report: Report) -> Document:
    """The mentions, nodes and links of all lines of a document."""
    reader = _Reader(block.id, file, report)
    for line, kind, text in _lines(data, block, file):
        trees = text
        if not text.lstrip().startswith("("):
            id_, _, trees = text.partition("\t")
            if id_ != id_.strip():
                report(TRIMMED.at(f"blanks around the document id {quoted(id_)}", file=file, line=line))
        reader.read(trees, line, kind, len(text) - len(trees))
    return reader.document(options)


def locator(data: bytes, block: Block) -> Locate:
    """Finds the line of the first node with a mention, or of the kind of a link."""
    mentions: dict[str, int] = {}
    kinds: dict[str, int] = {}
    for line, kind, text in _lines(data, block, ""):
        kinds.setdefault(kind, line)
        for token in _TOKEN.findall(text):
            mentions.setdefault(token, line)
    return lambda item: mentions.get(item) if isinstance(item, str) else kinds.get(item[0])


def _lines(data: bytes, block: Block, file: str) -> Iterator[tuple[int, str, str]]:
    """The number, the kind and the text of each line of a document."""
    numbers = [block.line, *(line for _, _, line in block.more)]
    kinds = (block.context or SUBEVENT).split("\n")
    begin = 0
    for line, kind, length in zip(numbers, kinds, [block.length, *(size for _, size, _ in block.more)], strict=True):
        yield line, kind, decode(data[begin : begin + length], file=file, line=line)
        begin += length


class _Node(NamedTuple):
    """A node as written; an event is named by one of its mentions."""

    line: int
    kind: str
    event: str
    parent: str | None
    """None: it is the root of a tree."""


class _Reader:
    """Reads the trees of a document line by line, and then joins what they say."""

    def __init__(self, document: str, file: str, report: Report) -> None:
        self._document, self._file, self._report = document, file, report
        self._root: dict[str, str] = {}
        """For each mention, a mention of the same event; itself for the one that represents the event."""
        self._nodes: list[_Node] = []

    def read(self, text: str, line: int, kind: str, before: int) -> None:
        """Read the trees of one line; `before` is the number of characters before them."""
        path: list[str] = []
        tokens = [(match[0], match.start() + before + 1) for match in _TOKEN.finditer(text)]
        at = 0
        while at < len(tokens):
            token, column = tokens[at]
            if token == "(":
                node, at = self._node(tokens, at + 1, line)
                self._join(node)
                self._nodes.append(_Node(line, kind, node[0], path[-1] if path else None))
                path.append(node[0])
            elif token == ")" and path:
                path.pop()
                at += 1
            else:
                what = "closes nothing" if token == ")" else "is outside a node"
                raise self._error(line, f"{quoted(token)} (character {column}) {what}")
        if path:
            count = "1 parenthesis is" if len(path) == 1 else f"{len(path):,} parentheses are"
            raise self._error(line, f"{count} not closed; the last one is that of {quoted(path[-1])}")

    def _node(self, tokens: list[tuple[str, int]], at: int, line: int) -> tuple[list[str], int]:
        """The mentions of the node that begins at a token, and the number of the token after it."""
        token, column = tokens[at] if at < len(tokens) else ("", 0)
        if token and token not in MARKS:
            return [token], at + 1
        if token != "{":
            actual = f"{quoted(token)} (character {column})" if token else "the end of the line"
            raise self._error(line, f"expected a node, found {actual}")
        end = next((number for number in range(at, len(tokens)) if tokens[number][0] == "}"), None)
        inner = [token for token, _ in tokens[at + 1 : end]]
        ids = inner[::2]
        if end is None or len(inner) % 2 == 0 or not MARKS.isdisjoint(ids) or {*inner[1::2]} - {","}:
            raise self._error(line, f"expected a set of mentions such as {{E6,E7}} at character {column}")
        for id_, count in Counter(ids).items():
            if count > 1:
                self._warn(REPEATED, line, f"a node names {quoted(id_)} {count} times")
        return list(dict.fromkeys(ids)), end + 1

    def _join(self, node: list[str]) -> None:
        """Join the mentions of a node, and nodes that share a mention, into one event."""
        first = self._event(node[0])
        for id_ in node[1:]:
            self._root[self._event(id_)] = first

    def _event(self, id_: str) -> str:
        """The mention that represents the event of a mention."""
        root = self._root
        while root.setdefault(id_, id_) != id_:
            root[id_] = id_ = root[root[id_]]
        return id_

    def document(self, options: ReadOptions) -> Document:
        """The document. A link joins events: clusters, or single mentions."""
        members: dict[str, list[str]] = {}
        for id_ in self._root:
            members.setdefault(self._event(id_), []).append(id_)
        nodes = [
            node._replace(event=self._event(node.event), parent=node.parent and self._event(node.parent))
            for node in self._nodes
        ]
        repeated = self._repeated(nodes, members) if len(nodes) > len(members) else {}
        cluster_of = {
            event: self._cluster(ids[0]) for event, ids in members.items() if len(ids) > 1 or event in repeated
        }
        links = {
            Link(node.kind, cluster_of.get(node.parent, node.parent), cluster_of.get(node.event, node.event)): None
            for node in nodes
            if node.parent is not None
        }
        return Document(
            self._document,
            unit=options.unit or "char",
            mentions=tuple(Mention(id_, (), cluster=cluster_of.get(self._event(id_))) for id_ in self._root),
            clusters=tuple(Cluster(cluster_of[event], attributes=dict(counts)) for event, counts in repeated.items()),
            links=tuple(links),
        )

    def _repeated(self, nodes: list[_Node], members: dict[str, list[str]]) -> dict[str, dict[str, int]]:
        """Events in more nodes of a kind than their links show, and in how many, as attributes of their clusters."""
        written: dict[tuple[str, str], list[_Node]] = {}
        for node in nodes:
            written.setdefault((node.kind, node.event), []).append(node)
        repeated: dict[str, dict[str, int]] = {}
        for (kind, event), places in written.items():
            parents = {node.parent for node in places} - {None}
            if len(places) > max(1, len(parents)):
                repeated.setdefault(event, {})[nodes_of(kind)] = len(places)
                message = f"event {quoted(','.join(members[event]))} of document {quoted(self._document)}"
                self._warn(TWO_NODES, places[-1].line, f"{message} is in {len(places):,} nodes of kind {kind}")
        return repeated

    def _cluster(self, first: str) -> str:
        """The corpus-wide id of a node, different from all mention ids."""
        cluster = qualified(self._document, first)
        while cluster in self._root:
            cluster += "'"
        return cluster

    def _warn(self, rule: Rule, line: int, message: str) -> None:
        self._report(rule.at(message, file=self._file, line=line))

    def _error(self, line: int, message: str) -> KaratError:
        return STRUCTURE.error(f"document {quoted(self._document)}: {message}", file=self._file, line=line)


FORMAT = BlockFormat(
    title="event hierarchies as trees in parentheses",
    about=__doc__,
    suffixes=(".forest",),
    unit="none",
    protocols=("araki-2014",),
    always=Facts(kinds=("event",)),
    sniff=sniff,
    blocks=blocks,
    parse=parse,
    locator=locator,
    write=write,
    plan=plan,
    local_clusters=True,
)
