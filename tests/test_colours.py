"""Refinement of ordered partitions: the same order as computing every label in every round."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.tables import colours
from karat.tables.colours import Colours

Graph = dict[int, set[int]]


def by_rounds(graph: Graph, labels: dict[int, int]) -> dict[int, int]:
    """Every label in every round, until nothing changes."""

    def ranked(keys: dict[int, Any]) -> dict[int, int]:
        order = sorted({repr(key): key for key in keys.values()}.values())
        return {node: order.index(key) for node, key in keys.items()}

    colour = ranked(labels)
    while True:
        finer = ranked({node: (own, sorted(colour[other] for other in graph[node])) for node, own in colour.items()})
        if finer == colour:
            return colour
        colour = finer


def by_changes(graph: Graph, labels: dict[int, int]) -> dict[int, int]:
    partition = Colours(labels)
    moved = list(graph)
    touched = set(graph)
    while moved:
        moved = partition.split(touched, lambda node: sorted(map(partition.of.__getitem__, graph[node])))
        touched = {other for node in moved for other in graph[node]}
    return partition.ranks()


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Graph, dict[int, int]]:
    count = draw(st.integers(1, 14))
    nodes = st.integers(0, count - 1)
    graph: Graph = {node: set() for node in range(count)}
    for one, other in draw(st.lists(st.tuples(nodes, nodes), max_size=24)):
        graph[one].add(other)
        graph[other].add(one)
    return graph, {node: draw(st.integers(0, 1)) for node in range(count)}


@given(graphs())
def test_the_order_is_that_of_all_labels_in_all_rounds(drawn: tuple[Graph, dict[int, int]]) -> None:
    assert by_changes(*drawn) == by_rounds(*drawn)


def test_colours_are_spread_when_no_number_is_left_between_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(colours, "GAP", 2)
    graph = {node: {other for other in (node - 1, node + 1) if 0 <= other < 60} for node in range(60)}
    labels = dict.fromkeys(graph, 0)
    assert by_changes(graph, labels) == by_rounds(graph, labels)
