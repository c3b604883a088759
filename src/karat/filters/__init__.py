"""Filters: what leaves a pair of documents before it is aligned, one module per filter, and the collapse of clusters.

A filter is a subclass of `karat.plugin.Filter` that its module offers as `FILTER`; its fields are the options that an
entry in a protocol's `[[filters]]` may give. Another package offers one through the entry-point group `karat.filters`.
"""

import sys
from collections.abc import Callable

from msgspec.structs import replace

from karat.model import Document, Mention, Pair
from karat.plugin import Collapse, Filter, PairTransform
from karat.registry import Registry, modules_of, subclass_of

FILTERS: Registry[type[Filter]] = Registry(
    __name__,
    "filter",
    own=lambda: modules_of(sys.modules[__name__], "FILTER"),
    accept=subclass_of(Filter),
)


def unchanged(pair: Pair) -> Pair:
    """Nothing leaves."""
    return pair


def both_sides(transform: Callable[[Document], Document]) -> PairTransform:
    """The same transformation of both sides."""

    def transform_both(pair: Pair) -> Pair:
        gold, system = transform(pair.gold), transform(pair.system)
        return pair if gold is pair.gold and system is pair.system else Pair(gold, system)

    return transform_both


def restricted(document: Document, keep: Callable[[Mention], bool]) -> Document:
    """The document with only some of its mentions, and only the links whose ends are still there."""
    mentions = tuple(mention for mention in document.mentions if keep(mention))
    ends = {mention.id for mention in mentions} | {mention.cluster for mention in mentions}
    links = tuple(link for link in document.links if link.source in ends and link.target in ends)
    return replace(document, mentions=mentions, links=links)


def collapsing(collapse: Collapse | None) -> PairTransform:
    """Keeps one mention of each cluster, each side by its own clusters.

    With `aligned` all mentions stay, and the table of meta-mentions collapses clusters where none represents another.
    """
    if collapse is None or collapse.representative == "aligned":
        return unchanged
    pick = min if collapse.representative == "first" else max

    def collapsed(document: Document) -> Document:
        members: dict[str, list[Mention]] = {}
        for mention in document.mentions:
            if mention.cluster is not None:
                members.setdefault(mention.cluster, []).append(mention)
        kept = {pick(mentions, key=_place).id for mentions in members.values()}
        return restricted(document, lambda mention: mention.cluster is None or mention.id in kept)

    return both_sides(collapsed)


def _place(mention: Mention) -> tuple[int, int]:
    """Where a mention begins and ends."""
    return (mention.span[0][0], mention.span[-1][1]) if mention.span else (0, 0)
