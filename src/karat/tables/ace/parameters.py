"""Parameters of the value models: Tables 12 to 20 of the plan, field for field, and the options that it leaves open.

In a table of values `*` stands for every value that is not named.
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

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


class ValueParameters(Struct, frozen=True, forbid_unknown_fields=True):
    """The tables of all five value models."""

    EDR: DetectionParameters
    VAL: DetectionParameters
    TERN: DetectionParameters
    RDR: RecognitionParameters
    VDR: RecognitionParameters

    def changed(self, changes: dict[str, dict[str, Any]]) -> "ValueParameters":
        """The tables with the changes of a named set of parameters."""
        tables = msgspec.to_builtins(self)
        for task, fields in changes.items():
            if task not in tables:
                raise ValueError(f"a set of parameters changes {task!r}, which is none of {', '.join(tables)}")
            tables[task] = tables[task] | fields
        return msgspec.convert(tables, ValueParameters)


Weighting = Literal["level", "mention"]
MappingCondition = Literal["arguments", "extents", "both", "either", "all", "all+extents"]
RelationArguments = Literal["0", "1", "both"]
ArgumentScoring = Literal["overlapping", "mapped"]
Averaging = Literal["arithmetic", "geometric"]


class AceOptions(Struct, frozen=True):
    """Options that the plan leaves to the user."""

    weighting: Weighting
    """Mentions_Value of entities: level-weighted or mention-weighted."""
    mapping: MappingCondition
    """Tables 15 and 18."""
    relation_arguments: RelationArguments
    """Table 17: how many of Arg-1 and Arg-2 must be mappable."""
    argument_scoring: ArgumentScoring
    """Tables 16 and 19: whether arguments must be mapped to each other as elements."""
    averaging: Averaging
    """Arguments_Value: a sum or a product."""


def lacks(side: str, kind: str) -> str:
    """The sentence that one side has no element of a kind."""
    return f"{side} has no {PLURALS[kind]}"


def value_of(weights: Weights | float, value: object) -> float:
    """AttrValue or MTypeValue of a value: its own number, that of `*`, or 0."""
    if isinstance(weights, float):
        return weights
    weight = weights.get(str(value))
    return weights.get("*", 0.0) if weight is None else weight
