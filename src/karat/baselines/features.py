"""What the pairwise classifier knows about two event mentions: each feature with a line on what it says."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.baselines.similarity import DocumentSimilarity, tf_idf
from karat.baselines.texts import EventMention, Text
from karat.limits import check_pairs
from karat.plugin import WordAnalyser
from karat.problems import quoted

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


Values = NDArray[np.float64]
CHUNK = 50_000
LEAD = 3
"""The first sentences, in which news tells what it is about."""


class MentionValues:
    """Values of single mentions that features of pairs are made of, each computed once."""

    def __init__(self, candidates: Candidates) -> None:
        self._texts, self._mentions = candidates.texts, candidates.mentions
        self._vectors: dict[Bag, Any] = {}

    @cached_property
    def lemmas(self) -> NDArray[np.int64]:
        """The head lemmas, as numbers."""
        return self._numbered(lambda one: one.lemma)

    @cached_property
    def parts(self) -> NDArray[np.int64]:
        """The parts of speech of the heads, as numbers."""
        return self._numbered(lambda one: one.part)

    @cached_property
    def frames(self) -> NDArray[np.int64]:
        """The frames that they evoke, as numbers."""
        return self._numbered(lambda one: one.frame or "")

    @cached_property
    def has_frame(self) -> NDArray[np.bool_]:
        """Whether the frame is known."""
        return self._each(lambda one: one.frame is not None)

    @cached_property
    def documents(self) -> NDArray[np.int64]:
        """The numbers of their documents."""
        return self._each(lambda one: one.document)

    @cached_property
    def sentences(self) -> NDArray[np.int64]:
        """The numbers of their sentences, ten at most."""
        return self._each(lambda one: min(one.sentence, 10))

    @cached_property
    def is_in_lead(self) -> NDArray[np.bool_]:
        """Whether they are in the first sentences of their documents."""
        return self._each(lambda one: one.sentence < LEAD)

    @cached_property
    def rarity(self) -> Values:
        """ln(documents / documents in which the lemma is that of an event's head)."""
        heads = {(one.document, one.lemma) for one in self._mentions}
        return self._rarity(Counter(lemma for _, lemma in heads))

    @cached_property
    def word_rarity(self) -> Values:
        """ln(documents / documents in which the lemma is that of any word)."""
        return self._rarity(Counter(lemma for text in self._texts for lemma in {word.lemma for word in text.words}))

    @cached_property
    def repeated(self) -> Values:
        """ln(how often the document has the head lemma)."""
        times = Counter((one.document, one.lemma) for one in self._mentions)
        logs: Values = np.log(self._each(lambda one: times[one.document, one.lemma]))
        return logs

    def vectors(self, bag: "Bag") -> Any:
        """The tf-idf vectors of bags of words, a sparse matrix."""
        if bag not in self._vectors:
            self._vectors[bag] = tf_idf([bag(one) for one in self._mentions])
        return self._vectors[bag]

    def _rarity(self, having: Counter[str]) -> Values:
        rarity: Values = np.log(len(self._texts) / self._each(lambda one: having[one.lemma]))
        return rarity

    def _each(self, value: Callable[[Described], Any]) -> NDArray[Any]:
        return np.array([value(one) for one in self._mentions])

    def _numbered(self, value: Callable[[Described], str]) -> NDArray[np.int64]:
        numbers: dict[str, int] = {}
        return np.array([numbers.setdefault(value(one), len(numbers)) for one in self._mentions])


class PairValues:
    """Values of some candidate pairs."""

    def __init__(self, mentions: MentionValues, candidates: Candidates, some: slice) -> None:
        self._mentions = mentions
        self._first, self._second = candidates.first[some], candidates.second[some]
        self.documents: Values = candidates.similarity[some]
        """The similarity of their documents."""

    @cached_property
    def same_lemma(self) -> Values:
        """1 if the head lemmas are the same."""
        return self._same(self._mentions.lemmas)

    @cached_property
    def same_part(self) -> Values:
        """1 if the heads have the same part of speech."""
        return self._same(self._mentions.parts)

    @cached_property
    def same_frame(self) -> Values:
        """1 if both evoke the same frame."""
        return self._same(self._mentions.frames) * self._both(self._mentions.has_frame)

    @cached_property
    def same_document(self) -> Values:
        """1 if both are in one document."""
        return self._same(self._mentions.documents)

    @cached_property
    def lead(self) -> Values:
        """1 if both are in the first sentences of their documents."""
        return self._both(self._mentions.is_in_lead)

    @cached_property
    def distance(self) -> Values:
        """How many sentences, ten at most, are between two mentions of one document."""
        sentences = self._mentions.sentences
        apart: Values = np.abs(sentences[self._first] - sentences[self._second]) * self.same_document
        return apart

    @cached_property
    def rarity(self) -> Values:
        """How few documents have the lemma of the first as that of an event."""
        return self._mentions.rarity[self._first]

    @cached_property
    def word_rarity(self) -> Values:
        """How few documents have the lemma of the first at all."""
        return self._mentions.word_rarity[self._first]

    @cached_property
    def repeated(self) -> Values:
        """How often each document has its head lemma, the smaller of both."""
        logs = self._mentions.repeated
        smaller: Values = np.minimum(logs[self._first], logs[self._second])
        return smaller

    def cosine(self, bag: "Bag") -> Values:
        """The cosine of the tf-idf vectors of two bags of words."""
        vectors = self._mentions.vectors(bag)
        products = vectors[self._first].multiply(vectors[self._second])
        return np.asarray(products.sum(axis=1), dtype=np.float64).ravel()

    def _same(self, numbers: NDArray[np.int64]) -> Values:
        return _ones(numbers[self._first] == numbers[self._second])

    def _both(self, conditions: NDArray[np.bool_]) -> Values:
        return _ones(conditions[self._first] & conditions[self._second])


def _ones(condition: NDArray[Any]) -> Values:
    """1 where a condition holds, else 0."""
    return np.asarray(condition, dtype=np.float64)


Bag = Callable[[Described], Sequence[str]]
"""Some of the words of a mention."""


def _cosine(bag: Bag) -> "Callable[[PairValues], Values]":
    return lambda pairs: pairs.cosine(bag)


class Feature(NamedTuple):
    """A number about two mentions, and what it says."""

    name: str
    says: str
    values: Callable[[PairValues], Values]


FEATURES = (
    Feature("lemma", "whether the head lemmas are the same", lambda pairs: pairs.same_lemma),
    Feature("spelling", "how alike they are spelt (trigrams)", _cosine(lambda one: one.trigrams)),
    Feature("part of speech", "whether both are verbs, or both are nouns", lambda pairs: pairs.same_part),
    Feature("words", "how alike the whole mentions are", _cosine(lambda one: one.words)),
    Feature("sentence", "how alike their sentences are", _cosine(lambda one: one.context)),
    Feature("near", "how alike the four words on both sides are", _cosine(lambda one: one.near)),
    Feature("names", "whether sentences name the same", _cosine(lambda one: one.names)),
    Feature("before", "whether the names before them are the same", _cosine(lambda one: one.before)),
    Feature("after", "whether the names after them are the same", _cosine(lambda one: one.after)),
    Feature("events", "whether sentences have the same other events", _cosine(lambda one: one.events)),
    Feature("arguments", "how alike their arguments are", _cosine(lambda one: one.arguments)),
    Feature("frame", "whether they evoke the same frame", lambda pairs: pairs.same_frame),
    Feature("documents", "how similar their documents are", lambda pairs: pairs.documents),
    Feature("one document", "whether both are in one document", lambda pairs: pairs.same_document),
    Feature("lead", "whether both are in the first three sentences", lambda pairs: pairs.lead),
    Feature("distance", "how many sentences apart, in one document", lambda pairs: pairs.distance),
)
"""Every feature counts for all pairs."""

OF_SAME_LEMMA = (
    Feature("rarity", "how few documents have the lemma as an event", lambda pairs: pairs.rarity),
    Feature("word rarity", "how few documents have the lemma at all", lambda pairs: pairs.word_rarity),
    Feature("rare and similar", "the same, in similar documents", lambda pairs: pairs.word_rarity * pairs.documents),
    Feature("repeated", "how often both documents have it", lambda pairs: pairs.repeated),
)
"""These count only if the head lemmas are the same, and those above have another weight then."""


COLUMNS = len(FEATURES) + len(FEATURES[2:]) + len(OF_SAME_LEMMA)
"""Numbers about each pair: all features, and again those of pairs with the same lemma."""


def matrices(candidates: Candidates) -> Iterator[tuple[slice, Values]]:
    """The features of some pairs after others, with their place among all: one row per pair.

    What goes into the features of a million pairs would fill the memory.
    """
    mentions = MentionValues(candidates)
    for begin in range(0, len(candidates.first), CHUNK):
        some = slice(begin, begin + CHUNK)
        pairs = PairValues(mentions, candidates, some)
        general = [feature.values(pairs) for feature in FEATURES]
        lexical = [*general[2:], *(feature.values(pairs) for feature in OF_SAME_LEMMA)]
        yield some, np.column_stack([*general, *(values * pairs.same_lemma for values in lexical)])


def matrix(candidates: Candidates) -> Values:
    """The features of all pairs."""
    found = np.empty((len(candidates.first), COLUMNS))
    for some, values in matrices(candidates):
        found[some] = values
    return found
