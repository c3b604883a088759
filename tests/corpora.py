"""Corpora for tests in a few words; `karat.testing.corpora` has those at random."""

from collections.abc import Iterable

from hypothesis import strategies as st

from karat.corpus import MemoryCorpus
from karat.model import Cluster, Document, Link, Mention, Value
from karat.testing.corpora import RELATED, Sides, ace_documents, documents, entity_mention, regions, sides

__all__ = ["ace", "ace_sides", "corpus", "documents", "entity_mention", "mention", "regions", "sides"]


def mention(id_: str, *segments: tuple[int, int], cluster: str | None = None, **attributes: Value) -> Mention:
    """A mention in one line."""
    return Mention(id_, tuple(segments), cluster=cluster, attributes=attributes)


def corpus(documents: Iterable[Document]) -> MemoryCorpus:
    """Documents as a corpus."""
    return MemoryCorpus(documents)


def ace_sides() -> st.SearchStrategy[Sides]:
    """Gold and system with ACE elements."""
    return sides(ace_documents)


def ace(id_: str = "d", *, entities: str = "", events: str = "", relations: str = "") -> Document:
    """A document with ACE elements in a few words.

    `E@60:GEN` is an entity with a named mention of ten characters, here at 60 (else at 10, 30, ... by its place in the
    list), of that class; `V(E,F)` is an event with these participants, `R(E,F)` a relation between two.
    """
    mentions: list[Mention] = []
    clusters: list[Cluster] = []
    links: list[Link] = []
    for number, word in enumerate(entities.split()):
        name, _, class_ = word.partition(":")
        name, _, offset = name.partition("@")
        begin = int(offset or 10 + 20 * number)
        clusters.append(
            Cluster(f"{id_}-{name}", "entity", {"type": "PER", "subtype": "Individual", "class": class_ or "SPC"})
        )
        mentions.append(entity_mention(f"{id_}-{name}-1", f"{id_}-{name}", begin, "NAM"))
    for kind, words in (("event", events), ("relation", relations)):
        for word in words.split():
            name, _, inside = word.removesuffix(")").partition("(")
            element = f"{id_}-{name}"
            clusters.append(Cluster(element, kind, RELATED[kind]))
            mentions.append(Mention(f"{element}-1", ((0, 200),), kind=kind, cluster=element))
            for place, argument in enumerate(filter(None, inside.split(",")), 1):
                role = f"Arg-{place}" if kind == "relation" else "Person"
                links.append(Link(role, element, f"{id_}-{argument}"))
                links.append(Link(role, f"{element}-1", f"{id_}-{argument}-1"))
    return Document(id_, mentions=tuple(mentions), clusters=tuple(clusters), links=tuple(links))
