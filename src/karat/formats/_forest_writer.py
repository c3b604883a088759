"""Writing forests: one node per event, one line per kind of link; what trees cannot hold is reported or refused."""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from karat.formats._writing import members, report_document, report_regions
from karat.model import Document, nodes_of
from karat.plugin.formats import ReportLoss, WriteOptions
from karat.problems import Rule, quoted

SUBEVENT = "subevent"
"""The kind of links if a file names none."""
MARKS = frozenset("(){},")
Children = dict[str, dict[str, None]]

UNWRITABLE = Rule(
    "forest-unwritable",
    "fatal",
    "Rename it: mention ids have no blanks and none of (){}, document ids have no tab and do not start with # or (.",
)
CYCLE = Rule("forest-cycle", "fatal", "Remove or reverse one of these links; trees cannot hold a cycle.")


def plan(documents: Iterable[Document], options: WriteOptions, report_loss: ReportLoss) -> WriteOptions:
    """If all links are subevents, no line has to name their kind."""
    del report_loss
    kinds = {kind for document in documents for kind in _kinds(document)}
    return replace(options, plain=kinds <= {SUBEVENT})


def write(document: Document, options: WriteOptions, report_loss: ReportLoss) -> bytes:
    """The lines of one document: all events under the first kind, then the trees of each further kind."""
    _report_losses(document, report_loss)
    if document.id != document.id.strip() or document.id[0] in "(#" or any(mark in document.id for mark in "\t\r\n"):
        raise UNWRITABLE.error(f"{quoted(document.id)} cannot be the id of a document in a forest file")
    mentions = [mention for mention in document.mentions if mention.kind == "event"]
    clusters = members(mentions)
    event_of = {mention.id: mention.cluster or mention.id for mention in mentions}
    # Mentions last: an id of both a mention and a cluster means the mention.
    named = {cluster: cluster for cluster in clusters} | event_of
    order = list(dict.fromkeys(event_of.values()))
    node = {event: _node(clusters.get(event, [event]), document) for event in order}
    below = _below(document, named, clusters, report_loss)
    extra = {cluster.id: cluster.attributes for cluster in document.clusters}
    lines: list[str] = []
    written: list[str] = []
    kinds = sorted(_kinds(document), key=lambda kind: (kind != SUBEVENT, kind))
    for kind in kinds or [SUBEVENT]:
        children = below.get(kind, {})
        trees = _Trees(node, order, children)
        lone = {event: int(extra[event].get(nodes_of(kind), 0)) for event in order if event in extra}
        shown = trees.text(linked_only=bool(lines), again=lone)
        if trees.left:
            message = f"{kind} links of document {quoted(document.id)} form a cycle through {quoted(trees.left[0])}"
            raise CYCLE.error(message)
        if kinds and not options.plain:
            lines.append(f"#kind {_kind(kind)}")
        lines.append(f"{document.id}\t{shown}")
        written = written or [id_ for event in trees.order for id_ in clusters.get(event, [event])]
    if written != [mention.id for mention in mentions]:
        report_loss("the order of mentions (written as the trees have it)")
    return "\n".join([*lines, ""]).encode("utf-8")


def _kinds(document: Document) -> set[str]:
    """The kinds of links that it has, and those it has nodes of."""
    names = {name for cluster in document.clusters for name in cluster.attributes if name.startswith(nodes_of(""))}
    return {link.kind for link in document.links} | {name.removeprefix(nodes_of("")) for name in names}


def _below(
    document: Document, named: dict[str, str], clusters: dict[str, list[str]], report_loss: ReportLoss
) -> dict[str, Children]:
    """For each kind, the children of each event."""
    below: dict[str, Children] = {}
    for link in document.links:
        parent, child = named.get(link.source), named.get(link.target)
        if parent is None or child is None:
            report_loss(f"links of kind {link.kind} to or from mentions that are not written")
            continue
        if parent == child:
            report_loss("links inside one event")
            continue
        for end, event in ((link.source, parent), (link.target, child)):
            if (end == event) != (len(clusters.get(event, ())) != 1):
                report_loss("whether a link names a mention or its event")
        below.setdefault(link.kind, {}).setdefault(parent, {})[child] = None
    return below


class _Trees:
    """Writes the trees of one kind; then `order` has the events as written, and `left` those that could not be."""

    def __init__(self, node: dict[str, str], order: list[str], children: Children) -> None:
        place = {event: index for index, event in enumerate(order)}
        self._node = node
        self._children = {parent: sorted(below, key=place.__getitem__) for parent, below in children.items()}
        self._parents = {child for below in children.values() for child in below}
        self._all = order
        self.order: dict[str, None] = {}
        self.left: list[str] = []

    def text(self, *, linked_only: bool, again: dict[str, int]) -> str:
        """The trees, separated by blanks. An event with two parents is under both, its children under the first."""
        linked = self._parents | self._children.keys()
        roots = [
            event
            for event in self._all
            if event not in self._parents and (event in linked or again.get(event) or not linked_only)
        ]
        pieces = ["".join(self._tree(root)) for root in roots]
        self.left = [event for event in self._all if event in self._parents and event not in self.order]
        for event, times in again.items():
            parents = sum(event in below for below in self._children.values())
            pieces += [f"({self._node[event]})"] * (times - max(1, parents))
        return " ".join(pieces)

    def _tree(self, root: str) -> Iterator[str]:
        """One tree, written without recursion, since trees may be deep."""
        path: list[Iterator[str]] = [iter((root,))]
        while path:
            event = next(path[-1], None)
            if event is None:
                path.pop()
                if path:
                    yield ")"
                continue
            yield f"({self._node[event]}"
            path.append(iter(() if event in self.order else self._children.get(event, ())))
            self.order[event] = None


def _node(ids: list[str], document: Document) -> str:
    for id_ in ids:
        if any(mark in MARKS or mark.isspace() for mark in id_):
            raise UNWRITABLE.error(f"{quoted(id_)} in document {document.id!r} cannot be the id of a mention in a tree")
    return ids[0] if len(ids) == 1 else f"{{{','.join(ids)}}}"


def _kind(kind: str) -> str:
    if not kind or any(mark.isspace() for mark in kind):
        raise UNWRITABLE.error(f"{quoted(kind)} cannot be the kind of links in a forest file")
    return kind


def _report_losses(document: Document, report_loss: ReportLoss) -> None:
    report_document(document, ("topic", "subtopic", "source", "language", "producer", "text", "tokens"), report_loss)
    for cluster in document.clusters:
        if cluster.kind != "event" or not all(name.startswith(nodes_of("")) for name in cluster.attributes):
            report_loss("kinds and attributes of clusters")
    for mention in document.mentions:
        if mention.kind != "event":
            report_loss(f"mentions of kind {mention.kind}")
            continue
        report_regions(mention, report_loss)
        if mention.span:
            report_loss("the span of mentions")
        if mention.confidence:
            report_loss("the confidence of mentions")
        for name in mention.attributes:
            report_loss(f"the attribute {name}")
