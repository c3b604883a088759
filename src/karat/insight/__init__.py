"""Error analysis: classes of errors with the cost of each, and confusions.

Errors are found from the outcomes of measures. What a class costs is found by repairing the system in memory and
scoring it again under the same protocol (`karat.run.errors`); no score is computed here.
"""
