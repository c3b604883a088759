"""The text of a document as a page shows it, and where mentions are in it."""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

from karat.model import Document, Mention, Region
from karat.report.html.records import Segments

UNKNOWN_FORM = "…"
"""Stands for a token whose form is not known."""


class ShownText:
    """The text of a document: its own, or that of its tokens, one sentence per line. None if neither is known."""

    def __init__(self, sources: Sequence[Document]) -> None:
        """`sources` are the sides of the document; the first one with a text gives it."""
        self.text: str | None = None
        self._tokens: Sequence[tuple[int, int]] | None = None
        self._empty: Sequence[int] = ()
        for document in sources:
            self._take(document)
            if self.text is not None:
                break
        self._units = _utf16_positions(self.text or "")

    def _take(self, document: Document) -> None:
        if document.unit == "char" and document.text is not None:
            self.text = document.text
        elif document.unit == "token" and document.text is not None and document.tokens is not None:
            self.text, self._tokens = document.text, document.tokens
        elif document.unit == "token" and document.forms is not None:
            self.text, self._tokens = _joined(document)
        self._empty = [node.token for node in document.empty_nodes]

    def place(self, mention: Mention, document: Document) -> Segments:
        """The segments of a mention of one side in UTF-16 code units; empty if they are not in the text."""
        if self.text is None or document.unit not in ("char", "token"):
            return []
        segments = mention.span if document.unit == "char" else self._of_tokens(mention.span, document)
        length = len(self.text)
        inside = [(begin, min(end, length)) for begin, end in segments if 0 <= begin < length]
        return inside if self._units is None else [(self._units[begin], self._units[end]) for begin, end in inside]

    def _of_tokens(self, span: Region, document: Document) -> Region:
        if self._tokens is None:
            return ()
        empty = [node.token for node in document.empty_nodes]
        most = len(self._tokens) + len(empty)  # a span may claim any number of tokens
        pieces = [(begin, min(end, most)) for begin, end in span]
        if empty != list(self._empty):  # the sides number their tokens differently: only their words are the same
            words = [token for begin, end in pieces for token in range(begin, end) if token not in empty]
            pieces = [(number, number + 1) for number in (self._number(token, empty) for token in words)]
        runs: list[tuple[int, int]] = []
        for begin, end in pieces:
            end = min(end, len(self._tokens))
            if runs and runs[-1][1] == begin < end:
                runs[-1] = runs[-1][0], end
            elif begin < end:
                runs.append((begin, end))
        return tuple((self._tokens[first][0], self._tokens[last - 1][1]) for first, last in runs)

    def _number(self, token: int, empty: Sequence[int]) -> int:
        """The number here of a word of another side, which has other empty nodes."""
        number = token - bisect_left(empty, token)
        for node in self._empty:
            number += node <= number
        return number


def _joined(document: Document) -> tuple[str, list[tuple[int, int]]]:
    """Forms with blanks between them, each sentence on a line of its own; and the place of each."""
    forms = [form or UNKNOWN_FORM for form in document.forms or ()]
    begins = {sentence.begin for sentence in document.sentences} - {0}
    pieces, tokens, at = [], [], 0
    for number, form in enumerate(forms):
        separator = "" if number == 0 else "\n" if number in begins else " "
        at += len(separator)
        pieces += [separator, form]
        tokens.append((at, at + len(form)))
        at += len(form)
    return "".join(pieces), tokens


def _utf16_positions(text: str) -> list[int] | None:
    """The position of each character in UTF-16 code units; None if it is just its number."""
    if text.isascii() or max(text) <= "\uffff":
        return None
    return [0, *accumulate(1 + (character > "\uffff") for character in text)]
