"""Assignments: against every assignment there is, and as many mentions on one span as fit."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import floor, lcm

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.align.assignment import Edge, assignment, components, first_choices, hungarian
from karat.align.large import is_exact
from karat.align.matching import Overlaps
from karat.align.matchings import optimal
from karat.plugin import Candidate

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


@EXAMPLES
@given(st.dictionaries(ends, st.integers(1, 3), max_size=12))
def test_the_first_of_the_best(weights: dict[Edge, int]) -> None:
    """From the lowest row on, each has the lowest column that it can have; none comes after all columns."""

    def in_order(chosen: list[Edge]) -> list[int]:
        columns = dict(chosen)
        return [columns.get(row, 5) for row in range(5)]

    choices = list(every_assignment(list(weights)))
    most = max(sum(weights[edge] for edge in chosen) for chosen in choices)
    best = [chosen for chosen in choices if sum(weights[edge] for edge in chosen) == most]
    assert assignment(weights) == min(best, key=in_order)
    assert first_choices(weights) in (None, min(best, key=in_order))
    assert sum(weights[edge] for edge in hungarian(weights)) == most
    rows, columns = [row for row, _ in weights], [column for _, column in weights]
    assert Overlaps(rows, columns).best_matching([*weights.values()]) == most


def test_rows_or_columns_that_do_not_compete_need_no_solver() -> None:
    """Every row has its best column; every column has its best row; both rows want the first column most."""
    assert first_choices({(0, 0): 2, (0, 1): 1, (1, 0): 1, (1, 1): 2}) == [(0, 0), (1, 1)]
    assert first_choices({(0, 0): 1, (1, 0): 2, (1, 1): 1, (2, 1): 2}) == [(1, 0), (2, 1)]
    assert first_choices({(0, 0): 3, (0, 1): 2, (1, 0): 3, (1, 1): 1}) is None


similarities = st.sampled_from([0.5, 1.0, 1.5, 2.0]) | st.tuples(st.integers(1, 4), st.integers(4, 9)).map(
    lambda pair: 2 * pair[0] / sum(pair)
)


def optimal_in_one_number(candidates: Sequence[Candidate]) -> list[Edge]:
    """Similarity, whole points, pairs and order combined in one number, which grows with the number of candidates."""
    values = {(s, g): Fraction(-negative).limit_denominator(1 << 26) for negative, s, g, _ in candidates}
    chosen: list[Edge] = []
    for edges in components(values):
        unit = lcm(*(values[edge].denominator for edge in edges))
        first = 1 << len(edges)
        pair = first * (len(edges) + 1)
        whole = pair * (sum(floor(values[edge]) for edge in edges) + 1)
        chosen += hungarian(
            {
                edge: int(values[edge] * unit) * whole + floor(values[edge]) * pair + first + (first >> rank)
                for rank, edge in enumerate(edges, 1)
            }
        )
    return sorted(chosen)


@EXAMPLES
@given(st.dictionaries(st.tuples(st.integers(0, 6), st.integers(0, 6)), similarities, max_size=30))
def test_ties_of_similarity_are_decided_by_whole_points_pairs_and_order(alike: dict[Edge, float]) -> None:
    candidates = sorted((-value, s, g, 0) for (s, g), value in alike.items())
    assert sorted((s, g) for g, s, _, _ in optimal(candidates)) == optimal_in_one_number(candidates)


LIMITED = """
import resource

resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
import karat
from karat.corpus import MemoryCorpus
from karat.model import Document, Mention

sides = [
    MemoryCorpus(
        [
            Document(
                "d",
                mentions=tuple(
                    Mention(f"{side}{n}", ((0, 4),), attributes={"type": f"T{n % size}"}) for n in range(500)
                ),
            )
        ]
    )
    for side, size in (("gold", 7), ("system", 5))
]
print(karat.score(*sides, protocol="muc-5")["muc.type"].micro.counts.to_dict()["correct"])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sets no such limits")
def test_500_mentions_on_one_span() -> None:
    """Well within 30 seconds of CPU time and 2 GB: types T0 to T4 are there 72, 72, 72, 71, 71 times in gold."""
    done = subprocess.run([sys.executable, "-c", LIMITED], check=True, capture_output=True, text=True)
    assert int(done.stdout) == 72 + 72 + 72 + 71 + 71


def test_sums_are_exact_up_to_what_floating_point_holds() -> None:
    """One row more than there are, times two, times the heaviest weight and 1, stays below 2^53."""
    assert is_exact(1, 2**51 - 2)
    assert not is_exact(1, 2**51 - 1)
