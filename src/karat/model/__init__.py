"""The data model: a corpus is mentions, clusters and links. Every format is read into these and written from them.

The records are plain values and know nothing about files, scores or protocols. Encoded as JSON, they are karat's own
format, so the names here are the names in a `.jsonl` line.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

Region = tuple[tuple[int, int], ...]
"""A place in the source: half-open segments, sorted, without overlaps."""

Box = tuple[int, float, float, float, float]
"""A rectangle in an image: page, x, y, width, height."""

Boxes = tuple[Box, ...]
"""A place in an image, which has no segments."""

Value = str | bool | int | float
"""The value of an attribute."""

Id = Annotated[str, Meta(min_length=1)]
"""A name without meaning of its own, unique in its scope."""

Unit = Literal["char", "token", "microsecond", "box"]
"""The unit of offsets: code points of the text, rows of the token table, or microseconds of a recording. An image has
no offsets: its mentions have boxes, and their spans are empty."""

ClusterKey = str | tuple[str, int]
"""What identifies a cluster in a corpus: its id, or the document and number of a mention that has no cluster."""

ORDERED = frozenset({"after"})
"""Kinds of links that order events in time, and form no hierarchy."""


class Mention(Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """A place in a document that refers to an event (or an entity, a value, a time)."""

    id: Id
    span: Region
    head: Region | None = None
    extent: Region | None = None
    anchor: Region | None = None
    kind: str = "event"
    cluster: str | None = None
    """The cluster it belongs to; None: a cluster of its own."""
    attributes: dict[str, Value] = {}
    text: str | None = None
    confidence: tuple[str, ...] = ()
    """As written in the file; never scored."""
    scope: Region | None = None
    texts: dict[str, str] = {}
    """The texts of its other regions by name: head, extent, ..."""
    boxes: dict[str, Boxes] = {}
    """Its regions by name, including the span, if the source is an image."""


class Place(Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """A region that is not a mention, with its text."""

    span: Region = ()
    text: str | None = None
    boxes: Boxes = ()


class Name(Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """A name of what a cluster refers to, and its place in the document."""

    place: Place
    name: str | None = None


class External(Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """The id of a cluster in an external resource, with the name of that resource."""

    resource: str
    id: str


class Cluster(Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """What mentions refer to. Only clusters with more than an id need a record; ids are corpus-wide."""

    id: Id
    kind: str = "event"
    attributes: dict[str, Value] = {}
    names: tuple[Name, ...] = ()
    external: tuple[External, ...] = ()


class Link(Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """A directed link between two mentions, or two clusters, of a document (`from` and `to` in JSON)."""

    kind: str
    source: str = field(name="from")
    target: str = field(name="to")
    extent: Place | None = None
    """Where the document states it, if the format has that for arguments."""


class Document(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One text with its annotations. The order of mentions is significant, the order of links is not."""

    id: Id
    topic: str | None = None
    subtopic: str | None = None
    source: str | None = None
    """The kind of source: newswire, weblog, ..."""
    language: str | None = None
    producer: str | None = None
    """Who made the annotations, if the format says so."""
    text: str | None = None
    unit: Unit = "char"
    tokens: tuple[tuple[int, int], ...] | None = None
    about: dict[str, str] = {}
    """What else the file says about it, under the file's own names; never scored."""
    mentions: tuple[Mention, ...] = ()
    clusters: tuple[Cluster, ...] = ()
    links: tuple[Link, ...] = ()


class Pair(Struct, frozen=True):
    """A pair of documents: the two sides of one document. A side that does not have it has it without mentions."""

    gold: Document
    system: Document


def cluster_keys(document: Document) -> list[ClusterKey]:
    """The cluster of each mention; a mention without a cluster is its own."""
    return [
        mention.cluster if mention.cluster is not None else (document.id, number)
        for number, mention in enumerate(document.mentions)
    ]


def nodes_of(kind: str) -> str:
    """The attribute with the number of nodes of a cluster in a forest, if the links do not show it."""
    return f"nodes.{kind}"


def qualified(document: str, id_: str) -> str:
    """The corpus-wide id of a cluster whose own id is local to a document."""
    return f"{document}:{id_}"
