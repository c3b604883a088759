"""Templates: incidents with a type, and the entities that fill their roles, compared as strings (MUC-4)."""

from karat.families.template.measures import FAMILY

__all__ = ["FAMILY"]
