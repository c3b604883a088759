"""Templates: the rules that the recorded runs leave open, and the mapping with the largest F1."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from karat.api.scoring import score
from karat.families.template.mapping import Mapping, Weights, largest_f1
from karat.model import Document, Link, Mention
from karat.result import ItemCounts
from tests.corpora import corpus, templates
from tests.test_arguments import counts, run


def test_documents_that_only_the_system_has() -> None:
    gold = templates("attack: men")
    system = [*gold, replace(gold[0], id="e")]
    assert counts(run("ree-2021", gold, system), "template.ree") == (1, 1, 1, 1)
    assert counts(run("gtt-2021", gold, system), "template.slots") == (2, 2, 2, 2)
    assert counts(run("rme-2023", gold, system), "template.rme") == (1, 2, 1, 1)
    ignored = run("rme-2023", gold, system, empty_documents="ignore")
    assert counts(ignored, "template.rme") == (1, 1, 1, 1)


def test_an_entity_without_strings_is_left_out() -> None:
    (document,) = templates("attack: men")
    nameless = replace(document, mentions=tuple(replace(one, text=None) for one in document.mentions))
    result = run("ree-2021", [document], [nameless])
    assert counts(result, "template.ree") == (0, 0, 0, 1)
    messages = [warning.message for warning in result.warnings if warning.code == "entity-no-string"]
    assert messages == ["1 entity has no known string, and is not scored"], "once, though two rows leave it out"
    assert counts(run("gtt-2021", [nameless], [document]), "template.slots") == (1, 2, 1, 1)


def test_what_is_all_right_is_a_match() -> None:
    gold, system = templates("attack: men=women"), templates("attack: men")
    for side, outcome in ((gold, "match"), (system, "partial")):
        result = score(corpus(gold), corpus(side), protocol="rme-2023", details=True)
        assert outcome in {one.outcome for one in result.outcomes["template.rme"] if one.gold is not None}
        assert {one.outcome for one in result.outcomes["template.rme"] if one.system is not None} == {"match"}


def test_all_measures_and_errors_share_the_record_of_an_entity() -> None:
    gold, system = templates("attack: men=women, GLN"), templates("attack: men, MRTA")
    result = score(corpus(gold), corpus(system), protocol="rme-2023", details=True, errors=True)
    assert result.errors is not None
    found = [one for measure in result.errors.measures for each in measure.classes for one in each.instances]
    sides = [(one.gold, one.system) for listed in result.outcomes.values() for one in listed]
    records = [record for pair in sides for record in pair if record is not None]
    assert len({id(record) for record in records}) == 4 < len(records)
    assert found
    assert {id(record) for one in found for record in (*one.gold, *one.system)} <= {id(record) for record in records}


def test_several_templates_are_one_table_for_ree() -> None:
    """An entity whose strings are a subset or superset of an earlier one's in the role is left out, on both sides."""
    gold = templates("attack: men", "bombing: men=women, GLN")
    assert counts(run("ree-2021", gold, templates("attack: men, GLN")), "template.ree") == (2, 2, 2, 2)
    assert counts(run("ree-2021", templates("attack: men, men"), gold), "template.ree") == (1, 2, 1, 2)


def test_gold_templates_are_equal_by_their_raw_strings() -> None:
    """`the men` and `men` are one string once normalised, but two templates."""
    system = templates("attack: men", "attack: men")
    assert counts(run("gtt-2021", templates("attack: men", "attack: the men"), system), "template.type") == (2, 2, 2, 2)
    assert counts(run("gtt-2021", templates("attack: men", "attack: men"), system), "template.type") == (1, 2, 1, 1)
    in_order, in_other_order = "attack: men, women", "attack: women, men"
    assert counts(run("rme-2023", templates(in_order, in_other_order), system), "template.rme") == (2, 2, 2, 4)
    assert counts(run("rme-2023", templates(in_order, in_order), system), "template.rme") == (1, 2, 1, 2)


def test_a_missing_type_is_attack_on_both_sides() -> None:
    (typed,) = templates("attack: men")
    bare = replace(typed, mentions=tuple(replace(one, attributes={}) for one in typed.mentions))
    number = replace(typed, mentions=tuple(replace(one, attributes={"type": 3}) for one in typed.mentions))
    for gold, system in ((typed, bare), (bare, typed), (number, bare)):
        assert counts(run("gtt-2021", [gold], [system]), "template.type") == (1, 1, 1, 1)
        assert counts(run("rme-2023", [gold], [system]), "template.rme") == (1, 1, 1, 1)


def test_the_system_type_is_a_part_of_golds() -> None:
    gold = templates("attack / bombing: men")
    assert counts(run("gtt-2021", gold, templates("bombing: men")), "template.slots") == (2, 2, 2, 2)
    assert counts(run("gtt-2021", templates("bombing: men"), gold), "template.slots") == (0, 2, 0, 2)


def test_roles_outside_the_five_are_scored() -> None:
    (document,) = templates("attack: men")
    other = replace(document, links=(Link("Bystander", "t0", "x0.0"),))
    result = score(corpus([other]), corpus([other]), protocol="gtt-2021", by=["role"])
    assert result.by["role"]["Bystander"].keys() == {"template.slots"}


@pytest.mark.parametrize(("protocol", "measure"), [("gtt-2021", "template.slots"), ("rme-2023", "template.rme")])
def test_breakdowns_count_entities_that_earn_nothing(protocol: str, measure: str) -> None:
    """Each side lists its own entities, so that none has a counterpart. The type of an incident is a slot by itself."""
    gold, system = templates("attack: men, GLN", "bombing: bridge"), templates("attack: men, MRTA")
    result = score(corpus(gold), corpus(system), protocol=protocol, by=["role"])
    found = {role: row[measure].items for role, row in result.by["role"].items()}
    incidents = {"incident type": ItemCounts(2, 1, 1, 0)} if protocol == "gtt-2021" else {}
    assert found == {"Victim": ItemCounts(3, 2, 2, 1), **incidents}


def test_a_breakdown_counts_strings_where_the_score_does() -> None:
    """Of three strings of two victims, one is found: R is 1/3 under template.rme, 1/2 where entities count."""
    gold, system = templates("attack: men=women, GLN"), templates("attack: men")
    result = score(corpus(gold), corpus(system), protocol="rme-2023", by=["role"])
    rows = result.by["role"]["Victim"]
    assert (rows["template.rme"].items, rows["template.rme"].recall) == (ItemCounts(3, 1, 2, 0), 1 / 3)
    assert (rows["template.rme.subset"].items, rows["template.rme.subset"].recall) == (ItemCounts(2, 1, 1, 0), 1 / 2)


def test_copies_of_a_choice_of_types() -> None:
    """Of equal copies the first is kept; without a system template there are none; empty ones do not count."""
    gold = templates("attack / bombing: men")
    result = run("rme-2023", gold, templates("attack: men", "bombing: men"))
    assert counts(result, "template.rme") == (1, 2, 1, 2)
    assert counts(result, "template.rme.subset") == (1, 2, 1, 1)
    empty = run("rme-2023", gold, templates("attack"))
    assert counts(empty, "template.rme") == (0, 0, 0, 1)
    assert counts(empty, "template.rme.subset") == (0, 0, 0, 1)


def test_equal_assignments_take_the_larger_recall() -> None:
    """Both gold templates hold two system entities; the second by two of its own."""
    gold = templates("attack: men=women", "attack: men, women")
    result = run("rme-2023", gold, templates("attack: men, women"))
    assert counts(result, "template.rme.subset") == (2, 2, 2, 3)


def test_equal_assignments_with_another_recall_are_noted() -> None:
    """Either gold template shares two entities with the system's: one of gold's entities is hit, or two."""
    gold = templates("attack: men=women", "attack: men, women")
    result = run("rme-2023", gold, templates("attack: men, women"))
    notes = [warning.message for warning in result.warnings if warning.code == "template-ties"]
    assert notes == ["documents in which equally similar templates differ in the entities that they hit: 1"]
    assert "template-ties" not in {warning.code for warning in run("rme-2023", gold, templates("attack: men")).warnings}


def test_one_span_in_two_clusters_is_not_fatal() -> None:
    mentions = (
        Mention("t", (), kind="template", attributes={"type": "attack"}),
        Mention("a", ((0, 3),), kind="entity", cluster="x"),
        Mention("b", ((0, 3),), kind="entity", cluster="y"),
    )
    links = (Link("Victim", "t", "x"), Link("Target", "t", "y"))
    document = Document("d", text="men", mentions=mentions, links=links)
    for protocol, id_ in (("ree-2021", "template.ree"), ("gtt-2021", "template.slots"), ("rme-2023", "template.rme")):
        assert run(protocol, [document], [document])[id_].f1 == 1


def test_strings_of_the_system_come_from_golds_text() -> None:
    mentions = (Mention("t", (), kind="template"), Mention("a", ((4, 7),), kind="entity"))
    gold = Document("d", text="the men", mentions=mentions, links=(Link("Victim", "t", "a"),))
    assert counts(run("ree-2021", [gold], [replace(gold, text=None)]), "template.ree") == (1, 1, 1, 1)


# The mapping


def tried(weights: Weights, row_items: int, column_items: int) -> Mapping:
    """Every mapping in the program's order: the first with the largest F1."""
    best, found = Fraction(-1), Mapping()

    def walk(mapping: Mapping, rows_right: int, columns_right: int) -> None:
        nonlocal best, found
        if len(mapping) == len(weights):
            divisor = rows_right * column_items + columns_right * row_items
            f1 = Fraction(2 * rows_right * columns_right, divisor) if divisor else Fraction(0)
            if f1 > best:
                best, found = f1, mapping
            return
        for column, own in enumerate(weights[len(mapping)]):
            if column not in mapping:
                a, b = own or (0, 0)
                walk([*mapping, column], rows_right + a, columns_right + b)
        walk([*mapping, None], rows_right, columns_right)

    walk([], 0, 0)
    return found


@st.composite
def problems(draw: st.DrawFn) -> tuple[Weights, int, int]:
    rows, columns, most = draw(st.integers(1, 4)), draw(st.integers(1, 4)), draw(st.sampled_from([1, 2, 5]))
    pair = st.none() | st.tuples(st.integers(1, most), st.integers(1, most))
    weights = [[draw(pair) for _ in range(columns)] for _ in range(rows)]
    least_rows = sum(max([own[0] for own in row if own], default=1) for row in weights)
    columns_of = zip(*weights, strict=True)
    least_columns = sum(max([own[1] for own in column if own], default=1) for column in columns_of)
    return weights, least_rows + draw(st.integers(0, 3)), least_columns + draw(st.integers(0, 3))


@settings(max_examples=300, deadline=None)
@given(problems())
def test_the_mapping_is_the_first_of_the_best(problem: tuple[Weights, int, int]) -> None:
    weights = problem[0]
    expected = tried(*problem)
    if not any(own for row in weights for own in row):
        expected = [None] * len(weights)  # nothing is right, whatever is mapped
    assert largest_f1(*problem) == expected


def test_twenty_templates_on_each_side() -> None:
    """The program would try 21^20 mappings."""
    texts = [f"{'attack / bombing' if n % 3 else 'bombing'}: m{n % 5}, m{n % 7}=w{n % 4}, m{n % 3}" for n in range(20)]
    gold = templates(*texts)
    system = templates(*(text.replace("attack / ", "") for text in reversed(texts)))
    assert counts(run("gtt-2021", gold, system), "template.type") == (20, 20, 20, 20)
