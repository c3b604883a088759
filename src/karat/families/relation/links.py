"""Relations between mentions: the links of both sides, between mentions that have the same numbers on both.

A link between clusters is one between all their mentions of the
document; an id of both a mention and a cluster means the mention.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Literal

from msgspec import Struct

from karat.arguments import other_links
from karat.limits import MOST_PAIRS, check_pairs
from karat.match.mentions import Number, by_span, by_text
from karat.model import TEMPORAL, Document, Mention
from karat.plugin import Rule, Tables, TableSpec, Tally
from karat.problems import Origin, quoted

IGNORED = Rule("relation-kind-ignored", "note", "Check their names; protocols of relations compare labels as written.")
ITSELF = Rule("relation-to-itself", "note", "No action needed; a relation of a mention with itself has no meaning.")

IGNORED_KIND = "with a label that is unknown there, ignored"
SPREAD = "more, since a link between clusters counts for each pair of their mentions"

SameMention = Literal["span", "text"]
"""The mentions of both sides that are the same: those of the same span, or as TempEval-3 aligns them."""

Labelled = tuple[str, Number, Number]
"""A label, and the mentions from and to which the relation holds."""


class SideRelations(Struct, frozen=True, dict=True):
    """The relations of one side of a document."""

    mentions: Mapping[Number, Mention]
    """Its mentions by number, in the order of the file."""
    by_label: Mapping[str, Sequence[tuple[Number, Number]]] = {}
    """The links of each label, in the order of the file; one between clusters as its pairs of mentions."""
    labels: Sequence[str] = ()
    """The label of each link, in the order of the file."""
    itself: int = 0
    """Relations of a mention with itself, which are left out."""
    read: int = 0
    """The number of links, each between clusters counted once."""
    ignored: Mapping[str, int] = {}
    """Links of kinds that the protocol does not read, and how many."""

    @cached_property
    def links(self) -> Sequence[Labelled]:
        """All links in the order of the file."""
        left = {label: iter(pairs) for label, pairs in self.by_label.items()}
        return [(label, *next(left[label])) for label in self.labels]


class Relations(Struct, frozen=True):
    """The relations of both sides of a document."""

    document: str
    gold: SideRelations
    system: SideRelations

    def is_golds(self, number: Number) -> bool:
        """Return whether a mention is one of gold's."""
        return number < len(self.gold.mentions)

    def differences(self) -> dict[str, int]:
        """Count what not every definition of a score reads in the same way."""
        sides = (self.gold, self.system)
        return {
            IGNORED_KIND: sum(count for side in sides for kind, count in side.ignored.items() if kind in TEMPORAL),
            SPREAD: sum(len(side.labels) + side.itself - side.read for side in sides),
        }

    def notes(self) -> Iterator[Tally]:
        """Yield what no measure reads."""
        sides: dict[Origin, SideRelations] = {"gold": self.gold, "system": self.system}
        for name, side in sides.items():
            for kind, number in side.ignored.items():
                yield Tally(IGNORED, f"links of kind {quoted(kind)} that are not scored ({name})", number)
            if side.itself:
                yield Tally(ITSELF, f"relations of a mention with itself that are ignored ({name})", side.itself)


class BothRelations(TableSpec[Relations], Struct, frozen=True, cache_hash=True):
    """The links of some kinds of both sides."""

    kinds: tuple[str, ...]
    same: SameMention = "span"

    def make(self, tables: Tables) -> Relations:
        """Number the mentions, and spread links between clusters."""
        pair = tables.pair
        golds, systems = by_text(pair) if self.same == "text" else by_span(pair)
        return Relations(
            pair.gold.id, self._relations(pair.gold, golds, "gold"), self._relations(pair.system, systems, "system")
        )

    def _relations(self, document: Document, numbers: Sequence[Number], origin: Origin) -> SideRelations:
        mentions = dict(zip(numbers, document.mentions, strict=True))
        if not document.links:
            return SideRelations(mentions)
        known, ignored = {*self.kinds}, Counter[str]()
        read = sum([link.kind in known for link in document.links])
        if read < len(document.links):
            ignored.update(link.kind for link in other_links(document) if link.kind not in known)
        return SideRelations(mentions, *_spread(document, numbers, self.kinds, origin), read, ignored)


def _spread(
    document: Document, numbers: Sequence[Number], kinds: Iterable[str], origin: Origin
) -> tuple[dict[str, list[tuple[Number, Number]]], list[str], int]:
    """Return the links of some kinds between mentions by label, the label of each, and how many join one mention."""
    ends: dict[str | None, list[Number]] = {}
    for number, mention in zip(numbers, document.mentions, strict=True):
        ends.setdefault(mention.cluster, []).append(number)
    ends |= {mention.id: [number] for number, mention in zip(numbers, document.mentions, strict=True)}
    one = {end: members[0] for end, members in ends.items() if len(members) == 1}.get  # as nearly all are
    found: dict[str, list[tuple[Number, Number]]] = {kind: [] for kind in kinds}
    labels: list[str] = []
    itself = 0
    for link in document.links:
        kind = link.kind
        pairs = found.get(kind)
        if pairs is None:
            continue
        first, second = one(link.source), one(link.target)
        if first is None or second is None:
            sources, targets = ends.get(link.source, ()), ends.get(link.target, ())
            total = len(labels) + len(sources) * len(targets)
            if total > MOST_PAIRS:
                check_pairs(total, "or more related mentions", where=f"document {quoted(document.id)}", origin=origin)
            joined = [(source, target) for source in sources for target in targets if source != target]
            pairs += joined
            labels += [kind] * len(joined)
            itself += total - len(labels)
        elif first == second:
            itself += 1
        else:
            pairs.append((first, second))
            labels.append(kind)
    return found, labels, itself
