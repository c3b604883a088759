"""Templates assigned one-to-one by the strings that they share (Chen et al. 2023, IterX: CEAF-RME)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Literal, NamedTuple

from msgspec import Struct

from karat.align.assignment import Edge
from karat.plugin import ArgumentItem, Tables, TableSpec
from karat.tables.sharing import Groups, Limit, alike, assigned
from karat.tables.templates import SHARED, BothTemplates, Entity, Filled, Template, distinct, strings_in_role

Phi = Literal["phi3", "subset"]
"""How similar templates are.

phi3    the mentions that they share, for the best one-to-one assignment of their entities
subset  the system entities that share a mention with a gold entity
"""

MOST_ENTITIES = 300_000
"""Entities of gold in one document, counted under each type of their template."""


class Scored(NamedTuple):
    """An entity of one side: how much it counts, and how much of that is right."""

    item: ArgumentItem
    size: int
    right: int
    partner: ArgumentItem | None


class SimilarTemplates(NamedTuple):
    """One document: the entities of each side. Right ones of gold are counted by the system's where `shared`."""

    document: str
    gold: tuple[Scored, ...]
    system: tuple[Scored, ...]


class SimilarityTable(NamedTuple):
    """The table: the entities of some documents."""

    documents: tuple[SimilarTemplates, ...]
    unknown: int
    """Entities without any string, which are left out."""


class _Typed(NamedTuple):
    """What makes two templates equal: the type, and the entities in their order."""

    type: str
    entities: tuple[Filled, ...]

    def parts(self) -> Iterator[tuple[str, str, str]]:
        """What it may share with others: the type, a role, and a string that fills it."""
        return ((self.type, one.role, text) for one in self.entities for text in one.strings)


class _Copy(NamedTuple):
    """A gold template under one of its types."""

    template: int
    typed: _Typed
    entities: tuple[Entity, ...]


class _Match(NamedTuple):
    """How similar a gold and a system template are, and which of their entities were matched: gold, system, shared."""

    value: int
    hits: int
    pairs: tuple[tuple[int, int, int], ...]


class TemplateSimilarity(TableSpec[SimilarityTable], Struct, frozen=True, cache_hash=True):
    """The best one-to-one assignment of templates."""

    phi: Phi
    empty_documents: Literal["score", "ignore"] = "score"

    def make(self, tables: Tables) -> SimilarityTable:
        """That of one document."""
        templates = tables.get(BothTemplates())
        gold = distinct(templates.gold)
        if self.empty_documents == "ignore" and not gold:
            return SimilarityTable((), templates.unknown)
        system = [one for one in templates.system if one.entities]
        entities = Limit(tables.pair.gold.id, "entities, counted under each type of their template", MOST_ENTITIES)
        copies = [copy for number, one in enumerate(gold) for copy in _copies(number, one, entities, alone=not system)]
        golds = Groups([copy.typed for copy in copies], _Typed.parts)
        systems = Groups([_typed(one.type, one.entities) for one in system], _Typed.parts)
        limit, shared = Limit(tables.pair.gold.id, "pairs of different templates"), Limit(tables.pair.gold.id, SHARED)
        matches = {groups: self._match(one, other, shared) for groups, one, other in alike(golds, systems, limit)}
        kept = self._kept(copies, golds, systems, matches)
        most = sum(len(one.entities) for one in gold)  # of equal assignments, the one that hits more
        rows = Groups([copies[number].typed for number in kept], _Typed.parts)
        number_of = {typed: number for number, typed in enumerate(golds.items)}
        row_of = {number_of[typed]: row for row, typed in enumerate(rows.items)}
        weights = {
            (row_of[g], s): match.value * (1 + most) + match.hits
            for (g, s), match in matches.items()
            if match.value and g in row_of
        }
        mapped = [
            (kept[row], s, matches[number_of[rows.items[groups[0]]], groups[1]])
            for (row, s), groups in assigned(weights, rows, systems)
        ]
        scored = self._scored(copies, system, kept, mapped)
        return SimilarityTable((SimilarTemplates(tables.pair.gold.id, *scored),), templates.unknown)

    def add(self, tables: Sequence[SimilarityTable]) -> SimilarityTable:
        """Documents have no templates in common."""
        documents = tuple(chain.from_iterable(table.documents for table in tables))
        return SimilarityTable(documents, sum(table.unknown for table in tables))

    def _kept(
        self,
        copies: Sequence[_Copy],
        golds: Groups[_Typed],
        systems: Groups[_Typed],
        matches: Mapping[Edge, _Match],
    ) -> list[int]:
        """Of the copies of a gold template, the one that is most similar to all system templates together."""
        values = [0] * len(copies)
        for (g, s), match in matches.items():
            for number in golds.members[g]:
                values[number] += match.value * len(systems.members[s])
        best: dict[int, int] = {}
        for number, copy in enumerate(copies):
            known = best.setdefault(copy.template, number)
            if values[number] > values[known]:
                best[copy.template] = number
        return list(best.values())

    def _match(self, gold: _Typed, system: _Typed, limit: Limit) -> _Match:
        """How similar two templates of one type are."""
        if self.phi == "phi3":
            golds, systems = (Groups(one.entities, strings_in_role) for one in (gold, system))
            shared = {
                groups: sum(text in known for text in other.strings)
                for groups, one, other in alike(golds, systems, limit)
                for known in [frozenset(one.strings)]
            }
            pairs = tuple((g, s, shared[groups]) for (g, s), groups in assigned(shared, golds, systems))
            return _Match(sum(count for _, _, count in pairs), 0, pairs)
        first: dict[tuple[str, str], int] = {}
        for number, one in enumerate(gold.entities):
            for part in strings_in_role(one):
                first.setdefault(part, number)
        hits = (next((first[part] for part in strings_in_role(one) if part in first), None) for one in system.entities)
        pairs = tuple((g, s, 1) for s, g in enumerate(hits) if g is not None)
        return _Match(len(pairs), len({g for g, _, _ in pairs}), pairs)

    def _scored(
        self,
        copies: Sequence[_Copy],
        system: Sequence[Template],
        kept: Sequence[int],
        mapped: Sequence[tuple[int, int, _Match]],
    ) -> tuple[tuple[Scored, ...], tuple[Scored, ...]]:
        by_mention = self.phi == "phi3"
        golds: dict[tuple[int, int], tuple[int, ArgumentItem]] = {}
        systems: dict[tuple[int, int], tuple[int, ArgumentItem]] = {}
        for g, s, match in mapped:
            for one, other, count in match.pairs:
                gold_item, system_item = copies[g].entities[one].item, system[s].entities[other].item
                golds.setdefault((g, one), (count, system_item))
                systems[s, other] = count, gold_item
        counted = range(len(copies)) if by_mention else kept
        gold_scored = [
            Scored(entity.item, len(entity.strings) if by_mention else 1, *golds.get((g, number), (0, None)))
            for g in counted
            for number, entity in enumerate(copies[g].entities)
        ]
        system_scored = [
            Scored(entity.item, len(entity.strings) if by_mention else 1, *systems.get((s, number), (0, None)))
            for s, template in enumerate(system)
            for number, entity in enumerate(template.entities)
        ]
        return tuple(gold_scored), tuple(system_scored)


def _copies(number: int, template: Template, limit: Limit, *, alone: bool) -> Iterator[_Copy]:
    """The template once for each of its types, if it has entities and there is a system template."""
    types = [template.type]
    if template.entities and not alone:
        types = [one.strip() for one in template.type.split("/")]
    for type_ in types:
        limit.add(len(template.entities))
        yield _Copy(number, _typed(type_, template.entities), template.entities)


def _typed(type_: str, entities: Iterable[Entity]) -> _Typed:
    return _Typed(type_, tuple(Filled(one.role, one.strings) for one in entities))
