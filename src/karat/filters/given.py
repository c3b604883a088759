"""Diagnostic conditions of ACE: parts of the reference were given to the system."""

from collections import Counter
from collections.abc import Mapping
from typing import Literal

from karat.errors import KaratError, Report, Rule, quoted
from karat.filters import unchanged
from karat.model import Boxes, Document, Mention, Pair, Region, Value
from karat.plugin import Comparison, Filter, PairTransform
from karat.regions import place

NOT_GIVEN = Rule(
    "given-differs",
    "fatal",
    "Hand out the parts with `karat convert GOLD OUT --keep mentions` (or elements), or score without `given`.",
)


class Given(Filter, frozen=True):
    """The system was given mentions or elements of the reference, and must have kept them."""

    what: Literal["none", "mentions", "elements"] = "none"

    def prepare(self, comparison: Comparison, report: Report) -> PairTransform:
        """Refuse a system that has other entity mentions, or other entities, values and times."""
        del comparison, report
        if self.what == "none":
            return unchanged
        parts = _mentions if self.what == "mentions" else _elements

        def checked(pair: Pair) -> Pair:
            gold, system = parts(pair.gold), parts(pair.system)
            if gold != system:
                lacking, added = gold - system, system - gold
                verb, part = ("lacks", min(lacking)) if lacking else ("adds", min(added))
                number = sum(lacking.values()) + sum(added.values())
                message = f"the system's document {quoted(pair.gold.id)} {verb} {part}"
                message += f"; {number:,} given {self.what} differ in total"
                raise KaratError(NOT_GIVEN.at(message, origin="system"))
            return pair

        return checked


def _mentions(document: Document) -> Counter[str]:
    """Entity mentions: where they are, and their type."""
    return Counter(
        f"entity mention {_placed(mention)} of type {mention.attributes.get('type', '-')}"
        for mention in document.mentions
        if mention.kind == "entity"
    )


def _elements(document: Document) -> Counter[str]:
    """Entities, values and times: their attributes and all their mentions."""
    mentions: dict[str, list[str]] = {}
    for mention in document.mentions:
        if mention.cluster is not None:
            described = " ".join([_placed(mention), *_listed(mention.attributes)])
            mentions.setdefault(mention.cluster, []).append(described)
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
    return f"at {_offsets(span)} (head {_offsets(head)})" if head else f"at {_offsets(span)}"


def _offsets(region: Region | Boxes) -> str:
    """From the first to the last character; boxes as they are."""
    if region and len(region[0]) > 2:
        return ", ".join(str(box) for box in region)
    return ", ".join(f"{part[0]}-{part[1] - 1}" for part in region)


FILTER = Given
