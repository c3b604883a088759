"""Mentions of entities, values and times: which of them correspond, and what each is worth (MMV).

This does not depend on whether mentions are promoted to elements: it is computed once for all tasks. The tokens of a
document add up their mentions, alone and in pairs.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from karat.model import Region, Value
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
        self.spec = spec
        self._elements = gold, system
        self._element_values: dict[tuple[int, int], float] = {}
        self.gold, self.system = _scored(gold, spec), _scored(system, spec)
        self.pairs = _corresponding(self.gold, self.system, spec, document)
        corresponding = {pair.system for pair in self.pairs}
        for index, mention in enumerate(self.system):
            mention.unmapped = spec.reading.unmapped_mmv(spec.parameters, mention, corresponds=index in corresponding)

    def element_value(self, gold: int, system: int) -> float:
        """Element_Value of two elements by their indexes, computed once."""
        known = self._element_values.get((gold, system))
        if known is None:
            spec, (golds, systems) = self.spec, self._elements
            known = spec.reading.element_value(spec.parameters, golds[gold], systems[system])
            self._element_values[gold, system] = known
        return known


def _scored(elements: Sequence[Element], spec: MentionCorrespondences) -> list[ScoredMention]:
    """All mentions of elements of a kind: an entity's are compared by their heads, others by their extents."""
    values, reading, is_entity = spec.parameters.MTypeValue, spec.reading, spec.kind == "entity"
    known: dict[tuple[Value | None, ...], tuple[float, dict[str, Value]]] = {}
    scored = []
    for index, element in enumerate(elements):
        for mention in element.mentions:
            region = (place(mention, "head") if is_entity else ()) or place(mention)
            written, role = mention.attributes, reading.mention_role(mention, element) if is_entity else None
            key = written.get("type"), role, written.get("metonymy_mention")
            if key not in known:
                known[key] = value_of(values, key[0]), _compared(spec.parameters.W_Merr, *key)
            value, compared = known[key]
            scored.append(
                ScoredMention(mention, index, region, extension(region), value, reading.own_mmv(value), compared)
            )
    return scored


def _compared(
    names: Iterable[str], type_: Value | None, role: Value | None, metonymy: Value | None
) -> dict[str, Value]:
    """The attributes of an entity mention that W_Merr weighs, in its order; values and times have none."""
    style = "METONYMIC" if str(metonymy).upper() == "TRUE" else "LITERAL"
    known = {"type": type_, "role": role, "style": style}
    return {name: value for name in names if (value := known.get(name)) is not None}


def _corresponding(
    gold: Sequence[ScoredMention], system: Sequence[ScoredMention], spec: MentionCorrespondences, document: str
) -> list[Correspondence]:
    """Mentions in correspondence, with their mutual_overlap and MMV."""
    reading, parameters = spec.reading, spec.parameters
    common = common_extensions([mention.region for mention in gold], [mention.region for mention in system], document)
    correspondences = []
    for (s, g), extension_ in common.items():
        gold_mention, system_mention = gold[g], system[s]
        overlap = extension_ / max(gold_mention.size, system_mention.size)
        if reading.mentions_correspond(parameters, gold_mention, system_mention, overlap):
            correspondences.append(
                Correspondence(g, s, reading.mmv(parameters, gold_mention, system_mention, overlap), overlap)
            )
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
    if not is_image:
        return overlaps(gold, system)  # type: ignore[arg-type]
    areas = {
        (s, g): shared(gold_area, system_area)
        for s, system_area in enumerate(system)
        for g, gold_area in enumerate(gold)
    }
    return {pair: area for pair, area in areas.items() if area}


def _overlap_count(gold: Sequence[Region], system: Sequence[Region]) -> int:
    """The number of pairs of segments that overlap."""
    begins = sorted(begin for region in gold for begin, _ in region)
    ends = sorted(end for region in gold for _, end in region)
    return sum(bisect_left(begins, end) - bisect_right(ends, begin) for region in system for begin, end in region)


class DocumentTokens:
    """The tokens of both sides of one document, and pairs of them by the ids of their elements (gold, system).

    Two tokens are a pair if any of their mentions correspond.
    """

    def __init__(
        self,
        document: str,
        elements: tuple[ElementsByKind, ElementsByKind],
        promoted: tuple[bool, bool],
        mentions: CorrespondenceTable,
    ) -> None:
        self.document, self.elements, self.mentions = document, elements, mentions
        spec, sides = mentions.spec, (mentions.gold, mentions.system)
        self._reading = spec.reading
        self._owners = [
            range(len(side)) if is_promoted else [mention.element for mention in side]
            for side, is_promoted in zip(sides, promoted, strict=True)
        ]
        self.gold, self.system = (
            _tokens(elements[i].get(spec.kind, []), sides[i], self._owners[i], spec.parameters.MTypeValue)
            for i in (0, 1)
        )
        gold_owners, system_owners = self._owners
        correspondences: dict[tuple[int, int], list[Correspondence]] = {}
        for pair in mentions.pairs:
            owners = gold_owners[pair.gold], system_owners[pair.system]
            if owners in correspondences:
                correspondences[owners].append(pair)
            else:
                correspondences[owners] = [pair]
        self.pairs = {
            ((gold := self.gold[g]).element.id, (system := self.system[s]).element.id): self._pair(gold, system, pairs)
            for (g, s), pairs in correspondences.items()
        }

    def _pair(self, gold: ElementToken, system: ElementToken, pairs: list[Correspondence]) -> ElementPair:
        """Value two tokens under the mapping of their mentions that maximises Σ MMV of the system's."""
        reading, mentions, mapped = self._reading, self.mentions.system, pairs
        if len(pairs) > 1:
            gains = {
                (pair.system, pair.gold): (reading.gain(pair.mmv, mentions[pair.system].unmapped), pair.overlap)
                for pair in pairs
            }
            chosen = set(reading.assign(gains))
            mapped = [pair for pair in pairs if (pair.system, pair.gold) in chosen]
        value = self.mentions.element_value(
            self.mentions.gold[pairs[0].gold].element, mentions[pairs[0].system].element
        )
        unmapped = system.unmapped - fsum([mentions[pair.system].unmapped for pair in mapped])
        mmv = fsum([pair.mmv for pair in mapped]) + unmapped
        return ElementPair(value, mmv, gold.own, fsum([pair.overlap for pair in mapped]), mapped)

    def mention_pairs(self, gold: str, system: str) -> Iterator[tuple[ScoredMention | None, ScoredMention | None]]:
        """The mentions of two elements that are mapped to each other: those that are mapped, missed, and spurious."""
        pair = self.pairs.get((gold, system))
        mapped = [] if pair is None else pair.mapped
        yield from ((self.mentions.gold[both.gold], self.mentions.system[both.system]) for both in mapped)
        mapped_golds, mapped_systems = {both.gold for both in mapped}, {both.system for both in mapped}
        golds, systems = self._mentions_of
        yield from ((self.mentions.gold[i], None) for i in golds.get(gold, ()) if i not in mapped_golds)
        yield from ((None, self.mentions.system[i]) for i in systems.get(system, ()) if i not in mapped_systems)

    @cached_property
    def _mentions_of(self) -> list[dict[str, list[int]]]:
        """For gold, and for the system: the indexes of the mentions of each element, by its id."""
        sides: list[dict[str, list[int]]] = [{}, {}]
        for tokens, owners, side in zip((self.gold, self.system), self._owners, sides, strict=True):
            for mention, owner in enumerate(owners):
                side.setdefault(tokens[owner].element.id, []).append(mention)
        return sides


def _tokens(
    elements: Sequence[Element], mentions: Sequence[ScoredMention], owners: Sequence[int], levels: Weights | Weight
) -> list[ElementToken]:
    """Add up the mentions of each element: Σ MMV against themselves, and if they are all unmapped."""
    if isinstance(owners, range):  # promoted: each element has one mention
        sums = [(mention.own, mention.unmapped) for mention in mentions]
    else:
        members: list[list[ScoredMention]] = [[] for _ in elements]
        for mention, owner in zip(mentions, owners, strict=True):
            members[owner].append(mention)
        sums = [(fsum([part.own for part in group]), fsum([part.unmapped for part in group])) for group in members]
    return [
        ElementToken(element, value_of(levels, element.attributes.get("level")), own, unmapped)
        for element, (own, unmapped) in zip(elements, sums, strict=True)
    ]
