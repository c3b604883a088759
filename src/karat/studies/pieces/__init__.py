"""Pieces of information, right or wrong, from which systems are made.

Araki et al. (2014), section 3.3: a correct piece is the addition of one correct link or the deletion of one incorrect
link. Here, mentions, coreference links and whole elements are pieces, too.

    mentions   right: a gold mention              wrong: a copy of it where gold has none
    clusters   right: a mention joined with the   wrong: the first mentions of two neighbouring clusters
               one before it in its cluster              joined
    arguments  right: a gold argument             wrong: its role, filled by a copy where gold has none
    links      right: a gold link                 wrong: a link between two events that have no parent
    elements   right: a whole cluster             wrong: a copy of it where gold has none

Pieces are ordered from the last of the corpus to the first, bottom-up, as in the paper's Figure 4.
"""

from collections.abc import Collection, Sequence
from typing import Any, Protocol

from msgspec.structs import replace

from karat.model import Document, Link, Mention, Region
from karat.model.texts import mention_text


class Pieces(Protocol):
    """What a system can get right, and as much that it can get wrong."""

    noun: str
    """What one piece is called."""

    @property
    def gold(self) -> Sequence[Document]:
        """Gold, restricted to what these pieces describe."""
        ...

    @property
    def correct(self) -> Sequence[str]:
        """The right pieces in the order in which a system grows, described."""
        ...

    @property
    def wrong(self) -> Sequence[str]:
        """The wrong pieces, described."""
        ...

    def system(self, correct: Collection[int], wrong: Collection[int]) -> list[Document]:
        """The system that consists of these pieces, given by number."""
        ...


def bare(document: Document) -> Document:
    """The document without its text, so that mentions can be put beyond its end; mentions know theirs."""
    mentions = tuple(replace(mention, text=mention_text(mention, document)) for mention in document.mentions)
    return replace(document, text=None, tokens=None, mentions=mentions)


def without_links(document: Document, kinds: Collection[str] | None = None) -> Document:
    """The document without links of these kinds (None: without any)."""
    kept = () if kinds is None else tuple(link for link in document.links if link.kind not in kinds)
    return replace(document, links=kept)


def without_clusters(document: Document) -> Document:
    """The document with each mention as a singleton; links are removed, since they may name clusters."""
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
    """The document with new ids, and every mention moved beyond the last one."""
    regions = [region for mention in document.mentions for region in _regions(mention).values()]
    by = max((end for region in regions for _, end in region), default=0)

    def moved(mention: Mention) -> Mention:
        places: dict[str, Any] = {
            name: tuple((begin + by, end + by) for begin, end in region) for name, region in _regions(mention).items()
        }
        places["text"] = mention.text and mark + mention.text
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
