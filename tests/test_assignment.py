"""Assignments, against every assignment there is."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import floor, fsum
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.match.assignment import Edge, assignment, first_choices
from karat.match.matchings import optimal
from karat.match.sparse import best_matching, matching
from karat.plugin.contingency import MANY

EXAMPLES = settings(max_examples=300, deadline=None)
ends = st.tuples(st.integers(0, 4), st.integers(0, 4))


def every_assignment(edges: Sequence[Edge]) -> Iterator[list[Edge]]:
    """All one-to-one choices of edges, sorted."""
    if not edges:
        yield []
        return
    (row, column), *rest = sorted(edges)
    yield from every_assignment(rest)
    for others in every_assignment([edge for edge in rest if edge[0] != row and edge[1] != column]):
        yield [(row, column), *others]


def in_order(chosen: list[Edge]) -> list[int]:
    """The column of each row; a row without one comes after all columns."""
    columns = dict(chosen)
    return [columns.get(row, 5) for row in range(5)]


@EXAMPLES
@given(st.dictionaries(ends, st.integers(1, 3), max_size=12))
def test_the_first_of_the_best(weights: dict[Edge, int]) -> None:
    """From the lowest row on, each has the lowest column that it can have."""
    choices = list(every_assignment(list(weights)))
    most = max(sum(weights[edge] for edge in chosen) for chosen in choices)
    best = [chosen for chosen in choices if sum(weights[edge] for edge in chosen) == most]
    assert assignment(weights) == min(best, key=in_order)
    assert first_choices(weights) in (None, min(best, key=in_order))
    rows, columns = [row for row, _ in weights], [column for _, column in weights]
    assert best_matching(rows, columns, [*weights.values()]) == most


def test_rows_or_columns_that_do_not_compete_need_no_solver() -> None:
    """Every row has its best column; every column has its best row; both rows want the first column most."""
    assert first_choices({(0, 0): 2, (0, 1): 1, (1, 0): 1, (1, 1): 2}) == [(0, 0), (1, 1)]
    assert first_choices({(0, 0): 1, (1, 0): 2, (1, 1): 1, (2, 1): 2}) == [(1, 0), (2, 1)]
    assert first_choices({(0, 0): 3, (0, 1): 2, (1, 0): 3, (1, 1): 1}) is None


@pytest.mark.parametrize("clusters", [1_500, 4_000, 40_000])
def test_many_edges_have_the_sum_of_few(clusters: int) -> None:
    """Leaves of many edges are removed by other code, with the same sum, to the last digit."""
    random = Random(clusters)
    cells = {(int(clusters * random.random() ** 2), random.randrange(clusters)) for _ in range(5_000)}
    rows, columns = zip(*sorted(cells), strict=True)
    weights = [random.choice((0.4, 2 / 3, random.random() + 0.01, 1.0)) for _ in cells]
    assert len(cells) > MANY
    assert best_matching(rows, columns, weights) == fsum([weights[edge] for edge in matching(rows, columns, weights)])


similarities = st.sampled_from([0.5, 1.0, 1.5, 2.0]) | st.tuples(st.integers(1, 4), st.integers(4, 9)).map(
    lambda pair: 2 * pair[0] / sum(pair)
)


@EXAMPLES
@given(st.dictionaries(ends, similarities, max_size=12))
def test_ties_of_similarity_are_decided_by_whole_points_pairs_and_order(alike: dict[Edge, float]) -> None:
    exact = {edge: Fraction(value).limit_denominator(100) for edge, value in alike.items()}

    def worth(chosen: list[Edge]) -> tuple[Fraction, int, int, list[int]]:
        values = [exact[edge] for edge in chosen]
        return sum(values, Fraction()), sum(map(floor, values)), len(chosen), [-column for column in in_order(chosen)]

    candidates = sorted((-value, s, g, 0) for (s, g), value in alike.items())
    assert sorted((s, g) for g, s, _, _ in optimal(candidates)) == max(every_assignment(list(alike)), key=worth)
