"""Candidate pairs of event mentions: both in one document, or in documents that are similar enough."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.baselines.similarity import DocumentSimilarity
from karat.baselines.texts import EventMention, ReadWords, Text
from karat.errors import Rule
from karat.model.allowance import Allowance
from karat.plugin import WordAnalyser

NEAR = 4
NAMES_WITHIN = 8
SAME_DOCUMENT = 0.6
"""The similarity of a document to itself: as of two about the same event, so that other features tell them apart."""

TIMES, ALWAYS = 2, 100_000
"""Pairs that are compared: so many for each character of the texts, and some more. A pair takes 10 microseconds and
half a kilobyte. ECB+ has one pair per character."""
TOO_MANY = Rule("baseline-too-many-pairs", "fatal", "Use some topics at a time (--topics), or a part of the corpus.")

Arguments = Callable[[Text, EventMention], Sequence[str]]
"""The words of an event's arguments."""


class Described(NamedTuple):
    """An event mention in the words that features compare."""

    document: int
    sentence: int
    lemma: str
    part: str
    trigrams: list[str]
    words: list[str]
    context: list[str]
    near: list[str]
    names: list[str]
    before: list[str]
    after: list[str]
    events: list[str]
    arguments: Sequence[str]
    frame: str | None


class Candidates(NamedTuple):
    """Pairs of mentions, by their numbers."""

    texts: Sequence[Text]
    mentions: list[Described]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    similarity: NDArray[np.float64]
    """Of their documents."""


def candidates(texts: Sequence[Text], *, gate: float, analyser: WordAnalyser, arguments: Arguments) -> Candidates:
    """All pairs in one document, and all in documents with at least the similarity `gate`."""
    mentions, numbers = described(texts, analyser, arguments)
    compared = _ComparedPairs(texts)
    compared.add(sum(comb(len(own), 2) for own in numbers))
    blocks = [_within(own) for own in numbers]
    values = [np.full(len(first), SAME_DOCUMENT) for first, _ in blocks]
    for one, other, similarity in DocumentSimilarity(texts).at_least(gate):
        compared.add(len(numbers[one]) * len(numbers[other]))
        first, second = np.meshgrid(numbers[one], numbers[other], indexing="ij")
        blocks.append((first.ravel(), second.ravel()))
        values.append(np.full(first.size, similarity))
    firsts, seconds = (np.concatenate(side) for side in zip(*blocks, strict=True))
    return Candidates(texts, mentions, firsts, seconds, np.concatenate(values))


class _ComparedPairs:
    """Counts the pairs that are compared, and refuses too many."""

    def __init__(self, texts: Sequence[Text]) -> None:
        characters = sum(len(word.form) + 1 for text in texts for word in text.words)
        self._allowance = Allowance(characters, times=TIMES, always=ALWAYS)

    def add(self, count: int) -> None:
        """Compare some more."""
        if self._allowance.is_exceeded_by(count):
            most, known = self._allowance.most, self._allowance.known
            found = f"more than {most:,} pairs of event mentions are in one document or in similar documents"
            raise TOO_MANY.error(f"{found}, the most that are compared in texts of {known:,} characters")


def described(
    texts: Sequence[Text], analyser: WordAnalyser, arguments: Arguments
) -> tuple[list[Described], list[NDArray[np.int64]]]:
    """The event mentions of all documents, and the numbers of those of each document."""
    mentions: list[Described] = []
    numbers: list[NDArray[np.int64]] = []
    for number, text in enumerate(texts):
        begin = len(mentions)
        around = _Surroundings(text)
        mentions += [_described(number, text, mention, around, analyser, arguments) for mention in text.mentions]
        numbers.append(np.arange(begin, len(mentions)))
    return mentions, numbers


def _within(numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    first, second = np.triu_indices(len(numbers), 1)
    return numbers[first], numbers[second]


class _Surroundings:
    """What is around the event mentions of a document."""

    def __init__(self, text: Text) -> None:
        self._text = text
        self._heads = sorted((mention.head, at) for at, mention in enumerate(text.mentions))
        self.read = ReadWords(text.document, len(text.words), "the sentences around the mentions")

    def of(self, mention: EventMention) -> tuple[range, list[str]]:
        """The sentence of a mention, and the lemmas of the other events in it, in the order of the document."""
        text = self._text
        sentence = text.sentence(mention.head)
        first, last = (bisect_left(self._heads, (place,)) for place in (sentence.start, sentence.stop))
        self.read.add(len(sentence) + last - first)
        others = (text.mentions[at] for at in sorted(at for _, at in self._heads[first:last]))
        return sentence, [text.lemma(other) for other in others if other is not mention]


def _described(
    document: int,
    text: Text,
    mention: EventMention,
    surroundings: _Surroundings,
    analyser: WordAnalyser,
    arguments: Arguments,
) -> Described:
    head, own = mention.head, set(mention.places)
    sentence, others = surroundings.of(mention)
    around = [place for place in sentence if place not in own and _is_word(text, place)]
    names = [place for place in around if _is_name(text, place)]
    word = text.words[head]
    lemmas = {place: text.words[place].lemma for place in (*around, *own)}
    spelt = f"#{word.lemma}#"
    filled = arguments(text, mention)
    surroundings.read.add(len(filled))
    return Described(
        document,
        text.sentence_number(head),
        word.lemma,
        word.part,
        [spelt[at : at + 3] for at in range(len(spelt) - 2)],
        [lemmas[place] for place in mention.places],
        [lemmas[place] for place in around],
        [lemmas[place] for place in around if abs(place - head) <= NEAR],
        [_lower(text, place) for place in names if place != sentence.start],
        [_lower(text, place) for place in names if head - NAMES_WITHIN <= place < head],
        [_lower(text, place) for place in names if head < place <= head + NAMES_WITHIN],
        others,
        filled,
        analyser.frame(text.document, mention.mention),
    )


def _is_word(text: Text, place: int) -> bool:
    return any(map(str.isalnum, text.words[place].form))


def _is_name(text: Text, place: int) -> bool:
    """A capital letter or a digit."""
    first = text.words[place].form[0]
    return first.isupper() or first.isdigit()


def _lower(text: Text, place: int) -> str:
    return text.words[place].form.lower()
