"""Documents written anew from their arguments, as a measure counts them.

Protocols differ in which arguments are one, which of several events on a trigger counts, and so on. A document with
exactly the arguments that count has the same score, and each of them can be changed by itself.
"""

from collections.abc import Hashable, Mapping
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from karat.model import Document, Link, Mention
from karat.plugin import DocumentArguments, Filler


class Slot(Struct, frozen=True, gc=False):
    """A role of an event or template, and what fills it."""

    event: Hashable
    role: str
    fillers: tuple[Filler, ...]


class Rewriting(NamedTuple):
    """The events and slots of a document, by keys."""

    events: Mapping[Hashable, Mention]
    slots: Mapping[Hashable, Slot]

    def rewritten(
        self, document: Document, events: Mapping[Hashable, Mention | None], slots: Mapping[Hashable, Slot | None]
    ) -> Document:
        """The document with nothing but these events and slots, as some changes leave them."""
        mentions: list[Mention] = []
        links: list[Link] = []
        ids: dict[Hashable, str] = {}
        for key, event in {**self.events, **events}.items():
            if event is not None:
                ids[key] = f"e{len(ids)}"
                mentions.append(replace(event, id=ids[key], cluster=None))
        for slot in {**self.slots, **slots}.values():
            if slot is None or slot.event not in ids:
                continue
            for filler in slot.fillers:
                name = f"{document.id} x{len(mentions)}" if filler.is_entity else None
                first = f"m{len(mentions)}"
                for mention in filler.mentions:
                    mentions.append(replace(mention, id=f"m{len(mentions)}", cluster=name))
                links.append(Link(slot.role, ids[slot.event], name or first))
        return replace(document, mentions=tuple(mentions), clusters=(), links=tuple(links))


def rewriting(arguments: DocumentArguments) -> Rewriting:
    """The document of the system as it is."""
    systems = [one.system for one in arguments.outcomes if one.system is not None]
    slots = {one.key: Slot(one.event, one.role, one.fillers) for one in systems if one.fillers and one.is_attainable}
    return Rewriting(arguments.system_events, slots)
