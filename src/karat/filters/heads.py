"""Heads of mentions, for protocols that match by head."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Literal

from msgspec.structs import replace

from karat.errors import Finding, KaratError, Origin, Report, Rule
from karat.filters import unchanged
from karat.model import Document, Mention, Pair
from karat.model.arguments import events_of
from karat.model.regions import size
from karat.model.texts import has_article, words_of
from karat.plugin import Comparison, CorpusTransform, DocumentCheck, Filter, PairTransform

ABSENT = Rule(
    "heads-absent",
    "fatal",
    "Give the head of each mention, or choose another match, such as --set match=exact.",
)
FIRST_WORD = Rule("heads-first-word", "note", "Give the heads if you know them: the score depends on them.")


Whose = Literal["mentions", "arguments"]


class Heads(Filter, frozen=True):
    """Mentions of several words must have a head: without one they are refused, or their first word is the head."""

    match: str = "head"
    """How mentions are matched; the filter acts only if it is `head`."""
    missing: Literal["refuse", "first-word"] = "refuse"
    of: Whose = "mentions"
    """Which mentions must have one: all, or only those that fill a role of an event."""
    trim: bool = False
    """Whether a leading article of a gold argument is no word of it."""

    def prepare(self, comparison: Comparison, report: Report) -> PairTransform:
        """Count missing heads, or fill them in."""
        del comparison, report
        return _Heads(self.missing, self.of, trim=self.trim) if self.match == "head" else unchanged

    def checks(self) -> Sequence[DocumentCheck]:
        """Heads that are missing, where that is refused; as on the system's side, an article is a word."""
        return (partial(_missing, of=self.of),) if self.match == "head" and self.missing == "refuse" else ()


def _missing(document: Document, *, of: Whose) -> Iterator[Finding]:
    if lacking := _lacking(document, of, trim=False):
        yield ABSENT.at(_unmatched(f"{len(lacking):,}", of, len(lacking)), item=lacking[0].id)


class _Heads(CorpusTransform):
    """Counts mentions of several words without a head."""

    merges = True
    pair_by_pair = True

    def __init__(self, missing: str, of: Whose = "mentions", *, trim: bool = False) -> None:
        self._fill = missing == "first-word"
        self._of, self._trim = of, trim
        self._counts: dict[Origin, int] = {"gold": 0, "system": 0}
        self._first: tuple[Origin, str, str] | None = None
        """Side, document and id of the first such mention."""

    def __call__(self, pair: Pair) -> Pair:
        """The pair with the heads that are needed."""
        gold, system = self._side("gold", pair.gold), self._side("system", pair.system)
        return Pair(gold, system) if self._fill else pair

    def _side(self, origin: Origin, document: Document) -> Document:
        lacking = _lacking(document, self._of, trim=self._trim and origin == "gold")
        if lacking:
            self._counts[origin] += len(lacking)
            self._first = self._first or (origin, document.id, lacking[0].id)
        return replace(document, mentions=tuple(map(_with_head, document.mentions))) if self._fill else document

    def merge(self, later: "_Heads") -> None:
        """Add the counts of later pairs."""
        for origin, count in later._counts.items():
            self._counts[origin] += count
        self._first = self._first or later._first

    def finish(self, report: Report) -> None:
        """Report how many heads are missing, or refuse them."""
        if self._first is None:
            return
        origin, document, item = self._first
        numbers = " and ".join(f"{count:,} {side}" for side, count in self._counts.items() if count)
        count = sum(self._counts.values())
        if self._fill:
            message = f"{_headless(numbers, self._of, count)}: the first word is taken"
            report(FIRST_WORD.at(message, item=item, origin=origin, document=document))
        else:
            message = _unmatched(numbers, self._of, count)
            raise KaratError(ABSENT.at(message, item=item, origin=origin, document=document))


def _headless(numbers: str, of: Whose, count: int) -> str:
    return f"{numbers} {of.removesuffix('s')}{'s' * (count > 1)} of several words without a head"


def _unmatched(numbers: str, of: Whose, count: int) -> str:
    return f"{_headless(numbers, of, count)}: {of} cannot be matched by their heads"


def _lacking(document: Document, of: Whose, *, trim: bool) -> list[Mention]:
    """Mentions of several words without a head; with `trim`, a leading article is no word."""
    if of == "mentions":
        return [mention for mention in document.mentions if mention.head is None and size(mention.span) > 1]
    fillers = {
        mention.id: mention
        for event in events_of(document)
        for argument in event.arguments
        for mention in argument.mentions
        if mention.head is None
    }
    return [one for one in fillers.values() if _has_several_words(one, document, trim=trim)]


def _has_several_words(mention: Mention, document: Document, *, trim: bool) -> bool:
    words = words_of(mention, document)
    return len(words) > 1 + (trim and has_article(words))


def _with_head(mention: Mention) -> Mention:
    if mention.head is not None or not mention.span:
        return mention
    begin = mention.span[0][0]
    return replace(mention, head=((begin, begin + 1),))


FILTER = Heads
