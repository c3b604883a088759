"""A corpus is mentions, clusters and links. Every format reads into these and is written from them.

The records are plain values: what a document says, and nothing about files, scores or protocols. Encoded as JSON
they are karat's own format, so the names here are the names in a `.jsonl` line.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

Region = tuple[tuple[int, int], ...]
"""Where something stands in the source: half-open segments, sorted, none overlapping another."""

Box = tuple[int, float, float, float, float]
"""A rectangle of an image: page, x, y, width, height."""

Boxes = tuple[Box, ...]
"""Where something stands in an image, which has no segments."""

Value = str | bool | int | float
"""What an attribute may hold."""

Id = Annotated[str, Meta(min_length=1)]
"""A name, unique where it is used; it means nothing."""

Unit = Literal["char", "token", "microsecond", "box"]
"""What offsets count: code points of the text, rows of the token table, or microseconds of a recording. An image has no
offsets: its mentions have boxes, and their spans are empty."""

ORDERED = frozenset({"after"})
"""Kinds of links that order events in time and make no hierarchy of them."""


class Mention(Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """One place in a document that speaks of an event (or an entity, a value, a time)."""

    id: Id
    span: Region
    head: Region | None = None
    extent: Region | None = None
    anchor: Region | None = None
    kind: str = "event"
    cluster: str | None = None
    """The cluster it belongs to; none: a cluster of its own."""
    attributes: dict[str, Value] = {}
    text: str | None = None
    confidence: tuple[str, ...] = ()
    """As written in the file; never scored."""
    scope: Region | None = None
    texts: dict[str, str] = {}
    """The texts of its other regions by their names: head, extent, ..."""
    boxes: dict[str, Boxes] = {}
    """Its regions by their names, the span too, where the source is an image."""


class Place(Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """A region that is no mention, with the text that stands there."""

    span: Region = ()
    text: str | None = None
    boxes: Boxes = ()


class Name(Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """A name of what a cluster stands for, and where it stands."""

    place: Place
    name: str | None = None


class External(Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """What a cluster is in a resource outside the corpus: the resource's name, and the id there."""

    resource: str
    id: str


class Cluster(Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """What mentions refer to. Only clusters that have more than an id need a record; ids are corpus-wide."""

    id: Id
    kind: str = "event"
    attributes: dict[str, Value] = {}
    names: tuple[Name, ...] = ()
    external: tuple[External, ...] = ()


class Link(Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """Joins two mentions, or two clusters, of a document: `source` to `target` (`from` and `to` in JSON)."""

    kind: str
    source: str = field(name="from")
    target: str = field(name="to")
    extent: Place | None = None
    """Where the document says it, if a format tells that of an argument."""


class Document(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One text with its annotations. The order of mentions is part of it; the order of links is not."""

    id: Id
    topic: str | None = None
    subtopic: str | None = None
    source: str | None = None
    """The kind of source: newswire, weblog, ..."""
    language: str | None = None
    producer: str | None = None
    """Who made the annotations, where a format says so."""
    text: str | None = None
    unit: Unit = "char"
    tokens: tuple[tuple[int, int], ...] | None = None
    about: dict[str, str] = {}
    """What else its file says of it, under the file's own names; never scored."""
    mentions: tuple[Mention, ...] = ()
    clusters: tuple[Cluster, ...] = ()
    links: tuple[Link, ...] = ()


class Pair(Struct, frozen=True):
    """The two sides of one document; a side that lacks it has it without mentions."""

    gold: Document
    system: Document


def nodes_of(kind: str) -> str:
    """The attribute that tells in how many nodes of a forest a cluster stands, where that is more than links tell."""
    return f"nodes.{kind}"


def qualified(document: str, id_: str) -> str:
    """The corpus-wide id of a cluster whose own id is local to a document."""
    return f"{document}:{id_}"
