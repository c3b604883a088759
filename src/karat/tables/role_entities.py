"""The entities that fill each role of a document, gold's assigned to the system's (Du et al. 2021, CEAF-REE)."""

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from itertools import chain
from math import lcm
from typing import NamedTuple

from msgspec import Struct

from karat.plugin import ErrorsOf, Tables, TableSpec
from karat.tables.sharing import Limit, alike, assigned
from karat.tables.templates import SHARED, BothTemplates, Entity, Template, grouped_entities


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
        limit = Limit(id_, SHARED)
        roles = [self._assigned(id_, gold.get(one, []), system.get(one, []), limit) for one in sorted({*gold, *system})]
        return EntityTable(tuple(roles), templates.unknown)

    def _assigned(self, document: str, gold: Sequence[Entity], system: Sequence[Entity], limit: Limit) -> RoleEntities:
        golds, systems = grouped_entities(gold), grouped_entities(system)
        pairs_alike = alike(golds, systems, limit)
        found = {groups: self._similarity(one.strings, other.strings) for groups, one, other in pairs_alike}
        values = {groups: value for groups, value in found.items() if value}
        scale = lcm(*{value.denominator for value in values.values()})
        chosen = assigned({groups: int(value * scale) for groups, value in values.items()}, golds, systems)
        pairs = tuple((g, s, values[groups]) for (g, s), groups in chosen)
        return RoleEntities(document, tuple(gold), tuple(system), pairs)

    def _similarity(self, gold: Sequence[str], system: Sequence[str]) -> Fraction:
        if self.proportional:
            known = frozenset(system)
            return Fraction(sum(one in known for one in gold), len(system))
        return Fraction(frozenset(gold).issuperset(system))

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
    kept: dict[str, _Kept] = {}
    for template in templates:
        for entity in template.entities:
            if len(templates) == 1 or kept.setdefault(entity.filled.role, _Kept()).add(frozenset(entity.raw)):
                roles.setdefault(entity.filled.role, []).append(entity)
    return roles


class _Kept:
    """Sets of strings of which none is a subset of another."""

    def __init__(self) -> None:
        self._having: defaultdict[str, list[frozenset[str]]] = defaultdict(list)
        self._filed: defaultdict[str, list[frozenset[str]]] = defaultdict(list)
        """Each set once, under a string that was rare: whatever includes the set has that string."""

    def add(self, strings: frozenset[str]) -> bool:
        """Add a set, unless one is a subset or a superset of it."""
        rarest = min(strings, key=lambda text: len(self._having[text]))
        if any(strings <= other for other in self._having[rarest]):
            return False
        if any(other <= strings for text in strings for other in self._filed[text]):
            return False
        for text in strings:
            self._having[text].append(strings)
        self._filed[rarest].append(strings)
        return True
