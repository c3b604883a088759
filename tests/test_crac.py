"""The CRAC protocols: matching in steps, zeros, mention overlap, and what they refuse."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from karat.api.scoring import score
from karat.match.matchings import gold_first
from karat.model import Document, EmptyNode, Mention, Region
from karat.problems import KaratError
from karat.protocols import resolve
from karat.result import Result
from tests.corpora import corpus
from tests.running import Run, run

HEADER = "# newdoc id = d\n# global.Entity = eid-etype-head"


def node(id_: str, entity: str = "", deps: str = "_") -> str:
    form = "_" if "." in id_ else f"w{id_}"
    return "\t".join([id_, form, *"______", deps, f"Entity={entity}" if entity else "_"])


def put(folder: Path, name: str, *lines: str, header: str = HEADER) -> str:
    path = folder / name
    path.write_text("\n".join([header, "# sent_id = s1", *lines, "", ""]))
    return str(path)


def scores(done: Run) -> dict[str, Any]:
    assert done.code == 0, done.err
    return {id_: score["micro"] for id_, score in json.loads(done.out)["scores"].items()}


def codes(done: Run) -> dict[str, str]:
    return {warning["code"]: warning["message"] for warning in json.loads(done.out)["warnings"]}


WORDS = [node("1", "(e1-x-1"), node("2", "e1)"), node("3", "(e2-x-1)"), node("4", "(e2-x-1)"), node("5", "(e1-x-1)")]
ZERO = node("1.1", "(e2-x-1)", "3:nsubj")


@pytest.mark.parametrize("protocol", ["crac-2024", "conll-2012"])
def test_an_empty_node_that_one_side_lacks_shifts_nothing(tmp_path: Path, protocol: str) -> None:
    """Only the mention that stands on it, or around it, differs."""
    gold = put(tmp_path, "gold.conllu", *WORDS[:2], node("2.1"), *WORDS[2:])
    system = put(tmp_path, "system.conllu", *WORDS)
    for sides in ((gold, system), (system, gold)):
        assert scores(run("score", *sides, "-p", protocol, "-f", "json"))["coref.conll"]["f1"] == 1
    inside = put(tmp_path, "inside.conllu", WORDS[0], node("1.1"), *WORDS[1:])
    exact = scores(run("score", inside, system, "-p", protocol, "--set", "match=exact", "-f", "json"))
    assert exact["coref.muc"]["recall"] == 0.5  # another word inside the mention is another span
    parts = WORDS[0].replace("(e1-x-1", "(e1[1/2]-x-1)"), node("1.1"), WORDS[1].replace("e1)", "(e1[2/2]-x-1)")
    apart = put(tmp_path, "apart.conllu", *parts, *WORDS[2:])
    exact = scores(run("score", apart, system, "-p", protocol, "--set", "match=exact", "-f", "json"))
    assert exact["coref.conll"]["f1"] == 1  # the same words around it are the same span


def test_files_choose_it_and_years_differ_in_matching(tmp_path: Path) -> None:
    gold = put(tmp_path, "gold.conllu", *WORDS)
    done = run("score", gold, gold, "-f", "json")
    assert json.loads(done.out)["protocol"] == "crac-2024"
    assert list(scores(done)) == [
        *(f"coref.{name}" for name in ("muc", "b3", "ceafm", "ceafe", "blanc.links", "blanc.nonlinks", "lea")),
        *(f"coref.{name}" for name in ("blanc", "conll", "avg4", "mor", "zero")),
    ]
    assert resolve("crac-2025").name == "crac-2024"
    years = {year: resolve(f"crac-{year}").values for year in (2022, 2023, 2024)}
    assert {year: (values["match"], values["zeros"]) for year, values in years.items()} == {
        2022: ("partial", "linear"),
        2023: ("head", "linear"),
        2024: ("head", "dependent"),
    }


def test_zeros_match_by_their_dependencies(tmp_path: Path) -> None:
    """A zero under another id; by ids it is missed, and so is its link."""
    gold = put(tmp_path, "gold.conllu", *WORDS, node("5.1", "(e2-x-1)", "4:nsubj"))
    system = put(tmp_path, "system.conllu", *WORDS[:4], node("4.1", "(e2-x-1)", "4:nsubj"), WORDS[4])
    dependent = scores(run("score", gold, system, "-f", "json"))
    assert (dependent["coref.conll"]["f1"], dependent["coref.zero"]["f1"]) == (1, 1)
    assert dependent["coref.mor"]["f1"] < 1  # it counts words, whatever corresponds to what
    linear = scores(run("score", gold, system, "--set", "zeros=linear", "-f", "json"))
    assert linear["coref.zero"]["counts"] == {
        "precision_num": 0,
        "precision_den": 1,
        "recall_num": 0,
        "recall_den": 1,
        "right": 0,
        "wrong": 0,
        "spurious": 1,
        "missed": 1,
    }


def test_a_converted_file_scores_the_same(tmp_path: Path) -> None:
    gold = put(tmp_path, "gold.conllu", *WORDS, node("5.1", "(e2-x-1)", "4:nsubj"))
    system = put(tmp_path, "system.conllu", *WORDS[:4], node("4.1", "(e2-x-1)", "4:nsubj"), WORDS[4])
    expected = scores(run("score", gold, system, "-f", "json"))
    for name in ("gold", "system"):
        assert run("convert", str(tmp_path / f"{name}.conllu"), str(tmp_path / f"{name}.jsonl")).code == 0
    for sides in (("gold.jsonl", "system.jsonl"), ("gold.jsonl", "system.conllu"), ("gold.conllu", "system.jsonl")):
        done = run("score", *(str(tmp_path / side) for side in sides), "-p", "crac-2024", "-f", "json")
        assert scores(done) == expected


# Heads.


def test_a_missing_head_is_the_first_word_with_a_note(tmp_path: Path) -> None:
    gold = put(tmp_path, "gold.conllu", *WORDS)
    system = put(tmp_path, "system.conllu", WORDS[0].replace("e1-x-1", "e1-x-"), *WORDS[1:])
    done = run("score", gold, system, "-f", "json")
    assert scores(done)["coref.conll"]["f1"] == 1
    warning = next(one for one in json.loads(done.out)["warnings"] if one["code"] == "heads-first-word")
    assert warning["message"] == "1 system mention of several words without a head: the first word is taken"
    assert (warning["severity"], warning["file"], warning["line"]) == ("note", system, 4)
    assert "heads-first-word" not in codes(run("score", gold, gold, "-f", "json"))


def test_a_head_that_is_no_word_is_refused(tmp_path: Path) -> None:
    gold = put(tmp_path, "gold.conllu", *WORDS)
    system = put(tmp_path, "system.conllu", WORDS[0].replace("e1-x-1", "e1-x-3"), *WORDS[1:])
    refused = run("score", gold, system)
    assert (refused.code, "line 4" in refused.err, "[corefud-head]" in refused.err) == (1, True, True)
    assert run("score", gold, system, "-p", "conll-2012").code == 0


CONLL = "#begin document d\nd\t0\t0\ta\t(1\nd\t0\t1\tb\t1)\nd\t0\t2\tc\t(1)\n#end document\n"


@pytest.mark.parametrize("protocol", ["conll-2012", "simple-cdec", "pure-cdec"])
def test_matching_by_heads_is_refused_without_heads(tmp_path: Path, protocol: str) -> None:
    path = tmp_path / "x.conll"
    path.write_text(CONLL + CONLL.replace("document d", "document e"))
    refused = run("score", str(path), str(path), "-p", protocol, "--set", "match=head")
    assert refused.code == 1
    assert f"{path}, line 2: 2 gold and 2 system mentions of several words without a head" in refused.err
    assert "[heads-absent]" in refused.err
    assert run("score", str(path), str(path), "-p", protocol).code == 0


def test_matching_by_heads_needs_none_for_one_word(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(
        '{"id": "d", "unit": "token", "mentions": [{"id": "m", "span": [[0, 2]], "head": [[1, 2]], "cluster": "c"}, '
        '{"id": "n", "span": [[3, 4]], "cluster": "c"}]}\n'
    )
    done = run("score", str(path), str(path), "-p", "conll-2012", "--set", "match=head", "-f", "json")
    assert scores(done)["coref.conll"]["f1"] == 1


# Matching, on documents in memory.


def mention(id_: str, begin: int, end: int, cluster: str, head: int | None = None) -> Mention:
    place: Region | None = None if head is None else ((head, head + 1),)
    return Mention(id_, ((begin, end),), place, cluster=cluster)


def judged(gold: list[Mention], system: list[Mention], **settings: str) -> Result:
    sides = (corpus([Document("d", unit="token", mentions=tuple(side))]) for side in (gold, system))
    return score(*sides, protocol="crac-2024", settings=settings)


def muc(gold: list[Mention], system: list[Mention], **settings: str) -> tuple[float | None, float | None]:
    row = judged(gold, system, **settings)["coref.muc"]
    return row.precision, row.recall


FAR = [mention("far", 90, 91, "c")]


def test_what_matches_by_head_by_part_and_exactly() -> None:
    gold = [mention("g", 10, 14, "c", 12), *FAR]
    same_head, part, wider = (
        [mention("s", begin, end, "c", head), *FAR] for begin, end, head in ((8, 13, 12), (11, 13, 11), (10, 15, 12))
    )
    assert [muc(gold, side) for side in (same_head, part, wider)] == [(1, 1), (0, 0), (1, 1)]
    partial = [muc(gold, side, match="partial") for side in (same_head, part, wider)]
    assert partial == [(0, 0), (1, 1), (0, 0)]
    exact = [muc(gold, side, match="exact") for side in (same_head, part, wider, gold)]
    assert exact == [(0, 0), (0, 0), (0, 0), (1, 1)]


def test_singletons_leave_before_mentions_are_matched() -> None:
    """A singleton with the same head does not take the match; kept, it does, being wider."""
    gold = [mention("g", 10, 14, "c", 12), *FAR]
    system = [mention("s", 10, 15, "alone", 12), mention("t", 11, 13, "c", 12), *FAR]
    assert muc(gold, system) == (1, 1)
    assert muc(gold, system, singletons="keep") == (0, 0)
    (removed,) = [one for one in judged(gold, system).warnings if one.code == "singletons-removed"]
    assert removed.message.endswith("0 of 2 gold mentions, 1 of 3 system mentions")


def test_a_repeated_mention_has_the_same_words_and_head() -> None:
    """With another head it is another mention under match = head, and the same one otherwise."""
    twice = [mention("g", 10, 14, "c", 12), mention("h", 10, 14, "e", 11), mention("x", 20, 21, "e"), *FAR]
    gold = [mention("g", 10, 14, "c", 12), mention("x", 20, 21, "e"), mention("y", 22, 23, "e"), *FAR]
    faults = [
        [one.code for one in judged(gold, twice, match=match).warnings if one.severity == "fault"]
        for match in ("head", "partial", "exact")
    ]
    assert [len(found) for found in faults] == [0, 1, 1]


def test_ties_go_to_gold_mentions_in_order() -> None:
    """Greatest sum, then more pairs, then the first gold mention takes the first system mention."""
    candidates = [(-1.0, 0, 1, 0), (-1.0, 1, 0, 0), (-1.0, 0, 0, 0), (-1.0, 1, 1, 0)]
    assert {pair[:2] for pair in gold_first(sorted(candidates))} == {(0, 0), (1, 1)}
    more_pairs = [(-1.0, 0, 0, 0), (-0.5, 1, 0, 0), (-0.5, 0, 1, 0)]
    assert {pair[:2] for pair in gold_first(sorted(more_pairs))} == {(0, 1), (1, 0)}


def test_mention_overlap_counts_words() -> None:
    """The best one-to-one alignment shares 2 + 1 of 5 system words and of 5 gold words; heads play no part."""
    gold = [mention("a", 0, 2, "c"), mention("b", 2, 5, "c")]
    system = [mention("s", 0, 4, "c"), mention("t", 4, 5, "c")]
    leaf = judged(gold, system)["coref.mor"]
    assert leaf.micro.counts is not None
    assert leaf.micro.counts.to_dict() == {"precision_num": 3, "precision_den": 5, "recall_num": 3, "recall_den": 5}


# Zeros in a sentence of 20 words, each after its word: 1.1 is token 1, 2.1 is token 3, ...


def zeros(*mentions: tuple[int, str | None], linked: dict[int, int] | None = None) -> Document:
    """Words and zeros: (token, cluster); odd tokens are empty nodes, whose parent `linked` may say."""
    nodes = [EmptyNode(token, 1, (((linked or {}).get(token, token - 1), "nsubj"),)) for token in range(1, 40, 2)]
    found = tuple(Mention(f"m{token}", ((token, token + 1),), cluster=cluster) for token, cluster in mentions)
    return Document("d", unit="token", sentences=((0, 40),), empty_nodes=tuple(nodes), mentions=found)


def zero_counts(gold: Document, system: Document, **settings: str) -> list[float]:
    leaf = score(corpus([gold]), corpus([system]), protocol="crac-2024", settings=settings)["coref.zero"].micro
    assert leaf.counts is not None
    counts = leaf.counts.to_dict()
    return [counts[name] for name in ("right", "wrong", "spurious", "missed")]


def test_what_becomes_of_a_zero() -> None:
    gold = zeros((0, "a"), (3, "a"), (5, "b"), (6, "b"))
    assert zero_counts(gold, gold) == [1, 0, 0, 0]  # 5 is first in its cluster: no anaphor
    assert zero_counts(gold, zeros((2, "a"), (3, "a"))) == [0, 1, 0, 0]
    assert zero_counts(gold, zeros((3, "a"), (4, "a"))) == [0, 0, 0, 1]  # found, but as the first of its cluster
    assert zero_counts(gold, zeros((0, "a"), (2, "a"))) == [0, 0, 0, 1]
    assert zero_counts(gold, zeros((0, "a"), (3, "a"), (7, "a"), (9, "a"))) == [1, 0, 2, 0]


def test_zeros_that_one_side_lacks_are_missed_or_spurious() -> None:
    """A system without empty nodes has found none of gold's; without a cluster, a zero refers to nothing."""
    gold, none = zeros((0, "a"), (3, "a")), structs.replace(zeros((0, "a"), (2, "a")), empty_nodes=())
    assert zero_counts(gold, none) == [0, 0, 0, 1]
    assert zero_counts(none, gold) == [0, 0, 1, 0]
    alone = zeros((0, "a"), (3, "a"), (7, None), (9, None))
    assert zero_counts(gold, alone, singletons="keep") == [1, 0, 0, 0]


def test_zeros_with_shifted_ids_are_judged_by_the_alignment() -> None:
    """Each zero of the system has the parent of gold's next one."""
    gold = zeros((0, "a"), (3, "a"), (2, "b"), (5, "b"))
    moved = zeros((0, "a"), (1, "a"), (2, "b"), (3, "b"), linked={1: 2, 3: 4, 5: 6})
    row = score(corpus([gold]), corpus([moved]), protocol="crac-2024")
    assert row["coref.conll"].f1 == 1
    assert zero_counts(gold, moved) == [2, 0, 0, 0]


# What is refused.


def test_both_sides_must_have_the_same_documents(tmp_path: Path) -> None:
    gold = put(tmp_path, "gold.conllu", *WORDS)
    more = tmp_path / "more.conllu"
    more.write_text(Path(gold).read_text() + Path(gold).read_text().replace("id = d", "id = e"))
    for sides, code in (((str(more), gold), "document-gold-only"), ((gold, str(more)), "document-system-only")):
        refused = run("score", *sides)
        assert (refused.code, f"[{code}]" in refused.err) == (1, True)
        assert run("score", *sides, "-p", "conll-2012").code == 0
    nothing = tmp_path / "nothing.conllu"
    nothing.write_text("")
    assert run("score", gold, str(nothing)).code == 1


def test_unnamed_documents_pair_by_order(tmp_path: Path) -> None:
    one = put(tmp_path, "one.conllu", *WORDS, header=HEADER.partition("\n")[2])
    other = put(tmp_path, "other.conllu", *WORDS, header=HEADER.replace(" id = d", ""))
    assert scores(run("score", one, other, "-f", "json"))["coref.conll"]["f1"] == 1


def test_protocol_files_choose_by_a_parameter_and_order_alignments(tmp_path: Path) -> None:
    for line, message in (
        ('similarity = { by = "mach", a = "exact" }', "'mach' names no parameter"),
        ('similarity = { by = "m", b = "exact" }', "there is no entry for m = 'a'"),
        ('after = "none"', "there is no alignment (alignment one) 'none'"),
        ('after = "one"', "alignment one comes after itself"),
    ):
        path = tmp_path / "own.toml"
        path.write_text(
            f'title = "x"\n[parameters.m]\ndefault = "a"\nhelp = "-"\n[alignments.one]\n{line}\n'
            '[[measures]]\nfamily = "coref"\nalignment = "one"\n'
        )
        with pytest.raises(KaratError) as refused:
            resolve(str(path))
        assert message in str(refused.value)


def test_documents_in_which_ties_decide_are_noted(tmp_path: Path) -> None:
    """Two mentions of the system contain gold's and have its head: which one is matched makes another score."""
    gold = put(tmp_path, "gold.conllu", *map(node, "12345", ("", "(e1-x-1)", "", "", "(e1-x-1)")))
    spans = "(e1-x-2", "(e2-x-1", "e1)e2)", "(e2-x-1)", "(e1-x-1)"
    system = put(tmp_path, "system.conllu", *map(node, "12345", spans))
    one_entity = put(tmp_path, "one.conllu", *map(node, "12345", [span.replace("e2", "e1") for span in spans]))
    done = run("score", gold, system, "-f", "json")
    assert codes(done)["coref-ties"] == (
        "documents in which mentions that share a head could be matched differently: 1"
    )
    assert "coref-ties" not in codes(run("score", gold, one_entity, "-f", "json")), "whichever, it is of one entity"
    assert "coref-ties" not in codes(run("score", gold, gold, "-f", "json"))
