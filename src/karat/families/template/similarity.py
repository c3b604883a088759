"""Templates assigned one-to-one by the strings that they share (Chen et al. 2023, IterX: CEAF-RME)."""

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Literal, NamedTuple

from msgspec import Struct

from karat.families.template.templates import BothTemplates, Entity, Template, TemplateSpec, TemplateTable, distinct
from karat.limits import check_pairs
from karat.match.assignment import Edge, assignment
from karat.plugin import Tables
from karat.problems import quoted

Phi = Literal["phi3", "subset"]
"""Similarity of templates.

phi3    the mentions that they share, for the best one-to-one assignment of their entities
subset  the system entities that share a mention with a gold entity
"""


class Scored(Struct, frozen=True, gc=False):
    """An entity of one side: its template, how much it counts, and how much of that is right."""

    entity: Entity
    template: int
    size: int
    right: int
    partner: int | None
    """The index of an entity of the other side with which it shares something."""


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
    """Indexes of gold and system templates that are assigned to each other."""
    is_tied: bool
    """True if an equally good assignment hits fewer entities of gold."""


class _Match(NamedTuple):
    """Similarity of a gold and a system template, and which of their entities were matched: gold, system, shared."""

    value: int
    hits: int
    pairs: tuple[tuple[int, int, int], ...]


class TemplateSimilarity(TemplateSpec[SimilarTemplates], frozen=True, cache_hash=True):
    """The best one-to-one assignment of templates."""

    phi: Phi
    empty_documents: Literal["score", "ignore"] = "score"

    def make(self, tables: Tables) -> TemplateTable[SimilarTemplates]:
        """Assign the templates of one document."""
        templates, document = tables.get(BothTemplates()), tables.pair.gold.id
        gold = distinct(templates.gold)
        if self.empty_documents == "ignore" and not gold:
            return TemplateTable((), templates.unknown)
        system = [template for template in templates.system if template.entities]
        origins, copies = _copies(gold, alone=not system)
        count = prod(sum(len(template.entities) for template in side) for side in (copies, system))
        check_pairs(count, "pairs of entities to compare", where=f"document {quoted(document)}", origin="gold")
        matches = {
            (g, s): match
            for g, one in enumerate(copies)
            for s, other in enumerate(system)
            if one.type == other.type and (match := self._match(one.entities, other.entities)).value
        }
        kept = _kept(origins, matches)
        most = sum(len(template.entities) for template in gold)  # of equal assignments, the one that hits more
        compared = {
            (row, s): matches[g, s] for row, g in enumerate(kept) for s in range(len(system)) if (g, s) in matches
        }
        pairs, fewest = (
            assignment({edge: match.value * (1 + most) + sign * match.hits for edge, match in compared.items()})
            for sign in (1, -1)
        )
        hits, fewest_hits = (sum(compared[edge].hits for edge in edges) for edges in (pairs, fewest))
        pairs = [(kept[row], s) for row, s in pairs]
        similar = SimilarTemplates(
            document,
            *self._scored(copies, system, kept, {pair: matches[pair] for pair in pairs}),
            tuple(copies),
            tuple(system),
            frozenset(kept),
            tuple(pairs),
            fewest_hits < hits,
        )
        return TemplateTable((similar,), templates.unknown)

    def _match(self, gold: Sequence[Entity], system: Sequence[Entity]) -> _Match:
        """Compare two templates of one type by their entities."""
        if self.phi == "phi3":
            shared = {
                (g, s): count
                for g, one in enumerate(gold)
                for s, other in enumerate(system)
                if one.role == other.role and (count := sum(text in one.strings for text in other.strings))
            }
            pairs = tuple((g, s, shared[g, s]) for g, s in assignment(shared))
            return _Match(sum(count for _, _, count in pairs), 0, pairs)
        first: dict[tuple[str, str], int] = {}
        for g, entity in enumerate(gold):
            for text in entity.strings:
                first.setdefault((entity.role, text), g)
        pairs = tuple(
            (hits[0], s, 1)
            for s, entity in enumerate(system)
            if (hits := [first[entity.role, text] for text in entity.strings if (entity.role, text) in first])
        )
        return _Match(len(pairs), len({g for g, _, _ in pairs}), pairs)

    def _scored(
        self,
        gold: Sequence[Template],
        system: Sequence[Template],
        kept: Sequence[int],
        mapped: Mapping[Edge, _Match],
    ) -> tuple[tuple[Scored, ...], tuple[Scored, ...]]:
        by_mention = self.phi == "phi3"
        golds = _places(gold, range(len(gold)) if by_mention else kept)
        systems = _places(system, range(len(system)))
        gold_index, system_index = ({place: index for index, place in enumerate(side)} for side in (golds, systems))
        gold_right: dict[Edge, tuple[int, int]] = {}
        system_right: dict[Edge, tuple[int, int]] = {}
        for (g, s), match in mapped.items():
            for one, other, count in match.pairs:
                gold_right.setdefault((g, one), (count, system_index[s, other]))
                system_right[s, other] = count, gold_index[g, one]

        def scored(templates: Sequence[Template], place: Edge, right: Mapping[Edge, tuple[int, int]]) -> Scored:
            entity = templates[place[0]].entities[place[1]]
            size = len(entity.strings) if by_mention else 1
            return Scored(entity, place[0], size, *right.get(place, (0, None)))

        return (
            tuple(scored(gold, place, gold_right) for place in golds),
            tuple(scored(system, place, system_right) for place in systems),
        )


def _copies(gold: Sequence[Template], *, alone: bool) -> tuple[list[int], list[Template]]:
    """Each template once for each of its types, if it has entities and there is a system template, and its index."""
    origins, copies = [], []
    for index, template in enumerate(gold):
        is_choice = template.entities and not alone
        for type_ in [part.strip() for part in template.type.split("/")] if is_choice else [template.type]:
            origins.append(index)
            copies.append(template._replace(type=type_))
    return origins, copies


def _kept(origins: Sequence[int], matches: Mapping[Edge, _Match]) -> list[int]:
    """Of the copies of a gold template, the one that is most similar to all system templates together."""
    values = [0] * len(origins)
    for (g, _), match in matches.items():
        values[g] += match.value
    best: dict[int, int] = {}
    for copy, origin in enumerate(origins):
        if values[copy] > values[best.setdefault(origin, copy)]:
            best[origin] = copy
    return list(best.values())


def _places(templates: Sequence[Template], indexes: Iterable[int]) -> list[Edge]:
    """The entities of some templates: the index of the template, and that of the entity in it."""
    return [(index, place) for index in indexes for place in range(len(templates[index].entities))]
