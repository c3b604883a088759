"""EMD, RMD and VMD (sections 3.2.6 to 3.2.8 of the plan): mentions promoted to elements.

EMD promotes entity mentions of both sides. RMD and VMD promote the mentions of relations and events on both sides, and
the system's mentions of what can be an argument; the reference's arguments stay mentions of whole elements.
"""

from collections.abc import Mapping, Sequence

from karat.model import Document, Mention, Value, qualified
from karat.model.regions import place
from karat.plugin import Tables, TableSpec
from karat.tables.ace.elements import ElementsByKind, WholeElements, in_order, numbered
from karat.tables.ace.parameters import ARGUED, DETECTED
from karat.tables.ace.records import MAIN_ROLES, Argument, Element, Location


class PromotedEntities(TableSpec[tuple[ElementsByKind, ElementsByKind]]):
    """each entity mention an entity, on both sides (EMD)."""

    promoted = True, True

    def __init__(self, whole: WholeElements) -> None:
        self.whole = whole

    def make(self, tables: Tables) -> tuple[ElementsByKind, ElementsByKind]:
        """Those of gold and of the system."""
        gold, system = tables.get(self.whole)
        document = tables.pair.gold.id
        return _promoted(gold, ("entity",), document), _promoted(system, ("entity",), document)


class PromotedRelations(TableSpec[tuple[ElementsByKind, ElementsByKind]]):
    """each mention of a relation or event, and in the system each mention of what can be an argument."""

    promoted = False, True

    def __init__(self, entities: PromotedEntities) -> None:
        self.entities = entities

    def make(self, tables: Tables) -> tuple[ElementsByKind, ElementsByKind]:
        """Those of gold and of the system."""
        gold, system = tables.get(self.entities.whole)
        _, entities = tables.get(self.entities)
        arguments = entities | _promoted(system, ("value", "time"), tables.pair.gold.id)
        return (
            gold | self._relations(tables.pair.gold, gold, is_system=False),
            arguments | self._relations(tables.pair.system, system, is_system=True),
        )

    def _relations(self, document: Document, elements: ElementsByKind, *, is_system: bool) -> ElementsByKind:
        """Each mention of a relation or event as a relation or event, its arguments those of the mention.

        The reference's point to whole elements, the system's to promoted mentions. A mention that is given twice in
        one role is one argument.
        """
        owner = {
            mention.id: (kind, qualified(document.id, mention.id) if is_system else element.id, mention)
            for kind in DETECTED
            for element in elements.get(kind, ())
            for mention in element.mentions
        }
        order = numbered(id_ for _, id_, _ in owner.values())
        arguments: dict[str, dict[tuple[str, str], Argument]] = {}
        heads: dict[str, list[Location]] = {}
        for link in document.links:
            if link.target in owner:
                kind, id_, mention = owner[link.target]
                arguments.setdefault(link.source, {})[link.kind, mention.id] = Argument(link.kind, kind, id_)
                if link.kind in MAIN_ROLES:
                    heads.setdefault(link.source, []).append(place(mention, "head") or place(mention))

        def relation(element: Element, mention: Mention) -> Element:
            id_ = qualified(document.id, mention.id)
            stated = self.entities.whole.reading.promoted_arguments(arguments.get(mention.id, {}).values())
            span = _span(heads.get(mention.id, ()))
            own = in_order(stated, order)
            return Element(id_, element.kind, element.attributes, (mention,), element.inherent, own, element.id, span)

        return {
            kind: [relation(element, mention) for element in elements.get(kind, ()) for mention in element.mentions]
            for kind in ARGUED
        }


def _promoted(elements: ElementsByKind, kinds: Sequence[str], document: str) -> ElementsByKind:
    """Each mention an element by itself."""
    return {
        kind: [
            Element(
                qualified(document, mention.id),
                kind,
                _at_level(element, mention),
                (mention,),
                element.inherent,
                parent=element.id,
            )
            for element in elements.get(kind, ())
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


def _span(regions: Sequence[Location]) -> Location:
    """From the begin of the first to the end of the last region; boxes stay as they are."""
    parts = [part for region in regions for part in region]
    if not parts or len(parts[0]) > 2:
        return tuple(parts)  # type: ignore[return-value]
    return ((min(part[0] for part in parts), max(part[1] for part in parts)),)  # type: ignore[return-value]
