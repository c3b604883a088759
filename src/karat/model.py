"""A corpus is mentions, clusters and links. Every format reads into these and is written from them.

The records are plain values: what a document says, and nothing about files, scores or protocols. Encoded as JSON
they are karat's own format, so the names here are the names of CONTRACT and of a `.jsonl` line.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

Region = tuple[tuple[int, int], ...]
"""Where something stands in the source: half-open segments, sorted, none overlapping another."""

Value = str | bool | int | float
"""What an attribute may hold."""

Id = Annotated[str, Meta(min_length=1)]
"""A name, unique where it is used; it means nothing."""

Unit = Literal["char", "token"]
"""What offsets count: code points of the text, or rows of the token table."""

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


class Cluster(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What mentions refer to. Only clusters that have more than an id need a record; ids are corpus-wide."""

    id: Id
    kind: str = "event"
    attributes: dict[str, Value] = {}


class Link(Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """Joins two mentions, or two clusters, of a document: `source` to `target` (`from` and `to` in JSON)."""

    kind: str
    source: str = field(name="from")
    target: str = field(name="to")


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
