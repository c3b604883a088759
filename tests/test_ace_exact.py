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
from karat.api.scoring import score
from karat.families.ace.nist import Nist, forced
from karat.families.ace.plan import IndexPair
from karat.model import Document
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
@pytest.mark.parametrize("value", ["1.00", "1e-5", "1e-13"])
@pytest.mark.parametrize(("class_", "mention_type"), [("SPC", "NAM"), ("GEN", "PRO")])
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
def test_identical_ones_are_taken_in_a_large_component(task: str, class_: str) -> None:
    """Every gold element could be any of twice as many."""
    kind = "event" if task == "vdr" else "relation"
    golds = [{"tense": tense} for tense in ("Past", "Future") for _ in range(15)]
    systems = [*({"tense": "Unspecified"} for _ in range(30)), *golds]
    Random(1).shuffle(systems)
    gold, system = several(kind, golds, class_=class_), several(kind, systems, class_=class_)
    found = counts(gold, system, NIST, task)
    assert (found["correct"], found["error"], found["false_alarm"]) == (30, 0, 30)
    assert counts(gold, system, PLAN, task)["miss"] == 0


@pytest.mark.parametrize("unmapped", [0.0, -0.75, -1.5e-8, -1e3])
def test_a_factor_of_1_less_epsilon_shows_in_every_gain(unmapped: float) -> None:
    for power in range(40):
        value = 10.0**-power
        gains = [Nist.gain(None, value * (1 - 1e-8) ** wrong, unmapped) for wrong in range(4)]  # type: ignore[arg-type]
        assert gains == sorted(set(gains), reverse=True)
        assert Nist.gain(None, value * (1 + 3e-16), unmapped) == gains[0]  # type: ignore[arg-type]


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
