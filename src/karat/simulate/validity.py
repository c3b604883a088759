"""Keeps a document consistent while errors are made in it."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from itertools import chain

from msgspec.structs import replace

from karat.arguments import other_links
from karat.checks.annotations import check_duplicates
from karat.checks.links import check_links
from karat.model import Document, Mention, Region

Key = tuple[str, str]
"""The class of a mention: ("cluster", id), or ("mention", id) if it is a cluster of its own."""


def class_of(mention: Mention) -> Key:
    """Return the class of a mention: its cluster, or itself if it has none."""
    return ("mention", mention.id) if mention.cluster is None else ("cluster", mention.cluster)


def adds_faults(document: Document, before: Document, faults: Collection[str]) -> bool:
    """Return whether a document has faults that it did not have before; `faults`: codes of notes that count as such."""
    new, old = _faults(document, faults), _faults(before, faults)
    return any(count > old[code] for code, count in new.items())


def _faults(document: Document, faults: Collection[str]) -> Counter[str]:
    found = chain(check_links(other_links(document), document), check_duplicates(document))
    return Counter(finding.code for finding in found if finding.severity != "note" or finding.code in faults)


def without_faults(
    chosen: Sequence[int],
    changed: Callable[[Sequence[int]], Document],
    before: Document,
    faults: Collection[str],
    closes_cycle: Callable[[Document, int], bool],
) -> Sequence[int]:
    """Return all chosen changes if they make no fault, else those that can be made one after another.

    `changed` makes some changes in the document `before`; `closes_cycle` tests what one has made.
    """
    if not adds_faults(changed(chosen), before, faults):
        return chosen
    feasible: list[int] = []
    for change in chosen:
        after = changed([*feasible, change])
        if not adds_faults(after, before, faults) and not closes_cycle(after, change):
            feasible.append(change)
    return feasible


def is_on_cycle(document: Document, class_: Key, only: str | None = None) -> bool:
    """Return whether links of one kind (`only`: of this kind) lead from a class back to it."""
    classes = {mention.id: class_of(mention) for mention in document.mentions}
    onward: dict[str, dict[Key, set[Key]]] = {}
    for link in document.links:
        source, target = (classes.get(end, ("cluster", end)) for end in (link.source, link.target))
        if source != target and only in (None, link.kind):
            onward.setdefault(link.kind, {}).setdefault(source, set()).add(target)
    for graph in onward.values():
        reached = [class_]
        for known in reached:  # it grows on the way
            reached += graph.pop(known, ())
        if class_ in reached[1:]:
            return True
    return False


class ClusterSpans:
    """The spans that a mention may not get: those of other mentions of its cluster.

    In a document in which no two mentions share a span, it may get none that any other mention has: some protocols
    score each span once.
    """

    def __init__(self, document: Document) -> None:
        self._is_distinct = len({mention.span for mention in document.mentions}) == len(document.mentions)
        self._spans = Counter((self._group(mention), mention.span) for mention in document.mentions)

    def is_free(self, mention: Mention, span: Region) -> bool:
        """Return whether a mention may have this span."""
        return not self._spans[self._group(mention), span]

    def move(self, mention: Mention, *spans: Region) -> None:
        """The mention has these spans now, and no longer its own."""
        group = self._group(mention)
        self._spans[group, mention.span] -= 1
        self._spans.update((group, span) for span in spans)

    def _group(self, mention: Mention) -> str | tuple[str]:
        """Mentions that must not share a span; one without a cluster is its own."""
        return "" if self._is_distinct else mention.cluster or (mention.id,)


def pruned(document: Document, before: Document) -> Document:
    """A document without clusters that lost all mentions, and without links to anything that was removed."""
    mentions, clusters = _ends(document)
    old_mentions, old_clusters = _ends(before)
    emptied = old_clusters - clusters
    gone = (old_mentions - mentions) | (emptied - old_mentions)
    records = tuple(cluster for cluster in document.clusters if cluster.id not in emptied)
    links = tuple(link for link in document.links if not gone & {link.source, link.target})
    return replace(document, clusters=records, links=links)


def _ends(document: Document) -> tuple[set[str], set[str]]:
    """The mentions of a document, and the clusters that they name. An end that could be either is the mention."""
    clusters = {mention.cluster for mention in document.mentions if mention.cluster is not None}
    return {mention.id for mention in document.mentions}, clusters
