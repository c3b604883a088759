"""Values of relations and events: their arguments, and the mapping that is worth most (RDR, VDR, RMD, VMD).

    Value(token) = Element_Value(token) · Arguments_Value(token)

    MAV(arg) = Value(arg_sys, arg_ref) · W_err-role - (Value(arg_sys, arg_sys) - Value(arg_sys, arg_ref)) · W_A-FA

Values of arguments come from the tables of entities, values and times, summed over the documents that mention the
relation or event; in document-level processing there is one.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import fsum, log, prod
from typing import Any, Literal

from msgspec import Struct

from karat.align.assignment import Edge
from karat.plugin import Counted, Tables, TableSpec
from karat.regions import extension, shared
from karat.tables.ace.attributes import element_value, inherent
from karat.tables.ace.elements import RELATED, Argument, Element, Elements, Promoted, extent
from karat.tables.ace.mapping import by_component, forced, optimal
from karat.tables.ace.mentions import common
from karat.tables.ace.parameters import Values
from karat.tables.ace.values import ElementValues, Ids, Named, Valued, chosen, mapped_elements

Condition = Literal["arguments", "extents", "both", "either", "all", "all+extents"]


class Conditions(Struct, frozen=True):
    """What a user chooses: Tables 15 and 18, Tables 16 and 19, and the kind of average."""

    mapping: Condition = "arguments"
    relation_arguments: Literal["0", "1", "both"] = "both"
    argument_scoring: Literal["overlapping", "mapped"] = "overlapping"
    averaging: Literal["arithmetic", "geometric"] = "arithmetic"


class ArgumentValues(TableSpec["Related"]):
    """Wanted: the values of relations, or of events."""

    @property
    def counted(self) -> Counted:
        """An element may be in several documents of a unit."""
        return "unit"

    def __init__(
        self,
        kind: str,
        values: Values,
        conditions: Conditions,
        elements: Elements | Promoted,
        arguments: Mapping[str, ElementValues],
        whole: Mapping[str, ElementValues] | None = None,
    ) -> None:
        self.kind = kind
        self.parameters = values.recognition(kind)
        self.readings = values.readings
        self.conditions = conditions
        self.elements = elements
        self.arguments = arguments
        """Where the values of arguments come from, by kind."""
        self.whole = whole
        """Where they are promoted mentions: the values of the elements whose mentions they are."""
        self.least = self._least()
        """With fewer arguments in correspondence no condition can be met."""
        self.map_arguments = optimal if self.readings.assignment == "optimal" else forced
        self.mapper = by_component(self.map_arguments)

    def _least(self) -> int:
        if self.kind == "relation" and self.conditions.relation_arguments != "0":
            return 2 if self.conditions.relation_arguments == "both" else 1
        by_argument = self.conditions.mapping in ("arguments", "both")
        return int(by_argument and self.readings.argumentless != "by-extent")

    def make(self, tables: Tables) -> "Related":
        """Those of one document."""
        gold, system = tables.get(self.elements)
        part = Part(tables.pair.gold.id, gold.get(self.kind, []), system.get(self.kind, []))
        arguments = {kind: tables.get(artefact) for kind, artefact in self.arguments.items()}
        whole = {kind: tables.get(artefact) for kind, artefact in (self.whole or {}).items()}
        return Related([part], arguments, whole, self)

    def add(self, tables: "Sequence[Related]") -> "Related":
        """Documents put together, with the values of their arguments."""
        parts = [part for table in tables for part in table.parts]
        arguments = {
            kind: want.add([table.arguments[kind] for table in tables]) for kind, want in self.arguments.items()
        }
        whole = {kind: want.add([table.whole[kind] for table in tables]) for kind, want in (self.whole or {}).items()}
        return Related(parts, arguments, whole, self)


class Part(Struct, frozen=True, gc=False):
    """One document."""

    document: str
    gold: list[Element]
    system: list[Element]


class Token(Struct, frozen=True, gc=False):
    """A relation or event with the documents that mention it."""

    element: Element
    documents: list[str]
    arguments: list[Argument]
    worths: list[float]
    """The value of each argument against itself."""
    whole: float
    """Their sum."""
    inherent: float
    """Element_Value against itself."""
    value: float
    """Its value against itself."""


class Pairing(Struct, frozen=True, gc=False):
    """Two tokens that may be mapped to each other."""

    value: float
    arguments: dict[int, int]
    """Numbers of gold arguments, and the system arguments they are mapped to."""


class Related:
    """The table: values of pairs and of tokens alone, and the mapping between them."""

    def __init__(
        self, parts: list[Part], arguments: Mapping[str, Valued], whole: Mapping[str, Valued], want: ArgumentValues
    ) -> None:
        self.parts = parts
        self.arguments = arguments
        self.whole = whole
        self.want = want
        self._is_promoted = want.whole is not None
        self._is_product = want.conditions.averaging == "geometric"
        reading = want.readings.promoted_value
        self._is_one = reading if self._is_promoted and reading != "reference" else None
        """How an argument is worth 1, where it is."""
        self.gold = self._tokens([(part.document, part.gold) for part in parts], gold=True)
        self.system = self._tokens([(part.document, part.system) for part in parts], gold=False)

    def _tokens(self, documents: Sequence[tuple[str, list[Element]]], *, gold: bool) -> dict[str, Token]:
        same: dict[str, list[tuple[str, Element]]] = {}
        for document, elements in documents:
            for element in elements:
                same.setdefault(element.id, []).append((document, element))
        tables = {kind: table.gold_worth if gold else table.system_worth for kind, table in self.arguments.items()}
        epsilon = self.want.readings.epsilon
        found = {}
        for id_, parts in same.items():
            places = [document for document, _ in parts]
            element = parts[0][1]
            own = list(element.arguments)
            if len(parts) > 1:
                own = list(dict.fromkeys([argument for _, part in parts for argument in part.arguments]))
            worths = self._sums([(tables[kind], argument) for _, kind, argument in own], places)
            whole = fsum(worths)
            mentions = sum([len(part.mentions) for _, part in parts])
            arguments_value = prod(worths) * bool(worths) if self._is_product else whole + epsilon * mentions
            value = inherent(self.want.parameters, element.attributes, epsilon)
            found[id_] = Token(element, places, own, worths, whole, value, value * arguments_value)
        return found

    def _sums(
        self, wanted: Sequence[tuple[Mapping[str, Mapping[Any, float]], Any]], documents: Sequence[str]
    ) -> list[float]:
        """Value(arg_sys, arg_ref) or Value(arg, arg) of arguments, over documents.

        In RMD and VMD they are 1 for each document in which an argument is worth anything at all.
        """
        found = [[values[document].get(key, 0.0) for values, key in wanted] for document in documents]
        if self._is_one:
            found = [[1.0 if value or self._is_one == "mappable" else 0.0 for value in values] for values in found]
        return found[0] if len(found) == 1 else [fsum(values) for values in zip(*found, strict=True)]

    @cached_property
    def alarms(self) -> dict[str, float]:
        """The value of each system token if it is unmapped: -W_FA · W_A-FA · Σ Value(arg, arg), never positive."""
        parameters = self.want.parameters
        weight = parameters.W_A_FA if self.want.readings.unmapped == "weighted" else 1.0
        return {id_: -parameters.W_FA * weight * token.value for id_, token in self.system.items()}

    @cached_property
    def reference(self) -> dict[str, float]:
        """The value of each reference."""
        return {id_: token.value for id_, token in self.gold.items()}

    @cached_property
    def extents(self) -> dict[Ids, float]:
        """How much mention extents overlap under their best mapping, for tokens (gold, system) with any overlap."""
        found: dict[Ids, list[float]] = {}
        for part in self.parts:
            golds = [(element.id, extent(mention)) for element in part.gold for mention in element.mentions]
            systems = [(element.id, extent(mention)) for element in part.system for mention in element.mentions]
            gold_sizes, system_sizes = ([extension(region) for _, region in side] for side in (golds, systems))
            shares: dict[Ids, dict[Edge, tuple[float, float]]] = {}
            met = common([region for _, region in golds], [region for _, region in systems])
            for (s, g), length in met.items():
                share = length / max(gold_sizes[g], system_sizes[s])
                shares.setdefault((golds[g][0], systems[s][0]), {})[g, s] = share, 0.0
            for edge, gains in shares.items():
                chosen = gains if len(gains) == 1 else optimal(gains)
                found.setdefault(edge, []).append(fsum([gains[pair][0] for pair in chosen]))
        return {edge: fsum(values) for edge, values in found.items()}

    @cached_property
    def pairs(self) -> dict[Ids, Pairing]:
        """Each two tokens (gold, system) that have a basis for correspondence."""
        found = {}
        extents = self.extents
        for (g, s), values in self._candidates().items():
            if len(values) < self.want.least:
                continue
            pairing = self._pairing(self.gold[g], self.system[s], values, extents.get((g, s), 0.0))
            if pairing is not None:
                found[g, s] = pairing
        return found

    def _candidates(self) -> dict[Ids, dict[Edge, float]]:
        """Tokens with arguments (system, gold) whose elements correspond, and their values; or with extents that do."""
        holders: dict[tuple[str, str], list[tuple[str, int]]] = {}
        for id_, token in self.gold.items():
            for j, (_, kind, element) in enumerate(token.arguments):
                holders.setdefault((kind, element), []).append((id_, j))
        found: dict[Ids, dict[Edge, float]] = {edge: {} for edge in self.extents}
        for id_, token in self.system.items():
            for i, (_, kind, element) in enumerate(token.arguments):
                table = self.arguments[kind]
                partners = [partner for partner in table.partners.get(element, ()) if (kind, partner) in holders]
                wanted = [(table.by_document, (partner, element)) for partner in partners]
                for partner, value in zip(partners, self._sums(wanted, token.documents), strict=True):
                    for holder, j in holders[kind, partner]:
                        found.setdefault((holder, id_), {})[i, j] = value
        return found

    def _pairing(self, gold: Token, system: Token, values: Mapping[Edge, float], overlap: float) -> Pairing | None:
        """Element_Value(sys) · Arguments_Value(sys), if the conditions of Tables 15 to 19 are met."""
        want = self.want
        if self._is_promoted and not self._in_place(gold.element, system.element, overlap):
            return None
        allowed = self._allowed(gold, system, values)
        if want.readings.conditions == "mappable" and not self._meets(gold, system, allowed, overlap):
            return None
        best = self._chosen(allowed)
        if want.readings.conditions == "mapped" and not self._meets(gold, system, best, overlap):
            return None
        charged = ("type", "subtype") if True in [allowed[edge].is_swap for edge in best] else ()
        attributes = gold.element.attributes, system.element.attributes
        least = min(gold.inherent, system.inherent)
        element = element_value(want.parameters, *attributes, least, want.readings.epsilon, charged)
        value = element * self._arguments_value(gold, system, allowed, best, overlap)
        return Pairing(value, {j: i for i, j in best})

    def _in_place(self, gold: Element, system: Element, overlap: float) -> bool:
        """RMD: the spans of the heads of Arg-1 and Arg-2 overlap; VMD: the extents of the mentions do."""
        if self.want.kind == "event":
            return overlap > 0
        if shared(gold.heads, system.heads):
            return True
        touch = self.want.readings.promoted_spans == "touch" and gold.heads and system.heads
        return bool(touch) and (gold.heads[0][0] == system.heads[0][1] or gold.heads[0][1] == system.heads[0][0])

    def _allowed(self, gold: Token, system: Token, values: Mapping[Edge, float]) -> "dict[Edge, Allowed]":
        """Which arguments (system, gold) whose elements correspond may do so themselves (Tables 16, 19); W_err-role."""
        found = {}
        want = self.want
        is_relation = want.kind == "relation"
        for edge, value in sorted(values.items()):
            theirs, ours = system.arguments[edge[0]], gold.arguments[edge[1]]
            if not value and want.readings.conditions != "mappable":
                continue
            if want.conditions.argument_scoring == "mapped" and not self._are_mapped(ours, theirs):
                continue
            if is_relation and (ours.role in RELATED) != (theirs.role in RELATED):
                continue
            if is_relation and ours.role in RELATED:
                one = self._main(gold, system, ours, theirs)
                if one is not None:
                    found[edge] = Allowed(value, *one)
            else:
                weight = 1.0 if ours.role == theirs.role else want.parameters.W_err_role
                found[edge] = Allowed(value, weight, weight, False)
        return found

    def _main(self, gold: Token, system: Token, ours: Argument, theirs: Argument) -> tuple[float, float, bool] | None:
        """Arg-1 and Arg-2: the same role, unless the reference's type is symmetric (or a swap is charged)."""
        if ours.role == theirs.role or gold.element.attributes.get("type") in self.want.parameters.symmetric:
            return 1.0, 1.0, False
        if self.want.readings.swapped == "apart":
            return None
        return 1.0, self._asymmetry(gold.element, system.element), True

    def _are_mapped(self, gold: Argument, system: Argument) -> bool:
        """Whether two arguments are mapped to each other as elements."""
        if not self._is_promoted:
            return self.arguments[gold.kind].mapping.get(gold.element) == system.element
        if self.want.readings.promoted_mapping != "parent":
            return self.want.readings.promoted_mapping == "anything"
        parent = self.arguments[system.kind].system[system.element].element.parent
        return self.whole[gold.kind].mapping.get(gold.element) == parent

    def _asymmetry(self, gold: Element, system: Element) -> float:
        """What NIST's program prefers a swap of Arg-1 and Arg-2 by: the charge that it will bring."""
        ours, theirs, weights = gold.attributes, system.attributes, self.want.parameters.W_err
        charged = [weights[name] for name in ("type", "subtype") if ours.get(name) == theirs.get(name)]
        return prod([(1 - self.want.readings.epsilon) * weight for weight in charged])

    def _chosen(self, allowed: "Mapping[Edge, Allowed]") -> list[Edge]:
        """The one-to-one mapping of arguments that maximises Arguments_Value."""
        if self._is_product:
            # First the number of pairs, then their product; what is worth nothing is still mapped.
            gains = {edge: (log(max(one.value * one.weight, 1e-300)) + 1e3, 0.0) for edge, one in allowed.items()}
            return optimal(gains)
        weight = self.want.parameters.W_A_FA
        gains = {edge: (one.value * one.preference + one.value * weight, 0.0) for edge, one in allowed.items()}
        return self.want.map_arguments(gains)

    def _arguments_value(
        self, gold: Token, system: Token, allowed: "Mapping[Edge, Allowed]", best: Sequence[Edge], overlap: float
    ) -> float:
        """Arguments_Value(sys): Σ MAV over the system's arguments, or their product."""
        if self._is_product:
            full = len(best) == len(system.arguments)
            return prod([max(allowed[edge].value, 0.0) * allowed[edge].weight for edge in best]) if full else 0.0
        readings = self.want.readings
        tie = readings.epsilon * overlap
        if self._is_promoted and readings.promoted_value == "reference":
            return fsum([gold.worths[j] * allowed[i, j].weight for i, j in best]) + tie
        right = [allowed[edge].value * allowed[edge].weight for edge in best]
        lost = system.whole - fsum([allowed[edge].value for edge in best])
        return fsum(right) - self.want.parameters.W_A_FA * lost + tie

    def _meets(self, gold: Token, system: Token, edges: Collection[Edge], overlap: float) -> bool:
        """Whether the conditions for correspondence are met: Tables 15, 18 and 17 (Arg-1 and Arg-2)."""
        by_extent = gold.arguments == [] and self.want.readings.argumentless == "by-extent"
        wanted = self.want.conditions
        if wanted.mapping in ("arguments", "both") and not edges and not by_extent:
            return False
        if self.want.kind == "relation" and wanted.relation_arguments != "0":
            main = [edge for edge in edges if system.arguments[edge[0]].role in RELATED]
            if len({i for i, _ in main}) < self.want.least:
                return False
            if self.want.readings.main_arguments == "together" and _coverable(main) < self.want.least:
                return False
        if not edges and not overlap:
            return False
        if wanted.mapping in ("extents", "both", "all+extents") and not overlap:
            return False
        if wanted.mapping in ("all", "all+extents"):
            return _coverable(edges) == len(gold.arguments)
        return True

    def value(self, gold: str, system: str) -> float:
        """The value of a system element that is mapped to a reference."""
        return self.pairs[gold, system].value

    def own(self, system: str) -> float:
        """The value of a system element against itself."""
        return self.system[system].value

    def wrong(self, gold: str, system: str) -> list[str]:
        """Attributes that differ."""
        ours, theirs = self.gold[gold].element.attributes, self.system[system].element.attributes
        return [name for name in self.want.parameters.W_err if ours.get(name) != theirs.get(name)]

    def attributes(self, gold: str | None, system: str | None) -> tuple[Named | None, Named | None]:
        """What can be confused of two elements, or of one that is alone."""
        names = self.want.parameters.W_err
        return (
            None if gold is None else chosen(self.gold[gold].element.attributes, names),
            None if system is None else chosen(self.system[system].element.attributes, names),
        )

    def _arguments_of(self, gold: str, system: str) -> Iterator[tuple[Argument | None, Argument | None]]:
        """Arguments of two elements that are mapped to each other: those that are mapped, missed, and spurious."""
        mapped, ours, theirs = self.pairs[gold, system].arguments, self.gold[gold], self.system[system]
        for j, argument in enumerate(ours.arguments):
            yield argument, theirs.arguments[mapped[j]] if j in mapped else None
        taken = set(mapped.values())
        yield from ((None, argument) for i, argument in enumerate(theirs.arguments) if i not in taken)

    def parts_of(self, gold: str, system: str) -> Iterator[tuple[str, Named | None, Named | None]]:
        """The arguments of two elements that are mapped to each other, with their roles."""
        for ours, theirs in self._arguments_of(gold, system):
            yield (
                "argument",
                None if ours is None else {"role": ours.role},
                None if theirs is None else {"role": theirs.role},
            )

    def lost(self, gold: str, system: str) -> list[str]:
        """Why an element that is mapped is not worth all that its reference is, in words."""
        ours, theirs = self.gold[gold].element.attributes, self.system[system].element.attributes
        told = [f"{name} {theirs.get(name, '-')} for {ours.get(name, '-')}" for name in self.wrong(gold, system)]
        for one, other in self._arguments_of(gold, system):
            if one is None and other is not None:
                told.append(f"{other.role} {other.element} spurious")
            elif one is not None and other is None:
                told.append(f"{one.role} {one.element} missed")
            elif one is not None and other is not None:
                table, edge = self.arguments[one.kind], (one.element, other.element)
                (value,) = self._sums([(table.by_document, edge)], self.system[system].documents)
                (worth,) = self._sums([(table.gold_worth, one.element)], self.gold[gold].documents)
                if one.role != other.role:
                    told.append(f"{other.role} for {one.role} {one.element}")
                if value < worth:
                    told.append(f"{one.role} {other.element} is worth {value:.5f} of {worth:.5f}")
        return told

    def wrong_arguments(self, gold: str, system: str) -> list[int]:
        """Numbers of gold arguments that are not mapped to what their element is mapped to."""
        mapped, golds, systems = self.pairs[gold, system].arguments, self.gold[gold], self.system[system]
        if self._is_promoted and self.want.readings.promoted_mapping != "none":
            return [j for j in range(len(golds.arguments)) if j not in mapped]
        return [
            j
            for j, ours in enumerate(golds.arguments)
            if j not in mapped or not self._are_mapped(ours, systems.arguments[mapped[j]])
        ]

    @cached_property
    def mapping(self) -> dict[str, str]:
        """Gold elements and the system elements they are mapped to: the mapping that maximises the score."""
        values = {edge: pairing.value for edge, pairing in self.pairs.items()}
        return mapped_elements(self.gold, self.system, values, self.alarms, self.extents, self.want.mapper)


class Allowed(Struct, frozen=True, gc=False):
    """Two arguments that may be in correspondence."""

    value: float
    weight: float
    """W_err-role, if their roles differ."""
    preference: float
    """By what the best mapping is sought; other than the weight only where NIST's program charges a swap."""
    is_swap: bool


def _coverable(edges: Iterable[Edge]) -> int:
    """How many pairs a one-to-one mapping can have, at most."""
    return len(optimal(dict.fromkeys(edges, (1.0, 0.0))))
