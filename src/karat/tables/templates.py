"""Templates: their types, and the entities that fill their roles, as strings."""

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

from msgspec import Struct

from karat.model import Document, Mention
from karat.model.arguments import Event
from karat.model.texts import mention_text
from karat.plugin import ArgumentItem, Tables, TableSpec
from karat.tables.arguments import BothEvents
from karat.tables.strings import normalised

UNTYPED = "attack"
"""The type of a template that has none, or one that is no string."""


class Entity(Struct, frozen=True, gc=False):
    """What fills a role: its strings, normalised and as written."""

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
        """What makes two templates equal."""
        return self.type, tuple([(entity.role, entity.raw) for entity in self.entities])


class Templates(NamedTuple):
    """The templates of both sides of a document."""

    gold: list[Template]
    system: list[Template]
    unknown: int
    """Entities without any string, which are left out."""


class BothTemplates(TableSpec[Templates], Struct, frozen=True, cache_hash=True):
    """The templates of both sides, all that there are."""

    def make(self, tables: Tables) -> Templates:
        """Gold's and the system's."""
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
