"""The data model: a corpus is mentions, clusters and links. Every format is read into these and written from them.

The records are plain values and know nothing about files, scores or protocols. Encoded as JSON, they are karat's own
format, so the names here are the names in a `.jsonl` line.
"""

import re
from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

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
"""Identity of a cluster in a corpus: its id, or the document and index of a mention that has no cluster."""

TEMPORAL = frozenset(
    "BEFORE AFTER IBEFORE IAFTER INCLUDES IS_INCLUDED BEGINS BEGUN_BY ENDS ENDED_BY SIMULTANEOUS IDENTITY DURING "  # noqa: SIM905
    "DURING_INV OVERLAP OVERLAPPED CONTAINS ENDS-ON BEGINS-ON EQUAL VAGUE NONE UNKNOWN".split()
)
"""Kinds of links that relate events and times in time; such a link from an event to a time is not an argument."""

ORDERED = TEMPORAL | {"after"}
"""Kinds of links that order events in time, and form no hierarchy."""

HOLDERS = frozenset({"event", "template"})
"""Kinds of mentions that have arguments. What fills a role is of another kind."""

ACYCLIC = frozenset({"after", "subevent", "member"})
"""Kinds of links in which a cycle makes no sense, whatever a protocol reads."""


class Mention(Struct, frozen=True, gc=False, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """A place in a document that refers to an event (or an entity, a value, a time)."""

    id: Id
    """Unique in its document. JSON may leave it out where there is a span."""
    span: Region
    """Where it is. Several segments make a discontinuous mention; a mention with no segment matches by its id."""
    head: Region | None = None
    """Its syntactic head."""
    extent: Region | None = None
    """The phrase or sentence around it, if that is more than the span (ACE events)."""
    anchor: Region | None = None
    """The word that expresses an event, if it is not the span."""
    kind: str = "event"
    """Kind of its referent: event, entity, value, time, relation, template."""
    cluster: str | None = None
    """The id of its cluster; without one, it is a cluster of its own."""
    attributes: dict[str, Value] = {}
    """Such as type and realis."""
    text: str | None = None
    """The text of its span."""
    confidence: tuple[str, ...] = ()
    """As written in the file; never scored."""
    scope: Region | None = None
    """The scope of an event mention (ACE: ldc_scope)."""
    texts: dict[str, str] = {}
    """The texts of its other regions, by name (head, extent, ...)."""
    boxes: dict[str, Boxes] = {}
    """Its regions by name, including the span, if the source is an image."""


EMPTY: dict[str, Any] = {}
"""Shared by mentions without `texts`, `boxes` or `attributes`, which then need no mapping of their own; not changed."""


class Place(Struct, frozen=True, gc=False, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """A region that is not a mention, with its text."""

    span: Region = ()
    """Where it is."""
    text: str | None = None
    """Its text."""
    boxes: Boxes = ()
    """Where it is, if the source is an image."""


class Name(Struct, frozen=True, gc=False, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """A name of what a cluster refers to, and its place in the document."""

    place: Place
    """Where the document has it."""
    name: str | None = None
    """The name as the file spells it (ACE: NAME)."""


class External(Struct, frozen=True, gc=False, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """The id of a cluster in an external resource, with the name of that resource."""

    resource: str
    """The name of the resource."""
    id: str
    """The id in that resource."""


class Cluster(Struct, frozen=True, gc=False, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """The referent of mentions. Only clusters that have more than an id need a record."""

    id: Id
    """Unique in the corpus: the same id in two documents is the same cluster."""
    kind: str = "event"
    """Kind of the referent: event, entity, value, time, relation."""
    attributes: dict[str, Value] = {}
    """Such as the type and subtype of an ACE entity."""
    names: tuple[Name, ...] = ()
    """Its names (ACE: entity_attributes)."""
    external: tuple[External, ...] = ()
    """Its ids in external resources (ACE: external_link)."""


class Link(Struct, frozen=True, gc=False, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """A directed link between two mentions, or two clusters, of a document (`from` and `to` in JSON)."""

    kind: str
    """Such as subevent, member or after; for arguments, the role."""
    source: str = field(name="from")
    """The id of a mention or cluster: the parent, the earlier event, or the event that has the argument."""
    target: str = field(name="to")
    """The id of a mention or cluster: the child, the later event, or the argument."""
    extent: Place | None = None
    """Where the document states it, if the format has that for arguments."""


class EmptyNode(Struct, frozen=True, gc=False, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """A token that stands for a word that is not spoken, such as a dropped pronoun (CoNLL-U: the node `8.1`).

    Only one side may have it: it is identified by its sentence, the word before it and its number.
    """

    token: int
    """Its place among the tokens of the document."""
    number: int
    """Its number after the word before it, or, at the beginning of a sentence, before the first word: 1 in `8.1`."""
    dependencies: tuple[tuple[int | None, str], ...] = ()
    """Its parents in the enhanced dependencies, each with the relation: a token, or null for the root."""


Line = int | tuple[str, int]
"""Where a record stood: a line of its document's file, or another file (a companion) and a line of that."""


class Places(Struct, frozen=True):
    """Where the records of a document stood in its file: a line for each of its mentions, its clusters, its links, ...

    An empty sequence says that all of them stood in the line of the document.
    """

    line: int
    """The line in which the document begins."""
    mentions: Sequence[Line] = ()
    clusters: Sequence[Line] = ()
    links: Sequence[Line] = ()
    tokens: Sequence[Line] = ()
    regions: Mapping[tuple[str, str], Line] = {}
    """Lines of single regions, by the id of the mention or cluster and the name of the region."""
    source: str | None = None
    """The file that the text was read from, if it is not that of the annotations."""


class Declared(Struct, frozen=True):
    """What the file of a document can hold: a run takes it as present, even if no record of the document has it.

    A file in TBF, for example, has types and realis, also for a document without mentions.
    """

    kinds: Collection[str] = ()
    """Kinds of mentions."""
    attributes: Collection[tuple[str, str]] = ()
    """Kinds of mentions, each with the name of an attribute."""
    links: Collection[str] = ()
    """Kinds of links between events."""
    relations: Collection[str] = ()
    """Names of relations as written, for `--coreference`."""
    strings: Mapping[str, int] = {}
    """How many strings of an answer were found in gold's text, by the way they were found."""
    unread: Callable[[], Iterable[str]] = tuple
    """Returns, for conversions, the kinds of information in its file that karat does not read."""


def compact_lines(lines: list[int]) -> Sequence[int]:
    """Line numbers in few bytes: as a range if each is the next one."""
    if lines and lines[-1] - lines[0] == len(lines) - 1:
        consecutive = range(lines[0], lines[-1] + 1)
        if lines == [*consecutive]:
            return consecutive
    return array("I", lines)


class Document(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, dict=True):
    """One text with its annotations. The order of mentions is significant, the order of links is not."""

    id: Id
    """Unique in the corpus. The documents of the two sides are paired by id."""
    topic: str | None = None
    """Its topic; without one, it is a topic of its own."""
    subtopic: str | None = None
    """Its part of the topic, such as 36ecb in ECB+."""
    source: str | None = None
    """The kind of source: newswire, weblog, ..."""
    language: str | None = None
    """Such as en."""
    producer: str | None = None
    """Who made the annotations, if the format says so."""
    text: str | None = None
    """The text that offsets in characters refer to."""
    unit: Unit = "char"
    """Unit of offsets: characters, tokens, microseconds of a recording; or `box`, for an image."""
    tokens: tuple[tuple[int, int], ...] | None = None
    """The tokens, each with its place in the text."""
    forms: tuple[str, ...] | None = None
    """In token units, the word of each token; empty where it is not known. Compared between the sides, never scored."""
    token_ids: tuple[str, ...] | None = None
    """The id of each row of the token table (TBF); later offsets spell ids that it lacks. Never scored."""
    sentences: tuple[tuple[int, int], ...] = ()
    """In token units, the tokens of each sentence; never scored."""
    sentence_ids: tuple[str, ...] = ()
    """The id of each sentence, such as `# sent_id` of CoNLL-U, or empty; compared between the sides, never scored."""
    empty_nodes: tuple[EmptyNode, ...] = ()
    """In the order of their tokens."""
    about: dict[str, str] = {}
    """Further information of the file, under its own names; never scored."""
    mentions: tuple[Mention, ...] = ()
    """Its mentions, in the order of the file."""
    clusters: tuple[Cluster, ...] = ()
    """The clusters of its mentions that have more than an id."""
    links: tuple[Link, ...] = ()
    """Its links."""

    @property
    def places(self) -> Places | None:
        """Where its records stood, if it was read from a file. Never encoded, and no part of equality and hash."""
        places: Places | None = self.__dict__.get("places")
        return places

    @property
    def declared(self) -> Declared | None:
        """What its file can hold. Like the places, it is not encoded."""
        declared: Declared | None = self.__dict__.get("declared")
        return declared

    def at(self, places: Places, declared: Declared | None = None) -> "Document":
        """Attach places, and what the file declares, to this document, and return it."""
        self.__dict__["places"] = places
        if declared is not None:
            self.__dict__["declared"] = declared
        return self

    def made_from(self, original: "Document") -> "Document":
        """Attach the line, source and declared information of another document, and return this one."""
        places = original.places
        return self if places is None else self.at(Places(places.line, source=places.source), original.declared)

    def __repr__(self) -> str:
        sizes = f"{len(self.mentions)} mentions, {len(self.clusters)} clusters, {len(self.links)} links"
        return f"<Document {self.id}: {sizes}>"


DOCUMENT_FIELDS: dict[str, Callable[[Document], str | None]] = {
    "document": lambda document: document.id,
    "topic": lambda document: document.topic,
    "subtopic": lambda document: document.subtopic,
    "source": lambda document: document.source,
    "language": lambda document: document.language,
}
"""Fields of a document, by the names that reports use."""


class Pair(Struct, frozen=True):
    """The two sides of one document. A side that lacks the document has one without mentions here."""

    gold: Document
    system: Document


def cluster_keys(document: Document) -> list[ClusterKey]:
    """The cluster of each mention; a mention without a cluster is its own."""
    return [
        mention.cluster if mention.cluster is not None else (document.id, index)
        for index, mention in enumerate(document.mentions)
    ]


def nodes_of(kind: str) -> str:
    """The attribute of a cluster for how many nodes of a forest of these links it is, if the links do not show it."""
    return f"nodes.{kind}"


def qualified(document: str, id_: str) -> str:
    """The corpus-wide id of a cluster whose own id is local to a document."""
    return f"{document}:{id_}"


def xml_name(id_: str) -> str:
    """An id as the beginning of an XML name."""
    return re.sub(r"[^\w.\-]|\A(?![^\W\d])", "_", id_)
