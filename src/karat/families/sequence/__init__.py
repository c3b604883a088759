"""Sequences: how many of each side's time links the other side has or entails."""

from karat.families.sequence.measures import FAMILY

__all__ = ["FAMILY"]
