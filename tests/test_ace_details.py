"""Details of ACE elements: mentions side by side, and why a mapped element lost value, on documents of a few words."""

from collections.abc import Mapping
from math import nextafter
from typing import Any

import pytest
from msgspec.structs import replace

import karat
from karat.families.ace.nist import Nist, forced, forced_by_component
from karat.families.ace.plan import Plan, have_common_string
from karat.families.ace.records import value_of
from karat.families.ace.tokens import VALUE_RANGES
from karat.model import Boxes, Cluster, Document, Link, Mention, Name, Place
from karat.problems import UsageError
from karat.testing.corpora import entity_mention
from tests.corpora import ace

PERSON = Cluster("E", "entity", {"type": "PER", "subtype": "Individual", "class": "SPC"})
YEAR = Cluster("T", "time", {"val": "2003"})


def person(*mentions: Mention, id_: str = "d") -> Document:
    return Document(id_, mentions=mentions, clusters=(PERSON,) if mentions else ())


def year(begin: int) -> Document:
    return Document("d", mentions=(Mention("t", ((begin, begin + 8),), kind="time", cluster="T"),), clusters=(YEAR,))


def name(id_: str = "m1", begin: int = 10, type_: str = "NAM", *, length: int = 10) -> Mention:
    return entity_mention(id_, "E", begin, type_, length=length)


def details(
    gold: list[Document], system: list[Document], measure: str = "ace.edr", **settings: str
) -> tuple[Mapping[str, Any], list[list[str]]]:
    """The confusions of mentions, and what each mapped element lost."""
    result = karat.score(gold, system, protocol="ace-2005", details=True, settings=settings)
    listed = result.to_dict()["details"][measure]
    return listed["recognition"].get("mention", {}), [item["lost"] for item in listed["items"]]


RECOGNISED = "reference", "false_alarm", "miss", "substitution", "precision", "recall", "f1"


def dated(**attributes: str) -> Document:
    return replace(year(10), clusters=(replace(YEAR, attributes={**YEAR.attributes, **attributes}),))


@pytest.mark.parametrize("protocol", ["ace-2005", "ace-2005-nist"])
def test_an_attribute_that_one_side_lacks_is_a_miss_or_a_false_alarm(protocol: str) -> None:
    gold = dated(anchor_dir="AS_OF", anchor_val="2003-05-15", comment="x")
    system = dated(mod="APPROX", comment="y")
    result = karat.score([gold], [system], protocol=protocol, measures="ace.tern", details=True)
    times = result.to_dict()["details"]["ace.tern"]["recognition"]["time"]
    rows = {name: tuple(row[key] for key in RECOGNISED) for name, row in times.items()}
    assert rows["anchor_dir"] == rows["anchor_val"] == (1, 0, 1, 0, 0.0, 0.0, 0.0)
    assert rows["mod"] == (0, 1, 0, 0, 0.0, 0.0, 0.0)
    assert rows["val"] == (1, 0, 0, 0, 1.0, 1.0, 1.0)
    assert rows["comment"] == (1, 0, 0, 1, 1.0, 1.0, 1.0), "another value is a substitution, and found"
    assert times["anchor_dir"]["missed"] == {"AS_OF": 1}
    assert times["mod"]["spurious"] == {"APPROX": 1}
    line = next(line for line in str(result).splitlines() if line.startswith("time anchor_dir"))
    assert line.split()[2:] == ["1", "0", "1", "0", "1", "0.00", "0.00", "0.00"]


def test_times_by_their_attributes() -> None:
    gold, system = dated(mod="APPROX", anchor_dir="AS_OF"), dated(mod="START")
    result = karat.score([gold], [system], protocol="ace-2005", measures="ace.tern", by=["mod", "anchor_dir,val"])
    assert {field: list(rows) for field, rows in result.by.items()} == {
        "mod": ["APPROX"],
        "anchor_dir,val": ["AS_OF,2003"],
    }


@pytest.mark.parametrize(("protocol", "counts"), [("ace-2005", (2, 1, 1)), ("ace-2005-nist", (1, 0, 0))])
def test_recognition_covers_all_elements_or_those_that_are_mapped(protocol: str, counts: tuple[int, ...]) -> None:
    """Departure 29."""
    gold, system = ace(entities="E F"), ace(entities="E G@90")
    result = karat.score([gold], [system], protocol=protocol, measures="ace.edr", details=True)
    types = result.to_dict()["details"]["ace.edr"]["recognition"]["entity"]["type"]
    assert tuple(types[name] for name in RECOGNISED[:3]) == counts
    nothing = karat.score([ace(entities="F")], [ace(entities="G@90")], protocol=protocol, details=True)
    assert ("ace.edr recognition" in str(nothing)) == (protocol == "ace-2005")


@pytest.mark.parametrize(("longer", "extent"), [(4, "right"), (5, "wrong")])
def test_an_extent_is_right_within_four_characters(longer: int, extent: str) -> None:
    mentions, _ = details([person(name())], [person(name(length=10 + longer))])
    assert mentions["extent"]["confusion"] == {"right": {extent: 1}}
    times, _ = details([year(48)], [year(48 + longer)], "ace.tern")
    assert times["extent"]["confusion"] == {"right": {extent: 1}}, "times have extents, and no other attributes"


@pytest.mark.parametrize(("width", "extent"), [(10.0, "right"), (9.0, "wrong")])
def test_an_extent_in_an_image_is_right_if_its_boxes_are_equal(width: float, extent: str) -> None:
    def written(width: float) -> Document:
        boxes: Boxes = ((1, 0.0, 0.0, width, 4.0),)
        named = replace(PERSON, names=(Name(Place(boxes=boxes)),))
        mention = replace(name(), span=(), texts={"head": "x"}, boxes={"span": boxes, "head": boxes})
        return replace(person(mention), unit="box", clusters=(named,))

    result = karat.score([written(10.0)], [written(width)], protocol="ace-2005", details=True)
    parts = result.to_dict()["details"]["ace.edr"]["recognition"]
    assert parts["mention"]["extent"]["confusion"] == {"right": {extent: 1}}
    assert parts["name"]["type"]["extents"] == {"PER": {extent: 1}}


def named(document: Document, *begins: int) -> Document:
    """The entity with names of ten characters."""
    names = tuple(Name(Place(((begin, begin + 10),))) for begin in begins)
    return replace(document, clusters=(replace(PERSON, names=names),))


def test_extents_are_counted_by_type_style_and_role_of_mentions() -> None:
    gold = person(
        replace(name(), attributes={"type": "NAM", "role": "PER"}),
        replace(name("m2", 40), attributes={"type": "NAM", "role": "ORG", "metonymy_mention": "TRUE"}),
        name("m3", 70, "PRO"),
    )
    first, second, _ = gold.mentions
    mentions, _ = details([gold], [replace(gold, mentions=(replace(first, span=((3, 20),)), second))])
    assert mentions["type"]["extents"] == {"NAM": {"right": 1, "wrong": 1}}
    assert mentions["type"]["missed"] == {"PRO": 1}
    assert mentions["style"]["extents"] == {"LITERAL": {"wrong": 1}, "METONYMIC": {"right": 1}}
    assert mentions["role"]["extents"] == {"ORG": {"right": 1}, "PER": {"wrong": 1}}


def test_names_are_found_by_the_type_of_their_entity() -> None:
    """Of three names one is found, one with a wrong extent, one not; one is spurious."""
    gold, system = named(person(name()), 10, 40, 70), named(person(name()), 10, 45, 90)
    system = replace(system, clusters=(replace(system.clusters[0], attributes={**PERSON.attributes, "type": "ORG"}),))
    result = karat.score([gold], [system], protocol="ace-2005", details=True)
    types = result.to_dict()["details"]["ace.edr"]["recognition"]["name"]["type"]
    assert (types["confusion"], types["missed"], types["spurious"]) == ({"PER": {"ORG": 2}}, {"PER": 1}, {"ORG": 1})
    assert types["extents"] == {"PER": {"right": 1, "wrong": 1}}
    # EMD: a mention has the names that its head overlaps
    assert result.to_dict()["details"]["ace.emd"]["recognition"]["name"]["type"]["confusion"] == {"PER": {"ORG": 1}}
    rows = [line.split() for line in str(result).splitlines() if line.startswith("name type")]
    assert ["name", "type", "PER", "3", "0", "1", "1", "1"] in rows
    assert ["name", "type", "ORG", "0", "1", "0", "0", "0"] in rows


def test_the_mapping_shows_the_head_of_the_level_of_an_entity() -> None:
    gold = person(
        replace(name("m1", 10, "PRO"), texts={"head": "she"}), replace(name("m2", 40), texts={"head": "Anna"})
    )
    result = karat.score([gold], [replace(gold, mentions=gold.mentions[:1])], protocol="ace-2005", details=True)
    (item,) = result.to_dict()["details"]["ace.edr"]["items"]
    assert (item["reference_text"], item["system_text"]) == ("Anna", "she")
    assert "mention m2 'Anna' missed" in item["lost"]
    assert "d        E Anna     E she   " in str(result)


def test_the_mapping_shows_the_heads_of_arguments() -> None:
    """With the ids of the file, in RMD and VMD as well, whose arguments are promoted mentions."""
    gold, system = ace(entities="E F", events="V(E,F)"), ace(entities="E F", events="V(E)")
    for task, id_ in (("ace.vdr", "d-F"), ("ace.vmd", "d-F")):
        assert details([gold], [system], task)[1] == [[f"Person {id_} 'xxxxxxxxxx' missed"]]
    for task, id_ in (("ace.vdr", "d-F"), ("ace.vmd", "d-F-1")):
        assert details([system], [gold], task)[1] == [[f"Person {id_} 'xxxxxxxxxx' spurious"]]


def test_a_wrong_attribute_of_a_mention_is_what_an_element_lost() -> None:
    mentions, lost = details([person(name())], [person(name(type_="NOM"))])
    assert mentions["type"]["confusion"] == {"NAM": {"NOM": 1}}
    assert lost == [["level NOM for NAM", "mention m1 'xxxxxxxxxx': type NOM for NAM"]]


def test_spurious_and_missed_mentions_have_no_counterpart() -> None:
    more = person(name(), name("m2", 60, "PRO"))
    mentions, lost = details([person(name())], [more])
    assert (mentions["type"]["spurious"], mentions["type"]["missed"]) == ({"PRO": 1}, {})
    assert lost == [["mention m2 'xxxxxxxxxx' spurious"]]
    mentions, lost = details([more], [person(name())])
    assert (mentions["type"]["spurious"], mentions["type"]["missed"]) == ({}, {"PRO": 1})
    assert lost == [["mention m2 'xxxxxxxxxx' missed"]]


def test_an_element_in_documents_of_one_side_only() -> None:
    """Across documents, a document in which one side does not mention the element has nothing to be mapped."""
    both = [person(name()), person(name("m2"), id_="e")]
    one = [person(name()), person(id_="e")]
    mentions, lost = details(both, one, processing="cross-document")
    assert (mentions["type"]["confusion"], mentions["type"]["missed"]) == ({"NAM": {"NAM": 1}}, {"NAM": 1})
    assert lost == [["mention m2 'xxxxxxxxxx' missed"]]
    mentions, lost = details(one, both, processing="cross-document")
    assert (mentions["type"]["confusion"], mentions["type"]["spurious"]) == ({"NAM": {"NAM": 1}}, {"NAM": 1})
    assert lost == [["mention m2 'xxxxxxxxxx' spurious"]]


def test_settings_that_exclude_each_other_are_a_bad_value() -> None:
    with pytest.raises(UsageError) as refused:
        details([person(name())], [person(name())], averaging="geometric", mapping="extents")
    assert refused.value.finding.code == "bad-value"


def test_a_common_string_of_just_the_least_share_is_enough() -> None:
    """0.28 · 25 is 7.000000000000001 in floating point, and yet 7 of 25 characters are 0.28 of them."""
    assert have_common_string("x" * 7 + "a" * 18, "x" * 7 + "b" * 18, 0.28)
    assert not have_common_string("x" * 6 + "a" * 19, "x" * 6 + "b" * 19, 0.28)


def test_a_share_that_is_less_by_a_rounding_error_is_not_enough() -> None:
    """One letter of three is a third, and the next number that floating point has is more."""
    assert have_common_string("abc", "axy", 1 / 3)
    assert not have_common_string("abc", "axy", nextafter(1 / 3, 1))


def test_heads_that_touch_meet_for_the_scorer_alone() -> None:
    """Departure 28. What has no head touches nothing, and neither do boxes of an image."""
    plan, nist = Plan.__new__(Plan), Nist.__new__(Nist)  # heads need no parameters
    left, right, apart = ((0, 5),), ((5, 9),), ((6, 9),)
    assert plan.heads_meet(left, left)
    for one, other in ((left, right), (right, left)):
        assert (plan.heads_meet(one, other), nist.heads_meet(one, other)) == (False, True)
        assert not nist.heads_meet(one, ())
        assert not nist.heads_meet((), one)
    assert not nist.heads_meet(left, apart)
    assert not nist.heads_meet(((1, 20.0, 0.0, 5.0, 5.0),), ((1, 1.0, 0.0, 5.0, 5.0),))


def test_a_link_to_what_is_no_entity_value_or_time_is_no_argument() -> None:
    gold = ace(entities="E", events="V(E) W(E)")
    linked = replace(gold, links=(*gold.links, Link("Person", "d-V", "d-W")))
    result = karat.score([gold], [linked], protocol="ace-2005")
    assert result["ace.vdr"].value == 1


def test_roles_of_events_may_have_any_name() -> None:
    """Table 19: roles that differ cost W_err-role. Only relations have an Arg-1 that corresponds to nothing else."""
    gold, system = (ace(entities="E", events="V(E)") for _ in "gs")
    other = replace(system, links=tuple(replace(link, kind="Arg-1") for link in system.links))
    wrong = replace(system, links=tuple(replace(link, kind="Agent") for link in system.links))
    values = [karat.score([gold], [one], protocol="ace-2005")["ace.vdr"].value for one in (other, wrong)]
    assert values[0] == values[1]


def test_a_value_without_weight_is_worth_that_of_all_others_or_nothing() -> None:
    assert value_of({"PER": 1.0, "*": 0.5}, "PER") == 1
    assert value_of({"PER": 1.0, "*": 0.5}, "ORG") == 0.5
    assert value_of({"PER": 1.0}, "ORG") == 0
    assert value_of(0.7, "ORG") == 0.7


@pytest.mark.parametrize(
    ("mentions", "row"),
    [(1, "1"), (2, "2"), (3, "3-4"), (4, "3-4"), (5, "5-8"), (8, "5-8"), (9, "9 and more"), (12, "9 and more")],
)
def test_elements_by_how_often_they_are_mentioned(mentions: int, row: str) -> None:
    documents = [person(*(name(f"m{number}", 20 * number) for number in range(mentions)))]
    result = karat.score(documents, documents, protocol="ace-2005", measures="ace.edr", by="mention_count")
    assert list(result.by["mention_count"]) == [row]


def test_ranges_of_values_are_named_by_their_ends() -> None:
    ends = [name_.split("-") for _, name_ in VALUE_RANGES[:-1]]
    assert [float(end) for _, end in ends] == [most for most, _ in VALUE_RANGES[:-1]]
    assert [float(begin) for begin, _ in ends[1:]] == [float(end) for _, end in ends[:-1]]


def test_components_are_forced_one_by_one_and_listed_in_order() -> None:
    """Departure 11: each connected component is a table of its own."""
    first = {(0, 0): (-3, 0.0), (5, 0): (2, 0.0)}
    second = {(1, 1): (-1, 0.0)}
    assert forced_by_component(first | second) == sorted([*forced(first), *forced(second)])
    assert len(forced_by_component(first | second)) > 1
