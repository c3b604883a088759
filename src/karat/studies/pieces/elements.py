"""Pieces that are elements: clusters of one kind, each with its record, its mentions and the links from it."""

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from karat.model import Document, Link
from karat.studies.pieces import strangers


class Elements:
    """Right: an element of a kind. Wrong: a copy of it where gold has none, with links to other elements.

    Elements that they link to are there from the start; elements that link to them are ignored.
    """

    def __init__(self, gold: Sequence[Document], kind: str) -> None:
        self.noun = f"{kind} element"
        pointed = _pointed_at(gold, kind)
        self.gold = [_of_kinds(document, {kind, *pointed}) for document in gold]
        self._given = [_of_kinds(document, pointed - {kind}) for document in self.gold]
        self._strangers = [
            replace(other, links=_led_astray(document, other))
            for document, other in zip(self.gold, strangers(self.gold), strict=True)
        ]
        self._places = [
            (d, c)
            for d, document in enumerate(self.gold)
            for c, one in enumerate(document.clusters)
            if one.kind == kind
        ][::-1]
        self.correct = [f"{self.gold[d].clusters[c].id} of {self.gold[d].id}" for d, c in self._places]
        self.wrong = [f"{piece}, elsewhere" for piece in self.correct]

    def system(self, correct: Collection[int], wrong: Collection[int]) -> list[Document]:
        """The other kinds, then gold's elements, then the wrong ones."""
        chosen = [{self._places[number] for number in numbers} for numbers in (correct, wrong)]
        return [
            _joined([given, *(_only(side, {c for own, c in places if own == d}) for side, places in sides)])
            for d, given in enumerate(self._given)
            for sides in [[(self.gold[d], chosen[0]), (self._strangers[d], chosen[1])]]
        ]


def kinds_of_elements(gold: Sequence[Document]) -> list[str]:
    """Kinds of clusters that have records; first those to which no link from another kind leads."""
    kinds = sorted({cluster.kind for document in gold for cluster in document.clusters})
    ends = {kind: _pointed_at(gold, kind) - {kind} for kind in kinds}
    return sorted(kinds, key=lambda kind: (any(kind in others for others in ends.values()), kind))


def undescribed(document: Document) -> Document:
    """The document with clusters that have no attributes."""
    return replace(document, clusters=tuple(replace(cluster, attributes={}) for cluster in document.clusters))


def without_kind(document: Document, kind: str) -> Document:
    """The document without the elements of a kind."""
    return _of_kinds(document, {cluster.kind for cluster in document.clusters} - {kind})


def _pointed_at(gold: Sequence[Document], kind: str) -> set[str]:
    """Kinds of the elements that links from elements of a kind lead to."""
    found: set[str] = set()
    for document in gold:
        kinds = {cluster.id: cluster.kind for cluster in document.clusters}
        found |= {
            kinds[link.target] for link in document.links if kinds.get(link.source) == kind and link.target in kinds
        }
    return found


def _of_kinds(document: Document, kinds: Collection[str]) -> Document:
    return _only(document, {number for number, cluster in enumerate(document.clusters) if cluster.kind in kinds})


def _only(document: Document, numbers: Collection[int]) -> Document:
    """The document with these of its elements, their mentions and the links from them."""
    clusters = tuple(cluster for number, cluster in enumerate(document.clusters) if number in numbers)
    ids = {cluster.id for cluster in clusters}
    mentions = tuple(mention for mention in document.mentions if mention.cluster in ids)
    sources = ids | {mention.id for mention in mentions}
    links = tuple(link for link in document.links if link.source in sources)
    return replace(document, clusters=clusters, mentions=mentions, links=links)


def _led_astray(document: Document, other: Document) -> tuple[Link, ...]:
    """The links of a copied element; each leads to the next element of the same kind."""
    kinds = {cluster.id: cluster.kind for cluster in document.clusters}
    owner = {cluster: cluster for cluster in kinds} | {m.id: m.cluster for m in document.mentions if m.cluster in kinds}
    first = {m.cluster: m.id for m in reversed(document.mentions)}
    after: dict[str, str] = {}
    for kind in set(kinds.values()):
        own = [id_ for id_, other_kind in kinds.items() if other_kind == kind]
        after |= dict(zip(own, [*own[1:], *own[:1]], strict=True))

    def astray(target: str) -> str:
        cluster = after[owner[target]]
        return cluster if target in kinds else first[cluster]

    return tuple(
        replace(link, target=astray(before.target))
        for before, link in zip(document.links, other.links, strict=True)
        if before.target in owner
    )


def _joined(parts: Sequence[Document]) -> Document:
    """One document from several parts, without links to items that are in none of them."""
    mentions = tuple(mention for part in parts for mention in part.mentions)
    clusters = tuple(cluster for part in parts for cluster in part.clusters)
    ends = {mention.id for mention in mentions} | {cluster.id for cluster in clusters}
    links = tuple(link for part in parts for link in part.links if link.target in ends)
    return replace(parts[0], mentions=mentions, clusters=clusters, links=links)
