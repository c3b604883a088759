"""What is in a corpus."""

from karat.describe.describing import description
from karat.describe.description import Description, Values
from karat.describe.ecb_table import EcbTable

__all__ = ["Description", "EcbTable", "Values", "description"]
