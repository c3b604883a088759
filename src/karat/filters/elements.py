"""Ids of ACE elements across documents."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

from msgspec import msgpack

from karat.filters import unchanged
from karat.model import Cluster, Pair, Value
from karat.plugin import Comparison, Filter, PairTransform
from karat.problems import Finding, Origin, Report, Rule, quoted

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

    validates: ClassVar[bool] = True

    within: Literal["document", "corpus"] = "document"

    def prepare(self, comparison: Comparison, report: Report) -> PairTransform:
        """Leave pairs as they are."""
        del comparison, report
        return unchanged

    def observe(self, pair: Pair, left: Pair) -> Mapping[Origin, bytes] | None:
        """Return the elements of both sides, encoded: those of all documents are kept."""
        del left
        sides: dict[Origin, Sequence[Cluster]] = {"gold": pair.gold.clusters, "system": pair.system.clusters}
        if self.within == "document":
            sides = {side: [Cluster(cluster.id, cluster.kind) for cluster in sides[side]] for side in sides}
        return {side: msgpack.encode(clusters) for side, clusters in sides.items() if clusters} or None

    def across(self, observed: Mapping[str, Mapping[Origin, bytes]]) -> Iterator[Finding]:
        """Refuse an element that is also in an earlier document, or one that differs from there."""
        first: dict[tuple[Origin, str], tuple[str, Cluster]] = {}
        for document, sides in observed.items():
            for side, clusters in sides.items():
                for cluster in msgpack.decode(clusters, type=list[Cluster]):
                    other, known = first.setdefault((side, cluster.id), (document, cluster))
                    which = f"{cluster.kind} {quoted(cluster.id)} of document {quoted(document)}"
                    place: dict[str, Any] = {"item": cluster.id, "origin": side, "document": document}
                    if self.within == "document":
                        if other != document:
                            yield ELEMENT_TWICE.at(f"{which} is also in document {quoted(other)}", **place)
                    elif difference := _difference(_description(cluster), _description(known)):
                        yield ELEMENT_DIFFERS.at(f"{which} has {difference} in document {quoted(other)}", **place)


def _description(cluster: Cluster) -> Mapping[str, Value]:
    """Everything a document says about a cluster, external links included."""
    links = {f"link to {quoted(link.resource)}": link.id for link in cluster.external}
    return {"kind": cluster.kind, **cluster.attributes, **links}


def _difference(one: Mapping[str, Value], other: Mapping[str, Value]) -> str:
    """The first difference; an external link that only one has is not a difference."""
    for name in dict.fromkeys([*one, *other]):
        is_optional = name.startswith("link to ") and not (name in one and name in other)
        if one.get(name) != other.get(name) and not is_optional:
            return f"the {name} {one.get(name, '-')}, but {other.get(name, '-')}"
    return ""


FILTER = Elements
