"""Which mentions of entities, values and times correspond, and what each is worth (MMV).

That does not depend on whether mentions are promoted to elements: it is found once for all tasks.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from math import fsum

from karat.align.similarities import overlaps
from karat.errors import KaratError, Rule, quoted
from karat.model import Mention
from karat.model.regions import extension, place, shared
from karat.plugin import Tables, TableSpec
from karat.tables.ace.elements import WholeElements
from karat.tables.ace.groups import attributes_key, first_equals, only_first
from karat.tables.ace.parameters import value_of
from karat.tables.ace.plan import Plan, head_text
from karat.tables.ace.records import Correspondence, Element, ElementToken, Location, ScoredMention

Tokens = tuple[list[ElementToken], list[int]]
"""The tokens of one side, and the number of the token that each mention belongs to."""

MOST_PAIRS = 200_000
"""Pairs in a document whose values are computed: they take about 10 seconds and 500 MB."""
MANY = MOST_PAIRS
"""Pairs in a document above which equal elements are valued once."""
TOO_MANY = Rule("ace-too-many-pairs", "fatal", "Check that elements are not written many times over.")


def refuse_many(document: str, pairs: int) -> None:
    """Refuse a document with more pairs than can be valued; in a corpus of several, that is their mean."""
    if pairs > MOST_PAIRS:
        message = f"document {quoted(document)} has {pairs:,} pairs of gold and system items to compare"
        raise KaratError(TOO_MANY.at(f"{message}, and {MOST_PAIRS:,} at most can be", origin="gold"))


class MentionCorrespondences(TableSpec["CorrespondenceTable"]):
    """the mentions of a kind on both sides, and which of them correspond."""

    def __init__(self, kind: str, elements: WholeElements) -> None:
        self.kind = kind
        self.reading: Plan = elements.reading
        self.parameters = self.reading.detection[kind]
        self.elements = elements

    def make(self, tables: Tables) -> "CorrespondenceTable":
        """Those of one document."""
        gold, system = tables.get(self.elements)
        return CorrespondenceTable(gold.get(self.kind, []), system.get(self.kind, []), self, tables.pair.gold.id)


class CorrespondenceTable:
    """Mentions of both sides, pairs in correspondence, and Element_Value of the elements they belong to."""

    def __init__(self, gold: list[Element], system: list[Element], want: MentionCorrespondences, document: str) -> None:
        reading, parameters = want.reading, want.parameters
        self._reading, self.parameters = reading, parameters
        self._elements = gold, system
        self.gold = _scored(gold, want)
        self.system = _scored(system, want)
        self.first_equals: tuple[list[int], list[int]] | None = None
        """In a crowded document: for each mention of either side, the number of the first that it equals."""
        if is_crowded(*([mention.region for mention in side] for side in (self.gold, self.system))):
            self.first_equals = first_equals(map(_key, self.gold)), first_equals(map(_key, self.system))
        self.pairs = _corresponding(self.gold, self.system, self.first_equals, want, document)
        """Pairs in correspondence; in a crowded document, only those of the first of equal mentions."""
        corresponding = {pair.system for pair in self.pairs}
        firsts = range(len(self.system)) if self.first_equals is None else self.first_equals[1]
        for number, mention in zip(firsts, self.system, strict=True):
            mention.unmapped = reading.unmapped_mmv(parameters, mention, corresponds=number in corresponding)
        self._element_values: dict[tuple[int, int], float] = {}
        self._tokens: dict[tuple[int, bool], Tokens] = {}

    def tokens(self, side: int, elements: list[Element], *, is_promoted: bool) -> Tokens:
        """The tokens of gold (side 0) or of the system (1), whole or promoted: made once for all tasks."""
        if (side, is_promoted) not in self._tokens:
            mentions = (self.gold, self.system)[side]
            owners = list(range(len(mentions))) if is_promoted else [mention.element for mention in mentions]
            if is_promoted:
                sums = [(mention.own, mention.unmapped) for mention in mentions]
            else:
                sums = list(zip(*_sums(len(elements), mentions), strict=True))
            levels = self.parameters.MTypeValue
            tokens = [
                ElementToken(element, value_of(levels, element.attributes.get("level")), own, unmapped)
                for element, (own, unmapped) in zip(elements, sums, strict=True)
            ]
            self._tokens[side, is_promoted] = tokens, owners
        return self._tokens[side, is_promoted]

    @cached_property
    def parent_attributes(self) -> tuple[list[Hashable], list[Hashable]]:
        """For each mention of gold, and of the system: the attributes of its element, to be compared."""
        gold, system = ([attributes_key(element.attributes) for element in side] for side in self._elements)
        return [gold[one.element] for one in self.gold], [system[one.element] for one in self.system]

    def element_value(self, gold: int, system: int) -> float:
        """Element_Value of two elements by their numbers, computed once."""
        known = self._element_values.get((gold, system))
        if known is None:
            known = self._reading.element_value(self.parameters, self._elements[0][gold], self._elements[1][system])
            self._element_values[gold, system] = known
        return known


def _sums(count: int, mentions: Iterable[ScoredMention]) -> tuple[list[float], list[float]]:
    """For each element: Σ MMV of its mentions against themselves, and if they are all unmapped."""
    own: list[list[float]] = [[] for _ in range(count)]
    unmapped: list[list[float]] = [[] for _ in range(count)]
    for mention in mentions:
        own[mention.element].append(mention.own)
        unmapped[mention.element].append(mention.unmapped)
    return list(map(fsum, own)), list(map(fsum, unmapped))


def _scored(elements: Sequence[Element], want: MentionCorrespondences) -> list[ScoredMention]:
    """All mentions of elements of a kind: an entity's are compared by their heads, others by their extents."""
    values, own_mmv = want.parameters.MTypeValue, want.reading.own_mmv
    scored = []
    for number, element in enumerate(elements):
        for mention in element.mentions:
            if want.kind == "entity":
                region = place(mention, "head") or place(mention)
                value = value_of(values, mention.attributes.get("type"))
                compared = _compared(mention, element, want)
            else:
                region, value, compared = place(mention), value_of(values, None), ()
            scored.append(ScoredMention(mention, number, region, extension(region), value, own_mmv(value), compared))
    return scored


def _compared(mention: Mention, entity: Element, want: MentionCorrespondences) -> tuple[object, ...]:
    """The attributes of an entity mention that W_Merr weighs, in its order."""
    written = mention.attributes
    known = {"type": written.get("type"), "role": want.reading.mention_role(mention, entity), "style": "LITERAL"}
    if "metonymy_mention" in written and str(written["metonymy_mention"]).upper() == "TRUE":
        known["style"] = "METONYMIC"
    return tuple(map(known.get, want.parameters.W_Merr))


def _key(mention: ScoredMention) -> Hashable:
    """What the formulas read of a mention."""
    return mention.region, mention.type_value, mention.own, mention.attributes, head_text(mention.mention)


def _corresponding(
    gold: Sequence[ScoredMention],
    system: Sequence[ScoredMention],
    firsts: tuple[list[int], list[int]] | None,
    want: MentionCorrespondences,
    document: str,
) -> list[Correspondence]:
    """Mentions in correspondence, with their mutual_overlap and MMV."""
    reading, parameters = want.reading, want.parameters
    regions = [mention.region for mention in gold], [mention.region for mention in system]
    if firsts is not None:
        regions = only_first(regions[0], set(firsts[0])), only_first(regions[1], set(firsts[1]))
    common = common_extensions(*regions, document)
    correspondences = []
    for (s, g), extension_ in common.items():
        ours, theirs = gold[g], system[s]
        overlap = extension_ / max(ours.size, theirs.size)
        if reading.mentions_correspond(parameters, ours, theirs, overlap):
            correspondences.append(Correspondence(g, s, reading.mmv(parameters, ours, theirs, overlap), overlap))
    return correspondences


def is_crowded(gold: Sequence[Location], system: Sequence[Location]) -> bool:
    """Whether more pairs of regions overlap than can be compared."""
    return are_many(len(gold) * len(system)) and are_many(_pair_count(gold, system))


def are_many(pairs: int) -> bool:
    """Whether a document has so many pairs that equal elements are handled as groups."""
    return pairs > MANY


def _pair_count(gold: Sequence[Location], system: Sequence[Location]) -> int:
    """How many pairs of regions are compared: of segments those that overlap, of boxes all."""
    if _is_image(gold, system):
        return sum(map(bool, gold)) * sum(map(bool, system))
    begins = sorted(begin for region in gold for begin, _ in region)  # type: ignore[misc]
    ends = sorted(end for region in gold for _, end in region)  # type: ignore[misc]
    return sum(bisect_left(begins, end) - bisect_right(ends, begin) for region in system for begin, end in region)  # type: ignore[misc]


def _is_image(gold: Sequence[Location], system: Sequence[Location]) -> bool:
    first = next((region for side in (gold, system) for region in side if region), None)
    return first is not None and len(first[0]) > 2


def common_extensions(
    gold: Sequence[Location], system: Sequence[Location], document: str
) -> Mapping[tuple[int, int], float]:
    """How much of the source a system and a gold region share, if any: characters, time or area."""
    if len(gold) * len(system) > MOST_PAIRS:
        refuse_many(document, _pair_count(gold, system))
    if _is_image(gold, system):
        placed = [(g, region) for g, region in enumerate(gold) if region]
        areas = {(s, g): shared(ours, theirs) for s, theirs in enumerate(system) if theirs for g, ours in placed}
        return {pair: area for pair, area in areas.items() if area}
    return dict(overlaps(gold, system))  # type: ignore[arg-type]
