"""The same by hand for what NIST's scorer computes: where it departs from the plan, as `karat explain ace` tells it.

Fractions with its epsilon, and its assignment by every permutation of the square matrix. Document by document only.
"""

from fractions import Fraction
from itertools import permutations
from typing import Any

from karat.model import Document, Mention
from tests.ace_by_hand import (
    MAIN,
    SYMMETRIC,
    W_A_FA,
    W_ERR,
    F,
    M,
    Plan,
    Row,
    Side,
    Token,
    common,
    mappings,
    promoted,
)

EPS = F(1, 10**8)
DEFAULTS = {
    "time": {"set": "NO", "non_specific": "NO"},
    "relation": {"subtype": "Unspecified", "modality": "Unspecified", "tense": "Unspecified"},
}
Edge = tuple[int, int]


def completed(side: Side) -> Side:
    """With what the scorer takes for absent attributes."""
    for token in side.values():
        token.attributes = {**DEFAULTS.get(token.kind, {}), **token.attributes}
    return side


def once(side: Side) -> Side:
    """With arguments that name an element once in each role, though two of its mentions may be in it."""
    for token in side.values():
        token.arguments = list(dict.fromkeys(token.arguments))
    return side


def forced(gains: dict[Edge, Fraction]) -> list[tuple[Edge, ...]]:
    """The assignments of least cost: one row takes its cheapest column; else a square with one row and column more."""
    rows, columns = sorted({row for row, _ in gains}), sorted({column for _, column in gains})
    if len(rows) == 1:
        return [(edge,) for edge, gain in gains.items() if gain == max(gains.values())]
    found: dict[tuple[Edge, ...], tuple[Fraction, int]] = {}
    for order in permutations(range(max(len(rows), len(columns)) + 1)):
        cells = [(rows[i], columns[j]) for i, j in enumerate(order) if i < len(rows) and j < len(columns)]
        chosen = tuple(cell for cell in cells if cell in gains)
        found[chosen] = sum((gains[edge] for edge in chosen), F(0)), len(chosen)
    return [chosen for chosen, worth in found.items() if worth == max(found.values())]


def cohorts(edges: list[Edge]) -> list[list[Edge]]:
    """Connected components."""
    found: list[list[Edge]] = []
    for edge in edges:
        touching = [one for one in found if any(edge[0] == row or edge[1] == column for row, column in one)]
        found = [one for one in found if one not in touching] + [[edge, *(e for one in touching for e in one)]]
    return found


class Nist(Plan):
    """The values of one document as the scorer computes them."""

    def __init__(self, gold: list[Document], system: list[Document], kinds: set[str], **chosen: str) -> None:
        super().__init__(gold, system, **chosen)
        self.kinds = kinds
        """Those that the reference has anywhere; others are worth nothing as arguments."""
        completed(self.gold)
        completed(self.system)
        self.types = {
            mention.id: cluster.attributes.get("type")
            for document in (*gold, *system)
            for cluster in document.clusters
            for mention in document.mentions
            if mention.cluster == cluster.id
        }
        self.least_text, self.min_text_match = self.min_text_match, F(0)

    def corresponds(self, kind: str, ours: Mention, theirs: Mention) -> bool:
        if not super().corresponds(kind, ours, theirs) or kind != "entity" or not self.least_text:
            return super().corresponds(kind, ours, theirs)
        one, other = [mention.texts["head"].encode().upper() for mention in (ours, theirs)]
        if one.isascii() and other.isascii():
            one, other = [bytes(byte for byte in text if chr(byte).isalnum()) for text in (one, other)]
        if one == other or {one, other} & {b"", b"0"}:
            return one == other
        runs = {one[i:j] for i in range(len(one)) for j in range(i + 1, len(one) + 1)}
        return F(max([len(run) for run in runs if run in other], default=0), max(len(one), len(other))) >= F(3, 10)

    def mmv(self, kind: str, ours: Mention, theirs: Mention) -> Fraction:
        one, other = [(m.head or m.span)[0] if kind == "entity" else m.span[0] for m in (ours, theirs)]
        tie = EPS * F(common(one, other), max(one[1] - one[0], other[1] - other[0]))
        if kind != "entity":
            return 1 + tie
        types = [str(mention.attributes["type"]) for mention in (ours, theirs)]
        roles = [mention.attributes.get("role", self.types[mention.id]) for mention in (ours, theirs)]
        styles = [mention.attributes.get("metonymy_mention") == "TRUE" for mention in (ours, theirs)]
        errors = sum(pair[0] != pair[1] for pair in (types, roles, styles))
        return (min(M[type_] for type_ in types) + tie) * F(9, 10) ** errors

    def own_mmv(self, kind: str, mention: Mention) -> Fraction:
        return super().own_mmv(kind, mention) + EPS

    def inherent(self, token: Token) -> Fraction:
        return max(super().inherent(token), EPS)

    def element_value(self, ours: Token, theirs: Token, *, is_swapped: bool = False) -> Fraction:
        one, other = ours.attributes, theirs.attributes
        if ours.kind == "time":
            one, other = [{"type": "TIMEX2", **token.attributes} for token in (ours, theirs)]
            shared = [name for name in self.tern if name in one and name in other]
            return max(EPS, sum((self.tern[n] * (1 if one[n] == other[n] else EPS) for n in shared), F(0)))
        value = min(self.inherent(ours), self.inherent(theirs))
        for name, weight in W_ERR[ours.kind].items():
            if one.get(name) != other.get(name) or (is_swapped and name in ("type", "subtype")):
                value *= 1 - EPS if weight == 1 and name != "type" else weight
        return value

    def best(self, gains: dict[Edge, Fraction]) -> list[tuple[Edge, ...]]:
        found: list[tuple[Edge, ...]] = [()]
        for edges in cohorts(list(gains)):
            found = [(*one, *more) for one in found for more in forced({edge: gains[edge] for edge in edges})]
        return found

    def task(self, name: str) -> list[Row]:
        if name == "emd":
            singles = [completed(promoted(side, arguments=True)) for side in self.documents]
            return self.detected(singles[0], singles[1], "entity")
        return super().task(name)

    # Relations and events.

    def argued(self, system: Side, kind: str, *, is_promoted: bool) -> list[Row]:
        completed(system)
        side = once(completed(promoted(self.documents[0], arguments=False))) if is_promoted else self.gold
        golds = [token for token in side.values() if token.kind == kind]
        systems = [token for token in system.values() if token.kind == kind]
        values = {}
        for i, ours in enumerate(golds):
            for j, theirs in enumerate(systems):
                value = self._pair(ours, theirs, system, is_promoted=is_promoted)
                if value is not None:
                    values[i, j] = value
        worths = [sum(self._worths(self.gold, token), EPS * _mentions(token)) for token in golds]
        owns = [sum(self._worths(system, token), EPS * _mentions(token)) for token in systems]
        return self.rows(golds, systems, values, worths, [-F(3, 4) * own for own in owns], owns)

    def _worths(self, side: Side, token: Token) -> list[Fraction]:
        return [
            self.own(side[kind, element], token.documents[0]) if kind in self.kinds else F(0)
            for _, kind, element in token.arguments
        ]

    def _pair(self, ours: Token, theirs: Token, system: Side, *, is_promoted: bool) -> Fraction | None:
        kind = ours.kind
        overlap = self._overlap(ours, theirs)
        edges = self._edges(ours, theirs, system)
        gains = {edge: value * preference + value * W_A_FA[kind] for edge, (value, _, preference, _) in edges.items()}
        options = forced(gains) if gains else [()]
        self.is_tied |= len(options) > 1
        mapped = options[0]
        if not self._meets(ours, theirs, mapped, overlap, is_promoted=is_promoted):
            return None
        if is_promoted:
            worths = self._worths(self.gold, ours)
            arguments = sum((worths[a] * edges[b, a][1] for b, a in mapped), F(0))
        else:
            lost = sum(self._worths(system, theirs), F(0)) - sum((edges[edge][0] for edge in mapped), F(0))
            arguments = sum((edges[edge][0] * edges[edge][1] for edge in mapped), F(0)) - W_A_FA[kind] * lost
        is_swapped = any(edges[edge][3] for edge in mapped)
        return self.element_value(ours, theirs, is_swapped=is_swapped) * (arguments + EPS * overlap)

    def _overlap(self, ours: Token, theirs: Token) -> Fraction:
        shares = {}
        (document,) = ours.documents
        for a, m in enumerate(ours.mentions.get(document, ())):
            for b, n in enumerate(theirs.mentions.get(document, ())):
                one, other = self._extent(m), self._extent(n)
                if length := common(one, other):
                    shares[a, b] = F(length, max(one[1] - one[0], other[1] - other[0]))
        return max(sum((shares[edge] for edge in chosen), F(0)) for chosen in mappings(list(shares)))

    def _edges(self, ours: Token, theirs: Token, system: Side) -> dict[Edge, tuple[Fraction, Fraction, Fraction, bool]]:
        """Of arguments (sys, ref): value, weight of the role, what the mapping prefers, and whether it is a swap."""
        found: dict[Edge, Any] = {}
        for a, (role, kind, element) in enumerate(ours.arguments):
            for b, (their_role, their_kind, their_element) in enumerate(theirs.arguments):
                is_main = ours.kind == "relation" and role in MAIN
                if kind != their_kind or (ours.kind == "relation" and is_main != (their_role in MAIN)):
                    continue
                pair = self.gold[kind, element], system[kind, their_element]
                value = self.value(*pair, theirs.documents[0]) if self.mappable(*pair) else F(0)
                weight = F(1) if role == their_role or is_main else F(3, 4)
                is_swap = is_main and role != their_role and ours.attributes.get("type") not in SYMMETRIC
                preference = weight
                for name in ("type", "subtype") if is_swap else ():
                    if ours.attributes.get(name) == theirs.attributes.get(name):
                        preference *= (1 - EPS) * W_ERR["relation"][name]
                if value:
                    found[b, a] = value, weight, preference, is_swap
        return found

    def _meets(
        self, ours: Token, theirs: Token, mapped: tuple[Edge, ...], overlap: Fraction, *, is_promoted: bool
    ) -> bool:
        if self.mapping in ("arguments", "both") and not mapped and ours.arguments:
            return False
        least = {"0": 0, "1": 1, "both": 2}[self.relation_arguments] if ours.kind == "relation" else 0
        if sum(theirs.arguments[b][0] in MAIN for b, _ in mapped) < least or not (mapped or overlap):
            return False
        if not overlap and self.mapping in ("extents", "both", "all+extents"):
            return False
        if is_promoted and ours.kind == "event" and not overlap:
            return False
        if is_promoted and ours.kind == "relation":
            hulls = [(min(a for a, _ in token.heads), max(b for _, b in token.heads)) for token in (ours, theirs)]
            if max(begin for begin, _ in hulls) > min(end for _, end in hulls):
                return False
        return not self.mapping.startswith("all") or len(mapped) == len(ours.arguments)


def _mentions(token: Token) -> int:
    return sum(map(len, token.mentions.values()))
