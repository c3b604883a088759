"""Kinds of mentions that a protocol scores and a corpus lacks."""

from collections.abc import Set

from karat.errors import Finding, Rule, nearest
from karat.protocols import Protocol

NO_KIND = Rule("kind-absent", "fatal", "Choose the kinds of mentions to score with --set kinds=...")


def lacking(protocol: Protocol, kinds: Set[str], what: str) -> Finding | None:
    """What is wrong with gold if it has mentions of these kinds, but none that are scored."""
    if protocol.kinds is None or not kinds or not kinds.isdisjoint(protocol.kinds):
        return None
    wanted = ", ".join(protocol.kinds)
    return NO_KIND.at(f"{what} has no mention of kind {wanted}. {nearest(protocol.kinds[0], sorted(kinds))}")
