"""System templates mapped to gold templates so that the document's F1 is largest (Du, Rush and Cardie 2021, GTT)."""

from collections.abc import Sequence
from itertools import chain
from math import prod
from typing import NamedTuple

from msgspec import Struct

from karat.align.largest_f1 import largest_f1
from karat.errors import quoted
from karat.limits import check_pairs
from karat.plugin import ErrorsOf, Tables, TableSpec
from karat.tables.templates import BothTemplates, Entity, Template, distinct


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
        templates, document = tables.get(BothTemplates()), tables.pair.gold.id
        gold, system = distinct(templates.gold), templates.system
        sizes = [sum(1 + len(template.entities) for template in side) for side in (system, gold)]
        check_pairs(prod(sizes), "pairs of slots to compare", where=f"document {quoted(document)}", origin="gold")
        weights = [[_right(one, other) for other in gold] for one in system]
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
        mapped = MappedTemplates(document, tuple(gold_right), tuple(system_right), tuple(pairs))
        return MappingTable((mapped,), templates.unknown)

    def add(self, tables: Sequence[MappingTable]) -> MappingTable:
        """Documents have no templates in common."""
        documents = tuple(chain.from_iterable(table.documents for table in tables))
        return MappingTable(documents, sum(table.unknown for table in tables))

    @property
    def errors_of(self) -> ErrorsOf:
        """Arguments."""
        return "arguments"


class _Right(NamedTuple):
    """What is right in a mapped pair."""

    system: tuple[bool, ...]
    gold: tuple[bool, ...]

    @property
    def counts(self) -> tuple[int, int]:
        """The number of right slots of the system and of gold, the types included."""
        return 1 + sum(self.system), 1 + sum(self.gold)


def _right(system: Template, gold: Template) -> _Right | None:
    """What a mapped pair gets right; None if the system's type is not a part of gold's."""
    if system.type not in gold.type:
        return None
    return _Right(
        tuple(any(fits(one, other) for one in gold.entities) for other in system.entities),
        tuple(any(fits(one, other) for other in system.entities) for one in gold.entities),
    )


def fits(gold: Entity, system: Entity) -> bool:
    """Tell if an entity of the system has only strings of an entity of gold, in the same role."""
    return gold.role == system.role and set(gold.strings).issuperset(system.strings)
