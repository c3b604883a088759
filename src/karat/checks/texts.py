"""The text of a mention against the text it points into."""

from collections.abc import Iterator

from karat.errors import Finding, Rule
from karat.model import Document

DIFFERS = Rule(
    "text-differs", "fault", "Check that offsets count code points of this very text; they are scored as given."
)
SHOWN = 60


def check(document: Document) -> Iterator[Finding]:
    """Where both texts are known they are equal, the pieces of a span joined by a blank, any white space a blank."""
    text = document.text
    if text is None or document.unit != "char":
        return
    for mention in document.mentions:
        if mention.text is None or not mention.span or mention.span[-1][1] > len(text):
            continue
        there = " ".join([text[begin:end] for begin, end in mention.span])
        if there != mention.text and there.split() != mention.text.split():
            found = f"mention {mention.id!r} of document {document.id!r} says {mention.text[:SHOWN]!r}"
            yield DIFFERS.at(f"{found}, but its span holds {there[:SHOWN]!r}", item=mention.id)
