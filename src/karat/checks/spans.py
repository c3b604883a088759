"""Spans against the text they point into."""

from collections.abc import Iterator

from karat.checks._places import owner, placed
from karat.errors import Finding, Findings, Rule
from karat.model import Document

BEYOND = Rule(
    "span-beyond-text",
    "fault",
    "Check that offsets count code points, or tokens, of this very text; they are scored as given.",
)


def check(document: Document) -> Iterator[Finding]:
    """A span must end inside the text, or inside the tokens, where the document has one."""
    tokens = document.forms if document.tokens is None else document.tokens
    content = document.text if document.unit == "char" else tokens
    if content is None:
        return
    noun = "characters" if document.unit == "char" else "tokens"
    count = 0
    for item, region, _ in placed(document):
        if (end := region[-1][1]) > len(content):
            count += 1
            if count <= Findings.KEPT:
                found = f"{owner(item)} of document {document.id!r} ends at {end:,}"
                yield BEYOND.at(f"{found}, but the text has {len(content):,} {noun}", item=item, found=str(end))
    yield from BEYOND.further(count)
