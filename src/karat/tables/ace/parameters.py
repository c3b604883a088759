"""Parameters of the value models: Tables 12 to 20 of the plan, field for field, and how its silences are read.

In a table of values `*` stands for every value that is not named.
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

Weight = Annotated[float, Meta(ge=0, le=1e6)]
"""A number that is one, and not below nothing."""
Weights = dict[str, Weight]


class Detection(Struct, frozen=True, forbid_unknown_fields=True):
    """Tables 12 (EDR), 13 (VAL) and 14 (TERN)."""

    AttrValue: dict[str, Weights | Weight]
    """For each attribute with inherent value: what its values are worth, all alike or each by itself."""
    W_FA: Weight
    W_M_FA: Weight
    W_M_CR: Weight
    min_overlap: Weight
    W_err: Weights = {}
    """For each attribute: what is left of the value if it is wrong. Without any, values are sums (TERN)."""
    MTypeValue: Weights | Weight = 1.0
    W_Merr: Weights = {}
    min_text_match: Weight = 0.0


class Recognition(Struct, frozen=True, forbid_unknown_fields=True):
    """Tables 17 (RDR) and 20 (VDR)."""

    AttrValue: dict[str, Weights | Weight]
    W_err: Weights
    W_FA: Weight
    W_err_role: Weight
    W_A_FA: Weight
    symmetric: tuple[str, ...] = ()
    """Types in which Arg-1 and Arg-2 may be exchanged (footnote 21)."""


class Readings(Struct, frozen=True, forbid_unknown_fields=True):
    """Where the plan's text and NIST's program differ; each is told by `karat explain ace`."""

    epsilon: Weight = 0.0
    """What the program adds to break ties, and in place of nothing at all."""
    assignment: Literal["optimal", "forced"] = "optimal"
    """`forced`: a table with one row takes its cheapest column, and a full one leaves hardly a row free."""
    conditions: Literal["mappable", "mapped"] = "mappable"
    """Whether conditions on arguments ask for some one-to-one mapping, or look at the one that was found."""
    defaults: dict[str, dict[str, str]] = {}
    """For each kind: what an element has where it lacks an attribute."""
    absent_role: Literal["absent", "type"] = "absent"
    """The role of an entity mention that has none: no role, or the type of its entity."""
    text_match: Literal["characters", "bytes"] = "characters"
    """Which texts are compared: those of the heads, or their bytes in capitals, in ASCII only letters and digits."""
    swapped: Literal["apart", "charged"] = "apart"
    """Arg-1 against Arg-2 in an asymmetric relation: not in correspondence, or at the cost of type and subtype."""
    argumentless: Literal["unmappable", "by-extent"] = "unmappable"
    """Whether a reference without arguments may be mapped under the condition `arguments`, by its extent."""
    unmapped: Literal["weighted", "whole"] = "weighted"
    """The arguments of an unmapped element count with W_A-FA, or in full."""
    absent_kind: Literal["scored", "left-out"] = "scored"
    """A kind that one side lacks altogether: scored, or no row; what only the system has is then worth nothing."""
    promoted_value: Literal["one", "reference"] = "one"
    """The value of an argument in RMD and VMD: 1 if its score is not 0, or the reference's."""
    promoted_mapping: Literal["parent", "none"] = "parent"
    """What a promoted argument is mapped to: what its element is mapped to, or nothing ever."""
    promoted_arguments: Literal["mentions", "elements"] = "mentions"
    """Whether two mentions of one element in one role of a reference mention are two arguments, or one."""
    promoted_spans: Literal["overlap", "touch"] = "overlap"
    """Whether the spans of the heads of two relation mentions must overlap, or only touch."""


class Values(Struct, frozen=True, forbid_unknown_fields=True):
    """All of them, as a protocol gives them."""

    EDR: Detection
    VAL: Detection
    TERN: Detection
    RDR: Recognition
    VDR: Recognition
    readings: Readings = Readings()

    def changed(self, changes: dict[str, dict[str, Any]]) -> "Values":
        """With other values in some places: what a named set of parameters says."""
        whole = msgspec.to_builtins(self)
        for task, fields in changes.items():
            if task not in whole:
                raise ValueError(f"a set of parameters changes {task!r}, which is none of {', '.join(whole)}")
            whole[task] = whole[task] | fields
        return msgspec.convert(whole, Values)

    def detection(self, kind: str) -> Detection:
        """The table for a kind of element that has mentions and no arguments."""
        return {"entity": self.EDR, "value": self.VAL, "time": self.TERN}[kind]

    def recognition(self, kind: str) -> Recognition:
        """The table for a kind of element that has arguments."""
        return {"relation": self.RDR, "event": self.VDR}[kind]


DETECTED = ("entity", "value", "time")
"""Kinds that are arguments of the others."""
ARGUED = ("relation", "event")
"""Kinds that have arguments."""


def worth(weights: Weights | float, value: object) -> float:
    """AttrValue or MTypeValue of a value: what is said of it, or of all others; else nothing."""
    if isinstance(weights, float):
        return weights
    found = weights.get(str(value))
    return weights.get("*", 0.0) if found is None else found
