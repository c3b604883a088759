"""Documents with more alike pairs than can be listed: the same alignment as by the list."""

from collections.abc import Sequence
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.errors import KaratError
from karat.model import Document, Mention, Pair, Value
from karat.plugin import AlignmentChoice, Comparison, Match, Tables
from karat.tables.aligned import Alignment

EXAMPLES = settings(max_examples=150, deadline=None)
FAR = 10**17  # sizes that floating point does not hold exactly

segments = st.tuples(st.integers(0, 9), st.integers(1, 6)).map(lambda pair: (pair[0], sum(pair)))
far_segments = st.tuples(st.integers(0, 3), st.integers(FAR, FAR + 3)).map(lambda pair: (pair[0], sum(pair)))
separate = st.tuples(st.integers(0, 3), st.integers(5, 8)).map(lambda at: ((at[0], at[0] + 2), (at[1], at[1] + 3)))
spans = segments.map(lambda one: (one,)) | separate | far_segments.map(lambda one: (one,)) | st.just(())
few_spans = st.sampled_from([((0, 4),), ((0, 5),), ((1, 4),)])
types = st.sampled_from(["A", "a", "B", "NOT_ANNOTATED", None])
kinds = st.sampled_from(["x", "y"])


def mentions(places: st.SearchStrategy[tuple[tuple[int, int], ...]]) -> st.SearchStrategy[list[Mention]]:
    def mention(span: tuple[tuple[int, int], ...], type_: str | None, realis: str) -> Mention:
        head = span[:1] if realis == "x" and span else None
        attributes: dict[str, Value] = {"realis": realis}
        if type_ is not None:
            attributes["type"] = type_
        return Mention("", span, head=head, attributes=attributes)

    return st.lists(st.builds(mention, places, types, kinds), max_size=9).map(
        lambda listed: [
            Mention(str(n), one.span, head=one.head, attributes=one.attributes) for n, one in enumerate(listed)
        ]
    )


choices = st.builds(
    AlignmentChoice,
    similarity=st.sampled_from(["common", "dice", "exact", "head", "head-overlap", "identical", "overlap"]),
    agree=st.sampled_from(["span", "type", "type+realis"]),
    agreement=st.sampled_from(["before", "after"]),
    reward=st.sampled_from(["none", "attributes"]),
    method=st.sampled_from(["greedy", "many-to-one", "optimal", "gold-first"]),
    threshold=st.sampled_from([0.0, 0.4, 0.5]),
    ties=st.sampled_from(["line", "text"]),
)
comparisons = st.builds(
    Comparison, form=st.sampled_from(["exact", "canonical"]), wildcard=st.sampled_from([None, "NOT_ANNOTATED"])
)


def pairs(
    gold: Sequence[Mention], system: Sequence[Mention], choice: AlignmentChoice, comparison: Comparison
) -> Sequence[Match]:
    names = ("type", "realis")
    documents = Pair(Document("d", mentions=tuple(gold)), Document("d", mentions=tuple(system)))
    alignment = Alignment.of(choice, comparison, names, rewarded=names)
    return Tables(documents).get(alignment).pairs


@pytest.mark.slow
@pytest.mark.parametrize("grouped", [100_000, -1], ids=["by classes", "by pairs"])
@pytest.mark.parametrize("places", [spans, few_spans])
def test_the_same_pairs_as_by_the_list(places: st.SearchStrategy[tuple[tuple[int, int], ...]], grouped: int) -> None:
    @EXAMPLES
    @given(mentions(places), mentions(places), choices, comparisons, st.sampled_from([2, 256]))
    def same(
        gold: list[Mention], system: list[Mention], choice: AlignmentChoice, comparison: Comparison, near: int
    ) -> None:
        listed = pairs(gold, system, choice, comparison)
        optimal = patch("karat.align.crowded_optimal.MOST_GROUPED", grouped)
        remembered = patch("karat.align.crowded.MOST_NEAR", near)
        with optimal, remembered, patch("karat.align.crowded.UNCOUNTED", -1), patch("karat.tables.aligned.MANY", -1):
            assert pairs(gold, system, choice, comparison) == listed

    same()


def crowded(gold: Sequence[Mention], system: Sequence[Mention], choice: AlignmentChoice) -> Sequence[Match]:
    """The pairs without a list, however few there are."""
    with patch("karat.align.crowded.UNCOUNTED", -1), patch("karat.tables.aligned.MANY", -1):
        return pairs(gold, system, choice, Comparison())


def nested(count: int, longer: int) -> list[Mention]:
    """Mentions each of which is in the next."""
    return [Mention(str(number), ((0, 10 + longer + number),)) for number in range(count)]


def test_all_want_the_same_partner() -> None:
    """The longest gold mention is nearest to every system mention, the next one then, and so on."""
    gold, system = nested(12, 0), nested(12, 40)
    dice = AlignmentChoice(similarity="dice")
    found = crowded(gold, system, dice)
    assert found == pairs(gold, system, dice, Comparison())
    assert [(g, s) for g, s, *_ in found] == [(11 - number, number) for number in range(12)]


def test_a_mention_within_the_reach_of_another_need_not_overlap() -> None:
    """The long gold mention reaches over both of the system; the short one has ended before them."""
    gold = [Mention("long", ((0, 20),)), Mention("short", ((1, 2),))]
    system = [Mention("s", ((5, 6),)), Mention("t", ((10, 12),))]
    overlap = AlignmentChoice(similarity="overlap")
    for found in (crowded(gold, system, overlap), pairs(gold, system, overlap, Comparison())):
        assert [(gold[g].id, system[s].id) for g, s, *_ in found] == [("long", "s")]


def test_offsets_that_floating_point_does_not_hold() -> None:
    """Near 10^17 it holds every 16th whole number: two characters would be none."""
    gold, system = [Mention("g", ((FAR, FAR + 1),))], [Mention("s", ((FAR, FAR + 2),))]
    ((_, _, dice, _),) = crowded(gold, system, AlignmentChoice(similarity="dice"))
    assert dice == 2 / 3


def test_too_many_pairs_that_can_only_be_listed_are_refused() -> None:
    """Of `partial`, pairs are only counted: above the limit of a list, there is no other way."""
    mentions = [Mention(str(number), ((number, number + 5),)) for number in range(3)]
    choice = AlignmentChoice(similarity="partial", method="optimal")
    assert len(crowded(mentions, mentions, choice)) == 3
    with patch("karat.tables.aligned.MOST_LISTED", 8), pytest.raises(KaratError, match="9 pairs of alike mentions"):
        crowded(mentions, mentions, choice)
