"""Assignment of groups: the same as that of all members, one by one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.align.assignment import assignment
from karat.align.grouped import grouped_assignment
from karat.tables.sharing import Groups, Limit, alike, assigned

GROUPS = st.lists(st.integers(0, 4), min_size=1, max_size=9)
EXAMPLES = settings(max_examples=400)


@pytest.mark.slow
@EXAMPLES
@given(GROUPS, GROUPS, st.dictionaries(st.tuples(st.integers(0, 4), st.integers(0, 4)), st.integers(1, 3), min_size=1))
def test_groups_are_assigned_as_their_members(
    row_groups: list[int], column_groups: list[int], weights: dict[tuple[int, int], int]
) -> None:
    rows = {group: [n for n, own in enumerate(row_groups) if own == group] for group in set(row_groups)}
    columns = {group: [n for n, own in enumerate(column_groups) if own == group] for group in set(column_groups)}
    existing = {pair: weight for pair, weight in weights.items() if pair[0] in rows and pair[1] in columns}
    members = {(row, column): weight for (g, h), weight in existing.items() for row in rows[g] for column in columns[h]}
    assert grouped_assignment(existing, rows, columns) == assignment(members)


@given(st.lists(st.text("ab", max_size=3), max_size=7), st.lists(st.text("ab", max_size=3), max_size=7))
def test_items_that_share_parts_are_assigned_as_all_pairs(rows: list[str], columns: list[str]) -> None:
    """Strings of letters, by the letters that they share."""
    groups = Groups(rows, set), Groups(columns, set)
    weights = {pair: len({*one} & {*other}) for pair, one, other in alike(*groups, Limit("d", "pairs"))}
    pairs = {
        (r, c): len({*one} & {*other})
        for r, one in enumerate(rows)
        for c, other in enumerate(columns)
        if {*one} & {*other}
    }
    chosen = assigned(weights, *groups)
    assert [pair for pair, _ in chosen] == assignment(pairs)
    assert all(weights[own] == pairs[pair] for pair, own in chosen)
