"""Rules on annotations, whatever format they came from: each module checks one thing in a document.

They run whenever a document is scored, so each must be cheap where there is nothing to report.
"""

from karat.checks.annotations import CHECKS, Check, Readings, Where, check, checked, nowhere

__all__ = ["CHECKS", "Check", "Readings", "Where", "check", "checked", "nowhere"]
