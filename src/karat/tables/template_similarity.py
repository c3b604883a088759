"""Templates assigned one-to-one by the strings that they share (Chen et al. 2023, IterX: CEAF-RME)."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Literal, NamedTuple

from msgspec import Struct

from karat.align.assignment import assignment
from karat.plugin import ErrorsOf, Tables, TableSpec
from karat.tables.templates import BothTemplates, Entity, Template, distinct

Phi = Literal["phi3", "subset"]
"""How similar templates are.

phi3    the mentions that they share, for the best one-to-one assignment of their entities
subset  the system entities that share a mention with a gold entity
"""

Triple = tuple[str, str, str]
"""The type of a template, a role, and a string that fills it."""


class Scored(NamedTuple):
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


class _Copy(NamedTuple):
    """A gold template under one of its types."""

    number: int
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
        copies = [copy for number, one in enumerate(gold) for copy in _copies(number, one, alone=not system)]
        matches = [[self._match(copy.template, one) for one in system] for copy in copies]
        kept = self._kept(copies, matches)
        most = sum(len(one.entities) for one in gold)  # of equal assignments, the one that hits more
        weights = {
            (g, s): match.value * (1 + most) + match.hits
            for g in kept
            for s, match in enumerate(matches[g])
            if match.value
        }
        mapped = [(g, s, matches[g][s]) for g, s in assignment(weights)]
        golds = tuple(copy.template for copy in copies)
        similar = SimilarTemplates(
            tables.pair.gold.id,
            *self._scored(golds, system, kept, mapped),
            golds,
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

    def _kept(self, copies: Sequence[_Copy], matches: Sequence[Sequence[_Match]]) -> list[int]:
        """Of the copies of a gold template, the one that is most similar to all system templates together."""
        best: dict[int, int] = {}
        for number, copy in enumerate(copies):
            known = best.setdefault(copy.number, number)
            if sum(one.value for one in matches[number]) > sum(one.value for one in matches[known]):
                best[copy.number] = number
        return list(best.values())

    def _match(self, gold: Template, system: Template) -> _Match:
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
        gold: Sequence[Template],
        system: Sequence[Template],
        kept: Sequence[int],
        mapped: Sequence[tuple[int, int, _Match]],
    ) -> tuple[tuple[Scored, ...], tuple[Scored, ...]]:
        by_mention = self.phi == "phi3"
        counted = range(len(gold)) if by_mention else kept
        places = (
            [(g, number) for g in counted for number in range(len(gold[g].entities))],
            [(s, number) for s, template in enumerate(system) for number in range(len(template.entities))],
        )
        numbers = [{place: number for number, place in enumerate(side)} for side in places]
        right: tuple[dict[tuple[int, int], tuple[int, int]], ...] = ({}, {})
        for g, s, match in mapped:
            for one, other, count in match.pairs:
                right[0].setdefault((g, one), (count, numbers[1][s, other]))
                right[1][s, other] = count, numbers[0][g, one]

        def scored(templates: Sequence[Template], side: int) -> Iterator[Scored]:
            for template, number in places[side]:
                entity = templates[template].entities[number]
                size = len(entity.strings) if by_mention else 1
                yield Scored(entity, template, size, *right[side].get((template, number), (0, None)))

        return tuple(scored(gold, 0)), tuple(scored(system, 1))


def _copies(number: int, template: Template, *, alone: bool) -> list[_Copy]:
    """The template once for each of its types, if it has entities and there is a system template."""
    types = [template.type]
    if template.entities and not alone:
        types = [one.strip() for one in template.type.split("/")]
    return [_Copy(number, template._replace(type=type_)) for type_ in types]


def _triples(type_: str, entity: Entity) -> list[Triple]:
    return [(type_, entity.role, text) for text in entity.strings]


def _hit(golds: Sequence[Sequence[Triple]], system: Sequence[Triple]) -> int | None:
    """The first gold entity that has the first string of a system entity that any of them has."""
    for triple in system:
        for number, one in enumerate(golds):
            if triple in one:
                return number
    return None
