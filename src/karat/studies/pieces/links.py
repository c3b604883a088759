"""Pieces that are links between events."""

from collections.abc import Collection, Sequence
from itertools import cycle, pairwise

from msgspec.structs import replace

from karat.model import Document, Link
from karat.studies.pieces import without_links

Placed = tuple[int, Link]
"""The number of a document, and a link in it."""


class Links:
    """Right: a gold link. Wrong: a link that gold does not have. Mentions and clusters are always those of gold."""

    noun = "link"

    def __init__(
        self, gold: Sequence[Document], kinds: Collection[str], correct: Sequence[Placed], wrong: Sequence[Placed]
    ) -> None:
        others = {link.kind for document in gold for link in document.links} - set(kinds)
        self.gold = [without_links(document, others) for document in gold]
        self.right, self.astray = correct, wrong
        self.correct, self.wrong = ([self._described(*placed) for placed in side] for side in (correct, wrong))

    @classmethod
    def of(cls, gold: Sequence[Document], kinds: Collection[str]) -> "Links":
        """The links of these kinds in the order of their targets, and wrong ones that join all roots to a chain.

        A root is an event that is the target of none of these links. Each root is put below the one before it,
        with links of each kind in turn, until one root is left.
        """
        correct: list[Placed] = []
        wrong: list[Placed] = []
        for d, document in enumerate(gold):
            rank = _ranks(document)
            own = _telling([link for link in document.links if link.kind in kinds], rank)
            correct += [(d, link) for link in own]
            led = {rank[link.target] for link in own}
            names = {rank[mention.id]: mention.id for mention in reversed(document.mentions)}
            roots = [name for number, name in sorted(names.items()) if number not in led]
            pairs = zip(pairwise(roots), cycle(sorted(kinds)), strict=False)
            wrong += [(d, Link(kind, source, target)) for (source, target), kind in pairs]
        return cls(gold, kinds, correct[::-1], wrong[::-1])

    def system(self, correct: Collection[int], wrong: Collection[int]) -> list[Document]:
        """Gold with only these links."""
        links: list[list[Link]] = [[] for _ in self.gold]
        for d, link in [self.right[number] for number in sorted(correct)]:
            links[d].append(link)
        for d, link in [self.astray[number] for number in sorted(wrong)]:
            links[d].append(link)
        return [replace(document, links=tuple(own)) for document, own in zip(self.gold, links, strict=True)]

    def _described(self, d: int, link: Link) -> str:
        where = f" of {self.gold[d].id}" if len(self.gold) > 1 else ""
        return f"{link.kind} {link.source} -> {link.target}{where}"


def _telling(links: Sequence[Link], rank: dict[str, int]) -> list[Link]:
    """Links in the order of their targets, one per pair of events, without links inside an event."""
    distinct = {(rank[link.target], rank[link.source], link.kind): link for link in reversed(links)}
    return [distinct[key] for key in sorted(distinct) if key[0] != key[1]]


def _ranks(document: Document) -> dict[str, int]:
    """For each mention and cluster, by id: the place of its event's first mention. Mentions win over clusters."""
    first: dict[str, int] = {}
    silent = {cluster.id: len(document.mentions) + c for c, cluster in enumerate(document.clusters)}
    for m, mention in enumerate(document.mentions):
        if mention.cluster is not None:
            first.setdefault(mention.cluster, m)
    mentions = {
        mention.id: m if mention.cluster is None else first[mention.cluster]
        for m, mention in enumerate(document.mentions)
    }
    return silent | first | mentions
