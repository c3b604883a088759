"""Coreference, all from one contingency table: o(k, r) mentions shared by gold cluster k and system cluster r."""

from karat.families.coref.measures import FAMILY

__all__ = ["FAMILY"]
