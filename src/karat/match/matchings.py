"""Matchings: methods that choose pairs among candidates, which are in the order of trial (see `match.alignment`)."""

from collections.abc import Callable, Mapping, Sequence
from math import floor, lcm
from typing import TYPE_CHECKING

from karat.plugin import Candidate, Match, Matching
from karat.registry import Registry, function, named

if TYPE_CHECKING:
    from fractions import Fraction

    from karat.match.assignment import Edge


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

    Exact pairs (equal spans, correct slots) have whole points.
    """
    return _optimal({(s, g): (negative, s, g, agreeing) for negative, s, g, agreeing in candidates}, floor)


def gold_first(candidates: Sequence[Candidate]) -> list[Match]:
    """One-to-one with the greatest sum of similarities; ties: more pairs, then gold mentions in order.

    Each gold mention takes the first system mention that it can have.
    """
    return _optimal({(g, s): (negative, s, g, agreeing) for negative, s, g, agreeing in candidates}, lambda _: 0)


def equally_good(candidates: Sequence[Candidate]) -> list[list[Match]]:
    """Other choices with the same sum of similarities and number of pairs, if there are any: from the last mentions on.

    In one of them, gold mentions choose in reverse order; in the other, each takes the last system mention.
    """
    if len({s for _, s, _, _ in candidates}) == len({g for _, _, g, _ in candidates}) == len(candidates):
        return []
    best, others = sorted(gold_first(candidates)), []
    for gold_sign, system_sign in ((-1, 1), (1, -1)):
        turned = [(value, system_sign * s, gold_sign * g, agreeing) for value, s, g, agreeing in candidates]
        pairs = [(gold_sign * g, system_sign * s, value, agreeing) for g, s, value, agreeing in gold_first(turned)]
        if sorted(pairs) != best:
            others.append(pairs)
    return others


def _optimal(by_ends: "Mapping[Edge, Candidate]", points: "Callable[[Fraction], int]") -> list[Match]:
    """Choose the candidates with the greatest sum of similarities, then of points, then the most pairs."""
    from fractions import Fraction

    from karat.match.assignment import assignment, components

    weights: dict[Edge, int] = {}
    for edges in components(by_ends):
        # Similarities are fractions of lengths: the nearest one with a small denominator is the exact one.
        exact = {value: Fraction(value).limit_denominator(1 << 26) for value in {-by_ends[edge][0] for edge in edges}}
        # One integer for each similarity, in which each part weighs more than all after it together.
        unit = lcm(*{value.denominator for value in exact.values()})
        most = min(len({row for row, _ in edges}), len({column for _, column in edges}))
        pair = most + 1
        whole = pair * (most * max(map(points, exact.values())) + 1)
        weight = {key: int(value * unit) * whole + points(value) * pair + 1 for key, value in exact.items()}
        weights |= {edge: weight[-by_ends[edge][0]] for edge in edges}
    chosen = sorted(by_ends[edge] for edge in assignment(weights))
    return [(g, s, -negative, agreeing) for negative, s, g, agreeing in chosen]


MATCHINGS: Registry[Matching] = Registry(
    "karat.matchings",
    "matching",
    own=lambda: named(gold_first=gold_first, greedy=greedy, many_to_one=many_to_one, optimal=optimal),
    accept=function,
)
