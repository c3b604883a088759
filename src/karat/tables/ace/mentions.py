"""Mentions: when two correspond, what a mapped or unmapped one is worth, and the best mapping between two tokens.

Which mentions correspond does not depend on whether they are promoted to elements: it is found once for all tasks.
"""

from collections.abc import Mapping, Sequence
from math import ceil

from msgspec import Struct

from karat.align.similarities import overlaps
from karat.model import Boxes, Mention, Region
from karat.plugin import Tables, TableSpec
from karat.regions import extension, place, shared
from karat.tables.ace.attributes import element_value, inherent
from karat.tables.ace.elements import Element, Elements
from karat.tables.ace.mapping import is_matching, optimal
from karat.tables.ace.parameters import Detection, Readings, Values, worth


class Spot(Struct, gc=False, eq=False):
    """A mention as the formulas see it."""

    mention: Mention
    element: int
    """The number of its element."""
    region: Region | Boxes
    size: float
    value: float
    """MTypeValue."""
    self: float
    """MMV against itself."""
    attributes: tuple[object, ...] = ()
    """Those of W_Merr, in its order; None where it has none."""
    alarm: float = 0.0
    """MMV if it is unmapped, once it is known what it corresponds to."""


class Met(Struct, frozen=True, gc=False):
    """Two mentions in correspondence, by their numbers."""

    gold: int
    system: int
    score: float
    """MMV(mention_sys) if they are mapped to each other."""
    overlap: float


class MentionValues(TableSpec["Corresponding"]):
    """Wanted: which mentions of a kind correspond, and what each is worth."""

    def __init__(self, kind: str, values: Values, elements: Elements) -> None:
        self.kind = kind
        self.parameters: Detection = values.detection(kind)
        self.readings: Readings = values.readings
        self._elements = elements

    def make(self, tables: Tables) -> "Corresponding":
        """Those of one document."""
        gold, system = tables.get(self._elements)
        return Corresponding(gold.get(self.kind, []), system.get(self.kind, []), self)


class Corresponding:
    """The table: mentions of both sides, pairs in correspondence, and Element_Value of the elements they belong to."""

    def __init__(self, gold: list[Element], system: list[Element], want: MentionValues) -> None:
        self.want = want
        self.elements = gold, system
        self.gold = spots(gold, want.kind, want.parameters, want.readings)
        self.system = spots(system, want.kind, want.parameters, want.readings)
        self.met = correspondences(self.gold, self.system, want.parameters, want.readings)
        self.inherent = tuple(
            [inherent(want.parameters, element.attributes, want.readings.epsilon) for element in side]
            for side in self.elements
        )
        """The inherent value of each element of gold and of the system."""
        self._values: dict[tuple[int, int], float] = {}

    def element_value(self, gold: int, system: int) -> float:
        """Element_Value of two elements by their numbers, worked out once."""
        found = self._values.get((gold, system))
        if found is None:
            ours, theirs = self.elements[0][gold].attributes, self.elements[1][system].attributes
            least = min(self.inherent[0][gold], self.inherent[1][system])
            found = element_value(self.want.parameters, ours, theirs, least, self.want.readings.epsilon)
            self._values[gold, system] = found
        return found


def spots(elements: Sequence[Element], kind: str, parameters: Detection, readings: Readings) -> list[Spot]:
    """All mentions of elements of a kind."""
    epsilon = readings.epsilon
    if kind != "entity":
        value = worth(parameters.MTypeValue, None)
        return [
            Spot(mention, number, region := place(mention), extension(region), value, value + epsilon)
            for number, element in enumerate(elements)
            for mention in element.mentions
        ]
    found = []
    names = tuple(parameters.W_Merr)
    for number, element in enumerate(elements):
        default = element.attributes.get("type") if readings.absent_role == "type" else None
        for mention in element.mentions:
            written = mention.attributes
            style = "METONYMIC" if str(written.get("metonymy_mention")).upper() == "TRUE" else "LITERAL"
            known = {"type": written.get("type"), "role": written.get("role", default), "style": style}
            value = worth(parameters.MTypeValue, known["type"])
            region = place(mention, "head") or place(mention)
            attributes = tuple([known.get(name) for name in names])
            found.append(Spot(mention, number, region, extension(region), value, value + epsilon, attributes))
    return found


def correspondences(
    gold: Sequence[Spot], system: Sequence[Spot], parameters: Detection, readings: Readings
) -> list[Met]:
    """Mentions in correspondence; marks what unmapped mentions are worth.

    mutual_overlap = sys ∩ ref / max(sys, ref) ≥ min_overlap, and for heads a common string of at least min_text_match.
    MMV = min(MTypeValue(sys), MTypeValue(ref)) · Π W_Merr; of an unmapped mention -MTypeValue · W_M-FA, and · W_M-CR if
    it corresponds to a reference mention of any element.
    """
    found: list[Met] = []
    lengths = common([spot.region for spot in gold], [spot.region for spot in system])
    weights = list(parameters.W_Merr.values())
    for (s, g), length in lengths.items():
        theirs, ours = system[s], gold[g]
        mutual = length / (theirs.size if theirs.size > ours.size else ours.size)
        if mutual < parameters.min_overlap:
            continue
        if parameters.min_text_match and not texts_match(ours, theirs, parameters.min_text_match, readings):
            continue
        score = (ours.value if ours.value < theirs.value else theirs.value) + mutual * readings.epsilon
        if ours.attributes != theirs.attributes:
            for weight, one, other in zip(weights, ours.attributes, theirs.attributes, strict=True):
                if one != other and one is not None and other is not None:
                    score *= weight
        found.append(Met(g, s, score, mutual))
    corresponding = {met.system for met in found}
    for s, spot in enumerate(system):
        spot.alarm = -spot.self * parameters.W_M_FA * (parameters.W_M_CR if s in corresponding else 1.0)
    return found


def common(gold: Sequence[Region | Boxes], system: Sequence[Region | Boxes]) -> Mapping[tuple[int, int], float]:
    """How much of the source a system and a gold region share, for those that share any: characters, time or area."""
    if any(region and len(region[0]) > 2 for region in (*gold, *system)):
        areas = {(s, g): shared(ours, theirs) for s, theirs in enumerate(system) for g, ours in enumerate(gold)}
        return {edge: area for edge, area in areas.items() if area}
    return overlaps(gold, system)  # type: ignore[arg-type]


def mapped(met: list[Met], system: Sequence[Spot]) -> list[Met]:
    """The one-to-one mapping of mentions that maximises the sum of MMV over all system mentions."""
    if is_matching([(one.system, one.gold) for one in met]):
        return met
    gains = {(one.system, one.gold): (one.score - system[one.system].alarm, one.overlap) for one in met}
    chosen = set(optimal(gains))
    return [one for one in met if (one.system, one.gold) in chosen]


def texts_match(gold: Spot, system: Spot, least: float, readings: Readings) -> bool:
    """Whether fractional_consecutive_string ≥ least: a common string of that share of the longer text."""
    one, other = head_text(gold.mention), head_text(system.mention)
    if readings.text_match == "characters":
        return one == other or have_common(one, other, least)
    ours, theirs = as_bytes(one, other)
    return ours == theirs or (not {ours, theirs} & {b"", b"0"} and have_common(ours, theirs, least))


def as_bytes(gold: str, system: str) -> tuple[bytes, bytes]:
    """Texts as NIST's program compares them: bytes of the file in capitals; in ASCII only letters and digits."""
    raw = [_escaped(text).encode("utf-8").upper() for text in (gold, system)]
    if all(text.isascii() for text in raw):
        raw = [bytes(byte for byte in text if bytes((byte,)).isalnum()) for text in raw]
    return raw[0], raw[1]


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def have_common(one: str | bytes, other: str | bytes, least: float) -> bool:
    """Whether two texts share a run of at least that fraction of the longer one.

    Sharing some run of a length is sharing one of just the least length that is enough.
    """
    longer = max(len(one), len(other))
    length = ceil(least * longer)
    if length / longer < least:  # the product was rounded down
        length += 1
    elif length > 1 and (length - 1) / longer >= least:  # or up
        length -= 1
    if length > min(len(one), len(other)):
        return False
    # Not kept: the runs of a long text together are much longer than the text.
    return any(one[start : start + length] in other for start in range(len(one) - length + 1))  # type: ignore[operator]


def head_text(mention: Mention) -> str:
    """The text of the head."""
    return mention.texts.get("head", mention.text or "")
