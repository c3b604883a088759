"""Sentences and empty nodes: they must name tokens of the document, in order."""

from collections.abc import Iterator
from itertools import pairwise

from karat.errors import Finding, Rule
from karat.model import Document

ORDER = Rule(
    "tokens-order",
    "fatal",
    "Number tokens from 0; list sentences by their first token, and empty nodes by token, each with a number from 1.",
)


def check(document: Document) -> Iterator[Finding]:
    """Sentences begin, and empty nodes are, at tokens of the document, each after the one before."""
    if not document.sentences and not document.empty_nodes:
        return
    named = {
        "sentences": [sentence.begin for sentence in document.sentences],
        "empty nodes": [node.token for node in document.empty_nodes],
    }
    for what, tokens in named.items():
        if any(token >= after for token, after in pairwise(tokens)):
            yield ORDER.at(f"the {what} of document {document.id!r} are not in order")
    parents = [parent for node in document.empty_nodes for parent, _ in node.dependencies if parent is not None]
    every = [*named["sentences"], *named["empty nodes"], *parents]
    end = max(every) + 1 if document.forms is None else len(document.forms)
    for token in every:
        if not 0 <= token < end:
            yield ORDER.at(f"document {document.id!r} has {end:,} tokens, but token {token:,} is named")
    for node in document.empty_nodes:
        if node.number < 1:
            yield ORDER.at(f"the empty node at token {node.token:,} of document {document.id!r} has no number from 1")
