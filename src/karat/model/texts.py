"""The text of regions, and the words in it."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import NamedTuple

from karat.model import Document, Mention, Region
from karat.model.regions import size

ARTICLES = frozenset({"the", "a", "an"})
_WORD = re.compile(r"\S+")


LONG = 200
"""Characters of a text that is cut out at once."""


class LongText:
    """The text at some segments of a document, which is cut out when it is asked for.

    Thousands of mentions may each cover most of a text: all their texts together would fill the memory.
    """

    __slots__ = ("_segments", "_source")

    def __init__(self, source: str, segments: Region) -> None:
        self._source, self._segments = source, segments

    def __len__(self) -> int:
        known = len(self._source)
        return (
            size(tuple((min(begin, known), min(end, known)) for begin, end in self._segments)) + len(self._segments) - 1
        )

    def __str__(self) -> str:
        return _joined(self._source, self._segments)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LongText):
            return NotImplemented
        is_same_place = self._segments == other._segments and self._source == other._source
        return is_same_place or (len(self) == len(other) and str(self) == str(other))

    def beginning(self, most: int) -> str:
        """Its first characters."""
        begun, length = [], 0
        for begin, end in self._segments:
            begun.append((begin, min(end, begin + most)))
            length += end - begin + 1
            if length > most:
                break
        return _joined(self._source, begun)[:most]


class Word(NamedTuple):
    """A word: where it begins and ends, and its form, if that is known."""

    begin: int
    end: int
    form: str | None


def region_text(document: Document, region: Region) -> str | None:
    """The text at a region, if the document has its text; segments are joined by a blank."""
    segments = _characters(document, region)
    if document.text is None or segments is None:
        return None
    return _joined(document.text, segments)


def _joined(text: str, segments: Iterable[tuple[int, int]]) -> str:
    return " ".join(text[begin:end] for begin, end in segments)


def _characters(document: Document, region: Region) -> Region | None:
    """A region in characters of the document's text, if it has one."""
    if document.text is None or not region:
        return None
    if document.unit == "token":
        if document.tokens is None or region[-1][1] > len(document.tokens):
            return None
        return tuple((document.tokens[begin][0], document.tokens[end - 1][1]) for begin, end in region)
    return region if document.unit == "char" else None


def mention_text(mention: Mention, *documents: Document) -> str | None:
    """The text of a mention: its own, or that of the first of these documents that has it."""
    if mention.text is not None:
        return mention.text
    return next((text for one in documents if (text := region_text(one, mention.span)) is not None), None)


def quotation(mention: Mention, document: Document) -> str | LongText | None:
    """The text of a mention in a record: like `mention_text`, but a long one is cut out when it is shown."""
    if mention.text is None and document.text is not None and size(mention.span) > LONG:
        segments = _characters(document, mention.span)
        return None if segments is None else LongText(document.text, segments)
    return mention_text(mention, document)


def words_of(mention: Mention, *documents: Document) -> Iterator[Word]:
    """The words of a mention, one by one: tokens, or in characters what blanks separate. `documents` may know its text.

    Without a text, a mention in characters is one word. Of tokens that no document has, the first three are enough to
    tell one word from several: a span may claim any number of them.
    """
    if not mention.span:
        return iter(())
    if documents[0].unit == "token":
        return _tokens_of(mention, *documents)
    return _words_between_blanks(mention, mention_text(mention, *documents))


def _tokens_of(mention: Mention, *documents: Document) -> Iterator[Word]:
    last = mention.span[-1][1]
    known = max(len(own or ()) for one in documents for own in (one.forms, one.tokens))
    split: list[str] = []
    if last > known or not _has_forms(documents[0], mention.span):
        split = (mention_text(mention, *documents) or "").split()
        known = last if len(split) == size(mention.span) else known
    span = tuple((begin, min(end, max(known, begin + 3))) for begin, end in mention.span)
    from_text = len(split) == size(span) and not _has_forms(documents[0], span)
    for place, number in enumerate(chain.from_iterable(range(begin, end) for begin, end in span)):
        yield Word(number, number + 1, split[place] if from_text else _form(documents[0], number))


def _words_between_blanks(mention: Mention, text: str | None) -> Iterator[Word]:
    if text is None or len(text) != size(mention.span) + len(mention.span) - 1:
        yield Word(mention.span[0][0], mention.span[-1][1], text)
        return
    start = 0
    for begin, end in mention.span:
        segment = text[start : start + end - begin]
        for one in _WORD.finditer(segment):
            yield Word(begin + one.start(), begin + one.end(), one[0])
        start += end - begin + 1  # the blank between segments


def _has_forms(document: Document, span: Region) -> bool:
    """Whether the words of all tokens of a span are known."""
    if document.text is not None and document.tokens is not None and span[-1][1] <= len(document.tokens):
        return True
    forms = document.forms or ()
    if span[-1][1] <= len(forms) and not any("" in forms[begin:end] for begin, end in span):
        return True
    return all(_form(document, number) is not None for begin, end in span for number in range(begin, end))


def _form(document: Document, token: int) -> str | None:
    if document.forms is not None and token < len(document.forms) and document.forms[token]:
        return document.forms[token]
    return region_text(document, ((token, token + 1),))


def has_article(mention: Mention, *documents: Document) -> bool:
    """Whether a mention of several words begins with an English article."""
    words = list(islice(words_of(mention, *documents), 2))
    return len(words) > 1 and (words[0].form or "").lower() in ARTICLES


def without_article(mention: Mention, *documents: Document) -> Region:
    """The span of a mention without a leading `the`, `a` or `an`, if there are more words."""
    if not has_article(mention, *documents):
        return mention.span
    _, second = islice(words_of(mention, *documents), 2)
    return tuple((max(begin, second.begin), end) for begin, end in mention.span if end > second.begin)
