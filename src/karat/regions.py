"""Regions of the source: how they are built, how large they are, and what two of them share."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from math import fsum
from operator import itemgetter
from typing import NamedTuple

from karat.model import Box, Boxes, Document, Mention, Region

_begin = itemgetter(0)

NOWHERE = 10**18
"""All texts end before it. An item of a system with an impossible span is placed after it, and matches nothing."""


def nowhere(written: str) -> tuple[int, int]:
    """Return a segment after all texts: the same one for the same impossible span."""
    from hashlib import blake2b

    begin = NOWHERE + int.from_bytes(blake2b(written.encode("utf-8", "replace"), digest_size=7).digest())
    return begin, begin + 1


def is_nowhere(region: Region) -> bool:
    """Return whether a span was impossible as written."""
    return bool(region) and region[-1][0] >= NOWHERE


def union(segments: Iterable[tuple[int, int]], *, touching: bool = False) -> Region:
    """Segments in order, overlapping ones made one; segments that only touch stay as written, unless `touching`."""
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(segments):
        if merged and begin < merged[-1][1] + touching:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((begin, end))
    return tuple(merged)


def runs(numbers: Iterable[int]) -> Region:
    """Single positions as segments, neighbours joined."""
    segments: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if segments and number == segments[-1][1]:
            segments[-1] = segments[-1][0], number + 1
        else:
            segments.append((number, number + 1))
    return tuple(segments)


def size(region: Region) -> int:
    """The number of characters or tokens."""
    if len(region) == 1:
        return region[0][1] - region[0][0]
    return sum(end - begin for begin, end in region)


def is_within(inner: Region, outer: Region) -> bool:
    """Return whether every segment of a region is inside a segment of another."""
    if len(inner) == len(outer) == 1:
        return outer[0][0] <= inner[0][0] and inner[0][1] <= outer[0][1]
    for first, last in inner:
        index = bisect_right(outer, first, key=_begin) - 1
        if index < 0 or last > outer[index][1]:
            return False
    return True


def place(mention: Mention, name: str = "span") -> Region | Boxes:
    """A region of a mention by its name: segments, or boxes where the source is an image; empty if it has none."""
    return mention.boxes.get(name, ()) if mention.boxes else getattr(mention, name) or ()


def extension(region: Region | Boxes) -> float:
    """The length, duration or area of the source that a region covers."""
    if region and len(region[0]) == 5:
        return _area(region)
    return size(region)  # type: ignore[arg-type]


def shared(one: Region | Boxes, other: Region | Boxes) -> float:
    """The length, duration or area of the source that two regions of one unit both cover."""
    if not one or not other:
        return 0
    if len(one[0]) == 5:
        return _area(_intersections(one, other))  # type: ignore[arg-type]
    if len(one) == len(other) == 1:
        return max(0, min(one[0][1], other[0][1]) - max(one[0][0], other[0][0]))
    return _common_length(one, other)  # type: ignore[arg-type]


def _common_length(one: Region, other: Region) -> int:
    """Advance along both regions, whose segments are in order, past the segment that ends first."""
    length = first = second = 0
    while first < len(one) and second < len(other):
        end = min(one[first][1], other[second][1])
        length += max(0, end - max(one[first][0], other[second][0]))
        if one[first][1] == end:
            first += 1
        else:
            second += 1
    return length


def _intersections(one: Boxes, other: Boxes) -> Iterator[Box]:
    """The boxes that each two boxes of one page have in common."""
    for page, left, top, width, height in one:
        for other_page, other_left, other_top, other_width, other_height in other:
            begin, upper = max(left, other_left), max(top, other_top)
            end, lower = min(left + width, other_left + other_width), min(top + height, other_top + other_height)
            if page == other_page and begin < end and upper < lower:
                yield page, begin, upper, end - begin, lower - upper


def _area(boxes: Iterable[Box]) -> float:
    """The area that boxes cover together."""
    pages: dict[int, list[Box]] = {}
    for box in boxes:
        pages.setdefault(box[0], []).append(box)
    return fsum([strip for page in pages.values() for strip in _strips(page)])


def _strips(boxes: Sequence[Box]) -> list[float]:
    """The covered areas of the upright strips between the edges of boxes of one page."""
    if len(boxes) == 1:
        return [boxes[0][3] * boxes[0][4]]
    edges = sorted({edge for _, left, _, width, _ in boxes for edge in (left, left + width)})
    strips = []
    for begin, end in pairwise(edges):
        covering = [box for box in boxes if box[1] <= begin and end <= box[1] + box[3]]
        heights = union([(top, top + height) for _, _, top, _, height in covering])  # type: ignore[misc]
        strips.append((end - begin) * fsum([lower - upper for upper, lower in heights]))
    return strips


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
