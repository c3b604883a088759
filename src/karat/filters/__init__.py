"""Filters: what is removed from a pair of documents before it is aligned, and the collapse of clusters.

Each module is one filter: a subclass of `karat.plugin.Filter` that it offers as `FILTER`; its fields are the options
that an entry in a protocol's `[[filters]]` may give. Another package offers one through the entry-point group
`karat.filters`.
"""

from karat.filters._documents import FILTERS, both_sides, collapsing, divided, restricted, unchanged

__all__ = ["FILTERS", "both_sides", "collapsing", "divided", "restricted", "unchanged"]
