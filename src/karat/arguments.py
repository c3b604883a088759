"""Events and templates with their arguments: links from an event to what fills a role."""

from collections.abc import Callable, Sequence
from itertools import chain
from operator import attrgetter, itemgetter

from msgspec import Struct

from karat.model import HOLDERS, TEMPORAL, Document, Link, Mention

_kind = attrgetter("kind")
_argument = itemgetter(3)


class Argument(Struct, frozen=True, gc=False):
    """One role of an event or template, and what fills it."""

    role: str
    mentions: tuple[Mention, ...]
    """The mention that fills the role, or all mentions of the cluster that does."""
    cluster: str | None = None
    """The cluster, if the link names one: the entity as a whole."""


class Event(Struct, frozen=True, gc=False):
    """An event or template with its arguments, in the order of the mentions that fill them, then of their roles."""

    mention: Mention
    arguments: tuple[Argument, ...]

    @property
    def type(self) -> object:
        """Its type, as written; None if it has none."""
        return self.mention.attributes.get("type")


def events_of(document: Document, kind: str = "event") -> list[Event]:
    """The events (or templates) of a document in the order of its mentions, each with its arguments."""
    mentions = document.mentions
    holders = [mention for mention in mentions if mention.kind == kind]
    if not holders:
        return []
    if not document.links:
        return [Event(mention, ()) for mention in holders]
    # By the place of the filler among the mentions, then by role: the order of links does not matter.
    found: dict[str, list[tuple[int, str, int, Argument]]] = {mention.id: [] for mention in holders}
    index_of = {mention.id: index for index, mention in enumerate(mentions)}
    clusters: dict[str, tuple[Mention, ...]] | None = None
    for link in document.links:
        arguments = found.get(link.source)
        if arguments is None or link.kind in TEMPORAL:
            continue
        index = index_of.get(link.target)
        if index is not None:
            if mentions[index].kind not in HOLDERS:
                arguments.append((index, link.kind, len(arguments), Argument(link.kind, (mentions[index],))))
            continue
        if clusters is None:
            clusters = _fillers(document)
        members = clusters.get(link.target)
        if members is not None:
            index = index_of[members[0].id] if members else len(mentions)
            arguments.append((index, link.kind, len(arguments), Argument(link.kind, members, link.target)))
    return [Event(mention, tuple(map(_argument, sorted(found[mention.id])))) for mention in holders]


def _fillers(document: Document) -> dict[str, tuple[Mention, ...]]:
    """Clusters that can fill a role, with all their mentions here."""
    members: dict[str, list[Mention]] = {id_: [] for id_ in _filler_ids(document)}
    for mention in document.mentions:
        if mention.cluster in members:
            members[mention.cluster].append(mention)
    return {id_: tuple(mentions) for id_, mentions in members.items()}


def _filler_ids(document: Document) -> list[str]:
    """Clusters that can fill a role. One without a record is of the kind of its first mention."""
    kinds = {cluster.id: cluster.kind for cluster in document.clusters}
    for mention in document.mentions:
        if mention.cluster is not None:
            kinds.setdefault(mention.cluster, mention.kind)
    return [id_ for id_, kind in kinds.items() if kind not in HOLDERS]


def _ends(document: Document) -> tuple[set[str], set[str]]:
    """Ids of what has arguments, and of what fills a role; one of both a mention and a cluster means the mention."""
    mentions = {mention.id for mention in document.mentions}
    holders = {mention.id for mention in document.mentions if mention.kind in HOLDERS}
    return holders, mentions - holders | {*_filler_ids(document)} - mentions


def argument_test(document: Document) -> Callable[[Link], bool]:
    """Tells which links of a document are arguments."""
    holders, fillers = _ends(document)
    return lambda link: link.target in fillers and link.source in holders and link.kind not in TEMPORAL


def other_links(document: Document) -> Sequence[Link]:
    """The links of a document that are not arguments."""
    links = document.links
    if not links or HOLDERS.issuperset(chain(map(_kind, document.mentions), map(_kind, document.clusters))):
        return links
    holders, fillers = _ends(document)
    return [link for link in links if link.kind in TEMPORAL or link.target not in fillers or link.source not in holders]
