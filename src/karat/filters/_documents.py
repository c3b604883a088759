"""The registry of filters, what most of them do to documents, and the collapse of clusters."""

import hashlib
import sys
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

from msgspec.structs import replace

from karat.model import Document, Link, Mention, Pair
from karat.plugin import Collapse, Filter, PairTransform
from karat.registry import Registry, modules_of, subclass_of

K = TypeVar("K", bound=Hashable)

FILTERS: Registry[type[Filter]] = Registry(
    "karat.filters",
    "filter",
    own=lambda: modules_of(sys.modules["karat.filters"], "FILTER"),
    accept=subclass_of(Filter),
)


def unchanged(pair: Pair) -> Pair:
    return pair


def both_sides(transform: Callable[[Document], Document]) -> PairTransform:
    """Applies a transformation to both sides."""

    def transform_both(pair: Pair) -> Pair:
        gold, system = transform(pair.gold), transform(pair.system)
        return pair if gold is pair.gold and system is pair.system else Pair(gold, system)

    return transform_both


def restricted(document: Document, keep: Callable[[Mention], bool]) -> Document:
    """The document with only some of its mentions, and only the links whose ends remain."""
    mentions = tuple(mention for mention in document.mentions if keep(mention))
    ends = {mention.id for mention in mentions} | {mention.cluster for mention in mentions}
    links = tuple(link for link in document.links if link.source in ends and link.target in ends)
    return replace(document, mentions=mentions, links=links)


def divided(document: Document, keys: Sequence[K]) -> dict[K, Document]:
    """The document restricted to the mentions of each key."""
    mentions: dict[K, list[Mention]] = {}
    links: dict[K, list[Link]] = {}
    having: dict[str | None, dict[K, None]] = {}
    for mention, key in zip(document.mentions, keys, strict=True):
        mentions.setdefault(key, []).append(mention)
        for end in (mention.id, mention.cluster):
            having.setdefault(end, {})[key] = None
    for link in document.links:
        for key in having.get(link.source, {}):
            if key in having.get(link.target, {}):
                links.setdefault(key, []).append(link)
    return {
        key: replace(document, mentions=tuple(kept), links=tuple(links.get(key, ()))) for key, kept in mentions.items()
    }


def collapsing(collapse: Collapse | None) -> PairTransform:
    """Keeps one mention per cluster of a document, on each side by its own clusters.

    With `aligned`, all mentions stay: the table of meta-mentions collapses clusters without a representative.
    """
    if collapse is None or collapse.representative == "aligned":
        return unchanged
    names, seed = collapse.representative.split("/"), collapse.seed
    return lambda pair: Pair(_collapsed(pair.gold, names[0], seed), _collapsed(pair.system, names[-1], seed))


def _collapsed(document: Document, representative: str, seed: int) -> Document:
    """The document with only the `first`, the `last` or a `random` mention of each cluster."""

    def place(mention: Mention) -> tuple[int, int]:
        return (mention.span[0][0], mention.span[-1][1]) if mention.span else (0, 0)

    def draw(mention: Mention) -> bytes:
        """Equal mentions of the two sides draw the same."""
        return hashlib.sha256(f"{seed} {document.id} {mention.span or mention.id}".encode()).digest()

    members: dict[str, list[Mention]] = {}
    for mention in document.mentions:
        if mention.cluster is not None:
            members.setdefault(mention.cluster, []).append(mention)
    pick = max if representative == "last" else min
    key: Callable[[Mention], Any] = draw if representative == "random" else place
    kept = {pick(mentions, key=key).id for mentions in members.values()}
    return restricted(document, lambda mention: mention.cluster is None or mention.id in kept)
