"""The entities that fill each role of a document, gold's assigned to the system's (Du et al. 2021, CEAF-REE)."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import chain
from typing import NamedTuple

from msgspec import Struct

from karat.errors import quoted
from karat.limits import check_pairs
from karat.plugin import ErrorsOf, Tables, TableSpec
from karat.tables.strings import best_pairs
from karat.tables.templates import BothTemplates, Entity, Template


class RoleEntities(NamedTuple):
    """One role of a document: its entities, and which were assigned to which, with their similarity."""

    document: str
    gold: tuple[Entity, ...]
    system: tuple[Entity, ...]
    pairs: tuple[tuple[int, int, Fraction], ...]


class EntityTable(NamedTuple):
    """The table: the roles of some documents."""

    roles: tuple[RoleEntities, ...]
    unknown: int
    """Entities without any string, which are left out."""


class EntityAssignment(TableSpec[EntityTable], Struct, frozen=True, cache_hash=True):
    """The best one-to-one assignment of the entities of each role.

    With `proportional`, a pair is worth the share of its system strings that gold has, else all or nothing.
    """

    proportional: bool = False

    def make(self, tables: Tables) -> EntityTable:
        """The roles of one document."""
        templates = tables.get(BothTemplates())
        gold, system = _by_role(templates.gold), _by_role(templates.system)
        document = tables.pair.gold.id
        roles = [
            self._assigned(document, gold.get(role, []), system.get(role, [])) for role in sorted({*gold, *system})
        ]
        return EntityTable(tuple(roles), templates.unknown)

    def _assigned(self, document: str, gold: Sequence[Entity], system: Sequence[Entity]) -> RoleEntities:
        where = f"document {quoted(document)}"
        check_pairs(len(gold) * len(system), "pairs of entities in one role", where=where, origin="gold")
        values = {
            (g, s): self._similarity(one.strings, other.strings)
            for g, one in enumerate(gold)
            for s, other in enumerate(system)
        }
        pairs = tuple((g, s, values[g, s]) for g, s in best_pairs(values))
        return RoleEntities(document, tuple(gold), tuple(system), pairs)

    def _similarity(self, gold: Sequence[str], system: Sequence[str]) -> Fraction:
        if self.proportional:
            return Fraction(sum(text in system for text in gold), len(system))
        return Fraction(set(gold).issuperset(system))

    def add(self, tables: Sequence[EntityTable]) -> EntityTable:
        """Documents have no entities in common."""
        roles = tuple(chain.from_iterable(table.roles for table in tables))
        return EntityTable(roles, sum(table.unknown for table in tables))

    @property
    def errors_of(self) -> ErrorsOf:
        """Arguments."""
        return "arguments"


def _by_role(templates: Sequence[Template]) -> dict[str, list[Entity]]:
    """The entities of each role.

    Several templates are made one table, as GRIT's preprocessing does it: an entity whose strings are a subset or a
    superset of an earlier one's is left out.
    """
    roles: dict[str, list[Entity]] = {}
    for template in templates:
        for entity in template.entities:
            earlier = roles.setdefault(entity.role, [])
            if len(templates) == 1 or not any(_is_part(entity.raw, other.raw) for other in earlier):
                earlier.append(entity)
    return roles


def _is_part(strings: Sequence[str], others: Sequence[str]) -> bool:
    """Tell if one of two sets is a subset of the other."""
    return set(strings).issubset(others) or set(strings).issuperset(others)
