"""Spans against the text they point into."""

from collections.abc import Iterator

from karat.checks._places import placed
from karat.errors import Finding, Rule
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
    for item, owner, region, _ in placed(document):
        if region[-1][1] > len(content):
            found = f"{owner} of document {document.id!r} ends at {region[-1][1]:,}"
            yield BEYOND.at(f"{found}, but the text has {len(content):,} {noun}", item=item, found=str(region[-1][1]))
