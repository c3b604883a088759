"""Rules on annotations, whatever format they came from: each module checks one thing in a document."""

from collections.abc import Iterator

from karat.checks import links, spans
from karat.errors import Finding
from karat.model import Document

CHECKS = (spans.check, links.check)


def check(document: Document) -> Iterator[Finding]:
    """What is wrong with a document, by every rule."""
    for rule in CHECKS:
        yield from rule(document)
