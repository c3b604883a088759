"""Mentions of entities, values and times: which of them correspond, and what each is worth (MMV).

This does not depend on whether mentions are promoted to elements: it is computed once for all tasks. The tokens of a
document add up their mentions, alone and in pairs.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import fsum

from karat.families.ace.elements import ElementsByKind, WholeElements
from karat.families.ace.records import (
    Correspondence,
    Element,
    ElementPair,
    ElementToken,
    Location,
    ScoredMention,
    Weight,
    Weights,
    value_of,
)
from karat.limits import MOST_PAIRS, check_pairs
from karat.match.similarities import overlaps
from karat.model import Boxes, Mention, Region, Value
from karat.plugin import Tables, TableSpec
from karat.problems import quoted
from karat.regions import extension, place, shared


class MentionCorrespondences(TableSpec["CorrespondenceTable"]):
    """The mentions of a kind on both sides, and which of them correspond."""

    def __init__(self, kind: str, elements: WholeElements) -> None:
        self.kind = kind
        self.reading = elements.reading
        self.parameters = self.reading.detection[kind]
        self.elements = elements

    def make(self, tables: Tables) -> "CorrespondenceTable":
        """Compare the mentions of one document."""
        gold, system = tables.get(self.elements)
        return CorrespondenceTable(gold.get(self.kind, []), system.get(self.kind, []), self, tables.pair.gold.id)


class CorrespondenceTable:
    """Mentions of both sides, pairs in correspondence, and Element_Value of the elements they belong to."""

    def __init__(self, gold: list[Element], system: list[Element], spec: MentionCorrespondences, document: str) -> None:
        reading, parameters = spec.reading, spec.parameters
        self._elements = gold, system
        self.spec = spec
        self.gold = _scored(gold, spec)
        self.system = _scored(system, spec)
        self.pairs = _corresponding(self.gold, self.system, spec, document)
        corresponding = {pair.system for pair in self.pairs}
        for index, mention in enumerate(self.system):
            mention.unmapped = reading.unmapped_mmv(parameters, mention, corresponds=index in corresponding)
        self._element_values: dict[tuple[int, int], float] = {}

    def element_value(self, gold: int, system: int) -> float:
        """Element_Value of two elements by their indexes, computed once."""
        known = self._element_values.get((gold, system))
        if known is None:
            elements = self._elements[0][gold], self._elements[1][system]
            known = self._element_values[gold, system] = self.spec.reading.element_value(
                self.spec.parameters, *elements
            )
        return known


def _scored(elements: Sequence[Element], spec: MentionCorrespondences) -> list[ScoredMention]:
    """All mentions of elements of a kind: an entity's are compared by their heads, others by their extents."""
    values, own_mmv = spec.parameters.MTypeValue, spec.reading.own_mmv
    scored = []
    for index, element in enumerate(elements):
        for mention in element.mentions:
            if spec.kind == "entity":
                region = place(mention, "head") or place(mention)
                value = value_of(values, mention.attributes.get("type"))
                compared = _compared(mention, element, spec)
            else:
                region, value, compared = place(mention), value_of(values, None), {}
            scored.append(ScoredMention(mention, index, region, extension(region), value, own_mmv(value), compared))
    return scored


def _compared(mention: Mention, entity: Element, spec: MentionCorrespondences) -> dict[str, Value]:
    """The attributes of an entity mention that W_Merr weighs, in its order."""
    written = mention.attributes
    known = {"type": written.get("type"), "role": spec.reading.mention_role(mention, entity), "style": "LITERAL"}
    if "metonymy_mention" in written and str(written["metonymy_mention"]).upper() == "TRUE":
        known["style"] = "METONYMIC"
    return {name: value for name in spec.parameters.W_Merr if (value := known.get(name)) is not None}


def _corresponding(
    gold: Sequence[ScoredMention], system: Sequence[ScoredMention], spec: MentionCorrespondences, document: str
) -> list[Correspondence]:
    """Mentions in correspondence, with their mutual_overlap and MMV."""
    reading, parameters = spec.reading, spec.parameters
    common = common_extensions([mention.region for mention in gold], [mention.region for mention in system], document)
    correspondences = []
    for (s, g), extension_ in common.items():
        ours, theirs = gold[g], system[s]
        overlap = extension_ / max(ours.size, theirs.size)
        if reading.mentions_correspond(parameters, ours, theirs, overlap):
            correspondences.append(Correspondence(g, s, reading.mmv(parameters, ours, theirs, overlap), overlap))
    return correspondences


def common_extensions(
    gold: Sequence[Location], system: Sequence[Location], document: str
) -> Mapping[tuple[int, int], float]:
    """The extension shared by each system and gold region that overlap: characters, time or area."""
    first = next((region for side in (gold, system) for region in side if region), ((0, 0),))
    is_image = len(first[0]) > 2
    if len(gold) * len(system) > MOST_PAIRS:
        count = len(gold) * len(system) if is_image else _overlap_count(gold, system)  # type: ignore[arg-type]
        check_pairs(count, "pairs of overlapping mentions", where=f"document {quoted(document)}", origin="gold")
    return _common_areas(gold, system) if is_image else overlaps(gold, system)  # type: ignore[arg-type]


def _overlap_count(gold: Sequence[Region], system: Sequence[Region]) -> int:
    """The number of pairs of segments that overlap."""
    begins = sorted(begin for region in gold for begin, _ in region)
    ends = sorted(end for region in gold for _, end in region)
    return sum(bisect_left(begins, end) - bisect_right(ends, begin) for region in system for begin, end in region)


def _common_areas(gold: Sequence[Boxes], system: Sequence[Boxes]) -> dict[tuple[int, int], float]:
    areas = {(s, g): shared(ours, theirs) for s, theirs in enumerate(system) for g, ours in enumerate(gold)}
    return {pair: area for pair, area in areas.items() if area}


class DocumentTokens:
    """The tokens of both sides of one document, and pairs of them by their indexes (gold, system).

    Two tokens are a pair if any of their mentions correspond.
    """

    def __init__(
        self,
        document: str,
        elements: tuple[ElementsByKind, ElementsByKind],
        promoted: tuple[bool, bool],
        mentions: CorrespondenceTable,
    ) -> None:
        self.document = document
        self.elements = elements
        self.mentions = mentions
        self._reading = mentions.spec.reading
        levels = mentions.spec.parameters.MTypeValue
        self._gold_owners = _owners(mentions.gold, is_promoted=promoted[0])
        self._system_owners = _owners(mentions.system, is_promoted=promoted[1])
        golds, systems = (side.get(mentions.spec.kind, []) for side in elements)
        self.gold = _tokens(golds, mentions.gold, levels, is_promoted=promoted[0])
        self.system = _tokens(systems, mentions.system, levels, is_promoted=promoted[1])
        correspondences: dict[tuple[int, int], list[Correspondence]] = {}
        for pair in mentions.pairs:
            owners = self._gold_owners[pair.gold], self._system_owners[pair.system]
            correspondences.setdefault(owners, []).append(pair)
        self.pairs = {(g, s): self._pair(s, pairs) for (g, s), pairs in correspondences.items()}

    def _pair(self, system: int, pairs: list[Correspondence]) -> ElementPair:
        """Value two tokens under the mapping of their mentions that maximises Σ MMV of the system's."""
        reading, mentions, mapped = self._reading, self.mentions.system, pairs
        if len(pairs) > 1:
            gains = {
                (pair.system, pair.gold): (reading.gain(pair.mmv, mentions[pair.system].unmapped), pair.overlap)
                for pair in pairs
            }
            chosen = set(reading.assign(gains))
            mapped = [pair for pair in pairs if (pair.system, pair.gold) in chosen]
        parents = self.mentions.gold[pairs[0].gold].element, mentions[pairs[0].system].element
        unmapped = self.system[system].unmapped - fsum([mentions[pair.system].unmapped for pair in mapped])
        mmv = fsum([pair.mmv for pair in mapped]) + unmapped
        overlap = fsum([pair.overlap for pair in mapped])
        return ElementPair(self.mentions.element_value(*parents), mmv, overlap, mapped)

    def mention_pairs(self, gold: str, system: str) -> Iterator[tuple[ScoredMention | None, ScoredMention | None]]:
        """The mentions of two elements that are mapped to each other: those that are mapped, missed, and spurious."""
        ours, theirs = self._mentions_by_id
        (g, golds), (s, systems) = ours.get(gold, (-1, [])), theirs.get(system, (-1, []))
        pair = self.pairs.get((g, s))
        mapped = [] if pair is None else pair.mapped
        yield from ((self.mentions.gold[both.gold], self.mentions.system[both.system]) for both in mapped)
        mapped_golds, mapped_systems = {both.gold for both in mapped}, {both.system for both in mapped}
        yield from ((self.mentions.gold[index], None) for index in golds if index not in mapped_golds)
        yield from ((None, self.mentions.system[index]) for index in systems if index not in mapped_systems)

    @cached_property
    def _mentions_by_id(self) -> list[dict[str, tuple[int, list[int]]]]:
        """For gold, and for the system: the index of each element by its id, and those of its mentions."""
        sides = []
        for tokens, owners in ((self.gold, self._gold_owners), (self.system, self._system_owners)):
            indexes: list[list[int]] = [[] for _ in tokens]
            for mention, owner in enumerate(owners):
                indexes[owner].append(mention)
            sides.append({token.element.id: (index, indexes[index]) for index, token in enumerate(tokens)})
        return sides


def _owners(mentions: Sequence[ScoredMention], *, is_promoted: bool) -> list[int]:
    """The index of the token that each mention belongs to."""
    return list(range(len(mentions))) if is_promoted else [mention.element for mention in mentions]


def _tokens(
    elements: Sequence[Element], mentions: Sequence[ScoredMention], levels: Weights | Weight, *, is_promoted: bool
) -> list[ElementToken]:
    """Add up the mentions of each element: Σ MMV against themselves, and if they are all unmapped."""
    if is_promoted:
        sums = [(mention.own, mention.unmapped) for mention in mentions]
    else:
        members: list[list[ScoredMention]] = [[] for _ in elements]
        for mention in mentions:
            members[mention.element].append(mention)
        sums = [
            (fsum([mention.own for mention in group]), fsum([mention.unmapped for mention in group]))
            for group in members
        ]
    return [
        ElementToken(element, value_of(levels, element.attributes.get("level")), own, unmapped)
        for element, (own, unmapped) in zip(elements, sums, strict=True)
    ]
