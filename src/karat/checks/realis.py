"""Values of realis."""

from collections.abc import Iterator

from karat.errors import Finding, Rule
from karat.model import Document, Value

KNOWN = ("Actual", "Generic", "Other", "NOT_ANNOTATED")
UNKNOWN = Rule("realis-unknown", "note", f"Known are {', '.join(KNOWN)}; the value is compared as given.")

_FOLDED = frozenset(value.casefold() for value in KNOWN)
_ORDINARY = frozenset({*KNOWN, None})


def check(document: Document) -> Iterator[Finding]:
    """Each unknown value on event mentions once, at the first that has it."""
    if {mention.attributes.get("realis") for mention in document.mentions if mention.attributes} <= _ORDINARY:
        return
    having: dict[Value, list[str]] = {}
    for mention in document.mentions:
        value = mention.attributes.get("realis")
        if mention.kind == "event" and value is not None and str(value).casefold() not in _FOLDED:
            having.setdefault(value, []).append(mention.id)
    for value, ids in having.items():
        others = f" (and {len(ids) - 1:,} more with it)" if len(ids) > 1 else ""
        found = f"mention {ids[0]!r} of document {document.id!r}{others} has the unknown realis {value!r}"
        yield UNKNOWN.at(found, item=ids[0], found=str(value))
