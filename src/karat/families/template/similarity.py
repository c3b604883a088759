"""Templates assigned one-to-one by the strings that they share (Chen et al. 2023, IterX: CEAF-RME)."""

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from math import prod
from typing import Literal, NamedTuple

from karat.families.arg.events import DocumentsSpec
from karat.families.template.templates import BothTemplates, Entity, PairedTemplates, Scored, Template, distinct
from karat.limits import check_pairs
from karat.match.assignment import Edge, assignment
from karat.plugin import Tables
from karat.problems import quoted

Phi = Literal["phi3", "subset"]
"""Similarity of templates.

phi3    the mentions that they share, for the best one-to-one assignment of their entities
subset  the system entities that share a mention with a gold entity
"""


class _Match(NamedTuple):
    """Similarity of a gold and a system template, and which of their entities were matched: gold, system, shared."""

    value: int
    hits: int
    pairs: tuple[tuple[int, int, int], ...]


class TemplateSimilarity(DocumentsSpec[PairedTemplates], frozen=True, cache_hash=True):
    """The best one-to-one assignment of templates."""

    phi: Phi
    empty_documents: Literal["score", "ignore"] = "score"

    def make(self, tables: Tables) -> tuple[PairedTemplates, ...]:
        """Assign the templates of one document."""
        templates, document = tables.get(BothTemplates()), tables.pair.gold.id
        gold = distinct(templates.gold)
        if self.empty_documents == "ignore" and not gold:
            return (PairedTemplates(document, templates.unknown),)
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
        dropped = frozenset(range(len(copies))).difference(kept)
        golds, systems = self._scored(copies, system, dropped, {pair: matches[pair] for pair in pairs})
        unknown, sides = templates.unknown, (tuple(copies), tuple(system))
        is_tied = fewest_hits < hits
        return (PairedTemplates(document, unknown, *sides, tuple(pairs), golds, systems, dropped, is_tied),)

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
        self, gold: Sequence[Template], system: Sequence[Template], dropped: Set[int], mapped: Mapping[Edge, _Match]
    ) -> Iterator[tuple[Scored, ...]]:
        """Return the entities of both sides; under φ3, copies of gold's templates also count."""
        by_mention = self.phi == "phi3"
        places = _places(gold, () if by_mention else dropped), _places(system, ())
        index_of = [{place: index for index, place in enumerate(side)} for side in places]
        right: tuple[dict[Edge, tuple[int, int]], dict[Edge, tuple[int, int]]] = {}, {}
        for (g, s), match in mapped.items():
            for ours, theirs, count in match.pairs:
                right[0].setdefault((g, ours), (count, index_of[1][s, theirs]))
                right[1][s, theirs] = count, index_of[0][g, ours]
        for templates, side, matched in zip((gold, system), places, right, strict=True):
            entities = [templates[template].entities[place] for template, place in side]
            yield tuple(
                Scored(entity, edge[0], len(entity.strings) if by_mention else 1, *matched.get(edge, (0, None)))
                for entity, edge in zip(entities, side, strict=True)
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


def _places(templates: Sequence[Template], dropped: Collection[int]) -> list[Edge]:
    """Return the entities of templates that are not dropped: the index of the template, and that of the entity."""
    return [
        (index, place)
        for index, template in enumerate(templates)
        if index not in dropped
        for place in range(len(template.entities))
    ]
