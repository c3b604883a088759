"""The kinds of mentions to score."""

from karat.filters import both_sides, restricted, unchanged
from karat.model import Document
from karat.plugin import Comparison, Filter, PairTransform
from karat.problems import Report


class Kinds(Filter, frozen=True):
    """Keeps only mentions of these kinds; `all` keeps every mention."""

    keep: tuple[str, ...]

    def prepare(self, comparison: Comparison, report: Report) -> PairTransform:
        del comparison, report
        if "all" in self.keep:
            return unchanged
        keep = frozenset(self.keep)

        def kept(document: Document) -> Document:
            if keep.issuperset({mention.kind for mention in document.mentions}):
                return document
            return restricted(document, lambda mention: mention.kind in keep)

        return both_sides(kept)


FILTER = Kinds
