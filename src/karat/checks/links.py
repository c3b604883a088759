"""Links over coreference classes: no cycle within one kind, no link inside one class, one parent for each child.

A cycle is fatal within kinds of links that are hierarchies or sequences by their name, or that a protocol reads as one;
within other kinds, such as causes, and where protocols read each link as a relation by itself, it is a note.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from functools import reduce
from graphlib import CycleError, TopologicalSorter
from itertools import islice, pairwise
from operator import attrgetter, or_
from typing import TypeVar

from karat.checks.annotations import Readings, unread
from karat.model import ACYCLIC, ORDERED, Document, Link
from karat.problems import Finding, Rule, nearest, quoted

CYCLE = Rule(
    "link-cycle",
    "fatal",
    "Remove or reverse one of these links, or correct the coreference between them. Only in hierarchies and sequences "
    "is a cycle fatal; in other relations, such as BEFORE, it is a note.",
)
INSIDE = Rule("link-inside-cluster", "note", "No action needed; a link between mentions of one event is not used.")
PARENTS = Rule(
    "two-parents",
    "note",
    "Ignore this if it is intended; in a sequence both links count, in a hierarchy it is a fault.",
)
ABSENT = Rule("link-kind-absent", "note", "Such links match nothing; rename them if they mean a kind that gold has.")
MOST = 10
"""Fatal cycles reported for one kind of link in a document; each costs a walk over its links. Of others, one is."""

_mention_id = attrgetter("id")

Class = str | tuple[str]
"""A coreference class: the id of a cluster, or of a mention without one (in a tuple if a cluster has the same id)."""
ClassLink = tuple[Class, Class]
Graph = dict[ClassLink, Link]
"""Links between classes in the order of the file, each with the first link that makes it."""


def check_links(links: Sequence[Link], document: Document, readings: Readings = unread) -> Iterator[Finding]:
    """Check each kind of link of a document separately.

    Arguments are left out: what fills a role is not an event, so that roles form no cycles, and repeated ones mean
    something.
    """
    class_of: dict[str, Class] = {
        mention.id: mention.cluster for mention in document.mentions if mention.cluster is not None
    }
    clusters = set(class_of.values())
    if clusters and not clusters.isdisjoint(map(_mention_id, document.mentions)):
        ambiguous = clusters - class_of.keys()
        class_of |= {mention.id: (mention.id,) for mention in document.mentions if mention.id in ambiguous}
    class_or_id = class_of.get
    graphs: defaultdict[str, Graph] = defaultdict(dict)
    for link in links:
        source, target = class_or_id(link.source, link.source), class_or_id(link.target, link.target)
        if source != target:
            graphs[link.kind].setdefault((source, target), link)
        elif readings(link.kind) != "relations":
            message = f"the {link.kind} link from {link.source!r} to {link.target!r} of document {document.id!r}"
            yield INSIDE.at(f"{message} joins mentions of one cluster", item=_item(link))
    trees = {
        kind: graph
        for kind, graph in graphs.items()
        if kind not in ORDERED and _has_two_parents(graph) and readings(kind) != "relations"
    }
    for kind, graph in trees.items():
        if readings(kind) == "paths":
            implied = implied_links(graph)
            trees[kind] = {ends: link for ends, link in graph.items() if ends not in implied}
    repeated = _children_of_two(trees, document)
    for kind, graph in sorted(graphs.items()):
        for cycle in islice(_cycles(graph, document), MOST):
            members = " -> ".join(map(_id, cycle))
            # The link that closes the cycle is the one that was written last.
            position = {link: i for i, link in enumerate(graph)}
            closing = graph[max(pairwise(cycle), key=position.__getitem__)]
            message = f"{kind} links of document {document.id!r} form a cycle: {members}"
            finding = CYCLE.at(message, item=_item(closing))
            if readings(kind) not in ("links", "paths") and (kind not in ACYCLIC or readings(kind) is not None):
                yield finding._replace(severity="note")
                break
            yield finding
        if kind in repeated and (kind in ACYCLIC or readings(kind) is not None):
            yield from _several_parents(kind, trees[kind], repeated[kind], document)


def absent_kinds(system: Mapping[str, int], gold: Collection[str], readings: Readings) -> Iterator[Finding]:
    """One finding on all kinds of links that only the system has, and whose inverse gold cannot have either.

    `system` has the number of its links of each kind.
    """
    absent = []
    for kind, count in sorted(system.items()):
        if kind not in gold and readings(kind) != "relations":
            advice = nearest(kind, sorted(gold)) if gold else "gold has no links."
            absent.append(f"{quoted(kind)} ({count:,}; {advice[0].lower()}{advice[1:].removesuffix('.')})")
    if absent:
        kinds = "a kind" if len(absent) == 1 else "kinds"
        yield ABSENT.at(f"the system has links of {kinds} that gold lacks: {', '.join(absent)}")


T = TypeVar("T", bound=Hashable)


def implied_links(links: Collection[tuple[T, T]]) -> set[tuple[T, T]]:
    """Links to events that their source also reaches through other links; none if there is a cycle."""
    children: dict[T, list[T]] = {}
    for source, target in links:
        children.setdefault(source, []).append(target)
    implied: set[tuple[T, T]] = set()
    bits: dict[T, int] = {}
    below: dict[T, int] = {}
    """The descendants of each event, as the bits of an integer."""
    try:
        for event in TopologicalSorter(children).static_order():
            direct = children.get(event, ())
            further = reduce(or_, [below[child] for child in direct], 0)
            implied.update((event, child) for child in direct if further & bits[child])
            bits[event] = 1 << len(bits)
            below[event] = reduce(or_, [bits[child] for child in direct], further)
    except CycleError:
        return set()
    return implied


def _has_two_parents(graph: Graph) -> bool:
    return len({child for _, child in graph}) < len(graph)


def _children_of_two(graphs: Mapping[str, Graph], document: Document) -> dict[str, set[Class]]:
    """For each kind of link: the events that are children of two."""
    repeated: dict[str, set[Class]] = {}
    for kind, graph in graphs.items():
        children = Counter([child for _, child in graph])
        repeated[kind] = {child for child, count in children.items() if count > 1}
    if not repeated:
        return {}
    others = {  # an entity may well have parts in two events
        name for mention in document.mentions if mention.kind != "event" for name in (mention.id, mention.cluster)
    }
    events = {kind: {child for child in classes if _id(child) not in others} for kind, classes in repeated.items()}
    return {kind: classes for kind, classes in events.items() if classes}


def _several_parents(kind: str, graph: Graph, children: Set[Class], document: Document) -> Iterator[Finding]:
    """Each of these children once, where its second parent is written."""
    parents: dict[Class, list[Class]] = {}
    order = _order(document)
    for parent, child in sorted(graph, key=lambda link: [*map(order, link)]):
        if child in children:
            parents.setdefault(child, []).append(parent)
    position = {link: i for i, link in enumerate(graph)}
    for child, having in parents.items():
        second = graph[sorted(((parent, child) for parent in having), key=position.__getitem__)[1]]
        named = " and ".join(repr(_id(parent)) for parent in having)
        message = f"{_id(child)!r} of document {document.id!r} has {len(having)} parents by {kind} links: {named}"
        yield PARENTS.at(message, item=_item(second))


def _cycles(links: Collection[ClassLink], document: Document) -> Iterator[list[Class]]:
    """Cycles that have no class in common, each from a class back to itself."""
    if _is_bushy(links):
        return
    names = sorted({class_ for link in links for class_ in link}, key=_order(document))
    rank = {class_: i for i, class_ in enumerate(names)}
    children: dict[int, list[int]] = {}
    for source, target in sorted([(rank[source], rank[target]) for source, target in links]):
        children.setdefault(source, []).append(target)
    while cycle := _cycle(children):
        yield [names[i] for i in cycle]
        members = {*cycle}
        children = {i: [j for j in after if j not in members] for i, after in children.items() if i not in members}


def _is_bushy(links: Collection[ClassLink]) -> bool:
    """Return whether links from roots and to leaves, removed again and again, leave nothing: there is no cycle.

    False for a cycle, and for a chain so long that this takes more time than a search.
    """
    while links:
        sources, targets = {source for source, _ in links}, {target for _, target in links}
        inner = [link for link in links if link[0] in targets and link[1] in sources]
        if 8 * len(inner) > 7 * len(links):
            return False
        links = inner
    return True


def _cycle(children: Mapping[int, Iterable[int]]) -> list[int]:
    """Return the first cycle that a depth-first search finds, from a node back to itself; empty: there is none."""
    left = {node: iter(after) for node, after in children.items()}
    done: set[int] = set()
    for root in children:
        path = [root] if root not in done else []
        on_path = {*path}
        while path:
            for child in left[path[-1]]:
                if child in done:
                    continue
                if child in on_path:
                    return [*path[path.index(child) :], child]
                if child in left:
                    path.append(child)
                    on_path.add(child)
                    break
            else:
                node = path.pop()
                on_path.remove(node)
                done.add(node)
    return []


def _id(class_: Class) -> str:
    return class_ if isinstance(class_, str) else class_[0]


def _order(document: Document) -> Callable[[Class], tuple[bool, str]]:
    """Order classes by their names; clusters come before mentions."""
    alone = {mention.id for mention in document.mentions if mention.cluster is None}
    return lambda class_: ((name := _id(class_)) in alone, name)


def _item(link: Link) -> tuple[str, str, str]:
    return link.kind, link.source, link.target
