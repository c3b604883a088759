"""How pairs are chosen from candidates in the order of trial."""

from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from math import floor, lcm

from karat.align.assignment import Edge, assignment, components
from karat.plugin import Candidate, Match, Matching
from karat.registry import Registry, function, named


def greedy(candidates: Sequence[Candidate]) -> list[Match]:
    """One-to-one: walk the candidates once and take each whose two mentions are both still free."""
    gold_taken: set[int] = set()
    system_taken: set[int] = set()
    pairs: list[Match] = []
    for negative, s, g, agreeing in candidates:
        if s not in system_taken and g not in gold_taken:
            system_taken.add(s)
            gold_taken.add(g)
            pairs.append((g, s, -negative, agreeing))
    return pairs


def many_to_one(candidates: Sequence[Candidate]) -> list[Match]:
    """Each system mention goes to its best gold mention, which may hold several (Liu et al. 2015, Algorithm 1).

    The paper's loop does not take the best pair off its list; here, as in the programs, it does.
    """
    system_taken: set[int] = set()
    pairs: list[Match] = []
    for negative, s, g, agreeing in candidates:
        if s not in system_taken:
            system_taken.add(s)
            pairs.append((g, s, -negative, agreeing))
    return pairs


def optimal(candidates: Sequence[Candidate]) -> list[Match]:
    """One-to-one with the greatest sum of similarities; ties: more exact pairs, more pairs, then system line order.

    Exact pairs (equal spans, correct slots) have whole points. The sum, these points and the number of pairs are
    combined in one whole number, each weighing more than all after it together.
    """
    return _optimal({(s, g): (negative, s, g, agreeing) for negative, s, g, agreeing in candidates}, floor)


def gold_first(candidates: Sequence[Candidate]) -> list[Match]:
    """One-to-one with the greatest sum of similarities; ties: more pairs, then gold mentions in order.

    Each gold mention takes the first system mention that it can have.
    """
    return _optimal({(g, s): (negative, s, g, agreeing) for negative, s, g, agreeing in candidates})


def no_points(similarity: Fraction) -> int:
    """None, for matchings that prefer no similarity to others of the same sum."""
    del similarity
    return 0


def _optimal(by_ends: Mapping[Edge, Candidate], points: Callable[[Fraction], int] = no_points) -> list[Match]:
    """The candidates, by their ends, with the greatest sum of similarities; then of points, then most pairs."""
    weights: dict[Edge, int] = {}
    for edges in components(by_ends):
        values = [-by_ends[edge][0] for edge in edges]
        most = min(len({row for row, _ in edges}), len({column for _, column in edges}))
        weight_of = worth(set(values), most, points)
        weights |= {edge: weight_of[value] for edge, value in zip(edges, values, strict=True)}
    chosen = sorted(by_ends[edge] for edge in assignment(weights))
    return [(g, s, -negative, agreeing) for negative, s, g, agreeing in chosen]


def worth(similarities: Collection[float], most: int, points: Callable[[Fraction], int]) -> dict[float, int]:
    """A weight for each similarity: first the similarity itself counts, then points, then the number of pairs.

    `most` says how many pairs there can be.
    """
    # Similarities are fractions of lengths: the nearest one with a small denominator is the exact one.
    exact = {value: Fraction(value).limit_denominator(1 << 26) for value in similarities}
    unit = lcm(*{value.denominator for value in exact.values()})
    pair = most + 1
    whole = pair * (most * max(map(points, exact.values()), default=0) + 1)
    return {value: int(one * unit) * whole + points(one) * pair + 1 for value, one in exact.items()}


MATCHINGS: Registry[Matching] = Registry(
    "karat.matchings",
    "matching",
    own=lambda: named(gold_first=gold_first, greedy=greedy, many_to_one=many_to_one, optimal=optimal),
    accept=function,
)
