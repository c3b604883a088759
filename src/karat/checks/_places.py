"""Everything in a document that stands somewhere in its text."""

from collections.abc import Iterator
from typing import NamedTuple

from karat.errors import Item
from karat.model import Document, Region


class Placed(NamedTuple):
    """A region, what it is of, as a sentence names it, and what is said to stand there."""

    item: Item
    whose: str
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
        for number, name in enumerate(cluster.names):
            if name.place.span:
                item = cluster.id, f"name {number}"
                yield Placed(item, f"a name of {cluster.id!r}", name.place.span, name.place.text)
    for link in document.links:
        if link.extent is not None and link.extent.span:
            whose = f"the extent of {link.target!r} as {link.kind} of {link.source!r}"
            yield Placed((link.kind, link.source, link.target), whose, link.extent.span, link.extent.text)
