"""What is in a corpus."""

from karat.describe.description import Description, Values, description
from karat.describe.ecb_table import EcbTable

__all__ = ["Description", "EcbTable", "Values", "description"]
