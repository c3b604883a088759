"""Agreement of attributes."""

from collections.abc import Callable, Sequence
from functools import lru_cache

from karat.model import Mention, Value
from karat.plugin import Comparison


def agreement(
    gold: Sequence[Mention], system: Sequence[Mention], names: Sequence[str], comparison: Comparison
) -> Callable[[int, int], int]:
    """A function from a system and a gold mention (by number) to the attributes that agree, one bit per name."""
    bits_of = [(name, 1 << number) for number, name in enumerate(names)]
    every = (1 << len(names)) - 1

    def agreeing(s: int, g: int) -> int:
        gold_values, system_values = gold[g].attributes, system[s].attributes
        if gold_values == system_values:
            return every
        bits = 0
        for name, bit in bits_of:
            expected, actual = gold_values.get(name), system_values.get(name)
            if expected == actual or _agree(comparison, name, expected, actual):
                bits |= bit
        return bits

    return agreeing


@lru_cache(maxsize=4096)
def _agree(comparison: Comparison, attribute: str, gold: Value | None, system: Value | None) -> bool:
    return comparison.agrees(attribute, gold, system)
