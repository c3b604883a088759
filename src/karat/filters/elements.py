"""Ids of ACE elements across documents."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

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
            return _NoDifferences()
        return _NoRepetitions()

    def checks(self) -> Sequence[DocumentCheck]:
        """The same for one side."""
        return (_Differences() if self.within == "corpus" else _Repetitions(),)


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


class _NoDifferences(CorpusTransform):
    """Refuses elements that differ between two documents of one side; pairs are left as they are."""

    merges = True

    def __init__(self) -> None:
        self._gold, self._system = _Differences(), _Differences()

    def __call__(self, pair: Pair) -> Pair:
        """The same pair."""
        sides: tuple[tuple[Origin, _Differences, Document], ...]
        sides = ("gold", self._gold, pair.gold), ("system", self._system, pair.system)
        for side, check, document in sides:
            for finding in check(document):
                raise KaratError(finding._replace(origin=side))
        return pair

    def accepts(self, later: "_NoDifferences") -> bool:
        """Whether no element of later pairs is refused for what these have."""
        return self._gold.accepts(later._gold) and self._system.accepts(later._system)

    def merge(self, later: "_NoDifferences") -> None:
        """Remember the elements of later pairs."""
        self._gold.merge(later._gold)
        self._system.merge(later._system)


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


class _NoRepetitions(CorpusTransform):
    """Refuses elements that are in two documents of one side; pairs are left as they are.

    It keeps numbers in place of ids. If one of them comes again, it may be that of another id.
    """

    merges = True
    pair_by_pair = True

    def __init__(self) -> None:
        self._seen: dict[Origin, _Seen] = {"gold": _Seen(), "system": _Seen()}

    def __call__(self, pair: Pair) -> Pair:
        """The same pair."""
        self._seen["gold"].add([number_of(cluster.id) for cluster in pair.gold.clusters])
        self._seen["system"].add([number_of(cluster.id) for cluster in pair.system.clusters])
        return pair

    def merge(self, later: "_NoRepetitions") -> None:
        """Remember the elements of later pairs."""
        for side, seen in self._seen.items():
            seen.merge(later._seen[side])

    def doubts(self) -> Mapping[Origin, DocumentCheck]:
        """The sides on which a number came again."""
        return {side: _Repetitions() for side, seen in self._seen.items() if seen.again}


class _Seen:
    """Numbers of earlier documents: the latest in a set, all others as sorted, merged runs, 8 bytes for each."""

    RECENT = 10_000

    def __init__(self) -> None:
        self._recent: set[int] = set()
        self._runs: list[array[int]] = []
        self.again = False
        """Whether a number was added twice."""

    def add(self, numbers: Iterable[int]) -> None:
        """Add some numbers."""
        listed = list(numbers)
        before = len(self._recent)
        self._recent.update(listed)
        if len(self._recent) < before + len(listed) or any(_has_one(run, listed) for run in self._runs):
            self.again = True
        if len(self._recent) > self.RECENT:
            fresh = array("q", sorted(self._recent))
            while self._runs and len(self._runs[-1]) <= len(fresh):
                fresh = array("q", sorted(self._runs.pop() + fresh))
            self._runs.append(fresh)
            self._recent.clear()

    def merge(self, later: "_Seen") -> None:
        """Add the numbers of another one."""
        self.again |= later.again
        for run in (later._recent, *later._runs):
            self.add(run)


def _has_one(run: "array[int]", keys: Iterable[int]) -> bool:
    """Whether one of the keys is in a run."""
    end = len(run)
    return any((place := bisect_left(run, key)) < end and run[place] == key for key in keys)


FILTER = Elements
