"""Errors of elements (ACE): missed, false alarms, wrong attributes, wrong mentions or arguments.

They are found from what a measure lists of each element. An error belongs to the first class in the order of definition
that describes it. A mapped element whose attributes and arguments are right can still have lost value.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property

from msgspec.structs import replace

from karat.families.ace.recognition import RecognitionTable
from karat.families.ace.records import ARGUED
from karat.families.coref.errors import REPAIRED
from karat.families.nugget.errors import near
from karat.insight.repairs import Edit, Repair
from karat.insight.units import Classes, ErrorKind, Findings, FoundError, Target, UnitView
from karat.model import Cluster, Document, Link, Mention, Pair, Value
from karat.plugin import ClusterItem, Comparison, Detail, DetailedMeasure
from karat.problems import Origin
from karat.records import Cell, Instance, Record

ABSENT = "(none)"
TINY = 1e-6
"""A smaller loss is none: values are products of fractions, and NIST's scorer adds 1e-8 in many places."""


def _classes(target: Target, names: Set[str]) -> Classes:
    del target
    attributes = sorted(name.removeprefix("wrong ") for name in names if name.startswith("wrong "))
    classes = {
        "miss": "the reference is mapped to no element of the system",
        "false alarm": "the element is mapped to no reference",
        **{f"wrong {name}": f"the element is mapped, but its {name} is not the reference's" for name in attributes},
        "mentions": "the attributes are right; mentions are missing, spurious, or wrong",
        "arguments": "the attributes are right; arguments are missing, spurious, in a wrong role, or something else",
        "argument values": "the arguments correspond, but what they refer to is worth less than gold's",
    }
    return {name: text for name, text in classes.items() if name in names or name in ("miss", "false alarm")}


def _find(unit: UnitView, target: Target, confused: Sequence[str]) -> Findings:
    del target, confused  # every attribute of an element is compared
    errors: list[FoundError] = []
    cells: dict[str, dict[Cell, int]] = {}
    sides = {id_: _Sides(view.pair, unit.comparison) for id_, view in unit.documents.items()}
    for document, measure, table in unit.tables:
        assert isinstance(measure, DetailedMeasure), "its table has elements"
        mapping = _counterparts(table)
        for side in sides.values() if document is None else [sides[document]]:
            side.mapping = mapping
        for detail, parts in _items(measure.details(table)):
            values = [None if item is None else item.attributes for item in (detail.gold, detail.system)]
            for name in dict.fromkeys(name for side in values if side is not None for name in side):
                one, other = (None if side is None else str(side.get(name, ABSENT)) for side in values)
                counts = cells.setdefault(name, {})
                counts[one, other] = counts.get((one, other), 0) + 1
            places = [document] if document is not None else [id_ for id_, side in sides.items() if side.has(detail)]
            found = _class_of(detail, parts, [sides[id_] for id_ in places])
            if found is not None:
                golds = [record for id_ in places for record in sides[id_].records(unit, "gold", detail.gold_id)]
                systems = [record for id_ in places for record in sides[id_].records(unit, "system", detail.system_id)]
                place = places[0] if len(places) == 1 else None
                repairs = [Repair(id_, sides[id_].repair(found, detail)) for id_ in places]
                errors.append(FoundError(found, Instance(unit.name, place, tuple(golds), tuple(systems)), repairs))
    return Findings(errors, cells)


ERRORS = ErrorKind(_classes, _find)


def _counterparts(table: object) -> Mapping[str, str]:
    """Entities, values and times that are mapped to each other, and promoted mentions, if they are arguments."""
    if not isinstance(table, RecognitionTable):
        return {}
    tables = (*table.whole.values(), *table.arguments.values())
    return {gold: system for values in tables for gold, system in values.mapping.items()}


def _items(details: Iterable[Detail]) -> list[tuple[Detail, list[Detail]]]:
    """Each element with its parts, which follow it."""
    items: list[tuple[Detail, list[Detail]]] = []
    for detail in details:
        if detail.listed is None:
            items[-1][1].append(detail)
        else:
            items.append((detail, []))
    return items


def _class_of(detail: Detail, parts: Sequence[Detail], sides: "Sequence[_Sides]") -> str | None:
    """The class of an element that is not right; None if it is."""
    if detail.system is None:
        return "miss"
    if detail.gold is None:
        return "false alarm"
    is_correct = detail.is_nominal or (detail.listed is not None and detail.listed["outcome"] == "correct")
    if is_correct and detail.lost <= TINY:
        return None
    name, is_wrong = _content(detail, parts, sides)
    # What costs more than it earns costs less under a wrong attribute: then its content is repaired first.
    if not (is_wrong and detail.listed is not None and detail.listed["value"] < 0):
        for attribute in detail.wrong:
            if any(side.is_written(attribute, detail) for side in sides):  # others follow from mentions
                return f"wrong {attribute}"
    return name


def _content(detail: Detail, parts: Sequence[Detail], sides: "Sequence[_Sides]") -> tuple[str, bool]:
    """The class of errors beside attributes, and whether mentions are wrong, or arguments are not those of gold."""
    if not any(part.part == "argument" for part in parts):
        return "mentions", not all(side.has_same_mentions(detail) for side in sides)
    has_same = all(side.has_same_arguments(detail) for side in sides)
    return "argument values" if has_same else "arguments", not has_same


class _Side:
    """The elements of one side of a document: clusters, or mentions that are promoted to elements."""

    def __init__(self, document: Document) -> None:
        self.mentions = {mention.id: mention for mention in document.mentions}
        self.clusters = {cluster.id: cluster for cluster in document.clusters}
        self.members: dict[str, list[Mention]] = {id_: [] for id_ in self.clusters}
        for mention in document.mentions:
            self.members.setdefault(mention.cluster or mention.id, []).append(mention)
        self.links: dict[str, list[Link]] = {}
        for link in document.links:
            self.links.setdefault(link.source, []).append(link)

    def has(self, id_: str | None) -> bool:
        return id_ in self.members or id_ in self.mentions

    def mentions_of(self, id_: str) -> list[Mention]:
        """The mentions of an element; a promoted mention is its own."""
        return self.members[id_] if id_ in self.members else [self.mentions[id_]]

    def described(self, id_: str) -> Cluster | None:
        """The cluster that describes an element; that of a promoted mention is its own cluster."""
        return self.clusters.get(id_ if id_ in self.members else self.mentions[id_].cluster or "")


class _Sides:
    """Both sides of a document, and how an error in it is repaired."""

    def __init__(self, pair: Pair, comparison: Comparison) -> None:
        self._pair, self._comparison = pair, comparison
        self._gold, self._system = _Side(pair.gold), _Side(pair.system)
        self.mapping: Mapping[str, str] = {}
        """Elements of gold, and those of the system that they are mapped to, as far as they are arguments."""

    def has(self, detail: Detail) -> bool:
        """Return whether an element is mentioned in this document."""
        return self._gold.has(detail.gold_id) or self._system.has(detail.system_id)

    def records(self, unit: UnitView, origin: Origin, id_: str | None) -> Iterator[Record]:
        """The record of an element, or of a promoted mention."""
        side = self._gold if origin == "gold" else self._system
        if id_ is not None and side.has(id_):
            item = ClusterItem(id_, len(side.members[id_])) if id_ in side.members else side.mentions[id_]
            record = unit.records.record(item, origin, self._pair.gold.id)
            yield from [] if record is None else [record]

    def is_written(self, name: str, detail: Detail) -> bool:
        """Return whether either side states an attribute of an element; some follow from its mentions."""
        sides = (self._gold, detail.gold_id), (self._system, detail.system_id)
        found = [side.described(id_) for side, id_ in sides if id_ is not None and side.has(id_)]
        return any(cluster is not None and name in cluster.attributes for cluster in found)

    def has_same_mentions(self, detail: Detail) -> bool:
        """Return whether an element has the mentions that gold has."""
        sides = (self._gold, detail.gold_id), (self._system, detail.system_id)
        found = [side.mentions_of(id_) if id_ is not None and side.has(id_) else [] for side, id_ in sides]
        golds, systems = (
            Counter((mention.span, mention.head, str(mention.attributes)) for mention in side) for side in found
        )
        return golds == systems

    def has_same_arguments(self, detail: Detail) -> bool:
        """Return whether an element has the arguments that are mapped to gold's, and no others."""
        golds = self._gold.links.get(detail.gold_id or "", ())
        systems = self._system.links.get(detail.system_id or "", ())
        return {(link.kind, self._counterpart(link.target)) for link in golds} == {
            (link.kind, link.target) for link in systems
        }

    def repair(self, name: str, detail: Detail) -> Edit:
        """The edit that repairs an error in this document."""
        edit = Edit()
        gold, system = detail.gold_id, detail.system_id
        if system is None or not self._system.has(system):
            if gold is not None and self._gold.has(gold):
                self._copy(edit, gold)
                self._argue(edit, gold, self._copied(gold), as_gold=True)
        elif gold is None or not self._gold.has(gold):
            self._remove(edit, system)
        elif name == "mentions":
            self._take_mentions(edit, gold, system)
        elif name == "arguments":
            self._argue(edit, gold, system)
        elif name == "argument values":
            edit.replaced = self._with_gold_arguments
        else:
            self._describe(edit, gold, system, name.removeprefix("wrong "))
        return edit

    def _copied(self, gold: str) -> str:
        """The id that a copy of a gold element gets; ids are the corpus's, and earlier repairs keep theirs."""
        id_ = f"{REPAIRED} {self._pair.gold.id} {gold}"
        while self._system.has(id_):
            id_ += "+"
        return id_

    def _copy(self, edit: Edit, gold: str) -> None:
        """Add an element of gold; of a promoted mention, an element with this mention."""
        id_, described = self._copied(gold), self._gold.described(gold)
        is_mention = gold not in self._gold.members
        if described is not None:
            cluster = f"{id_} *" if is_mention else id_
            edit.clusters[cluster] = replace(described, id=cluster)
            for mention in self._gold.mentions_of(gold):
                edit.added[id_ if is_mention else f"{id_} {mention.id}"] = replace(mention, cluster=cluster)

    def _remove(self, edit: Edit, system: str) -> None:
        """Remove an element with its mentions, or a promoted mention."""
        if system in self._system.clusters:
            edit.clusters[system] = None
        edit.mentions |= dict.fromkeys([mention.id for mention in self._system.mentions_of(system)])

    def _take_mentions(self, edit: Edit, gold: str, system: str) -> None:
        """Give an element the mentions that gold has."""
        if system not in self._system.members:
            mention = edit.mentions.get(system) or self._system.mentions[system]
            edit.mentions[system] = replace(self._gold.mentions[gold], id=system, cluster=mention.cluster)
            return
        edit.mentions |= dict.fromkeys([mention.id for mention in self._system.members[system]])
        for mention in self._gold.mentions_of(gold):
            edit.added[f"{self._copied(gold)} {mention.id}"] = replace(mention, cluster=system)

    def _argue(self, edit: Edit, gold: str, system: str, *, as_gold: bool = False) -> None:
        """Give an element the arguments that gold has; those that the system has not found are copied.

        `as_gold`: what they refer to becomes what it is in gold.
        """
        edit.links |= dict.fromkeys(self._system.links.get(system, ()), False)
        for link in self._gold.links.get(gold, ()):
            target = self._counterpart(link.target)
            if target is None and self._gold.has(link.target):
                target = self._copied(link.target)
                self._copy(edit, link.target)
            elif target is not None and as_gold:
                self._describe(edit, link.target, target)
                self._take_mentions(edit, link.target, target)
            if target is not None:
                edit.links[replace(link, source=system, target=target)] = True

    @cached_property
    def _with_gold_arguments(self) -> Document:
        """The system's relations and events, and what they refer to as in gold, as far as it is mapped."""
        gold, system = self._pair.gold, self._pair.system
        arguing = {cluster.id for side in (gold, system) for cluster in side.clusters if cluster.kind in ARGUED}
        clusters = [cluster for cluster in system.clusters if cluster.id in arguing]
        mentions = [mention for mention in system.mentions if mention.cluster in arguing]
        for cluster in gold.clusters:
            if cluster.id not in arguing:
                clusters.append(replace(cluster, id=self._copied(cluster.id)))
        for mention in gold.mentions:
            if mention.cluster not in arguing:
                copied = None if mention.cluster is None else self._copied(mention.cluster)
                mentions.append(replace(mention, id=self._copied(mention.id), cluster=copied))
        found = {self._counterpart(id_): self._copied(id_) for id_ in (*self._gold.members, *self._gold.mentions)}
        links = [replace(link, target=found[link.target]) for link in system.links if link.target in found]
        return replace(system, mentions=tuple(mentions), clusters=tuple(clusters), links=tuple(links))

    def _describe(self, edit: Edit, gold: str, system: str, name: str | None = None) -> None:
        """Give an element an attribute of gold's, or all; a promoted mention leaves its cluster for this."""
        gold_cluster, system_cluster = self._gold.described(gold), self._system.described(system)
        if gold_cluster is None or system_cluster is None:
            return
        attributes = dict(gold_cluster.attributes)
        if name is not None:
            attributes = {key: value for key, value in system_cluster.attributes.items() if key != name}
            attributes |= {key: value for key, value in gold_cluster.attributes.items() if key == name}
        cluster = replace(system_cluster, attributes=attributes)
        if system in self._system.members:
            edit.clusters[system] = cluster
        else:
            new = f"{REPAIRED} {self._pair.gold.id} {system} of the system"
            edit.clusters[new] = replace(cluster, id=new)
            edit.mentions[system] = replace(self._system.mentions[system], cluster=new)

    def _counterpart(self, gold: str) -> str | None:
        """The element that gold's is mapped to; or, in it, the mention at the place of gold's."""
        found = self.mapping.get(gold)
        if gold in self._gold.members or self._system.has(found):
            return found if self._system.has(found) else None
        return self._counterparts.get(gold)

    @cached_property
    def _counterparts(self) -> Mapping[str, str]:
        """Mentions of gold and of the system that overlap, best first, in elements that are mapped to each other."""
        if self._pair.gold.unit == "box":
            return {}
        golds = [
            _in_element(mention, self.mapping.get(mention.cluster or mention.id))
            for mention in self._pair.gold.mentions
        ]
        systems = [_in_element(mention, mention.cluster or mention.id) for mention in self._pair.system.mentions]
        known = [mention for mention in golds if mention.attributes]
        pairs = near(self._pair, known, systems, self._comparison, agree=("element",)) if known and systems else ()
        return {gold.id: system.id for gold, system in pairs}


def _in_element(mention: Mention, element: str | None) -> Mention:
    """A mention at the place of its head, with its element as its attribute."""
    attributes: dict[str, Value] = {} if element is None else {"element": element}
    return replace(mention, span=mention.head or mention.span, attributes=attributes)
