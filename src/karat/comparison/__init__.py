"""Comparison: several systems on the same gold, ranked, with intervals and paired tests.

arguments    from what a user names to systems with one or more runs
scoring      every run scored against gold, which is read once; broken ones are refused together
runs         means and deviations of several runs of one system
testing      intervals of each system, paired tests, and their correction
breakdowns   the same for each value of a field
comparison   the object that reports read, and ranks
"""

from karat.comparison.arguments import chosen_baseline, named_systems
from karat.comparison.comparing import compare, compared, sorting
from karat.comparison.comparison import ComparedSystem, Comparison
from karat.comparison.scoring import Run, Task
from karat.comparison.testing import PairedTest

__all__ = [
    "ComparedSystem",
    "Comparison",
    "PairedTest",
    "Run",
    "Task",
    "chosen_baseline",
    "compare",
    "compared",
    "named_systems",
    "sorting",
]
