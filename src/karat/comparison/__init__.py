"""Comparison: several systems on the same gold, ranked, with intervals and paired tests."""
