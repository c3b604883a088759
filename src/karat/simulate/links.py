"""Errors of links: dropped or reversed."""

from collections.abc import Collection
from random import Random

from msgspec.structs import replace

from karat.model import Document, Link
from karat.simulate.chance import struck
from karat.simulate.link_faults import LinkFaults
from karat.simulate.validity import worse


def drop_link(document: Document, rate: float, random: Random) -> tuple[Document, int]:
    """Drop links."""
    hits = struck(len(document.links), rate, random)
    kept = tuple(link for link, hit in zip(document.links, hits, strict=True) if not hit)
    return replace(document, links=kept), sum(hits)


def reverse_link(
    document: Document, rate: float, random: Random, *, faults: Collection[str] = ()
) -> tuple[Document, int]:
    """Reverse links: all chosen ones if that makes no fault, else one after another where possible."""
    hits = struck(len(document.links), rate, random)
    chosen = [n for n, (link, hit) in enumerate(zip(document.links, hits, strict=True)) if hit and not _loop(link)]
    whole = _turned(document, chosen)
    if not worse(whole, document, faults):
        return whole, len(chosen)
    links = LinkFaults(document, faults)
    turned = [number for number in chosen if links.reverse(number)]
    return _turned(document, turned), len(turned)


def _loop(link: Link) -> bool:
    return link.source == link.target


def _turned(document: Document, numbers: Collection[int]) -> Document:
    chosen = set(numbers)
    links = tuple(
        Link(link.kind, link.target, link.source) if number in chosen else link
        for number, link in enumerate(document.links)
    )
    return replace(document, links=links)
