"""Heads of mentions, for protocols that match by head."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Literal

from msgspec.structs import replace

from karat.arguments import events_of
from karat.filters import both_sides, unchanged
from karat.model import Document, Mention, Pair
from karat.plugin import Comparison, DocumentCheck, Filter, PairTransform
from karat.problems import Finding, Origin, Report, Rule
from karat.regions import size
from karat.words import has_article, words_of

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
    """The match of the protocol; the filter acts only if it is `head`."""
    missing: Literal["refuse", "first-word"] = "refuse"
    of: Whose = "mentions"
    """Which mentions must have one: all, or only those that fill a role of an event."""
    trim: bool = False
    """Ignores a leading article of a gold argument."""

    def prepare(self, comparison: Comparison, report: Report) -> PairTransform:
        """Fill in missing heads, if that is asked for."""
        del comparison, report
        return both_sides(_with_heads) if self.match == "head" and self.missing == "first-word" else unchanged

    def observe(self, pair: Pair, left: Pair) -> Mapping[Origin, tuple[int, str]] | None:
        """Return how many mentions of each side lack a head, and the first of them."""
        del left
        if self.match != "head":
            return None
        sides: dict[Origin, list[Mention]] = {
            "gold": _lacking(pair.gold, self.of, trim=self.trim),
            "system": _lacking(pair.system, self.of, trim=False),
        }
        return {side: (len(lacking), lacking[0].id) for side, lacking in sides.items() if lacking} or None

    def across(self, observed: Mapping[str, Mapping[Origin, tuple[int, str]]]) -> Iterator[Finding]:
        """Report how many heads are missing, or refuse them."""
        counts: Counter[Origin] = Counter()
        for sides in observed.values():
            counts.update({side: count for side, (count, _) in sides.items()})
        document, sides = next(iter(observed.items()))
        origin, (_, item) = next(iter(sides.items()))
        numbers = " and ".join(f"{counts[side]:,} {side}" for side in ("gold", "system") if counts[side])
        if self.missing == "refuse":
            rule, message = ABSENT, _unmatched(numbers, self.of, counts.total())
        else:
            rule, message = FIRST_WORD, f"{_headless(numbers, self.of, counts.total())}: the first word is taken"
        yield rule.at(message, item=item, origin=origin, document=document)

    def checks(self) -> Sequence[DocumentCheck]:
        """Return heads that are missing, where that is refused; as on the system's side, an article is a word."""
        return (partial(_missing, of=self.of),) if self.match == "head" and self.missing == "refuse" else ()


def _missing(document: Document, *, of: Whose) -> Iterator[Finding]:
    if lacking := _lacking(document, of, trim=False):
        yield ABSENT.at(_unmatched(f"{len(lacking):,}", of, len(lacking)), item=lacking[0].id)


def _with_heads(document: Document) -> Document:
    return replace(document, mentions=tuple(map(_with_head, document.mentions)))


def _headless(numbers: str, of: Whose, count: int) -> str:
    return f"{numbers} {of.removesuffix('s')}{'s' * (count > 1)} of several words without a head"


def _unmatched(numbers: str, of: Whose, count: int) -> str:
    return f"{_headless(numbers, of, count)}: {of} cannot be matched by their heads"


def _lacking(document: Document, of: Whose, *, trim: bool) -> list[Mention]:
    """Mentions of several words without a head; with `trim`, a leading article does not count."""
    if of == "mentions":
        return [mention for mention in document.mentions if mention.head is None and size(mention.span) > 1]
    fillers = {
        mention.id: mention
        for event in events_of(document)
        for argument in event.arguments
        for mention in argument.mentions
        if mention.head is None
    }
    return [mention for mention in fillers.values() if _has_several_words(mention, document, trim=trim)]


def _has_several_words(mention: Mention, document: Document, *, trim: bool) -> bool:
    words = words_of(mention, document)
    return len(words) > 1 + (trim and has_article(words))


def _with_head(mention: Mention) -> Mention:
    if mention.head is not None or not mention.span:
        return mention
    begin = mention.span[0][0]
    return replace(mention, head=((begin, begin + 1),))


FILTER = Heads
