"""Keeps a document consistent while errors are made in it."""

from collections import Counter
from collections.abc import Collection, Iterator
from itertools import chain

from msgspec.structs import replace

from karat.checks import links
from karat.checks.annotations import check_duplicates
from karat.checks.links import INSIDE, PARENTS
from karat.model import ORDERED, Document, Mention, Region

Key = tuple[str, str]
"""The class of a mention: ("cluster", id), or ("mention", id) if it is a cluster of its own."""


def class_of(mention: Mention) -> Key:
    """Return the class of a mention: its cluster, or itself if it has none."""
    return ("mention", mention.id) if mention.cluster is None else ("cluster", mention.cluster)


def worse(document: Document, before: Document, faults: Collection[str]) -> bool:
    """Check that a document has faults that it did not have before; `faults` are codes of notes that count as such."""
    new, old = _faults(document, faults), _faults(before, faults)
    return any(count > old[code] for code, count in new.items())


def _faults(document: Document, faults: Collection[str]) -> Counter[str]:
    found = chain(links.check(document), check_duplicates(document))
    return Counter(finding.code for finding in found if finding.severity != "note" or finding.code in faults)


class Taken:
    """The spans that a mention may not get: those of other mentions of its cluster.

    In a document in which no two mentions share a span, it may get none that any other mention has: some protocols
    score each span once.
    """

    def __init__(self, document: Document) -> None:
        self._is_distinct = len({mention.span for mention in document.mentions}) == len(document.mentions)
        self._spans = Counter((self._group(mention), mention.span) for mention in document.mentions)

    def is_free(self, mention: Mention, span: Region) -> bool:
        """Check that a mention may have this span."""
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


Edges = dict[Key, Counter[Key]]
"""From a class to others, with the number of links."""


class LinkFaults:
    """The links between coreference classes of a document without cycles, while ends and classes change."""

    def __init__(self, document: Document, faults: Collection[str]) -> None:
        """`faults` are codes of notes that count as faults."""
        self._classes = {mention.id: class_of(mention) for mention in document.mentions}
        self._others = {
            name for mention in document.mentions if mention.kind != "event" for name in (mention.id, mention.cluster)
        }
        self._faults = faults
        self._notes = Counter({PARENTS.code: 0, INSIDE.code: 0})
        self._links = [(link.kind, link.source, link.target) for link in document.links]
        self._of: dict[str, list[int]] = {}
        """The links of each mention or cluster, by number."""
        self._onward: dict[str, Edges] = {}
        self._back: dict[str, Edges] = {}
        for number, (_, source, target) in enumerate(self._links):
            for end in {source, target}:
                self._of.setdefault(end, []).append(number)
            self._change(number, 1)

    def reverse(self, number: int) -> bool:
        """Reverse a link if no fault comes of it."""
        before = self._notes.copy()
        self._turn(number)
        kind, source, target = self._links[number]
        if self._is_worse(before) or self._leads(kind, self._class(target), self._class(source)):
            self._turn(number)
            return False
        return True

    def leave(self, mention: str) -> bool:
        """Let a mention leave its cluster if no fault comes of it."""
        before, old, new = self._notes.copy(), self._classes[mention], ("mention", mention)
        self._move(mention, new)
        kinds = {self._links[number][0] for number in self._of.get(mention, ())}
        if self._is_worse(before) or any(self._leads(kind, new, new) for kind in kinds):
            self._move(mention, old)
            return False
        return True

    def join(self, first: Key, second: Key, whole: Key) -> bool:
        """Make two classes one, which is one of the two, or new, if no fault comes of it."""
        before = self._notes.copy()
        classes = {end: class_ for end in self._of if (class_ := self._class(end)) in (first, second)}
        for end in classes:
            self._move(end, whole)
        if self._is_worse(before) or any(self._leads(kind, whole, whole) for kind in self._onward):
            for end, class_ in classes.items():
                self._move(end, class_)
            return False
        return True

    def _turn(self, number: int) -> None:
        self._change(number, -1)
        kind, source, target = self._links[number]
        self._links[number] = kind, target, source
        self._change(number, 1)

    def _move(self, end: str, class_: Key) -> None:
        numbers = self._of.get(end, ())
        for number in numbers:
            self._change(number, -1)
        self._classes[end] = class_
        for number in numbers:
            self._change(number, 1)

    def _class(self, end: str) -> Key:
        return self._classes.get(end) or ("cluster", end)

    def _change(self, number: int, by: int) -> None:
        """Add or remove a link between classes."""
        kind, *ends = self._links[number]
        source, target = map(self._class, ends)
        if source == target:
            self._notes[INSIDE.code] += by
            return
        back = self._back.setdefault(kind, {})
        parents = len(back.get(target, ()))
        for edges, end, other in ((self._onward.setdefault(kind, {}), source, target), (back, target, source)):
            links = edges.setdefault(end, Counter())
            links[other] += by
            if not links[other]:
                del links[other]
        if kind not in ORDERED and target[1] not in self._others:
            self._notes[PARENTS.code] += (len(back[target]) > 1) - (parents > 1)

    def _is_worse(self, before: Counter[str]) -> bool:
        return any(self._notes[code] > count for code, count in before.items() if code in self._faults)

    def _leads(self, kind: str, start: Key, end: Key) -> bool:
        """Check that links of a kind lead from a class to another, or back to itself.

        It is searched from both ends by turns: where there is no way, one of the two searches is often short.
        """
        from_start: set[Key] = set()
        from_end: set[Key] = set()
        forward = _reached(self._onward.get(kind, {}), start, from_start)
        backward = _reached(self._back.get(kind, {}), end, from_end)
        for node, other in zip(forward, backward, strict=False):
            if node == end or other == start or node in from_end or other in from_start:
                return True
        return False


def _reached(edges: Edges, start: Key, seen: set[Key]) -> Iterator[Key]:
    """The classes that can be reached, the nearest first."""
    waiting = [start]
    for class_ in waiting:  # it grows on the way
        for other in edges.get(class_, ()):
            if other not in seen:
                seen.add(other)
                waiting.append(other)
                yield other
