"""Links over coreference classes: no cycle within one kind, no link inside one class, one parent for each child."""

from collections.abc import Collection, Iterator
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from karat.errors import Finding, Rule
from karat.model import Document, Link

CYCLE = Rule("link-cycle", "fatal", "Remove or turn round one of these links, or correct the coreference between them.")
INSIDE = Rule(
    "link-inside-cluster", "note", "Nothing to do; a link between mentions of one event says nothing and is not used."
)
PARENTS = Rule(
    "two-parents",
    "note",
    "Nothing to do if that is meant; in a sequence both links count, in a hierarchy it is a fault.",
)
PARENTAL = "subevent"
"""The kind of link that leads from a parent to its child; what comes after two events is ordinary."""
MOST = 10
"""Cycles told of one kind in a document; each costs a walk over its links."""

Class = tuple[str, str]
Edge = tuple[Class, Class]


def check(document: Document) -> Iterator[Finding]:
    """Every kind of link for itself."""
    if not document.links:
        return
    ends = {end for link in document.links for end in (link.source, link.target)}
    class_of = {
        mention.id: ("mention", mention.id) if mention.cluster is None else ("cluster", mention.cluster)
        for mention in document.mentions
        if mention.id in ends
    }
    graphs: dict[str, dict[Edge, tuple[int, Link]]] = {}
    for number, link in enumerate(document.links):
        source = class_of.get(link.source) or ("cluster", link.source)
        target = class_of.get(link.target) or ("cluster", link.target)
        if source == target:
            found = f"the {link.kind} link from {link.source!r} to {link.target!r} of document {document.id!r}"
            yield INSIDE.at(f"{found} joins mentions of one cluster", item=_item(link))
        else:
            graphs.setdefault(link.kind, {}).setdefault((source, target), (number, link))
    for kind, graph in sorted(graphs.items()):
        for cycle in _cycles(graph):
            members = " -> ".join(name for _, name in cycle)
            # The link that closes the cycle is the one that was written last.
            _, closing = max((graph[edge] for edge in pairwise(cycle)), key=lambda numbered: numbered[0])
            told = f"{kind} links of document {document.id!r} form a cycle: {members}"
            yield CYCLE.at(told, item=_item(closing))
    yield from _children_of_two(graphs.get(PARENTAL, {}), document)


def _children_of_two(graph: dict[Edge, tuple[int, Link]], document: Document) -> Iterator[Finding]:
    """Each child once, where its second parent is written."""
    parents: dict[Class, list[Class]] = {}
    for parent, child in sorted(graph):
        parents.setdefault(child, []).append(parent)
    for child, having in parents.items():
        if len(having) > 1:
            second = sorted(graph[parent, child] for parent in having)[1][1]
            named = " and ".join(repr(name) for _, name in having)
            found = f"{child[1]!r} of document {document.id!r} has {len(having)} parents by {PARENTAL} links: {named}"
            yield PARENTS.at(found, item=_item(second))


def _cycles(edges: Collection[Edge]) -> Iterator[list[Class]]:
    """Cycles that have no class in common, each from a class back to itself."""
    left = _inner(edges)
    for _ in range(MOST if left else 0):
        sorter: TopologicalSorter[Class] = TopologicalSorter()
        for source, target in left:
            sorter.add(source, target)
        try:
            sorter.prepare()
        except CycleError as error:
            cycle: list[Class] = error.args[1][::-1]
            yield cycle
            told = set(cycle)
            left = [edge for edge in left if told.isdisjoint(edge)]
        else:
            return


def _inner(edges: Collection[Edge]) -> list[Edge]:
    """Edges that something leads to and that lead on, as those of a cycle do; mostly there are none."""
    sources, targets = ({edge[side] for edge in edges} for side in (0, 1))
    return sorted([edge for edge in edges if edge[0] in targets and edge[1] in sources])


def _item(link: Link) -> tuple[str, str, str]:
    return link.kind, link.source, link.target
