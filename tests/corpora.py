"""Corpora for tests: in a few words, or at random."""

from collections.abc import Iterable

from hypothesis import strategies as st

from karat.corpus import MemoryCorpus
from karat.formats import jsonl
from karat.model import Cluster, Document, Link, Mention, Region, Value
from karat.model.regions import union
from karat.plugin import WriteOptions


def mention(id_: str, *segments: tuple[int, int], cluster: str | None = None, **attributes: Value) -> Mention:
    """A mention in one line."""
    return Mention(id_, tuple(segments), cluster=cluster, attributes=attributes)


def corpus(documents: Iterable[Document]) -> MemoryCorpus:
    """Documents as a corpus."""
    return MemoryCorpus(documents)


def as_jsonl(*documents: Document) -> bytes:
    """Documents as the lines of a .jsonl file."""
    return b"".join(jsonl.write(document, WriteOptions(), print) for document in documents)


TYPES = ["Life_Die", "Life_Injure", "NOT_ANNOTATED"]
REALIS = ["Actual", "Generic"]

_segments = st.tuples(st.integers(0, 12), st.integers(1, 4)).map(lambda pair: (pair[0], pair[0] + pair[1]))
regions: st.SearchStrategy[Region] = st.lists(_segments, min_size=1, max_size=2).map(union)


@st.composite
def documents(draw: st.DrawFn, id_: str = "d", *, most: int = 6) -> Document:
    """A document with mentions that overlap a lot, some clusters, and links that never form a cycle."""
    count = draw(st.integers(0, most))
    mentions = [
        Mention(
            f"m{number}",
            draw(regions),
            cluster=draw(st.none() | st.sampled_from(["c0", "c1"]).map(lambda c: f"{id_}:{c}")),
            attributes={"type": draw(st.sampled_from(TYPES)), "realis": draw(st.sampled_from(REALIS))},
        )
        for number in range(count)
    ]
    ends = st.tuples(st.sampled_from(["after", "subevent"]), st.integers(0, most), st.integers(0, most))
    # A cluster stands where its first mention stands, so that links that lead forward form no cycle over it.
    first = {m.cluster or m.id: number for number, m in reversed([*enumerate(mentions)])}
    place = {number: first[m.cluster or m.id] for number, m in enumerate(mentions)}
    links = {
        (kind, f"m{a}", f"m{b}")
        for kind, a, b in draw(st.lists(ends, max_size=4))
        if a in place and b in place and place[a] < place[b]
    }
    return Document(id_, mentions=tuple(mentions), links=tuple(Link(*link) for link in sorted(links)))


@st.composite
def sides(draw: st.DrawFn) -> tuple[list[Document], list[Document]]:
    """Gold and system documents with the same ids; a side may lack one."""
    names = [f"d{number}" for number in range(draw(st.integers(1, 3)))]
    gold = [draw(documents(name)) for name in names]
    system = [draw(documents(name)) for name in names if name == "d0" or draw(st.booleans())]
    return gold, system


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
            clusters.append(Cluster(element, kind, KINDS[kind]))
            mentions.append(Mention(f"{element}-1", ((0, 200),), kind=kind, cluster=element))
            for place, argument in enumerate(filter(None, inside.split(",")), 1):
                role = f"Arg-{place}" if kind == "relation" else "Person"
                links.append(Link(role, element, f"{id_}-{argument}"))
                links.append(Link(role, f"{element}-1", f"{id_}-{argument}-1"))
    return Document(id_, mentions=tuple(mentions), clusters=tuple(clusters), links=tuple(links))


KINDS: dict[str, dict[str, Value]] = {
    "event": {
        "type": "Life",
        "subtype": "Die",
        "modality": "Asserted",
        "polarity": "Positive",
        "genericity": "Specific",
        "tense": "Past",
    },
    "relation": {"type": "PER-SOC", "subtype": "Family", "modality": "Asserted", "tense": "Past"},
}


def entity_mention(id_: str, cluster: str, begin: int, type_: str, *, length: int = 10, **attributes: Value) -> Mention:
    """A mention of an entity whose head is its extent."""
    region = ((begin, begin + length),)
    text = "x" * length
    return Mention(
        id_, region, region, kind="entity", cluster=cluster, attributes={"type": type_, **attributes}, text=text
    )


@st.composite
def ace_documents(draw: st.DrawFn, id_: str = "d") -> Document:
    """A document with a few entities, values, times, relations and events that overlap a lot."""
    mentions: list[Mention] = []
    clusters: list[Cluster] = []
    links: list[Link] = []
    ends: list[tuple[str, str]] = []
    for number in range(draw(st.integers(0, 4))):
        kind = draw(st.sampled_from(["entity", "entity", "value", "time"]))
        element = f"{id_}:{kind}{number}"
        choices: dict[str, list[str]] = {
            "entity": ["PER", "ORG"],
            "value": ["Crime", "Numeric"],
            "time": ["2003", "2004"],
        }
        first = "val" if kind == "time" else "type"
        attributes: dict[str, Value] = {first: draw(st.sampled_from(choices[kind]))}
        if kind == "entity":
            attributes |= {"subtype": "Group", "class": draw(st.sampled_from(["SPC", "SPC", "GEN"]))}
        clusters.append(Cluster(element, kind, attributes))
        for part in range(draw(st.integers(1, 3)) if kind == "entity" else 1):
            begin = draw(st.integers(0, 12))
            type_ = draw(st.sampled_from(["NAM", "NOM", "PRO"]))
            one = entity_mention(f"m{number}{part}", element, begin, type_, length=draw(st.integers(1, 6)))
            mentions.append(one if kind == "entity" else Mention(one.id, one.span, kind=kind, cluster=element))
            ends.append((element, one.id))
    for number in range(draw(st.integers(0, 3)) if ends else 0):
        kind = draw(st.sampled_from(["relation", "event"]))
        element = f"{id_}:{kind}{number}"
        clusters.append(Cluster(element, kind, {**KINDS[kind], "type": draw(st.sampled_from(["PHYS", "Life", "ART"]))}))
        begin = draw(st.integers(0, 12))
        mentions.append(Mention(f"m{number}x", ((begin, begin + 6),), kind=kind, cluster=element))
        roles = (
            ["Arg-1", "Arg-2"]
            if kind == "relation"
            else draw(st.lists(st.sampled_from(["Agent", "Place"]), max_size=3))
        )
        for role in roles:
            target, target_mention = draw(st.sampled_from(ends))
            links += [Link(role, element, target), Link(role, f"m{number}x", target_mention)]
    return Document(id_, mentions=tuple(mentions), clusters=tuple(clusters), links=tuple(dict.fromkeys(links)))


@st.composite
def ace_sides(draw: st.DrawFn) -> tuple[list[Document], list[Document]]:
    """Gold and system with ACE elements; a side may lack a document."""
    names = [f"d{number}" for number in range(draw(st.integers(1, 3)))]
    gold = [draw(ace_documents(name)) for name in names]
    system = [draw(ace_documents(name)) for name in names if name == "d0" or draw(st.booleans())]
    return gold, system
