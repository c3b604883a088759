"""The text, the words and the token ids of regions."""

import re
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from karat.model import Document, Mention, Region
from karat.regions import size


def token_ids(document: Document, region: Region) -> tuple[str, ...] | None:
    """Return the ids of the tokens of a region as the file writes them; None if they are not known."""
    known = document.token_ids
    if known is None:
        return None
    ids: list[str] = []
    for begin, end in region:
        for row in range(begin, end):
            id_ = known[row] if row < len(known) else spelled(row, len(known))
            if id_ is None:
                return None
            ids.append(id_)
    return tuple(ids)


def spelled(row: int, count: int) -> str | None:
    """Return the id that a number after a table of `count` tokens spells; None if it spells nothing that can be one.

    A reader gives an id that is not in the table the number of its bytes, counted from the end of the table.
    """
    beyond = row - count
    try:
        token = beyond.to_bytes((beyond.bit_length() + 7) // 8).decode("utf-8") if beyond > 0 else ""
    except UnicodeDecodeError:
        return None
    return token if token.isprintable() and token and "," not in token and token == token.strip() else None


ARTICLES = frozenset({"the", "a", "an"})
_WORD = re.compile(r"\S+")


class Word(NamedTuple):
    """A word: where it begins and ends, and its form, if that is known."""

    begin: int
    end: int
    form: str | None


def region_text(document: Document, region: Region) -> str | None:
    """The text at a region, if the document has its text; segments are joined by a blank."""
    text, tokens = document.text, document.tokens
    if text is None or not region:
        return None
    if document.unit == "char":
        return " ".join(text[begin:end] for begin, end in region)
    if document.unit != "token" or tokens is None or region[-1][1] > len(tokens):
        return None
    return " ".join(text[tokens[begin][0] : tokens[end - 1][1]] for begin, end in region)


def mention_text(mention: Mention, *documents: Document) -> str | None:
    """The text of a mention: its own, or that of the first of these documents that has it."""
    if mention.text is not None:
        return mention.text
    return next((text for document in documents if (text := region_text(document, mention.span)) is not None), None)


def words_of(mention: Mention, *documents: Document) -> list[Word]:
    """The words of a mention: tokens, or in characters what blanks separate. `documents` may know its text.

    Without a text, a mention in characters is one word. Of tokens that no document has, the first three are enough to
    tell one word from several: a span may claim any number of them.
    """
    if not mention.span:
        return []
    if documents[0].unit == "token":
        return _tokens_of(mention, *documents)
    return _words_between_blanks(mention, mention_text(mention, *documents))


def _tokens_of(mention: Mention, *documents: Document) -> list[Word]:
    span, document = mention.span, documents[0]
    if any(_form(document, token) is None for begin, end in span for token in range(begin, end)):
        forms = (mention_text(mention, *documents) or "").split()
        if len(forms) == size(span):
            tokens = chain.from_iterable(range(begin, end) for begin, end in span)
            return [Word(token, token + 1, form) for token, form in zip(tokens, forms, strict=True)]
        known = max(len(row or ()) for side in documents for row in (side.forms, side.tokens))
        span = tuple((begin, min(end, max(known, begin + 3))) for begin, end in span)
    return [Word(token, token + 1, _form(document, token)) for begin, end in span for token in range(begin, end)]


def _words_between_blanks(mention: Mention, text: str | None) -> list[Word]:
    if text is None or len(text) != size(mention.span) + len(mention.span) - 1:
        return [Word(mention.span[0][0], mention.span[-1][1], text)]
    words = []
    start = 0
    for begin, end in mention.span:
        segment = text[start : start + end - begin]
        words += [Word(begin + match.start(), begin + match.end(), match[0]) for match in _WORD.finditer(segment)]
        start += end - begin + 1  # the blank between segments
    return words


def _form(document: Document, token: int) -> str | None:
    if document.forms is not None and token < len(document.forms) and document.forms[token]:
        return document.forms[token]
    return region_text(document, ((token, token + 1),))


def has_article(words: Sequence[Word]) -> bool:
    """Tell if several words begin with an English article."""
    return len(words) > 1 and (words[0].form or "").lower() in ARTICLES


def without_article(mention: Mention, *documents: Document) -> Region:
    """The span of a mention without a leading `the`, `a` or `an`, if there are more words."""
    words = words_of(mention, *documents)
    if not has_article(words):
        return mention.span
    start = words[1].begin
    return tuple((max(begin, start), end) for begin, end in mention.span if end > start)
