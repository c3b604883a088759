"""Descriptions of corpora."""
