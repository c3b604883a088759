"""Mentions of entities, values and times: which of them correspond, and what each is worth (MMV).

This does not depend on whether mentions are promoted to elements: it is computed once for all tasks.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

from karat.align.similarities import overlaps
from karat.errors import quoted
from karat.limits import MOST_PAIRS, check_pairs
from karat.model import Boxes, Mention, Region, Value
from karat.model.regions import extension, place, shared
from karat.plugin import Tables, TableSpec
from karat.tables.ace.elements import WholeElements
from karat.tables.ace.parameters import value_of
from karat.tables.ace.records import Correspondence, Element, Location, ScoredMention


class MentionCorrespondences(TableSpec["CorrespondenceTable"]):
    """the mentions of a kind on both sides, and which of them correspond."""

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
        self._spec = spec
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
            known = self._element_values[gold, system] = self._spec.reading.element_value(
                self._spec.parameters, *elements
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
    is_metonymic = str(mention.attributes.get("metonymy_mention", "")).upper() == "TRUE"
    known = {
        "type": mention.attributes.get("type"),
        "role": spec.reading.mention_role(mention, entity),
        "style": "METONYMIC" if is_metonymic else "LITERAL",
    }
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
