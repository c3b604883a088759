"""Errors of coreference: what repairing the system step by step into gold takes (Kummerfeld and Klein 2013).

    1  alter the spans of mentions that overlap a gold mention without matching it      span error
    2  split each system entity into parts, one per gold entity                         conflated entity
    3  remove the mentions that gold lacks                                              extra mention, extra entity
    4  introduce the mentions that the system lacks                                     missing mention, missing entity
    5  merge the parts of each gold entity                                              divided entity

An entity of which the other side has no mention is one extra or missing entity, however many mentions it has. A system
entity with parts of n gold entities is n - 1 conflations; a gold entity in n parts is n - 1 divisions. Entities are
those of a unit of evaluation: they reach across documents where the protocol lets them.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import count
from typing import NamedTuple, TypeVar

from msgspec.structs import replace

from karat.families.nugget.errors import confusions, near
from karat.insight.repairs import Edit, Repair
from karat.insight.units import Classes, ErrorKind, Findings, FoundError, Target, UnitView
from karat.model import ClusterKey, Mention, Pair, cluster_keys
from karat.plugin import ClusterItem, Contingency
from karat.problems import Origin
from karat.records import Instance, Record

CLASSES: Classes = {
    "span error": "the mention overlaps a gold mention, but does not match it",
    "conflated entity": "a system entity has mentions of several gold entities",
    "extra mention": "gold lacks the mention; other mentions of its entity are gold's",
    "extra entity": "gold has none of the mentions of a system entity",
    "missing mention": "the system lacks the mention, but has others of its entity",
    "missing entity": "the system has none of the mentions of a gold entity",
    "divided entity": "the mentions of a gold entity are in several system entities",
}
REPAIRED = "karat\uf8ffrepaired"
"""The prefix of ids of entities that a repair makes; no corpus has such ids."""
_numbers = count(1)
"""Numbers of such entities; a system that is repaired twice must not get an id twice."""


T = TypeVar("T")
Edits = list[tuple[str, Edit]]
"""Edits with their documents."""


class _Placed(NamedTuple):
    """A mention with its document and its entity."""

    document: str
    mention: Mention
    key: ClusterKey


MatchedPair = tuple[_Placed, _Placed]
"""A gold mention and the system mention that is the same."""


def _find(unit: UnitView, target: Target, confused: Sequence[str]) -> Findings:
    """Find the errors of a unit, by the steps of repair, and the confusions of some attributes of mentions.

    The table says which entities are scored: dropped singletons are not errors. If the protocol has collapsed clusters
    to a mention each, a repair of the mention is one of all that it stands for.
    """
    del target
    errors = _UnitErrors(unit, unit.tables[0].table)
    return Findings(list(errors.errors()), confusions(errors.counterparts(), confused))


ERRORS = ErrorKind(lambda _target, _names: CLASSES, _find)


class _UnitErrors:
    def __init__(self, unit: UnitView, table: Contingency) -> None:
        self._unit = unit
        self._sizes: dict[Origin, Mapping[Hashable, int]] = {"gold": table.gold, "system": table.system}
        self._matched: list[MatchedPair] = []
        self._near: list[MatchedPair] = []
        self._missing: list[_Placed] = []
        self._extra: list[_Placed] = []
        self._scored: dict[str, frozenset[str]] = {}
        for view in unit.documents.values():
            golds, systems = (
                [_Placed(view.id, mention, key) for mention, key in zip(side.mentions, cluster_keys(side), strict=True)]
                for side in (view.pair.gold, view.pair.system)
            )
            partner = {g: s for g, s, _, _ in view.aligned[unit.alignment].pairs}
            dropped = {s for g, s in partner.items() if golds[g].key not in table.gold}
            dropped |= {s for s, placed in enumerate(systems) if placed.key not in table.system}
            kept = {g: s for g, s in partner.items() if s not in dropped}
            taken = set(kept.values()) | dropped
            self._matched += [(golds[g], systems[s]) for g, s in kept.items()]
            missing = [placed for g, placed in enumerate(golds) if g not in kept and placed.key in table.gold]
            extra = [placed for s, placed in enumerate(systems) if s not in taken]
            pairs = _alike(unit, view.pair, missing, extra)
            done = {id(placed) for pair in pairs for placed in pair}
            self._near += pairs
            self._missing += [placed for placed in missing if id(placed) not in done]
            self._extra += [placed for placed in extra if id(placed) not in done]
            self._scored[view.id] = frozenset(placed.mention.id for s, placed in enumerate(systems) if s not in dropped)

    def counterparts(self) -> Iterator[tuple[Mention | None, Mention | None]]:
        """Each mention with its counterpart, if it has one."""
        yield from ((gold.mention, system.mention) for gold, system in (*self._matched, *self._near))
        yield from ((gold.mention, None) for gold in self._missing)
        yield from ((None, system.mention) for system in self._extra)

    def errors(self) -> Iterator[FoundError]:
        """In the order of the steps."""
        for gold, system in self._near:
            yield self._error("span error", [gold], [system], [self._altered(gold, system)])
        pairs = [*self._matched, *self._near]
        by_system = _grouped(pairs, lambda pair: pair[1].key)
        by_gold = _grouped(pairs, lambda pair: pair[0].key)
        for key, pairs in by_system.items():
            yield from self._conflated(key, _grouped(pairs, lambda pair: pair[0].key))
        for key, extra in _grouped(self._extra, lambda mention: mention.key).items():
            if key in by_system:
                for mention in extra:
                    yield self._error("extra mention", [], [mention], [self._moved(mention, None)])
            else:
                yield self._error("extra entity", [], [key], [self._moved(mention, None) for mention in extra])
        for key, missing in _grouped(self._missing, lambda mention: mention.key).items():
            if key in by_gold:
                yield from self._missing_mentions(missing, _grouped(by_gold[key], lambda pair: pair[1].key))
            else:
                new = self._new()
                yield self._error("missing entity", [key], [], [self._added(mention, new) for mention in missing])
        for key, pairs in by_gold.items():
            yield from self._divided(key, _grouped(pairs, lambda pair: pair[1].key))

    def _conflated(self, key: ClusterKey, parts: Mapping[ClusterKey, Sequence[MatchedPair]]) -> Iterator[FoundError]:
        """The largest part stays, each other becomes an entity of its own."""
        kept = max(parts, key=lambda gold: len(parts[gold]))
        for gold, pairs in parts.items():
            if gold != kept:
                new = self._new()
                moved = [self._moved(system, new) for _, system in pairs]
                yield self._error("conflated entity", [kept, gold], [key], moved)

    def _missing_mentions(
        self, missing: Sequence[_Placed], parts: Mapping[ClusterKey, Sequence[MatchedPair]]
    ) -> Iterator[FoundError]:
        """Each joins the largest part of its entity."""
        home = max(parts, key=lambda system: len(parts[system]))
        target, named = self._named(home, parts[home])
        for mention in missing:
            yield self._error("missing mention", [mention], [home], [self._added(mention, target)], named)

    def _divided(self, key: ClusterKey, parts: Mapping[ClusterKey, Sequence[MatchedPair]]) -> Iterator[FoundError]:
        """Mentions in smaller parts move to the largest; of equal parts, to the one with fewest other mentions."""
        sizes = self._sizes["system"]
        home = max(parts, key=lambda system: (len(parts[system]), -sizes[system]))
        target, named = self._named(home, parts[home])
        for system, pairs in parts.items():
            if system != home:
                moved = [self._moved(mention, target) for _, mention in pairs]
                yield self._error("divided entity", [key], [home, system], moved, named)

    def _named(self, key: ClusterKey, members: Sequence[MatchedPair]) -> tuple[str, Edits]:
        """The id of an entity that mentions are to join; one without an id gets one."""
        if isinstance(key, str):
            return key, []
        new = self._new()
        return new, [self._moved(system, new) for _, system in members]

    def _new(self) -> str:
        return f"{REPAIRED} {next(_numbers)}"

    def _added(self, placed: _Placed, target: str) -> tuple[str, Edit]:
        scored = self._scored[placed.document]
        return placed.document, Edit(added={placed.mention.id: replace(placed.mention, cluster=target)}, scored=scored)

    def _moved(self, placed: _Placed, target: str | None) -> tuple[str, Edit]:
        """All mentions that it stands for, if clusters are collapsed."""
        if self._unit.collapsed and placed.mention.cluster is not None:
            return placed.document, Edit(moved={placed.mention.cluster: target})
        moved = None if target is None else replace(placed.mention, cluster=target)
        return placed.document, Edit(mentions={placed.mention.id: moved})

    def _altered(self, gold: _Placed, system: _Placed) -> tuple[str, Edit]:
        """The system's mention as gold has it; it still stands for its cluster, if clusters are collapsed."""
        mention = system.mention
        altered = replace(gold.mention, id=mention.id, cluster=mention.cluster)
        if self._unit.collapsed and mention.cluster is not None:
            return system.document, Edit(moved={mention.cluster: None}, added={mention.id: altered})
        return system.document, Edit(mentions={mention.id: altered}, scored=self._scored[system.document])

    def _error(
        self,
        name: str,
        gold: Sequence[_Placed | ClusterKey],
        system: Sequence[_Placed | ClusterKey],
        edits: Edits,
        more: Edits | None = None,
    ) -> FoundError:
        """An error in the documents of its edits; `more` are edits that it needs elsewhere."""
        documents = {document for document, _ in edits}
        repairs = [Repair(document, edit) for document, edit in (*edits, *(more or ()))]
        for repair in repairs:
            repair.edit.keep_links = False
        records = self._records("gold", gold), self._records("system", system)
        return FoundError(
            name, Instance(self._unit.name, documents.pop() if len(documents) == 1 else None, *records), repairs
        )

    def _records(self, side: Origin, items: Sequence[_Placed | ClusterKey]) -> tuple[Record, ...]:
        alone = next(iter(self._unit.documents)) if len(self._unit.documents) == 1 else None
        records = [
            self._unit.records.record(item.mention, side, item.document)
            if isinstance(item, _Placed)
            else self._unit.records.record(ClusterItem(item, self._sizes[side][item]), side, alone)
            for item in items
        ]
        return tuple(record for record in records if record is not None)


def _alike(unit: UnitView, pair: Pair, missing: Sequence[_Placed], extra: Sequence[_Placed]) -> list[MatchedPair]:
    """Mentions that only their spans keep apart: they overlap and, if all mentions have heads, have the same head."""
    golds, systems = ([placed.mention for placed in side] for side in (missing, extra))
    if not golds or not systems:
        return []
    agree = all(mention.head for mention in (*golds, *systems))
    gold_of, system_of = ({placed.mention.id: placed for placed in side} for side in (missing, extra))
    if agree:
        golds, systems = (
            [replace(mention, attributes={"head": str(mention.head)}) for mention in side] for side in (golds, systems)
        )
    pairs = near(pair, golds, systems, unit.comparison, agree=("head",) if agree else ())
    return [(gold_of[gold.id], system_of[system.id]) for gold, system in pairs]


def _grouped(items: Sequence[T], key: Callable[[T], ClusterKey]) -> dict[ClusterKey, list[T]]:
    groups: dict[ClusterKey, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
