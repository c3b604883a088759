"""Triggers and arguments: the rules that the recorded runs leave open, and what is refused.

Recorded runs of the programs are in tests/oracles (arg-*). Each test here is a rule that they do not reach.
"""

import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from karat.api.scoring import Result, score
from karat.arguments import argument_test, events_of
from karat.model import Document, Link, Mention, Pair
from karat.plugin import Tables
from karat.problems import KaratError
from karat.protocols import resolve
from karat.run.plan import Options, Plan
from tests.corpora import arguments, as_jsonl, corpus
from tests.running import run as command

TEXT = "zero one two three four five six seven eight nine"


def run(protocol: str, gold: list[Document], system: list[Document], **settings: Any) -> Result:
    return score(corpus(gold), corpus(system), protocol=protocol, settings=settings)


def counts(result: Result, id_: str) -> tuple[float, ...]:
    made = result[id_].micro.counts
    assert made is not None
    return tuple(made.to_dict().values())


def codes(result: Result) -> set[str]:
    return {finding.code for finding in result.warnings}


def test_all_rows_of_a_protocol_share_the_items_of_a_document() -> None:
    gold, system = corpus(arguments(("3", "A", "5"))), corpus(arguments(("3", "B", "6")))
    plan = Plan(resolve("textee-2024"), gold.facts(), system.facts(), Options())
    assert len(plan.measures.measures) == 6
    triggers, items = plan.measures.specs
    (gold_document,), (system_document,) = gold, system
    tables = Tables(Pair(gold_document, system_document))
    (of_triggers,), (of_items,) = tables.get(triggers), tables.get(items)
    assert of_triggers.gold.events is of_items.gold.events
    assert of_triggers.system.events is of_items.system.events
    nothing = Tables(Pair(Document("d"), Document("d")))
    assert nothing.get(triggers) == nothing.get(items) == ()


def test_what_is_an_argument() -> None:
    """An event is no argument, an `argument` on its span is; clusters of events are relations, too."""
    mentions = (
        Mention("e", ((0, 1),), cluster="E"),
        Mention("f", ((2, 3),)),
        Mention("a", ((2, 3),), kind="argument"),
        Mention("x", ((4, 5),), kind="entity", cluster="X"),
        Mention("t", (), kind="template"),
    )
    ends = [("e", "f"), ("e", "a"), ("e", "x"), ("e", "X"), ("e", "E"), ("x", "e"), ("E", "x"), ("t", "X"), ("t", "e")]
    document = Document("d", mentions=mentions, links=tuple(Link("Role", *pair) for pair in ends))
    is_argument = argument_test(document)
    assert [(link.source, link.target) for link in document.links if is_argument(link)] == [
        ("e", "a"),
        ("e", "x"),
        ("e", "X"),
        ("t", "X"),
    ]
    event, _ = events_of(document)
    assert [(one.cluster, [m.id for m in one.mentions]) for one in event.arguments] == [
        (None, ["a"]),
        (None, ["x"]),
        ("X", ["x"]),
    ]


def test_roles_form_no_cycle_and_repeat() -> None:
    """Two events that are arguments of each other are no cycle; a link given twice is two arguments."""
    mentions = (
        Mention("e", ((0, 1),)),
        Mention("f", ((2, 3),)),
        Mention("a", ((0, 1),), kind="argument"),
        Mention("b", ((2, 3),), kind="argument"),
    )
    links = (Link("Cause", "e", "b"), Link("Cause", "f", "a"), Link("Cause", "f", "a"))
    document = Document("d", mentions=mentions, links=links)
    result = run("rams-2020", [document], [document])
    assert counts(result, "arg.c") == (3, 3, 3, 3)
    assert codes(result) == set()


def test_events_as_relations_still_form_cycles() -> None:
    document = Document("d", mentions=(Mention("e", ((0, 1),)), Mention("f", ((2, 3),))))
    document = replace(document, links=(Link("subevent", "e", "f"), Link("subevent", "f", "e")))
    with pytest.raises(KaratError) as error:
        run("li-2013", [document], [document])
    assert error.value.finding.code == "link-cycle"


@pytest.mark.parametrize("protocol", ["tac-2017", "exact-2013", "conll-2012", "muc-5"])
def test_other_protocols_ignore_arguments(protocol: str) -> None:
    gold, system = arguments(("3", "A", "5"), ("3", "A", "5")), arguments(("3", "B", "6"), ("9:Die", "A", "5"))
    kinds: dict[str, Any] = {} if protocol == "conll-2012" else {"kinds": ["event"]}
    bare = [[replace(doc, links=()) for doc in side] for side in (gold, system)]
    with_links, without_links = run(protocol, gold, system, **kinds), run(protocol, *bare, **kinds)
    assert with_links.to_dict()["scores"] == without_links.to_dict()["scores"]
    assert codes(with_links) == codes(without_links)


# 3.1-3.4


def test_dygie_counts_both_roles_of_a_pair() -> None:
    """DyGIE++ cannot hold this; karat has an item for each role."""
    gold, system = arguments(("3", "A", "5"), ("3", "B", "5")), arguments(("3", "A", "5"))
    assert counts(run("dygie-2019", gold, system), "arg.c") == (1, 1, 1, 2)
    assert counts(run("dygie-2019", gold, gold), "arg.i") == (2, 2, 2, 2)


def test_documents_that_only_the_system_has() -> None:
    """They are spurious where programs pair documents, and ignored where they walk over gold."""
    gold = arguments(("3", "A", "5"))
    system = [*gold, replace(gold[0], id="e")]
    for protocol, expected in {
        "li-2013": (1, 2, 1, 1),
        "textee-2024": (1, 2, 1, 1),
        "oneie-2020": (1, 2, 1, 1),
        "dygie-2019": (1, 2, 1, 1),
        "rams-2020": (1, 1, 1, 1),
        "omnievent-2023": (1, 1, 1, 1),
        "paie-2022": (1, 1, 1, 1),
        "wikievents-2021": (1, 1, 1, 1),
    }.items():
        assert counts(run(protocol, gold, system), "arg.c") == expected
    assert counts(run("wikievents-2021", gold, system, triggers="predicted"), "arg.c") == (1, 2, 1, 1)


def test_nothing_on_either_side_scores_zero() -> None:
    empty = [Document("d")]
    for protocol in ("li-2013", "textee-2024", "oneie-2020", "dygie-2019", "rams-2020", "paie-2022"):
        leaf = run(protocol, empty, empty)["arg.c"].micro
        assert (leaf.precision, leaf.recall, leaf.f1) == (0, 0, 0)


def test_values_above_one_are_noted() -> None:
    result = run("dygie-2019", arguments(("3", "A", "5")), arguments(("3", "A", "5"), ("9", "A", "5")))
    assert result["arg.c"].recall == 2
    (note,) = [finding for finding in result.warnings if "arg.c" in finding.message]
    assert (note.code, note.severity) == ("recall-above-one", "note")
    assert "recall 2/1" in note.message


def test_precision_above_one_is_noted_too() -> None:
    result = run("paie-2022", arguments(("3", "A", "5"), ("3", "A", "5")), arguments(("3", "A", "5")))
    assert counts(result, "arg.c") == (2, 1, 2, 2)
    assert "recall-above-one" in codes(result)


# 3.5-3.7


def test_swapped_exchanges_counts() -> None:
    gold, system = arguments(("3", "A", "5")), arguments(("3", "A", "5"), ("3", "A", "6"))
    assert counts(run("rams-2020", gold, system), "arg.c") == (1, 2, 1, 1)
    assert counts(run("rams-2020", gold, system, swapped=True), "arg.c") == (1, 1, 1, 2)


def test_the_kth_event_is_paired_with_the_kth() -> None:
    """Two events of one trigger and type are paired in their order; a third of the system is ignored."""
    gold = arguments(("3", "A", "5"), ("3'", "A", "6"))
    system = arguments(("3", "A", "6"), ("3'", "A", "6"), ("3''", "A", "5"))
    for protocol in ("wikievents-2021", "paie-2022"):
        assert counts(run(protocol, gold, system), "arg.c") == (1, 2, 1, 2)


def test_a_gold_event_that_the_system_lacks_is_missed() -> None:
    gold, system = arguments(("3", "A", "5"), ("9", "A", "5")), arguments(("3", "A", "5"))
    for protocol in ("wikievents-2021", "paie-2022"):
        assert counts(run(protocol, gold, system), "arg.c") == (1, 1, 1, 2)


def test_paie_compares_the_word_at_the_head_and_gen_arg_its_place() -> None:
    text = "old men had fled from old men"
    gold, system = arguments(("3", "A", "0-2@1"), text=text), arguments(("3", "A", "5-7@6"), text=text)
    assert counts(run("paie-2022", gold, system, match="head"), "arg.c") == (1, 1, 1, 1)
    assert counts(run("wikievents-2021", gold, system, match="head"), "arg.c") == (0, 1, 0, 1)


def test_only_gold_loses_its_article() -> None:
    text = "The men had fled"
    whole, part = arguments(("3", "A", "0-2"), text=text), arguments(("3", "A", "1"), text=text)
    assert counts(run("wikievents-2021", whole, part, match="exact"), "arg.c") == (1, 1, 1, 1)
    assert counts(run("wikievents-2021", whole, whole, match="exact"), "arg.c") == (0, 1, 0, 1)
    article = arguments(("3", "A", "0"), text=text)
    assert counts(run("wikievents-2021", article, article, match="exact"), "arg.c") == (1, 1, 1, 1)


def test_articles_in_characters() -> None:
    """Words are what blanks separate where offsets count characters."""

    def document(begin: int) -> list[Document]:
        mentions = (Mention("e", ((12, 16),)), Mention("a", ((begin, 7),), ((4, 7),), kind="entity"))
        return [Document("d", text="the men had fled", mentions=mentions, links=(Link("A", "e", "a"),))]

    for match in ("exact", "head"):
        assert counts(run("wikievents-2021", document(0), document(4), match=match), "arg.c") == (1, 1, 1, 1)


def test_a_span_in_two_clusters_belongs_to_the_last() -> None:
    names = {"5": "c", "6": "c", "6'": "d", "7": "d"}
    gold = arguments(("3", "A", "5"), ("3", "B", "7"), ("9", "", "6"), ("9", "", "6'"), clusters=names)
    system = arguments(("3", "B", "6"))
    assert counts(run("wikievents-2021", gold, system), "arg.c.coref") == (1, 1, 1, 2)
    assert counts(run("wikievents-2021", gold, arguments(("3", "A", "6"))), "arg.c.coref") == (0, 1, 0, 2)


def test_without_clusters_coreference_is_not_scored() -> None:
    gold = arguments(("3", "A", "5"))
    result = run("wikievents-2021", gold, gold)
    assert [*result.scores] == ["arg.i", "arg.c"]
    assert "row-absent" in codes(result)


def test_a_wrong_role_has_no_second_chance_by_coreference() -> None:
    gold = arguments(("3", "A", "5"), ("3", "B", "6"), clusters={"5": "c", "6": "c"})
    result = run("wikievents-2021", gold, arguments(("3", "A", "6")))
    assert counts(result, "arg.i.coref") == (1, 1, 1, 2)
    assert counts(result, "arg.c.coref") == (0, 1, 0, 2)


# 3.11


def strings(*triples: tuple[str, str, str]) -> list[Document]:
    """One document whose fillers are strings only: event, role, string."""
    mentions: dict[str, Mention] = {}
    links = []
    for number, (event, role, text) in enumerate(triples):
        begin, _, type_ = event.partition(":")
        mentions[event] = Mention(event, ((int(begin), int(begin) + 1),), attributes={"type": type_ or "Attack"})
        mentions[f"a{number}"] = Mention(f"a{number}", (), kind="argument", text=text)
        links.append(Link(role, event, f"a{number}"))
    return [Document("d", unit="token", mentions=tuple(mentions.values()), links=tuple(links))]


def means(result: Result, level: str) -> tuple[float, float]:
    """The sum of F1, and the number of items."""
    values = counts(result, f"arg.{level}")
    return values[3], values[4]


def test_punctuation_is_deleted_and_not_blanked() -> None:
    result = run("maven-arg-2024", strings(("3", "A", "The co-op.")), strings(("3", "A", "coop")))
    assert means(result, "mention") == (1, 1)
    assert result.to_dict()["scores"]["arg.mention"].keys() == {"macro"}
    assert result["arg.mention"].macro is not None
    assert result["arg.mention"].macro.f1 == result["arg.mention"].f1 == 1
    result = run("maven-arg-2024", strings(("3", "A", "co-op")), strings(("3", "A", "co op")))
    assert means(result, "mention") == (0, 1)


def test_each_role_on_a_trigger_that_gold_lacks_is_one_zero() -> None:
    gold = strings(("3", "A", "men"))
    system = strings(("3", "A", "men"), ("7", "A", "men"), ("7", "A", "women"), ("7", "B", "men"))
    for level in ("mention", "entity", "event"):
        assert means(run("maven-arg-2024", gold, system), level) == (1, 3)


def test_a_string_that_no_string_answers_is_a_miss_and_not_partly_right() -> None:
    gold, system = strings(("3", "A", "men"), ("3", "B", "two men")), strings(("3", "A", "women"), ("3", "B", "men"))
    result = score(corpus(gold), corpus(system), protocol="maven-arg-2024", details=True)
    found = [(one.outcome, one.gold is not None, one.system is not None) for one in result.outcomes["arg.entity"]]
    assert sorted(found) == [("miss", True, False), ("partial", True, True)]


def test_strings_that_are_not_known_are_counted() -> None:
    known = strings(("3", "A", "men"), ("3", "B", "women"))
    (document,) = known
    unknown = [replace(document, mentions=tuple(replace(one, text=None) for one in document.mentions))]
    result = run("maven-arg-2024", known, unknown)
    assert [warning.message for warning in result.warnings if re.match(r"2\b", warning.message)]


def test_a_trigger_without_a_span_is_refused() -> None:
    mentions = Mention("e", (), attributes={"type": "Attack"}), Mention("m", ((0, 1),), kind="entity")
    document = Document("d", unit="token", mentions=mentions, links=(Link("A", "e", "m"),))
    with pytest.raises(KaratError, match="the trigger 'e' of document 'd' has no span"):
        run("textee-2024", [document], [document])


def test_a_wrong_type_has_no_arguments() -> None:
    result = run("maven-arg-2024", strings(("3", "A", "men")), strings(("3:Die", "A", "men"), ("3:Die", "B", "men")))
    assert means(result, "mention") == (0, 1)


def test_events_of_one_trigger_and_type_are_merged() -> None:
    gold = strings(("3", "A", "men"), ("3", "B", "women"))
    one, other = strings(("3", "A", "men")), strings(("3", "B", "women"))
    second = replace(other[0].mentions[0], id="again"), replace(other[0].mentions[1], id="b")
    merged = replace(one[0], mentions=(*one[0].mentions, *second), links=(*one[0].links, Link("B", "again", "b")))
    assert means(run("maven-arg-2024", gold, [merged]), "mention") == (2, 2)


def test_surplus_strings_cost_nothing_in_entities() -> None:
    gold, system = strings(("3", "A", "men")), strings(("3", "A", "men"), ("3", "A", "women"))
    result = run("maven-arg-2024", gold, system)
    assert means(result, "mention") == (0.5, 1)
    assert means(result, "entity") == (1, 1)


def test_no_item_is_undefined() -> None:
    result = run("maven-arg-2024", [Document("d")], [Document("d")])
    assert result["arg.event"].micro.values == dict.fromkeys(("accuracy", "precision", "recall", "f1"))


# 3.12


def test_omnievent_ignores_types_that_gold_does_not_have() -> None:
    """For triggers, by the types of the whole corpus; for arguments the type is just wrong."""
    gold = [*arguments(("3", "A", "5")), replace(arguments(("3:Die", "A", "5"))[0], id="e")]
    system = arguments(("3:Meet", "A", "5"), ("7:Die", "A", "5"), ("8:Meet", "A", "5"))
    result = run("omnievent-2023", gold, system)
    assert counts(result, "trig.c") == (0, 1, 0, 2)
    assert counts(result, "arg.c") == (0, 3, 0, 1)
    by_type = score(corpus(gold), corpus(system), protocol="omnievent-2023", by=["type"]).by["type"]
    assert {type_: row["trig.c"].micro.precision for type_, row in by_type.items() if "trig.c" in row} == {
        "Attack": 0,
        "Die": 0,
    }
    assert "trig.c" not in by_type["Meet"]


def test_omnievent_takes_the_first_trigger_and_the_first_role() -> None:
    gold = arguments(("3", "A", "5"))
    assert counts(run("omnievent-2023", gold, arguments(("3:Die", "A", "5"), ("3", "A", "5"))), "trig.c") == (
        0,
        0,
        0,
        1,
    )
    roles = arguments(("3", "B", "5"), ("3", "A", "5'"))
    assert counts(run("omnievent-2023", gold, roles), "arg.c") == (0, 1, 0, 1)


def test_omnievent_ignores_spurious_triggers_of_several_tokens() -> None:
    gold = arguments(("3", "A", "5"))
    (system,) = arguments(("3", "A", "5"), ("7", "A", "5"))
    wide = tuple(replace(one, span=((7, 9),)) if one.id == "7" else one for one in system.mentions)
    result = run("omnievent-2023", gold, [replace(system, mentions=wide)])
    assert (counts(result, "trig.c"), counts(result, "arg.c")) == ((1, 1, 1, 1), (1, 1, 1, 1))


def test_omnievent_counts_triggers_on_golds_once() -> None:
    result = run("omnievent-2023", arguments(("3", "A", "5"), ("9", "A", "5")), arguments(("9", "A", "5")))
    assert (counts(result, "trig.c"), counts(result, "arg.c")) == ((1, 1, 1, 2), (1, 1, 1, 1))


def test_omnievent_has_a_candidate_for_each_role_of_a_gold_span() -> None:
    gold = arguments(("3", "A", "5"), ("3", "B", "5"))
    assert counts(run("omnievent-2023", gold, arguments(("3", "A", "5"))), "arg.c") == (1, 2, 1, 2)


def test_omnievent_needs_entities() -> None:
    gold = [Document("d", mentions=(Mention("e", ((0, 1),)),))]
    with pytest.raises(KaratError) as error:
        run("omnievent-2023", gold, gold)
    assert error.value.finding.code == "entities-absent"


# What is refused


def refused(tmp_path: Path, protocol: str, gold: list[Document], system: list[Document], **settings: Any) -> KaratError:
    paths = []
    for name, side in (("gold", gold), ("system", system)):
        paths.append(tmp_path / f"{name}.jsonl")
        paths[-1].write_bytes(as_jsonl(Document("before"), *side))
    with pytest.raises(KaratError) as error:
        score(*map(str, paths), protocol=protocol, settings=settings)
    return error.value


SPAN_PROTOCOLS = ["li-2013", "textee-2024", "oneie-2020", "dygie-2019", "rams-2020", "paie-2022", "omnievent-2023"]


@pytest.mark.parametrize("protocol", SPAN_PROTOCOLS)
def test_clusters_and_strings_are_refused_by_span_protocols(tmp_path: Path, protocol: str) -> None:
    gold = arguments(("3", "A", "5"), clusters={"5": "c"})
    cluster = [replace(gold[0], links=(Link("A", "3", "c"),))]
    finding = refused(tmp_path, protocol, gold, cluster).finding
    assert (finding.code, finding.line, Path(str(finding.file)).name) == ("argument-cluster", 2, "system.jsonl")
    finding = refused(tmp_path, protocol, strings(("3", "A", "men")), gold).finding
    assert (finding.code, finding.line, Path(str(finding.file)).name) == ("argument-no-span", 2, "gold.jsonl")


def test_missing_heads_are_refused_with_their_number(tmp_path: Path) -> None:
    """Triggers and mentions that fill no role need no head, nor does one word after an article."""
    text = "the men had fled from old men and old women"
    gold = arguments(("3", "A", "0-2"), ("3", "B", "5-7"), ("3", "", "8-10"), text=text)
    system = arguments(("3", "A", "0-2"), ("3", "B", "5-7"), text=text)
    finding = refused(tmp_path, "wikievents-2021", gold, system).finding
    assert (finding.code, finding.line) == ("heads-absent", 2)
    assert "1 gold and 2 system arguments" in finding.message
    finding = refused(tmp_path, "paie-2022", gold, system, match="head").finding
    assert "2 gold and 2 system arguments" in finding.message


def test_a_head_without_text_is_refused(tmp_path: Path) -> None:
    gold = arguments(("3", "A", "0-2@1"))
    assert refused(tmp_path, "paie-2022", gold, gold, match="head").finding.code == "head-text-absent"


def test_a_role_on_nothing_is_a_fault(tmp_path: Path) -> None:
    gold = arguments(("3", "A", "5"))
    broken = [replace(gold[0], links=(*gold[0].links, Link("B", "3", "nobody")))]
    path = tmp_path / "gold.jsonl"
    path.write_bytes(as_jsonl(*broken))
    result = score(str(path), corpus(gold), protocol="li-2013")
    (finding,) = [one for one in result.warnings if one.severity == "fault"]
    assert (finding.line, "nobody" in finding.message) == (1, True)
    assert counts(result, "arg.c") == (1, 1, 1, 1)


# Outcomes


def test_outcomes_say_what_is_wrong() -> None:
    gold = arguments(("3", "A", "5"), ("3", "B", "6"), ("9", "C", "7"), ("9", "D", "8"))
    system = arguments(("3", "X", "5"), ("9", "B", "6"), ("9", "C", "7"), ("9", "E", "1"))
    result = score(corpus(gold), corpus(system), protocol="textee-2024", details=True)
    labels = [(one.outcome, one.gold is not None, one.system is not None) for one in result.outcomes["arg.c+"]]
    assert sorted(labels) == [
        ("match", True, True),
        ("miss", True, False),
        ("spurious", False, True),
        ("wrong role", False, True),
        ("wrong role", True, False),
        ("wrong trigger", False, True),
        ("wrong trigger", True, False),
    ]
    assert sorted(one.outcome for one in result.outcomes["arg.c"]) == [
        "match",
        "miss",
        "other trigger",
        "spurious",
        "wrong role",
        "wrong role",
    ]


def test_by_role_and_by_type() -> None:
    gold = arguments(("3", "A", "5"), ("3", "B", "6"), ("9:Die", "A", "7"))
    system = arguments(("3", "A", "5"), ("3", "C", "6"), ("9:Die", "A", "7"))
    result = score(corpus(gold), corpus(system), protocol="li-2013", by=["role", "type"])
    assert {role: row["arg.c"].micro.to_dict()["counts"] for role, row in result.by["role"].items()} == {
        "A": {"precision_num": 2, "precision_den": 2, "recall_num": 2, "recall_den": 2},
        "B": {"precision_num": 0, "precision_den": 0, "recall_num": 0, "recall_den": 1},
        "C": {"precision_num": 0, "precision_den": 1, "recall_num": 0, "recall_den": 0},
    }
    assert all("trig.c" not in row for row in result.by["role"].values())
    assert {*result.by["type"]["Die"]} == {"trig.i", "trig.c", "arg.i", "arg.c"}


# Several definitions side by side


def test_the_page_has_the_eight_figures() -> None:
    """They are those of the worked example; that karat prints them is tested with the other pages."""
    page = (Path(__file__).parents[1] / "docs" / "arguments.md").read_text()
    shown = {line.split()[-1] for line in page.splitlines() if re.match(r"[a-z]+-.*\d/\d, \d/\d ", line)}
    assert shown == {"44.44", "50.00", "57.14", "66.67", "75.00", "85.71", "88.89", "100.00"}


def test_several_protocols_say_why_they_differ(tmp_path: Path) -> None:
    gold = arguments(("3", "A", "5"), ("9", "B", "6"), ("9", "B", "6"))
    system = arguments(("9", "A", "5"), ("3", "B", "6"), ("9", "B", "6"), ("1", "C", "7"))
    paths = []
    for name, side in (("gold", gold), ("system", system)):
        paths.append(str(tmp_path / f"{name}.jsonl"))
        Path(paths[-1]).write_bytes(as_jsonl(*side))
    names = ["li-2013", "textee-2024", "dygie-2019", "paie-2022", "rams-2020"]
    done = command("score", *paths, *(part for name in names for part in ("-p", name)), "-m", "arg.c", "-m", "arg.c+")
    assert done.code == 0
    assert done.out.startswith("Arg-C by")
    (sentence,) = [line for line in done.out.splitlines() if line.startswith("They differ here: ")]
    for part in (
        "1 argument right under another trigger than in gold (li-2013, textee-2024 arg.c)",
        "1 argument wrong only because of the trigger (textee-2024 arg.c+, paie-2022, rams-2020)",
        "1 argument counted again although already matched (dygie-2019, paie-2022)",
        "1 argument ignored with events that gold does not have (paie-2022)",
        "1 argument repeated and counted each time (paie-2022, rams-2020)",
    ):
        assert part in sentence


def test_a_single_protocol_is_compared_with_nothing() -> None:
    gold = arguments(("3", "A", "5"))
    assert run("li-2013", gold, gold).differences == {}


def test_the_laboratory_examines_arguments_and_templates() -> None:
    """With corpora that come with karat; a wrong argument is a role that something elsewhere fills."""
    for measure, protocol in (("arg.c", "textee-2024"), ("template.slots", "gtt-2021")):
        done = command("lab", measure, "-p", protocol, "--steps", "3", "--orders", "1")
        assert done.code == 0
        (row,) = [line for line in done.out.splitlines() if line.startswith(f"{measure} ") and " f1 " in line]
        assert row.split()[2:5] == ["arguments", "yes", "yes"]
