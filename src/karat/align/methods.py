"""How pairs are picked from the candidates."""

from collections.abc import Callable, Sequence

Method = Callable[[Sequence[tuple[float, int, int]]], list[tuple[int, int, float]]]
"""From candidates in the order of trial to the pairs chosen: (gold number, system number, similarity)."""


def greedy(candidates: Sequence[tuple[float, int, int]]) -> list[tuple[int, int, float]]:
    """One-to-one: walk the candidates once and take each whose two mentions are both still free."""
    gold_taken: set[int] = set()
    system_taken: set[int] = set()
    pairs: list[tuple[int, int, float]] = []
    for negative, s, g in candidates:
        if s not in system_taken and g not in gold_taken:
            system_taken.add(s)
            gold_taken.add(g)
            pairs.append((g, s, -negative))
    return pairs


METHODS: dict[str, Method] = {"greedy": greedy}
