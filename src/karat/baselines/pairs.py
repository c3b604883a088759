"""Candidate pairs of event mentions: both in one document, or in documents that are similar enough."""

from collections.abc import Callable, Sequence
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.baselines.similarity import DocumentSimilarity
from karat.baselines.texts import EventMention, Text
from karat.errors import quoted
from karat.limits import check_pairs
from karat.plugin import WordAnalyser

NEAR = 4
NAMES_WITHIN = 8
SAME_DOCUMENT = 0.6
"""The similarity of a document to itself: as of two about the same event, so that other features tell them apart."""

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
    blocks = []
    for text, own in zip(texts, numbers, strict=True):
        check_pairs(comb(len(own), 2), "pairs of event mentions", where=f"document {quoted(text.document.id)}")
        blocks.append(_within(own))
    values = [np.full(len(first), SAME_DOCUMENT) for first, _ in blocks]
    for one, other, similarity in DocumentSimilarity(texts).at_least(gate):
        count = len(numbers[one]) * len(numbers[other])
        where = f"document {quoted(texts[one].document.id)}"
        check_pairs(count, "pairs of event mentions with those of a similar one", where=where)
        first, second = np.meshgrid(numbers[one], numbers[other], indexing="ij")
        blocks.append((first.ravel(), second.ravel()))
        values.append(np.full(first.size, similarity))
    firsts, seconds = (np.concatenate(side) for side in zip(*blocks, strict=True))
    return Candidates(texts, mentions, firsts, seconds, np.concatenate(values))


def described(
    texts: Sequence[Text], analyser: WordAnalyser, arguments: Arguments
) -> tuple[list[Described], list[NDArray[np.int64]]]:
    """The event mentions of all documents, and the numbers of those of each document."""
    mentions: list[Described] = []
    numbers: list[NDArray[np.int64]] = []
    for number, text in enumerate(texts):
        begin = len(mentions)
        mentions += [_described(number, text, mention, analyser, arguments) for mention in text.mentions]
        numbers.append(np.arange(begin, len(mentions)))
    return mentions, numbers


def _within(numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    first, second = np.triu_indices(len(numbers), 1)
    return numbers[first], numbers[second]


def _described(
    document: int,
    text: Text,
    mention: EventMention,
    analyser: WordAnalyser,
    arguments: Arguments,
) -> Described:
    head, own = mention.head, set(mention.places)
    sentence = text.sentence(head)
    around = [place for place in sentence if place not in own and _is_word(text, place)]
    names = [place for place in around if _is_name(text, place)]
    word = text.words[head]
    lemmas = {place: text.words[place].lemma for place in (*around, *own)}
    spelt = f"#{word.lemma}#"
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
        [text.lemma(other) for other in text.mentions if other is not mention and other.head in sentence],
        arguments(text, mention),
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
