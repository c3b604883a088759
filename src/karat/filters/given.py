"""Diagnostic conditions of ACE, in which the system is given parts of the reference."""

from collections import Counter
from collections.abc import Mapping
from operator import itemgetter
from typing import Literal

from karat.filters import unchanged
from karat.model import Boxes, Document, Mention, Pair, Region, Value
from karat.plugin import Comparison, Filter, PairTransform
from karat.problems import KaratError, Origin, Report, Rule, quoted
from karat.regions import place

NOT_GIVEN = Rule(
    "given-differs",
    "fatal",
    "Make the given parts with `karat convert GOLD OUT --keep mentions` (or elements), or score without `given`.",
)


Descriptions = dict[str, str]
"""Given parts of a document: a description of each by its id."""


class Given(Filter, frozen=True):
    """Requires that the system kept the mentions or elements of the reference that it was given."""

    what: Literal["none", "mentions", "elements"] = "none"

    def prepare(self, comparison: Comparison, report: Report) -> PairTransform:
        """Refuse a system that has other entity mentions, or other entities, values and times."""
        del comparison, report
        if self.what == "none":
            return unchanged
        described = _mentions if self.what == "mentions" else _elements

        def checked(pair: Pair) -> Pair:
            gold, system = described(pair.gold), described(pair.system)
            lacking, added = _minus(gold, system), _minus(system, gold)
            if lacking or added:
                side: Origin = "gold" if lacking else "system"
                id_, description = min((lacking or added).items(), key=itemgetter(1))
                verb = "lacks" if lacking else "adds"
                message = f"the system {verb} {quoted(id_)} of document {quoted(pair.gold.id)}: {description}"
                message += f"; {len(lacking) + len(added):,} given {self.what} differ in total"
                raise KaratError(NOT_GIVEN.at(message, item=id_, origin=side))
            return pair

        return checked


def _minus(parts: Descriptions, others: Descriptions) -> Descriptions:
    """The parts that the other side does not have, or has fewer times."""
    left = Counter(others.values())
    lacking = {}
    for id_, description in parts.items():
        left[description] -= 1
        if left[description] < 0:
            lacking[id_] = description
    return lacking


def _mentions(document: Document) -> Descriptions:
    """Entity mentions: where they are, and their type."""
    return {
        mention.id: f"entity mention {_placed(mention)} of type {mention.attributes.get('type', '-')}"
        for mention in document.mentions
        if mention.kind == "entity"
    }


def _elements(document: Document) -> Descriptions:
    """Entities, values and times: their attributes and all their mentions."""
    mentions: dict[str, list[str]] = {}
    for mention in document.mentions:
        if mention.cluster is not None:
            described = " ".join([_placed(mention), *_listed(mention.attributes)])
            mentions.setdefault(mention.cluster, []).append(described)
    return {
        cluster.id: " ".join([cluster.kind, *_listed(cluster.attributes)])
        + f", {'; '.join(sorted(mentions.get(cluster.id, ())))}"
        for cluster in document.clusters
        if cluster.kind in ("entity", "value", "time")
    }


def _listed(attributes: Mapping[str, Value]) -> list[str]:
    return [f"{name}={value}" for name, value in sorted(attributes.items())]


def _placed(mention: Mention) -> str:
    """The offsets of a mention and of its head."""
    span, head = place(mention), place(mention, "head")
    return f"at {_offsets(span)} (head {_offsets(head)})" if head else f"at {_offsets(span)}"


def _offsets(region: Region | Boxes) -> str:
    """First and last characters of segments; boxes as they are."""
    if region and len(region[0]) > 2:
        return ", ".join(str(box) for box in region)
    return ", ".join(f"{part[0]}-{part[1] - 1}" for part in region)


FILTER = Given
