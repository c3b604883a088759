"""Whether a change of links or clusters makes a fault, without checking the whole document again for each change."""

from collections import Counter
from collections.abc import Collection, Iterator

from karat.checks.links import INSIDE, PARENTS
from karat.model import ORDERED, Document
from karat.simulate.validity import Key, class_of

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
        """The links of each mention, by number."""
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

    def _turn(self, number: int) -> None:
        self._change(number, -1)
        kind, source, target = self._links[number]
        self._links[number] = kind, target, source
        self._change(number, 1)

    def _move(self, mention: str, class_: Key) -> None:
        numbers = self._of.get(mention, ())
        for number in numbers:
            self._change(number, -1)
        self._classes[mention] = class_
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
        for edges, one, other in ((self._onward.setdefault(kind, {}), source, target), (back, target, source)):
            links = edges.setdefault(one, Counter())
            links[other] += by
            if not links[other]:
                del links[other]
        if kind not in ORDERED and target[1] not in self._others:
            self._notes[PARENTS.code] += (len(back[target]) > 1) - (parents > 1)

    def _is_worse(self, before: Counter[str]) -> bool:
        return any(self._notes[code] > count for code, count in before.items() if code in self._faults)

    def _leads(self, kind: str, start: Key, end: Key) -> bool:
        """Whether links of a kind lead from a class to another, or back to itself.

        It is searched from both ends by turns: where there is no way, one of the two searches is often short.
        """
        from_start: set[Key] = set()
        from_end: set[Key] = set()
        forward = _reached(self._onward.get(kind, {}), start, from_start)
        backward = _reached(self._back.get(kind, {}), end, from_end)
        for one, other in zip(forward, backward, strict=False):
            if one == end or other == start or one in from_end or other in from_start:
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
