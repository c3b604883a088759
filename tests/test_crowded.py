"""Documents with more alike pairs than can be listed: the same alignment as by the list."""

from collections.abc import Sequence
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


@pytest.mark.parametrize("grouped", [100_000, -1], ids=["by classes", "by pairs"])
@pytest.mark.parametrize("places", [spans, few_spans])
def test_the_same_pairs_as_by_the_list(places: st.SearchStrategy[tuple[tuple[int, int], ...]], grouped: int) -> None:
    @EXAMPLES
    @given(mentions(places), mentions(places), choices, comparisons)
    def same(gold: list[Mention], system: list[Mention], choice: AlignmentChoice, comparison: Comparison) -> None:
        listed = pairs(gold, system, choice, comparison)
        optimal = patch("karat.align.crowded_optimal.MOST_GROUPED", grouped)
        with optimal, patch("karat.align.crowded.MANY", -1), patch("karat.tables.aligned.MANY", -1):
            assert pairs(gold, system, choice, comparison) == listed

    same()
