"""The cluster of each mention: coreference and events read the same lists."""

from msgspec import Struct

from karat.model import ClusterKey, cluster_keys
from karat.plugin import Tables, TableSpec


class ClusterKeys(TableSpec[tuple[list[ClusterKey], list[ClusterKey]]], Struct, frozen=True, cache_hash=True):
    """The clusters of the mentions of both sides, in the order of the mentions."""

    def make(self, tables: Tables) -> tuple[list[ClusterKey], list[ClusterKey]]:
        """Gold's and the system's."""
        return cluster_keys(tables.pair.gold), cluster_keys(tables.pair.system)
