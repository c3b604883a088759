"""Items and outcomes as `--details` lists them."""

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType, field, json

from karat.counts import Counts
from karat.model import Region, Value


class MentionRecord(Struct, frozen=True, gc=False):
    """A mention as `--details` lists it."""

    id: str
    kind: str
    span: Region
    text: str | None
    """Its text, if that is known."""
    line: int | None
    """Its line in the file; None for a corpus in memory."""
    attributes: Mapping[str, Value]
    document: str | UnsetType = UNSET
    """Its document, if the unit of evaluation has several."""
    matched: Literal[False] | UnsetType = UNSET
    """False for a mention of a cluster that no mention of the other side is aligned with."""


class ClusterRecord(Struct, frozen=True, gc=False):
    """A cluster with its mentions; the line is that of its first mention."""

    id: str
    kind: str
    line: int | None
    attributes: Mapping[str, Value]
    mentions: tuple[MentionRecord, ...]
    size: int
    """The number of its mentions that count."""


class LinkRecord(Struct, frozen=True, gc=False):
    """A link between two clusters, each with its mentions."""

    kind: str
    source: str = field(name="from")
    target: str = field(name="to")
    source_mentions: tuple[MentionRecord, ...] = field(name="from_mentions")
    target_mentions: tuple[MentionRecord, ...] = field(name="to_mentions")


class TreeRecord(Struct, frozen=True, gc=False):
    """A tree of events, from the root down."""

    id: str
    """Its root."""
    kind: str
    events: tuple[ClusterRecord, ...]


class ElementRecord(Struct, frozen=True, gc=False):
    """An item with attributes that is not a mention, a cluster, a link or a tree."""

    kind: str
    attributes: Mapping[str, Value]


Record = MentionRecord | ClusterRecord | LinkRecord | TreeRecord | ElementRecord


class OutcomeRecord(Struct, eq=False, gc=False):
    """An outcome of a measure as `--details` lists it. Records of mentions are shared by all measures."""

    unit: str
    document: str | None
    """None if its items may be in several documents of the unit."""
    outcome: str
    """`match`, `miss`, `spurious`, or a class that the family describes."""
    gold: Record | None
    system: Record | None
    counts: Counts

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        content: dict[str, Any] = json.decode(json.encode(self.contents()))
        return content

    def contents(self) -> dict[str, Any]:
        """The content that is encoded as JSON, with records in it."""
        return {
            "document": self.document,
            **({} if self.document == self.unit else {"unit": self.unit}),
            "outcome": self.outcome,
            "gold": self.gold,
            "system": self.system,
            "counts": self.counts.to_dict(),
        }
