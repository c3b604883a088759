"""Preferences of NIST's scorer that are as small as 1e-8 of a small value: none is lost, in a mapping of any size."""

from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from karat import protocols
from karat.align.assignment import assignment
from karat.api import score
from karat.model import Cluster, Document, Link, Mention
from karat.tables.ace import mapping
from karat.tables.ace.mapping import Gains, IndexPair, forced, optimal
from karat.tables.ace.nist import Nist
from karat.tables.ace.scaled import heaviest_matching
from tests.ace_by_hand import Row, Token
from tests.ace_nist_by_hand import Nist as NistByHand
from tests.corpora import ace, corpus

PLAN, NIST = "ace-2005", "ace-2005-nist"
OTHER = {"tense": "Future", "polarity": "Negative", "genericity": "Generic"}


def several(kind: str, elements: list[dict[str, Any]], *, class_: str = "SPC", mention_type: str = "NAM") -> Document:
    """A document with two entities, and relations or events between them that differ in some attributes."""
    names = [f"V{number}(E,F)" for number in range(len(elements))]
    document = ace(entities=f"E:{class_} F:{class_}", **{f"{kind}s": " ".join(names)})
    attributes = {f"d-V{number}": given_ for number, given_ in enumerate(elements)}
    clusters = [
        replace(cluster, attributes={**cluster.attributes, **attributes.get(cluster.id, {})})
        for cluster in document.clusters
    ]
    mentions = [
        replace(mention, attributes={**mention.attributes, "type": mention_type})
        if mention.kind == "entity"
        else mention
        for mention in document.mentions
    ]
    return replace(document, clusters=tuple(clusters), mentions=tuple(mentions))


def counts(gold: Document, system: Document, protocol: str, task: str) -> dict[str, float]:
    result = score(corpus([gold]), corpus([system]), protocol=protocol, measures=[f"ace.{task}"])
    found: dict[str, float] = result[f"ace.{task}"].to_dict()["micro"]["counts"]
    return found


def with_values(folder: Path, protocol: str, value: str) -> str:
    """A protocol in which a named, specific entity is worth that much."""
    text = protocols.PROTOCOLS.get(protocol).read_text(encoding="utf-8")
    assert "NAM = 1.00" in text
    path = folder / f"{protocol}.toml"
    path.write_text(text.replace("NAM = 1.00", f"NAM = {value}"), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("task", ["vdr", "vmd", "rdr", "rmd"])
@pytest.mark.parametrize("value", ["1.00", "1e-3", "1e-5", "1e-9", "1e-13"])
@pytest.mark.parametrize(("class_", "mention_type"), [("SPC", "NAM"), ("GEN", "NAM"), ("GEN", "PRO")])
def test_the_identical_one_is_taken(task: str, value: str, class_: str, mention_type: str, tmp_path: Path) -> None:
    """Of two that differ only in TENSE, in either order of the file; under the plan they tie, and the order decides."""
    kind = "event" if task[0] == "v" else "relation"
    shape = {"class_": class_, "mention_type": mention_type}
    plan, nist = (with_values(tmp_path, protocol, value) for protocol in (PLAN, NIST))
    for name in OTHER if kind == "event" else ("tense",):
        gold = several(kind, [{}], **shape)
        for is_first in (True, False):
            wrong = {name: OTHER[name]}
            system = several(kind, [{}, wrong] if is_first else [wrong, {}], **shape)
            found = score(corpus([gold]), corpus([system]), protocol=nist, measures=[f"ace.{task}"], details=True)
            (item,) = [one for one in found.details[f"ace.{task}"]["items"] if "reference" in one]
            assert item["system"].removesuffix("-1") == f"d-V{0 if is_first else 1}"
            assert counts(gold, system, plan, task)["correct"] == is_first


@pytest.mark.parametrize("task", ["vdr", "rdr"])
@pytest.mark.parametrize("class_", ["SPC", "GEN"])
@pytest.mark.slow
def test_identical_ones_are_taken_in_a_large_component(task: str, class_: str) -> None:
    """Every one of 80 could be any of 160: more pairs than are solved without scipy."""
    kind = "event" if task == "vdr" else "relation"
    golds = [{"tense": tense} for tense in ("Past", "Future") for _ in range(40)]
    systems = [*({"tense": "Unspecified"} for _ in range(80)), *golds]
    Random(1).shuffle(systems)
    gold, system = several(kind, golds, class_=class_), several(kind, systems, class_=class_)
    assert len(golds) * len(systems) > mapping.LARGE
    found = counts(gold, system, NIST, task)
    assert (found["correct"], found["error"], found["false_alarm"]) == (80, 0, 80)
    assert counts(gold, system, PLAN, task)["miss"] == 0


def some_document(random: Random, side: str) -> Document:
    """Two entities, and a few events between them that differ in hardly anything."""
    entities = [(name, random.choice(["SPC", "GEN", "GEN"]), random.choice(["NAM", "PRO"])) for name in "EF"]
    clusters = [Cluster(f"{side}{n}", "entity", {"type": "PER", "subtype": "x", "class": c}) for n, c, _ in entities]
    mentions = [
        Mention(f"{side}{n}-1", ((10 * i, 10 * i + 5),), ((10 * i, 10 * i + 5),), kind="entity", cluster=f"{side}{n}",
                attributes={"type": type_}, texts={"head": "aaaaa"})
        for i, (n, _, type_) in enumerate(entities)
    ]  # fmt: skip
    links = []
    for number in range(random.randint(1, 4)):
        id_ = f"{side}V{number}"
        varied = {name: random.choice("ab") for name in ("tense", "polarity", "genericity")}
        clusters.append(Cluster(id_, "event", {"type": "Life", "subtype": "Die", "modality": "x", **varied}))
        end = random.choice((40, 40, 40, 45))
        mentions.append(Mention(f"{id_}-1", ((30, end),), kind="event", cluster=id_))
        for name in random.choice(("E", "F", "EF", "EF")):
            links += [Link("Agent", id_, f"{side}{name}"), Link("Agent", f"{id_}-1", f"{side}{name}-1")]
    return Document("d", mentions=tuple(mentions), clusters=tuple(clusters), links=tuple(links))


class Recorded(NistByHand):
    """The scorer by hand, which keeps the values that the last mapping was made of, by the ids of gold and system."""

    def rows(self, golds: list[Token], systems: list[Token], values: Any, *rest: Any) -> list[Row]:
        self.values = {(golds[i].id, systems[j].id): value for (i, j), value in values.items()}
        self.gains = {(golds[i].id, systems[j].id): value - rest[1][j] for (i, j), value in values.items()}
        return super().rows(golds, systems, values, *rest)


@pytest.mark.parametrize("seed", range(80))
@pytest.mark.parametrize("task", ["vdr", "vmd"])
def test_no_mapping_is_better_in_exact_fractions(task: str, seed: int) -> None:
    """By more than 1e-12 of a value that it has; floating-point numbers, and the scorer's, cannot tell such apart."""
    random = Random(seed)
    gold, system = some_document(random, "g"), some_document(random, "s")
    by_hand = Recorded([gold], [system], {"entity", "event"})
    rows = by_hand.task(task)
    result = score(corpus([gold]), corpus([system]), protocol=NIST, measures=[f"ace.{task}"], details=True)
    items = [(item.get("reference"), item.get("system")) for item in result.details[f"ace.{task}"]["items"]]
    found = {item for item in items if None not in item}
    best = {(row.gold.id, row.system.id) for row in rows if row.gold and row.system}
    if found != best and not by_hand.is_tied:
        lost = sum(by_hand.gains[pair] for pair in best) - sum(by_hand.gains[pair] for pair in found)
        assert abs(lost) <= max(abs(by_hand.values[pair]) for pair in found ^ best) / 10**12


@pytest.mark.parametrize("unmapped", [0.0, -0.75, -1.5e-8, -1e3])
def test_a_factor_of_1_less_epsilon_shows_in_every_gain(unmapped: float) -> None:
    for power in range(40):
        value = 10.0**-power
        gains = [Nist.gain(None, value * (1 - 1e-8) ** wrong, unmapped) for wrong in range(4)]  # type: ignore[arg-type]
        assert gains == sorted(set(gains), reverse=True)
        assert Nist.gain(None, value * (1 + 3e-16), unmapped) == gains[0]  # type: ignore[arg-type]


# Matchings in whole numbers of any size.

whole = st.one_of(st.integers(0, 3), st.sampled_from([10**30, 10**30 + 1, 10**30 - 1]), st.integers(0, 10**60))
weights = st.dictionaries(st.tuples(st.integers(0, 5), st.integers(0, 5)), whole.map(lambda n: n + 1), min_size=1)


@settings(max_examples=150, deadline=None)
@given(weights)
@pytest.mark.slow
def test_the_heaviest_matching_is_exact(found: dict[IndexPair, int]) -> None:
    matching = heaviest_matching(found)
    assert len({row for row, _ in matching}) == len({column for _, column in matching}) == len(matching)
    assert sum(found[pair] for pair in matching) == sum(found[pair] for pair in assignment(found))


gains = st.dictionaries(
    st.tuples(st.integers(0, 3), st.integers(0, 3)),
    st.tuples(st.sampled_from([-(10**40), -(10**40) + 1, -1, 0, 1, 10**40, 10**40 - 1]), st.just(0.0)),
    min_size=1,
)


@settings(max_examples=150, deadline=None)
@given(gains)
def test_forced_mappings_are_exact(found: dict[IndexPair, tuple[int, float]]) -> None:
    """Against every permutation of the square with one row and column more; of one row the best column is taken."""
    chosen = forced(found)
    gained = sum(found[pair][0] for pair in chosen)
    rows, columns = ([*dict.fromkeys(side)] for side in zip(*sorted(found), strict=True))
    if len(rows) == 1:
        assert gained == max(gain for gain, _ in found.values())
        return
    size = max(len(rows), len(columns)) + 1
    least = -(-max(abs(gain) for gain, _ in found.values()) // 10**12)

    def worth(order: tuple[int, ...]) -> int:
        cells = [(rows[i], columns[j]) for i, j in enumerate(order) if i < len(rows) and j < len(columns)]
        taken = [found[cell][0] for cell in cells if cell in found]
        return sum(taken) - least * (size - len(taken))

    best = max(map(worth, permutations(range(size))))
    assert gained - least * (size - len(chosen)) == best or (min(found.values())[0] >= 0 and gained >= best)


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        st.tuples(st.integers(0, 5), st.integers(0, 5)),
        st.tuples(st.sampled_from([0, 1, 2, 10**12, 10**12 + 1]), st.sampled_from([0.0, 0.5, 1.0])),
        max_size=20,
    )
)
def test_large_components_are_mapped_as_small_ones(found: dict[IndexPair, tuple[int, float]]) -> None:
    """The same gain, number of pairs and overlap, whichever solver is taken."""

    def key(gains: Gains) -> tuple[int, int, float]:
        pairs = optimal(gains)
        return sum(gains[pair][0] for pair in pairs), len(pairs), sum(gains[pair][1] for pair in pairs)

    small = key(found)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mapping, "LARGE", 0)
        assert key(found) == small


def test_a_twin_is_taken_by_the_order_of_the_text_in_a_table_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    twins = {(row, column): (5, 1.0) for row in range(3) for column in range(6)}
    for large in (mapping.LARGE, 0):
        monkeypatch.setattr(mapping, "LARGE", large)
        assert optimal(twins) == [(0, 0), (1, 1), (2, 2)]
