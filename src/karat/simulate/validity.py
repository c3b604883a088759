"""Keeps a document consistent while errors are made in it."""

from msgspec.structs import replace

from karat.checks.links import CYCLE, Class, check
from karat.model import Document, Mention


def class_of(mention: Mention) -> Class:
    """What a mention belongs to: its cluster, or itself if it has none."""
    return ("mention", mention.id) if mention.cluster is None else ("cluster", mention.cluster)


class ClassGraph:
    """The links between coreference classes of a document without cycles, while classes become one."""

    def __init__(self, document: Document) -> None:
        classes = {mention.id: class_of(mention) for mention in document.mentions} if document.links else {}
        self._wholes: dict[Class, Class] = {}
        self._next: dict[str, dict[Class, set[Class]]] = {}
        """For each kind of link: the classes that links from a class lead to, as they were at first."""
        for link in document.links:
            source, target = (classes.get(end) or ("cluster", end) for end in (link.source, link.target))
            self._next.setdefault(link.kind, {}).setdefault(source, set()).add(target)

    def makes_cycle(self, first: Class, second: Class) -> bool:
        """Whether links of one kind lead from one of the two through a third to the other."""
        return any(
            self._leads(links, one, other)
            for links in self._next.values()
            for one, other in ((first, second), (second, first))
        )

    def _leads(self, links: dict[Class, set[Class]], start: Class, end: Class) -> bool:
        # A link between the two, or inside one of them, leads nowhere.
        waiting = [class_ for class_ in map(self._whole, links.get(start, ())) if class_ not in (start, end)]
        passed = {start, *waiting}
        while waiting:
            for target in links.get(waiting.pop(), ()):
                class_ = self._whole(target)
                if class_ == end:
                    return True
                if class_ not in passed:
                    passed.add(class_)
                    waiting.append(class_)
        return False

    def join(self, first: Class, second: Class, whole: Class) -> None:
        """Make two classes one; `whole` is one of the two, or new."""
        for links in self._next.values():
            targets = links.pop(first, set()) | links.pop(second, set())
            if targets:
                links[whole] = targets
        self._wholes |= {class_: whole for class_ in (first, second) if class_ != whole}

    def _whole(self, class_: Class) -> Class:
        path = []
        while class_ in self._wholes:
            path.append(class_)
            class_ = self._wholes[class_]
        self._wholes |= dict.fromkeys(path, class_)
        return class_


def cyclic(document: Document) -> bool:
    """Whether links of one kind form a cycle."""
    return any(finding.code == CYCLE.code for finding in check(document))


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
