"""Similarities of mentions, and one-to-one matchings."""
