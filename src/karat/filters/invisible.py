"""Words that count in no span: scorers v1.0 to v1.7.1 of TAC ignored articles and some pronouns."""

from bisect import bisect_left
from collections.abc import Sequence, Set

from msgspec.structs import replace

from karat.filters import unchanged
from karat.filters.types import NO_FILE, lines_in
from karat.model import Document, Mention, Pair, Region
from karat.plugin import Comparison, Filter, PairTransform
from karat.problems import KaratError, Origin, Report, Rule, quoted

ARTICLES = {"the", "a", "an"}
PRONOUNS = {"you", "he", "she", "we", "my", "your", "her", "our", "who", "what", "where", "when"}
EVMEVAL = frozenset(ARTICLES | PRONOUNS)
"""The list of scorers v1.0 to v1.6.3; v1.7 left out `what`, and since v1.7.2 the list is empty. It also had `I`, which
could match nothing, as tokens are compared in lower case."""

NO_WORDS = Rule(
    "invisible-no-words",
    "fatal",
    "Score spans of tokens whose tables have words (--tokens DIR), or omit --set invisible=...",
)


class Invisible(Filter, frozen=True):
    """Removes the tokens of some words from all spans; a mention that has no other tokens matches nothing, but counts.

    It is for protocols that compare spans by their overlap, such as Dice: others may match mentions without a span by
    their ids.
    """

    words: str = ""
    """`evmeval`, or a file with one word per line; case does not matter. Empty: all words count."""

    def prepare(self, comparison: Comparison, report: Report) -> PairTransform:
        """Remove tokens by their words."""
        del comparison, report
        if not self.words:
            return unchanged
        words = EVMEVAL if self.words == "evmeval" else _words_in(self.words)
        return lambda pair: Pair(_visible(pair.gold, words, "gold"), _visible(pair.system, words, "system"))


def _words_in(file: str) -> Set[str]:
    words = {line.lower() for line in lines_in(file, "words")}
    if not words:
        raise NO_FILE.error("this file has no words", file=file)
    return words


def _visible(document: Document, words: Set[str], origin: Origin) -> Document:
    """The document without tokens of these words."""
    if not document.mentions:
        return document
    if document.unit != "token" or document.forms is None:
        lacking = "has no words of its tokens" if document.unit == "token" else f"has {document.unit} offsets"
        message = f"invisible words cannot be found: document {quoted(document.id)} {lacking}"
        raise KaratError(NO_WORDS.at(message, item=document.mentions[0].id, origin=origin))
    hidden = [token for token, form in enumerate(document.forms) if form.lower() in words]

    def visible(mention: Mention) -> Mention:
        return replace(mention, span=_without(mention.span, hidden))

    return replace(document, mentions=tuple(map(visible, document.mentions)))


def _without(span: Region, hidden: Sequence[int]) -> Region:
    """The span without hidden tokens, which are in order."""
    left: list[tuple[int, int]] = []
    for begin, end in span:
        for token in hidden[bisect_left(hidden, begin) : bisect_left(hidden, end)]:
            if begin < token:
                left.append((begin, token))
            begin = token + 1
        if begin < end:
            left.append((begin, end))
    return tuple(left)


FILTER = Invisible
