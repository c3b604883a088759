"""The profile of a corpus: the distributions that errors are drawn from, gathered in one pass."""

import hashlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import accumulate, count
from random import Random
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from karat.model import Document, Mention, Unit, Value, qualified, xml_name
from karat.regions import size

T = TypeVar("T")
BITS = 53  # of a random float; bits are drawn 53 at a time


def chance(seed: int, document: str, error: str) -> Random:
    """The random numbers of one kind of error in one document; they depend on nothing else."""
    key = msgspec.json.encode([str(seed), document, error])
    return Random(int.from_bytes(hashlib.sha256(key).digest()))


def draw_hits(count: int, rate: float, random: Random) -> list[bool]:
    """Draw which of the items get an error. A higher rate chooses the same ones, and more."""
    return [random.random() < rate for _ in range(count)]


def below(count: int, random: Random) -> int:
    """A number from 0 to `count` - 1, all equally likely."""
    return (int(random.random() * 2**BITS) * count) >> BITS


def pick(items: Sequence[T], random: Random) -> T:
    """One of the items, all equally likely."""
    return items[below(len(items), random)]


class Distribution(Generic[T]):
    """Frequencies of values, to draw others by. The order in which values were counted does not matter."""

    def __init__(self, counts: Mapping[T, int]) -> None:
        ordered: list[Any] = sorted(counts, key=lambda value: (type(value).__name__, str(value)))
        self.values: tuple[T, ...] = tuple(ordered)
        self._ends = list(accumulate(counts[value] for value in self.values))
        self._rank = {value: rank for rank, value in enumerate(self.values)}

    def __len__(self) -> int:
        return len(self.values)

    def draw(self, random: Random, *, but: T | None = None) -> T:
        """A value, as often as it occurs; `but` is one that must not be drawn."""
        rank = None if but is None else self._rank.get(but)
        if rank is None:
            return self.values[bisect_right(self._ends, below(self._ends[-1], random))]
        begin, end = self._ends[rank - 1] if rank else 0, self._ends[rank]
        number = below(self._ends[-1] - (end - begin), random)
        return self.values[bisect_right(self._ends, number if number < begin else number + end - begin)]


MARK = "sim-"


class Names:
    """New ids of one document: none that it already has, and no cluster that lives elsewhere.

    In ACE documents (`is_ace`) all ids are corpus-wide, and XML names.
    """

    def __init__(self, document: Document, reserved: Collection[str] = (), *, is_ace: bool = False) -> None:
        mentions = {mention.id for mention in document.mentions}
        clusters = {mention.cluster for mention in document.mentions if mention.cluster is not None}
        self._used = mentions | clusters | {cluster.id for cluster in document.clusters}
        self._reserved = reserved
        self._cluster_prefix = f"{xml_name(document.id)}-" if is_ace else qualified(document.id, "")
        self._mention_prefix = self._cluster_prefix if is_ace else ""
        self._numbers = count(1)

    def mention(self) -> str:
        """The id of a new mention."""
        return self._new(self._mention_prefix)

    def cluster(self) -> str:
        """The id of a new cluster; these are corpus-wide, so it is qualified by the document."""
        return self._new(self._cluster_prefix)

    def _new(self, prefix: str) -> str:
        names = (f"{prefix}{MARK}{number}" for number in self._numbers)
        return next(name for name in names if name not in self._used and name not in self._reserved)


Typed = tuple[str, Value]
"""A value with the name of its type: `True`, `1` and `1.0` are three values, though Python finds them equal."""


def typed(value: Value) -> Typed:
    """A value that is not mixed up with another."""
    return type(value).__name__, value


Record = tuple[tuple[str, Value], ...]
"""All attributes of a cluster, by name."""


class Attribute(NamedTuple):
    """An attribute of one kind of mentions."""

    values: Distribution[Typed]
    present: int
    mentions: int
    """Mentions of this kind, of which `present` have it."""


class Profile(NamedTuple):
    """The corpus's own distributions, and what no document knows of the others."""

    kinds: dict[Unit, Distribution[str]]
    lengths: dict[tuple[Unit, str], Distribution[int]]
    """Lengths of spans by unit and kind; 0: a mention without a span."""
    attributes: dict[str, dict[str, Attribute]]
    """By kind of mention, then by name."""
    records: dict[str, Distribution[Record]]
    """The attributes of clusters, by kind."""
    shared: frozenset[str]
    """Clusters that live in several documents."""
    reserved: frozenset[str]
    """Clusters that are named as new ones are."""


def profile(documents: Iterable[Document]) -> Profile:
    """Profile a corpus. Nothing is kept of a document but counts and the ids of clusters it may share."""
    kinds: dict[Unit, Counter[str]] = {}
    lengths: dict[tuple[Unit, str], Counter[int]] = {}
    values: dict[str, dict[str, Counter[Typed]]] = {}
    records: dict[str, Counter[Record]] = {}
    homes: Counter[str] = Counter()
    reserved: set[str] = set()
    for document in documents:
        clusters = {mention.cluster for mention in document.mentions if mention.cluster is not None}
        clusters |= {cluster.id for cluster in document.clusters}
        reserved |= {cluster for cluster in clusters if MARK in cluster}
        # As in the fingerprint: an id that a reader qualified by its document lives in no other.
        homes.update(cluster for cluster in clusters if not cluster.startswith(qualified(document.id, "")))
        for mention in document.mentions:
            kinds.setdefault(document.unit, Counter())[mention.kind] += 1
            lengths.setdefault((document.unit, mention.kind), Counter())[size(mention.span)] += 1
            _count(mention, values.setdefault(mention.kind, {}))
        for cluster in document.clusters:
            records.setdefault(cluster.kind, Counter())[tuple(sorted(cluster.attributes.items()))] += 1
    totals = sum(kinds.values(), Counter[str]())
    return Profile(
        kinds={unit: Distribution(counts) for unit, counts in kinds.items()},
        lengths={key: Distribution(counts) for key, counts in lengths.items()},
        attributes={
            kind: {
                name: Attribute(Distribution(names[name]), names[name].total(), totals[kind]) for name in _order(names)
            }
            for kind, names in values.items()
        },
        records={kind: Distribution(counts) for kind, counts in records.items()},
        shared=frozenset(cluster for cluster, count in homes.items() if count > 1),
        reserved=frozenset(reserved),
    )


def _count(mention: Mention, values: dict[str, Counter[Typed]]) -> None:
    for name, value in mention.attributes.items():
        values.setdefault(name, Counter())[typed(value)] += 1


def _order(names: Iterable[str]) -> list[str]:
    """Type and realis first, as in scores, then by name."""
    return sorted(names, key=lambda name: (name != "type", name != "realis", name))
