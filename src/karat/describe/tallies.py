"""Counts what is in documents, one after another; counts of some documents are added to those of others."""

from collections import Counter
from collections.abc import Hashable
from typing import Any

from msgspec import UNSET

from karat.corpus import Fingerprint
from karat.describe import ecb_table
from karat.describe.description import Clusters, Count, Description, Mentions, More, Present, Values
from karat.model import Cluster, Document, Mention, Value
from karat.model.arguments import argument_test

FIRST = ("type", "realis")


class _Tally:
    """Counts values. `True`, `1` and `1.0` are three values, although they are equal in Python."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, Value]] = Counter()

    def add(self, value: Value | None) -> None:
        """Count one; None is no value."""
        if value is not None:
            self.counts[type(value).__name__, value] += 1

    def merge(self, other: "_Tally") -> None:
        """Add the values of another one."""
        self.counts.update(other.counts)

    def values(self, among: int, most: int) -> Values:
        """The most frequent values; ties in alphabetical order."""
        ranked = sorted(self.counts.items(), key=lambda item: (-item[1], str(item[0][1]), item[0][0]))
        listed = tuple(Count(value, count) for (_, value), count in ranked[:most])
        rest = [count for _, count in ranked[most:]]
        present = self.counts.total()
        return Values(present, among - present, len(ranked), listed, More(len(rest), sum(rest)))


class _Attributes:
    """Counts the attributes of mentions, or of the records of clusters, by kind."""

    def __init__(self) -> None:
        self.holders: Counter[str] = Counter()
        self.tallies: dict[str, dict[str, _Tally]] = {}

    def add(self, holder: Mention | Cluster) -> None:
        """Count the attributes of one mention or cluster."""
        self.holders[holder.kind] += 1
        tallies = self.tallies.setdefault(holder.kind, {})
        for name, value in holder.attributes.items():
            tallies.setdefault(name, _Tally()).add(value)

    def merge(self, other: "_Attributes") -> None:
        """Add the attributes of other mentions or clusters."""
        self.holders.update(other.holders)
        for kind, tallies in other.tallies.items():
            own = self.tallies.setdefault(kind, {})
            for name, tally in tallies.items():
                own.setdefault(name, _Tally()).merge(tally)

    def values(self, most: int) -> dict[str, dict[str, Values]]:
        """By kind, then by name: type and realis first, as in scores."""
        return {
            kind: {
                name: self.tallies[kind][name].values(self.holders[kind], most)
                for name in sorted(self.tallies[kind], key=lambda name: (name not in FIRST, name != "type", name))
            }
            for kind, _ in _ranked(self.holders)
            if self.tallies[kind]
        }


class _Members:
    """The number of a cluster's mentions, whether they are in several documents, and its kind."""

    __slots__ = ("across", "document", "mentioned", "recorded", "size")

    def __init__(self) -> None:
        self.size = 0
        self.document = -1
        self.across = False
        self.mentioned: str | None = None
        self.recorded: str | None = None

    def add(self, kind: str, document: int) -> None:
        """Count one more mention."""
        self.across |= bool(self.size) and self.document != document
        self.size += 1
        self.document = document
        self.mentioned = _least(self.mentioned, kind)

    def merge(self, other: "_Members") -> None:
        """Add the mentions in other documents."""
        self.across |= other.across or bool(self.size and other.size)
        self.size += other.size
        for kind in filter(None, [other.mentioned]):
            self.mentioned = _least(self.mentioned, kind)
        for kind in filter(None, [other.recorded]):
            self.recorded = _least(self.recorded, kind)

    @property
    def kind(self) -> str:
        return self.recorded or self.mentioned or ""


def _least(one: str | None, other: str) -> str:
    """If a cluster has two kinds, the first alphabetically, so that the order of documents does not matter."""
    return other if one is None else min(one, other)


class Tallies:
    """Takes the documents of a corpus one by one."""

    def __init__(self) -> None:
        self.documents = 0
        self.fingerprint = Fingerprint()
        self.units: Counter[str] = Counter()
        self.topics: Counter[Hashable] = Counter()
        self.subtopics: Counter[Hashable] = Counter()
        self.sources, self.languages = _Tally(), _Tally()
        self.shapes: dict[str, Counter[str]] = {}
        self.attributes, self.cluster_attributes = _Attributes(), _Attributes()
        self.members: dict[str, _Members] = {}
        self.alone: Counter[str] = Counter()
        self.links: Counter[str] = Counter()
        self.arguments: Counter[str] = Counter()
        self.ecbplus: ecb_table.Tally | None = None

    def add(self, document: Document) -> None:
        """Count one document."""
        self.documents += 1
        self.fingerprint.add(document)
        self.units[document.unit] += 1
        if document.topic is not None:
            self.topics[document.topic] += 1
        if document.subtopic is not None:
            self.subtopics[document.topic, document.subtopic] += 1
        self.sources.add(document.source)
        self.languages.add(document.language)
        for mention in document.mentions:
            self._add_mention(mention)
        for cluster in document.clusters:
            members = self.members.setdefault(cluster.id, _Members())
            members.recorded = _least(members.recorded, cluster.kind)
            self.cluster_attributes.add(cluster)
        is_argument = argument_test(document)
        self.links.update(link.kind for link in document.links if not is_argument(link))
        self.arguments.update(link.kind for link in document.links if is_argument(link))
        if self.ecbplus is not None:
            self.ecbplus.add(document)

    def merge(self, other: "Tallies") -> bool:
        """Add other documents."""
        self.documents += other.documents
        self.fingerprint.merge(other.fingerprint)
        for own, later in zip(self._counters(), other._counters(), strict=True):
            own.update(later)
        for tally, values in zip((self.sources, self.languages), (other.sources, other.languages), strict=True):
            tally.merge(values)
        for kind, shapes in other.shapes.items():
            self.shapes.setdefault(kind, Counter()).update(shapes)
        self.attributes.merge(other.attributes)
        self.cluster_attributes.merge(other.cluster_attributes)
        for id_, members in other.members.items():
            self.members.setdefault(id_, _Members()).merge(members)
        if self.ecbplus is not None and other.ecbplus is not None:
            self.ecbplus.merge(other.ecbplus)
        return True

    def _counters(self) -> list[Counter[Any]]:
        return [self.units, self.topics, self.subtopics, self.alone, self.links, self.arguments]

    def _add_mention(self, mention: Mention) -> None:
        shape = ("no_span", "one_segment", "several_segments")[min(len(mention.span), 2)]
        self.shapes.setdefault(mention.kind, Counter())[shape] += 1
        self.attributes.add(mention)
        if mention.cluster is None:
            self.alone[mention.kind] += 1
        else:
            self.members.setdefault(mention.cluster, _Members()).add(mention.kind, self.documents)

    def description(self, most: int) -> Description:
        """The counts, in their order."""
        return Description(
            documents=self.documents,
            fingerprint=str(self.fingerprint),
            units=dict(_ranked(self.units)),
            topics=self._present(self.topics),
            subtopics=self._present(self.subtopics),
            sources=self.sources.values(self.documents, most),
            languages=self.languages.values(self.documents, most),
            mentions={
                kind: Mentions(
                    mentions=mentions,
                    one_segment=self.shapes[kind]["one_segment"],
                    several_segments=self.shapes[kind]["several_segments"],
                    no_span=self.shapes[kind]["no_span"],
                )
                for kind, mentions in _ranked(self.attributes.holders)
            },
            attributes=self.attributes.values(most),
            clusters=self._clusters(),
            cluster_attributes=self.cluster_attributes.values(most),
            links=dict(_ranked(self.links)),
            arguments=dict(_ranked(self.arguments)),
            ecbplus=UNSET if self.ecbplus is None else self.ecbplus.table(),
        )

    def _present(self, names: Counter[Hashable]) -> Present:
        return Present(names.total(), self.documents - names.total(), len(names))

    def _clusters(self) -> dict[str, Clusters]:
        """Clusters by kind; mentions without a cluster are singletons."""
        places: dict[str, Counter[str]] = {kind: Counter(singleton=count) for kind, count in self.alone.items()}
        largest: dict[str, int] = dict.fromkeys(self.alone, 1)
        for members in self.members.values():
            place = ("empty", "singleton", "across" if members.across else "within")[min(members.size, 2)]
            places.setdefault(members.kind, Counter())[place] += 1
            largest[members.kind] = max(largest.get(members.kind, 0), members.size)
        totals = Counter({kind: counts.total() for kind, counts in places.items()})
        return {
            kind: Clusters(
                clusters=total,
                singleton=places[kind]["singleton"],
                within=places[kind]["within"],
                across=places[kind]["across"],
                empty=places[kind]["empty"],
                largest=largest[kind],
            )
            for kind, total in _ranked(totals)
        }


def _ranked(counts: Counter[str]) -> list[tuple[str, int]]:
    """Most frequent first, ties in alphabetical order."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
