"""Ids of ACE elements across documents."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Generic, Literal, TypeVar

from karat.checks.ids import number_of
from karat.errors import Finding, KaratError, Origin, Report, Rule, quoted
from karat.model import Cluster, Document, Pair, Value
from karat.plugin import Comparison, CorpusCheck, CorpusTransform, DocumentCheck, Filter, PairTransform

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
        if self.within == "corpus":
            return _BothSides(_Differences(), _Differences())
        return _BothSides(_HashedRepetitions(), _HashedRepetitions())

    def checks(self) -> Sequence[DocumentCheck]:
        """The same for one side."""
        return (_Differences() if self.within == "corpus" else _Repetitions(),)


C = TypeVar("C", bound=CorpusCheck)


class _BothSides(CorpusTransform, Generic[C]):
    """Refuses what is wrong on either side; pairs are left as they are."""

    merges = True

    def __init__(self, gold: C, system: C) -> None:
        self._gold, self._system = gold, system

    def __call__(self, pair: Pair) -> Pair:
        """The same pair."""
        sides: tuple[tuple[Origin, C, Document], ...]
        sides = ("gold", self._gold, pair.gold), ("system", self._system, pair.system)
        for side, check, document in sides:
            for finding in check(document):
                raise KaratError(finding._replace(origin=side))
        return pair

    def accepts(self, later: "_BothSides[C]") -> bool:
        """Whether no element of later pairs is refused for what these have."""
        return self._gold.accepts(later._gold) and self._system.accepts(later._system)

    def merge(self, later: "_BothSides[C]") -> None:
        """Remember the elements of later pairs."""
        self._gold.merge(later._gold)
        self._system.merge(later._system)


class _Repetitions(CorpusCheck):
    """Elements that are also in an earlier document, with that document."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}

    def __call__(self, document: Document) -> Iterator[Finding]:
        """Each of them."""
        for cluster in document.clusters:
            if (other := self._first.setdefault(cluster.id, document.id)) != document.id:
                yield _repeated(cluster, document, f"document {quoted(other)}")

    def accepts(self, later: "_Repetitions") -> bool:
        """Whether no element of later documents is in these."""
        return self._first.keys().isdisjoint(later._first)

    def merge(self, later: "_Repetitions") -> None:
        """Remember the elements of later documents."""
        self._first |= later._first


class _HashedRepetitions(CorpusCheck):
    """The same in little memory: the earlier document is not known."""

    def __init__(self) -> None:
        self._seen = _SeenIds()

    def __call__(self, document: Document) -> Iterator[Finding]:
        """Each of them."""
        repeated = self._seen.repeated([cluster.id for cluster in document.clusters])
        for cluster in document.clusters:
            if cluster.id in repeated:
                yield _repeated(cluster, document, "another document of the same side")

    def accepts(self, later: "_HashedRepetitions") -> bool:
        """Whether no element of later documents is in these."""
        return not self._seen.common(later._seen.numbers())

    def merge(self, later: "_HashedRepetitions") -> None:
        """Remember the elements of later documents."""
        self._seen.add(later._seen.numbers())


def _repeated(cluster: Cluster, document: Document, place: str) -> Finding:
    which = f"{cluster.kind} {quoted(cluster.id)} of document {quoted(document.id)}"
    return ELEMENT_TWICE.at(f"{which} is also in {place}", item=cluster.id)


class _Differences(CorpusCheck):
    """Elements that differ from what an earlier document says about them."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, Cluster]] = {}
        self._varying: set[str] = set()
        """Elements that are not described in the same way everywhere, even if that is no difference."""

    def __call__(self, document: Document) -> Iterator[Finding]:
        """Each of them."""
        for cluster in document.clusters:
            first, other = self._known.setdefault(cluster.id, (document.id, cluster))
            here, there = _description(cluster), _description(other)
            if here == there:
                continue
            self._varying.add(cluster.id)
            if difference := _difference(here, there):
                which = f"{cluster.kind} {quoted(cluster.id)} of document {quoted(document.id)}"
                message = f"{which} has {difference} in document {quoted(first)}"
                yield ELEMENT_DIFFERS.at(message, item=cluster.id)

    def accepts(self, later: "_Differences") -> bool:
        """Whether elements of both are described in one way only."""
        shared = self._known.keys() & later._known.keys()
        return later._varying.isdisjoint(shared) and all(
            _description(self._known[id_][1]) == _description(later._known[id_][1]) for id_ in shared
        )

    def merge(self, later: "_Differences") -> None:
        """Remember the elements of later documents."""
        for id_, known in later._known.items():
            self._known.setdefault(id_, known)
        self._varying |= later._varying


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
    """Ids of earlier documents: the latest in a set, all others as sorted, merged runs of numbers, 8 bytes per id."""

    RECENT = 10_000

    def __init__(self) -> None:
        self._recent: set[int] = set()
        self._runs: list[array[int]] = []

    def repeated(self, ids: Sequence[str]) -> list[str]:
        """The ids that were in an earlier call; remembers all of them."""
        named = {number_of(id_): id_ for id_ in ids}
        seen = self.common(named)
        self.add(named)
        return [named[number] for number in seen]

    def numbers(self) -> list[int]:
        """All that were added."""
        return [*self._recent, *(number for run in self._runs for number in run)]

    def common(self, numbers: Iterable[int]) -> list[int]:
        """Those of some numbers that were added before."""
        listed = list(numbers)
        return [*self._recent.intersection(listed), *[key for run in self._runs for key in _common(run, listed)]]

    def add(self, numbers: Iterable[int]) -> None:
        """Remember some numbers."""
        self._recent.update(numbers)
        if len(self._recent) > self.RECENT:
            fresh = array("q", sorted(self._recent))
            while self._runs and len(self._runs[-1]) <= len(fresh):
                fresh = array("q", sorted(self._runs.pop() + fresh))
            self._runs.append(fresh)
            self._recent.clear()


def _common(run: "array[int]", keys: Iterable[int]) -> Iterator[int]:
    """The keys that are in a run."""
    end = len(run)
    for key in keys:
        place = bisect_left(run, key)
        if place < end and run[place] == key:
            yield key


FILTER = Elements
