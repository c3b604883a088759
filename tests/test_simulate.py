"""`karat simulate`: what each error does, how often, that the result is whole, and that it can be repeated."""

import gzip
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import karat
from karat.api.scoring import score
from karat.checks import check
from karat.cli.program import cli
from karat.corpus.fingerprint import Fingerprint
from karat.corpus.memory import MemoryCorpus
from karat.formats import FORMATS, read_options, tbf
from karat.model import Cluster, Document, Link, Mention
from karat.problems import Finding, KaratError, UsageError
from karat.regions import size
from karat.run.validation import validate
from karat.simulate.mentions import TakenSpans, parts, shifts
from karat.simulate.profile import Distribution, chance
from karat.simulate.simulation import Rates, Simulation
from tests.ace_files import SGM
from tests.ace_files import document as ace_document
from tests.corpora import as_jsonl, corpus, documents, mention
from tests.running import run as run_karat

ERRORS = ["miss", "split", "merge", "boundary", "break_", "conflate", "drop_link", "reverse_link", "spurious"]
TYPES = ["Life.Die", "Life.Injure", "Contact.Meet", "Conflict.Attack"]


def simulated(
    gold: Iterable[Document], *, seed: int = 0, attributes: dict[str, float] | None = None, **rates: float
) -> tuple[list[Document], Counter[str]]:
    simulation = Simulation(
        corpus(gold), Rates(attributes=attributes or {}, **rates), seed=seed, report=lambda finding: None
    )
    return list(simulation), simulation.made


def one(gold: Document, **rates: Any) -> Document:
    """Simulate a corpus of one document."""
    ((document,), _) = simulated([gold], **rates)
    return document


def fingerprint(documents: Iterable[Document]) -> str:
    whole = Fingerprint()
    for document in documents:
        whole.add(document)
    return str(whole)


def large(*, texts: bool = True) -> list[Document]:
    """Twenty documents of twenty mentions, in clusters of two, linked in a chain; made without chance."""
    made = []
    for number in range(20):
        mentions = tuple(
            mention(
                f"m{place}",
                (30 * place, 30 * place + 5 + (number + place) % 4),
                cluster=f"d{number}:c{place // 2}",
                type=TYPES[(number + place * place) % 4],
                realis="Actual" if place % 3 else "Other",
            )
            for place in range(20)
        )
        links = tuple(Link("after", f"m{place}", f"m{place + 2}") for place in range(0, 18, 2))
        made.append(Document(f"d{number}", text="x" * 620 if texts else None, mentions=mentions, links=links))
    return made


SMALL = Document(
    "d",
    text="Troops fired. Two died in the attack; talks were called off after it.",
    mentions=(
        mention("m1", (7, 12), cluster="E1", type="Attack", realis="Actual"),
        mention("m2", (18, 22), type="Die", realis="Actual"),
        mention("m3", (30, 36), cluster="E1", type="Attack", realis="Actual"),
        mention("m4", (38, 43), cluster="E2", type="Meet", realis="Other"),
        mention("m5", (49, 55), (56, 59), cluster="E2", type="Meet", realis="Other"),
    ),
    links=(Link("after", "m1", "m2"), Link("after", "m2", "m4"), Link("subevent", "E1", "m2")),
)


# Nothing asked, nothing done.


def test_without_errors_the_system_is_gold() -> None:
    found, made = simulated([SMALL, *large()])
    assert (found, made) == ([SMALL, *large()], Counter())


@settings(max_examples=40, deadline=None)
@given(documents(), st.integers())
def test_no_seed_makes_errors_of_its_own(document: Document, seed: int) -> None:
    assert one(document, seed=seed) == document


# Each error at rate 1.


def test_miss_drops_mentions_with_what_hangs_on_them() -> None:
    document = one(replace(SMALL, clusters=(Cluster("E1", attributes={"type": "Attack"}), Cluster("X"))), miss=1)
    assert (document.mentions, document.links, document.clusters) == ((), (), (Cluster("X"),))


def test_a_link_of_a_missed_mention_does_not_fall_to_a_cluster_of_that_name() -> None:
    gold = Document(
        "d", mentions=(mention("E1", (0, 4)), mention("m2", (5, 9), cluster="E1")), links=(Link("after", "E1", "m2"),)
    )
    for seed in range(20):
        document = one(gold, miss=0.5, seed=seed)
        assert bool(document.links) == (len(document.mentions) == 2)


def test_split_makes_two_of_each() -> None:
    document = one(SMALL, split=1)
    assert len(document.mentions) == 10
    for gold, first, second in zip(SMALL.mentions, document.mentions[::2], document.mentions[1::2], strict=True):
        covered = [place for m in (first, second) for begin, end in m.span for place in range(begin, end)]
        assert covered == [place for begin, end in gold.span for place in range(begin, end)]
        assert (first.id, first.attributes, second.attributes) == (gold.id, gold.attributes, gold.attributes)
        assert (first.cluster, second.cluster) == (gold.cluster, gold.cluster)
    assert document.links == SMALL.links


def test_one_position_cannot_be_split() -> None:
    gold = Document("d", mentions=(mention("m", (3, 4)), Mention("n", ())))
    assert one(gold, split=1) == gold


def test_merge_joins_neighbours_two_by_two() -> None:
    document = one(SMALL, merge=1)
    assert [(m.id, m.span, m.cluster) for m in document.mentions] == [
        ("m1", ((7, 12), (18, 22)), "E1"),
        ("m3", ((30, 36), (38, 43)), "E1"),
        ("m5", ((49, 55), (56, 59)), "E2"),
    ]
    assert document.links == ()
    touching = Document("d", mentions=(mention("m1", (4, 6)), mention("m2", (0, 4))))
    assert [(m.id, m.span) for m in one(touching, merge=1).mentions] == [("m2", ((0, 6),))]


def test_only_mentions_of_a_kind_are_merged() -> None:
    gold = Document("d", mentions=(mention("m", (0, 4)), Mention("p", ((5, 9),), kind="entity")))
    assert one(gold, merge=1) == gold


def test_boundary_shifts_one_end_a_little() -> None:
    found, made = simulated(large(), boundary=1)
    assert made == {"boundary": 400}
    shifts = Counter[int]()
    for gold, system in zip(large(), found, strict=True):
        for before, after in zip(gold.mentions, system.mentions, strict=True):
            ((begin, end),), ((new_begin, new_end),) = before.span, after.span
            assert (begin == new_begin) != (end == new_end)
            shifts[new_begin - begin + new_end - end] += 1
    assert set(shifts) == {-2, -1, 1, 2}
    assert min(shifts.values()) > 60


def test_a_mention_that_moved_has_no_old_words() -> None:
    gold = Document("d", mentions=(Mention("m", ((4, 9),), head=((4, 9),), extent=((0, 12),), text="fired"),))
    (moved,) = one(gold, boundary=1).mentions
    assert (moved.text, moved.extent) == (None, ((0, 12),))
    assert moved.head is None or moved.span[0][0] <= 4 < 9 <= moved.span[0][1]


def test_every_shift_there_is() -> None:
    """Segments 2-4 and 5-6 before 7: 2-4 cannot grow to the right, where it would touch the other one."""
    assert shifts(((2, 4), (5, 6)), 7) == [(0, (0, 4)), (0, (1, 4)), (0, (3, 4)), (0, (2, 3)), (1, (5, 7))]
    assert shifts(((0, 1),), 1) == []
    assert shifts((), 9) == []
    assert shifts(((8, 12),), 9) == []


def test_parts_of_a_span() -> None:
    span = ((2, 4), (6, 9))
    assert parts(span, 1) == (((2, 3),), ((3, 4), (6, 9)))
    assert parts(span, 2) == (((2, 4),), ((6, 9),))
    assert parts(span, 4) == (((2, 4), (6, 8)), ((8, 9),))


def test_attribute_values_become_others() -> None:
    found, made = simulated(large(), attributes={"type": 1, "realis": 1})
    assert made == {"attribute realis": 400, "attribute type": 400}
    for gold, system in zip(large(), found, strict=True):
        for before, after in zip(gold.mentions, system.mentions, strict=True):
            assert after.attributes["type"] in set(TYPES) - {before.attributes["type"]}
            assert {before.attributes["realis"], after.attributes["realis"]} == {"Actual", "Other"}
            assert replace(after, attributes=before.attributes) == before


def test_values_of_other_types_and_kinds_are_other_values() -> None:
    """`True` is mistaken for 1, and never for a value that only entities have."""
    gold = Document(
        "d",
        mentions=(
            mention("m1", (0, 1), certain=True),
            mention("m2", (1, 2), certain=1),
            Mention("p", ((2, 3),), kind="entity", attributes={"certain": "yes"}),
        ),
    )
    values = [m.attributes["certain"] for m in one(gold, attributes={"certain": 1}).mentions]
    assert [(type(value), value) for value in values] == [(int, 1), (bool, True), (str, "yes")]


def test_an_attribute_with_one_value_is_left_with_a_note() -> None:
    reported: list[Finding] = []
    gold = Document("d", mentions=(mention("m", (0, 4), type="Die"),))
    assert list(Simulation(corpus([gold]), Rates(attributes={"type": 1}), report=reported.append)) == [gold]
    assert [(finding.code, finding.severity) for finding in reported] == [("attribute-one-value", "note")]
    assert "type of event mentions is always 'Die'" in reported[0].message


def test_break_leaves_only_singletons() -> None:
    """E1 and E2 are left with one mention; E3 has its other mention elsewhere, so this one leaves as well."""
    gold = replace(SMALL, mentions=(*SMALL.mentions, mention("m6", (60, 65), cluster="E3", type="Meet")))
    other = Document("e", mentions=(mention("m1", (0, 4), cluster="E3"), mention("m2", (5, 9), cluster="E4")))
    found, made = simulated([gold, other], break_=1)
    assert made == {"break": 4}
    sizes = Counter(m.cluster for document in found for m in document.mentions if m.cluster is not None)
    assert sizes == {"E1": 1, "E2": 1, "E4": 1}
    assert found[0].links == SMALL.links


def test_a_mention_that_leaves_takes_a_copy_of_the_record() -> None:
    gold = Document(
        "d",
        mentions=(
            Mention("p1", ((0, 4),), kind="entity", cluster="P"),
            Mention("d:sim-1", ((5, 9),), kind="entity", cluster="P"),
        ),
        clusters=(Cluster("P", "entity", {"type": "PER"}),),
    )
    document = one(gold, break_=1)
    assert [m.cluster for m in document.mentions] == ["d:sim-2", "P"]
    assert document.clusters == (*gold.clusters, Cluster("d:sim-2", "entity", {"type": "PER"}))


def test_break_makes_no_cycle_of_links_inside_a_cluster() -> None:
    """m1 before m2 and m3 before m1 say nothing while all three are one event; m1 alone would be in a cycle."""
    gold = Document(
        "d",
        mentions=tuple(mention(f"m{n}", (n, n + 1), cluster="E") for n in (1, 2, 3)),
        links=(Link("after", "m1", "m2"), Link("after", "m3", "m1")),
    )
    assert [m.cluster for m in one(gold, break_=1).mentions] == [None, None, "E"]
    outcomes = {tuple(m.cluster for m in one(gold, break_=0.5, seed=seed).mentions) for seed in range(40)}
    assert outcomes == {("E", "E", "E"), ("E", None, "E"), ("E", "E", None), (None, None, "E"), (None, "E", None)} | {
        ("E", None, None)
    }


def test_conflate_leaves_one_cluster_of_a_kind() -> None:
    gold = replace(SMALL, links=(), mentions=(*SMALL.mentions, Mention("p", ((0, 6),), kind="entity")))
    document = one(gold, conflate=1)
    assert len({m.cluster for m in document.mentions[:5]}) == 1
    assert document.mentions[5].cluster is None
    lone = one(Document("d", mentions=(mention("m1", (0, 1)), mention("m2", (1, 2)))), conflate=1)
    assert [m.cluster for m in lone.mentions] == ["d:sim-1", "d:sim-1"]


def test_conflate_takes_links_and_records_along() -> None:
    gold = Document(
        "d",
        mentions=(
            mention("m1", (0, 1), cluster="A"),
            mention("m2", (1, 2), cluster="B"),
            Mention("p", ((2, 3),), kind="entity", cluster="P"),
        ),
        clusters=(Cluster("A", attributes={"type": "x"}), Cluster("B", attributes={"type": "y"})),
        links=(Link("agent", "B", "P"), Link("agent", "A", "P")),
    )
    document = one(gold, conflate=1)
    assert [m.cluster for m in document.mentions] == ["A", "A", "P"]
    assert (document.clusters, document.links) == (gold.clusters[:1], (Link("agent", "A", "P"),))


def test_conflate_makes_no_cycle() -> None:
    """m1 before m2 before m3: the first and the last cannot be one event, the neighbours can."""
    gold = Document(
        "d",
        mentions=tuple(mention(f"m{n}", (n, n + 1)) for n in (1, 2, 3)),
        links=(Link("after", "m1", "m2"), Link("after", "m2", "m3")),
    )
    for seed in range(20):
        document = one(gold, conflate=0.7, seed=seed)
        first, second, third = (m.cluster for m in document.mentions)
        assert first is None or first != third or second == first


def test_links_are_dropped() -> None:
    assert one(SMALL, drop_link=1) == replace(SMALL, links=())


def test_links_are_turned_round() -> None:
    turned = tuple(Link(link.kind, link.target, link.source) for link in SMALL.links)
    assert one(SMALL, reverse_link=1) == replace(SMALL, links=turned)


def test_a_link_that_would_close_a_cycle_is_left() -> None:
    """Of a -> b, b -> c, a -> c, the last cannot be turned round alone, nor can the others without it.

    Of the eight choices, c -> a alone becomes no change, and the other two together become the first of them.
    """
    gold = Document(
        "d",
        mentions=tuple(mention(name, (n, n + 1)) for n, name in enumerate("abc")),
        links=(Link("after", "a", "b"), Link("after", "b", "c"), Link("after", "a", "c")),
    )
    outcomes = {one(gold, reverse_link=0.5, seed=seed).links for seed in range(60)}
    assert (*gold.links[:2], Link("after", "c", "a")) not in outcomes
    assert len(outcomes) == 6
    for links in outcomes:
        assert list(check(replace(gold, links=links))) == []


def test_spurious_mentions_are_like_the_corpus_and_nowhere_in_gold() -> None:
    found, made = simulated(large(), spurious=1)
    assert made == {"spurious": 400}
    for gold, system in zip(large(), found, strict=True):
        assert system.mentions[:20] == gold.mentions
        invented = system.mentions[20:]
        assert len({m.span for m in system.mentions}) == 40
        assert all(size(m.span) in (5, 6, 7, 8) and m.span[-1][1] <= 620 for m in invented)
        assert all(m.attributes["type"] in TYPES and m.cluster is None for m in invented)
    kinds = Counter(m.attributes["realis"] for system in found for m in system.mentions[20:])
    assert 220 < kinds["Actual"] < 300  # 13 of 20 gold mentions are


def test_where_there_is_no_room_nothing_is_invented() -> None:
    full = Document("d", text="ab", mentions=(mention("m1", (0, 1)), mention("m2", (1, 2)), mention("m3", (0, 2))))
    assert one(full, spurious=1) == full
    assert one(Document("d", text="ab"), spurious=1) == Document("d", text="ab")


def test_free_spans() -> None:
    taken = TakenSpans({((0, 2),), ((2, 4),), ((1, 3), (5, 6))})
    found = {taken.free(2, 5, Random(seed)) for seed in range(60)}
    assert found == {((1, 3),), ((3, 5),)}
    assert taken.free(9, 2, Random(0)) in {((0, 1),), ((1, 2),)}
    assert taken.free(0, 2, Random(0)) == ()
    assert TakenSpans({((0, 1),)}).free(1, 1, Random(0)) is None


def test_without_text_offsets_end_with_the_last_mention() -> None:
    gold = large(texts=False)
    found, _ = simulated(gold, spurious=1, boundary=1)
    for before, after in zip(gold, found, strict=True):
        last = max(m.span[-1][1] for m in before.mentions)
        assert all(m.span[-1][1] <= last for m in after.mentions)


def test_token_tables_are_not_left(tmp_path: Path) -> None:
    (tmp_path / "d.tab").write_text("".join(f"t{row}\tword\n" for row in range(6)))
    gold = tmp_path / "gold.tbf"
    lines = [f"g\td\tE{row}\tt{row}\tx\tA\tActual" for row in range(4)]
    gold.write_text("\n".join(["#BeginOfDocument d", *lines, "#EndOfDocument", ""]))
    options = read_options(None, str(tmp_path))
    spans = set()
    for seed in range(20):
        simulation = Simulation(
            karat.read(gold, tokens=str(tmp_path)),
            Rates(spurious=1, boundary=1),
            seed=seed,
            options=options,
            report=lambda finding: None,
        )
        spans |= {m.span for document in simulation for m in document.mentions}
    assert max(end for span in spans for _, end in span) == 6


# How often.


@pytest.mark.parametrize("error", ERRORS)
def test_rates_are_what_comes_out(error: str) -> None:
    """Four standard deviations of a binomial about its mean: 400 mentions, 200 clusters of two, 180 links.

    Conflation strikes all clusters but the first of a document, breaking cannot strike the last of a cluster, merging
    takes two at a time: 0.3 / (1 + 0.3) of them. Links forbid some conflations, so these are tried without.
    """
    gold = [replace(document, links=()) for document in large()] if error == "conflate" else large()
    rates: dict[str, Any] = {error: 0.3}
    found, made = simulated(gold, seed=3, **rates)
    chances, rate = {
        "conflate": (180, 0.3),
        "drop_link": (180, 0.3),
        "reverse_link": (180, 0.3),
        "break_": (400, 0.255),
        "merge": (380, 0.3 / 1.3),
    }.get(error, (400, 0.3))
    mean, deviation = chances * rate, (chances * rate * (1 - rate)) ** 0.5
    ((name, count),) = made.items()
    assert name == error.strip("_").replace("_", "-")
    assert abs(count - mean) < 4 * deviation
    mentions = sum(len(document.mentions) for document in found)
    assert mentions - 400 == {"miss": -count, "merge": -count, "split": count, "spurious": count}.get(error, 0)


def test_attributes_are_drawn_as_the_corpus_has_them() -> None:
    """Of 400 mentions 300 are A, 75 B, 25 C: a mistaken A becomes B three times as often as C."""
    types = "A" * 300 + "B" * 75 + "C" * 25
    gold = Document("d", mentions=tuple(mention(f"m{n}", (n, n + 1), type=value) for n, value in enumerate(types)))
    found = Counter(m.attributes["type"] for m in one(gold, attributes={"type": 1}).mentions[:300])
    assert set(found) == {"B", "C"}
    assert 195 < found["B"] < 255


def test_a_distribution_is_drawn_by_its_counts() -> None:
    distribution = Distribution({"a": 1, "b": 2, "c": 1})
    random = chance(0, "d", "x")
    assert {distribution.draw(random, but="b") for _ in range(50)} == {"a", "c"}
    assert {distribution.draw(random, but="a") for _ in range(50)} == {"b", "c"}
    drawn = Counter(distribution.draw(random) for _ in range(1000))
    assert 430 < drawn["b"] < 570


def test_a_higher_rate_makes_the_same_errors_and_more() -> None:
    few, more = (simulated(large(), miss=rate)[0] for rate in (0.2, 0.4))
    for less, least in zip(few, more, strict=True):
        assert {m.id for m in least.mentions} <= {m.id for m in less.mentions}


# Whole, whatever happens.

_rates = st.fixed_dictionaries({error: st.sampled_from([0.0, 0.3, 0.7, 1.0]) for error in ERRORS})


def well_formed(document: Document) -> bool:
    return all(
        all(0 <= begin < end for begin, end in m.span) and all(a[1] <= b[0] for a, b in pairwise(m.span))
        for m in document.mentions
    )


@st.composite
def linked(draw: st.DrawFn, id_: str) -> Document:
    """A document with links between clusters too, some inside one cluster, and records."""
    document = draw(documents(id_))
    clusters = sorted({m.cluster for m in document.mentions if m.cluster is not None})
    ends = [m.id for m in document.mentions] + clusters
    pairs = draw(st.lists(st.tuples(st.sampled_from(ends), st.sampled_from(ends)), max_size=4)) if ends else []
    shared = draw(st.booleans())
    reported = replace(
        document,
        mentions=tuple(
            replace(m, cluster="shared" if shared and m.cluster == f"{id_}:c0" else m.cluster)
            for m in document.mentions
        ),
        clusters=tuple(Cluster(c, attributes={"type": "A"}) for c in clusters if draw(st.booleans()) and not shared),
    )
    for pair in pairs:
        candidate = replace(reported, links=(*reported.links, Link("subevent", *pair)))
        names = (
            {m.id for m in reported.mentions}
            | {m.cluster for m in reported.mentions}
            | {c.id for c in reported.clusters}
        )
        if set(pair) <= names and not fatal(candidate):
            reported = candidate
    return reported


def fatal(document: Document) -> list[Finding]:
    return [finding for finding in check(document) if finding.severity == "fatal"]


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.tuples(linked("d0"), linked("d1")), _rates, st.integers(0, 99))
def test_the_system_is_a_valid_corpus(gold: tuple[Document, ...], rates: dict[str, float], seed: int) -> None:
    there = any(document.mentions for document in gold)
    found, _ = simulated(gold, seed=seed, attributes={"type": 0.5} if there else {}, **rates)
    assert [document.id for document in found] == ["d0", "d1"]
    for before, document in zip(gold, found, strict=True):
        ids = [m.id for m in document.mentions]
        assert len(set(ids)) == len(ids)
        records = [cluster.id for cluster in document.clusters]
        assert len(set(records)) == len(records)
        ends = {*ids, *records, *(m.cluster for m in document.mentions)}
        assert all(link.source in ends and link.target in ends for link in document.links)
        assert well_formed(document)
        assert fatal(document) == []
        assert len(document.links) <= len(before.links)


@settings(max_examples=60, deadline=None)
@given(st.tuples(linked("d0"), linked("d1")), _rates)
def test_what_is_written_reads_back(
    tmp_path_factory: pytest.TempPathFactory, gold: tuple[Document, ...], rates: dict[str, float]
) -> None:
    found, _ = simulated(gold, attributes=None, seed=1, **rates)
    path = tmp_path_factory.mktemp("jsonl") / "system.jsonl"
    path.write_bytes(as_jsonl(*found))
    reported: list[Finding] = []
    back = karat.read(path)
    assert [back.read(document.id, reported.append) for document in found] == found
    assert reported == []
    back.close()


def test_a_cycle_in_gold_is_refused() -> None:
    gold = replace(SMALL, links=(Link("after", "m1", "m2"), Link("after", "m2", "m1")))
    with pytest.raises(KaratError, match="form a cycle"):
        simulated([gold])


# The same again.


def test_only_seed_and_document_count() -> None:
    """In another order, and under another seed."""
    rates: dict[str, Any] = {**dict.fromkeys(ERRORS, 0.3), "attributes": {"type": 0.3}}
    found, made = simulated(large(), seed=5, **rates)
    turned, also = simulated(large()[::-1], seed=5, **rates)
    assert (turned[::-1], also) == (found, made)
    assert simulated(large(), seed=0, **rates)[0] != found
    assert simulated(large(), seed=-5, **rates)[0] != found


def test_other_documents_do_not_count() -> None:
    whole, _ = simulated(large(), miss=0.3, boundary=0.3, split=0.3)
    alone, _ = simulated(large()[7:8], miss=0.3, boundary=0.3, split=0.3)
    assert alone == whole[7:8]


def test_a_simulation_can_be_read_again() -> None:
    simulation = Simulation(corpus(large()), Rates(miss=0.5), report=print)
    first, made = list(simulation), simulation.made.copy()
    assert (list(simulation), simulation.made) == (first, made)


@pytest.mark.slow
def test_bytes_are_the_same_for_any_hash_seed(tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_bytes(as_jsonl(*large()))
    rates = [word for error in ERRORS for word in (f"--{error.strip('_').replace('_', '-')}", "0.3")]
    command = [sys.executable, "-m", "karat", "simulate", str(gold), *rates, "--attribute", "type=0.3"]
    runs = [
        subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True)
        for seed in ("1", "4711")
    ]
    assert len({(run.stdout, run.stderr) for run in runs}) == 1
    assert runs[0].stdout.count(b"\n") == 20


# What scorers see.


def nuggets(gold: list[Document], **rates: Any) -> dict[str, tuple[float | None, float | None]]:
    system, _ = simulated(gold, **rates)
    result = score(corpus(gold), MemoryCorpus(system), protocol="tac-2017", measures=["nugget"])
    return {id_: (one.precision, one.recall) for id_, one in result.scores.items()}


def test_missed_mentions_cost_recall_only() -> None:
    recalls = []
    for rate in (0, 0.2, 0.5):
        precision, recall = nuggets(large(), miss=rate)["nugget.span"]
        assert precision == 1
        recalls.append(recall or 0)
    assert recalls[0] == 1
    assert recalls == sorted(recalls, reverse=True)
    assert recalls[2] == pytest.approx(0.5, abs=0.1)


def test_invented_mentions_cost_precision_only() -> None:
    precisions = []
    for rate in (0, 0.2, 0.5):
        precision, recall = nuggets(large(), spurious=rate)["nugget.span"]
        assert recall == 1
        precisions.append(precision or 0)
    assert precisions[0] == 1
    assert precisions == sorted(precisions, reverse=True)
    assert precisions[2] == pytest.approx(1 / 1.5, abs=0.05)


def test_wrong_types_cost_nothing_but_types() -> None:
    scores = nuggets(large(), attributes={"type": 0.4})
    assert scores["nugget.span"] == scores["nugget.realis"] == (1, 1)
    assert scores["nugget.type"] == pytest.approx((0.6, 0.6), abs=0.1)


def test_wrong_boundaries_cost_a_part() -> None:
    precision, recall = nuggets(large(), boundary=1)["nugget.span"]
    assert precision is not None
    assert precision == recall
    assert 0.8 < precision < 0.95


# The command.


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.jsonl"
    path.write_bytes(as_jsonl(*[SMALL, *large()]))
    return path


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["simulate", *map(str, arguments)])


@pytest.mark.parametrize("name", ["system.jsonl", "system.jsonl.gz"])
def test_gold_comes_out_as_it_went_in(gold: Path, tmp_path: Path, name: str) -> None:
    done = run(gold, "-o", tmp_path / name)
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == "21 documents with 405 mentions, seed 0; no errors: the system equals gold\n"
    data = (tmp_path / name).read_bytes()
    assert (gzip.decompress(data) if name.endswith(".gz") else data) == gold.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gold.jsonl", name]


def test_the_summary_says_what_was_made(gold: Path) -> None:
    done = run(gold, "--miss", "1", "--drop-link", "0.5", "--attribute", "type=0.5", "--seed", "7")
    assert done.exit_code == 0
    assert done.stdout.count("\n") == 21
    assert done.stderr == (
        "21 documents with 0 mentions, seed 7\nerror           rate  made\n"
        "miss               1   405\nattribute type   0.5     0\ndrop-link        0.5     0\n"
    )


def test_what_a_format_cannot_hold_is_said(gold: Path, tmp_path: Path) -> None:
    done = run(gold, "-o", tmp_path / "system.tbf")
    assert done.exit_code == 0
    assert "note: tbf cannot represent the document's text (21 times) [format-loss]\n" in done.stderr
    assert fingerprint(karat.read(tmp_path / "system.tbf")) == fingerprint(
        [replace(SMALL, links=(*SMALL.links[:2], Link("subevent", "m1", "m2"))), *large()]
    )


def test_columns_that_are_not_read_are_reported(tmp_path: Path) -> None:
    gold = tmp_path / "gold.conll"
    gold.write_text("#begin document d\nd 0 0 He PRP (1)\nd 0 1 ran VBD -\n#end document\n")
    for options in ([], ["--miss", "1"]):
        done = run(gold, *options)
        assert "note: not read from conll: the columns after the fourth, except the last one (1 time)" in done.stderr


def test_standard_output_and_other_formats(gold: Path, tmp_path: Path) -> None:
    assert run(gold).stdout == gold.read_text()
    assert run(gold, "--to", "tbf").stdout.startswith("#BeginOfDocument d\n")
    assert run(gold, "--to", "tbf", "-o", tmp_path / "system.jsonl").exit_code == 0
    assert (tmp_path / "system.jsonl").read_text().startswith("#BeginOfDocument d\n")


def test_a_name_without_a_suffix_is_written_in_the_format_of_gold(gold: Path, tmp_path: Path) -> None:
    """A number after a dot is a rate or a version, and no suffix."""
    (tmp_path / "brat").mkdir()
    (tmp_path / "brat" / "d.ann").write_text("T1\tDie 0 4\tdied\nE1\tDie:T1\n")
    assert run(tmp_path / "brat", "-o", tmp_path / "system").exit_code == 0
    assert [document.id for document in karat.read(tmp_path / "system")] == ["d"]
    for name in ("copy", "copy-0.2"):
        assert run(gold, "-o", tmp_path / name).exit_code == 0
        assert (tmp_path / name).read_bytes() == gold.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "code", "status"),
    [
        (["--miss", "1.5"], "rate-range", 2),
        (["--boundary", "nan"], "rate-range", 2),
        (["--attribute", "type=-1"], "rate-range", 2),
        (["--attribute", "type"], "attribute-rate", 2),
        (["--attribute", "=1"], "attribute-rate", 2),
        (["--attribute", "tipe=1"], "attribute-absent", 1),
        (["--to", "tfb"], "unknown-format", 2),
        (["-o", "system.txt"], "output-format", 2),
        (["-o", "no-such-folder/system.tbf"], "output-unwritable", 1),
    ],
)
def test_what_is_refused(gold: Path, arguments: list[str], code: str, status: int) -> None:
    done = run(gold, *arguments)
    assert isinstance(done.exception, KaratError)
    assert (done.exception.finding.code, done.exception.exit_code) == (code, status)
    assert isinstance(done.exception, UsageError) == (status == 2)


def test_nothing_is_left_half_written(gold: Path, tmp_path: Path) -> None:
    """The last document has a cycle, found when all others are written."""
    bad = replace(SMALL, id="bad", links=(Link("after", "m1", "m2"), Link("after", "m2", "m1")))
    with gold.open("ab") as stream:
        stream.write(as_jsonl(bad))
    (tmp_path / "system.jsonl").write_text("before")
    done = run(gold, "-o", tmp_path / "system.jsonl")
    assert isinstance(done.exception, KaratError)
    assert done.exception.finding.code == "link-cycle"
    assert (tmp_path / "system.jsonl").read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gold.jsonl", "system.jsonl"]
    assert run(gold).stdout == ""


def test_a_format_that_is_only_read_is_refused(gold: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FORMATS._loaded, "tbf", replace(tbf.FORMAT, write=None))
    done = run(gold, "--to", "tbf")
    assert isinstance(done.exception, UsageError)
    others = ", ".join(name for name, format_ in FORMATS if format_.write is not None)
    assert (
        str(done.exception)
        == f"karat reads tbf but does not write it [format-only-read]\n  Choose another with --to: {others}."
    )


def test_gold_without_documents_is_refused(tmp_path: Path) -> None:
    (tmp_path / "gold.tbf").write_text("# nothing\n")
    done = run(tmp_path / "gold.tbf", "--input-format", "tbf")
    assert isinstance(done.exception, KaratError)
    assert done.exception.finding.code == "gold-empty"


@pytest.mark.parametrize("command", [[], ["describe"], ["simulate"]])
def test_help_starts_at_once(command: list[str]) -> None:
    heavy = ["numpy", "scipy", "lxml", "msgspec"]
    code = f"import sys; sys.argv[1:] = {[*command, '--help']!r}; import karat.cli, atexit; "
    code += f"atexit.register(lambda: print([name for name in {heavy!r} if name in sys.modules])); karat.cli.main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")
    assert "Examples:" in done.stdout


APF_ERRORS = {
    **{f"--{name}": "" for name in ("miss", "split", "merge", "boundary", "break", "conflate", "drop-link")},
    **{f"--{name}": "" for name in ("reverse-link", "spurious")},
    "--attribute": "type=",
}


def ace_gold(folder: Path, documents: int) -> Path:
    folder.mkdir()
    for number in range(documents):
        id_ = f"{'DEFG'[number // 10]}{number % 10}"  # as long as in the source: offsets stay right
        (folder / f"{id_}.apf.xml").write_text(ace_document(id_))
        (folder / f"{id_}.sgm").write_text(SGM.replace(" D1 ", f" {id_} "))
    return folder


@pytest.mark.parametrize("errors", [*([error] for error in APF_ERRORS), [*APF_ERRORS]], ids=" ".join)
def test_apf_stays_valid(tmp_path: Path, errors: list[str]) -> None:
    """Whatever depends on an error follows: arguments, heads, extents, types."""
    gold = ace_gold(tmp_path / "gold", 4)
    for seed, rate in enumerate(("0.05", "0.3", "0.6", "1")):
        output = tmp_path / f"system-{seed}"
        options = [option for error in errors for option in (error, APF_ERRORS[error] + rate)]
        done = run_karat("simulate", str(gold), *options, "--seed", str(seed), "-o", str(output))
        assert done.code == 0, done.err
        assert "cannot hold" not in done.err
        assert run_karat("validate", str(output)).code == 0
        assert (output / "D1.sgm").read_bytes() == (gold / "D1.sgm").read_bytes()
        assert rate != "1" or len(errors) > 1 or not done.err.endswith(" 0\n")


def test_spurious_elements_cost_value(tmp_path: Path) -> None:
    gold = ace_gold(tmp_path / "gold", 40)
    done = run_karat("simulate", str(gold), "--spurious", "0.7", "-o", str(tmp_path / "system"))
    assert int(done.err.split()[-1]) > 200
    result = karat.score(gold, tmp_path / "system", protocol="ace-2005")
    for task, most in (("edr", 0.9), ("emd", 0.95)):
        assert result[f"ace.{task}"].to_dict()["micro"]["value"] < most
        assert result[f"ace.{task}"].recall == 1


def test_an_event_and_its_mentions_have_one_type(tmp_path: Path) -> None:
    gold = ace_gold(tmp_path / "gold", 2)
    (gold / "D1.apf.xml").write_text((gold / "D1.apf.xml").read_text().replace('"Die"', '"Injure"'))
    assert run_karat("simulate", str(gold), "--attribute", "type=1", "-o", str(tmp_path / "system")).code == 0
    types = {
        cluster.id: cluster.attributes["subtype"]
        for d in karat.read(tmp_path / "system")
        for cluster in d.clusters
        if cluster.kind == "event"
    }
    assert types == {"D0-V2": "Injure", "D1-V2": "Die"}


def test_reversed_relations_have_their_arguments_swapped(tmp_path: Path) -> None:
    gold = ace_gold(tmp_path / "gold", 2)
    assert run_karat("simulate", str(gold), "--reverse-link", "1", "-o", str(tmp_path / "system")).code == 0
    swap = {"Arg-1": "Arg-2", "Arg-2": "Arg-1"}
    for before, after in zip(karat.read(gold), karat.read(tmp_path / "system"), strict=True):
        assert {(swap.get(link.kind, link.kind), link.source, link.target) for link in before.links} == {
            (link.kind, link.source, link.target) for link in after.links
        }


def test_arguments_follow_mentions_that_leave_an_entity(tmp_path: Path) -> None:
    gold = ace_gold(tmp_path / "gold", 1)
    assert run_karat("simulate", str(gold), "--break", "1", "-o", str(tmp_path / "system")).code == 0
    (document,) = karat.read(tmp_path / "system")
    elements = {mention.id: mention.cluster for mention in document.mentions}
    assert elements["D0-E1-1"] != "D0-E1"
    links = {(link.kind, link.source, link.target) for link in document.links}
    assert {("Arg-1", "D0-R1", elements["D0-E1-1"]), ("Victim", "D0-V2", elements["D0-E1-1"])} <= links
    assert ("Arg-1", "D0-R1-1", "D0-E1-1") in links


def test_no_error_moves_a_mention_onto_the_span_of_another(tmp_path: Path) -> None:
    """Exact matching takes a span in two clusters for a fault, so no error makes one where there is none."""
    gold = tmp_path / "gold.conll"
    rows = [f"w\t({number % 3})" if number % 2 else "w\t-" for number in range(40)]
    gold.write_text("\n".join(["#begin document d", *rows, "#end document", ""]))
    for seed in range(10):
        out = tmp_path / f"{seed}.conll"
        assert run(gold, "--boundary", "1", "--seed", str(seed), "-o", out).exit_code == 0
        assert validate([str(out)]).passed


def test_no_error_makes_a_mention_across_the_end_of_a_sentence() -> None:
    """With sentences that are known; tokens 4 and 9 are in none."""
    sentences = ((0, 4), (5, 9), (10, 12))
    spans = [(0, 2), (1, 2), (2, 4), (5, 8), (6, 7), (10, 12)]
    mentions = tuple(mention(f"m{number}", span, cluster=f"c{number % 2}") for number, span in enumerate(spans))
    known = Document("d", unit="token", sentences=sentences, mentions=mentions)
    made = {"known": Counter[str](), "unknown": Counter[str]()}
    for name, gold in (("known", known), ("unknown", replace(known, sentences=()))):
        for seed in range(20):
            for error in ("split", "merge", "boundary", "spurious"):
                rates: dict[str, Any] = {error: 1.0}
                ((document,), _) = simulated([gold], seed=seed, **rates)
                for span in {m.span for m in document.mentions} - {((begin, end),) for begin, end in spans}:
                    crosses = not any(begin <= span[0][0] and span[-1][1] <= end for begin, end in sentences)
                    made[name][error if crosses else "inside"] += 1
    assert set(made["known"]) == {"inside"}
    assert {"merge", "boundary", "spurious"} <= set(made["unknown"])
