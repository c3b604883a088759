"""Curves: the scores of a system that grows from nothing to gold, or goes from gold to chaos, piece by piece."""

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Literal

from msgspec import Struct

from karat.simulate.chance import chance
from karat.studies.bench import Bench, Leaves, headline
from karat.studies.pieces import Pieces

Direction = Literal["grow", "spoil"]


class Point(Struct, frozen=True):
    """One system on the way."""

    pieces: int
    """How many it has of those that are added."""
    added: str
    """The last of them; nothing at the start."""
    scores: dict[str, float | None]
    swapped: dict[str, float | None]
    """The scores with the two sides exchanged, of the measures that there are then."""


class Curve(Struct, frozen=True):
    """The scores on one way."""

    direction: Direction
    order: str
    """In which order pieces were added."""
    noun: str
    points: tuple[Point, ...]

    @property
    def pieces(self) -> int:
        """How many were added in all."""
        return self.points[-1].pieces

    @property
    def measures(self) -> tuple[str, ...]:
        """Whose curves these are."""
        return tuple(self.points[0].scores)

    def values(self, measure: str) -> list[float | None]:
        """The scores of one measure."""
        return [point.scores[measure] for point in self.points]


class Way(Struct, frozen=True):
    """Pieces in the order in which they are added."""

    direction: Direction
    order: str
    numbers: tuple[int, ...]


def ways(pieces: Pieces, *, orders: int, seed: int) -> Iterator[Way]:
    """Both directions, each from the last piece to the first and in so many orders by chance beside."""
    directions: tuple[tuple[Direction, int], ...] = (("grow", len(pieces.correct)), ("spoil", len(pieces.wrong)))
    for direction, count in directions:
        yield Way(direction, "from last to first", tuple(range(count)))
        for number in range(1, orders):
            numbers = _mixed(count, chance(seed, direction, f"{number}"))
            yield Way(direction, f"by chance ({seed}.{number})", numbers)


def _mixed(count: int, random: Random) -> tuple[int, ...]:
    """Numbers in an order by chance."""
    keys = [random.random() for _ in range(count)]
    return tuple(sorted(range(count), key=keys.__getitem__))


def curve(
    bench: Bench,
    pieces: Pieces,
    way: Way,
    measures: tuple[str, ...],
    *,
    steps: int,
    swap: bool,
    progress: Callable[[], None] | None = None,
) -> Curve:
    """Score each system on the way; with more pieces than steps, some are added together."""
    points = []
    names = pieces.correct if way.direction == "grow" else pieces.wrong
    for count in stops(len(way.numbers), steps):
        said = way.numbers[:count]
        right, wrong = (said, ()) if way.direction == "grow" else (range(len(pieces.correct)), said)
        system = pieces.system(right, wrong)
        there = bench.leaves(pieces.gold, system, measures)
        back = bench.exchanged(pieces.gold, system, measures) if swap else {}
        added = names[said[-1]] if said else ""
        points.append(Point(count, added, dict(_scores(there, measures)), dict(_scores(back, measures))))
        if progress is not None:
            progress()
    return Curve(way.direction, way.order, pieces.noun, tuple(points))


def stops(count: int, steps: int) -> list[int]:
    """After how many pieces a system is scored: after each if there are not more than `steps`, else evenly."""
    taken = min(count, steps)
    return [0] + [count * step // taken for step in range(1, taken + 1)]


def _scores(leaves: Leaves, measures: Sequence[str]) -> Iterator[tuple[str, float | None]]:
    for id_ in measures:
        if id_ in leaves:
            yield id_, headline(leaves[id_])
