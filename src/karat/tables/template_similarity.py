"""Templates assigned one-to-one by the strings that they share (Chen et al. 2023, IterX: CEAF-RME)."""

from collections.abc import Sequence
from itertools import chain
from typing import Literal, NamedTuple

from msgspec import Struct

from karat.align.assignment import assignment
from karat.plugin import ArgumentItem, Tables, TableSpec
from karat.tables.templates import BothTemplates, Entity, Template, distinct

Phi = Literal["phi3", "subset"]
"""How similar templates are.

phi3    the mentions that they share, for the best one-to-one assignment of their entities
subset  the system entities that share a mention with a gold entity
"""

Triple = tuple[str, str, str]
"""The type of a template, a role, and a string that fills it."""


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


class _Copy(NamedTuple):
    """A gold template under one of its types."""

    template: int
    type: str
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
        copies = [copy for number, one in enumerate(gold) for copy in _copies(number, one, alone=not system)]
        matches = [[self._match(copy, one) for one in system] for copy in copies]
        kept = self._kept(copies, matches)
        most = sum(len(one.entities) for one in gold)  # of equal assignments, the one that hits more
        weights = {
            (g, s): match.value * (1 + most) + match.hits
            for g in kept
            for s, match in enumerate(matches[g])
            if match.value
        }
        scored = self._scored(copies, system, kept, [(g, s, matches[g][s]) for g, s in assignment(weights)])
        return SimilarityTable((SimilarTemplates(tables.pair.gold.id, *scored),), templates.unknown)

    def add(self, tables: Sequence[SimilarityTable]) -> SimilarityTable:
        """Documents have no templates in common."""
        documents = tuple(chain.from_iterable(table.documents for table in tables))
        return SimilarityTable(documents, sum(table.unknown for table in tables))

    def _kept(self, copies: Sequence[_Copy], matches: Sequence[Sequence[_Match]]) -> list[int]:
        """Of the copies of a gold template, the one that is most similar to all system templates together."""
        best: dict[int, int] = {}
        for number, copy in enumerate(copies):
            known = best.setdefault(copy.template, number)
            if sum(one.value for one in matches[number]) > sum(one.value for one in matches[known]):
                best[copy.template] = number
        return list(best.values())

    def _match(self, gold: _Copy, system: Template) -> _Match:
        golds = [_triples(gold.type, one) for one in gold.entities]
        systems = [_triples(system.type, one) for one in system.entities]
        if self.phi == "phi3":
            shared = {
                (g, s): count
                for g, one in enumerate(golds)
                for s, other in enumerate(systems)
                if (count := sum(triple in one for triple in other))
            }
            pairs = tuple((g, s, shared[g, s]) for g, s in assignment(shared))
            value = sum(count for _, _, count in pairs)
            return _Match(value, 0, pairs)
        pairs = tuple((g, s, 1) for s, other in enumerate(systems) if (g := _hit(golds, other)) is not None)
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


def _copies(number: int, template: Template, *, alone: bool) -> list[_Copy]:
    """The template once for each of its types, if it has entities and there is a system template."""
    types = [template.type]
    if template.entities and not alone:
        types = [one.strip() for one in template.type.split("/")]
    return [_Copy(number, type_, template.entities) for type_ in types]


def _triples(type_: str, entity: Entity) -> list[Triple]:
    return [(type_, entity.role, text) for text in entity.strings]


def _hit(golds: Sequence[Sequence[Triple]], system: Sequence[Triple]) -> int | None:
    """The first gold entity that has the first string of a system entity that any of them has."""
    for triple in system:
        for number, one in enumerate(golds):
            if triple in one:
                return number
    return None
