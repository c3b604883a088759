"""The part of gold that a diagnostic condition of ACE gives to systems (evaluation plan, Table 8).

mentions    entity mentions, for "EDR co-reference (given correct mentions)": each is a separate entity, in text order
            and with a new id, since the old order and ids would reveal which corefer; its entity keeps only type,
            subtype and class, which APF requires
elements    entities, values and times with their mentions, for "RDR (VDR) given correct entities, values and
            timex2s": without relations and events
"""

import re
from typing import Literal

from msgspec.structs import replace

from karat.errors import Rule, quoted
from karat.model import Cluster, Document, Mention

Keep = Literal["mentions", "elements"]

NOTHING = Rule("nothing-given", "fatal", "--keep is for corpora with entities, such as APF.")
ELEMENTS = frozenset({"entity", "value", "time"})


def given(document: Document, keep: Keep) -> Document:
    """The part of a document that is given to systems."""
    if document.mentions and not any(mention.kind in ELEMENTS for mention in document.mentions):
        raise NOTHING.error(f"document {quoted(document.id)} has no mention of an entity, a value or a time")
    return _mentions(document) if keep == "mentions" else _elements(document)


def _elements(document: Document) -> Document:
    return replace(
        document,
        mentions=tuple(mention for mention in document.mentions if mention.kind in ELEMENTS),
        clusters=tuple(cluster for cluster in document.clusters if cluster.kind in ELEMENTS),
        links=(),
    )


def _mentions(document: Document) -> Document:
    clusters = {cluster.id: cluster for cluster in document.clusters}
    # Ids must be XML names, and unique across documents.
    stem = re.sub(r"[^\w.\-]|\A(?![^\W\d])", "_", document.id)
    mentions: list[Mention] = []
    alone: list[Cluster] = []
    for number, mention in enumerate(sorted(_entities(document), key=_place), 1):
        own = clusters.get(mention.cluster or "", Cluster(mention.id, "entity"))
        attributes = {name: value for name, value in own.attributes.items() if name in ("type", "subtype", "class")}
        alone.append(Cluster(f"{stem}-E{number}", "entity", attributes))
        mentions.append(replace(mention, id=f"{stem}-E{number}-1", cluster=alone[-1].id))
    return replace(document, mentions=tuple(mentions), clusters=tuple(alone), links=())


def _entities(document: Document) -> list[Mention]:
    return [mention for mention in document.mentions if mention.kind == "entity"]


def _place(mention: Mention) -> tuple[object, ...]:
    """Text order; for an image, the order of its boxes."""
    return mention.span, mention.head or (), sorted(mention.boxes.items()), sorted(map(str, mention.attributes.items()))
