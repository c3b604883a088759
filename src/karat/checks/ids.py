"""Ids in the documents of a corpus, for formats in which an id means one thing everywhere (APF)."""

from collections.abc import Iterator, Mapping, Sequence

from karat.errors import Finding, Rule, quoted
from karat.model import Document

MENTION = Rule("mention-in-documents", "fatal", "Give each mention of the corpus its own id.")
KINDS = Rule("id-of-two-kinds", "fatal", "Give each element and each mention of the corpus its own id.")

NamedIds = Sequence[tuple[str, str]]
"""What each id names, and the id."""


def ids_of(document: Document) -> NamedIds:
    """Return the ids of a document's mentions and elements."""
    mentions = [(f"{mention.kind} mention", mention.id) for mention in document.mentions]
    return [*mentions, *[(cluster.kind, cluster.id) for cluster in document.clusters]]


def id_conflicts(documents: Mapping[str, NamedIds]) -> Iterator[Finding]:
    """Yield each mention that an earlier document has too, and each id that names another kind of thing there.

    Whether an element may be in two documents is for a protocol to say.
    """
    first: dict[str, tuple[str, str]] = {}
    for document, ids in documents.items():
        for kind, id_ in ids:
            known, other = first.setdefault(id_, (kind, document))
            if other == document:
                continue
            which = f"{kind} {quoted(id_)} of document {quoted(document)}"
            if kind != known:
                message = f"{which} has an id that names another kind of thing, {known}, in {quoted(other)}"
                yield KINDS.at(message, item=id_, document=document)
            elif kind.endswith(" mention"):
                yield MENTION.at(f"{which} is also in document {quoted(other)}", item=id_, document=document)
