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
            chosen.extend(_hungarian({edge: weights[edge] for edge in edges}))
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


def _hungarian(weights: Mapping[Edge, int]) -> list[Edge]:
    """Shortest augmenting paths with potentials (Kuhn 1955, Munkres 1957), on costs that are negative weights.

    Row and column 0 are dummies of the method; each row has one more column of its own, of weight 0: staying free.
    """
    rows = sorted({row for row, _ in weights})
    columns = sorted({column for _, column in weights})
    size = len(columns) + len(rows)
    worst = sum(weights.values()) + 1
    cost = [
        [-weights[row, column] if (row, column) in weights else worst for column in columns]
        + [0 if free == row else worst for free in rows]
        for row in rows
    ]
    of_rows, of_columns = [0] * (len(rows) + 1), [0] * (size + 1)
    holder, way = [0] * (size + 1), [0] * (size + 1)
    for row in range(1, len(rows) + 1):
        holder[0], column = row, 0
        least: list[int | None] = [None] * (size + 1)
        used = [False] * (size + 1)
        while holder[column]:
            used[column] = True
            here = holder[column]
            delta, nearest = None, 0
            for other in range(1, size + 1):
                if used[other]:
                    continue
                reduced = cost[here - 1][other - 1] - of_rows[here] - of_columns[other]
                known = least[other]
                if known is None or reduced < known:
                    least[other], way[other], known = reduced, column, reduced
                if delta is None or known < delta:
                    delta, nearest = known, other
            assert delta is not None, "a row can always stay free"
            for other in range(size + 1):
                if used[other]:
                    of_rows[holder[other]] += delta
                    of_columns[other] -= delta
                else:
                    known = least[other]
                    least[other] = None if known is None else known - delta
            column = nearest
        while column:
            holder[column] = holder[way[column]]
            column = way[column]
    return [
        (rows[holder[column] - 1], columns[column - 1])
        for column in range(1, len(columns) + 1)
        if holder[column] and (rows[holder[column] - 1], columns[column - 1]) in weights
    ]
