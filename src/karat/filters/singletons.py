"""Singletons that leave a document before its mentions are aligned."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import ClassVar, Literal

from karat.filters import both_sides, restricted, unchanged
from karat.model import Document, Pair
from karat.plugin import Comparison, Filter, PairTransform
from karat.problems import Finding, Report, Rule

REMOVED = Rule("singletons-removed", "note", "Do not compare with scores that include singletons.")


class Singletons(Filter, frozen=True):
    """Removes the singletons of each document, on each side by its own clusters: they can take part in no match.

    A cluster is a singleton if it has one mention in the document. (Coreference measures can also drop singletons of
    the corpus after alignment: `singletons` of the family `coref`.)
    """

    drops_singletons: ClassVar[bool] = True

    keep: Literal["keep", "drop-each"] = "keep"

    def prepare(self, comparison: Comparison, report: Report) -> PairTransform:
        del comparison, report
        return unchanged if self.keep == "keep" else both_sides(_without_singletons)

    def observe(self, pair: Pair, left: Pair) -> tuple[int, int, int, int] | None:
        """Return how many mentions gold has, how many of them are left, and the same for the system."""
        if self.keep == "keep":
            return None
        sides = (pair.gold, left.gold, pair.system, left.system)
        gold, gold_left, system, system_left = (len(side.mentions) for side in sides)
        return gold, gold_left, system, system_left

    def across(self, observed: Mapping[str, tuple[int, int, int, int]]) -> Iterator[Finding]:
        """Report how many mentions were removed."""
        gold, gold_left, system, system_left = map(sum, zip(*observed.values(), strict=True))
        if gold != gold_left or system != system_left:
            message = f"singletons are removed before mentions are matched: {gold - gold_left:,} of {gold:,}"
            message += f" gold mentions, {system - system_left:,} of {system:,} system mentions"
            yield REMOVED.at(message)


def _without_singletons(document: Document) -> Document:
    sizes = Counter([mention.cluster for mention in document.mentions])
    return restricted(document, lambda mention: mention.cluster is not None and sizes[mention.cluster] > 1)


FILTER = Singletons
