"""All rules, applied to a document."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from karat.checks.annotations import check_duplicates, check_realis, check_spans, check_texts, check_tokens
from karat.checks.links import Readings, unread
from karat.checks.links import check as check_links
from karat.model import Document
from karat.problems import Finding, Findings, KaratError, Report, Target

Check = Callable[[Document], Iterator[Finding]]
"""Finds what breaks one rule in a document; findings name an item of it, not a file."""

Where = Callable[[Target | None], tuple[str | None, int | None]]
"""The file and the line of an item; of the document for None."""

CHECKS: tuple[Check, ...] = (check_tokens, check_spans, check_texts, check_duplicates, check_realis)


def nowhere(item: Target | None) -> tuple[None, None]:
    """A document that is in no file."""
    del item
    return None, None


def check(
    document: Document, where: Where = nowhere, more: Sequence[Check] = (), readings: Readings = unread
) -> Iterator[Finding]:
    """Apply all rules, and those in `more`, to a document; each finding has file and line.

    `readings` are how protocols read its links.
    Lines are looked up only while findings of a code are kept; later findings get the line of the document.
    """
    seen: dict[str, int] = {}
    of_document: tuple[str | None, int | None] | None = None
    links: Check = partial(check_links, readings=readings)
    for rule in (*CHECKS, links, *more):
        for finding in rule(document):
            count = seen[finding.code] = seen.get(finding.code, 0) + finding.times
            if count <= Findings.KEPT:
                file, line = where(finding.item)
            else:
                file, line = of_document = of_document or where(None)
            yield finding._replace(file=file, line=line)


def checked(document: Document, where: Where, report: Report, readings: Readings = unread) -> Document:
    """The document, if it has no fatal finding; other findings are reported."""
    for finding in check(document, where, readings=readings):
        if finding.severity == "fatal":
            raise KaratError(finding)
        report(finding)
    return document
