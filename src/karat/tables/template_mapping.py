"""System templates mapped to gold templates so that the document's F1 is largest (Du, Rush and Cardie 2021, GTT)."""

from collections.abc import Iterator, Sequence, Set
from itertools import chain
from typing import NamedTuple

from msgspec import Struct

from karat.align.assignment import Edge
from karat.align.largest_f1 import largest_f1
from karat.plugin import ErrorsOf, Tables, TableSpec
from karat.tables.sharing import Groups, Limit, alike
from karat.tables.templates import SHARED, BothTemplates, Filled, Template, distinct, grouped_entities

MOST_TEMPLATES = 10_000
"""Pairs of templates for which the mapping with the largest F1 is searched: some seconds."""


class Side(NamedTuple):
    """A template of one side, and which of its entities are right; its type is right if it is mapped."""

    template: Template
    is_mapped: bool
    right: tuple[bool, ...]


class MappedTemplates(NamedTuple):
    """One document: the templates of each side, and the pairs that were mapped."""

    document: str
    gold: tuple[Side, ...]
    system: tuple[Side, ...]
    pairs: tuple[tuple[int, int], ...]
    """Numbers of gold and of system templates."""


class MappingTable(NamedTuple):
    """The table: the templates of some documents."""

    documents: tuple[MappedTemplates, ...]
    unknown: int
    """Entities without any string, which are left out."""


class TemplateMapping(TableSpec[MappingTable], Struct, frozen=True, cache_hash=True):
    """The mapping of templates with the largest F1 over entities and types."""

    def make(self, tables: Tables) -> MappingTable:
        """That of one document."""
        templates = tables.get(BothTemplates())
        gold, system = distinct(templates.gold), templates.system
        limit = Limit(tables.pair.gold.id, "pairs of a gold and a system template", MOST_TEMPLATES)
        limit.add(len(gold) * len(system))
        shared = Limit(tables.pair.gold.id, SHARED)
        golds, systems = ([(one.type, grouped_entities(one.entities)) for one in side] for side in (gold, system))
        weights = [[_right(one, other, shared) for other in golds] for one in systems]
        sizes = [sum(1 + len(one.entities) for one in side) for side in (system, gold)]
        chosen = largest_f1([[None if own is None else own.counts for own in row] for row in weights], *sizes)
        gold_right = [Side(one, False, (False,) * len(one.entities)) for one in gold]
        system_right = [Side(one, False, (False,) * len(one.entities)) for one in system]
        pairs = []
        for s, g in enumerate(chosen):
            own = None if g is None else weights[s][g]
            if g is not None and own is not None:
                gold_right[g] = Side(gold[g], True, own.gold)
                system_right[s] = Side(system[s], True, own.system)
                pairs.append((g, s))
        mapped = MappedTemplates(tables.pair.gold.id, tuple(gold_right), tuple(system_right), tuple(pairs))
        return MappingTable((mapped,), templates.unknown)

    def add(self, tables: Sequence[MappingTable]) -> MappingTable:
        """Documents have no templates in common."""
        documents = tuple(chain.from_iterable(table.documents for table in tables))
        return MappingTable(documents, sum(table.unknown for table in tables))

    @property
    def errors_of(self) -> ErrorsOf:
        """Arguments."""
        return "arguments"


_Typed = tuple[str, Groups[Filled]]
"""The type of a template, and its entities."""


class _Right(NamedTuple):
    """What is right in a mapped pair."""

    system: tuple[bool, ...]
    gold: tuple[bool, ...]

    @property
    def counts(self) -> tuple[int, int]:
        """The number of right slots of the system and of gold, the types included."""
        return 1 + sum(self.system), 1 + sum(self.gold)


def _right(system: _Typed, gold: _Typed, limit: Limit) -> _Right | None:
    """What a mapped pair gets right; None if the system's type is not a part of gold's."""
    if system[0] not in gold[0]:
        return None
    pairs = list(fitting(gold[1], system[1], limit))
    return _Right(_marked(system[1], {s for _, s in pairs}), _marked(gold[1], {g for g, _ in pairs}))


def fitting(gold: Groups[Filled], system: Groups[Filled], limit: Limit) -> Iterator[Edge]:
    """Groups of gold's and the system's entities, by their numbers, where the system's has only strings of gold's."""
    for groups, one, other in alike(gold, system, limit):
        if frozenset(one.strings).issuperset(other.strings):
            yield groups


def _marked(entities: Groups[Filled], right: Set[int]) -> tuple[bool, ...]:
    """For each entity, whether its group is right."""
    marked = {number: group in right for group, own in enumerate(entities.members) for number in own}
    return tuple(marked[number] for number in range(len(marked)))
