"""From one format into another."""

from karat.convert.conversion import Conversion
from karat.convert.given import Keep, given

__all__ = ["Conversion", "Keep", "given"]
