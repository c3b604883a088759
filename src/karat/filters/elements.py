"""Ids of ACE elements across documents."""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from karat.checks.ids import distinct, number_of
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
        """Check one side for the same."""
        return (_Differences() if self.within == "corpus" else _Repetitions(),)


class _Repetitions(CorpusCheck):
    """Elements that are also in an earlier document, with that document."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}

    def __call__(self, document: Document) -> Iterator[Finding]:
        """Yield a finding for each of them."""
        for cluster in document.clusters:
            if (other := self._first.setdefault(cluster.id, document.id)) != document.id:
                yield _repeated(cluster, document, f"document {quoted(other)}")

    def accepts(self, later: "_Repetitions") -> bool:
        """Return whether no element of later documents is in these."""
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
        """Yield a finding for each of them."""
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
        """Return whether elements of both are described in one way only."""
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
        """Return the same pair."""
        sides: tuple[tuple[Origin, _Differences, Document], ...]
        sides = ("gold", self._gold, pair.gold), ("system", self._system, pair.system)
        for side, check, document in sides:
            for finding in check(document):
                raise KaratError(finding._replace(origin=side))
        return pair

    def accepts(self, later: "_NoDifferences") -> bool:
        """Return whether no element of later pairs is refused for what these have."""
        return self._gold.accepts(later._gold) and self._system.accepts(later._system)

    def merge(self, later: "_NoDifferences") -> None:
        """Remember the elements of later pairs."""
        self._gold.merge(later._gold)
        self._system.merge(later._system)


def _description(cluster: Cluster) -> Mapping[str, Value]:
    """The kind, attributes and external links of a cluster."""
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

    It keeps a number for each id. Where a number occurs twice, the ids are compared.
    """

    merges = True
    pair_by_pair = True

    def __init__(self) -> None:
        self._numbers: dict[Origin, array[int]] = {"gold": array("q"), "system": array("q")}

    def __call__(self, pair: Pair) -> Pair:
        """Return the same pair."""
        self._numbers["gold"].extend([number_of(cluster.id) for cluster in pair.gold.clusters])
        self._numbers["system"].extend([number_of(cluster.id) for cluster in pair.system.clusters])
        return pair

    def merge(self, later: "_NoRepetitions") -> None:
        """Remember the elements of later pairs."""
        for side, numbers in self._numbers.items():
            numbers += later._numbers[side]

    def doubts(self) -> Mapping[Origin, DocumentCheck]:
        """The sides on which a number occurs twice."""
        return {side: _Repetitions() for side, numbers in self._numbers.items() if distinct(numbers) < len(numbers)}


FILTER = Elements
