"""Types of event mentions, checked against a closed vocabulary."""

from collections.abc import Callable, Iterator, Set

from karat.errors import Finding, Rule
from karat.model import Document, Value

UNKNOWN = Rule("type-unknown", "fault", "Use a type of the vocabulary, or add this one to its file.")


def checking(
    vocabulary: Set[Value | None], key: Callable[[Value | None], Value | None]
) -> Callable[[Document], Iterator[Finding]]:
    """The check for a vocabulary of keys; `key` is what is compared in place of a type. No type is none of them."""

    def check(document: Document) -> Iterator[Finding]:
        """Each event mention whose type is not in the vocabulary."""
        for mention in document.mentions:
            type_ = mention.attributes.get("type")
            if mention.kind == "event" and key(type_) not in vocabulary:
                said = "no type" if type_ is None else f"the type {type_!r}, which is not in the vocabulary"
                yield UNKNOWN.at(
                    f"mention {mention.id!r} of document {document.id!r} has {said}",
                    item=mention.id,
                    found=None if type_ is None else str(type_),
                )

    return check
