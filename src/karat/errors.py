"""Errors of a system by class: how often each occurs, where, and what the score would be without it.

analysis = result.errors                         made with `karat.score(..., errors=True)`
for measure in analysis.measures:                one per family that was analysed
    measure.id, measure.score                    `nugget.type+realis`, its scores as the system is
    for kind in measure.classes:                 sorted by what repairing the class gains
        kind.name, kind.count, kind.share        `wrong type`, 12, 0.31
        kind.fixed["f1"]                         the score of the system with only this class repaired
        for instance in kind.instances:          where: document, gold's items, the system's items
            instance.document, instance.gold, instance.system
    for confusion in measure.confusions:         gold values by system values of an attribute
        confusion.attribute, confusion.cells
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, json

from karat.counts import Scores
from karat.records import Record

Cell = tuple[str | None, str | None]
"""A gold value and a system value; None where one side has no item: missed, or spurious."""


class Instance(Struct, frozen=True, gc=False):
    """One error: the items of both sides that it is about. A side that has none is empty."""

    unit: str
    document: str | None
    """None if its items are in several documents."""
    gold: tuple[Record, ...]
    system: tuple[Record, ...]
    outcomes: int = 1
    """The number of outcomes that it explains: a mention of the wrong type is a miss and a spurious mention."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, with records as in `--details`."""
        content: dict[str, Any] = json.decode(
            json.encode({"document": self.document, "unit": self.unit, "gold": self.gold, "system": self.system})
        )
        return content


class ErrorClass(Struct, frozen=True):
    """A kind of error."""

    name: str
    """Such as `missed` or `divided entity`."""
    explanation: str
    """An explanation in one sentence."""
    count: int
    fixed: Scores
    """The scores of the system if all errors of this class, and no others, were repaired; None where undefined."""
    share: float | None
    """The gain of its repair, as a share of the lost score: (fixed - score) / (1 - score). None if nothing was lost.

    Shares need not add up to 1: an item may need two repairs, and F1 is not a sum.
    """
    instances: Sequence[Instance] = ()
    by: Mapping[str, Mapping[str, int]] = {}
    """With `--by`: how often it occurs for each value of each field."""
    why_not: str = ""
    """Why the repaired system cannot be scored, if it cannot."""

    def to_dict(self, *, instances: bool = False) -> dict[str, Any]:
        """As in the JSON; with `--details`, every instance."""
        content: dict[str, Any] = {"count": self.count, "share": self.share, "fixed": dict(self.fixed)}
        if self.why_not:
            content["why_not"] = self.why_not
        return content | ({"instances": [instance.to_dict() for instance in self.instances]} if instances else {})


class Confusion(Struct, frozen=True):
    """Counts of gold values of an attribute that met system values. Every mention of either side counts once."""

    attribute: str
    cells: Mapping[Cell, int]

    def to_dict(self) -> dict[str, Any]:
        """Gold values with the system values they met; then the values of missed and of spurious mentions."""
        confused: dict[str, dict[str, int]] = {}
        missed: dict[str, int] = {}
        spurious: dict[str, int] = {}
        for (gold, system), count in self.cells.items():
            if gold is not None and system is not None:
                confused.setdefault(gold, {})[system] = count
            elif gold is not None:
                missed[gold] = count
            elif system is not None:
                spurious[system] = count
        return {"confusion": confused, "missed": missed, "spurious": spurious}


class MeasureErrors(Struct, frozen=True):
    """The errors behind one measure."""

    id: str
    """The measure whose score is given: the headline of its family, or the one that was asked for."""
    score: Scores
    """Its scores as the system is."""
    main: str
    """The name of the score that shares are of, such as f1."""
    classes: tuple[ErrorClass, ...]
    """All classes of its family, also those without errors; what gains most comes first."""
    confusions: tuple[Confusion, ...] = ()

    def found(self) -> list[ErrorClass]:
        """The classes that occur."""
        return [kind for kind in self.classes if kind.count]


class ErrorAnalysis(Struct, frozen=True):
    """Where the points of one system under one protocol went."""

    measures: tuple[MeasureErrors, ...]
    is_listed: bool = False
    """Reports list every error."""

    def __getitem__(self, name: str) -> ErrorClass:
        classes = {key: kind for key, _, kind in self._keyed()}
        try:
            return classes[name]
        except KeyError:
            raise KeyError(f"there is no error class {name!r}; there are {', '.join(classes)}") from None

    def _keyed(self) -> list[tuple[str, MeasureErrors, ErrorClass]]:
        """Each class under a name of its own: after its measure, if several measures have a class of that name."""
        every = [(measure, kind) for measure in self.measures for kind in measure.classes]
        names = [kind.name for _, kind in every]
        return [
            (kind.name if names.count(kind.name) == 1 else f"{measure.id}: {kind.name}", measure, kind)
            for measure, kind in every
        ]

    def to_dict(self) -> dict[str, Any]:
        """The JSON under `errors`: for each class its measure, count, share and fixed scores."""
        keyed = self._keyed()
        return {key: {"measure": measure.id, **kind.to_dict(instances=self.is_listed)} for key, measure, kind in keyed}

    def to_dicts(self) -> list[dict[str, Any]]:
        """One row per class, for pandas or polars."""
        return [
            {
                "by": "error",
                "value": kind.name,
                "measure": measure.id,
                "average": "micro",
                **kind.fixed,
                "count": kind.count,
                "share": kind.share,
            }
            for measure in self.measures
            for kind in measure.classes
        ]

    def confusions(self) -> dict[str, Any]:
        """The JSON under `confusions`: matrices by measure and attribute."""
        return {
            measure.id: {confusion.attribute: confusion.to_dict() for confusion in measure.confusions}
            for measure in self.measures
            if measure.confusions
        }

    def by(self) -> dict[str, dict[str, dict[str, int]]]:
        """The JSON under `errors_by`: for each field and value, how often each class occurs."""
        content: dict[str, dict[str, dict[str, int]]] = {}
        for key, _, kind in self._keyed():
            for field, values in kind.by.items():
                for value, count in values.items():
                    content.setdefault(field, {}).setdefault(value, {})[key] = count
        return content
