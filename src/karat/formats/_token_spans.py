"""Spans in characters as spans of tokens, for writers of formats that count tokens."""

from bisect import bisect_left

from karat.errors import Rule, quoted
from karat.model import Document, Mention, Region


def projected(mention: Mention, document: Document, rule: Rule) -> Region:
    """The span of a mention in tokens, if it consists of whole tokens; else it is refused by this rule."""
    tokens = document.tokens
    if tokens is None:
        raise rule.error(f"document {quoted(document.id)} counts in characters and has no tokens")
    segments: list[tuple[int, int]] = []
    for begin, end in mention.span:
        first = bisect_left(tokens, (begin, begin))
        last = bisect_left(tokens, end, key=lambda token: token[1])
        if not (first <= last < len(tokens) and (tokens[first][0], tokens[last][1]) == (begin, end)):
            message = f"the span {mention.span} of mention {quoted(mention.id)} of document {quoted(document.id)}"
            raise rule.error(f"{message} does not consist of whole tokens")
        segments.append((first, last + 1))
    return tuple(segments)
