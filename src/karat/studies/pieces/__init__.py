"""Pieces of information: what a system says, one thing at a time, right or wrong.

Araki et al. (2014), section 3.3: a correct piece is the addition of one correct link or the deletion of one incorrect
link. The same holds for the other two sentences of a corpus: a mention, and a link of coreference, are pieces too.

    mentions   right: a gold mention              wrong: the same one where gold has none
    clusters   right: a mention with the one      wrong: the first mention of a cluster with that of the
               before it in its cluster                  cluster before it
    links      right: a gold link                 wrong: a link between two events that nothing leads to
    elements   right: a cluster with all of it    wrong: the same one where gold has none

Pieces stand from the last of the corpus to the first, as in the paper's Figure 4: bottom-up.
"""

from collections.abc import Collection, Sequence
from typing import Any, Protocol

from msgspec.structs import replace

from karat.model import Document, Link, Mention, Region


class Pieces(Protocol):
    """All that a system can get right, and as much that it can get wrong."""

    noun: str
    """What one is called."""

    @property
    def gold(self) -> Sequence[Document]:
        """Gold as far as these pieces tell of it."""
        ...

    @property
    def correct(self) -> Sequence[str]:
        """What each right piece is, in the order in which a system grows."""
        ...

    @property
    def wrong(self) -> Sequence[str]:
        """The same of the wrong ones."""
        ...

    def system(self, correct: Collection[int], wrong: Collection[int]) -> list[Document]:
        """The system that says just these, by their numbers."""
        ...


def bare(document: Document) -> Document:
    """The document without its text, so that mentions can be put where the text has ended."""
    mentions = tuple(replace(mention, text=None) for mention in document.mentions)
    return replace(document, text=None, tokens=None, mentions=mentions)


def without_links(document: Document, kinds: Collection[str] | None = None) -> Document:
    """The document without links of these kinds (None: without any)."""
    kept = () if kinds is None else tuple(link for link in document.links if link.kind not in kinds)
    return replace(document, links=kept)


def without_clusters(document: Document) -> Document:
    """The document with each mention as a cluster of its own; links, which may name clusters, go too."""
    mentions = tuple(replace(mention, cluster=None) for mention in document.mentions)
    return replace(document, mentions=mentions, clusters=(), links=())


def strangers(documents: Sequence[Document]) -> list[Document]:
    """A corpus of the same shape that has no mention, cluster or link in common with this one."""
    mark = "other-"
    while any(id_.startswith(mark) for document in documents for id_ in _ids(document)):
        mark += "other-"
    return [_stranger(document, mark) for document in documents]


def _ids(document: Document) -> list[str]:
    clusters = [mention.cluster for mention in document.mentions if mention.cluster is not None]
    return [mention.id for mention in document.mentions] + clusters


def _stranger(document: Document, mark: str) -> Document:
    """Other names, and every mention beyond the last one."""
    regions = [region for mention in document.mentions for region in _regions(mention).values()]
    by = max((end for region in regions for _, end in region), default=0)

    def moved(mention: Mention) -> Mention:
        places: dict[str, Any] = {
            name: tuple((begin + by, end + by) for begin, end in region) for name, region in _regions(mention).items()
        }
        return replace(mention, id=mark + mention.id, cluster=mention.cluster and mark + mention.cluster, **places)

    return replace(
        document,
        mentions=tuple(map(moved, document.mentions)),
        clusters=tuple(replace(cluster, id=mark + cluster.id) for cluster in document.clusters),
        links=tuple(Link(link.kind, mark + link.source, mark + link.target) for link in document.links),
    )


def _regions(mention: Mention) -> dict[str, Region]:
    regions = {name: getattr(mention, name) for name in ("span", "head", "extent", "anchor")}
    return {name: region for name, region in regions.items() if region is not None}
