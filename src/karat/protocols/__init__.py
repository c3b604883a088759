"""Protocols: TOML files that name filters, alignments, measures and averages."""

from karat.protocols.files import PROTOCOLS
from karat.protocols.protocol import FamilyChoice, Protocol, opened_for, parse_setting, resolve, resolve_all

__all__ = ["PROTOCOLS", "FamilyChoice", "Protocol", "opened_for", "parse_setting", "resolve", "resolve_all"]
