"""ACE 2005 value scores (The ACE 2005 Evaluation Plan, Appendix A)."""

from karat.families.ace.measures import FAMILY

__all__ = ["FAMILY"]
