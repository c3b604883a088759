"""Templates: their types, and the entities that fill their roles, as strings; and the entities by role alone."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from operator import attrgetter
from typing import NamedTuple

from msgspec import Struct

from karat.arguments import Event
from karat.families.arg.events import BothEvents, DocumentsSpec
from karat.families.arg.strings import best_pairs, normalised
from karat.limits import check_pairs
from karat.match.assignment import Edge
from karat.model import Document, Mention
from karat.plugin import ArgumentItem, Tables, TableSpec
from karat.problems import quoted
from karat.words import mention_text

UNTYPED = "attack"
"""The type of a template that has none, or one that is not a string."""


class Entity(Struct, frozen=True, gc=False):
    """An entity that fills a role: its strings, normalised and as written."""

    role: str
    strings: tuple[str, ...]
    raw: tuple[str, ...]
    item: ArgumentItem


class Template(NamedTuple):
    """A template with its entities, by role and in the order of their mentions."""

    mention: Mention
    type: str
    entities: tuple[Entity, ...]


class Templates(NamedTuple):
    """The templates of both sides of a document."""

    gold: list[Template]
    system: list[Template]
    unknown: int
    """Entities without any string, which are left out."""


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
    return Template(event.mention, type_, tuple(sorted(_entities(event, *documents), key=attrgetter("role"))))


def _entities(event: Event, *documents: Document) -> Iterator[Entity]:
    for argument in event.arguments:
        texts = [mention_text(mention, *documents) for mention in argument.mentions]
        raw = tuple(text for text in texts if text is not None)
        if raw:
            item = ArgumentItem(argument.role, event.mention, argument.mentions, argument.cluster)
            yield Entity(argument.role, tuple(map(normalised, raw)), raw, item)


def distinct(templates: Sequence[Template]) -> list[Template]:
    """Equal templates once: those of the same type, with the same strings in the same order."""
    unique = {
        (template.type, tuple([(entity.role, entity.raw) for entity in template.entities])): template
        for template in reversed(templates)
    }
    return list(unique.values())[::-1]


class Scored(Struct, frozen=True, gc=False):
    """An entity of one side: its template, how much it counts, and how much of that is right."""

    entity: Entity
    template: int
    size: int
    right: int
    partner: int | None
    """The index of an entity of the other side with which it shares something."""


class PairedTemplates(NamedTuple):
    """The templates of a document, one-to-one pairs of them, and the entities that count."""

    document: str
    unknown: int
    """Entities without any string, which are left out."""
    gold: tuple[Template, ...] = ()
    system: tuple[Template, ...] = ()
    pairs: tuple[Edge, ...] = ()
    """Indexes of gold and of system templates."""
    gold_entities: tuple[Scored, ...] = ()
    system_entities: tuple[Scored, ...] = ()
    dropped: frozenset[int] = frozenset()
    """Templates of gold that are copies of others under another type, and are not compared."""
    is_tied: bool = False
    """True if an equally good assignment of templates hits fewer entities of gold."""


class RoleEntities(NamedTuple):
    """One role of a document: its entities, and which were assigned to which, with their similarity (CEAF-REE)."""

    gold: Sequence[Entity]
    system: Sequence[Entity]
    pairs: tuple[tuple[int, int, Fraction], ...]


class DocumentEntities(NamedTuple):
    """The entities of a document by role."""

    document: str
    unknown: int
    """Entities without any string, which are left out."""
    roles: tuple[RoleEntities, ...]


class EntityAssignment(DocumentsSpec[DocumentEntities], frozen=True, cache_hash=True):
    """The best one-to-one assignment of the entities of each role (Du et al. 2021, CEAF-REE).

    With `proportional`, a pair is worth the share of its system strings that gold has, else all or nothing.
    """

    proportional: bool = False

    def make(self, tables: Tables) -> tuple[DocumentEntities, ...]:
        """Assign the entities of one document, role by role."""
        templates, document = tables.get(BothTemplates()), tables.pair.gold.id
        gold, system = _by_role(templates.gold), _by_role(templates.system)
        where = f"document {quoted(document)}"
        roles = []
        for role in sorted({*gold, *system}):
            golds, systems = gold.get(role, []), system.get(role, [])
            check_pairs(len(golds) * len(systems), "pairs of entities in one role", where=where, origin="gold")
            values = {
                (g, s): self._similarity(one.strings, other.strings)
                for g, one in enumerate(golds)
                for s, other in enumerate(systems)
            }
            roles.append(RoleEntities(golds, systems, tuple((*pair, values[pair]) for pair in best_pairs(values))))
        return (DocumentEntities(document, templates.unknown, tuple(roles)),)

    def _similarity(self, gold: Sequence[str], system: Sequence[str]) -> Fraction:
        """φ(g, s)."""
        if self.proportional:
            return Fraction(sum(text in system for text in gold), len(system))
        return Fraction({*gold}.issuperset(system))


def _by_role(templates: Sequence[Template]) -> dict[str, list[Entity]]:
    """Return the entities of each role.

    Several templates are made one table, as GRIT's preprocessing does it: an entity whose strings are a subset or a
    superset of an earlier one's is left out.
    """
    roles: dict[str, list[Entity]] = {}
    for template in templates:
        for entity in template.entities:
            earlier = roles.setdefault(entity.role, [])
            own, others = {*entity.raw}, [{*other.raw} for other in earlier]
            if len(templates) == 1 or not any(own <= other or own >= other for other in others):
                earlier.append(entity)
    return roles
