"""Singletons that leave a document before its mentions are aligned."""

from collections import Counter
from typing import ClassVar, Literal

from karat.errors import Report, Rule
from karat.filters import restricted, unchanged
from karat.model import Document, Pair
from karat.plugin import Comparison, CorpusTransform, Filter, PairTransform

REMOVED = Rule("singletons-removed", "note", "Do not compare with scores that include singletons.")


class Singletons(Filter, frozen=True):
    """Removes the singletons of each document, on each side by its own clusters: they can take part in no match.

    A cluster is a singleton if it has one mention in the document. (Coreference measures can also drop singletons of
    the corpus after alignment: `singletons` of the family `coref`.)
    """

    drops_singletons: ClassVar[bool] = True

    keep: Literal["keep", "drop-each"] = "keep"

    def prepare(self, comparison: Comparison, report: Report) -> PairTransform:
        """Remove and count singletons."""
        del comparison, report
        return unchanged if self.keep == "keep" else _Removal()


class _Removal(CorpusTransform):
    """Counts what it removes."""

    merges = True
    pair_by_pair = True

    def __init__(self) -> None:
        self._removed = [0, 0]
        self._all = [0, 0]

    def __call__(self, pair: Pair) -> Pair:
        """The pair without singletons."""
        return Pair(self._side(0, pair.gold), self._side(1, pair.system))

    def _side(self, side: int, document: Document) -> Document:
        sizes = Counter([mention.cluster for mention in document.mentions])
        kept = restricted(document, lambda mention: mention.cluster is not None and sizes[mention.cluster] > 1)
        self._all[side] += len(document.mentions)
        self._removed[side] += len(document.mentions) - len(kept.mentions)
        return kept

    def merge(self, later: "_Removal") -> None:
        """Add the counts of later pairs."""
        for side in (0, 1):
            self._all[side] += later._all[side]
            self._removed[side] += later._removed[side]

    def finish(self, report: Report) -> None:
        """Report how many were removed."""
        if any(self._removed):
            gold, system = (
                f"{removed:,} of {every:,}" for removed, every in zip(self._removed, self._all, strict=True)
            )
            message = f"singletons are removed before mentions are matched: {gold} gold mentions"
            report(REMOVED.at(f"{message}, {system} system mentions"))


FILTER = Singletons
