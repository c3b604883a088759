"""Errors of relations: of each pair of mentions, what gold has, and what the system has in its place.

Outcomes of gold that miss credit meet those of the system on the same pair. An error belongs to the first class in the
order of definition that describes it. Its repair gives the system gold's links on the pair, and takes its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from msgspec.structs import replace

from karat.families.relation.links import Relations, SideRelations
from karat.insight.repairs import Edit, Repair
from karat.insight.units import Classes, DocumentView, ErrorKind, Findings, FoundError, Target, UnitView
from karat.match.mentions import Number
from karat.model import Document, Link, Mention
from karat.plugin import Outcome, RelationItem
from karat.problems import Origin

CLASSES: Classes = {
    "reversed": "the system relates the two in the other direction",
    "wrong label": "the system has another label on the pair",
    "entailed": "the system has no link on the pair, but its links together entail another relation than gold's",
    "contradicts": "gold has no link on the pair, but its links together entail another relation than the system's",
    "unfounded": "both sides have the link, but nothing entails it: VAGUE, or a cycle; even gold has such errors",
    "missed": "gold relates the two, and the system does not",
    "spurious": "the system relates the two, and gold does not",
}
OF_CLOSURE = ("entailed", "contradicts", "unfounded")

NONE = "none"
"""The label of a pair that is not related (relation.accuracy)."""
Pair = frozenset[Number]


class _Wrong(NamedTuple):
    """A relation of one side that missed credit."""

    item: RelationItem
    source: Number
    target: Number
    label: str
    """The class of its outcome."""
    outcomes: int = 1


def _classes(target: Target, names: object) -> Classes:
    del names
    if any(hasattr(measure.table, "contradictions") for measure in target.measures):
        return CLASSES
    return {name: text for name, text in CLASSES.items() if name not in OF_CLOSURE}


def _find(unit: UnitView, target: Target, confused: Sequence[str]) -> Findings:
    del target, confused
    found: list[FoundError] = []
    by_table: dict[tuple[str | None, Any], list[Outcome[Any]]] = {}
    tables: dict[tuple[str | None, Any], Any] = {}
    for document, measure, table in unit.tables:
        key = document, measure.table
        tables[key] = table
        by_table.setdefault(key, []).extend(measure.outcomes(table))
    for (id_, spec), outcomes in by_table.items():
        assert id_ is not None, "relations are counted document by document"
        errors = _TableErrors(unit, unit.documents[id_], spec, tables[id_, spec].relations)
        found += errors.errors(outcomes)
    return Findings(found, {})


ERRORS = ErrorKind(_classes, _find)


class _TableErrors:
    """The errors behind a table of a document."""

    def __init__(self, unit: UnitView, view: DocumentView, spec: Any, relations: Relations) -> None:
        self._unit, self._view, self._spec, self._relations = unit, view, spec, relations
        self._inverse: Mapping[str, str] = dict(spec.inverse)
        self._read_as: Mapping[str, str] = dict(spec.read_as)
        self._is_directed = getattr(spec, "direction", "") == "written"
        self._hides = not getattr(spec, "several", True)
        """Of several labels on a pair, one counts."""

    def errors(self, outcomes: Sequence[Outcome[Any]]) -> Iterator[FoundError]:
        """Each wrong relation once."""
        spurious: dict[Pair, list[_Wrong]] = {}
        missed: list[_Wrong] = []
        for outcome in outcomes:
            gold_wrong, system_wrong = self._sides(outcome)
            if gold_wrong is not None:
                missed.append(gold_wrong)
            if system_wrong is not None:
                spurious.setdefault(Pair((system_wrong.source, system_wrong.target)), []).append(system_wrong)
        for gold in sorted(missed, key=lambda wrong: wrong.label != "unfounded"):
            others = spurious.get(Pair((gold.source, gold.target)), [])
            reversed_ = [system for system in others if self._is_reversed(gold, system)]
            if gold.label == "unfounded":
                unfounded = next((system for system in others if system.label == "unfounded"), None)
                if unfounded is not None:
                    others.remove(unfounded)
                yield self._error("unfounded", gold, unfounded)
            elif others:
                system = (reversed_ or others)[0]
                others.remove(system)
                yield self._error("reversed" if reversed_ else "wrong label", gold, system)
            else:
                yield self._error("entailed" if gold.label == "contradicts" else "missed", gold, None)
        for left in spurious.values():
            for system in left:
                yield self._error("contradicts" if system.label == "contradicts" else "spurious", None, system)

    def _sides(self, outcome: Outcome[Any]) -> tuple[_Wrong | None, _Wrong | None]:
        """The relations of both sides that missed credit."""
        lost = {name for name, ratio in outcome.counts.ratios().items() if ratio.num < ratio.den}
        gold, system = (None if item is None else self._wrong(side, item, outcome) for side, item in _items(outcome))
        if lost == {"accuracy"}:  # pairs without a label have the label `none`
            gold, system = (None if wrong is None or wrong.item.kind == NONE else wrong for wrong in (gold, system))
            return gold, system if gold is None or system is None else system._replace(outcomes=0)
        return gold if "recall" in lost else None, system if "precision" in lost else None

    def _wrong(self, side: Origin, item: Any, outcome: Outcome[Any]) -> _Wrong:
        assert isinstance(item, RelationItem), "the outcomes of relations are relations"
        numbers = self._numbers[side]
        return _Wrong(item, numbers[item.source.id], numbers[item.target.id], outcome.label)

    @cached_property
    def _numbers(self) -> Mapping[Origin, Mapping[str, Number]]:
        """The numbers of mentions by their ids."""
        sides: dict[Origin, Mapping[Number, Mention]] = {
            "gold": self._relations.gold.mentions,
            "system": self._relations.system.mentions,
        }
        return {side: {mention.id: number for number, mention in found.items()} for side, found in sides.items()}

    def _is_reversed(self, gold: _Wrong, system: _Wrong) -> bool:
        inverse = self._inverse.get(gold.item.kind, gold.item.kind)
        if (gold.source, gold.target) == (system.source, system.target):
            return inverse == system.item.kind != gold.item.kind
        return gold.item.kind == system.item.kind

    def _error(self, name: str, gold: _Wrong | None, system: _Wrong | None) -> FoundError:
        golds, systems = ([] if wrong is None else [wrong.item] for wrong in (gold, system))
        outcomes = sum(wrong.outcomes for wrong in (gold, system) if wrong is not None)
        instance = self._unit.instance(self._view.id, golds, systems, outcomes)
        repairs = [] if name == "unfounded" else [Repair(self._view.id, self._repair(gold, system))]
        return FoundError(name, instance, repairs)

    def _repair(self, gold: _Wrong | None, system: _Wrong | None) -> Edit:
        edit = Edit(replaced=self._spread)
        if system is not None:
            edit.links |= dict.fromkeys(self._links("system", system), False)
        if gold is not None:
            for link in self._links("gold", gold)[:1]:
                source, target = (self._twin(self._numbers["gold"][end], edit) for end in (link.source, link.target))
                edit.links[Link(link.kind, source, target)] = True
        return edit

    def _twin(self, number: Number, edit: Edit) -> str:
        """The id of gold's mention in the system, which is added if the system lacks it."""
        known = self._relations.system.mentions.get(number)
        if known is not None:
            return known.id
        mention = self._relations.gold.mentions[number]
        id_ = mention.id
        while id_ in self._numbers["system"]:
            id_ += "+"
        edit.added[id_] = replace(mention, id=id_, cluster=None)
        return id_

    def _links(self, side: Origin, wrong: _Wrong) -> list[Link]:
        """The links of a side between mentions that are a relation; of the system, also those that it hides."""
        written = self._written[side].get(Pair((wrong.source, wrong.target)), [])
        label, ends = wrong.item.kind, (wrong.source, wrong.target)
        if self._is_directed:
            written = [(link, read) for link, read in written if read[1:] == ends]
        if side == "system" and self._hides:
            return [link for link, _ in written]
        turned = self._inverse.get(label, label), *ends[::-1]
        return [link for link, read in written if read in ((label, *ends), turned)]

    @cached_property
    def _written(self) -> Mapping[Origin, Mapping[Pair, list[tuple[Link, tuple[str, Number, Number]]]]]:
        """The links of both sides between mentions, each with what it is read as."""
        found: dict[Origin, dict[Pair, list[tuple[Link, tuple[str, Number, Number]]]]] = {"gold": {}, "system": {}}
        sides: dict[Origin, SideRelations] = {"gold": self._relations.gold, "system": self._relations.system}
        for side, relations in sides.items():
            for kind, source, target in relations.links:
                if kind in self._spec.relations:
                    link = Link(kind, relations.mentions[source].id, relations.mentions[target].id)
                    read = self._read_as.get(kind, kind), source, target
                    found[side].setdefault(Pair((source, target)), []).append((link, read))
        return found

    @cached_property
    def _spread(self) -> Document:
        """The system's document with links between mentions in place of those between clusters."""
        document, system = self._view.pair.system, self._relations.system
        others = [link for link in document.links if link.kind not in system.by_label]
        spread = [Link(label, system.mentions[a].id, system.mentions[b].id) for label, a, b in system.links]
        return replace(document, links=(*others, *spread))


def _items(outcome: Outcome[Any]) -> tuple[tuple[Origin, Any], tuple[Origin, Any]]:
    return ("gold", outcome.gold), ("system", outcome.system)
