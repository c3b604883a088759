"""The formulas of NIST's scorer v14: the plan's, with one override per departure.

Overrides have the numbers that `karat explain ace` gives to the departures. Those that only change parameters (1, 2, 25
and the weights of 21) are in the protocol's file. The others need no override: both readings share them, or they follow
from the rest (10, 16, 17, 19, 20, 23, 24).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import frexp, fsum, prod

from karat.families.ace.plan import Attributes, Gains, IndexPair, Plan, Ties, have_common_string, optimal
from karat.families.ace.records import (
    MAIN_ROLES,
    Argument,
    ArgumentPair,
    DetectionParameters,
    Element,
    Location,
    RecognitionParameters,
    RelationCandidate,
    RelationToken,
    ScoredMention,
    differing,
    lacks,
    value_of,
)
from karat.limits import check_pairs
from karat.match.assignment import assignment, components
from karat.model import Mention, Value

EPSILON = 1e-8
"""21 What the scorer adds to break ties, and takes in place of 0."""


TYPES = ("type", "subtype")

DEFAULTS: Mapping[str, Attributes] = {
    "time": {"set": "NO", "non_specific": "NO"},
    "relation": {"subtype": "Unspecified", "modality": "Unspecified", "tense": "Unspecified"},
}


class SwappedPair(ArgumentPair, frozen=True, gc=False):
    """5 Arg-1 against Arg-2 of an asymmetric relation."""

    asymmetry: float
    """The charge that the swap will bring."""

    @property
    def preference(self) -> float:
        """The weight by which the best mapping is found."""
        return self.asymmetry


class Nist(Plan):
    """The plan with the departures of NIST's scorer."""

    def default_attributes(self, kind: str) -> Attributes:
        """3, 22 An absent SET is NO, an absent MODALITY or TENSE Unspecified."""
        return DEFAULTS.get(kind, {})

    def inherent_value(self, kind: str, attributes: Attributes) -> float:
        """21 At least epsilon."""
        return max(super().inherent_value(kind, attributes), EPSILON)

    def element_value(
        self,
        parameters: DetectionParameters | RecognitionParameters,
        gold: Element,
        system: Element,
    ) -> float:
        """21 TERN: an attribute that differs is worth epsilon of its value, and the sum at least epsilon."""
        value = super().element_value(parameters, gold, system)
        if parameters.W_err:
            return value
        wrong = [
            value_of(parameters.AttrValue[name], gold.attributes[name])
            for name in differing(parameters.AttrValue, gold, system)
            if name in gold.attributes and name in system.attributes
        ]
        return max(fsum([value, *[weight * EPSILON for weight in wrong]]), EPSILON)

    def mention_role(self, mention: Mention, entity: Element) -> Value | None:
        """4 An absent role is the type of the entity, so that a wrong TYPE is also a wrong ROLE of each mention."""
        return mention.attributes.get("role", entity.attributes.get("type"))

    def own_mmv(self, type_value: float) -> float:
        """21 Epsilon more."""
        return type_value + EPSILON

    def mmv(self, parameters: DetectionParameters, gold: ScoredMention, system: ScoredMention, overlap: float) -> float:
        """21 Epsilon more where the mentions overlap completely, in proportion where they do in part."""
        least = min(gold.type_value, system.type_value) + overlap * EPSILON
        return least * self.mention_errors(parameters, gold, system)

    def texts_match(self, gold: str, system: str, least: float) -> bool:
        """26 Bytes of the file in capitals; of ASCII texts only letters and digits."""
        one, other = as_bytes(gold, system)
        return one == other or (not {one, other} & {b"", b"0"} and have_common_string(one, other, least))

    def shares_argument(self, gold: RelationToken, pairs: Collection[IndexPair]) -> bool:
        """18 A reference without arguments can be mapped by its extent."""
        return bool(pairs) or not gold.arguments

    def argument_pair(
        self, gold: RelationToken, system: RelationToken, indexes: IndexPair, value: float
    ) -> ArgumentPair | None:
        """5 Arg-1 may be mapped to Arg-2. No arguments are mapped whose value is 0."""
        if not value:
            return None
        pair = super().argument_pair(gold, system, indexes, value)
        if pair is not None:
            return pair
        roles = {system.arguments[indexes[0]].role, gold.arguments[indexes[1]].role}
        if not roles.issubset(MAIN_ROLES):
            return None
        weights = self._agreed_weights(gold, system)
        return SwappedPair(value, 1.0, prod([(1 - EPSILON) * weight for weight in weights]))

    def relation_element_value(self, pair: RelationCandidate, mapped: Collection[IndexPair]) -> float:
        """5 A swap is charged with TYPE and SUBTYPE, unless they are wrong already."""
        value = super().relation_element_value(pair, mapped)
        is_swapped = any(isinstance(pair.arguments[indexes], SwappedPair) for indexes in mapped)
        return value * prod(self._agreed_weights(pair.gold, pair.system)) if is_swapped else value

    def _agreed_weights(self, gold: RelationToken, system: RelationToken) -> list[float]:
        """W_err of TYPE and SUBTYPE where two relations agree on them."""
        weights, differ = self.recognition["relation"].W_err, differing(TYPES, gold.element, system.element)
        return [weights[name] for name in TYPES if name not in differ and name in weights]

    def argument_mapping(self, pair: RelationCandidate) -> list[IndexPair] | None:
        """11 Conditions look at the mapping that was found, not at every mapping that is possible."""
        mapped = self.best_arguments(pair)
        return mapped if self.has_basis(pair, mapped) else None

    def mapped_at_once(self, arguments: Collection[IndexPair]) -> int:
        """11 All of them, then: they are such a mapping."""
        return len(arguments)

    def arguments_value(self, pair: RelationCandidate, mapped: Collection[IndexPair]) -> float:
        """21 Epsilon more for each mention extent that overlaps completely."""
        return super().arguments_value(pair, mapped) + EPSILON * pair.overlap

    def own_arguments_value(self, own_values: Sequence[float], mentions: int) -> float:
        """21 Epsilon more for each mention."""
        return super().own_arguments_value(own_values, mentions) + EPSILON * mentions

    def unmapped_relation_value(self, parameters: RecognitionParameters, own: float) -> float:
        """6, 7 All arguments are lost, not only the share W_A-FA of them."""
        return -parameters.W_FA * own

    def promoted_arguments(self, arguments: Iterable[Argument]) -> Iterable[Argument]:
        """27 Two mentions of one element in one role of a reference mention are one argument."""
        return dict.fromkeys(arguments)

    def promoted_argument_value(self, value: float) -> float:
        """8 The value of the element, not 1."""
        return value

    def promoted_arguments_value(self, pair: RelationCandidate, mapped: Collection[IndexPair]) -> float:
        """8, 9 A mapped argument earns the value of the reference's element; one that is spurious costs nothing."""
        earned = [pair.gold.own_values[j] * pair.arguments[i, j].role_weight for i, j in mapped]
        return fsum(earned) + EPSILON * pair.overlap

    def heads_meet(self, gold: Location, system: Location) -> bool:
        """28 Spans of heads may touch."""
        if super().heads_meet(gold, system) or not gold or not system or len(gold[0]) > 2:  # boxes do not touch
            return super().heads_meet(gold, system)
        return gold[0][0] == system[0][1] or gold[0][1] == system[0][0]

    def promoted_is_mapped(self, reference: str, parent: str | None, mapping: Mapping[str, str]) -> bool:
        """12 Never: a promoted mention is mapped to nothing."""
        del reference, parent, mapping
        return False

    def promoted_is_right(self, *, is_mapped: bool) -> bool:
        """13 Never, so that a perfect system has precision 0."""
        del is_mapped
        return False

    def compares(self, *, is_mapped: bool) -> bool:
        """29 Only if it is mapped."""
        return is_mapped

    def gain(self, value: float, unmapped: float) -> int:
        """21 However small a value is, a factor of 1 - epsilon shows."""
        return _whole(value) - _whole(unmapped) if unmapped else _whole(value)

    def assign(self, gains: Gains) -> list[IndexPair]:
        """11 A table of one row is mapped at any price, and a full one nearly so."""
        return forced(gains)

    def assign_elements(self, gains: Gains, ties: Ties | None) -> list[IndexPair]:
        """11 Each connected component is a table of its own. Ties are left to chance, here to the order of the text."""
        del ties
        return forced_by_component(gains)

    def has_value(self, kind: str, gold_kinds: Collection[str]) -> bool:
        """14 Elements of a kind that the reference lacks altogether are worth nothing as arguments."""
        return kind in gold_kinds

    def reason_to_omit(self, kind: str, gold_kinds: Collection[str], system_kinds: Collection[str]) -> str | None:
        """14, 15 A kind that either side lacks altogether has no score."""
        if kind not in gold_kinds:
            return lacks("gold", kind)
        return lacks("the system", kind) if kind not in system_kinds else None


def forced(gains: Gains) -> list[IndexPair]:
    """Assign as NIST's scorer does: minimal costs in a square matrix with one more row and column than there are.

    Cells that are not candidates cost nothing, but there are few of them: a full table with losses is forced into bad
    pairs, and in a table with one row the cheapest column is taken at any price. Ties: the order of the text.
    """
    if not _has_loss(gains):
        return optimal(gains)
    rows, columns = (sorted(set(side)) for side in zip(*gains, strict=True))
    if len(rows) == 1:
        return [min(gains, key=lambda pair: (-gains[pair][0], pair))]
    size = max(len(rows), len(columns)) + 1
    check_pairs(size**2, "pairs of elements", where="a table of NIST's scorer")
    for side in (rows, columns):
        side += range(side[-1] + 1, side[-1] + 1 + size - len(side))
    extreme = max(abs(gain) for gain, _ in gains.values())
    # The base makes every cell of a full assignment worth having. A cell that is not a candidate costs just enough for
    # a pair that gains nothing to be preferred.
    base, other = 2 * (size + 1) * (extreme + 1), (-extreme // 10**12, 0.0)
    weights = {(row, column): base + gains.get((row, column), other)[0] for row in rows for column in columns}
    return [pair for pair in assignment(weights) if pair in gains]


def forced_by_component(gains: Gains) -> list[IndexPair]:
    """Assign each connected component of a table by itself, as NIST's scorer does."""
    if not _has_loss(gains):
        return optimal(gains)
    parts = [{pair: gains[pair] for pair in component} for component in components(gains)]
    return sorted(pair for part in parts for pair in forced(part))


def _has_loss(gains: Gains) -> bool:
    return bool(gains) and min(gains.values())[0] < 0


def _whole(value: float) -> int:
    """A value in units of 2^-200, to 40 significant bits: a rounding error does not show, an epsilon does."""
    mantissa, exponent = frexp(value)
    return round(mantissa * 2**40) << (exponent + 160) if exponent > -160 else 0


_MARKS = bytes(byte for byte in range(128) if not bytes((byte,)).isalnum())
"""ASCII other than letters and digits."""


def as_bytes(gold: str, system: str) -> tuple[bytes, bytes]:
    """Texts as the scorer compares them: bytes of the file in capitals; in ASCII only letters and digits."""
    raw = [_escaped(text).encode("utf-8").upper() for text in (gold, system)]
    if all(text.isascii() for text in raw):
        raw = [text.translate(None, delete=_MARKS) for text in raw]
    return raw[0], raw[1]


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
