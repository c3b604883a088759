"""Templates: their types, and the entities that fill their roles, as strings."""

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

from msgspec import Struct

from karat.model import Mention
from karat.model.arguments import Event
from karat.plugin import ArgumentItem, Tables, TableSpec
from karat.tables.arguments import BothEvents
from karat.tables.sharing import Groups
from karat.tables.strings import FillerTexts, normalised, strings_of

UNTYPED = "attack"
"""The type of a template that has none, or one that is no string."""


class Filled(Struct, frozen=True, gc=False, cache_hash=True):
    """What makes two entities equal: the role, and the normalised strings that fill it."""

    role: str
    strings: tuple[str, ...]


class Entity(Struct, frozen=True, gc=False):
    """What fills a role, normalised and as written."""

    filled: Filled
    raw: tuple[str, ...]
    item: ArgumentItem


_role = attrgetter("filled.role")


def grouped_entities(entities: Iterable[Entity]) -> Groups[Filled]:
    """Equal entities in groups; they share strings in the same role."""
    return Groups([one.filled for one in entities], strings_in_role)


def strings_in_role(one: Filled) -> list[tuple[str, str]]:
    """What entities may share."""
    return [(one.role, text) for text in one.strings]


SHARED = "pairs of different entities that share a string"
"""What is compared (see `Limit`)."""


class Template(NamedTuple):
    """A template with its entities, by role and in the order of their mentions."""

    mention: Mention
    type: str
    entities: tuple[Entity, ...]

    @property
    def content(self) -> object:
        """What makes two templates equal."""
        return self.type, tuple([(entity.filled.role, entity.raw) for entity in self.entities])


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
        pair = tables.pair
        gold, system = tables.get(BothEvents("template"))
        texts = FillerTexts("gold", pair.gold, pair.system), FillerTexts("system", pair.system, pair.gold)
        sides = [_template(one, texts[0]) for one in gold], [_template(one, texts[1]) for one in system]
        every = sum(len(event.arguments) for event in (*gold, *system))
        return Templates(*sides, every - sum(len(one.entities) for side in sides for one in side))


def _template(event: Event, texts: FillerTexts) -> Template:
    type_ = event.type if isinstance(event.type, str) else UNTYPED
    return Template(event.mention, type_, tuple(sorted(_entities(event, texts), key=_role)))


def _entities(event: Event, texts: FillerTexts) -> Iterator[Entity]:
    for argument in event.arguments:
        if raw := strings_of(argument, texts):
            item = ArgumentItem(argument.role, event.mention, argument.mentions, argument.cluster)
            yield Entity(Filled(argument.role, tuple(map(normalised, raw))), raw, item)


def distinct(templates: Sequence[Template]) -> list[Template]:
    """Equal templates once: those of the same type, with the same strings in the same order."""
    return list({template.content: template for template in reversed(templates)}.values())[::-1]


MOST_AKIN = 100_000
"""Pairs of templates among which those that have something in common are looked for."""


def akin(gold: Sequence[Template], system: Sequence[Template]) -> list[tuple[int, int]]:
    """Templates that have something in common: strings in the same role, else strings, else the type; best first."""
    if len(gold) * len(system) > MOST_AKIN:
        return []
    found = []
    theirs = [_strings(other) for other in system]
    for g, one in enumerate(gold):
        own = _strings(one)
        for s, other in enumerate(system):
            likeness = len(own[0] & theirs[s][0]), len(own[1] & theirs[s][1]), one.type == other.type
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
    in_roles = frozenset(part for entity in template.entities for part in strings_in_role(entity.filled))
    return in_roles, frozenset(string for _, string in in_roles)
