"""Pieces of information, right or wrong, from which systems are made.

Araki et al. (2014), section 3.3: a correct piece is the addition of one correct link or the deletion of one incorrect
link. Here, mentions, coreference links and whole elements are also pieces.

    mentions   right: a gold mention              wrong: a copy of it where gold has none
    clusters   right: a mention joined with the   wrong: the first mentions of two neighbouring clusters
               one before it in its cluster              joined
    arguments  right: a gold argument             wrong: its role, filled by a copy where gold has none
    links      right: a gold link                 wrong: a link between two events that have no parent
    elements   right: a whole cluster             wrong: a copy of it where gold has none

Pieces are ordered from the last of the corpus to the first, bottom-up, as in the paper's Figure 4.
"""

from collections.abc import Collection, Hashable, Iterable, Sequence, Set
from itertools import cycle, pairwise
from typing import Any

from msgspec.structs import replace

from karat.arguments import argument_test
from karat.model import Cluster, Document, Link, Mention, Region
from karat.words import mention_text


class Pieces:
    """Pieces that a system can get right, and as many that it can get wrong."""

    noun: str
    """The noun for one piece."""
    gold: Sequence[Document]
    """Gold, restricted to what these pieces describe."""
    correct: Sequence[str]
    """The right pieces in the order in which a system grows, described."""
    wrong: Sequence[str]
    """The wrong pieces, described."""

    def system(self, correct: Collection[int], wrong: Collection[int]) -> list[Document]:
        """The system that consists of these pieces, given by index."""
        raise NotImplementedError


def bare(document: Document) -> Document:
    """The document without its text, so that mentions can be put beyond its end; mentions know theirs."""
    mentions = tuple(replace(mention, text=mention_text(mention, document)) for mention in document.mentions)
    return replace(document, text=None, tokens=None, mentions=mentions)


def without_links(document: Document, kinds: Collection[str] | None = None) -> Document:
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


Place = tuple[int, int]
"""The index of a document and of an item in it."""


class _Copied(Pieces):
    """Right: an item of gold. Wrong: a copy of it where gold has none."""

    def __init__(self, gold: Sequence[Document], places: Sequence[Place]) -> None:
        self.gold = gold
        self._strangers = strangers(gold)
        self._places = places[::-1]
        self.correct = [self._described(gold[d], index) for d, index in self._places]
        self.wrong = [f"{piece}, elsewhere" for piece in self.correct]

    def _described(self, document: Document, index: int) -> str:
        raise NotImplementedError

    def system(self, correct: Collection[int], wrong: Collection[int]) -> list[Document]:
        """The documents, each with its chosen items and copies."""
        chosen: list[tuple[set[int], set[int]]] = [(set(), set()) for _ in self.gold]
        for side, indexes in enumerate((correct, wrong)):
            for d, index in [self._places[index] for index in indexes]:
                chosen[d][side].add(index)
        return [self._document(d, *sides) for d, sides in enumerate(chosen)]

    def _document(self, d: int, right: Set[int], wrong: Set[int]) -> Document:
        raise NotImplementedError


class Mentions(_Copied):
    """Right: a gold mention. Wrong: a copy of it where gold has none."""

    noun = "mention"

    def __init__(self, gold: Sequence[Document]) -> None:
        bare_gold = [without_links(document) for document in gold]
        super().__init__(bare_gold, [(d, m) for d, document in enumerate(gold) for m in range(len(document.mentions))])

    def _document(self, d: int, right: Set[int], wrong: Set[int]) -> Document:
        """Gold's mentions in gold's order, then the wrong ones."""
        document, strange = self.gold[d], self._strangers[d]
        kept = [mention for m, mention in enumerate(document.mentions) if m in right]
        more = [mention for m, mention in enumerate(strange.mentions) if m in wrong]
        return replace(document, mentions=(*kept, *more), clusters=(*document.clusters, *strange.clusters))

    def _described(self, document: Document, index: int) -> str:
        return f"{document.mentions[index].id} of {document.id}"


class Clusters(Pieces):
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
        by_unit: dict[tuple[str, str], dict[Hashable, list[Place]]] = {}
        for d, document in enumerate(self.gold):
            for m, mention in enumerate(document.mentions):
                clusters = by_unit.setdefault((units[d], mention.kind), {})
                clusters.setdefault(mention.cluster or (d, m), []).append((d, m))
        return [list(clusters.values()) for clusters in by_unit.values()]

    def system(self, correct: Collection[int], wrong: Collection[int]) -> list[Document]:
        """Gold's mentions, clustered by these links."""
        links = [self._right[index] for index in correct] + [self._wrong[index] for index in wrong]
        first = _joined(links)
        return [self._document(d, document, first) for d, document in enumerate(self.gold)]

    def _document(self, d: int, document: Document, first: dict[Place, Place]) -> Document:
        mentions: list[Mention] = []
        records: dict[str, Cluster] = {}
        for m, mention in enumerate(document.mentions):
            home, index = first.get((d, m), (d, m))
            founder = self.gold[home].mentions[index]
            name = f"{home}:{index}"
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

    for place, other in links:
        low, high = sorted((founder(place), founder(other)))
        first[high] = low
    return {place: founder(place) for place in list(first)}


Placed = tuple[int, Link]
"""The number of a document, and a link in it."""


class Links(Pieces):
    """Right: a gold link. Wrong: a link that gold does not have. Mentions and clusters are always those of gold."""

    noun = "link"

    def __init__(
        self, gold: Sequence[Document], kinds: Collection[str], correct: Sequence[Placed], wrong: Sequence[Placed]
    ) -> None:
        others = {link.kind for document in gold for link in document.links} - set(kinds)
        self.gold = [without_links(document, others) for document in gold]
        self.right, self.astray = correct, wrong
        self.correct, self.wrong = (
            [_link_described(link, self.gold[d], self.gold) for d, link in side] for side in (correct, wrong)
        )

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
            telling = _telling([link for link in document.links if link.kind in kinds], rank)
            correct += [(d, link) for link in telling]
            led = {rank[link.target] for link in telling}
            names = {rank[mention.id]: mention.id for mention in reversed(document.mentions)}
            roots = [name for index, name in sorted(names.items()) if index not in led]
            pairs = zip(pairwise(roots), cycle(sorted(kinds)), strict=False)
            wrong += [(d, Link(kind, source, target)) for (source, target), kind in pairs]
        return cls(gold, kinds, correct[::-1], wrong[::-1])

    def system(self, correct: Collection[int], wrong: Collection[int]) -> list[Document]:
        """Gold with only these links."""
        links: list[list[Link]] = [[] for _ in self.gold]
        for d, link in [self.right[index] for index in sorted(correct)]:
            links[d].append(link)
        for d, link in [self.astray[index] for index in sorted(wrong)]:
            links[d].append(link)
        return [replace(document, links=tuple(kept)) for document, kept in zip(self.gold, links, strict=True)]


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


class Elements(_Copied):
    """Right: an element of a kind. Wrong: a copy of it where gold has none, with links to other elements.

    Elements that they link to are there from the start; elements that link to them are ignored.
    """

    def __init__(self, gold: Sequence[Document], kind: str) -> None:
        self.noun = f"{kind} element"
        pointed = _pointed_at(gold, kind)
        about = [_of_kinds(document, {kind, *pointed}) for document in gold]
        super().__init__(
            about,
            [
                (d, c)
                for d, document in enumerate(about)
                for c, cluster in enumerate(document.clusters)
                if cluster.kind == kind
            ],
        )
        self._given = [_of_kinds(document, pointed - {kind}) for document in about]
        sides = zip(about, self._strangers, strict=True)
        self._strangers = [replace(other, links=_led_astray(document, other)) for document, other in sides]

    def _document(self, d: int, right: Set[int], wrong: Set[int]) -> Document:
        """The other kinds, then gold's elements, then the wrong ones."""
        return _joined_documents([self._given[d], _only(self.gold[d], right), _only(self._strangers[d], wrong)])

    def _described(self, document: Document, index: int) -> str:
        return f"{document.clusters[index].id} of {document.id}"


def kinds_of_elements(gold: Sequence[Document]) -> list[str]:
    """Kinds of clusters that have records; first those to which no link from another kind leads."""
    kinds = sorted({cluster.kind for document in gold for cluster in document.clusters})
    ends = {kind: _pointed_at(gold, kind) - {kind} for kind in kinds}
    return sorted(kinds, key=lambda kind: (any(kind in others for others in ends.values()), kind))


def undescribed(document: Document) -> Document:
    """The document with clusters that have no attributes."""
    return replace(document, clusters=tuple(replace(cluster, attributes={}) for cluster in document.clusters))


def without_kind(document: Document, kind: str) -> Document:
    return _of_kinds(document, {cluster.kind for cluster in document.clusters} - {kind})


def _pointed_at(gold: Sequence[Document], kind: str) -> set[str]:
    """Kinds of the elements that links from elements of a kind lead to."""
    targets: set[str] = set()
    for document in gold:
        kinds = {cluster.id: cluster.kind for cluster in document.clusters}
        targets |= {
            kinds[link.target] for link in document.links if kinds.get(link.source) == kind and link.target in kinds
        }
    return targets


def _of_kinds(document: Document, kinds: Collection[str]) -> Document:
    return _only(document, {index for index, cluster in enumerate(document.clusters) if cluster.kind in kinds})


def _only(document: Document, indexes: Collection[int]) -> Document:
    """The document with these of its elements, their mentions and the links from them."""
    clusters = tuple(cluster for index, cluster in enumerate(document.clusters) if index in indexes)
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
        alike = [id_ for id_, other_kind in kinds.items() if other_kind == kind]
        after |= dict(zip(alike, [*alike[1:], *alike[:1]], strict=True))

    def astray(target: str) -> str:
        cluster = after[owner[target]]
        return cluster if target in kinds else first[cluster]

    return tuple(
        replace(link, target=astray(before.target))
        for before, link in zip(document.links, other.links, strict=True)
        if before.target in owner
    )


def _joined_documents(parts: Sequence[Document]) -> Document:
    """One document from several parts, without links to items that are in none of them."""
    mentions = tuple(mention for part in parts for mention in part.mentions)
    clusters = tuple(cluster for part in parts for cluster in part.clusters)
    ends = {mention.id for mention in mentions} | {cluster.id for cluster in clusters}
    links = tuple(link for part in parts for link in part.links if link.target in ends)
    return replace(parts[0], mentions=mentions, clusters=clusters, links=links)


class Arguments(_Copied):
    """Right: a gold argument. Wrong: the same role, filled by a copy where gold has none. Events are those of gold."""

    noun = "argument"

    def __init__(self, gold: Sequence[Document], kinds: Collection[str]) -> None:
        others = {link.kind for document in gold for link in document.links} - set(kinds)
        linked = [without_links(document, others) for document in gold]
        super().__init__(
            linked,
            [
                (d, index)
                for d, document in enumerate(linked)
                for is_argument in [argument_test(document)]
                for index, link in enumerate(document.links)
                if is_argument(link)
            ],
        )

    def _document(self, d: int, right: Set[int], wrong: Set[int]) -> Document:
        """Gold with only these arguments, then the wrong ones with what fills them."""
        document, strange = self.gold[d], self._strangers[d]
        links = [link for index, link in enumerate(document.links) if index in right]
        targets = {strange.links[index].target for index in wrong}
        links += [Link(strange.links[i].kind, document.links[i].source, strange.links[i].target) for i in sorted(wrong)]
        fillers = [mention for mention in strange.mentions if mention.id in targets or mention.cluster in targets]
        return replace(document, mentions=(*document.mentions, *fillers), links=tuple(links))

    def _described(self, document: Document, index: int) -> str:
        return _link_described(document.links[index], document, self.gold)


def _link_described(link: Link, document: Document, gold: Sequence[Document]) -> str:
    where = f" of {document.id}" if len(gold) > 1 else ""
    return f"{link.kind} {link.source} -> {link.target}{where}"
