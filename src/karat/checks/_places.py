"""Everything in a document that has a place in its text."""

from collections.abc import Iterator

from karat.errors import Item
from karat.model import Document, Region

_REGIONS = ("head", "extent", "anchor", "scope")


def placed(document: Document) -> Iterator[tuple[Item, Region, str | None]]:
    """Spans of mentions and their other regions, names of clusters, and extents of links, each with its text."""
    for mention in document.mentions:
        if mention.span:
            yield mention.id, mention.span, mention.text
        if mention.head or mention.extent or mention.anchor or mention.scope:
            for name in _REGIONS:
                if region := getattr(mention, name):
                    yield (mention.id, name), region, mention.texts.get(name)
    for cluster in document.clusters:
        for number, place in enumerate([name.place for name in cluster.names]):
            if place.span:
                yield (cluster.id, f"name {number}"), place.span, place.text
    for link in document.links:
        if link.extent is not None and link.extent.span:
            yield (link.kind, link.source, link.target), link.extent.span, link.extent.text


def owner(item: Item) -> str:
    """What has a region, as a message names it."""
    if isinstance(item, str):
        return f"mention {item!r}"
    if len(item) == 3:
        kind, source, target = item
        return f"the extent of {target!r} as {kind} of {source!r}"
    id_, part = item
    return f"the {part} of mention {id_!r}" if part in _REGIONS else f"a name of {id_!r}"
