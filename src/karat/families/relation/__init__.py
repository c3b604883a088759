"""Relations between events and times: temporal, causal, subevent, and coreference of pairs."""

from karat.families.relation.measures import FAMILY

__all__ = ["FAMILY"]
