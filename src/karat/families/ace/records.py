"""Records that the formulas read: elements of a document, their mentions and arguments, and pairs of them.

The plan's words are kept: a token is what an element has in one document, `own` is a value against itself, and
`unmapped` the (negative) value of what is mapped to nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from karat.model import Boxes, Mention, Region, Value

Weight = Annotated[float, Meta(ge=0, le=1e6)]
"""A finite number, at least 0."""
Weights = dict[str, Weight]

DETECTED = ("entity", "value", "time")
"""Kinds of elements that are valued by their mentions, and that can be arguments of the others."""
ARGUED = ("relation", "event")
"""Kinds of elements that are valued by their arguments."""

PLURALS = {"entity": "entities", "value": "values", "time": "times", "relation": "relations", "event": "events"}


class DetectionParameters(Struct, frozen=True, forbid_unknown_fields=True):
    """Tables 12 (EDR), 13 (VAL) and 14 (TERN)."""

    AttrValue: dict[str, Weights | Weight]
    """For each attribute with inherent value: what its values are worth, all alike or each by itself."""
    W_FA: Weight
    W_M_FA: Weight
    W_M_CR: Weight
    min_overlap: Weight
    W_err: Weights = {}
    """For each attribute: the share of the value that is left if it is wrong. Without any, values are sums (TERN)."""
    MTypeValue: Weights | Weight = 1.0
    W_Merr: Weights = {}
    min_text_match: Weight = 0.0


class RecognitionParameters(Struct, frozen=True, forbid_unknown_fields=True):
    """Tables 17 (RDR) and 20 (VDR)."""

    AttrValue: dict[str, Weights | Weight]
    W_err: Weights
    W_FA: Weight
    W_err_role: Weight
    W_A_FA: Weight
    symmetric: tuple[str, ...] = ()
    """Types in which Arg-1 and Arg-2 may be exchanged (footnote 21)."""


READINGS = ("plan", "nist")
"""Whose formulas a protocol can name."""
TABLES = ("EDR", "VAL", "TERN", "RDR", "VDR")


class Parameters(Struct, frozen=True, forbid_unknown_fields=True):
    """Parameters that a protocol gives to the family."""

    reading: str
    """Whose formulas: those of the plan, or those of NIST's scorer."""
    EDR: DetectionParameters
    """Weights of entities: Table 12 of the plan."""
    VAL: DetectionParameters
    """Weights of values: Table 13."""
    TERN: DetectionParameters
    """Weights of temporal expressions: Table 14."""
    RDR: RecognitionParameters
    """Weights of relations: Table 17."""
    VDR: RecognitionParameters
    """Weights of events: Table 20."""
    sets: dict[str, dict[str, dict[str, Any]]] = {}
    """Named sets of parameters: what each changes in the tables above."""
    parameters: str = "DEFAULT"
    """The set that is used."""
    weighting: Literal["level", "mention"] = "level"
    """Mentions_Value of entities: weighted by level, or the sum over mentions."""
    mapping: Literal["arguments", "extents", "both", "either", "all", "all+extents"] = "arguments"
    """Condition for relations and events to be mapped (Tables 15 and 18)."""
    relation_arguments: Literal["0", "1", "both"] = "both"
    """The number of Arg-1 and Arg-2 that must be mappable (Table 17)."""
    argument_scoring: Literal["overlapping", "mapped"] = "overlapping"
    """Condition for arguments: corresponding, or mapped to each other as elements (Tables 16 and 19)."""
    averaging: Literal["arithmetic", "geometric"] = "arithmetic"
    """Arguments_Value: the sum over arguments, or their product."""

    def __post_init__(self) -> None:
        """Check names, and that every set fits the tables, whichever is chosen."""
        if self.reading not in READINGS:
            raise ValueError(f"there is no reading {self.reading!r}; there are {' and '.join(READINGS)}")
        if self.parameters not in ("DEFAULT", *self.sets):
            raise ValueError(f"there is no set of parameters {self.parameters!r}")
        for changes in self.sets.values():
            self._changed(changes)

    def chosen(self) -> "Parameters":
        """Return the parameters with the tables as the chosen set changes them."""
        return self._changed(self.sets.get(self.parameters, {}))

    def weights(self) -> dict[str, dict[str, Any]]:
        """Return the weights of each task, as the chosen set has them."""
        chosen = self.chosen()
        return {task: msgspec.to_builtins(getattr(chosen, task)) for task in TABLES}

    def _changed(self, changes: dict[str, dict[str, Any]]) -> "Parameters":
        tables = {task: msgspec.to_builtins(getattr(self, task)) for task in TABLES}
        for task, fields in changes.items():
            if task not in tables:
                raise ValueError(f"a set of parameters changes {task!r}, which is not one of {', '.join(tables)}")
            tables[task] |= fields
        return msgspec.convert(msgspec.to_builtins(self) | tables | {"sets": {}, "parameters": "DEFAULT"}, Parameters)


def lacks(side: str, kind: str) -> str:
    """The sentence that one side has no element of a kind."""
    return f"{side} has no {PLURALS[kind]}"


def value_of(weights: Weights | float, value: object) -> float:
    """AttrValue or MTypeValue of a value: its own number, that of `*`, or 0."""
    if isinstance(weights, float):
        return weights
    weight = weights.get(str(value))
    return weights.get("*", 0.0) if weight is None else weight


Location = Region | Boxes

MAIN_ROLES = ("Arg-1", "Arg-2")
"""The roles of the two arguments that a relation is asserted of."""


class Argument(Struct, frozen=True, gc=False):
    """An element that plays a role in a relation or an event."""

    role: str
    kind: str
    element: str
    """The id of the element, or of the mention that was promoted to one."""


class Element(Struct, gc=False, eq=False):
    """An entity, value, time, relation or event: what it is, where it is mentioned, and its arguments."""

    id: str
    kind: str
    attributes: Mapping[str, Value]
    mentions: Sequence[Mention]
    inherent: float
    """Element_Value against itself; a promoted mention has that of its element."""
    arguments: Sequence[Argument] = ()
    parent: str | None = None
    """The element that this one was a mention of, before it was promoted."""
    heads: Location = ()
    """Of a promoted relation mention: from the first to the last head of Arg-1 and Arg-2, or their boxes."""
    names: Sequence[Location] = ()
    """Places of the names of an entity; a promoted mention has those of its entity."""


class ScoredMention(Struct, gc=False, eq=False):
    """A mention of an entity, value or time with what it is worth."""

    mention: Mention
    element: int
    """The index of its element."""
    region: Location
    """Its head, or the extent of a value or time."""
    size: float
    type_value: float
    """MTypeValue."""
    own: float
    """MMV against itself."""
    attributes: Mapping[str, Value] = {}
    """Attributes of W_Merr that it has, in its order."""
    unmapped: float = 0.0
    """MMV if it is unmapped, once it is known whether it corresponds to a reference mention."""


class Correspondence(Struct, frozen=True, gc=False):
    """Two mentions that may be mapped to each other, by their indexes."""

    gold: int
    system: int
    mmv: float
    """MMV(mention_sys) if they are mapped to each other."""
    overlap: float
    """mutual_overlap."""


class ElementToken(Struct, frozen=True, gc=False):
    """An entity, value or time as one document has it."""

    element: Element
    level: float
    """MTypeValue of its level."""
    own: float
    """Σ MMV of its mentions against themselves."""
    unmapped: float
    """Σ MMV of its mentions if they are all unmapped."""


class ElementPair(Struct, frozen=True, gc=False):
    """Two tokens with a mention in correspondence, under the best mapping of their mentions."""

    element_value: float
    mmv: float
    """Σ MMV over the system token's mentions, mapped and unmapped."""
    own: float
    """Σ MMV of the gold token's mentions against themselves."""
    overlap: float
    mapped: list[Correspondence]


class RelationToken(Struct, frozen=True, gc=False):
    """A relation or event with the documents that mention it."""

    element: Element
    documents: Sequence[str]
    arguments: Sequence[Argument]
    own_values: list[float]
    """Value(arg, arg) of each argument."""
    own_total: float
    """Their sum."""
    value: float
    """Value(token) against itself."""


class ArgumentPair(Struct, frozen=True, gc=False):
    """Two arguments that may be in correspondence."""

    value: float
    """Value(arg_sys, arg_ref)."""
    role_weight: float
    """W_err-role where their roles differ, else 1."""

    @property
    def preference(self) -> float:
        """The weight by which the best mapping is found."""
        return self.role_weight


class RelationCandidate(Struct, frozen=True, gc=False):
    """Two relations or events that may have a basis for correspondence."""

    gold: RelationToken
    system: RelationToken
    arguments: Mapping[tuple[int, int], ArgumentPair]
    """Arguments (system, gold) in correspondence, by their indexes."""
    overlap: float
    """The overlap of their mention extents."""


class RelationPair(Struct, frozen=True, gc=False):
    """Two relations or events that may be mapped to each other."""

    value: float
    arguments: dict[int, int]
    """Indexes of gold arguments, and of the system arguments they are mapped to."""


def differing(names: Iterable[str], gold: Element, system: Element) -> list[str]:
    """The attributes, of those named, in which two elements differ."""
    if gold.attributes == system.attributes:
        return []
    return [name for name in names if gold.attributes.get(name) != system.attributes.get(name)]


def wrong_mention_attributes(gold: ScoredMention, system: ScoredMention) -> list[str]:
    """The attributes of W_Merr that two mentions both have and in which they differ."""
    if gold.attributes == system.attributes:
        return []
    return [name for name, value in gold.attributes.items() if system.attributes.get(name, value) != value]
