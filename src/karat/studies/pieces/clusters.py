"""Pieces that are coreference links."""

from collections.abc import Collection, Hashable, Iterable, Sequence
from itertools import pairwise

from msgspec.structs import replace

from karat.model import Cluster, Document, Mention
from karat.studies.pieces import without_links

Place = tuple[int, int]
"""The number of a document and of a mention in it."""


class Clusters:
    """Right: a mention joined with the one before it in its cluster. Wrong: the first mentions of two clusters joined.

    `units` is the unit of evaluation of each document; mentions are joined only within a unit.
    """

    noun = "coreference link"

    def __init__(self, gold: Sequence[Document], units: Sequence[str]) -> None:
        self.gold = [without_links(document) for document in gold]
        self._records = {cluster.id: cluster for document in self.gold for cluster in document.clusters}
        right: list[tuple[Place, Place]] = []
        wrong: list[tuple[Place, Place]] = []
        for clusters in self._clusters(units):
            right += [link for members in clusters for link in pairwise(members)]
            wrong += pairwise(members[0] for members in clusters)
        self._right, self._wrong = sorted(right, reverse=True), sorted(wrong, reverse=True)
        self.correct = [self._described(*link) for link in self._right]
        self.wrong = [self._described(*link) for link in self._wrong]

    def _clusters(self, units: Sequence[str]) -> Iterable[list[list[Place]]]:
        """For each unit and kind of mention, the clusters in the order of their first mentions."""
        found: dict[tuple[str, str], dict[Hashable, list[Place]]] = {}
        for d, document in enumerate(self.gold):
            for m, mention in enumerate(document.mentions):
                clusters = found.setdefault((units[d], mention.kind), {})
                clusters.setdefault(mention.cluster or (d, m), []).append((d, m))
        return [list(clusters.values()) for clusters in found.values()]

    def system(self, correct: Collection[int], wrong: Collection[int]) -> list[Document]:
        """Gold's mentions, clustered by these links."""
        links = [self._right[number] for number in correct] + [self._wrong[number] for number in wrong]
        first = _joined(links)
        return [self._document(d, document, first) for d, document in enumerate(self.gold)]

    def _document(self, d: int, document: Document, first: dict[Place, Place]) -> Document:
        mentions: list[Mention] = []
        records: dict[str, Cluster] = {}
        for m, mention in enumerate(document.mentions):
            home, number = first.get((d, m), (d, m))
            founder = self.gold[home].mentions[number]
            name = f"{home}:{number}"
            mentions.append(replace(mention, cluster=name))
            if founder.cluster in self._records:
                records[name] = replace(self._records[founder.cluster], id=name)
        return replace(document, mentions=tuple(mentions), clusters=tuple(records.values()))

    def _described(self, before: Place, after: Place) -> str:
        return " with ".join(f"{self.gold[d].mentions[m].id} of {self.gold[d].id}" for d, m in (before, after))


def _joined(links: Iterable[tuple[Place, Place]]) -> dict[Place, Place]:
    """For each place that is linked to others, the first of them."""
    first: dict[Place, Place] = {}

    def founder(place: Place) -> Place:
        while first.setdefault(place, place) != place:
            place = first[place]
        return place

    for one, other in links:
        low, high = sorted((founder(one), founder(other)))
        first[high] = low
    return {place: founder(place) for place in list(first)}
