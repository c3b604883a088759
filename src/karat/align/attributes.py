"""When two attribute values agree."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from karat.model import Mention, Value


class Comparison(Struct, frozen=True, forbid_unknown_fields=True):
    """How a protocol compares attribute values. An absent value equals only an absent value."""

    form: Literal["exact", "canonical"] = "exact"
    """`canonical`: only letters and digits count, and not their case."""
    wildcard: str | None = None
    """A gold value that agrees with anything; in the system it is an ordinary value."""

    def key(self, value: Value | None) -> Value | None:
        """What is compared in place of the value."""
        return _canonical(value) if self.form == "canonical" and isinstance(value, str) else value


@lru_cache(maxsize=4096)
def _canonical(value: str) -> str:
    """Letters and digits of any script, casefolded: `Life_Die`, `life:DIE` and `<LIFE DIE>` are one value."""
    return "".join(filter(str.isalnum, value)).casefold()


def agreement(
    gold: Sequence[Mention], system: Sequence[Mention], names: Sequence[str], comparison: Comparison
) -> Callable[[int, int], int]:
    """For a system and a gold mention: which attributes agree, as a bit for each name."""
    gold_keys = [[comparison.key(mention.attributes.get(name)) for name in names] for mention in gold]
    system_keys = [[comparison.key(mention.attributes.get(name)) for name in names] for mention in system]
    wildcard = None if comparison.wildcard is None else comparison.key(comparison.wildcard)
    bits = [1 << position for position in range(len(names))]

    def agreeing(s: int, g: int) -> int:
        mask = 0
        for bit, wanted, found in zip(bits, gold_keys[g], system_keys[s], strict=True):
            if wanted == found or (wanted == wildcard and wanted is not None):
                mask |= bit
        return mask

    return agreeing
