"""Assignment of groups: the same as that of all members, one by one."""

from hypothesis import given
from hypothesis import strategies as st

from karat.align.assignment import assignment
from karat.align.grouped import grouped_assignment

GROUPS = st.lists(st.integers(0, 4), min_size=1, max_size=9)


@given(GROUPS, GROUPS, st.dictionaries(st.tuples(st.integers(0, 4), st.integers(0, 4)), st.integers(1, 3), min_size=1))
def test_groups_are_assigned_as_their_members(
    row_groups: list[int], column_groups: list[int], weights: dict[tuple[int, int], int]
) -> None:
    rows = {group: [n for n, own in enumerate(row_groups) if own == group] for group in set(row_groups)}
    columns = {group: [n for n, own in enumerate(column_groups) if own == group] for group in set(column_groups)}
    existing = {pair: weight for pair, weight in weights.items() if pair[0] in rows and pair[1] in columns}
    members = {(row, column): weight for (g, h), weight in existing.items() for row in rows[g] for column in columns[h]}
    assert grouped_assignment(existing, rows, columns) == assignment(members)
