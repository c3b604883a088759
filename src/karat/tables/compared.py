"""Relations between events, compared: which pairs of events of one side the other side has, too.

Events of the two sides that share a mention are twins. Where two events are each other's only twins they are mutual and
have the same number on both sides, so that sets of events, held as the bits of an integer, are compared at once.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice

from karat.counts import PrecisionRecall
from karat.tables.event_graph import Relation, as_bits, bits, grouped, related_to_any
from karat.tables.events import EventLink

TwinPair = tuple[int, int]
"""An event of gold and an event of the system that share a mention."""


class Twins:
    """Which events of the two sides share a mention."""

    def __init__(self, others: Sequence[TwinPair], mutual: frozenset[int]) -> None:
        self.mutual = mutual
        """Events that have one twin, which has no other: the same number on both sides."""
        self.gold = grouped(others)
        """The twins of all other events of gold that have any."""
        self.system = grouped((other, one) for one, other in others)

    def in_system(self, event: int) -> Sequence[int]:
        """The system's events that share a mention with one of gold's."""
        return (event,) if event in self.mutual else self.gold.get(event, ())

    def in_gold(self, event: int) -> Sequence[int]:
        """Gold's events that share a mention with one of the system's."""
        return (event,) if event in self.mutual else self.system.get(event, ())


class Compared:
    """A relation of each side, compared.

    Two pairs of events are the same if their first events share a mention and their second events share one.
    """

    def __init__(self, twins: Twins, gold: Relation, system: Relation) -> None:
        self.twins = twins
        self.gold = gold
        self.system = system

    @cached_property
    def counts(self) -> PrecisionRecall:
        """The pairs of each side that the other has, over all of them."""
        # A number that both sides use is that of mutual events, so that equal bits are equal pairs.
        equal = self.gold.common(self.system)
        recalled, precise = equal + self._gold_by_twins().size(), equal + self._system_by_twins().size()
        return PrecisionRecall(precise, self.system.size(), recalled, self.gold.size())

    def _gold_by_twins(self) -> Relation:
        """What the system's relation has of gold's, but not with equal numbers."""
        return _found_by_twins(self.gold, self.system, self.twins.gold)

    def _system_by_twins(self) -> Relation:
        return _found_by_twins(self.system, self.gold, self.twins.system)

    def pairs(self) -> Iterator[tuple[EventLink | None, EventLink | None, PrecisionRecall]]:
        """Each pair of gold and of the system, the two together where neither is the same as any other."""
        for pair in self.gold.pairs():
            same = self._same_in_system(pair)
            if len(same) == 1 and len(self._same_in_gold(same[0])) == 1:
                yield pair, same[0], PrecisionRecall(1, 1, 1, 1)
            else:
                yield pair, None, PrecisionRecall(0, 0, len(same) > 0, 1)
        for pair in self.system.pairs():
            same = self._same_in_gold(pair)
            if not (len(same) == 1 and len(self._same_in_system(same[0])) == 1):
                yield None, pair, PrecisionRecall(len(same) > 0, 1, 0, 0)

    def events(self) -> Iterator[tuple[int | None, int | None, PrecisionRecall]]:
        """The pairs that begin with an event, event by event; mutual events together."""
        golds, systems = (
            {
                event: ((related & other.get(event, 0) | by_twins.get(event, 0)).bit_count(), related.bit_count())
                for event, related in own.items()
            }
            for own, other, by_twins in (
                (self.gold, self.system, self._gold_by_twins()),
                (self.system, self.gold, self._system_by_twins()),
            )
        )
        for event, recall in golds.items():
            if event in self.twins.mutual:
                yield event, event, PrecisionRecall(*systems.pop(event, (0, 0)), *recall)
            else:
                yield event, None, PrecisionRecall(0, 0, *recall)
        for event, precision in systems.items():
            yield None, event, PrecisionRecall(*precision, 0, 0)

    def _same_in_system(self, pair: EventLink) -> list[EventLink]:
        source, target = pair
        return _same(self.twins.in_system(source), self.twins.in_system(target), self.system)

    def _same_in_gold(self, pair: EventLink) -> list[EventLink]:
        source, target = pair
        return _same(self.twins.in_gold(source), self.twins.in_gold(target), self.gold)


def _same(sources: Sequence[int], targets: Sequence[int], relation: Relation) -> list[EventLink]:
    """The pairs of these events that are related; of more than two, the first two."""
    return [*islice(relation.among(sources, targets), 2)]


def _found_by_twins(own: Relation, other: Relation, twins: Mapping[int, Sequence[int]]) -> Relation:
    """Pairs of one side that the other has, where one of the two events has several twins, or a twin that has."""
    found = Relation()
    if twins:
        wanted = {event: as_bits(others) for event, others in twins.items()}
        mixed = as_bits(twins)
        for event, related in own.items():
            if event in twins:
                there = related_to_any(other, twins[event])
                equal = related & there
            elif related & mixed:
                there, equal = other.get(event, 0), 0
            else:
                continue
            by_twins = [end for end in bits(related & mixed) if there & wanted[end]] if there else []
            if equal or by_twins:
                found[event] = equal | as_bits(by_twins)
    return found
