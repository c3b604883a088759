"""Everything in a document that has a place in its text."""

from collections.abc import Iterator
from typing import NamedTuple

from karat.errors import Item
from karat.model import Document, Region


class Placed(NamedTuple):
    """A region of an item, and the text that the annotation gives for it."""

    item: Item
    owner: str
    """What has the region, as a message names it."""
    region: Region
    text: str | None


def placed(document: Document) -> Iterator[Placed]:
    """Spans of mentions and their other regions, names of clusters, and extents of links."""
    for mention in document.mentions:
        if mention.span:
            yield Placed(mention.id, f"mention {mention.id!r}", mention.span, mention.text)
        for name in ("head", "extent", "anchor", "scope"):
            if region := getattr(mention, name):
                owner = f"the {name} of mention {mention.id!r}"
                yield Placed((mention.id, name), owner, region, mention.texts.get(name))
    for cluster in document.clusters:
        for number, place in enumerate([name.place for name in cluster.names]):
            if place.span:
                item = cluster.id, f"name {number}"
                yield Placed(item, f"a name of {cluster.id!r}", place.span, place.text)
    for link in document.links:
        if link.extent is not None and link.extent.span:
            owner = f"the extent of {link.target!r} as {link.kind} of {link.source!r}"
            yield Placed((link.kind, link.source, link.target), owner, link.extent.span, link.extent.text)
