"""From sums to scores: what a protocol makes of the counts of any selection of units."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from karat.counts import Counts, Means, ScoreValues, fill_undefined, finish, mean, ratio_names
from karat.plugin import Averages, Composite
from karat.results import Score


class CountedRow(NamedTuple):
    """A measure whose counts are summed, and how its sums become scores."""

    id: str
    kind: type[Counts]
    averages: Averages
    has_macro: bool

    def width(self) -> int:
        """How many columns it has: its counts, and two per ratio for a macro average."""
        return self.macro_start() + 2 * len(ratio_names(self.kind)) * self.has_macro

    def macro_start(self) -> int:
        """How many columns come before those of the macro average."""
        return len(self.kind.__struct_fields__)


class ScoreFunction:
    """The scores of sums, one sum per column. It can be sent to another process."""

    def __init__(
        self,
        measures: Sequence[CountedRow],
        composites: Sequence[tuple[Composite, Averages]],
        ids: Collection[str] | None = None,
    ) -> None:
        """`ids` are the rows to return; None: all."""
        self._measures, self._composites, self._ids = measures, composites, ids
        starts = [0]
        for row in measures:
            starts.append(starts[-1] + row.width())
        self._places = [
            (row, start, start + row.macro_start(), end)
            for row, start, end in zip(measures, starts, starts[1:], strict=False)
        ]

    def __call__(self, sums: Sequence[float]) -> dict[str, Score]:
        """The micro average of each row, and its macro average if it has one."""
        micro: dict[str, ScoreValues] = {}
        macro: dict[str, ScoreValues] = {}
        for (id_, kind, averages, has_macro), start, middle, end in self._places:
            micro[id_] = finished_scores(kind(*sums[start:middle]), averages)
            if has_macro:
                macro[id_] = ScoreValues(mean(kind, sums[middle:end], undefined=averages.undefined))
            elif issubclass(kind, Means):
                macro[id_] = micro[id_]  # a mean over items
        micro, macro = self.with_composites(micro), self.with_composites(macro)
        return {id_: Score(one, macro.get(id_)) for id_, one in micro.items() if self._ids is None or id_ in self._ids}

    def with_composites(self, scores: dict[str, ScoreValues]) -> dict[str, ScoreValues]:
        """The scores, and the composites that can be computed from them."""
        for composite, averages in self._composites:
            if all(id_ in scores for id_ in composite.of):
                values = composite.combine([scores[id_] for id_ in composite.of])
                scores[composite.id] = ScoreValues(fill_undefined(values, undefined=averages.undefined))
        return scores

    def over(self, measures: Sequence[CountedRow]) -> "ScoreFunction":
        """The function for sums of other columns, with the same composites."""
        return ScoreFunction(measures, self._composites, self._ids)

    def only(self, ids: Collection[str]) -> tuple["ScoreFunction", list[int]]:
        """The function for some rows, and the numbers of the columns that it needs."""
        needed = set(ids)
        for composite, _ in reversed(self._composites):  # a composite comes after the rows it needs
            if composite.id in needed:
                needed.update(composite.of)
        places = [(row, range(start, end)) for row, start, _, end in self._places if row.id in needed]
        composites = [(one, averages) for one, averages in self._composites if one.id in needed]
        chosen = ScoreFunction([row for row, _ in places], composites, [*ids])
        return chosen, [column for _, columns in places for column in columns]


def finished_scores(counts: Counts, averages: Averages) -> ScoreValues:
    """The scores of some counts, with the protocol's value for an undefined ratio."""
    return ScoreValues(finish(counts, undefined=averages.undefined), counts)
