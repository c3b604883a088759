"""Curves: the scores of a system that grows from nothing to gold, or turns from gold to chaos, piece by piece."""

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Literal

from msgspec import Struct

from karat.simulate.chance import chance
from karat.studies.bench import Bench, Leaves, headline
from karat.studies.pieces import Pieces

Direction = Literal["grow", "spoil"]


class Point(Struct, frozen=True):
    """One system of a curve."""

    pieces: int
    """The number of pieces added so far."""
    added: str
    """The last piece added; empty at the start."""
    scores: dict[str, float | None]
    swapped: dict[str, float | None]
    """The scores with the two sides swapped, for the measures that are defined then."""


class Curve(Struct, frozen=True):
    """The scores while pieces are added in one order."""

    direction: Direction
    order: str
    """The order in which pieces are added."""
    noun: str
    points: tuple[Point, ...]

    @property
    def pieces(self) -> int:
        """The number of pieces."""
        return self.points[-1].pieces

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures that were scored."""
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
    """Both directions, each from the last piece to the first, and in random orders."""
    directions: tuple[tuple[Direction, int], ...] = (("grow", len(pieces.correct)), ("spoil", len(pieces.wrong)))
    for direction, count in directions:
        yield Way(direction, "from last to first", tuple(range(count)))
        for number in range(1, orders):
            numbers = _mixed(count, chance(seed, direction, f"{number}"))
            yield Way(direction, f"random order ({seed}.{number})", numbers)


def _mixed(count: int, random: Random) -> tuple[int, ...]:
    """Numbers in random order."""
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
    """Score each system of the curve; if there are more pieces than steps, several are added at once."""
    points = []
    names = pieces.correct if way.direction == "grow" else pieces.wrong
    for count in stops(len(way.numbers), steps):
        numbers = way.numbers[:count]
        right, wrong = (numbers, ()) if way.direction == "grow" else (range(len(pieces.correct)), numbers)
        system = pieces.system(right, wrong)
        scores = bench.leaves(pieces.gold, system, measures)
        swapped = bench.swapped(pieces.gold, system, measures) if swap else {}
        added = names[numbers[-1]] if numbers else ""
        points.append(Point(count, added, dict(_scores(scores, measures)), dict(_scores(swapped, measures))))
        if progress is not None:
            progress()
    return Curve(way.direction, way.order, pieces.noun, tuple(points))


def stops(count: int, steps: int) -> list[int]:
    """After how many pieces a system is scored: after each one, or at `steps` even distances if there are more."""
    taken = min(count, steps)
    return [0] + [count * step // taken for step in range(1, taken + 1)]


def _scores(leaves: Leaves, measures: Sequence[str]) -> Iterator[tuple[str, float | None]]:
    for id_ in measures:
        if id_ in leaves:
            yield id_, headline(leaves[id_])
