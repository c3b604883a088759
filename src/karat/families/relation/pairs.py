"""Pairs of mentions with a label, of gold and of the system: the table that measures of relations count."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Literal

from msgspec import Struct

from karat.families.relation.links import BothRelations, Relations, SideRelations
from karat.match.mentions import TIME, Number
from karat.model import Mention
from karat.plugin import RelationItem, Rule, Tables, TableSpec, Tally
from karat.problems import Origin

OUTSIDE = Rule("relation-outside", "note", "No action needed; the protocol scores given pairs.")
UNPLACED = Rule("relation-unplaced", "note", "Give spans to mentions whose relations should count.")
WITH_TIME = Rule("relation-with-time", "note", "No action needed; causal and subevent relations are between events.")

Candidates = Literal["mentions", "gold", "links"]
"""Pairs that count: all pairs of gold's mentions, those that gold labels, or those that either side labels."""
Direction = Literal["written", "gold", "file", "text"]
"""The direction in which a pair is read.

written  as it is written; the two directions are two pairs
gold     as gold writes it; a pair that gold lacks, as the system does
file     in the order of gold's mentions
text     from the earlier to the later first token, by the spans of each side; without that, the link is dropped
"""
Key = tuple[Number, Number] | tuple[Number, Number, str]
"""A pair in its direction; with its label, if one pair may have several."""
Labels = Mapping[Key, str]
ByLabel = dict[str, list[tuple[Number, Number]]]
IsBackwards = Callable[[Number, Number], bool | None]


class LabelledPairs(Struct, frozen=True):
    """The label of each pair on both sides."""

    relations: Relations
    gold: Labels
    system: Labels
    candidates: int
    """How many pairs count, labelled or not."""
    outside: int
    """Links of the system on pairs that do not count."""
    unplaced: int
    """Links of both sides that have no place in the text."""
    with_time: int
    """Links of both sides with a time where only events are related."""

    def item(self, side: Origin, key: Key, label: str) -> RelationItem | None:
        """A pair as an item of an outcome; None if the side does not have both mentions."""
        mentions = (self.relations.gold if side == "gold" else self.relations.system).mentions
        source, target = mentions.get(key[0]), mentions.get(key[1])
        return None if source is None or target is None else RelationItem(label, source, target)

    def notes(self) -> Iterator[Tally]:
        """Yield what is not counted."""
        yield from self.relations.notes()
        if self.outside:
            yield Tally(OUTSIDE, "relations of the system between other mentions or pairs than gold's", self.outside)
        if self.unplaced:
            yield Tally(UNPLACED, "relations whose mentions have no span, or begin at one place", self.unplaced)
        if self.with_time:
            yield Tally(WITH_TIME, "causal or subevent relations with a time that are ignored", self.with_time)


class PairTable(TableSpec[LabelledPairs], Struct, frozen=True, cache_hash=True):
    """The labels of pairs."""

    links: BothRelations
    labels: tuple[str, ...]
    """The labels that are read; of two on a pair, the later one counts."""
    read_as: tuple[tuple[str, str], ...] = ()
    """Labels that are read as another one."""
    inverse: tuple[tuple[str, str], ...] = ()
    """Labels, each with that of the same relation in the other direction; all others are symmetric."""
    candidates: Candidates = "links"
    direction: Direction = "written"
    several: bool = False
    """True: a pair may have several labels, each a relation of its own."""
    times: bool = True
    """False: only events are related."""

    errors_of = "relations"

    @property
    def relations(self) -> tuple[str, ...]:
        """The kinds of links that it reads."""
        read_as = dict(self.read_as)
        return tuple(kind for kind in self.links.kinds if read_as.get(kind, kind) in self.labels)

    def make(self, tables: Tables) -> LabelledPairs:
        """Turn each pair into its direction and choose its label."""
        relations = tables.get(self.links)
        sides = [self._read(relations.gold), self._read(relations.system)]
        given = read = sum(map(_size, sides))
        if not self.times:
            sides = [_of_events(sides[0], relations.gold), _of_events(sides[1], relations.system)]
            read = sum(map(_size, sides))
        if self.direction == "text":
            of_mentions = relations.gold.mentions, relations.system.mentions
            sides = [self._turned(side, _by_place(mentions)) for side, mentions in zip(sides, of_mentions, strict=True)]
        elif self.direction != "written":
            written = [{*chain(*side.values())} for side in sides] if self.direction == "gold" else []
            sides = [self._turned(side, _as_written(written)) for side in sides]
        unplaced = read - sum(map(_size, sides))
        gold, system = (self._chosen(side) for side in sides)
        counted = system
        if self.candidates == "gold":
            counted = {key: label for key, label in system.items() if key in gold}
        elif self.candidates == "mentions" and not all(map(relations.is_golds, relations.system.mentions)):
            counted = {key: label for key, label in system.items() if all(map(relations.is_golds, key[:2]))}
        pairs = len(gold)
        if self.candidates == "mentions":
            number = sum(self.times or mention.kind != TIME for mention in relations.gold.mentions.values())
            pairs = number * (number - 1) // (1 if self.direction == "written" else 2)
        return LabelledPairs(relations, gold, counted, pairs, len(system) - len(counted), unplaced, given - read)

    def _read(self, side: SideRelations) -> ByLabel:
        read_as = dict(self.read_as)
        found: ByLabel = {label: [] for label in self.labels}
        for kind, pairs in side.by_label.items():
            label = read_as.get(kind, kind)
            if label in found:
                found[label] = [*found[label], *pairs]
        return found

    def _turned(self, side: ByLabel, is_backwards: IsBackwards) -> ByLabel:
        """The pairs in the direction in which they are read."""
        inverse = dict(self.inverse)
        found: ByLabel = {label: [] for label in self.labels}
        for label, pairs in side.items():
            for source, target in pairs:
                backwards = is_backwards(source, target)
                if backwards:
                    found[inverse.get(label, label)].append((target, source))
                elif backwards is not None:
                    found[label].append((source, target))
        return found

    def _chosen(self, side: ByLabel) -> Labels:
        """The label of each pair: the last of its labels."""
        chosen: dict[Key, str] = {}
        for label, pairs in side.items():
            if self.several:
                chosen.update(dict.fromkeys([(*pair, label) for pair in pairs], label))
            else:
                chosen.update(dict.fromkeys(pairs, label))
        return chosen


def _size(side: ByLabel) -> int:
    return sum(map(len, side.values()))


def _of_events(side: ByLabel, relations: SideRelations) -> ByLabel:
    """The pairs without a time."""
    times = {number for number, mention in relations.mentions.items() if mention.kind == TIME}
    return {label: [pair for pair in pairs if times.isdisjoint(pair)] for label, pairs in side.items()}


def _by_place(mentions: Mapping[Number, Mention]) -> IsBackwards:
    """The second mention begins before the first; None: there is no order."""
    begins = {number: mention.span[0][0] for number, mention in mentions.items() if mention.span}

    def is_backwards(source: Number, target: Number) -> bool | None:
        first, second = begins.get(source), begins.get(target)
        return None if first is None or second is None or first == second else first > second

    return is_backwards


def _as_written(sides: Sequence[Collection[tuple[Number, Number]]]) -> IsBackwards:
    """The first of these sides that has a pair has it only in the other direction; otherwise, by number."""

    def is_backwards(source: Number, target: Number) -> bool:
        for pairs in sides:
            forward, backward = (source, target) in pairs, (target, source) in pairs
            if forward != backward:
                return backward
            if forward:
                break
        return source > target

    return is_backwards
