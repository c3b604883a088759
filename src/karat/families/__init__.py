"""Measures: one module per family, with formulas in the notation of the papers.

A family is a `karat.plugin.Family` that its module offers as `FAMILY`: what `karat explain` says about it, the
parameters that a protocol may give, and `measures(parameters, setting)`, the entries of a result. Another package
offers one through the entry-point group `karat.measures`.
"""

from karat.families._catalogue import MEASURES, error_kind

__all__ = ["MEASURES", "error_kind"]
