"""Arguments: what fills the roles of events, identified (Arg-I) and in the right role (Arg-C)."""

from karat.families.arg.measures import FAMILY

__all__ = ["FAMILY"]
