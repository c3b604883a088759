"""Templates assigned one-to-one by the strings that they share (Chen et al. 2023, IterX: CEAF-RME)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Literal, NamedTuple

from msgspec import Struct

from karat.align.assignment import Edge
from karat.plugin import ErrorsOf, Tables, TableSpec
from karat.tables.sharing import Groups, Limit, alike, assigned
from karat.tables.templates import SHARED, BothTemplates, Entity, Filled, Template, distinct, strings_in_role

Phi = Literal["phi3", "subset"]
"""How similar templates are.

phi3    the mentions that they share, for the best one-to-one assignment of their entities
subset  the system entities that share a mention with a gold entity
"""

MOST_ENTITIES = 300_000
"""Entities of gold in one document, counted under each type of their template."""


class Scored(Struct, frozen=True, gc=False):
    """An entity of one side: its template, how much it counts, and how much of that is right."""

    entity: Entity
    template: int
    size: int
    right: int
    partner: int | None
    """The number of an entity of the other side with which it shares something."""


class SimilarTemplates(NamedTuple):
    """One document: the entities of each side that count, and the templates."""

    document: str
    gold: tuple[Scored, ...]
    system: tuple[Scored, ...]
    gold_templates: tuple[Template, ...]
    """A template for each of its types, with that type."""
    system_templates: tuple[Template, ...]
    kept: frozenset[int]
    """Templates of gold that are compared: one of its types for each."""
    pairs: tuple[tuple[int, int], ...]
    """Numbers of gold and system templates that are assigned to each other."""


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

    number: int
    typed: _Typed
    template: Template


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
        gold_templates = tuple(copy.template for copy in copies)
        similar = SimilarTemplates(
            tables.pair.gold.id,
            *self._scored(gold_templates, system, kept, mapped),
            gold_templates,
            tuple(system),
            frozenset(kept),
            tuple((g, s) for g, s, _ in mapped),
        )
        return SimilarityTable((similar,), templates.unknown)

    def add(self, tables: Sequence[SimilarityTable]) -> SimilarityTable:
        """Documents have no templates in common."""
        documents = tuple(chain.from_iterable(table.documents for table in tables))
        return SimilarityTable(documents, sum(table.unknown for table in tables))

    @property
    def errors_of(self) -> ErrorsOf:
        """Arguments."""
        return "arguments"

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
            known = best.setdefault(copy.number, number)
            if values[number] > values[known]:
                best[copy.number] = number
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
        gold: Sequence[Template],
        system: Sequence[Template],
        kept: Sequence[int],
        mapped: Sequence[tuple[int, int, _Match]],
    ) -> tuple[tuple[Scored, ...], tuple[Scored, ...]]:
        by_mention = self.phi == "phi3"
        golds = _entities(gold, range(len(gold)) if by_mention else kept)
        systems = _entities(system, range(len(system)))
        right: tuple[dict[int, tuple[int, int]], ...] = ({}, {})
        for g, s, match in mapped:
            for one, other, count in match.pairs:
                number, partner = golds.first[g] + one, systems.first[s] + other
                right[0].setdefault(number, (count, partner))
                right[1][partner] = count, number

        def scored(side: _Entities, right: Mapping[int, tuple[int, int]]) -> Iterator[Scored]:
            for number, (template, entity) in enumerate(side.every):
                size = len(entity.filled.strings) if by_mention else 1
                yield Scored(entity, template, size, *right.get(number, (0, None)))

        return tuple(scored(golds, right[0])), tuple(scored(systems, right[1]))


class _Entities(NamedTuple):
    """The entities of some templates, each with the number of its template."""

    every: list[tuple[int, Entity]]
    first: dict[int, int]
    """For each template, the number of its first entity."""


def _entities(templates: Sequence[Template], numbers: Iterable[int]) -> _Entities:
    entities = _Entities([], {})
    for number in numbers:
        entities.first[number] = len(entities.every)
        entities.every.extend([(number, entity) for entity in templates[number].entities])
    return entities


def _copies(number: int, template: Template, limit: Limit, *, alone: bool) -> Iterator[_Copy]:
    """The template once for each of its types, if it has entities and there is a system template."""
    types = [template.type]
    if template.entities and not alone:
        types = [one.strip() for one in template.type.split("/")]
    for type_ in types:
        limit.add(len(template.entities))
        yield _Copy(number, _typed(type_, template.entities), template._replace(type=type_))


def _typed(type_: str, entities: Iterable[Entity]) -> _Typed:
    return _Typed(type_, tuple([one.filled for one in entities]))
