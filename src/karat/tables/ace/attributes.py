"""Element_Value: what an element's attributes are worth, alone or against those of another."""

from collections.abc import Mapping
from math import fsum, prod
from typing import Any

from karat.tables.ace.parameters import Detection, Recognition, worth

Attributes = Mapping[str, Any]


def inherent(parameters: Detection | Recognition, attributes: Attributes, epsilon: float) -> float:
    """The inherent value of a token: Π AttrValue(attribute), or in TERN Σ AttrValue over existing attributes."""
    if parameters.W_err:
        product = prod([worth(weights, attributes.get(name)) for name, weights in parameters.AttrValue.items()])
        return max(product, epsilon)
    existing = [
        worth(weights, attributes[name]) for name, weights in parameters.AttrValue.items() if name in attributes
    ]
    return max(fsum(existing), epsilon)


def element_value(
    parameters: Detection | Recognition,
    gold: Attributes,
    system: Attributes,
    epsilon: float,
    charged: tuple[str, ...] = (),
) -> float:
    """Element_Value(sys) of a mapped token.

    EDR, VAL, RDR, VDR: min(Π AttrValue(sys), Π AttrValue(ref)) · Π W_err over attributes that differ (or are charged).
    TERN: Σ AttrValue over attributes that both have and that are the same.
    """
    if not parameters.W_err:
        return max(
            fsum(
                worth(weights, gold[name]) * (1.0 if gold[name] == system[name] else epsilon)
                for name, weights in parameters.AttrValue.items()
                if name in gold and name in system
            ),
            epsilon,
        )
    least = min(inherent(parameters, gold, epsilon), inherent(parameters, system, epsilon))
    for name, weight in parameters.W_err.items():
        if gold.get(name) != system.get(name) or name in charged:
            least *= weight
    return least
