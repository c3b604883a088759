"""The text of a mention against the text it points into."""

from collections.abc import Iterator
from html import unescape

from karat.checks._places import owner, placed
from karat.errors import Finding, Findings, Rule
from karat.model import Document

DIFFERS = Rule(
    "text-differs", "fault", "Check that offsets count code points of this very text; they are scored as given."
)
SHOWN = 60


def check(document: Document) -> Iterator[Finding]:
    """Where both texts are known they are equal, the pieces of a span joined by a blank, any white space a blank.

    A text may hold references to characters (`&amp;`), which count as they are written; what is said may have resolved
    them.
    """
    text = document.text
    if text is None or document.unit != "char":
        return
    count = 0
    for item, region, said in placed(document):
        if said is None or region[-1][1] > len(text) or region[0][0] < 0:
            continue
        there = " ".join([text[begin:end] for begin, end in region])
        if there != said and said.split() not in (there.split(), unescape(there).split()):
            count += 1
            if count <= Findings.KEPT:
                found = f"{owner(item)} of document {document.id!r} says {said[:SHOWN]!r}"
                yield DIFFERS.at(f"{found}, but its span holds {there[:SHOWN]!r}", item=item, found=said)
    yield from DIFFERS.further(count)
