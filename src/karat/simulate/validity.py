"""Keeps a document consistent while errors are made in it."""

from msgspec.structs import replace

from karat.checks.links import CYCLE, check
from karat.model import Document


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
