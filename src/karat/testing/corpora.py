"""Small random corpora to check laws on: mentions, clusters, links, ACE elements, arguments and templates."""

from collections.abc import Callable, Sequence

from hypothesis import strategies as st
from msgspec.structs import replace

from karat.filters import restricted
from karat.model import ACYCLIC, Cluster, Document, Link, Mention, Region, Value

Sides = tuple[list[Document], list[Document]]
"""Gold and system documents."""

TYPES = ["Life_Die", "Life_Injure", "NOT_ANNOTATED"]
REALIS = ["Actual", "Generic"]

_segments = st.tuples(st.integers(0, 12), st.integers(1, 4)).map(lambda pair: (pair[0], pair[0] + pair[1]))


def _apart(segments: Sequence[tuple[int, int]]) -> Region:
    """Segments in order, without those that overlap an earlier one."""
    kept: list[tuple[int, int]] = []
    for begin, end in sorted(segments):
        if not kept or begin > kept[-1][1]:
            kept.append((begin, end))
    return tuple(kept)


regions: st.SearchStrategy[Region] = st.lists(_segments, min_size=1, max_size=2).map(_apart)


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
    # A cluster is where its first mention is, so that links that lead forward form no cycle over it.
    first = {m.cluster or m.id: number for number, m in reversed([*enumerate(mentions)])}
    place = {number: first[m.cluster or m.id] for number, m in enumerate(mentions)}
    links = {
        (kind, f"m{a}", f"m{b}")
        for kind, a, b in draw(st.lists(ends, max_size=4))
        if a in place and b in place and place[a] < place[b]
    }
    return Document(id_, mentions=tuple(mentions), links=tuple(Link(*link) for link in sorted(links)))


@st.composite
def sides(draw: st.DrawFn, one_document: "Callable[[str], st.SearchStrategy[Document]]" = documents) -> Sides:
    """Gold and system documents with the same ids; the system may lack one."""
    names = [f"d{number}" for number in range(draw(st.integers(1, 3)))]
    gold = [draw(one_document(name)) for name in names]
    system = [draw(one_document(name)) for name in names if name == "d0" or draw(st.booleans())]
    return gold, system


@st.composite
def sides_across(draw: st.DrawFn) -> Sides:
    """Draw sides in two topics, where clusters have mentions in several documents; without links."""
    gold, system = draw(sides())
    topics = {document.id: draw(st.sampled_from(["t0", "t1"])) for document in gold}
    return [_across(doc, topics[doc.id]) for doc in gold], [_across(doc, topics[doc.id]) for doc in system]


def _across(document: Document, topic: str) -> Document:
    """The document in a topic, with ids of clusters that are the same in all documents."""
    mentions = tuple(
        replace(mention, cluster=mention.cluster and mention.cluster.partition(":")[2]) for mention in document.mentions
    )
    return replace(document, topic=topic, mentions=mentions, links=())


def completed(both: Sides) -> Sides:
    """Complete the sides: the system has each document that it lacks without any annotation."""
    gold, system = both
    there = {document.id for document in system}
    lacking = [document for document in gold if document.id not in there]
    return gold, [*system, *(replace(document, mentions=(), clusters=(), links=()) for document in lacking)]


def distinct(both: Sides) -> Sides:
    """Restrict the sides so that no two mentions of a document have the same span."""
    gold, system = ([_one_each(document) for document in side] for side in both)
    return gold, system


def _one_each(document: Document) -> Document:
    firsts = {mention.span: mention.id for mention in reversed(document.mentions)}.values()
    return restricted(document, lambda mention: mention.id in firsts)


RELATED: dict[str, dict[str, Value]] = {
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
"""Attributes of ACE events and relations."""


def entity_mention(id_: str, cluster: str, begin: int, type_: str, *, length: int = 10, **attributes: Value) -> Mention:
    """A mention of an ACE entity whose head is its extent."""
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
            made = entity_mention(f"m{number}{part}", element, begin, type_, length=draw(st.integers(1, 6)))
            mentions.append(made if kind == "entity" else Mention(made.id, made.span, kind=kind, cluster=element))
            ends.append((element, made.id))
    for number in range(draw(st.integers(0, 3)) if ends else 0):
        kind = draw(st.sampled_from(["relation", "event"]))
        element = f"{id_}:{kind}{number}"
        type_ = draw(st.sampled_from(["PHYS", "Life", "ART"]))
        clusters.append(Cluster(element, kind, {**RELATED[kind], "type": type_}))
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


WORDS = ["the", "rebels", "had", "struck", "a", "bridge", ";", "they", "then", "shelled", "it", "."]
ROLES = ["Attacker", "Target", "Place"]


def _text(words: Sequence[str]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Words as a text, and their places in it."""
    ends = [sum(len(word) + 1 for word in words[: number + 1]) - 1 for number in range(len(words))]
    return " ".join(words), tuple((end - len(word), end) for word, end in zip(words, ends, strict=True))


@st.composite
def argument_documents(draw: st.DrawFn, id_: str = "d") -> Document:
    """A document in tokens with a few events on few triggers, and entities that fill their roles, often repeatedly."""
    text, tokens = _text(WORDS)
    mentions = [
        Mention(f"e{number}", ((begin, begin + 1),), attributes={"type": draw(st.sampled_from(["Attack", "Die"]))})
        for number, begin in enumerate(draw(st.lists(st.sampled_from([3, 9]), max_size=4)))
    ]
    events = [mention.id for mention in mentions]
    for number in range(draw(st.integers(0, 4))):
        begin = draw(st.sampled_from([0, 4, 5, 7]))
        end = begin + draw(st.integers(1, 2))
        head = ((draw(st.integers(begin, end - 1)),) * 2,)
        cluster = draw(st.none() | st.sampled_from(["c0", "c1"]).map(lambda name: f"{id_}:{name}"))
        region = tuple((first, first + 1) for first, _ in head)
        mentions.append(Mention(f"m{number}", ((begin, end),), region, kind="entity", cluster=cluster))
    fillers = [mention.id for mention in mentions if mention.kind == "entity"]
    ends = st.tuples(st.sampled_from(ROLES), st.sampled_from(events or [""]), st.sampled_from(fillers or [""]))
    links = draw(st.lists(ends, max_size=6)) if events and fillers else []
    return Document(
        id_,
        text=text,
        unit="token",
        tokens=tokens,
        mentions=tuple(mentions),
        links=tuple(Link(role, event, filler) for role, event, filler in links),
    )


@st.composite
def template_documents(draw: st.DrawFn, id_: str = "d") -> Document:
    """A document with a few templates, and entities of one or two strings that fill their roles."""
    types = st.sampled_from(["attack", "bombing", "attack / bombing", None])
    mentions = [
        Mention(f"t{number}", (), kind="template", attributes={} if (type_ := draw(types)) is None else {"type": type_})
        for number in range(draw(st.integers(0, 3)))
    ]
    templates = [mention.id for mention in mentions]
    fillers = []
    for number in range(draw(st.integers(0, 4))):
        fillers.append(f"{id_}:x{number}")
        for part, string in enumerate(
            draw(st.lists(st.sampled_from(["men", "the men", "GLN", "bomb"]), min_size=1, max_size=2))
        ):
            mentions.append(Mention(f"x{number}.{part}", (), kind="entity", cluster=fillers[-1], text=string))
    ends = st.tuples(st.sampled_from(ROLES), st.sampled_from(templates or [""]), st.sampled_from(fillers or [""]))
    links = draw(st.lists(ends, max_size=6)) if templates and fillers else []
    return Document(
        id_, mentions=tuple(mentions), links=tuple(Link(role, template, filler) for role, template, filler in links)
    )


LABELS = {
    "time": ["BEFORE", "AFTER", "SIMULTANEOUS", "INCLUDES", "IS_INCLUDED", "BEGINS", "VAGUE", "EQUAL", "CONTAINS"],
    "event": ["CAUSE", "PRECONDITION", "FALLING_ACTION", "subevent", "coref"],
}
"""Labels that relate events with times, and others that relate only events."""


@st.composite
def relation_documents(draw: st.DrawFn, id_: str = "d") -> Document:
    """A document with a few events, times and its creation time, and relations that may contradict each other."""
    clusters = st.none() | st.sampled_from(["c0", "c1"]).map(lambda name: f"{id_}:{name}")
    places = draw(st.lists(st.integers(0, 7), min_size=1, max_size=5, unique=True))
    mentions = []
    for number, place in enumerate(sorted(places)):
        span, attributes = ((3 * place, 3 * place + 2),), {"sentence": place // 3}
        is_time = draw(st.integers(0, 3)) == 0
        kind, cluster = ("time", None) if is_time else ("event", draw(clusters))
        mentions.append(Mention(f"m{number}", span, kind=kind, cluster=cluster, attributes=dict(attributes)))
    if draw(st.booleans()):
        mentions.append(Mention("t0", (), kind="time", attributes={"function": "CREATION_TIME"}))
    ends = [mention.id for mention in mentions]
    ends += sorted({mention.cluster for mention in mentions if mention.cluster is not None})
    kinds = st.sampled_from(LABELS["time"] * 2 + LABELS["event"])
    drawn = st.tuples(kinds, st.sampled_from(ends), st.sampled_from(ends))
    class_of = {mention.id: mention.cluster or mention.id for mention in mentions}
    classes = list(dict.fromkeys(class_of.values()))

    def is_drawn(link: Link) -> bool:
        source, target = (classes.index(class_of.get(end, end)) for end in (link.source, link.target))
        # Notes on links within a cluster are in the order of links. A cycle of subevents may be fatal.
        return source < target if link.kind in ACYCLIC else source != target

    links = tuple(filter(is_drawn, (Link(*link) for link in draw(st.lists(drawn, max_size=8)))))
    return Document(id_, unit="token", mentions=tuple(mentions), links=links)


def spanned_sides() -> st.SearchStrategy[Sides]:
    """Corpora whose mentions have spans: linked and coreferent events, clusters across documents, ACE, arguments."""
    return sides() | sides_across() | sides(ace_documents) | sides(argument_documents)


def any_sides() -> st.SearchStrategy[Sides]:
    """Corpora of every sort: those with spans, and templates, which have none."""
    return spanned_sides() | sides(template_documents)


def relation_sides() -> st.SearchStrategy[Sides]:
    """Corpora with relations between events, and others."""
    return sides(relation_documents) | sides(relation_documents) | any_sides()
