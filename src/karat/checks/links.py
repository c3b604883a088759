"""Links over coreference classes: no cycle within one kind, and no link inside one class."""

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

from karat.errors import Finding, Rule
from karat.model import Document

CYCLE = Rule("link-cycle", "fatal", "Remove or turn round one of these links, or correct the coreference between them.")
INSIDE = Rule(
    "link-inside-cluster", "note", "Nothing to do; a link between mentions of one event says nothing and is not used."
)


def check(document: Document) -> Iterator[Finding]:
    """Every kind of link for itself."""
    if not document.links:
        return
    class_of = {
        mention.id: ("mention", mention.id) if mention.cluster is None else ("cluster", mention.cluster)
        for mention in document.mentions
    }
    graphs: dict[str, set[tuple[tuple[str, str], tuple[str, str]]]] = {}
    for link in document.links:
        ends = [class_of.get(end, ("cluster", end)) for end in (link.source, link.target)]
        if ends[0] == ends[1]:
            found = f"the {link.kind} link from {link.source!r} to {link.target!r} of document {document.id!r}"
            yield INSIDE.at(f"{found} joins mentions of one cluster")
        else:
            graphs.setdefault(link.kind, set()).add((ends[0], ends[1]))
    for kind, graph in sorted(graphs.items()):
        sorter: TopologicalSorter[tuple[str, str]] = TopologicalSorter()
        for source, target in sorted(graph):
            sorter.add(source, target)
        try:
            sorter.prepare()
        except CycleError as error:
            members = " -> ".join(name for _, name in reversed(error.args[1]))
            yield CYCLE.at(f"{kind} links of document {document.id!r} form a cycle: {members}")
