"""Mentions: when two correspond, what a mapped or unmapped one is worth, and the best mapping between two tokens."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import NamedTuple

from karat.align.similarity import overlaps
from karat.model import Boxes, Mention, Region
from karat.regions import extension, place, shared
from karat.tables.ace.elements import Element
from karat.tables.ace.mapping import optimal
from karat.tables.ace.parameters import Detection, Readings, worth


class Spot:
    """A mention as the formulas see it."""

    __slots__ = ("alarm", "attributes", "mention", "region", "self", "size", "token", "value")

    def __init__(
        self, mention: Mention, token: int, name: str, value: float, attributes: tuple[object, ...], epsilon: float
    ) -> None:
        self.mention = mention
        self.token = token
        """The number of its element."""
        self.region = place(mention, name) or place(mention)
        self.size = extension(self.region)
        self.value = value
        """MTypeValue."""
        self.self = value + epsilon
        """MMV against itself."""
        self.attributes = attributes
        """Those of W_Merr, in its order; None where it has none."""
        self.alarm = 0.0
        """MMV if it is unmapped, once it is known what it corresponds to."""


def spots(elements: Sequence[Element], kind: str, parameters: Detection, readings: Readings) -> list[Spot]:
    """All mentions of elements of a kind."""
    found = []
    for token, element in enumerate(elements):
        for mention in element.mentions:
            if kind != "entity":
                found.append(Spot(mention, token, "span", worth(parameters.MTypeValue, None), (), readings.epsilon))
                continue
            written = mention.attributes
            role = written.get("role")
            if role is None and readings.absent_role == "type":
                role = element.attributes.get("type")
            style = "METONYMIC" if str(written.get("metonymy_mention", "")).upper() == "TRUE" else "LITERAL"
            known = {"type": written.get("type"), "role": role, "style": style}
            attributes = tuple([known.get(name) for name in parameters.W_Merr])
            value = worth(parameters.MTypeValue, known["type"])
            found.append(Spot(mention, token, "head", value, attributes, readings.epsilon))
    return found


class Met(NamedTuple):
    """Two mentions in correspondence."""

    system: int
    gold: int
    score: float
    """MMV(mention_sys) if they are mapped to each other."""
    overlap: float


def correspondences(
    gold: Sequence[Spot], system: Sequence[Spot], parameters: Detection, readings: Readings
) -> dict[tuple[int, int], list[Met]]:
    """Mentions in correspondence, by the numbers of their two elements; marks what unmapped mentions are worth.

    mutual_overlap = sys ∩ ref / max(sys, ref) ≥ min_overlap, and for heads a common string of at least min_text_match.
    """
    found: dict[tuple[int, int], list[Met]] = {}
    corresponding = set()
    lengths = common([spot.region for spot in gold], [spot.region for spot in system])
    weights = list(parameters.W_Merr.values())
    for (s, g), length in lengths.items():
        theirs, ours = system[s], gold[g]
        mutual = length / (theirs.size if theirs.size > ours.size else ours.size)
        if mutual < parameters.min_overlap:
            continue
        if parameters.min_text_match and not texts_match(ours, theirs, parameters.min_text_match, readings):
            continue
        corresponding.add(s)
        score = min(ours.value, theirs.value) + mutual * readings.epsilon
        if ours.attributes != theirs.attributes:
            for weight, one, other in zip(weights, ours.attributes, theirs.attributes, strict=True):
                if one != other and one is not None and other is not None:
                    score *= weight
        found.setdefault((ours.token, theirs.token), []).append(Met(s, g, score, mutual))
    for s, spot in enumerate(system):
        spot.alarm = -spot.self * parameters.W_M_FA * (parameters.W_M_CR if s in corresponding else 1.0)
    return found


def common(gold: Sequence[Region | Boxes], system: Sequence[Region | Boxes]) -> Mapping[tuple[int, int], float]:
    """How much of the source a system and a gold region share, for those that share any: characters, time or area."""
    if any(region and len(region[0]) > 2 for region in (*gold, *system)):
        areas = {(s, g): shared(ours, theirs) for s, theirs in enumerate(system) for g, ours in enumerate(gold)}
        return {edge: area for edge, area in areas.items() if area}
    return overlaps(gold, system)  # type: ignore[arg-type]


def mapped(met: Sequence[Met], system: Sequence[Spot]) -> list[Met]:
    """The one-to-one mapping of mentions that maximises the sum of MMV over all system mentions."""
    if len(met) == 1:
        return list(met)
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
    runs = {one[start : start + length] for start in range(len(one) - length + 1)}
    return any(other[start : start + length] in runs for start in range(len(other) - length + 1))


def head_text(mention: Mention) -> str:
    """The text of the head."""
    return mention.texts.get("head", mention.text or "")
