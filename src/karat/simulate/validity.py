"""Keeps a document consistent while errors are made in it."""

from collections import Counter
from collections.abc import Callable, Collection
from itertools import chain

from msgspec.structs import replace

from karat.checks import links
from karat.checks.annotations import check_duplicates
from karat.model import Document, Mention, Region

Key = tuple[str, str]
"""The class of a mention: ("cluster", id), or ("mention", id) if it is a cluster of its own."""


def class_of(mention: Mention) -> Key:
    """Return the class of a mention: its cluster, or itself if it has none."""
    return ("mention", mention.id) if mention.cluster is None else ("cluster", mention.cluster)


class ClassGraph:
    """The links between coreference classes of a document without cycles, while classes become one."""

    def __init__(self, document: Document) -> None:
        classes = {mention.id: class_of(mention) for mention in document.mentions} if document.links else {}
        self._wholes: dict[Key, Key] = {}
        self._next: dict[str, dict[Key, set[Key]]] = {}
        """For each kind of link: the classes that links from a class lead to, as they were at first."""
        for link in document.links:
            source, target = (classes.get(end) or ("cluster", end) for end in (link.source, link.target))
            self._next.setdefault(link.kind, {}).setdefault(source, set()).add(target)

    def makes_cycle(self, first: Key, second: Key) -> bool:
        """Check that links of one kind lead from one of the two through a third to the other."""
        return any(
            self._leads(onward, one, other)
            for onward in self._next.values()
            for one, other in ((first, second), (second, first))
        )

    def _leads(self, onward: dict[Key, set[Key]], start: Key, end: Key) -> bool:
        # A link between the two, or inside one of them, leads nowhere.
        waiting = [class_ for class_ in map(self._whole, onward.get(start, ())) if class_ not in (start, end)]
        passed = {start, *waiting}
        while waiting:
            for target in onward.get(waiting.pop(), ()):
                class_ = self._whole(target)
                if class_ == end:
                    return True
                if class_ not in passed:
                    passed.add(class_)
                    waiting.append(class_)
        return False

    def join(self, first: Key, second: Key, whole: Key) -> None:
        """Make two classes one; `whole` is one of the two, or new."""
        for onward in self._next.values():
            targets = onward.pop(first, set()) | onward.pop(second, set())
            if targets:
                onward[whole] = targets
        self._wholes |= {class_: whole for class_ in (first, second) if class_ != whole}

    def _whole(self, class_: Key) -> Key:
        path = []
        while class_ in self._wholes:
            path.append(class_)
            class_ = self._wholes[class_]
        self._wholes |= dict.fromkeys(path, class_)
        return class_


def worse(document: Document, before: Document, faults: Collection[str]) -> bool:
    """Check that a document has faults that it did not have before; `faults` are codes of notes that count as such."""
    new, old = _faults(document, faults), _faults(before, faults)
    return any(count > old[code] for code, count in new.items())


def possible(
    document: Document,
    numbers: Collection[int],
    change: Callable[[Document, Collection[int]], Document],
    faults: Collection[str],
) -> list[int]:
    """Choose changes by number, one after another: those of which no fault comes."""
    chosen: list[int] = []
    for number in numbers:
        before, after = (change(document, changes) for changes in (chosen, [*chosen, number]))
        if not worse(after, before, faults):
            chosen.append(number)
    return chosen


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
