"""Rules on annotations, whatever format they came from: each module checks one thing in a document."""

from collections.abc import Iterator

from karat.checks import links, spans
from karat.errors import Finding, KaratError, Report
from karat.model import Document

CHECKS = (spans.check, links.check)


def check(document: Document) -> Iterator[Finding]:
    """What is wrong with a document, by every rule."""
    for rule in CHECKS:
        yield from rule(document)


def checked(document: Document, *, file: str, line: int | None, report: Report) -> Document:
    """The document, if nothing about it is fatal; what else is wrong is reported."""
    for finding in check(document):
        placed = finding._replace(file=file, line=line)
        if placed.severity == "fatal":
            raise KaratError(placed)
        report(placed)
    return document
