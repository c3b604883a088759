"""Records of a result: items and outcomes as `--details` lists them, and errors of a system by class.

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
from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType, field, json

from karat.counts import Counts, Scores
from karat.model import Region, Value


def shown_place(span: Region, token_ids: Sequence[str] | None) -> str:
    """Return the token ids of a place, or else its segments."""
    return ",".join([f"{begin}-{end}" for begin, end in span] if token_ids is None else token_ids)


class MentionRecord(Struct, frozen=True, gc=False):
    """A mention as `--details` lists it."""

    id: str
    kind: str
    span: Region
    text: str | None
    """Its text, if that is known."""
    line: int | None
    """Its line in the file; None for a corpus in memory."""
    attributes: Mapping[str, Value]
    document: str | UnsetType = UNSET
    """Its document, if the unit of evaluation has several."""
    matched: Literal[False] | UnsetType = UNSET
    """False for a mention of a cluster that no mention of the other side is aligned with."""
    token_ids: tuple[str, ...] | UnsetType = UNSET
    """The ids of its tokens as the file writes them, if offsets are rows of a token table."""

    @property
    def place(self) -> str:
        """Its token ids, `t2,t3,t5`, or the segments of its span, `3-7,9-12`."""
        return shown_place(self.span, None if self.token_ids is UNSET else self.token_ids)


class ClusterRecord(Struct, frozen=True, gc=False):
    """A cluster with its mentions; the line is that of its first mention."""

    id: str
    kind: str
    line: int | None
    attributes: Mapping[str, Value]
    mentions: tuple[MentionRecord, ...]
    size: int
    """The number of its mentions that count."""


class LinkRecord(Struct, frozen=True, gc=False):
    """A link between two clusters, each with its mentions."""

    kind: str
    source: str = field(name="from")
    target: str = field(name="to")
    source_mentions: tuple[MentionRecord, ...] = field(name="from_mentions")
    target_mentions: tuple[MentionRecord, ...] = field(name="to_mentions")


class TreeRecord(Struct, frozen=True, gc=False):
    """A tree of events, from the root down."""

    id: str
    """Its root."""
    kind: str
    events: tuple[ClusterRecord, ...]


class ElementRecord(Struct, frozen=True, gc=False):
    """An item with attributes that is not a mention, a cluster, a link or a tree."""

    kind: str
    attributes: Mapping[str, Value]


Record = MentionRecord | ClusterRecord | LinkRecord | TreeRecord | ElementRecord


class OutcomeRecord(Struct, eq=False, gc=False):
    """An outcome of a measure as `--details` lists it. Records of mentions are shared by all measures."""

    unit: str
    document: str | None
    """None if its items may be in several documents of the unit."""
    outcome: str
    """`match`, `miss`, `spurious`, or a class that the family describes."""
    gold: Record | None
    system: Record | None
    counts: Counts

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        content: dict[str, Any] = json.decode(json.encode(self.contents()))
        return content

    def contents(self) -> dict[str, Any]:
        """The content that is encoded as JSON, with records in it."""
        return {
            "document": self.document,
            **({} if self.document == self.unit else {"unit": self.unit}),
            "outcome": self.outcome,
            "gold": self.gold,
            "system": self.system,
            "counts": self.counts.to_dict(),
        }


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
    """The analysis of one system's errors under one protocol."""

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
                "by_value": kind.name,
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
            for name, values in kind.by.items():
                for value, count in values.items():
                    content.setdefault(name, {}).setdefault(value, {})[key] = count
        return content
