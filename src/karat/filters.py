"""What leaves a document before it is aligned: filters, and the collapse, are small records that a protocol fills."""

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from karat.align import Comparison
from karat.errors import KaratError, Origin, Report, Rule, quoted
from karat.model import Boxes, Cluster, Document, Mention, Pair, Region, Value
from karat.model.regions import place

NO_TYPES = Rule("types-empty", "note", "Name one type a line; a file without any filters nothing, as in scorer v1.8.")
GOLD_TWICE = Rule("gold-span-twice", "fatal", "Give each span of gold once; exact matching cannot tell two apart.")
SYSTEM_TWICE = Rule("system-span-twice", "fault", "Give each span once; the first mention, with its cluster, counts.")
NOT_VALIDATED = Rule(
    "validated-absent",
    "fatal",
    "Read ECB+ with ECBplus_coreference_sentences.csv beside it, or score without `validated`.",
)
ELEMENT_TWICE = Rule(
    "element-twice",
    "fatal",
    "Give each element an id of its own, or score with --set processing=cross-document if it is the same one.",
)
ELEMENT_DIFFERS = Rule(
    "element-differs",
    "fatal",
    "An element has one type, subtype, class, ...: correct one of the two, or give it an id of its own.",
)
NOT_GIVEN = Rule(
    "given-differs",
    "fatal",
    "Hand out the parts with `karat convert GOLD OUT --keep mentions` (or elements), or score without `given`.",
)
NEAREST = Rule("validated-nearest", "note", "It goes with gold's nearest mention; give it the attribute `validated`.")
NO_FILE = Rule("parameter-file", "fatal", "Check the path; it is taken from the folder you are in.")


Work = Callable[[Pair], Pair]


class Filter(Protocol):
    """A filter as a protocol fills it."""

    def prepare(self, comparison: Comparison, report: Report) -> Work:
        """The filter at work: from a pair of documents to what is left of it."""
        ...


class Kinds(Struct, frozen=True, forbid_unknown_fields=True):
    """Only mentions of these kinds stay; `all`: every mention."""

    keep: tuple[str, ...]

    def prepare(self, comparison: Comparison, report: Report) -> Work:
        """Keep by kind."""
        del comparison, report
        if "all" in self.keep:
            return unchanged
        keep = frozenset(self.keep)

        def kept(document: Document) -> Document:
            if keep.issuperset({mention.kind for mention in document.mentions}):
                return document
            return restricted(document, lambda mention: mention.kind in keep)

        return _both(kept)


class Types(Struct, frozen=True, forbid_unknown_fields=True):
    """Only mentions whose type stands in the file stay (one type a line)."""

    file: str = ""

    def prepare(self, comparison: Comparison, report: Report) -> Work:
        """Keep by type, compared as the protocol compares."""
        if not self.file:
            return unchanged
        types = types_in(self.file, comparison)
        if not types:
            report(NO_TYPES.at("there is no type in this file, so nothing is filtered", file=self.file))
            return unchanged
        return _both(
            lambda document: restricted(
                document, lambda mention: comparison.key(mention.attributes.get("type")) in types
            )
        )


class Validated(Struct, frozen=True, forbid_unknown_fields=True):
    """Only mentions in validated sentences stay: those whose attribute `validated` is true.

    A system need not tell: then gold's mention of the same span does, else the one of gold that stands nearest.
    """

    only: bool = False

    def prepare(self, comparison: Comparison, report: Report) -> Work:
        """Keep what was validated."""
        del comparison
        if not self.only:
            return unchanged

        def kept(pair: Pair) -> Pair:
            known = {
                m.span: m.attributes["validated"] is True for m in pair.gold.mentions if "validated" in m.attributes
            }
            if pair.gold.mentions and not known:
                found = f"no mention of gold document {quoted(pair.gold.id)} tells whether it was validated"
                raise KaratError(NOT_VALIDATED.at(found, origin="gold"))

            def validated(mention: Mention) -> bool:
                if "validated" in mention.attributes:
                    return mention.attributes["validated"] is True
                if mention.span not in known:
                    near = f"mention {quoted(mention.id)} of system document {quoted(pair.system.id)} is not in gold"
                    told = f"{near} and does not tell whether its sentence was validated"
                    report(NEAREST.at(told, item=mention.id, origin="system"))
                    return known[min(known, key=lambda span: _distance(span, mention.span))] if known else False
                return known[mention.span]

            gold = restricted(pair.gold, lambda mention: mention.attributes.get("validated") is True)
            return Pair(gold, restricted(pair.system, validated))

        return kept


def _distance(one: Region, other: Region) -> tuple[int, Region]:
    """How far two spans are apart; of two that are equally far the first in the text is nearer."""
    if not one or not other:
        return 0, one
    return max(one[0][0] - other[-1][1], other[0][0] - one[-1][1], 0), one


def types_in(file: str, comparison: Comparison) -> set[Value | None]:
    """The types that a file names, one a line, as they are compared."""
    try:
        lines = Path(file).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = "is not UTF-8" if isinstance(error, UnicodeDecodeError) else error.strerror
        raise NO_FILE.error(f"cannot read the types: {why}", file=file) from None
    return {comparison.key(line.strip()) for line in lines if line.strip()}


class Distinct(Struct, frozen=True, forbid_unknown_fields=True):
    """Under exact matching a span is one mention: gold may not put it into two clusters, a system keeps its first."""

    def prepare(self, comparison: Comparison, report: Report) -> Work:
        """Refuse in gold, drop and tell in the system."""
        del comparison

        def distinct(pair: Pair) -> Pair:
            for mention, first in _repeated(pair.gold):
                found = f"mentions {quoted(first.id)} and {quoted(mention.id)} of gold document {quoted(pair.gold.id)}"
                raise KaratError(GOLD_TWICE.at(f"{found} have the same span", item=mention.id, origin="gold"))
            repeated = {mention.id: first for mention, first in _repeated(pair.system)}
            for id_, first in repeated.items():
                found = f"mention {quoted(id_)} of system document {quoted(pair.system.id)}"
                report(SYSTEM_TWICE.at(f"{found} has the span of {quoted(first.id)}", item=id_, origin="system"))
            if not repeated:
                return pair
            return replace(pair, system=restricted(pair.system, lambda mention: mention.id not in repeated))

        return distinct


def _repeated(document: Document) -> Iterator[tuple[Mention, Mention]]:
    """Mentions whose span an earlier one has, each with that one."""
    if len({mention.span for mention in document.mentions}) == len(document.mentions):
        return
    first: dict[object, Mention] = {}
    for mention in document.mentions:
        there = first.setdefault(mention.span or mention.id, mention)
        if there is not mention:
            yield mention, there


class Collapse(Struct, frozen=True, forbid_unknown_fields=True):
    """Each cluster of a document becomes one mention: its first, or its last, in the order of the text.

    `aligned`: all mentions stay, and the measures collapse their tables, where no mention has to stand for others.
    """

    representative: Literal["first", "last", "aligned"] = "first"

    def prepare(self) -> Work:
        """Each side by its own clusters."""
        if self.representative == "aligned":
            return unchanged
        pick = min if self.representative == "first" else max

        def collapsed(document: Document) -> Document:
            members: dict[str, list[Mention]] = {}
            for mention in document.mentions:
                if mention.cluster is not None:
                    members.setdefault(mention.cluster, []).append(mention)
            kept = {pick(mentions, key=_place).id for mentions in members.values()}
            return restricted(document, lambda mention: mention.cluster is None or mention.id in kept)

        return _both(collapsed)


def _place(mention: Mention) -> tuple[int, int]:
    """Where a mention begins and ends."""
    return (mention.span[0][0], mention.span[-1][1]) if mention.span else (0, 0)


class Elements(Struct, frozen=True, forbid_unknown_fields=True):
    """In document-level processing an element is mentioned in one document only, and its id may not come again.

    Where it may, it is the same element, and has the same attributes and external links in all of them.
    """

    within: Literal["document", "corpus"] = "document"

    def prepare(self, comparison: Comparison, report: Report) -> Work:
        """Refuse an id that an earlier document has, or what differs from it."""
        del comparison, report
        if self.within == "corpus":
            return self._alike()
        sides: tuple[tuple[Origin, _Seen], ...] = (("gold", _Seen()), ("system", _Seen()))

        def checked(pair: Pair) -> Pair:
            for (side, seen), document in zip(sides, (pair.gold, pair.system), strict=True):
                again = seen.again([cluster.id for cluster in document.clusters])
                for cluster in document.clusters:
                    if cluster.id in again:
                        found = f"{cluster.kind} {quoted(cluster.id)} of document {quoted(document.id)}"
                        told = f"{found} is in another document of the same side, too"
                        raise KaratError(ELEMENT_TWICE.at(told, item=cluster.id, origin=side))
            return pair

        return checked

    @staticmethod
    def _alike() -> Work:
        sides: tuple[tuple[Origin, dict[str, tuple[str, Cluster]]], ...] = (("gold", {}), ("system", {}))

        def checked(pair: Pair) -> Pair:
            for (side, known), document in zip(sides, (pair.gold, pair.system), strict=True):
                for cluster in document.clusters:
                    first, other = known.setdefault(cluster.id, (document.id, cluster))
                    ours, theirs = _told(cluster), _told(other)
                    if ours != theirs and (differing := _differing(ours, theirs)):
                        found = f"{cluster.kind} {quoted(cluster.id)} of document {quoted(document.id)} has {differing}"
                        told = f"{found} in document {quoted(first)}"
                        raise KaratError(ELEMENT_DIFFERS.at(told, item=cluster.id, origin=side))
            return pair

        return checked


def _told(cluster: Cluster) -> Mapping[str, Value]:
    """What is said of a cluster, its external links too."""
    links = {f"link to {quoted(link.resource)}": link.id for link in cluster.external}
    return {"kind": cluster.kind, **cluster.attributes, **links}


def _differing(one: Mapping[str, Value], other: Mapping[str, Value]) -> str:
    """The first thing that is said otherwise; a link that only one has is no difference."""
    for name in dict.fromkeys([*one, *other]):
        is_free = name.startswith("link to ") and not (name in one and name in other)
        if one.get(name) != other.get(name) and not is_free:
            return f"the {name} {one.get(name, '-')}, but {other.get(name, '-')}"
    return ""


class _Seen:
    """Which ids came before: the last ones in a set, all others in 8 bytes each: sorted runs of hashes, merged."""

    RECENT = 10_000

    def __init__(self) -> None:
        self._recent: set[int] = set()
        self._runs: list[array[int]] = []

    def again(self, ids: Sequence[str]) -> list[str]:
        """Those of these ids that came in an earlier call; all are remembered."""
        hashes = {hash(id_): id_ for id_ in ids}
        found = [*self._recent.intersection(hashes), *[key for run in self._runs for key in _common(run, hashes)]]
        self._recent.update(hashes)
        if len(self._recent) > self.RECENT:
            fresh = array("q", sorted(self._recent))
            while self._runs and len(self._runs[-1]) <= len(fresh):
                fresh = array("q", sorted(self._runs.pop() + fresh))
            self._runs.append(fresh)
            self._recent.clear()
        return [hashes[key] for key in found]


def _common(run: "array[int]", keys: Iterable[int]) -> Iterator[int]:
    """Those of the keys that a run holds."""
    end = len(run)
    for key in keys:
        place = bisect_left(run, key)
        if place < end and run[place] == key:
            yield key


class Given(Struct, frozen=True, forbid_unknown_fields=True):
    """The diagnostic conditions of ACE: parts of the reference were given to the system, and it must have kept them."""

    what: Literal["none", "mentions", "elements"] = "none"

    def prepare(self, comparison: Comparison, report: Report) -> Work:
        """Refuse a system that has other entity mentions, or other entities, values and times."""
        del comparison, report
        if self.what == "none":
            return unchanged
        parts = _given_mentions if self.what == "mentions" else _given_elements

        def checked(pair: Pair) -> Pair:
            gold, system = parts(pair.gold), parts(pair.system)
            if gold != system:
                lacking, added = gold - system, system - gold
                what, part = ("lacks", min(lacking)) if lacking else ("adds", min(added))
                number = sum(lacking.values()) + sum(added.values())
                found = f"the system's document {quoted(pair.gold.id)} {what} {part}"
                told = f"{found}; in all, {number:,} given {self.what} differ"
                raise KaratError(NOT_GIVEN.at(told, origin="system"))
            return pair

        return checked


def _given_mentions(document: Document) -> Counter[str]:
    """Entity mentions: where they are, and their type."""
    return Counter(
        f"entity mention {_placed(mention)} of type {mention.attributes.get('type', '-')}"
        for mention in document.mentions
        if mention.kind == "entity"
    )


def _given_elements(document: Document) -> Counter[str]:
    """Entities, values and times: their attributes and all their mentions."""
    mentions: dict[str, list[str]] = {}
    for mention in document.mentions:
        if mention.cluster is not None:
            told = " ".join([_placed(mention), *_listed(mention.attributes)])
            mentions.setdefault(mention.cluster, []).append(told)
    return Counter(
        f"{' '.join([cluster.kind, *_listed(cluster.attributes)])}, {'; '.join(sorted(mentions.get(cluster.id, ())))}"
        for cluster in document.clusters
        if cluster.kind in ("entity", "value", "time")
    )


def _listed(attributes: Mapping[str, Value]) -> list[str]:
    return [f"{name}={value}" for name, value in sorted(attributes.items())]


def _placed(mention: Mention) -> str:
    """Where a mention and its head are, in the offsets of the source."""
    span, head = place(mention), place(mention, "head")
    return f"at {_shown(span)} (head {_shown(head)})" if head else f"at {_shown(span)}"


def _shown(region: Region | Boxes) -> str:
    """From the first to the last character; boxes as they are."""
    if region and len(region[0]) > 2:
        return ", ".join(str(box) for box in region)
    return ", ".join(f"{part[0]}-{part[1] - 1}" for part in region)


FILTERS: dict[str, Any] = {
    "elements": Elements,
    "given": Given,
    "kinds": Kinds,
    "types": Types,
    "validated": Validated,
    "distinct": Distinct,
}


def _both(one: Callable[[Document], Document]) -> Work:
    """The same for both sides."""

    def both(pair: Pair) -> Pair:
        gold, system = one(pair.gold), one(pair.system)
        return pair if gold is pair.gold and system is pair.system else Pair(gold, system)

    return both


def restricted(document: Document, keep: Callable[[Mention], bool]) -> Document:
    """The document with only some of its mentions, and only links whose ends are still there."""
    mentions = tuple(mention for mention in document.mentions if keep(mention))
    ends = {mention.id for mention in mentions} | {mention.cluster for mention in mentions}
    links = tuple(link for link in document.links if link.source in ends and link.target in ends)
    return replace(document, mentions=mentions, links=links)


def unchanged(pair: Pair) -> Pair:
    """Nothing leaves."""
    return pair
