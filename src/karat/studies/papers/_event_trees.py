"""The worked examples of Araki, Hovy and Mitamura (2014): small systems for what sections 3, 4 and 6 say in words.

Gold is Figure 2, as far as the text describes it: sections 1, 3.1 and 3.3 name its mentions, E6 and E7 as one event,
and five subevent links. Each system differs from it in one respect.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from karat.model import Document, Link, Mention
from karat.protocols import resolve
from karat.studies.curves import Bench
from karat.studies.properties import SAME, percent
from karat.studies.reproduction import Cell, Claim, Column, Numbers

Event = tuple[str, ...]
"""The mentions of an event."""
Arc = tuple[str, str]
"""A mention of the parent, and one of the subevent."""
Scores = Mapping[str, float | None]
"""By the name of the measure."""

EVENTS: tuple[Event, ...] = (("E6", "E7"), ("E4",), ("E8",), ("E9",), ("E11",), ("E12",))
ARCS: tuple[Arc, ...] = (("E6", "E4"), ("E7", "E8"), ("E8", "E9"), ("E7", "E11"), ("E11", "E12"))
NAMES = {
    **{"mucp": "MUCp", "blancp": "BLANCp", "nstmp": "NSTMp", "siblings": "siblings", "ceafp": "CEAFp"},
    **{"muc": "MUC", "b3": "B3"},
}
METRICS = ("MUCp", "BLANCp", "NSTMp")
"""The metrics of the paper."""


def document(events: Sequence[Event], arcs: Sequence[Arc] = ()) -> list[Document]:
    """A document with these events and subevent links."""
    ids = [id_ for event in events for id_ in event]
    cluster_of = {id_: event[0] for event in events for id_ in event}
    # The last digits of an id are its place, so that both sides agree about it.
    mentions = [Mention(id_, ((int(id_[1:]), int(id_[1:]) + 1),), cluster=cluster_of[id_]) for id_ in ids]
    return [Document("d", mentions=tuple(mentions), links=tuple(Link("subevent", *arc) for arc in arcs))]


def scores(
    system: Sequence[Document], gold: Sequence[Document], protocol: str = "araki-2014", **settings: object
) -> Scores:
    """The main score of each measure."""
    family = "coref" if protocol == "conll-2012" else "hierarchy"
    leaves = Bench(resolve(protocol, settings), family).leaves(gold, system)
    return {
        NAMES[name]: leaf.values["f1"] if "f1" in leaf.values else leaf.values["score"]
        for id_, leaf in leaves.items()
        if (name := id_.rpartition(".")[2]) in NAMES
    }


class Examples:
    """Every system of the text, scored."""

    def __init__(self, table_1: Sequence[Document]) -> None:
        gold = document(EVENTS, ARCS)
        alike: dict[str, list[Arc]] = {"A": [("E6", "E8")], "B": [("E7", "E8")], "C": [("E6", "E8"), ("E7", "E8")]}
        self.alike = {name: scores(document(EVENTS, arcs), gold) for name, arcs in alike.items()}
        siblings: dict[str, list[Arc]] = {"A": [("E6", "E8"), ("E6", "E11")], "B": [("E8", "E9"), ("E11", "E12")]}
        self.siblings = {name: scores(document(EVENTS, arcs), gold) for name, arcs in siblings.items()}
        self.twinless = scores(document(EVENTS[:-1], ARCS[:-1]), gold)
        self.own_pairs = scores(document(EVENTS[:-1], ARCS[:-1]), gold, twinless="own-pairs")
        implied = document(EVENTS, [("E7", "E9") if arc == ("E8", "E9") else arc for arc in ARCS])
        self.implied, self.transitive = scores(implied, gold), scores(implied, gold, transitive=True)
        one_event = [("E6", "E7"), ("E4", "E8", "E11"), ("E9",), ("E12",)]
        self.merged = scores(document(one_event, ARCS), gold)
        linked = {end for link in table_1[0].links for end in (link.source, link.target)}
        kept = tuple(mention for mention in table_1[0].mentions if mention.id in linked)
        self.singletons = len(table_1[0].mentions) - len(kept)
        self.without_singletons = scores([replace(table_1[0], mentions=kept)], table_1)
        three = document([("m1", "m2"), ("m3", "m4"), ("m5", "m6")])
        systems = ([("m1", "m2", "m3", "m4", "m5", "m6")], [("m1", "m2"), ("m3",), ("m4",), ("m5",), ("m6",)])
        self.muc = [scores(document(events), three, "conll-2012") for events in systems]
        lone = document([("m1", "m2"), ("m3",), ("m4",)])
        self.muc_without_singletons = scores(document([("m1", "m2")]), lone, "conll-2012")

    def numbers(self) -> Iterator[Numbers]:
        """The tables."""
        columns = (*METRICS, "siblings", "CEAFp")
        yield _table("Section 3.2: one link of Figure 2, written in three ways", columns, self.alike)
        yield _table("Section 3.3: two links of Figure 2 with and without a common parent", columns, self.siblings)
        yield Numbers(
            "Section 4.4: a system without E12 (twinless), and one with E7 -> E9 for E8 -> E9 (implied)",
            (Column("twinless"), Column("implied"), Column("implied, transitive")),
            {
                name: (Cell(self.twinless[name]), Cell(self.implied[name]), Cell(self.transitive[name]))
                for name in METRICS
            },
        )

    def claims(self) -> Iterator[Claim]:
        """Sections 3.2, 3.3, 4.4 and 6."""
        yield Claim(
            "they gain the same score since the subevent links that they identify correspond to one correct subevent "
            "link",
            "section 3.2",
            len({tuple(self.alike[name].items()) for name in "ABC"}) == 1,
            f"systems A, B and C score alike by every measure: {_listed(self.alike['A'])}",
        )
        first, second = self.siblings["A"], self.siblings["B"]
        equal = [name for name in METRICS if _above(first[name], second[name]) == 0]
        yield Claim(
            "system A performs better since the system successfully detects an implicit subevent sibling relation",
            "section 3.3",
            _above(first["siblings"], second["siblings"]) > 0,
            f"only by measures that see more than links: A {_listed(first)}; B {_listed(second)}. "
            f"{' and '.join(equal)} rank them equal",
        )
        for name, says, requires_twins in (
            ("MUCp", "MUCp does not require both assumptions of twinless mentions and intransitivity", False),
            (
                "BLANCp",
                "BLANCp does not require intransitivity but does require the assumption of no twinless mentions",
                True,
            ),
            ("NSTMp", "[STMp] does not require the assumption of twinless mentions [nor] of intransitivity", False),
        ):
            twinless = self.twinless[name]
            yield Claim(
                says,
                "section 4.4",
                (twinless is None) == requires_twins and _above(self.transitive[name], self.implied[name]) > 0,
                f"without E12, {name} is {_score(twinless)}"
                + (f" (with twinless=own-pairs, {_score(self.own_pairs[name])})" if requires_twins else "")
                + f"; transitive=true raises it from {_score(self.implied[name])} to {_score(self.transitive[name])} "
                "for a system with the implied link E7 -> E9 in place of E8 -> E9",
            )
        many, few = self.muc
        yield Claim(
            "MUC has two disadvantages that (1) it prefers systems that have more mentions per entity (event) [...] "
            "MUCp also has these disadvantages",
            "section 6",
            _above(many["MUC"], few["MUC"]) > 0 > _above(many["B3"], few["B3"]) and self.merged["MUCp"] == 1,
            f"MUC gives {_score(many['MUC'])} to a system that takes three events of two mentions for one, and "
            f"{_score(few['MUC'])} to one that finds one of them and adds nothing wrong (B3: {_score(many['B3'])} and "
            f"{_score(few['B3'])}). MUCp gives {_score(self.merged['MUCp'])} to a system that takes E4, E8 and E11 "
            f"of Figure 2 for one event; NSTMp gives {_score(self.merged['NSTMp'])}",
        )
        yield Claim(
            "(2) it ignores recall for singletons",
            "section 6",
            self.muc_without_singletons["MUC"] == self.without_singletons["MUCp"] == 1,
            f"a system without the {self.singletons} singleton events of Table 1 has MUCp "
            f"{_score(self.without_singletons['MUCp'])} and NSTMp {_score(self.without_singletons['NSTMp'])}; one that "
            f"leaves out two singletons beside a pair has MUC {_score(self.muc_without_singletons['MUC'])} and B3 "
            f"{_score(self.muc_without_singletons['B3'])}",
        )


def _table(title: str, columns: Sequence[str], rows: Mapping[str, Scores]) -> Numbers:
    return Numbers(
        title,
        tuple(map(Column, columns)),
        {f"System {name}": tuple(Cell(scores[column]) for column in columns) for name, scores in rows.items()},
    )


def _above(score: float | None, other: float | None) -> float:
    """How far a score is above another, both defined."""
    assert score is not None
    assert other is not None
    return 0.0 if abs(score - other) <= SAME else score - other


def _score(value: float | None) -> str:
    return "undefined" if value is None else percent(value)


def _listed(scores: Scores) -> str:
    return ", ".join(f"{name} {_score(value)}" for name, value in scores.items())
