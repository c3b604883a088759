"""Appendix A of the ACE 2005 evaluation plan: its formulas, in its order and under its names.

Where the plan leaves something open, the formulas read it as docs/ace-values.md says; `nist.py` has what NIST's scorer
computes instead.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from math import ceil, fsum, log, prod

from karat.families.ace.records import (
    MAIN_ROLES,
    Argument,
    ArgumentPair,
    DetectionParameters,
    Element,
    Location,
    Parameters,
    RecognitionParameters,
    RelationCandidate,
    RelationToken,
    ScoredMention,
    differing,
    value_of,
    wrong_mention_attributes,
)
from karat.match.assignment import assignment
from karat.model import Mention, Value
from karat.regions import shared

IndexPair = tuple[int, int]
"""The indexes of a row and a column."""
Gains = Mapping[IndexPair, tuple[int, float]]
"""For each pair that may be mapped: its gain over leaving both unmapped, and their overlap."""


Ties = tuple[Callable[[IndexPair], Hashable], Callable[[IndexPair], int]]
"""For pairs of elements that the text does not order: the places of both, and how well their arguments agree."""


def optimal(gains: Gains, agreement: Callable[[IndexPair], int] | None = None) -> list[IndexPair]:
    """The pairs with the greatest sum of gains; ties: more pairs, overlap, agreement, then text order."""
    usable = [pair for pair, (gain, _) in gains.items() if gain >= 0]
    if is_one_to_one(usable):
        return sorted(usable)
    # One integer per pair: its gain, then 1 for the number of pairs, then its overlap, then its agreement.
    overlaps = {pair: round(gains[pair][1] * 1e6) for pair in usable}
    all_pairs, all_overlap = len(usable) + 1, sum(overlaps.values()) + 1
    weights = {pair: (gains[pair][0] * all_pairs + 1) * all_overlap + overlaps[pair] for pair in usable}
    if agreement is not None:
        agreed = {pair: agreement(pair) for pair in usable}
        all_agreed = sum(agreed.values()) + 1
        weights = {pair: weights[pair] * all_agreed + agreed[pair] for pair in usable}
    return assignment(weights)


def optimal_in_place(gains: Gains, ties: Ties) -> list[IndexPair]:
    """The optimal pairs; elements in one place, which the text does not order, are exchanged for more agreement."""
    chosen, (places_of, agreement) = optimal(gains), ties
    if len(chosen) == len(gains):
        return chosen
    places = set(map(places_of, chosen))
    alike = {pair: gain for pair, gain in gains.items() if places_of(pair) in places}
    return chosen if len(alike) == len(chosen) else optimal(alike, agreement)


def is_one_to_one(pairs: Collection[IndexPair]) -> bool:
    """Return whether no row and no column is in two of the pairs."""
    count = len(pairs)
    return count < 2 or count == len({row for row, _ in pairs}) == len({column for _, column in pairs})


def largest(pairs: Collection[IndexPair]) -> int:
    """The size of the largest one-to-one mapping."""
    return len(pairs) if is_one_to_one(pairs) else len(assignment(dict.fromkeys(pairs, 1)))


Attributes = Mapping[str, Value]


class Plan:
    """The plan's formulas with the numbers of a protocol and the options of a user."""

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self.detection = {"entity": parameters.EDR, "value": parameters.VAL, "time": parameters.TERN}
        self.recognition = {"relation": parameters.RDR, "event": parameters.VDR}
        self._level_weighted = ("entity",) if parameters.weighting == "level" else ()

    def default_attributes(self, kind: str) -> Attributes:
        """The values of attributes that an element of a kind lacks, where they have any."""
        del kind
        return {}

    # EDR, VAL and TERN: Value(token) = Element_Value(token) · Mentions_Value(token)

    def inherent_value(self, kind: str, attributes: Attributes) -> float:
        """Element_Value of a token by itself: Π AttrValue(attribute), in TERN Σ AttrValue over existing attributes."""
        parameters = self.detection.get(kind) or self.recognition.get(kind)
        if parameters is None:  # what ACE does not have
            return 0.0
        weights = parameters.AttrValue.items()
        if parameters.W_err:
            return prod([value_of(weight, attributes.get(name)) for name, weight in weights])
        return fsum([value_of(weight, attributes[name]) for name, weight in weights if name in attributes])

    def element_value(
        self,
        parameters: DetectionParameters | RecognitionParameters,
        gold: Element,
        system: Element,
    ) -> float:
        """Element_Value(sys) of a mapped token.

        min(Π AttrValue(sys), Π AttrValue(ref)) · Π W_err over attributes that differ.
        TERN: Σ AttrValue over attributes that both have and that are the same.
        """
        if not parameters.W_err:
            same = [
                (weight, gold.attributes[name])
                for name, weight in parameters.AttrValue.items()
                if name in gold.attributes and gold.attributes[name] == system.attributes.get(name)
            ]
            return fsum([value_of(weight, value) for weight, value in same])
        wrong = differing(parameters.W_err, gold, system)
        return prod([parameters.W_err[name] for name in wrong], start=min(gold.inherent, system.inherent))

    def mention_role(self, mention: Mention, entity: Element) -> Value | None:
        """The role of an entity mention; None: it has none, and no role differs from it."""
        del entity
        return mention.attributes.get("role")

    def own_mmv(self, type_value: float) -> float:
        """MMV of a mention against itself: MTypeValue(mention)."""
        return type_value

    def mmv(self, parameters: DetectionParameters, gold: ScoredMention, system: ScoredMention, overlap: float) -> float:
        """MMV(mention_sys) of a mapped mention: min(MTypeValue(sys), MTypeValue(ref)) · Π W_Merr."""
        del overlap
        return min(gold.type_value, system.type_value) * self.mention_errors(parameters, gold, system)

    def mention_errors(self, parameters: DetectionParameters, gold: ScoredMention, system: ScoredMention) -> float:
        """Π W_Merr over the attributes of two mentions that differ."""
        return prod([parameters.W_Merr[name] for name in wrong_mention_attributes(gold, system)], start=1.0)

    def unmapped_mmv(self, parameters: DetectionParameters, mention: ScoredMention, *, corresponds: bool) -> float:
        """MMV of an unmapped mention: -MTypeValue · W_M-FA, and · W_M-CR if it corresponds to any reference mention."""
        return -mention.own * parameters.W_M_FA * (parameters.W_M_CR if corresponds else 1.0)

    def level(self, mentions: Iterable[Mention]) -> str:
        """The level of an entity: the most valued type of its mentions."""
        types = dict.fromkeys([str(mention.attributes.get("type", "")) for mention in mentions])
        values = self.detection["entity"].MTypeValue
        return max(types, key=lambda type_: value_of(values, type_), default="")

    def mentions_value(self, kind: str, mmv: float, level: float, own: float) -> float:
        """Mentions_Value in one document: Σ MMV; level-weighted, level · Σ MMV(sys) / Σ MMV(ref).

        `level` is the smaller of the two levels, `own` the sum of the reference's mentions against themselves; a token
        by itself and an unmapped one have their own level and mentions.
        """
        if kind not in self._level_weighted:
            return mmv
        return level * (mmv / own) if own else 0.0

    def mentions_correspond(
        self, parameters: DetectionParameters, gold: ScoredMention, system: ScoredMention, overlap: float
    ) -> bool:
        """Return whether two mentions may be mapped to each other.

        mutual_overlap = sys ∩ ref / max(sys, ref) ≥ min_overlap, and of heads fractional_consecutive_string ≥
        min_text_match.
        """
        if overlap < parameters.min_overlap:
            return False
        least = parameters.min_text_match
        return not least or self.texts_match(head_text(gold.mention), head_text(system.mention), least)

    def texts_match(self, gold: str, system: str, least: float) -> bool:
        """Return whether fractional_consecutive_string ≥ least: a common string of that share of the longer text."""
        return gold == system or have_common_string(gold, system, least)

    # RDR and VDR: Value(token) = Element_Value(token) · Arguments_Value(token)

    def has_basis(self, pair: RelationCandidate, arguments: Collection[IndexPair]) -> bool:
        """Return whether two tokens may be mapped: Tables 15 and 18, and of Table 17 the condition on Arg-1 and Arg-2.

        `arguments` (system, gold) correspond. A condition is met if a one-to-one mapping of them can meet it.
        """
        condition = self.parameters.mapping
        if not arguments and not pair.overlap:
            return False
        if condition in ("arguments", "both") and not self.shares_argument(pair.gold, arguments):
            return False
        if condition in ("extents", "both", "all+extents") and not pair.overlap:
            return False
        if pair.gold.element.kind == "relation" and self.parameters.relation_arguments != "0":
            main = [(i, j) for i, j in arguments if pair.system.arguments[i].role in MAIN_ROLES]
            if self.mapped_at_once(main) < (2 if self.parameters.relation_arguments == "both" else 1):
                return False
        return condition not in ("all", "all+extents") or self.mapped_at_once(arguments) == len(pair.gold.arguments)

    def mapped_at_once(self, arguments: Collection[IndexPair]) -> int:
        """The number of these arguments that a one-to-one mapping can have, at most."""
        return largest(arguments)

    def shares_argument(self, gold: RelationToken, pairs: Collection[IndexPair]) -> bool:
        """The condition `arguments`: at least one argument is mappable to an argument of the reference."""
        del gold
        return bool(pairs)

    def is_mappable(self, token: RelationToken) -> bool:
        """Return whether a token can be mapped at all: without arguments, it cannot share one."""
        if token.arguments:
            return True
        if token.element.kind == "relation" and self.parameters.relation_arguments != "0":
            return False
        return self.parameters.mapping not in ("arguments", "both") or self.shares_argument(token, ())

    def argument_pair(
        self, gold: RelationToken, system: RelationToken, indexes: IndexPair, value: float
    ) -> ArgumentPair | None:
        """Two arguments (system, gold) whose elements are mappable, with W_err-role.

        None: their roles may not correspond (Table 16). Arg-1 corresponds to Arg-1 and Arg-2 to Arg-2, in a symmetric
        reference also to each other; other roles correspond to other roles.
        """
        system_role, gold_role = system.arguments[indexes[0]].role, gold.arguments[indexes[1]].role
        parameters = self.recognition[gold.element.kind]
        if gold.element.kind == "relation" and (gold_role in MAIN_ROLES or system_role in MAIN_ROLES):
            if gold_role not in MAIN_ROLES or system_role not in MAIN_ROLES:
                return None
            is_symmetric = gold.element.attributes.get("type") in parameters.symmetric
            return ArgumentPair(value, 1.0) if gold_role == system_role or is_symmetric else None
        return ArgumentPair(value, 1.0 if gold_role == system_role else parameters.W_err_role)

    def argument_mapping(self, pair: RelationCandidate) -> list[IndexPair] | None:
        """The best mapping of arguments (system, gold); None: the tokens have no basis for correspondence."""
        return self.best_arguments(pair) if self.has_basis(pair, pair.arguments) else None

    def best_arguments(self, pair: RelationCandidate) -> list[IndexPair]:
        """The one-to-one mapping of arguments that maximises Arguments_Value."""
        arguments = pair.arguments.items()
        if not arguments:
            return []
        if self.parameters.averaging == "geometric":
            # First the number of pairs, then their product; what is worth nothing is still mapped.
            logs = {indexes: log(max(both.value * both.role_weight, 1e-300)) + 1e3 for indexes, both in arguments}
            return optimal({indexes: (self.gain(value, 0.0), 0.0) for indexes, value in logs.items()})
        gain, weight = self.gain, self.recognition[pair.gold.element.kind].W_A_FA
        return self.assign(
            {
                indexes: (gain(both.value * both.preference + both.value * weight, 0.0), 0.0)
                for indexes, both in arguments
            }
        )

    def relation_element_value(self, pair: RelationCandidate, mapped: Collection[IndexPair]) -> float:
        """Element_Value(sys) of a mapped relation or event."""
        del mapped
        gold, system = pair.gold.element, pair.system.element
        return self.element_value(self.recognition[gold.kind], gold, system)

    def arguments_value(self, pair: RelationCandidate, mapped: Collection[IndexPair]) -> float:
        """Arguments_Value(sys): Σ MAV over the system's arguments, or their product.

        MAV(arg) = Value(arg_sys, arg_ref) · W_err-role - (Value(arg_sys, arg_sys) - Value(arg_sys, arg_ref)) · W_A-FA,
        where an unmapped argument has no Value(arg_sys, arg_ref).
        """
        arguments = [pair.arguments[indexes] for indexes in mapped]
        if self.parameters.averaging == "geometric":
            is_full = len(mapped) == len(pair.system.arguments)
            return prod([max(both.value, 0.0) * both.role_weight for both in arguments]) if is_full else 0.0
        lost = pair.system.own_total - fsum([both.value for both in arguments])
        weight = self.recognition[pair.gold.element.kind].W_A_FA
        return fsum([both.value * both.role_weight for both in arguments]) - weight * lost

    def own_arguments_value(self, own_values: Sequence[float], mentions: int) -> float:
        """Arguments_Value of a token against itself: Σ Value(arg, arg), or their product."""
        del mentions
        if self.parameters.averaging == "geometric":
            return prod(own_values) if own_values else 0.0
        return fsum(own_values)

    def unmapped_relation_value(self, parameters: RecognitionParameters, own: float) -> float:
        """The value of an unmapped token: -W_FA · W_A-FA · Σ Value(arg, arg), never positive."""
        return -parameters.W_FA * parameters.W_A_FA * own

    # RMD and VMD (sections 3.2.7 and 3.2.8): the same, with mentions promoted to relations and events

    def promoted_arguments(self, arguments: Iterable[Argument]) -> Iterable[Argument]:
        """The arguments of a reference mention: one for each mention, though two may be of one element."""
        return arguments

    def promoted_argument_value(self, value: float) -> float:
        """Argument values are 1 if they are mappable, that is, if their score is not 0."""
        return 1.0 if value else 0.0

    def promoted_arguments_value(self, pair: RelationCandidate, mapped: Collection[IndexPair]) -> float:
        """Arguments_Value(sys) of a promoted mention: as that of other tokens."""
        return self.arguments_value(pair, mapped)

    def is_in_place(self, gold: Element, system: Element, overlap: float) -> bool:
        """RMD: the spans of the heads of Arg-1 and Arg-2 overlap; VMD: the extents of the mentions do."""
        return overlap > 0 if gold.kind == "event" else self.heads_meet(gold.heads, system.heads)

    def heads_meet(self, gold: Location, system: Location) -> bool:
        """Return whether two spans of heads have something in common."""
        return bool(shared(gold, system))

    def promoted_is_mapped(self, reference: str, parent: str | None, mapping: Mapping[str, str]) -> bool:
        """The option `mapped`: whether the element that was mentioned, the parent, is mapped to the reference's."""
        return mapping.get(reference) == parent

    def promoted_is_right(self, *, is_mapped: bool) -> bool:
        """Return whether the argument of a reference mention is right: it is if anything is mapped to it."""
        return is_mapped

    # Mappings, what is scored at all, and what is reported

    def compares(self, *, is_mapped: bool) -> bool:
        """Return whether the attributes of a token count in the recognition table: also missed and spurious ones."""
        del is_mapped
        return True

    def gain(self, value: float, unmapped: float) -> int:
        """The gain of a pair over leaving its system side unmapped, in whole units of 1e-12."""
        return round((value - unmapped) * 1e12)

    def assign(self, gains: Gains) -> list[IndexPair]:
        """The one-to-one mapping that maximises the sum of values."""
        return optimal(gains)

    def assign_elements(self, gains: Gains, ties: Ties | None) -> list[IndexPair]:
        """The globally optimum correspondence between system and reference tokens."""
        return self.assign(gains) if ties is None else optimal_in_place(gains, ties)

    def has_value(self, kind: str, gold_kinds: Collection[str]) -> bool:
        """Return whether the system's elements of a kind have a value, given the kinds that the reference has."""
        del kind, gold_kinds
        return True

    def reason_to_omit(self, kind: str, gold_kinds: Collection[str], system_kinds: Collection[str]) -> str | None:
        """The reason why tasks on a kind of element have no row, if they have none."""
        del kind, gold_kinds, system_kinds
        return None


def head_text(mention: Mention) -> str:
    """The text of the head."""
    return mention.texts.get("head", mention.text or "")


def have_common_string(one: str | bytes, other: str | bytes, least: float) -> bool:
    """Return whether two texts share a consecutive string of at least that fraction of the longer one.

    They share some string of at least a length if they share one of exactly that length.
    """
    longer = max(len(one), len(other))
    length = ceil(least * longer)
    if length / longer < least:  # the product was rounded down
        length += 1
    elif length > 1 and (length - 1) / longer >= least:  # or up
        length -= 1
    if length > min(len(one), len(other)):
        return False
    # Not kept: the strings of a long text together are much longer than the text.
    return any(one[start : start + length] in other for start in range(len(one) - length + 1))  # type: ignore[operator]
