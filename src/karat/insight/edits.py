"""Repairs as edits: what changes in the documents of a system, and the corpus with these changes."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, KeysView, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from karat.corpus import Corpus, Index, Survey
from karat.engine.tokens import in_one_numbering
from karat.errors import Finding, Report, Target
from karat.insight.graph import LinkGraph
from karat.insight.rewriting import Rewriting, Slot
from karat.model import Cluster, ClusterKey, Document, Link, Mention, Pair
from karat.plugin import Facts


class Edit(Struct):
    """What changes in one document of the system. Later changes replace earlier ones."""

    mentions: dict[str, Mention | None] = field(default_factory=dict)
    """Mentions by id as they become; None: removed."""
    added: dict[str, Mention] = field(default_factory=dict)
    """Further mentions by id; one whose id is taken gets another."""
    clusters: dict[str, Cluster | None] = field(default_factory=dict)
    """Clusters by id as they become, or are added; None: removed."""
    links: dict[Link, bool] = field(default_factory=dict)
    """Links that are added (True) or removed (False)."""
    contradicting: tuple[frozenset[Link], ...] = ()
    """Links that are removed where they would close a cycle with others. Edits share such a set, which is kept once."""
    moved: dict[str, str | None] = field(default_factory=dict)
    """Clusters whose mentions in this document all move to another one; None: are removed."""
    replaced: Document | None = None
    """What takes the place of the document, before all other changes."""
    keep_links: bool = True
    """Whether links stay; without, a repair of clusters cannot make a cycle of them."""
    rewriting: Rewriting | None = None
    """The arguments of the document: it is written anew from these, with the two changes that follow."""
    events: dict[Hashable, Mention | None] = field(default_factory=dict)
    """Events or templates by key as they become, or are added; None: removed, with their slots."""
    slots: dict[Hashable, Slot | None] = field(default_factory=dict)
    """Slots by key as they become, or are added; None: removed."""
    scored: frozenset[str] | None = None
    """Ids of the mentions that the protocol scores (None: all). Others give way to one that comes to their span."""

    def merge(self, other: "Edit") -> None:
        """Add the changes of another edit of the same document."""
        self.mentions |= other.mentions
        self.added |= other.added
        self.clusters |= other.clusters
        self.links |= other.links
        known = set(map(id, self.contradicting))
        self.contradicting += tuple(links for links in other.contradicting if id(links) not in known)
        self.moved |= other.moved
        self.replaced = self.replaced or other.replaced
        self.keep_links = self.keep_links and other.keep_links
        self.rewriting = self.rewriting or other.rewriting
        self.events |= other.events
        self.slots |= other.slots
        self.scored = other.scored if self.scored is None else self.scored


class Repair(NamedTuple):
    """An edit, and the document it is for."""

    document: str
    edit: Edit


def edited(document: Document, edit: Edit) -> Document:
    """The document with the changes. Links to what is removed are removed, too."""
    if edit.rewriting is not None:
        return edit.rewriting.rewritten(document, edit.events, edit.slots)
    base = document if edit.replaced is None else edit.replaced
    mentions = [left for one in base.mentions if (left := edit.mentions.get(one.id, one)) is not None]
    mentions = [moved for one in mentions if (moved := _moved(one, edit.moved)) is not None]
    scored = {one.id for one in mentions} if edit.scored is None else edit.scored
    places = {(one.span, one.kind): number for number, one in enumerate(mentions) if one.id not in scored}
    spans = {one.id: one.span for one in base.mentions}
    altered = [one for one in mentions if one.id in edit.mentions and one.span != spans[one.id]]
    gone = {places.pop((one.span, one.kind), None) for one in altered}
    taken = {one.id for one in mentions}
    for id_, one in edit.added.items():
        number = places.pop((one.span, one.kind), None) if one.span else None
        if number is not None:
            mentions[number] = replace(one, id=mentions[number].id)
            continue
        while id_ in taken:
            id_ += "+"
        taken.add(id_)
        mentions.append(replace(one, id=id_))
    mentions = [one for number, one in enumerate(mentions) if number not in gone]
    clusters = {one.id: one for one in base.clusters}
    kept = {id_: one for id_, one in (clusters | edit.clusters).items() if one is not None}
    removed = {id_ for id_, one in (edit.mentions | edit.clusters).items() if one is None}
    links = _links(base, mentions, edit, removed)
    return replace(base, mentions=tuple(mentions), clusters=tuple(kept.values()), links=links)


def _moved(mention: Mention, moved: Mapping[str, str | None]) -> Mention | None:
    if mention.cluster is None or mention.cluster not in moved:
        return mention
    target = moved[mention.cluster]
    return None if target is None else replace(mention, cluster=target)


def _links(document: Document, mentions: Iterable[Mention], edit: Edit, removed: set[str]) -> tuple[Link, ...]:
    if not edit.keep_links:
        return ()
    links = [link for link in document.links if edit.links.get(link, True)]
    present = set(links)
    links += [link for link, is_added in edit.links.items() if is_added and link not in present]
    links = [link for link in links if removed.isdisjoint((link.source, link.target))]
    contradicting = frozenset[Link]().union(*edit.contradicting)
    if contradicting:
        event_of: dict[str, ClusterKey] = {one.id: one.cluster or (one.id, 0) for one in mentions}
        kept, closing = LinkGraph(), Counter[Link]()
        for link in sorted(links, key=contradicting.__contains__):
            ends = event_of.get(link.source, link.source), event_of.get(link.target, link.target)
            if link not in contradicting or kept.takes(link.kind, *ends):
                kept.add(link.kind, *ends)
            else:
                closing[link] += 1
        links = [link for link in links if not _is_among(link, closing)]
    return tuple(links)


def _is_among(link: Link, numbers: Counter[Link]) -> bool:
    """Whether a link is one of those counted, which is then counted off."""
    numbers[link] -= 1
    return numbers[link] >= 0


class EditedCorpus:
    """A system as it would be after some repairs. Documents are edited when they are read."""

    def __init__(self, gold: Corpus, system: Corpus, repairs: Iterable[Repair]) -> None:
        self._gold, self._system = gold, system
        self.name = system.name
        self.refuses_faults = False
        self.tolerated_faults: frozenset[str] = frozenset()
        self.global_ids = False  # copies of gold's elements may have the ids of others
        self.protocols = system.protocols
        self._edits: dict[str, Edit] = {}
        for document, edit in {id(repair.edit): repair for repair in repairs}.values():  # errors may share one
            self._edits.setdefault(document, Edit()).merge(edit)
        ids = system.ids()
        self._index = Index([*ids, *(id_ for id_ in self._edits if id_ not in ids)])
        self._facts = Facts()
        self._facts.update(system.facts())
        self._facts.update(gold.facts())

    def ids(self) -> KeysView[str]:
        """The ids of the system's documents, and those that the repairs add."""
        return self._index.rows.keys()

    def facts(self, first: int | None = None) -> Facts:
        """What occurs on either side."""
        del first
        return self._facts

    def survey(self) -> Survey:
        """Index and facts."""
        return Survey(self._index, self.facts)

    def read(self, id_: str, report: Report) -> Document:
        """One document as the repairs leave it."""
        has_it = id_ in self._system.survey().rows
        document = self._system.read(id_, report) if has_it else None
        edit = self._edits.get(id_)
        if edit is None:
            assert document is not None, "a document that the system lacks is there because it is edited"
            return document
        gold = self._gold.read(id_, _ignore) if id_ in self._gold.survey().rows else None
        if document is None:
            assert gold is not None, "a document that the system lacks is gold's"
            document = replace(gold, mentions=(), clusters=(), links=())
        elif gold is not None and gold.empty_nodes != document.empty_nodes:
            document = _with_empty_nodes(gold, document)
        return edited(document, edit)

    def where(self, id_: str, item: Target | None = None) -> tuple[str, int | None]:
        """The corpus; its findings are not reported."""
        del id_, item
        return self.name, None

    def part(self, ids: Sequence[str]) -> "EditedCorpus | None":
        """Some documents, with their edits."""
        gold, system = (
            corpus.part([id_ for id_ in ids if id_ in corpus.survey().rows]) for corpus in (self._gold, self._system)
        )
        if gold is None or system is None:
            return None
        return EditedCorpus(gold, system, [Repair(id_, self._edits[id_]) for id_ in ids if id_ in self._edits])

    def close(self) -> None:
        """Close the files of both sides."""
        self._gold.close()
        self._system.close()

    def __iter__(self) -> Iterator[Document]:
        return (self.read(id_, _ignore) for id_ in self.ids())


def _with_empty_nodes(gold: Document, system: Document) -> Document:
    """The system's document with the empty nodes of both sides, so that gold's spans mean the same tokens in it."""
    both = in_one_numbering(Pair(gold, system))
    nodes = {node.token: node for node in (*both.gold.empty_nodes, *both.system.empty_nodes)}
    return replace(both.system, empty_nodes=tuple(nodes[token] for token in sorted(nodes)))


def _ignore(finding: Finding) -> None:
    """The run over the system as it is has already reported it."""
