"""The entities that fill each role of a document, gold's assigned to the system's (Du et al. 2021, CEAF-REE)."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import chain
from math import lcm
from typing import NamedTuple

from msgspec import Struct

from karat.align.assignment import assignment
from karat.plugin import ErrorsOf, Tables, TableSpec
from karat.tables.templates import BothTemplates, Entity, Template, fits


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
        id_ = tables.pair.gold.id
        roles = [self._assigned(id_, gold.get(one, []), system.get(one, [])) for one in sorted({*gold, *system})]
        return EntityTable(tuple(roles), templates.unknown)

    def _assigned(self, document: str, gold: Sequence[Entity], system: Sequence[Entity]) -> RoleEntities:
        values = {
            (g, s): value
            for g, one in enumerate(gold)
            for s, other in enumerate(system)
            if (value := self._similarity(one, other))
        }
        scale = lcm(*(value.denominator for value in values.values()))
        chosen = assignment({edge: int(value * scale) for edge, value in values.items()})
        return RoleEntities(document, tuple(gold), tuple(system), tuple((g, s, values[g, s]) for g, s in chosen))

    def _similarity(self, gold: Entity, system: Entity) -> Fraction:
        if self.proportional:
            return Fraction(sum(one in system.strings for one in gold.strings), len(system.strings))
        return Fraction(fits(gold, system))

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
            taken = roles.setdefault(entity.role, [])
            strings = set(entity.raw)
            if len(templates) == 1 or not any(strings <= {*one.raw} or strings >= {*one.raw} for one in taken):
                taken.append(entity)
    return roles
