"""Element_Value: what an element's attributes are worth, alone or against those of another."""

from collections.abc import Mapping
from math import fsum, prod
from typing import Any

from karat.tables.ace.parameters import Detection, Recognition, worth

Attributes = Mapping[str, Any]


def inherent(parameters: Detection | Recognition, attributes: Attributes, epsilon: float) -> float:
    """The inherent value of a token: Π AttrValue(attribute), or in TERN Σ AttrValue over existing attributes."""
    weights = parameters.AttrValue.items()
    if parameters.W_err:
        return max(prod([worth(weight, attributes.get(name)) for name, weight in weights]), epsilon)
    return max(fsum([worth(weight, attributes[name]) for name, weight in weights if name in attributes]), epsilon)


def element_value(
    parameters: Detection | Recognition,
    gold: Attributes,
    system: Attributes,
    least: float,
    epsilon: float,
    charged: tuple[str, ...] = (),
) -> float:
    """Element_Value(sys) of a mapped token; `least` is the smaller of the two inherent values.

    EDR, VAL, RDR, VDR: min(Π AttrValue(sys), Π AttrValue(ref)) · Π W_err over attributes that differ (or are charged).
    TERN: Σ AttrValue over attributes that both have and that are the same.
    """
    if parameters.W_err:
        if gold == system and not charged:
            return least
        for name, weight in parameters.W_err.items():
            if gold.get(name) != system.get(name) or name in charged:
                least *= weight
        return least
    same = [
        worth(weight, gold[name]) * (1.0 if gold[name] == system[name] else epsilon)
        for name, weight in parameters.AttrValue.items()
        if name in gold and name in system
    ]
    return max(fsum(same), epsilon)
