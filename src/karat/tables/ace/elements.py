"""Elements: what the ACE tasks score, made from the clusters, mentions and links of a document.

What is not written but follows is added: the level of an entity, the type of a timex2, the defaults of a protocol. In
EMD, RMD and VMD mentions are promoted: each becomes an element by itself.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from karat.model import Boxes, Document, Mention, Region, Value, qualified
from karat.plugin import Tables, TableSpec
from karat.regions import place
from karat.tables.ace.parameters import ARGUED, DETECTED, Values, worth


class Argument(NamedTuple):
    """What plays a role in a relation or an event."""

    role: str
    kind: str
    element: str
    """The id of the element, or of the mention that was promoted to one."""


class Element(Struct, gc=False, eq=False):
    """An entity, value, time, relation or event: what it is, where it is mentioned, and its arguments."""

    id: str
    kind: str
    attributes: Mapping[str, Value]
    mentions: Sequence[Mention]
    arguments: Sequence[Argument] = ()
    parent: str | None = None
    """The element that this one was a mention of, before it was promoted."""
    heads: Region | Boxes = ()
    """Of a promoted relation mention: from the first to the last head of Arg-1 and Arg-2, or their boxes."""


RELATED = ("Arg-1", "Arg-2")
"""The roles of the two arguments that a relation is asserted of."""

Side = dict[str, list[Element]]
"""The elements of one side of a document by kind, in the order of the text."""


class Elements(TableSpec[tuple[Side, Side]]):
    """Wanted: the elements of both sides."""

    promoted = False, False
    """Whether those of gold, and of the system, are promoted mentions."""

    def __init__(self, values: Values) -> None:
        self._readings = values.readings
        self._levels = values.EDR.MTypeValue

    def make(self, tables: Tables) -> tuple[Side, Side]:
        """Those of gold and of the system."""
        return self._elements(tables.pair.gold), self._elements(tables.pair.system)

    def _elements(self, document: Document) -> Side:
        mentions: dict[str, list[Mention]] = {}
        kinds: dict[str, str] = {}
        for mention in document.mentions:
            id_ = mention.id if mention.cluster is None else mention.cluster
            mentions.setdefault(id_, []).append(mention)
            kinds.setdefault(id_, mention.kind)
        attributes: dict[str, Mapping[str, Value]] = {}
        for cluster in document.clusters:
            kinds[cluster.id] = cluster.kind
            attributes[cluster.id] = cluster.attributes
        arguments: dict[str, list[Argument]] = {}
        for link in document.links:
            kind = kinds.get(link.target)
            if kind in DETECTED and link.source in kinds:
                arguments.setdefault(link.source, []).append(Argument(link.kind, kind, link.target))
        side: Side = {}
        for id_, kind in kinds.items():
            own = mentions.get(id_, ())
            element = Element(id_, kind, self._derived(kind, attributes.get(id_, {}), own), own)
            side.setdefault(kind, []).append(element)
        for elements in side.values():
            elements.sort(key=_first)
        order = _numbered(element.id for kind in DETECTED for element in side.get(kind, ()))
        for kind in ARGUED:
            for element in side.get(kind, ()):
                element.arguments = _in_order(arguments.get(element.id, ()), order)
        return side

    def _derived(self, kind: str, attributes: Mapping[str, Value], mentions: Sequence[Mention]) -> Mapping[str, Value]:
        """Attributes with what is not written but follows; one that is written empty is absent."""
        derived: dict[str, Value] = dict(self._readings.defaults.get(kind, ()))
        derived.update([(name, value) for name, value in attributes.items() if value != ""])
        if kind == "entity":
            derived["level"] = self._level(mentions)
        elif kind == "time":
            derived["type"] = "TIMEX2"
        return derived

    def _level(self, mentions: Iterable[Mention]) -> str:
        """The most valued mention type of an entity."""
        types = [str(mention.attributes.get("type", "")) for mention in mentions]
        return max(types, key=lambda type_: worth(self._levels, type_), default="")


class Promoted(TableSpec[tuple[Side, Side]]):
    """Wanted: elements made of mentions.

    Each entity mention on both sides (EMD). Or, if these `entities` are named: each mention of a relation or event on
    both sides, and in the system each mention of what may be an argument (RMD, VMD).
    """

    def __init__(self, whole: Elements, entities: "Promoted | None" = None) -> None:
        self._whole = whole
        self._entities = entities
        self.promoted = entities is None, True
        """Whether what is detected in gold, and in the system, is a promoted mention."""

    def make(self, tables: Tables) -> tuple[Side, Side]:
        """Those of gold and of the system."""
        gold, system = tables.get(self._whole)
        document = tables.pair.gold.id
        if self._entities is None:
            return _singles(gold, ("entity",), document), _singles(system, ("entity",), document)
        _, entities = tables.get(self._entities)
        return (
            gold | _mentioned(tables.pair.gold, gold, promoted=False),
            entities
            | _singles(system, ("value", "time"), document)
            | _mentioned(tables.pair.system, system, promoted=True),
        )


def _singles(side: Side, kinds: Sequence[str], document: str) -> Side:
    """Each mention an element by itself."""
    return {
        kind: [
            Element(qualified(document, mention.id), kind, _at_level(element, mention), (mention,), parent=element.id)
            for element in side.get(kind, ())
            for mention in element.mentions
        ]
        for kind in kinds
    }


def _at_level(element: Element, mention: Mention) -> Mapping[str, Value]:
    """The attributes of an element that has only this mention."""
    level = str(mention.attributes.get("type", ""))
    if element.kind != "entity" or element.attributes["level"] == level:
        return element.attributes
    return {**element.attributes, "level": level}


def _mentioned(document: Document, side: Side, *, promoted: bool) -> Side:
    """Each mention of a relation or event as a relation or event, its arguments those of the mention.

    Reference arguments point to the whole element, so that two mentions of it in one role are one argument; a system's
    point to the promoted mention.
    """
    owner = {
        mention.id: (kind, qualified(document.id, mention.id) if promoted else element.id, mention)
        for kind in DETECTED
        for element in side.get(kind, ())
        for mention in element.mentions
    }
    order = _numbered(id_ for _, id_, _ in owner.values())
    arguments: dict[str, list[Argument]] = {}
    heads: dict[str, list[Region | Boxes]] = {}
    for link in document.links:
        if link.target in owner:
            kind, id_, mention = owner[link.target]
            arguments.setdefault(link.source, []).append(Argument(link.kind, kind, id_))
            if link.kind in RELATED:
                heads.setdefault(link.source, []).append(place(mention, "head") or place(mention))
    return {
        kind: [
            Element(
                qualified(document.id, mention.id),
                kind,
                element.attributes,
                (mention,),
                _in_order(arguments.get(mention.id, ()), order),
                element.id,
                _hull(heads.get(mention.id, ())),
            )
            for element in side.get(kind, ())
            for mention in element.mentions
        ]
        for kind in ARGUED
    }


def _hull(regions: Sequence[Region | Boxes]) -> Region | Boxes:
    """From the first to the last place of some regions; boxes are left as they are."""
    if not regions:
        return ()
    parts = [part for region in regions for part in region]
    if not parts or len(parts[0]) > 2:
        return tuple(parts)  # type: ignore[return-value]
    return ((min(part[0] for part in parts), max(part[1] for part in parts)),)  # type: ignore[return-value]


def _numbered(ids: Iterable[str]) -> Mapping[str, int]:
    """The place of each id in the order of the text."""
    return {id_: number for number, id_ in enumerate(dict.fromkeys(ids))}


def _in_order(arguments: Iterable[Argument], order: Mapping[str, int]) -> Sequence[Argument]:
    """Each once, by role and then by the text: neither the order of links nor a name decides anything."""
    distinct = set(arguments)
    if len(distinct) < 2:
        return list(distinct)
    return sorted(distinct, key=lambda one: (one.role, one.kind, order[one.element]))


def _first(element: Element) -> Region | Boxes:
    """Where its first mention is."""
    return min([place(mention) for mention in element.mentions], default=())


def extent(mention: Mention) -> Region | Boxes:
    """The whole extent; an event mention's span is its anchor."""
    return place(mention, "extent") or place(mention)
