"""Corpora for tests in a few words; `karat.testing.corpora` has those at random."""

import re
from collections.abc import Iterable

from hypothesis import strategies as st

from karat.corpus.memory import MemoryCorpus
from karat.formats import jsonl
from karat.model import Cluster, Document, Link, Mention, Value
from karat.plugin import WriteOptions
from karat.testing.corpora import RELATED, Sides, ace_documents, documents, entity_mention, regions, sides

__all__ = [
    "ace",
    "ace_sides",
    "arguments",
    "as_jsonl",
    "corpus",
    "documents",
    "entity_mention",
    "mention",
    "regions",
    "sides",
    "templates",
]


def mention(id_: str, *segments: tuple[int, int], cluster: str | None = None, **attributes: Value) -> Mention:
    """A mention in one line."""
    return Mention(id_, tuple(segments), cluster=cluster, attributes=attributes)


def corpus(documents: Iterable[Document]) -> MemoryCorpus:
    """Documents as a corpus."""
    return MemoryCorpus(documents)


def ace_sides() -> st.SearchStrategy[Sides]:
    """Gold and system with ACE elements."""
    return sides(ace_documents)


def as_jsonl(*documents: Document) -> bytes:
    """Documents as the lines of a .jsonl file."""
    return b"".join(jsonl.write(document, WriteOptions(), print) for document in documents)


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


def arguments(*triples: tuple[str, str, str], text: str = "", clusters: dict[str, str] | None = None) -> list[Document]:
    """One document in tokens: for each event (`3` or `3:Type`), role and filler (`5` or `5-7`, `5-7@head`).

    A filler without a role is a mention that fills none; `'` after a name makes it another one in the same place.
    """
    mentions: dict[str, Mention] = {}
    for event, _, filler in triples:
        begin, _, type_ = event.rstrip("'").partition(":")
        mentions[event] = Mention(event, ((int(begin), int(begin) + 1),), attributes={"type": type_ or "Attack"})
        if filler:
            place, _, head = filler.rstrip("'").partition("@")
            first, _, last = place.partition("-")
            span = ((int(first), int(last or int(first) + 1)),)
            heads = ((int(head), int(head) + 1),) if head else None
            cluster = (clusters or {}).get(filler)
            mentions[filler] = Mention(filler, span, heads, kind="entity", cluster=cluster)
    links = tuple(Link(role, event, filler) for event, role, filler in triples if role)
    tokens = [(m.start(), m.end()) for m in re.finditer(r"\S+", text)]
    return [
        Document(
            "d",
            unit="token",
            text=text or None,
            tokens=tuple(tokens) if text else None,
            mentions=tuple(mentions.values()),
            links=links,
        )
    ]


def templates(*texts: str) -> list[Document]:
    """One document: for each template `type: string=string, string` with entities of one role."""
    mentions: list[Mention] = []
    links = []
    for number, text in enumerate(texts):
        type_, _, entities = text.partition(": ")
        mentions.append(Mention(f"t{number}", (), kind="template", attributes={"type": type_}))
        for part, entity in enumerate(filter(None, entities.split(", "))):
            cluster = f"x{number}.{part}"
            links.append(Link("Victim", f"t{number}", cluster))
            for name, string in enumerate(entity.split("=")):
                mentions.append(Mention(f"{cluster}.{name}", (), kind="entity", cluster=cluster, text=string))
    return [Document("d", mentions=tuple(mentions), links=tuple(links))]
