"""Curves: the scores of a system that grows from nothing to gold, or turns from gold to chaos, piece by piece."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from random import Random
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from karat.arguments import argument_test
from karat.corpus.memory import MemoryCorpus
from karat.counts import ScoreValues
from karat.insight.records import no_line
from karat.model import Document, Pair
from karat.problems import KaratError, ignore
from karat.protocols import Protocol
from karat.report.tables import as_read
from karat.run.pairs import Preparation
from karat.run.plan import Options, Plan, unit_of
from karat.run.rows import DocumentRow
from karat.run.units import UnitTable, finish
from karat.simulate.profile import chance
from karat.studies.pieces import (
    Arguments,
    Clusters,
    Elements,
    Links,
    Mentions,
    Pieces,
    kinds_of_elements,
    undescribed,
    without_clusters,
    without_kind,
    without_links,
)

Documents = Sequence[Document]
Leaves = Mapping[str, ScoreValues]
"""The micro average of each measure, by id."""


class Bench:
    """A protocol, restricted to the measures to examine."""

    def __init__(self, protocol: Protocol, prefix: str) -> None:
        families = [
            choice
            for choice in protocol.families
            if f"{choice.name}.".startswith(prefix) or prefix.startswith(choice.name)
        ]
        self.protocol = replace(protocol, families=tuple(families))
        self.prefix = prefix
        self._rows: dict[object, tuple[Pair, DocumentRow]] = {}
        """The last row of each document: most systems change only one."""

    def swapped(self, gold: Documents, system: Documents, measures: tuple[str, ...]) -> Leaves:
        """Scores with the sides swapped; nothing if the system cannot serve as gold for the protocol."""
        try:
            return self.leaves(system, gold, measures, is_swapped=True)
        except KaratError:
            return {}

    def leaves(
        self,
        gold: Documents,
        system: Documents,
        measures: tuple[str, ...] = (),
        *,
        is_swapped: bool = False,
        is_read: bool = False,
    ) -> Leaves:
        """Score a system by these measures (empty: by all), without checks: documents were checked when read.

        If `is_read`, an F1 whose precision and recall are both 0 is 0, in composites as well.
        """
        facts = MemoryCorpus(gold).facts()
        plan = Plan(self.protocol, facts, facts, Options(measures))
        preparation = Preparation([self.protocol], ignore)
        rows = []
        for pair in map(Pair, gold, system):
            place = is_swapped, tuple(plan.measures.specs), tuple(plan.selected), pair.gold.id
            last = self._rows.get(place)
            if last is None or last[0] != pair:
                (prepared,) = preparation.prepare(pair, [0])
                last = self._rows[place] = pair, plan.row(prepared, no_line, ignore)
            rows.append(last[1])
        table = UnitTable(plan.measures, finish(plan.measures, rows, ignore))
        scores = {id_: score.micro for id_, score in table.scores().items()}
        if is_read:
            scores = {
                id_: replace(leaf, values={name: as_read(leaf, name) for name in leaf.values})
                for id_, leaf in scores.items()
            }
            scores = plan.measures.score_function.with_composites(scores)
        return {id_: scores[id_] for id_ in plan.selected if id_ in scores and id_.startswith(self.prefix)}


class Group(Struct, frozen=True):
    """Measures that depend on the same pieces."""

    pieces: Pieces
    measures: tuple[str, ...]


def groups(bench: Bench, gold: Sequence[Document]) -> list[Group]:
    """Group measures by the pieces they depend on: links, by kind; else clusters; else mentions.

    Measures do not declare this; it is found by removing pieces from gold. Links need clusters and clusters need
    mentions, so the first of the three whose removal changes the score is what the measure depends on. A measure that
    reads attributes of clusters depends on whole elements instead: of the first kind whose removal changes the score,
    relations and events before their arguments. A measure that depends on nothing is in no group.
    """
    whole = bench.leaves(gold, gold)
    result = list(_by_elements(bench, gold, whole))
    whole = {id_: leaf for id_, leaf in whole.items() if not any(id_ in group.measures for group in result)}
    kinds = sorted({link.kind for document in gold for link in document.links})
    moving: dict[str, list[str]] = {id_: [] for id_ in whole}
    for kind in kinds:
        for id_ in _moved(whole, bench.leaves(gold, [without_links(document, [kind]) for document in gold])):
            moving[id_].append(kind)
    by_links: dict[tuple[str, ...], list[str]] = {}
    for id_, moved in moving.items():
        if moved:
            by_links.setdefault(tuple(moved), []).append(id_)
    rest = [id_ for id_, moved in moving.items() if not moved]
    roles = {link.kind for document in gold for link in filter(argument_test(document), document.links)}
    for together, ids in by_links.items():
        pieces: Pieces = Links.of(gold, together) if roles.isdisjoint(together) else Arguments(gold, together)
        result.append(Group(pieces, tuple(ids)))
    by_clusters = _among(rest, _moved(whole, bench.leaves(gold, [without_clusters(document) for document in gold])))
    if by_clusters:
        units = [unit_of(document, bench.protocol) for document in gold]
        result += _scored(bench, Clusters(gold, units), by_clusters)
    silence = [replace(document, mentions=(), clusters=(), links=()) for document in gold]
    by_mentions = _among(rest, _moved(whole, bench.leaves(gold, silence)))
    by_mentions = _among(by_mentions, set(rest) - set(by_clusters))
    if by_mentions:
        result += _scored(bench, Mentions(gold), by_mentions)
    return result


def _scored(bench: Bench, pieces: Pieces, measures: Sequence[str]) -> list[Group]:
    """The measures that score these pieces alone: without links, some do not."""
    scored = _among(measures, bench.leaves(pieces.gold, pieces.gold))
    return [Group(pieces, scored)] if scored else []


def _by_elements(bench: Bench, gold: Sequence[Document], whole: Leaves) -> Iterator[Group]:
    """Measures that read the records of clusters."""
    rest = _moved(whole, bench.leaves(gold, [undescribed(document) for document in gold]))
    for kind in kinds_of_elements(gold) if rest else ():
        moved = _moved(whole, bench.leaves(gold, [without_kind(document, kind) for document in gold])) & rest
        if moved:
            yield Group(Elements(gold, kind), _among(list(whole), moved))
        rest -= moved


def _moved(before: Leaves, after: Leaves) -> set[str]:
    return {id_ for id_, leaf in before.items() if id_ not in after or leaf.to_dict() != after[id_].to_dict()}


def _among(measures: Sequence[str], chosen: Collection[str]) -> tuple[str, ...]:
    return tuple(id_ for id_ in measures if id_ in chosen)


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


def curve_of(
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
            yield id_, leaves[id_].main_value
