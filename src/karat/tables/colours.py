"""Ordered partitions that become finer: things of one colour are split by labels, where these can have changed.

A refinement that computes every label in every round takes n rounds of n labels on a path of n things. Here a round
costs what changed in the round before it.
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Collection, Hashable, Mapping
from itertools import groupby
from typing import Any, Generic, TypeVar

GAP = 1 << 40
"""Between neighbouring colours at first, so that new ones find a place between them."""

T = TypeVar("T", bound=Hashable)


class Colours(Generic[T]):
    """Things by colour. Colours are numbers; what matters is which are equal, and their order."""

    def __init__(self, labels: Mapping[T, Any]) -> None:
        """Colours in the order of labels that can be compared; equal labels get one colour."""
        ordered = sorted(labels, key=labels.__getitem__)
        parts = [set(some) for _, some in groupby(ordered, key=labels.__getitem__)]
        self._order = [number * GAP for number in range(len(parts))]
        self._things = dict(zip(self._order, parts, strict=True))
        self.of = {thing: colour for colour, things in self._things.items() for thing in things}

    def split(self, touched: Collection[T], label: Callable[[T], Any]) -> list[T]:
        """Give things of one colour different ones if their labels differ, in the order of labels; those that changed.

        Labels are made of colours. `touched` are the things whose label contains a colour that the last split changed
        (all of them in the first split): the labels of the others in a colour are equal, as they were equal before.
        """
        by_colour: dict[int, list[T]] = {}
        for thing in touched:
            by_colour.setdefault(self.of[thing], []).append(thing)
        splits = [(colour, self._parts(colour, some, label)) for colour, some in by_colour.items()]
        changed: list[T] = []
        for things, (before, after) in [(self._things[colour], parts) for colour, parts in splits if any(parts)]:
            colour = self.of[next(iter(things))]
            for part in (*before, *after):
                things.difference_update(part)
                changed += part
            colour = self._recolour(before, colour, above=False)
            self._recolour(after, colour, above=True)
        return changed

    def _parts(self, colour: int, touched: list[T], label: Callable[[T], Any]) -> tuple[list[list[T]], list[list[T]]]:
        """The parts of a colour whose labels are smaller, and those whose labels are larger, than that of the largest.

        The largest part keeps the colour, so that little changes; the things that are not touched are in one part.
        """
        things = self._things[colour]
        if len(things) == 1:
            return [], []
        by_label = sorted(((label(thing), thing) for thing in touched), key=lambda pair: pair[0])
        parts = [(key, [thing for _, thing in same]) for key, same in groupby(by_label, lambda pair: pair[0])]
        sizes = [len(part) for _, part in parts]
        if rest := len(things) - len(touched):
            known = set(touched)
            own = label(next(thing for thing in things if thing not in known))
            place = bisect_left(parts, own, key=lambda pair: pair[0])
            if place == len(parts) or parts[place][0] != own:
                parts.insert(place, (own, []))
                sizes.insert(place, 0)
            sizes[place] += rest
            largest = place
        else:
            largest = sizes.index(max(sizes))
        return [part for _, part in parts[:largest]], [part for _, part in parts[largest + 1 :]]

    def _recolour(self, parts: list[list[T]], colour: int, *, above: bool) -> int:
        """Give parts colours between a colour and its neighbour; that colour, which may be another number then."""
        if not parts:
            return colour
        place = bisect_left(self._order, colour)
        low = high = colour
        if above:
            high = self._order[place + 1] if place + 1 < len(self._order) else colour + GAP * (len(parts) + 1)
        else:
            low = self._order[place - 1] if place else colour - GAP * (len(parts) + 1)
        step = (high - low) // (len(parts) + 1)
        if not step:
            self._spread()
            return self._recolour(parts, self._order[place], above=above)
        for number, part in enumerate(parts, 1):
            new = low + number * step
            insort(self._order, new)
            self._things[new] = set(part)
            self.of.update(dict.fromkeys(part, new))
        return colour

    def _spread(self) -> None:
        """Make room between all colours."""
        self._things = {number * GAP: self._things[colour] for number, colour in enumerate(self._order)}
        self._order = list(self._things)
        self.of = {thing: colour for colour, things in self._things.items() for thing in things}

    def ranks(self) -> dict[T, int]:
        """The place of each thing's colour among all colours."""
        place = {colour: number for number, colour in enumerate(self._order)}
        return {thing: place[colour] for thing, colour in self.of.items()}
