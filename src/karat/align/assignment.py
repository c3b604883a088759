"""The best one-to-one assignment, exactly: weights are whole numbers of any size, so that ties can be decided."""

from collections.abc import Iterable, Mapping

Edge = tuple[int, int]


def assignment(weights: Mapping[Edge, int]) -> list[Edge]:
    """The pairs (row, column) of a one-to-one assignment with the greatest sum of weights (all positive), sorted.

    Each connected component is solved by itself, with the Hungarian method; rows may stay unassigned.
    """
    chosen: list[Edge] = []
    for edges in components(weights):
        if len(edges) == 1:
            chosen.extend(edges)
        else:
            chosen.extend(hungarian({edge: weights[edge] for edge in edges}))
    return sorted(chosen)


def components(edges: Iterable[Edge]) -> list[list[Edge]]:
    """Edges that hang together through their rows and columns."""
    listed = sorted(edges)
    parent = {column: column for _, column in listed}

    def root(column: int) -> int:
        while parent[column] != column:
            parent[column] = column = parent[parent[column]]
        return column

    first: dict[int, int] = {}
    for row, column in listed:
        anchor = first.setdefault(row, column)
        if anchor != column:  # the columns of a row hang together
            parent[root(anchor)] = root(column)
    found: dict[int, list[Edge]] = {}
    for row, column in listed:
        found.setdefault(root(column), []).append((row, column))
    return list(found.values())


def hungarian(weights: Mapping[Edge, int]) -> list[Edge]:
    """Shortest augmenting paths with prices (Kuhn 1955, Munkres 1957), along the edges that there are.

    Rows come one by one, and each takes the column that is worth most to it beyond its price. If another row holds
    that, the holders give way along the path on which least is lost; at its end is a free column, or a row that stays
    free, which is worth nothing.
    """
    columns_of: dict[int, list[tuple[int, int]]] = {}
    for (row, column), weight in weights.items():
        columns_of.setdefault(row, []).append((column, weight))
    price = {column: 0 for _, column in weights}
    profit: dict[int, int] = {}
    held: dict[int, int] = {}
    holder: dict[int, int] = {}
    for start, columns in columns_of.items():
        profit[start], best = max([(weight - price[column], column) for column, weight in columns])
        if best not in holder and profit[start] >= 0:
            held[start], holder[best] = best, start
            continue
        profit[start] = max(profit[start], 0)
        # Columns that can be reached, and those on the way: what is lost until there, and from which row.
        open_: dict[int, tuple[int, int]] = {}
        passed: dict[int, tuple[int, int]] = {}
        row, loss, losses = start, 0, {start: 0}
        stays, least = start, profit[start]
        while True:
            for column, weight in columns_of[row]:
                if column not in passed:
                    reached = loss + profit[row] - weight + price[column]
                    if column not in open_ or reached < open_[column][0]:
                        open_[column] = reached, row
            end = min(open_, key=open_.__getitem__, default=None)
            if end is None or open_[end][0] >= least:
                end = held.pop(stays, None)
                break
            loss = open_[end][0]
            passed[end] = open_.pop(end)
            if end not in holder:
                least = loss
                break
            row = holder[end]
            losses[row] = loss
            if loss + profit[row] < least:
                stays, least = row, loss + profit[row]
        for row, loss in losses.items():
            profit[row] -= least - loss
        for column, (loss, _) in passed.items():
            price[column] += least - loss
        while end is not None:
            row, column = passed[end][1], end
            end = held.get(row)
            held[row], holder[column] = column, row
    return list(held.items())
