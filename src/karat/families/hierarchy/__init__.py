"""Event hierarchies (Araki, Hovy and Mitamura 2014), each kind of link for itself."""

from karat.families.hierarchy.family import FAMILY

__all__ = ["FAMILY"]
