"""Rules on annotations, whatever format they came from: each module checks one thing in a document."""

from karat.checks import links, spans
from karat.errors import KaratError, Report
from karat.model import Document

CHECKS = (spans.check, links.check)


def check(document: Document, where: tuple[str, int | None], report: Report) -> None:
    """Apply every rule; a fatal finding is raised, the others are reported."""
    for rule in CHECKS:
        for finding in rule(document):
            placed = finding._replace(file=where[0], line=where[1])
            if placed.severity == "fatal":
                raise KaratError(placed)
            report(placed)
