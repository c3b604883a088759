"""Measures of pairs of events: links (MUCp), siblings, and links with non-links (BLANCp)."""

from collections.abc import Iterator
from math import fsum

from msgspec.structs import astuple

from karat.counts import Counts, PrecisionRecall, Ratio, harmonic
from karat.errors import Finding
from karat.measures._hierarchy_base import (
    C,
    ClassRule,
    HierarchyMeasure,
    compared_links,
    link_outcome,
    undefined,
    undefined_outcome,
)
from karat.plugin import ClusterItem, Outcome
from karat.tables.compared import Compared
from karat.tables.hierarchy import Hierarchy

NONE = PrecisionRecall(0, 0, 0, 0)


class LinkClasses(Counts, frozen=True):
    """Links and non-links, each with what precision and recall are made of."""

    link_precision_num: float
    link_precision_den: float
    link_recall_num: float
    link_recall_den: float
    nonlink_precision_num: float
    nonlink_precision_den: float
    nonlink_recall_num: float
    nonlink_recall_den: float
    undefined: float
    """Documents whose two sides do not have the same events: with one of them the whole is undefined."""

    def classes(self) -> list[PrecisionRecall]:
        """Links and non-links, without a class that neither side has."""
        numbers = astuple(self)
        both = [PrecisionRecall(*numbers[:4]), PrecisionRecall(*numbers[4:8])]
        return [one for one in both if self.counts_in(one)]

    def counts_in(self, one: PrecisionRecall) -> bool:
        """Whether a class counts."""
        return bool(one.recall_den or one.precision_den)

    def ratios(self) -> dict[str, Ratio]:
        """The means over the classes; of a class that one side lacks everything is 0."""
        known = [] if self.undefined else self.classes()
        values = [[ratio.value for ratio in one.ratios().values()] for one in known]
        return {
            "precision": Ratio(fsum(precision or 0.0 for precision, _ in values), len(known)),
            "recall": Ratio(fsum(recall or 0.0 for _, recall in values), len(known)),
            "f1": Ratio(fsum(harmonic(*both) or 0.0 for both in values), len(known)),
        }


class GoldLinkClasses(LinkClasses, frozen=True):
    """The same, but a class that gold lacks is left out (Recasens and Hovy 2011)."""

    def counts_in(self, one: PrecisionRecall) -> bool:
        """Whether gold has it."""
        return bool(one.recall_den)


EDGES: dict[ClassRule, type[LinkClasses]] = {"symmetric": LinkClasses, "gold": GoldLinkClasses}


class LinkMeasure(HierarchyMeasure[PrecisionRecall], frozen=True):
    """Links, or other pairs of events, that both sides have."""

    def counts_type(self) -> type[PrecisionRecall]:
        """Precision and recall."""
        return PrecisionRecall


class Mucp(LinkMeasure, frozen=True):
    """Links that both sides have, their direction included."""

    name = "mucp"

    def count_document(self, table: Hierarchy) -> PrecisionRecall:
        """Links found on the other side, over all links."""
        return compared_links(table, transitive=self.parameters.transitive).counts

    def document_outcomes(self, table: Hierarchy) -> Iterator[Outcome[PrecisionRecall]]:
        """Each link: matched, missed or spurious."""
        yield from self.link_outcomes((table,))


class Siblings(LinkMeasure, frozen=True):
    """Pairs of events with a common parent."""

    name = "siblings"

    def count_document(self, table: Hierarchy) -> PrecisionRecall:
        """Pairs found on the other side, over all pairs."""
        return PrecisionRecall(*(number // 2 for number in astuple(table.siblings.counts)))

    def document_outcomes(self, table: Hierarchy) -> Iterator[Outcome[PrecisionRecall]]:
        """Each pair once: matched, missed or spurious."""
        for gold, system, counts in table.siblings.pairs():
            first, second = gold or system or (0, 0)
            if first < second:
                yield link_outcome(table, "siblings", gold, system, counts, counts)


class Blancp(HierarchyMeasure[LinkClasses], frozen=True):
    """Links and non-links of the same events; or else, if the protocol says so, each side's own."""

    name = "blancp"

    def counts_type(self) -> type[LinkClasses]:
        """Links and non-links."""
        return EDGES[self.parameters.edge]

    def count_document(self, table: Hierarchy) -> LinkClasses:
        """Links, and the other ordered pairs of events."""
        if self._is_undefined(table):
            return self._counts(undefined=1)
        links = compared_links(table, transitive=self.parameters.transitive).counts
        if table.same_events:  # non-links are counted without making them: 4 % of the benchmark's time
            pairs = table.gold.size * (table.gold.size - 1)
            rest = pairs - links.precision_den - links.recall_den + links.recall_num
            nonlinks = PrecisionRecall(rest, pairs - links.precision_den, rest, pairs - links.recall_den)
        else:
            nonlinks = self._nonlinks(table).counts
        return self._counts(links, nonlinks)

    def document_outcomes(self, table: Hierarchy) -> Iterator[Outcome[LinkClasses]]:
        """Each link: matched, missed or spurious; the non-links from each event together."""
        if self._is_undefined(table):
            yield undefined_outcome(table, self._counts(undefined=1))
            return
        for gold, system, counts in compared_links(table, transitive=self.parameters.transitive).pairs():
            yield link_outcome(table, self.link, gold, system, counts, self._counts(links=counts))
        for gold_event, system_event, counts in self._nonlinks(table).events():
            yield _event_outcome(table, gold_event, system_event, counts, self._counts(nonlinks=counts))

    def _is_undefined(self, table: Hierarchy) -> bool:
        return self.parameters.twinless == "undefined" and not table.same_events

    def _nonlinks(self, table: Hierarchy) -> Compared:
        links = compared_links(table, transitive=self.parameters.transitive)
        return Compared(table.twins, table.gold.apart(links.gold), table.system.apart(links.system))

    def _counts(
        self, links: PrecisionRecall = NONE, nonlinks: PrecisionRecall = NONE, *, undefined: int = 0
    ) -> LinkClasses:
        numbers = (*astuple(links), *astuple(nonlinks), undefined)
        return self.counts_type()(*numbers)

    def remarks(self, table: tuple[Hierarchy, ...], counts: LinkClasses) -> Iterator[Finding]:
        """The documents that leave the whole without a score."""
        for document in table if counts.undefined else ():
            if self._is_undefined(document):
                yield undefined(self.id, document, _why_not_same(document))


def _event_outcome(
    table: Hierarchy, gold: int | None, system: int | None, earned: PrecisionRecall, counts: C
) -> Outcome[C]:
    """The pairs that begin with an event."""
    right, every = earned.precision_num + earned.recall_num, earned.precision_den + earned.recall_den
    return Outcome(
        None if gold is None else ClusterItem(table.gold.key(gold), table.gold.mentions(gold)),
        None if system is None else ClusterItem(table.system.key(system), table.system.mentions(system)),
        counts,
        "match" if right == every else "partial" if right else "miss" if system is None else "spurious",
        table.document,
    )


def _why_not_same(table: Hierarchy) -> str:
    lacking = f"the system lacks {table.gold_only:,} of gold's mentions, gold {table.system_only:,} of the system's"
    if not table.gold_only and not table.system_only:
        lacking = "the same mentions make other events"
    return f"has not the same events on both sides: {lacking}"
