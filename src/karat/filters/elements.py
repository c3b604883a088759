"""Ids of ACE elements across documents."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from karat.errors import KaratError, Origin, Report, Rule, quoted
from karat.model import Cluster, Pair, Value
from karat.plugin import Comparison, Filter, PairTransform

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


class Elements(Filter, frozen=True):
    """In document-level processing an element belongs to one document, and its id may not occur in another.

    In cross-document processing it may, and has the same attributes and external links everywhere.
    """

    within: Literal["document", "corpus"] = "document"

    def prepare(self, comparison: Comparison, report: Report) -> PairTransform:
        """Refuse an id that an earlier document has, or whatever differs from there."""
        del comparison, report
        return _refuse_differences() if self.within == "corpus" else _refuse_repetition()


def _refuse_repetition() -> PairTransform:
    sides: tuple[tuple[Origin, _SeenIds], ...] = (("gold", _SeenIds()), ("system", _SeenIds()))

    def checked(pair: Pair) -> Pair:
        for (side, seen), document in zip(sides, (pair.gold, pair.system), strict=True):
            again = seen.again([cluster.id for cluster in document.clusters])
            for cluster in document.clusters:
                if cluster.id in again:
                    which = f"{cluster.kind} {quoted(cluster.id)} of document {quoted(document.id)}"
                    message = f"{which} is also in another document of the same side"
                    raise KaratError(ELEMENT_TWICE.at(message, item=cluster.id, origin=side))
        return pair

    return checked


def _refuse_differences() -> PairTransform:
    sides: tuple[tuple[Origin, dict[str, tuple[str, Cluster]]], ...] = (("gold", {}), ("system", {}))

    def checked(pair: Pair) -> Pair:
        for (side, known), document in zip(sides, (pair.gold, pair.system), strict=True):
            for cluster in document.clusters:
                first, other = known.setdefault(cluster.id, (document.id, cluster))
                here, there = _description(cluster), _description(other)
                if here != there and (difference := _difference(here, there)):
                    which = f"{cluster.kind} {quoted(cluster.id)} of document {quoted(document.id)}"
                    message = f"{which} has {difference} in document {quoted(first)}"
                    raise KaratError(ELEMENT_DIFFERS.at(message, item=cluster.id, origin=side))
        return pair

    return checked


def _description(cluster: Cluster) -> Mapping[str, Value]:
    """What a document says about a cluster, external links included."""
    links = {f"link to {quoted(link.resource)}": link.id for link in cluster.external}
    return {"kind": cluster.kind, **cluster.attributes, **links}


def _difference(one: Mapping[str, Value], other: Mapping[str, Value]) -> str:
    """The first difference; a link that only one has is none."""
    for name in dict.fromkeys([*one, *other]):
        is_free = name.startswith("link to ") and not (name in one and name in other)
        if one.get(name) != other.get(name) and not is_free:
            return f"the {name} {one.get(name, '-')}, but {other.get(name, '-')}"
    return ""


class _SeenIds:
    """Ids of earlier documents: the latest in a set, all others as sorted, merged runs of hashes, 8 bytes per id."""

    RECENT = 10_000

    def __init__(self) -> None:
        self._recent: set[int] = set()
        self._runs: list[array[int]] = []

    def again(self, ids: Sequence[str]) -> list[str]:
        """Those of these ids that were in an earlier call; all are remembered."""
        hashes = {hash(id_): id_ for id_ in ids}
        seen = [*self._recent.intersection(hashes), *[key for run in self._runs for key in _common(run, hashes)]]
        self._recent.update(hashes)
        if len(self._recent) > self.RECENT:
            fresh = array("q", sorted(self._recent))
            while self._runs and len(self._runs[-1]) <= len(fresh):
                fresh = array("q", sorted(self._runs.pop() + fresh))
            self._runs.append(fresh)
            self._recent.clear()
        return [hashes[key] for key in seen]


def _common(run: "array[int]", keys: Iterable[int]) -> Iterator[int]:
    """Those of the keys that a run holds."""
    end = len(run)
    for key in keys:
        place = bisect_left(run, key)
        if place < end and run[place] == key:
            yield key


FILTER = Elements
