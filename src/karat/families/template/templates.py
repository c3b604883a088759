"""Templates: their types, and the entities that fill their roles, as strings; and the entities by role alone."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain
from operator import attrgetter
from typing import Generic, NamedTuple, TypeVar

from msgspec import Struct

from karat.arguments import Event
from karat.families.arg.events import BothEvents
from karat.families.arg.strings import best_pairs, normalised
from karat.limits import check_pairs
from karat.model import Document, Mention
from karat.plugin import ArgumentItem, ErrorsOf, Tables, TableSpec
from karat.problems import quoted
from karat.words import mention_text

UNTYPED = "attack"
"""The type of a template that has none, or one that is no string."""


class Entity(Struct, frozen=True, gc=False):
    """An entity that fills a role: its strings, normalised and as written."""

    role: str
    strings: tuple[str, ...]
    raw: tuple[str, ...]
    item: ArgumentItem


_role = attrgetter("role")


class Template(NamedTuple):
    """A template with its entities, by role and in the order of their mentions."""

    mention: Mention
    type: str
    entities: tuple[Entity, ...]

    @property
    def content(self) -> object:
        """Everything in which equal templates agree."""
        return self.type, tuple([(entity.role, entity.raw) for entity in self.entities])


class Templates(NamedTuple):
    """The templates of both sides of a document."""

    gold: list[Template]
    system: list[Template]
    unknown: int
    """Entities without any string, which are left out."""


T = TypeVar("T")


class TemplateTable(NamedTuple, Generic[T]):
    """Roles or templates of some documents, as a measure compares them."""

    parts: tuple[T, ...]
    unknown: int
    """Entities without any string, which are left out."""


class TemplateSpec(TableSpec[TemplateTable[T]], Struct, frozen=True, cache_hash=True):
    """A table of templates or of their entities."""

    def add(self, tables: Sequence[TemplateTable[T]]) -> TemplateTable[T]:
        """Join documents, which have no templates in common."""
        parts = tuple(chain.from_iterable(table.parts for table in tables))
        return TemplateTable(parts, sum(table.unknown for table in tables))

    @property
    def errors_of(self) -> ErrorsOf:
        """Arguments."""
        return "arguments"


class BothTemplates(TableSpec[Templates], Struct, frozen=True, cache_hash=True):
    """The templates of both sides, all that there are."""

    def make(self, tables: Tables) -> Templates:
        """Read the strings of their entities."""
        pair, (gold, system) = tables.pair, tables.get(BothEvents("template"))
        golds = [_template(event, pair.gold, pair.system) for event in gold]
        systems = [_template(event, pair.system, pair.gold) for event in system]
        every = sum(len(event.arguments) for event in (*gold, *system))
        known = sum(len(template.entities) for template in (*golds, *systems))
        return Templates(golds, systems, every - known)


def _template(event: Event, *documents: Document) -> Template:
    type_ = event.type if isinstance(event.type, str) else UNTYPED
    return Template(event.mention, type_, tuple(sorted(_entities(event, *documents), key=_role)))


def _entities(event: Event, *documents: Document) -> Iterator[Entity]:
    for argument in event.arguments:
        texts = [mention_text(mention, *documents) for mention in argument.mentions]
        raw = tuple(text for text in texts if text is not None)
        if raw:
            item = ArgumentItem(argument.role, event.mention, argument.mentions, argument.cluster)
            yield Entity(argument.role, tuple(map(normalised, raw)), raw, item)


def distinct(templates: Sequence[Template]) -> list[Template]:
    """Equal templates once: those of the same type, with the same strings in the same order."""
    return list({template.content: template for template in reversed(templates)}.values())[::-1]


def akin(gold: Sequence[Template], system: Sequence[Template]) -> list[tuple[int, int]]:
    """Templates that have something in common: strings in the same role, else strings, else the type; best first."""
    found = []
    theirs = [_strings(template) for template in system]
    for g, template in enumerate(gold):
        own = _strings(template)
        for s, other in enumerate(system):
            likeness = len(own[0] & theirs[s][0]), len(own[1] & theirs[s][1]), template.type == other.type
            if any(likeness):
                found.append((likeness, -g, -s))
    golds, systems = set[int](), set[int]()
    pairs = []
    for _, g, s in sorted(found, reverse=True):
        if g not in golds and s not in systems:
            golds.add(g)
            systems.add(s)
            pairs.append((-g, -s))
    return pairs


def _strings(template: Template) -> tuple[frozenset[tuple[str, str]], frozenset[str]]:
    """The strings of a template with their roles, and without."""
    in_roles = frozenset((entity.role, text) for entity in template.entities for text in entity.strings)
    return in_roles, frozenset(string for _, string in in_roles)


class RoleEntities(NamedTuple):
    """One role of a document: its entities, and which were assigned to which, with their similarity (CEAF-REE)."""

    document: str
    gold: tuple[Entity, ...]
    system: tuple[Entity, ...]
    pairs: tuple[tuple[int, int, Fraction], ...]


class EntityAssignment(TemplateSpec[RoleEntities], frozen=True, cache_hash=True):
    """The best one-to-one assignment of the entities of each role (Du et al. 2021, CEAF-REE).

    With `proportional`, a pair is worth the share of its system strings that gold has, else all or nothing.
    """

    proportional: bool = False

    def make(self, tables: Tables) -> TemplateTable[RoleEntities]:
        """Assign the entities of one document, role by role."""
        templates = tables.get(BothTemplates())
        gold, system = _by_role(templates.gold), _by_role(templates.system)
        document = tables.pair.gold.id
        roles = [
            self._assigned(document, gold.get(role, []), system.get(role, [])) for role in sorted({*gold, *system})
        ]
        return TemplateTable(tuple(roles), templates.unknown)

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
    """Return whether one of two sets is a subset of the other."""
    return set(strings).issubset(others) or set(strings).issuperset(others)
