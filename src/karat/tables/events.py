"""Events: what the mentions of a document refer to, and the links between events.

A cluster is an event, and a mention without a cluster is an event of its own. Links join mentions or clusters and hold
between events: what is said of one mention is said of every mention that refers to the same event, so that E6 -> E8,
E7 -> E8 and both are one link where E6 and E7 are one event.
"""

from msgspec import Struct

from karat.model import Document
from karat.plugin import Tables, TableSpec

Edge = tuple[int, int]
"""A link between two events: the number of its source and that of its target."""


class Events(Struct, frozen=True):
    """The events of one side of a document, numbered in the order of their first mentions."""

    members: list[list[int]]
    """The numbers of each event's mentions, in their order."""
    event_of: list[int]
    """The event of each mention."""
    links: dict[str, list[Edge]]
    """For each kind of link the edges, sorted, each once; none leads from an event to itself."""


class BothEvents(TableSpec[tuple[Events, Events]], Struct, frozen=True, cache_hash=True):
    """Wanted: the events of both sides."""

    def make(self, tables: Tables) -> tuple[Events, Events]:
        """Gold's and the system's."""
        return events(tables.pair.gold), events(tables.pair.system)


def events(document: Document) -> Events:
    """The events of a document.

    A link inside one event says nothing (a check notes it), and one to a cluster without a mention here joins no two
    events of the document. An id that names a mention and a cluster means the mention.
    """
    members: list[list[int]] = []
    event_of: list[int] = []
    named: dict[str, int] = {}
    for number, mention in enumerate(document.mentions):
        cluster, event = mention.cluster, len(members)
        if cluster is None or (event := named.setdefault(cluster, event)) == len(members):
            members.append([number])
        else:
            members[event].append(number)
        event_of.append(event)
    return Events(members, event_of, _links(document, named, event_of) if document.links else {})


def _links(document: Document, named: dict[str, int], event_of: list[int]) -> dict[str, list[Edge]]:
    named = named | dict(zip([mention.id for mention in document.mentions], event_of, strict=True))
    found: dict[str, set[Edge]] = {}
    look = named.get
    for link in document.links:
        source, target = look(link.source), look(link.target)
        if source is not None and target is not None and source != target:
            found.setdefault(link.kind, set()).add((source, target))
    return {kind: sorted(edges) for kind, edges in sorted(found.items())}
