"""Elements: what the ACE tasks score, made from the clusters, mentions and links of a document.

What is not written but follows is added: the level of an entity, the type of a timex2, the defaults of a reading.
"""

from collections.abc import Iterable, Mapping, Sequence

from karat.model import Document, Mention, Value
from karat.model.regions import place
from karat.plugin import Tables, TableSpec
from karat.tables.ace.parameters import ARGUED, DETECTED
from karat.tables.ace.plan import Plan
from karat.tables.ace.records import Argument, Element, Location

ElementsByKind = dict[str, list[Element]]
"""The elements of one side of a document by kind, in the order of the text."""


class WholeElements(TableSpec[tuple[ElementsByKind, ElementsByKind]]):
    """the elements of both sides as they are annotated."""

    promoted = False, False
    """Whether those of gold, and of the system, are promoted mentions."""

    def __init__(self, reading: Plan) -> None:
        self.reading = reading

    def make(self, tables: Tables) -> tuple[ElementsByKind, ElementsByKind]:
        """Those of gold and of the system."""
        return self._elements(tables.pair.gold), self._elements(tables.pair.system)

    def _elements(self, document: Document) -> ElementsByKind:
        mentions: dict[str, list[Mention]] = {}
        kinds: dict[str, str] = {}
        for mention in document.mentions:
            id_ = mention.id if mention.cluster is None else mention.cluster
            if id_ in mentions:
                mentions[id_].append(mention)
            else:
                mentions[id_], kinds[id_] = [mention], mention.kind
        attributes: dict[str, Mapping[str, Value]] = {}
        for cluster in document.clusters:
            kinds[cluster.id] = cluster.kind
            attributes[cluster.id] = cluster.attributes
        arguments: dict[str, set[Argument]] = {}
        for link in document.links:
            kind = kinds.get(link.target)
            if kind in DETECTED and link.source in kinds:
                arguments.setdefault(link.source, set()).add(Argument(link.kind, kind, link.target))
        elements: ElementsByKind = {}
        for id_, kind in kinds.items():
            own = mentions.get(id_, ())
            completed = self._completed(kind, attributes.get(id_, {}), own)
            element = Element(id_, kind, completed, own, self.reading.inherent_value(kind, completed))
            elements.setdefault(kind, []).append(element)
        for of_kind in elements.values():
            of_kind.sort(key=_first_place)
        order = numbered(element.id for kind in DETECTED for element in elements.get(kind, ()))
        for kind in ARGUED:
            for element in elements.get(kind, ()):
                element.arguments = in_order(arguments.get(element.id, ()), order)
        return elements

    def _completed(
        self, kind: str, attributes: Mapping[str, Value], mentions: Sequence[Mention]
    ) -> Mapping[str, Value]:
        """Attributes with what is not written but follows; one that is written empty is absent."""
        written = attributes
        if "" in attributes.values():
            written = {name: value for name, value in attributes.items() if value != ""}
        completed: dict[str, Value] = {**self.reading.default_attributes(kind), **written}
        if kind == "entity":
            completed["level"] = self.reading.level(mentions)
        elif kind == "time":
            completed["type"] = "TIMEX2"
        return completed


def _first_place(element: Element) -> Location:
    """Where the first mention of an element is."""
    return min(map(place, element.mentions), default=())


def numbered(ids: Iterable[str]) -> Mapping[str, int]:
    """The position of each id in the order of the text."""
    return {id_: number for number, id_ in enumerate(dict.fromkeys(ids))}


def in_order(arguments: Iterable[Argument], order: Mapping[str, int]) -> Sequence[Argument]:
    """By role and then by the text: neither the order of links nor a name decides anything."""
    listed = list(arguments)
    if len(listed) > 1:
        listed.sort(key=lambda one: (one.role, one.kind, order[one.element]))
    return listed


def extent(mention: Mention) -> Location:
    """The whole extent; an event mention's span is its anchor."""
    return place(mention, "extent") or place(mention)
