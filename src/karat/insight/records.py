"""Records of the items of outcomes: mentions with their text and line, and clusters, links and trees made of them."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from typing import NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from karat.model import Cluster, ClusterKey, Document, Mention, Pair, cluster_keys
from karat.plugin import AlignedPairs, AlignmentSpec, ArgumentItem, ClusterItem, Item, LinkItem, RelationItem, TreeItem
from karat.problems import Item as LocatedItem
from karat.problems import Origin
from karat.records import ClusterRecord, ElementRecord, LinkRecord, MentionRecord, Record, TreeRecord
from karat.regions import is_nowhere
from karat.words import mention_text, token_ids

Line = Callable[[Origin, str, LocatedItem], int | None]
"""The line of an item in a document of one side."""


def no_line(*item: object) -> None:
    """Find no line: documents in memory have none."""
    del item


class DocumentRecords(NamedTuple):
    """The records of the mentions of a document, each made once and shared by all outcomes."""

    document: str
    mentions: Mapping[Origin, Sequence[tuple[ClusterKey, MentionRecord]]]
    """For each side, each mention with its cluster."""
    clusters: Mapping[Origin, Sequence[Cluster]]
    """Clusters that have more than an id."""
    matched: Mapping[AlignmentSpec, Mapping[Origin, Set[str]]]
    """For each alignment, the ids of the mentions that it aligns."""


def document_records(
    pair: Pair, aligned: Mapping[AlignmentSpec, AlignedPairs], line: Line, *, name_document: bool
) -> DocumentRecords:
    """Make the records of a document; `name_document`: its unit may have several."""
    source = pair.gold if pair.gold.text is not None else pair.system
    sides: dict[Origin, Document] = {"gold": pair.gold, "system": pair.system}
    return DocumentRecords(
        pair.gold.id,
        {
            side: [
                (
                    key,
                    MentionRecord(
                        mention.id,
                        mention.kind,
                        () if is_nowhere(mention.span) else mention.span,
                        mention_text(mention, source),
                        line(side, document.id, mention.id),
                        mention.attributes,
                        document.id if name_document else UNSET,
                        token_ids=UNSET if (ids := token_ids(document, mention.span)) is None else ids,
                    ),
                )
                for mention, key in zip(document.mentions, cluster_keys(document), strict=True)
            ]
            for side, document in sides.items()
        },
        {side: document.clusters for side, document in sides.items()},
        {
            spec: {
                "gold": {alignment.gold[g].id for g, _, _, _ in alignment.pairs},
                "system": {alignment.system[s].id for _, s, _, _ in alignment.pairs},
            }
            for spec, alignment in aligned.items()
        },
    )


class UnitRecords:
    """The records of one unit of evaluation.

    Each mention, cluster, link, tree and argument has one, which all outcomes share.
    """

    def __init__(self, documents: Iterable[DocumentRecords]) -> None:
        self._mentions: dict[tuple[Origin, str, str], MentionRecord] = {}
        self._members: dict[tuple[Origin, Hashable], list[tuple[str, MentionRecord]]] = {}
        self._matched: dict[AlignmentSpec, set[tuple[Origin, str, str]]] = {}
        self._described: dict[tuple[Origin, Hashable], Cluster] = {}
        self._clusters: dict[tuple[Origin, Hashable, str | None, AlignmentSpec | None], ClusterRecord] = {}
        self._composed: dict[
            tuple[Origin, LinkItem | TreeItem, str | None, AlignmentSpec | None], LinkRecord | TreeRecord
        ] = {}
        self._arguments: dict[tuple[str | None, ...], LinkRecord] = {}
        for records in documents:
            self._add(records)

    def _add(self, records: DocumentRecords) -> None:
        document = records.document
        for side, mentions in records.mentions.items():
            for key, record in mentions:
                self._mentions[side, document, record.id] = record
                self._members.setdefault((side, key), []).append((document, record))
        for side, clusters in records.clusters.items():
            for cluster in clusters:
                self._described.setdefault((side, cluster.id), cluster)
        for spec, matched in records.matched.items():
            aligned = self._matched.setdefault(spec, set())
            aligned.update((side, document, id_) for side, ids in matched.items() for id_ in ids)

    def record(
        self, item: Item | None, side: Origin, document: str | None, spec: AlignmentSpec | None = None
    ) -> Record | None:
        """The record of an item; of a cluster, only the mentions in `document` if the item is in one document.

        Mentions of clusters say whether they are unmatched in the alignment `spec`.
        """
        if item is None:
            return None
        if isinstance(item, Mention):
            assert document is not None, "a table of mentions is listed document by document"
            return self._mentions[side, document, item.id]
        if isinstance(item, ClusterItem):
            return self._cluster(side, item.id, document, spec, item.size)
        if isinstance(item, LinkItem | TreeItem):
            place = side, item, document, spec
            if place not in self._composed:
                self._composed[place] = self._of_clusters(side, item, document, spec)
            return self._composed[place]
        if isinstance(item, RelationItem):
            assert document is not None, "a table of relations is listed document by document"
            source, target = (self._mentions[side, document, end.id] for end in (item.source, item.target))
            return LinkRecord(item.kind, source.id, target.id, (source,), (target,))
        if isinstance(item, ArgumentItem):
            assert document is not None, "a table of arguments is listed document by document"
            return self._argument(side, item, document)
        return ElementRecord(item.kind, item.attributes)

    def _of_clusters(
        self, side: Origin, item: LinkItem | TreeItem, document: str | None, spec: AlignmentSpec | None
    ) -> LinkRecord | TreeRecord:
        if isinstance(item, LinkItem):
            source, target = (self._cluster(side, key, document, spec) for key in (item.source, item.target))
            return LinkRecord(item.kind, source.id, target.id, source.mentions, target.mentions)
        events = tuple([self._cluster(side, key, document, spec) for key in item.events])
        return TreeRecord(events[0].id if events else str(item.root), "tree", events)

    def _argument(self, side: Origin, item: ArgumentItem, document: str) -> LinkRecord:
        ids = [mention.id for mention in item.mentions]
        key = side, document, item.role, item.event.id, item.cluster, *ids
        record = self._arguments.get(key)
        if record is None:
            event, *fillers = [self._mentions[side, document, id_] for id_ in (item.event.id, *ids)]
            filler = ids[0] if item.cluster is None and ids else item.cluster or ""
            record = LinkRecord(item.role, event.id, filler, (event,), tuple(fillers))
            self._arguments[key] = record
        return record

    def _cluster(
        self, side: Origin, key: Hashable, document: str | None, spec: AlignmentSpec | None, size: int | None = None
    ) -> ClusterRecord:
        record = self._clusters.get((side, key, document, spec))
        if record is None or (size is not None and record.size != size):
            members = self._members.get((side, key), ())
            matched = None if spec is None else self._matched.get(spec)
            mentions = tuple(
                record if matched is None or (side, place, record.id) in matched else replace(record, matched=False)
                for place, record in members
                if document is None or place == document
            )
            record = self._described_by(side, key, mentions, len(mentions) if size is None else size)
            self._clusters[side, key, document, spec] = record
        return record

    def _described_by(
        self, side: Origin, key: Hashable, mentions: tuple[MentionRecord, ...], size: int
    ) -> ClusterRecord:
        """A mention without a cluster gives its cluster its own id."""
        described = self._described.get((side, key))
        first = mentions[0] if mentions else None
        return ClusterRecord(
            key if isinstance(key, str) else first.id if first is not None else str(key),
            described.kind if described is not None else first.kind if first is not None else "cluster",
            None if first is None else first.line,
            {} if described is None else described.attributes,
            mentions,
            size,
        )


def place_of(records: Iterable[Record | None]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return the document and span of the first of some records that has them."""
    for record in records:
        if isinstance(record, MentionRecord):
            return record.document or "", record.span
        if isinstance(record, LinkRecord):
            return place_of([*record.source_mentions[:1], *record.target_mentions[:1]])
        if isinstance(record, ClusterRecord):
            return place_of(record.mentions[:1])
        if isinstance(record, TreeRecord):
            return place_of(record.events[:1])
    return "", ()
