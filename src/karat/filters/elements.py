"""Ids of ACE elements across documents."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from karat.errors import Finding, KaratError, Origin, Report, Rule, quoted
from karat.model import Cluster, Document, Pair, Value
from karat.plugin import Comparison, DocumentCheck, Filter, PairTransform

ELEMENT_TWICE = Rule(
    "element-twice",
    "fatal",
    "Give each element its own id; if it is the same element, allow it with --set processing=cross-document.",
)
ELEMENT_DIFFERS = Rule(
    "element-differs",
    "fatal",
    "Correct one of the two, or give it its own id: an element has one type, subtype, class, ...",
)


class Elements(Filter, frozen=True):
    """Allows an element in one document only; in cross-document processing, its attributes must agree everywhere."""

    within: Literal["document", "corpus"] = "document"

    def prepare(self, comparison: Comparison, report: Report) -> PairTransform:
        """Refuse an element that is also in an earlier document, or one that differs from there."""
        del comparison, report
        make = _differences if self.within == "corpus" else _hashed_repetitions
        sides: tuple[tuple[Origin, DocumentCheck], ...] = (("gold", make()), ("system", make()))

        def checked(pair: Pair) -> Pair:
            for (side, check), document in zip(sides, (pair.gold, pair.system), strict=True):
                for finding in check(document):
                    raise KaratError(finding._replace(origin=side))
            return pair

        return checked

    def checks(self) -> Sequence[DocumentCheck]:
        """The same for one side."""
        return (_differences() if self.within == "corpus" else _repetitions(),)


def _repetitions() -> DocumentCheck:
    """Elements that are also in an earlier document, with that document."""
    first: dict[str, str] = {}

    def check(document: Document) -> Iterator[Finding]:
        for cluster in document.clusters:
            if (other := first.setdefault(cluster.id, document.id)) != document.id:
                yield _repeated(cluster, document, f"document {quoted(other)}")

    return check


def _hashed_repetitions() -> DocumentCheck:
    """The same in little memory: the earlier document is not known."""
    seen = _SeenIds()

    def check(document: Document) -> Iterator[Finding]:
        repeated = seen.repeated([cluster.id for cluster in document.clusters])
        for cluster in document.clusters:
            if cluster.id in repeated:
                yield _repeated(cluster, document, "another document of the same side")

    return check


def _repeated(cluster: Cluster, document: Document, place: str) -> Finding:
    which = f"{cluster.kind} {quoted(cluster.id)} of document {quoted(document.id)}"
    return ELEMENT_TWICE.at(f"{which} is also in {place}", item=cluster.id)


def _differences() -> DocumentCheck:
    """Elements that differ from what an earlier document says about them."""
    known: dict[str, tuple[str, Cluster]] = {}

    def check(document: Document) -> Iterator[Finding]:
        for cluster in document.clusters:
            first, other = known.setdefault(cluster.id, (document.id, cluster))
            here, there = _description(cluster), _description(other)
            if here != there and (difference := _difference(here, there)):
                which = f"{cluster.kind} {quoted(cluster.id)} of document {quoted(document.id)}"
                message = f"{which} has {difference} in document {quoted(first)}"
                yield ELEMENT_DIFFERS.at(message, item=cluster.id)

    return check


def _description(cluster: Cluster) -> Mapping[str, Value]:
    """What a document says about a cluster, external links included."""
    links = {f"link to {quoted(link.resource)}": link.id for link in cluster.external}
    return {"kind": cluster.kind, **cluster.attributes, **links}


def _difference(one: Mapping[str, Value], other: Mapping[str, Value]) -> str:
    """The first difference; an external link that only one has is not a difference."""
    for name in dict.fromkeys([*one, *other]):
        is_optional = name.startswith("link to ") and not (name in one and name in other)
        if one.get(name) != other.get(name) and not is_optional:
            return f"the {name} {one.get(name, '-')}, but {other.get(name, '-')}"
    return ""


class _SeenIds:
    """Ids of earlier documents: the latest in a set, all others as sorted, merged runs of hashes, 8 bytes per id."""

    RECENT = 10_000

    def __init__(self) -> None:
        self._recent: set[int] = set()
        self._runs: list[array[int]] = []

    def repeated(self, ids: Sequence[str]) -> list[str]:
        """The ids that were in an earlier call; remembers all of them."""
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
    """The keys that are in a run."""
    end = len(run)
    for key in keys:
        place = bisect_left(run, key)
        if place < end and run[place] == key:
            yield key


FILTER = Elements
