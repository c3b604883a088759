"""When two attribute values agree."""

from collections.abc import Callable, Sequence
from functools import lru_cache

from karat.model import Mention, Value
from karat.plugin import Comparison


def agreement(
    gold: Sequence[Mention], system: Sequence[Mention], names: Sequence[str], comparison: Comparison
) -> Callable[[int, int], int]:
    """For a system and a gold mention: which attributes agree, as a bit for each name."""
    bits_of = [(name, 1 << number) for number, name in enumerate(names)]
    every = (1 << len(names)) - 1

    def agreeing(s: int, g: int) -> int:
        wanted, found = gold[g].attributes, system[s].attributes
        if wanted == found:
            return every
        bits = 0
        for name, bit in bits_of:
            value, other = wanted.get(name), found.get(name)
            if value == other or _agree(comparison, value, other):
                bits |= bit
        return bits

    return agreeing


@lru_cache(maxsize=4096)
def _agree(comparison: Comparison, gold: Value | None, system: Value | None) -> bool:
    return comparison.agrees(gold, system)
