"""Where the points go: error classes with what each costs, and confusions.

Errors are found from the outcomes of measures. What a class costs is found by repairing the system in memory and
scoring it again under the same protocol; no score is computed here.
"""

from karat.insight.analysing import score_with_errors
from karat.results.errors import Confusion, ErrorAnalysis, ErrorClass, Instance, MeasureErrors

__all__ = ["Confusion", "ErrorAnalysis", "ErrorClass", "Instance", "MeasureErrors", "score_with_errors"]
