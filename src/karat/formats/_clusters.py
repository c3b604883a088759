"""What writers need to know of clusters."""

from collections.abc import Iterable

from karat.model import Mention


def members(mentions: Iterable[Mention]) -> dict[str, list[str]]:
    """The ids of the mentions of each cluster, in their order."""
    found: dict[str, list[str]] = {}
    for mention in mentions:
        if mention.cluster is not None:
            found.setdefault(mention.cluster, []).append(mention.id)
    return found
