"""What a corpus's mentions are like: the distributions that errors are drawn from, gathered in one pass."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from karat.model import Document, Mention, Unit, Value, qualified
from karat.model.regions import size
from karat.simulate.chance import Distribution
from karat.simulate.names import MARK

Typed = tuple[str, Value]
"""A value with the name of its type: `True`, `1` and `1.0` are three values, though Python finds them equal."""


def typed(value: Value) -> Typed:
    """A value that is not mixed up with another."""
    return type(value).__name__, value


class Attribute(NamedTuple):
    """An attribute of one kind of mentions."""

    values: Distribution[Typed]
    present: int
    mentions: int
    """How many have it, of how many."""


class Profile(NamedTuple):
    """The corpus's own distributions, and what no document knows of the others."""

    kinds: dict[Unit, Distribution[str]]
    lengths: dict[tuple[Unit, str], Distribution[int]]
    """Lengths of spans by unit and kind; 0: a mention without a span."""
    attributes: dict[str, dict[str, Attribute]]
    """By kind of mention, then by name."""
    shared: frozenset[str]
    """Clusters that live in several documents."""
    reserved: frozenset[str]
    """Clusters that are named as new ones are."""


def profile(documents: Iterable[Document]) -> Profile:
    """What the corpus is like. Nothing is kept of a document but counts and the ids of clusters it may share."""
    kinds: dict[Unit, Counter[str]] = {}
    lengths: dict[tuple[Unit, str], Counter[int]] = {}
    values: dict[str, dict[str, Counter[Typed]]] = {}
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
        shared=frozenset(cluster for cluster, count in homes.items() if count > 1),
        reserved=frozenset(reserved),
    )


def _count(mention: Mention, values: dict[str, Counter[Typed]]) -> None:
    for name, value in mention.attributes.items():
        values.setdefault(name, Counter())[typed(value)] += 1


def _order(names: Iterable[str]) -> list[str]:
    """Type and realis first, as in scores, then by name."""
    return sorted(names, key=lambda name: (name != "type", name != "realis", name))
