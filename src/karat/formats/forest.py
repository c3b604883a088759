"""Forests: conceptual event hierarchies as trees in parentheses, one document per line (Araki et al. 2014, Table 1).

    #kind subevent
    doc1<TAB>({E6,E7}(E4)(E8(E9))) (E20)

A line is `docid<TAB>trees`, or just trees; the id of the document is then the number of the line. A node is a mention
or a set of coreferent mentions. A child is inside its parent, and blanks have no meaning. `#kind` names the kind of
links in the lines that follow (default: subevent), so a document has one line per kind. `# ` begins a comment.

A line that ends in `;` is read as Newick, where children come before their parent: `((6)2,(7)3,4,5)1;` is
`(1(2(6))(3(7))(4)(5))`. Every node needs a name; branch lengths, quoted names and Newick's comments are refused.
"""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from karat.formats._forest_writer import MARKS, SUBEVENT, plan, write
from karat.formats._text import DOCUMENT_TWICE, REPEATED, TRIMMED, decode
from karat.model import Cluster, Declared, Document, Link, Mention, Places, compact_lines, nodes_of, qualified
from karat.plugin.formats import Context, Format, Marker, Piece, ReadOptions
from karat.problems import KaratError, Report, Rule, quoted

STRUCTURE = Rule(
    "forest-structure",
    "fatal",
    "Write docid<TAB>(1(2(6))(3)) (8): a node, then its children, each in parentheses; or Newick, with a semicolon "
    "after each tree: ((6)2,3)1; 8;",
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
MARKER = re.compile(
    rb"(?m:^)(?P<header>#\S[^\n]*)|(?!(?m:^)#)(?:(?P<id>[^\s(](?:[^\t\n]*\S)?)[^\S\n\t]*\t[^\n]*|\S[^\n]*)"
)
_BEGINNING = re.compile(
    rb"\s*(?:#(?:kind\s|\s)[^\n]*\n\s*)*(?:[^\t\n(#][^\t\n]*\t)?[ \t]*"
    rb"\((?:[ \t]*(?:[^\s(){},]+|\{[^(){}\n]+\})[ \t]*[()]|[^\t\n;]*\)[^\t\n;()]*;)"
)
_TOKEN = re.compile(r"\{[^(){}]*\}|[(){},]|[^\s(){},]+")
_NEWICK_TOKEN = re.compile(r"\{[^(){};]*\}|[(){},;]|[^\s(){},;]+")
_NEWICK_EXTRA = re.compile(r"['\[\]]|:[-+.\deE]*$")
"""Parts of Newick that have no meaning here: quotes, comments and branch lengths."""


def sniff(head: bytes) -> bool:
    """After comments and #kind, the first line has a tree, or an id, a tab and a tree."""
    return _BEGINNING.match(head) is not None


class _Line(NamedTuple):
    """One forest of a document, and the kind of its links."""

    line: int
    kind: str
    text: str


def read(piece: Piece, context: Context) -> Iterator[Document]:
    """The mentions, nodes and links of all lines of a document; it is given twice if two of them are of one kind."""
    times: Counter[str] = Counter()
    given: dict[int, list[_Line]] = {}
    for part in (piece, *piece.more):
        for line in _lines(part, context.report):
            given.setdefault(times[line.kind], []).append(line)
            times[line.kind] += 1
    for time, lines in given.items():
        first = lines[0].line
        if time:
            message = f"document {quoted(piece.id)} was already given in {piece.name}, line {given[0][0].line}"
            context.report(DOCUMENT_TWICE.at(message, file=piece.name, line=first, found=piece.id))
        reader = _Reader(piece.id, piece.name, context.report)
        try:
            for line in lines:
                reader.read(line)
        except KaratError as error:
            context.report(error.finding)
            continue
        document = reader.document(first, context.options)
        if not time:
            yield document


def _lines(piece: Piece, report: Report) -> Iterator[_Line]:
    """The lines of a piece that have trees; lines that begin with # are before and after them."""
    kind = piece.header.decode("utf-8", "replace")
    with suppress(KaratError):  # reported with the document before it
        kind = _kind(kind, SUBEVENT, piece.name, piece.line)
    for line, data in enumerate(piece.data.split(b"\n"), piece.line):
        if not data or data.isspace():
            continue
        text = decode(data, file=piece.name, line=line)
        if text[0] != "#":
            yield _Line(line, kind, text)
            continue
        try:
            kind = _kind(text, kind, piece.name, line)
        except KaratError as error:
            report(error.finding)


def _kind(text: str, current: str, file: str, line: int) -> str:
    """The kind of the lines after a line that begins with #."""
    mark, _, name = text.strip().partition(" ")
    if mark in ("", "#") or text[1].isspace():
        return current
    name = name.strip()
    if mark != KIND or not name or any(blank in name for blank in " \t"):
        raise DIRECTIVE.error(f"found {quoted(text.strip())}, expected {KIND} NAME", file=file, line=line)
    return name


class _Node(NamedTuple):
    """A node as written; an event is named by one of its mentions."""

    line: int
    kind: str
    event: str
    parent: str | None
    """None: it is the root of a tree."""


class _Subtree(NamedTuple):
    """The mentions of a node, and what is below it."""

    node: list[str]
    below: "list[_Subtree]"


Token = tuple[str, int]
"""A part of a line, and the number of its first character, from 1."""


class _Reader:
    """Reads the trees of a document line by line, and then joins what they say."""

    def __init__(self, document: str, file: str, report: Report) -> None:
        self._document, self._file, self._report = document, file, report
        self._root: dict[str, str] = {}
        """For each mention, a mention of the same event; itself for the one that represents the event."""
        self._kinds: set[str] = set()
        self._nodes: list[_Node] = []
        self._lines: dict[str, int] = {}
        """For each mention, the line of its first node."""

    def read(self, row: _Line) -> None:
        """Read the trees of one line."""
        line, kind, text = row
        self._kinds.add(kind)
        is_newick = text.rstrip().endswith(";")
        pattern = _NEWICK_TOKEN if is_newick else _TOKEN
        tokens = ((match[0], match.start() + 1) for match in pattern.finditer(text, self._begin(line, text)))
        if is_newick:
            self._read_newick(row, tokens)
        else:
            self._read_trees(row, tokens)

    def _read_trees(self, row: _Line, tokens: Iterator[Token]) -> None:
        """Read nodes that come before their children."""
        path: list[str] = []
        for token, column in tokens:
            if token == "(":
                node = self._node(row, *next(tokens, ("", 0)))
                self._add(row, node, path[-1] if path else None)
                path.append(node[0])
            elif token == ")" and path:
                path.pop()
            else:
                what = "closes nothing" if token == ")" else "is outside a node"
                raise self._error(row, f"{quoted(token)} (character {column}) {what}", column)
        if path:
            count = "1 parenthesis is" if len(path) == 1 else f"{len(path):,} parentheses are"
            raise self._error(row, f"{count} not closed; the last one is that of {quoted(path[-1])}")

    def _read_newick(self, row: _Line, tokens: Iterator[Token]) -> None:
        """Read nodes that come after their children; they are added in the order of `_read_trees`."""
        levels: list[list[_Subtree]] = [[]]
        awaits_node = True
        for token, column in tokens:
            if awaits_node and token == "(":
                levels.append([])
            elif awaits_node or (token == ")" and len(levels) > 1):
                below: list[_Subtree] = []
                if not awaits_node:
                    below, (token, column) = levels.pop(), next(tokens)  # the last token is a semicolon
                if token == ";":
                    raise self._error(row, f"expected the name of a node, found ';' (character {column})", column)
                if _NEWICK_EXTRA.search(token):
                    message = f"{quoted(token)} (character {column}) has a branch length, quotes or a comment"
                    raise self._error(row, f"{message}, which are not read", column)
                levels[-1].append(_Subtree(self._node(row, token, column), below))
                awaits_node = False
            elif token == ("," if len(levels) > 1 else ";"):
                awaits_node = True
            else:
                wrong = {")": "closes nothing", ";": "ends a tree that is not closed", ",": "is outside a tree"}
                what = wrong.get(token, "follows a node, but in Newick (the line ends in ';') children come first")
                raise self._error(row, f"{quoted(token)} (character {column}) {what}", column)
        left: list[tuple[_Subtree, str | None]] = [(tree, None) for tree in reversed(levels[0])]
        while left:
            (node, below), parent = left.pop()
            self._add(row, node, parent)
            left += [(tree, node[0]) for tree in reversed(below)]

    def _add(self, row: _Line, node: list[str], parent: str | None) -> None:
        """Add a node; `parent` is a mention of its parent."""
        self._join(node)
        for id_ in node:
            self._lines.setdefault(id_, row.line)
        self._nodes.append(_Node(row.line, row.kind, node[0], parent))

    def _begin(self, line: int, text: str) -> int:
        """The place in a line at which its trees begin, after the id of the document."""
        before, tab, _ = text.partition("\t")
        if before.lstrip().startswith("(") or (text.rstrip().endswith(";") and not tab and "(" not in text):
            return 0
        id_ = before.strip()
        if not tab or not id_:
            what = "an empty document id" if tab else "neither a tab after a document id nor a tree"
            raise STRUCTURE.error(f"{what}: {quoted(text.strip())}", file=self._file, line=line)
        if before != id_:
            self._warn(TRIMMED, line, f"blanks around the document id {quoted(before)}")
        return len(before) + 1

    def _node(self, row: _Line, token: str, column: int) -> list[str]:
        """The mentions of a node: one, or a set in braces."""
        if not token or token in "(),":
            actual = f"{quoted(token)} (character {column})" if token else "the end of the line"
            raise self._error(row, f"expected a node, found {actual}", column)
        if token[0] not in MARKS:
            return [token]
        ids = [id_.strip() for id_ in token[1:-1].split(",")]
        if any(len(id_.split()) != 1 for id_ in ids):
            raise self._error(row, f"expected a set of mentions such as {{E6,E7}} at character {column}", column)
        for id_, count in Counter(ids).items():
            if count > 1:
                self._warn(REPEATED, row.line, f"a node names {quoted(id_)} {count} times")
        return list(dict.fromkeys(ids))

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

    def document(self, line: int, options: ReadOptions) -> Document:
        """The document, which begins in this line. A link joins events: clusters, or single mentions."""
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
            Link(node.kind, cluster_of.get(node.parent, node.parent), cluster_of.get(node.event, node.event)): node.line
            for node in nodes
            if node.parent is not None
        }
        document = Document(
            self._document,
            unit=options.unit or "char",
            mentions=tuple(Mention(id_, (), cluster=cluster_of.get(self._event(id_))) for id_ in self._root),
            clusters=tuple(Cluster(cluster_of[event], attributes=dict(counts)) for event, counts in repeated.items()),
            links=tuple(links),
        )
        mention_lines = compact_lines([self._lines[id_] for id_ in self._root])
        places = Places(line, mention_lines, links=compact_lines([*links.values()]))
        return document.at(places, Declared(kinds=("event",), links=self._kinds))

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

    def _error(self, row: _Line, message: str, column: int = 0) -> KaratError:
        """A broken line; it is shown from `column` on, if there is one, else at its end."""
        message = f"document {quoted(self._document)}: {message}"
        return STRUCTURE.error(message, file=self._file, line=row.line, found=row.text[column - 1 :] if column else "")


FORMAT = Format(
    title="event hierarchies as trees in parentheses",
    about=__doc__,
    suffixes=(".forest",),
    unit="none",
    protocols=("araki-2014",),
    sniff=sniff,
    read=read,
    marker=Marker(pattern=MARKER, joins=True),
    write=write,
    plan=plan,
    global_ids="none",
)
