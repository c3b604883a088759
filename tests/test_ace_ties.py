"""Elements in one place: the arguments that refer to them decide which is which, never their order in the file."""

from random import Random

import pytest
from msgspec.structs import replace

import karat
from karat.model import Cluster, Document, Link, Mention, Value

EVENT: dict[str, Value] = {
    **{"type": "Justice", "modality": "Asserted", "polarity": "Positive"},
    **{"genericity": "Specific", "tense": "Past"},
}
TASKS = ("ace.edr", "ace.val", "ace.rdr", "ace.vdr", "ace.vmd")


def values(events: dict[str, tuple[int, str]], *, first: str = "", ids: str = "") -> Document:
    """Equal values in one place, each the Crime of an event with a subtype, at that place.

    The names are those of the values, in the order of the file; `first` comes first.
    """
    names = sorted(events, key=lambda name: name != first)
    mentions, clusters, links = [], [], []
    for name in names:
        clusters.append(Cluster(f"{ids}{name}", "value", {"type": "Crime"}))
        mentions.append(Mention(f"{ids}{name}-1", ((10, 20),), kind="value", cluster=f"{ids}{name}"))
    for name, (begin, subtype) in events.items():
        event, anchor = f"{ids}of {name}", ((begin, begin + 5),)
        clusters.append(Cluster(event, "event", {**EVENT, "subtype": subtype}))
        mentions.append(Mention(f"{event}-1", anchor, None, ((0, 200),), kind="event", cluster=event))
        links += [Link("Crime", event, f"{ids}{name}"), Link("Crime", f"{event}-1", f"{ids}{name}-1")]
    return Document("d", mentions=tuple(mentions), clusters=tuple(clusters), links=tuple(links))


def vdr(gold: Document, system: Document, protocol: str = "ace-2005", **settings: str) -> float | None:
    return karat.score([gold], [system], protocol=protocol, settings=settings)["ace.vdr"].value


TWO = {"a": (100, "Convict"), "b": (150, "Sue")}


@pytest.mark.parametrize(("gold", "system"), [(gold, system) for gold in "ab" for system in "ab"])
def test_twins_are_told_apart_by_the_events_that_they_are_arguments_of(gold: str, system: str) -> None:
    """By their order in the file, half of these would cost the subtype of both events: 0.90."""
    assert vdr(values(TWO, first=gold), values(TWO, first=system, ids="s"), argument_scoring="mapped") == 1


@pytest.mark.parametrize("first", "ab")
@pytest.mark.parametrize("found", "ab")
def test_a_twin_that_the_system_lacks_is_the_one_whose_event_it_lacks(first: str, found: str) -> None:
    gold, system = values(TWO, first=first), values({found: TWO[found]}, ids="s")
    assert vdr(gold, system, argument_scoring="mapped") == 0.5
    assert vdr(gold, system) == 0.5


@pytest.mark.parametrize("first", "ab")
def test_events_of_one_subtype_are_told_apart_by_their_places(first: str) -> None:
    gold = values({"a": (100, "Sue"), "b": (150, "Sue")})
    system = values({"b": (150, "Sue"), "a": (100, "Sue")}, first=first, ids="s")
    other = {**EVENT, "subtype": "Sue", "modality": "Other"}
    gold, system = (
        replace(
            document,
            clusters=tuple(
                replace(one, attributes=other) if one.id.endswith("of a") else one for one in document.clusters
            ),
        )
        for document in (gold, system)
    )
    assert vdr(gold, system, argument_scoring="mapped") == 1


def test_text_order_comes_first() -> None:
    """Reading 11: the system's value lies between two of gold, and overlaps both alike; the first of them is taken."""
    gold = values(TWO)
    moved = replace(gold.mentions[1], span=((14, 24),))
    gold = replace(gold, mentions=(gold.mentions[0], moved, *gold.mentions[2:]))
    system = values({"b": TWO["b"]}, ids="s")
    system = replace(system, mentions=(replace(system.mentions[0], span=((12, 22),)), *system.mentions[1:]))
    result = karat.score([gold], [system], protocol="ace-2005", measures="ace.val", details=True)
    mapped = {
        item["reference"]: item.get("system") for item in result.details["ace.val"]["items"] if "reference" in item
    }
    assert mapped == {"a": "sb", "b": None}


def crowded(random: Random, ids: str) -> Document:
    """Entities and values in few places and with few attributes, and relations and events between them."""
    mentions, clusters, links = [], [], []
    kinds = [random.choice(("entity", "value")) for _ in range(random.randint(2, 6))]
    for number, kind in enumerate(kinds):
        begin = random.choice((10, 10, 14, 40))
        described: dict[str, Value] = {"type": random.choice(("PER", "ORG")), "subtype": "Group", "class": "SPC"}
        clusters.append(Cluster(f"{ids}{number}", kind, described if kind == "entity" else {"type": "Crime"}))
        type_ = random.choice(("NAM", "NOM"))
        written: dict[str, Value] = {"type": type_} if kind == "entity" else {}
        mentions.append(
            Mention(f"{ids}{number}-1", ((begin, begin + 10),), None, None, None, kind, f"{ids}{number}", written)
        )
    entities = [number for number, kind in enumerate(kinds) if kind == "entity"]
    for number in range(random.randint(1, 4)):
        is_relation = len(entities) > 1 and random.random() < 0.5
        id_, kind = f"{ids}h{number}", "relation" if is_relation else "event"
        relation: dict[str, Value] = {
            "type": "ORG-AFF",
            "subtype": "Employment",
            "modality": "Asserted",
            "tense": "Past",
        }
        clusters.append(
            Cluster(id_, kind, relation if is_relation else {**EVENT, "subtype": random.choice(("Sue", "Fine"))})
        )
        begin = 100 + 20 * number  # relations and events have an order in the text
        mentions.append(Mention(f"{id_}-1", ((begin, begin + 10),), kind=kind, cluster=id_))
        chosen = random.sample(entities, 2) if is_relation else random.sample(range(len(kinds)), random.randint(1, 2))
        for role, target in zip(("Arg-1", "Arg-2") if is_relation else ("Agent", "Crime"), chosen, strict=False):
            links += [Link(role, id_, f"{ids}{target}"), Link(role, f"{id_}-1", f"{ids}{target}-1")]
    return Document("d", mentions=tuple(mentions), clusters=tuple(clusters), links=tuple(links))


def shuffled(random: Random, document: Document) -> Document:
    """Put the elements in another order."""
    order = {id_: random.random() for id_ in sorted(cluster.id for cluster in document.clusters)}
    return replace(
        document,
        mentions=tuple(sorted(document.mentions, key=lambda mention: order[mention.cluster or ""])),
        clusters=tuple(sorted(document.clusters, key=lambda cluster: order[cluster.id])),
    )


@pytest.mark.slow
@pytest.mark.parametrize("scoring", ["overlapping", "mapped"])
def test_the_order_of_elements_does_not_show(scoring: str) -> None:
    random = Random(11)
    for _ in range(150):
        gold, system = crowded(random, "g"), crowded(random, "s")
        sides = [(gold, system), *((shuffled(random, gold), shuffled(random, system)) for _ in range(3))]
        found = []
        for golds, systems in sides:
            result = karat.score([golds], [systems], protocol="ace-2005", settings={"argument_scoring": scoring})
            found.append({task: result[task].to_dict() for task in TASKS if task in result.scores})
        assert all(one == found[0] for one in found)
