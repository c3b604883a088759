"""Contents of a corpus: documents, mentions, attributes, clusters and links, counted in one pass.

Only counts are kept, so memory grows only with the number of different values and of clusters.
`Description` as JSON is what `karat describe -f json` prints:

    documents            how many
    fingerprint          the corpus's fingerprint, as in the signature of a score
    units                documents by unit of offsets
    topics, subtopics    {present, absent: documents with and without one, distinct: how many there are}
    sources, languages   the same with values, see below
    mentions             by kind of mention: {mentions, one_segment, several_segments, no_span}
    attributes           by kind of mention, then by name: {present, absent: mentions with and without it, distinct,
                         values: [{value, count}] most frequent first, more: {values, count} that are not listed}
    clusters             by kind of cluster: {clusters, singleton, within, across, empty, largest}
    cluster_attributes   as attributes, of the records that clusters have; one in several documents counts in each
    links                by kind, without arguments
    arguments            links from events and templates to what fills their roles, by role
    ecbplus              only for ECB+ files: Table 1 of Upadhyay et al. (2016), see `ecb_table`

A cluster is a singleton (one mention), within one document, across documents, or empty (a record without mentions);
a mention without a cluster is a singleton. The kind of a cluster is that of its record, else that of its mentions.
Subtopics belong to their topic: two topics may use the same name.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from karat.arguments import argument_test
from karat.corpus.chunks import attempted, chunks, collected
from karat.corpus.files import FileCorpus
from karat.corpus.fingerprint import Fingerprint
from karat.corpus.interface import Corpus, Executor, Progress, workers
from karat.corpus.opening import absent_names
from karat.describe.ecb_table import EcbRow, EcbTable, ecb_row, ecb_table
from karat.model import Cluster, Document, Mention, Value
from karat.problems import Findings


class Present(Struct, frozen=True):
    """A property of documents: how many have it, how many do not, and how many different values there are."""

    present: int
    absent: int
    distinct: int


class Count(Struct, frozen=True):
    """A value and how often it occurs."""

    value: Value
    count: int


class More(Struct, frozen=True):
    """Values that are not listed: how many, and how often they occur together."""

    values: int
    count: int


class Values(Struct, frozen=True):
    """An attribute's values, most frequent first."""

    present: int
    absent: int
    distinct: int
    values: tuple[Count, ...]
    more: More


class Mentions(Struct, frozen=True):
    """The mentions of a kind, by the shape of their spans."""

    mentions: int
    one_segment: int
    several_segments: int
    no_span: int


class Clusters(Struct, frozen=True):
    """The clusters of a kind, by where their mentions are; `largest` is a number of mentions."""

    clusters: int
    singleton: int
    within: int
    across: int
    empty: int
    largest: int


class Description(Struct, frozen=True):
    """Contents of a corpus."""

    documents: int
    fingerprint: str
    units: dict[str, int]
    topics: Present
    subtopics: Present
    sources: Values
    languages: Values
    mentions: dict[str, Mentions]
    attributes: dict[str, dict[str, Values]]
    clusters: dict[str, Clusters]
    cluster_attributes: dict[str, dict[str, Values]]
    links: dict[str, int]
    arguments: dict[str, int]
    ecbplus: EcbTable | UnsetType = UNSET


FIRST = ("type", "realis")

TypedValue = tuple[str, Value]
"""A value with the name of its type: `True`, `1` and `1.0` are three values, although they are equal in Python."""


def _values(counts: Mapping[TypedValue, int], among: int, most: int) -> Values:
    """List the most frequent values; ties in alphabetical order."""
    ranked = sorted(counts.items(), key=lambda item: (-item[1], str(item[0][1]), item[0][0]))
    listed = tuple(Count(value, count) for (_, value), count in ranked[:most])
    rest = [count for _, count in ranked[most:]]
    present = sum(counts.values())
    return Values(present, among - present, len(ranked), listed, More(len(rest), sum(rest)))


def _attributes(
    holders: Counter[Any], counts: Mapping[tuple[str, str, str, Value], int], most: int
) -> dict[str, dict[str, Values]]:
    """List values by kind of their holders, then by name: type and realis first, as in scores."""
    values: dict[tuple[str, str], dict[TypedValue, int]] = {}
    for (kind, name, type_, value), count in counts.items():
        values.setdefault((kind, name), {})[type_, value] = count
    names = sorted(values, key=lambda key: (key[1] not in FIRST, key[1] != "type", key[1]))
    by_kind = {
        kind: {name: _values(values[kind, name], count, most) for other, name in names if other == kind}
        for kind, count in _ranked(holders)
    }
    return {kind: named for kind, named in by_kind.items() if named}


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
        self.mentioned = _least(self.mentioned, other.mentioned)
        self.recorded = _least(self.recorded, other.recorded)

    @property
    def kind(self) -> str:
        return self.recorded or self.mentioned or ""


def _least(*kinds: str | None) -> str | None:
    """Return the first kind alphabetically, so that the order of documents does not matter."""
    return min((kind for kind in kinds if kind is not None), default=None)


class Tallies:
    """Counts the documents of a corpus one by one."""

    def __init__(self) -> None:
        self.documents = 0
        self.fingerprint = Fingerprint()
        self.counts: defaultdict[str, Counter[Any]] = defaultdict(Counter)
        """By what is counted."""
        self.members: dict[str, _Members] = {}
        self.ecbplus: list[EcbRow] | None = None

    def add(self, document: Document) -> None:
        """Count one document."""
        counts = self.counts
        self.documents += 1
        self.fingerprint.add(document)
        counts["units"][document.unit] += 1
        if document.topic is not None:
            counts["topics"][document.topic] += 1
        if document.subtopic is not None:
            counts["subtopics"][document.topic, document.subtopic] += 1
        for name, text in (("sources", document.source), ("languages", document.language)):
            if text is not None:
                counts[name]["str", text] += 1
        for mention in document.mentions:
            self._add_mention(mention)
        for cluster in document.clusters:
            members = self.members.setdefault(cluster.id, _Members())
            members.recorded = _least(members.recorded, cluster.kind)
            self._add_attributes("clusters", cluster)
        is_argument = argument_test(document)
        counts["links"].update(link.kind for link in document.links if not is_argument(link))
        counts["arguments"].update(link.kind for link in document.links if is_argument(link))
        if self.ecbplus is not None:
            self.ecbplus.append(ecb_row(document))

    def merge(self, other: "Tallies") -> bool:
        """Add other documents."""
        self.documents += other.documents
        self.fingerprint.merge(other.fingerprint)
        for name, counter in other.counts.items():
            self.counts[name].update(counter)
        for id_, members in other.members.items():
            self.members.setdefault(id_, _Members()).merge(members)
        if self.ecbplus is not None:
            self.ecbplus += other.ecbplus or ()
        return True

    def _add_mention(self, mention: Mention) -> None:
        shape = ("no_span", "one_segment", "several_segments")[min(len(mention.span), 2)]
        self.counts["shapes"][mention.kind, shape] += 1
        self._add_attributes("mentions", mention)
        if mention.cluster is None:
            self.counts["alone"][mention.kind] += 1
        else:
            self.members.setdefault(mention.cluster, _Members()).add(mention.kind, self.documents)

    def _add_attributes(self, holders: str, holder: Mention | Cluster) -> None:
        self.counts[holders][holder.kind] += 1
        for name, value in holder.attributes.items():
            self.counts[f"attributes of {holders}"][holder.kind, name, type(value).__name__, value] += 1

    def description(self, most: int) -> Description:
        """The counts, in their order."""
        counts, shapes = self.counts, self.counts["shapes"]
        return Description(
            documents=self.documents,
            fingerprint=str(self.fingerprint),
            units=dict(_ranked(counts["units"])),
            topics=self._present("topics"),
            subtopics=self._present("subtopics"),
            sources=_values(counts["sources"], self.documents, most),
            languages=_values(counts["languages"], self.documents, most),
            mentions={
                kind: Mentions(
                    mentions=mentions,
                    one_segment=shapes[kind, "one_segment"],
                    several_segments=shapes[kind, "several_segments"],
                    no_span=shapes[kind, "no_span"],
                )
                for kind, mentions in _ranked(counts["mentions"])
            },
            attributes=_attributes(counts["mentions"], counts["attributes of mentions"], most),
            clusters=self._clusters(),
            cluster_attributes=_attributes(counts["clusters"], counts["attributes of clusters"], most),
            links=dict(_ranked(counts["links"])),
            arguments=dict(_ranked(counts["arguments"])),
            ecbplus=UNSET if self.ecbplus is None else ecb_table(self.ecbplus),
        )

    def _present(self, name: str) -> Present:
        names = self.counts[name]
        return Present(names.total(), self.documents - names.total(), len(names))

    def _clusters(self) -> dict[str, Clusters]:
        """Clusters by kind; mentions without a cluster are singletons."""
        places: dict[str, Counter[str]] = {
            kind: Counter(singleton=count) for kind, count in self.counts["alone"].items()
        }
        largest: dict[str, int] = dict.fromkeys(self.counts["alone"], 1)
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


def description(
    corpus: Corpus,
    *,
    most: int = 20,
    findings: Findings,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Description:
    """Describe a corpus; of each attribute, the `most` frequent values are listed."""
    for finding in absent_names(corpus):
        findings.add(finding)
    counting = _Counting(corpus, findings)
    try:
        ids = [*corpus.ids()]
        width = workers(executor, ids, [corpus.index])
        groups = [ids] if width == 1 else chunks(ids, [corpus.index], width)
        parts = [corpus.part(group) for group in groups] if len(groups) > 1 else []
        sent = [part for part in parts if part is not None]
        if executor is None or not sent:
            counting.add(ids, progress)
        else:
            done = 0
            results = executor.map(described_chunk, None, sent)
            for group, part in collected(groups, results, counting.add):
                if not counting.merge(part):
                    counting.add(group)
                done += len(group)
                if progress is not None:
                    progress(done, len(ids))
    finally:
        corpus.close()
    return counting.tallies.description(most)


def described_chunk(shared: None, chunk: Corpus) -> "tuple[Tallies, Findings] | str":
    """Count the documents of a chunk."""
    del shared
    counting = _Counting(chunk, Findings())
    try:
        return attempted(partial(counting.part, [*chunk.ids()]))
    finally:
        chunk.close()


class _Counting:
    """Counts the documents of a corpus."""

    def __init__(self, corpus: Corpus, findings: Findings) -> None:
        self._corpus, self._findings = corpus, findings
        self.tallies = Tallies()
        if isinstance(corpus, FileCorpus) and corpus.format == "ecbplus":
            self.tallies.ecbplus = []

    def add(self, ids: Sequence[str], progress: Progress | None = None) -> None:
        for done, id_ in enumerate(ids, 1):
            self.tallies.add(self._corpus.read(id_, self._findings.add))
            if progress is not None:
                progress(done, len(ids))

    def part(self, ids: Sequence[str]) -> tuple[Tallies, Findings]:
        self.add(ids)
        return self.tallies, self._findings

    def merge(self, part: tuple[Tallies, Findings]) -> bool:
        tallies, findings = part
        self._findings.merge(findings)
        return self.tallies.merge(tallies)
