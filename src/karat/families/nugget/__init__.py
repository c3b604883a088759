"""Event nuggets: precision, recall and F1 with partial credit for spans (Liu, Mitamura and Hovy 2015)."""

from karat.families.nugget.measures import FAMILY

__all__ = ["FAMILY"]
