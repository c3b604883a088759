"""When two attribute values agree."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from karat.model import Mention, Value


class Comparison(Struct, frozen=True, forbid_unknown_fields=True, cache_hash=True):
    """How a protocol compares attribute values. An absent value equals only an absent value."""

    form: Literal["exact", "canonical"] = "exact"
    """`canonical`: only letters and digits count, and not their case."""
    wildcard: str | None = None
    """A gold value that agrees with anything; in the system it is an ordinary value."""

    def key(self, value: Value | None) -> Value | None:
        """What is compared in place of the value."""
        return _canonical(value) if self.form == "canonical" and isinstance(value, str) else value

    def agrees(self, gold: Value | None, system: Value | None) -> bool:
        """Whether the system's value is right."""
        key = self.key(gold)
        return key == self.key(system) or (key is not None and key == self.key(self.wildcard))


@lru_cache(maxsize=4096)
def _canonical(value: str) -> str:
    """Letters and digits of any script, casefolded: `Life_Die`, `life:DIE` and `<LIFE DIE>` are one value."""
    return "".join(filter(str.isalnum, value)).casefold()


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
