"""Events: what the mentions of a document refer to, and the links between events.

A cluster is an event, and a mention without a cluster is an event of its own. Links join mentions or clusters and hold
between events: a link of one mention is a link of every mention that refers to the same event, so that E6 -> E8,
E7 -> E8 and both are one link where E6 and E7 are one event.
"""

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property

from msgspec import Struct

from karat.match.alignment import ClusterKeys
from karat.model import ClusterKey, Document
from karat.plugin import Tables, TableSpec

EventLink = tuple[int, int]
"""A link between two events: the number of its source and that of its target."""


class Events:
    """The events of one side of a document, numbered in the order of their first mentions."""

    def __init__(self, document: Document, keys: Sequence[ClusterKey]) -> None:
        self._document = document
        numbers: dict[ClusterKey, int] = {}
        self.event_of = [numbers.setdefault(key, len(numbers)) for key in keys]
        """The event of each mention."""
        self.count = len(numbers)
        self._numbers = numbers

    @cached_property
    def members(self) -> list[list[int]]:
        """The numbers of each event's mentions, in their order."""
        members: list[list[int]] = [[] for _ in range(self.count)]
        for mention, event in enumerate(self.event_of):
            members[event].append(mention)
        return members

    @cached_property
    def keys(self) -> list[ClusterKey]:
        return list(self._numbers)

    def links(self, kind: str) -> set[EventLink]:
        """The links of a kind.

        A link inside one event is ignored (a check notes it), and so is one to a cluster without a mention here. An id
        of both a mention and a cluster means the mention.
        """
        return self._links.get(kind, set())

    @cached_property
    def _links(self) -> dict[str, set[EventLink]]:
        number = dict(self._numbers)
        number.update(zip([mention.id for mention in self._document.mentions], self.event_of, strict=True))
        links: defaultdict[str, set[EventLink]] = defaultdict(set)
        for link in self._document.links:
            source, target = number.get(link.source, -1), number.get(link.target, -1)
            if source != target and source >= 0 <= target:
                links[link.kind].add((source, target))
        return links


class BothEvents(TableSpec[tuple[Events, Events]], Struct, frozen=True, cache_hash=True):
    """The events of both sides."""

    def make(self, tables: Tables) -> tuple[Events, Events]:
        """Gold's and the system's."""
        gold, system = tables.get(ClusterKeys())
        return Events(tables.pair.gold, gold), Events(tables.pair.system, system)
