"""Baseline systems for event coreference across documents: event mentions are given, clusters are made."""
