"""Clusters, as writers need them."""

from collections.abc import Iterable

from karat.model import Mention


def members(mentions: Iterable[Mention]) -> dict[str, list[str]]:
    """The ids of the mentions of each cluster, in their order."""
    ids: dict[str, list[str]] = {}
    for mention in mentions:
        if mention.cluster is not None:
            ids.setdefault(mention.cluster, []).append(mention.id)
    return ids
