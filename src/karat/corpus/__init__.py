"""Corpora: documents in files or in memory, their topics and fingerprint."""
