"""The text of regions, and the words in it."""

import re
from typing import NamedTuple

from karat.model import Document, Mention, Region
from karat.model.regions import size

ARTICLES = frozenset({"the", "a", "an"})
_WORD = re.compile(r"\S+")


class Word(NamedTuple):
    """A word: where it begins and ends, and its form, if that is known."""

    begin: int
    end: int
    form: str | None


def region_text(document: Document, region: Region) -> str | None:
    """The text at a region, if the document has its text; segments are joined by a blank."""
    if document.text is None or not region:
        return None
    segments = region
    if document.unit == "token":
        if document.tokens is None or segments[-1][1] > len(document.tokens):
            return None
        segments = tuple((document.tokens[begin][0], document.tokens[end - 1][1]) for begin, end in segments)
    elif document.unit != "char":
        return None
    return " ".join(document.text[begin:end] for begin, end in segments)


def mention_text(mention: Mention, *documents: Document) -> str | None:
    """The text of a mention: its own, or that of the first of these documents that has it."""
    if mention.text is not None:
        return mention.text
    return next((text for one in documents if (text := region_text(one, mention.span)) is not None), None)


def words_of(mention: Mention, *documents: Document) -> list[Word]:
    """The words of a mention: tokens, or in characters what blanks separate. `documents` may know its text.

    Without a text, a mention in characters is one word. Of tokens that no document has, the first three are enough to
    tell one word from several: a span may claim any number of them.
    """
    if not mention.span:
        return []
    text = mention_text(mention, *documents)
    if documents[0].unit == "token":
        known = max(len(own or ()) for one in documents for own in (one.forms, one.tokens))
        if text is not None and len(text.split()) == size(mention.span):
            known = mention.span[-1][1]
        numbers = [number for begin, end in mention.span for number in range(begin, min(end, max(known, begin + 3)))]
        forms: list[str | None] = [next((_form(one, number) for one in documents), None) for number in numbers]
        if None in forms and text is not None and len(text.split()) == len(numbers):
            forms = list(text.split())
        return [Word(number, number + 1, form) for number, form in zip(numbers, forms, strict=True)]
    if text is None or len(text) != sum(end - begin for begin, end in mention.span) + len(mention.span) - 1:
        return [Word(mention.span[0][0], mention.span[-1][1], text)]
    words = []
    start = 0
    for begin, end in mention.span:
        segment = text[start : start + end - begin]
        words += [Word(begin + one.start(), begin + one.end(), one[0]) for one in _WORD.finditer(segment)]
        start += end - begin + 1  # the blank between segments
    return words


def _form(document: Document, token: int) -> str | None:
    if document.forms is not None and token < len(document.forms) and document.forms[token]:
        return document.forms[token]
    return region_text(document, ((token, token + 1),))


def has_article(mention: Mention, *documents: Document) -> bool:
    """Whether a mention of several words begins with an English article."""
    words = words_of(mention, *documents)
    return len(words) > 1 and (words[0].form or "").lower() in ARTICLES


def without_article(mention: Mention, *documents: Document) -> Region:
    """The span of a mention without a leading `the`, `a` or `an`, if there are more words."""
    if not has_article(mention, *documents):
        return mention.span
    place = words_of(mention, *documents)[1].begin
    return tuple((max(begin, place), end) for begin, end in mention.span if end > place)
