"""Results of a run, which everything after scoring reads: scores, outcomes by item, errors by class."""

from karat.results.records import (
    ClusterRecord,
    ElementRecord,
    LinkRecord,
    MentionRecord,
    OutcomeRecord,
    Record,
    TreeRecord,
)
from karat.results.result import Confidence, Finish, ItemCounts, Result, Score, Side, UnitRows, family, main_score

__all__ = [
    "ClusterRecord",
    "Confidence",
    "ElementRecord",
    "Finish",
    "ItemCounts",
    "LinkRecord",
    "MentionRecord",
    "OutcomeRecord",
    "Record",
    "Result",
    "Score",
    "Side",
    "TreeRecord",
    "UnitRows",
    "family",
    "main_score",
]
