"""Links between events that form no cycle within a kind."""

from karat.model import ClusterKey

EventLink = tuple[str, ClusterKey, ClusterKey]
"""A kind, and two events."""


class LinkGraph:
    """Links between events, to which others are added."""

    def __init__(self) -> None:
        self.links: dict[EventLink, None] = {}
        self._below: dict[tuple[str, ClusterKey], list[ClusterKey]] = {}

    def add(self, kind: str, source: ClusterKey, target: ClusterKey) -> EventLink:
        """Add a link."""
        link = kind, source, target
        if link not in self.links:
            self.links[link] = None
            self._below.setdefault((kind, source), []).append(target)
        return link

    def takes(self, kind: str, source: ClusterKey, target: ClusterKey) -> bool:
        """Whether a link joins two events, and closes no cycle with others of its kind."""
        reached, left = {target}, [target]
        while left and source not in reached:
            for event in self._below.get((kind, left.pop()), ()):
                if event not in reached:
                    reached.add(event)
                    left.append(event)
        return source not in reached
