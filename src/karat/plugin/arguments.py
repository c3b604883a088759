"""Arguments as measures compare them, from which the errors of arguments are found."""

from collections.abc import Hashable, Mapping
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from karat.model import Mention, Value

ArgumentPart = Literal["trigger", "template", "type", "role", "span", "strings"]
"""The parts of an argument that can be right or wrong.

trigger   the place of the event
template  the template, for arguments of templates
type      the type of the event or template
role      the role
span      the place of what fills the role
strings   what fills the role, if it is compared as text
"""


class ArgumentItem(Struct, frozen=True, gc=False):
    """An argument as an item of an outcome: a role of an event (or template), and what fills it."""

    role: str
    event: Mention
    mentions: tuple[Mention, ...]
    """The mention that fills the role, or all mentions of the cluster that does."""
    cluster: str | None = None
    """The cluster, if the link names one."""

    @property
    def kind(self) -> str:
        """The kind of its filler; `argument` if it has no mention."""
        return self.mentions[0].kind if self.mentions else "argument"

    @property
    def attributes(self) -> Mapping[str, Value]:
        """The attributes of the event, and the role."""
        return {**self.event.attributes, "role": self.role}


class Filler(Struct, frozen=True, gc=False):
    """A filler of a role: a mention, or all mentions of an entity."""

    mentions: tuple[Mention, ...]
    is_entity: bool = False


class ComparedArgument(Struct, frozen=True, gc=False):
    """An argument as a measure compares it; or an event or template, if it counts by itself."""

    key: Hashable
    """A key that no other argument of its side has."""
    items: tuple[ArgumentItem | Mention, ...]
    """The items of its outcomes."""
    event: Hashable
    """Its event or template; events of both sides that the measure takes for the same have the same key."""
    values: Mapping[ArgumentPart, Hashable]
    """The values that are compared."""
    fillers: tuple[Filler, ...] = ()
    """The fillers of the role, as a system has to give them to be right; empty: it is an event."""
    is_attainable: bool = True
    """False if gold has several events or types at one place, of which the protocol lets a system have another."""

    @property
    def role(self) -> str:
        """Its role; empty: it is an event."""
        first = self.items[0]
        return first.role if isinstance(first, ArgumentItem) else ""

    @property
    def about_event(self) -> tuple[Hashable, ...]:
        """The values of its event that are compared."""
        return tuple(self.values.get(part) for part in ("trigger", "template", "type"))


class ArgumentOutcome(NamedTuple):
    """Two arguments that were matched, at least in part, or one that was not."""

    gold: ComparedArgument | None
    system: ComparedArgument | None
    wrong: int = 0
    """The number of outcomes of the measure behind it that did not earn everything."""


class DocumentArguments(Struct, frozen=True):
    """The arguments of one document as a measure compares them. Arguments that do not count may be among them."""

    document: str
    outcomes: tuple[ArgumentOutcome, ...]
    gold_events: Mapping[Any, Mention]
    """Events or templates of gold, as a system has to give them to be right."""
    system_events: Mapping[Any, Mention]
    gold_known: frozenset[tuple[Hashable, ...]] = frozenset()
    """The values of all events of gold that are compared (`about_event`)."""
    system_known: frozenset[tuple[Hashable, ...]] = frozenset()
