"""Links over coreference classes: no cycle within one kind, no link inside one class, one parent for each child."""

from collections.abc import Collection, Iterator
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from karat.errors import Finding, Rule
from karat.model import ORDERED, Document, Link

CYCLE = Rule("link-cycle", "fatal", "Remove or reverse one of these links, or correct the coreference between them.")
INSIDE = Rule("link-inside-cluster", "note", "No action needed; a link between mentions of one event is not used.")
PARENTS = Rule(
    "two-parents",
    "note",
    "Ignore this if it is intended; in a sequence both links count, in a hierarchy it is a fault.",
)
MOST = 10
"""Cycles reported for one kind of link in a document; each costs a walk over its links."""

Class = tuple[str, str]
"""A coreference class: `cluster` or `mention`, and its id."""
ClassLink = tuple[Class, Class]


def check(document: Document) -> Iterator[Finding]:
    """Check each kind of link separately."""
    if not document.links:
        return
    ends = {end for link in document.links for end in (link.source, link.target)}
    class_of = {
        mention.id: ("mention", mention.id) if mention.cluster is None else ("cluster", mention.cluster)
        for mention in document.mentions
        if mention.id in ends
    }
    graphs: dict[str, dict[ClassLink, tuple[int, Link]]] = {}
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
            _, closing = max((graph[link] for link in pairwise(cycle)), key=lambda numbered: numbered[0])
            message = f"{kind} links of document {document.id!r} form a cycle: {members}"
            yield CYCLE.at(message, item=_item(closing))
        if kind not in ORDERED:  # what comes after two events is ordinary
            yield from _children_of_two(kind, graph, document)


def _children_of_two(kind: str, graph: dict[ClassLink, tuple[int, Link]], document: Document) -> Iterator[Finding]:
    """Each event once that is the child of two, where its second parent is written."""
    if len({child for _, child in graph}) == len(graph):
        return
    others = {
        name for mention in document.mentions if mention.kind != "event" for name in (mention.id, mention.cluster)
    }
    parents: dict[Class, list[Class]] = {}
    for parent, child in sorted(graph):
        parents.setdefault(child, []).append(parent)
    for child, having in parents.items():
        if len(having) > 1 and child[1] not in others:  # an entity may well have parts in two events
            second = sorted(graph[parent, child] for parent in having)[1][1]
            named = " and ".join(repr(name) for _, name in having)
            found = f"{child[1]!r} of document {document.id!r} has {len(having)} parents by {kind} links: {named}"
            yield PARENTS.at(found, item=_item(second))


def _cycles(links: Collection[ClassLink]) -> Iterator[list[Class]]:
    """Cycles that have no class in common, each from a class back to itself."""
    sources, targets = {source for source, _ in links}, {target for _, target in links}
    left = sorted(link for link in links if link[0] in targets and link[1] in sources)
    for _ in range(MOST):
        sorter: TopologicalSorter[Class] = TopologicalSorter()
        for source, target in left:
            sorter.add(source, target)
        try:
            sorter.prepare()
        except CycleError as error:
            cycle: list[Class] = error.args[1][::-1]
            yield cycle
            found = set(cycle)
            left = [link for link in left if found.isdisjoint(link)]
        else:
            return


def _item(link: Link) -> tuple[str, str, str]:
    return link.kind, link.source, link.target
