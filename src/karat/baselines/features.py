"""Features of the pairwise classifier: numbers about two event mentions, each with an explanation."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
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
    """Pairs of mentions, by their indices."""

    texts: Sequence[Text]
    mentions: list[Described]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    similarity: NDArray[np.float64]
    """The similarity of their documents."""


def candidates(texts: Sequence[Text], *, gate: float, analyser: WordAnalyser, arguments: Arguments) -> Candidates:
    """Return all pairs in one document, and all in documents with at least the similarity `gate`."""
    mentions, numbers = described(texts, analyser, arguments)
    blocks = []
    for text, indices in zip(texts, numbers, strict=True):
        check_pairs(comb(len(indices), 2), "pairs of event mentions", where=f"document {quoted(text.document.id)}")
        above, below = np.triu_indices(len(indices), 1)
        blocks.append((indices[above], indices[below]))
    values = [np.full(len(first), SAME_DOCUMENT) for first, _ in blocks]
    for left, right, similarity in DocumentSimilarity(texts).at_least(gate):
        count = len(numbers[left]) * len(numbers[right])
        where = f"document {quoted(texts[left].document.id)}"
        check_pairs(count, "pairs of event mentions with those of a similar one", where=where)
        first, second = np.meshgrid(numbers[left], numbers[right], indexing="ij")
        blocks.append((first.ravel(), second.ravel()))
        values.append(np.full(first.size, similarity))
    firsts, seconds = (np.concatenate(side) for side in zip(*blocks, strict=True))
    return Candidates(texts, mentions, firsts, seconds, np.concatenate(values))


def described(
    texts: Sequence[Text], analyser: WordAnalyser, arguments: Arguments
) -> tuple[list[Described], list[NDArray[np.int64]]]:
    """Describe the event mentions of all documents; return them, and the indices of those of each document."""
    mentions: list[Described] = []
    numbers: list[NDArray[np.int64]] = []
    for index, text in enumerate(texts):
        begin = len(mentions)
        mentions += [_described(index, text, mention, analyser, arguments) for mention in text.mentions]
        numbers.append(np.arange(begin, len(mentions)))
    return mentions, numbers


def _described(
    document: int, text: Text, mention: EventMention, analyser: WordAnalyser, arguments: Arguments
) -> Described:
    head, inside = mention.head, set(mention.places)
    sentence = text.sentence(head)
    around = [place for place in sentence if place not in inside and _is_word(text, place)]
    names = [place for place in around if _is_name(text, place)]
    word = text.words[head]
    lemmas = {place: text.words[place].lemma for place in (*around, *inside)}
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
    """Check for a capital letter or a digit."""
    first = text.words[place].form[0]
    return first.isupper() or first.isdigit()


def _lower(text: Text, place: int) -> str:
    return text.words[place].form.lower()


Values = NDArray[np.float64]
CHUNK = 50_000
LEAD = 3
"""The first sentences, in which news tells what it is about."""
FAR = 10
"""Sentences after this one count as equally far."""

Bag = Callable[[Described], Sequence[str]]
"""Some of the words of a mention."""


def numbered(keys: Iterable[Hashable]) -> NDArray[np.int64]:
    """Number keys in the order of their first occurrence."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


class MentionValues:
    """Values of single mentions that features of pairs are made of, each computed once."""

    def __init__(self, candidates: Candidates) -> None:
        self._texts, self._mentions = candidates.texts, candidates.mentions
        self._vectors: dict[Bag, Any] = {}
        self.lemmas = numbered(mention.lemma for mention in self._mentions)
        self.parts = numbered(mention.part for mention in self._mentions)
        self.frames = numbered(mention.frame or "" for mention in self._mentions)
        self.has_frame = self._each(lambda mention: mention.frame is not None)
        self.documents = self._each(lambda mention: mention.document)
        self.sentences = self._each(lambda mention: min(mention.sentence, FAR))
        self.is_in_lead = self._each(lambda mention: mention.sentence < LEAD)
        heads = Counter(lemma for _, lemma in {(mention.document, mention.lemma) for mention in self._mentions})
        self.rarity = self._rarity(heads)
        """ln(documents / documents in which the lemma is that of an event's head)."""
        words = Counter(lemma for text in self._texts for lemma in {word.lemma for word in text.words})
        self.word_rarity = self._rarity(words)
        """ln(documents / documents in which the lemma is that of any word)."""
        times = Counter((mention.document, mention.lemma) for mention in self._mentions)
        self.repeated: Values = np.log(self._each(lambda mention: times[mention.document, mention.lemma]))
        """ln(occurrences of the head lemma in the document)."""

    def vectors(self, bag: Bag) -> Any:
        """Return the tf-idf vectors of bags of words, a sparse matrix."""
        if bag not in self._vectors:
            self._vectors[bag] = tf_idf([bag(mention) for mention in self._mentions])
        return self._vectors[bag]

    def _rarity(self, having: Counter[str]) -> Values:
        rarity: Values = np.log(len(self._texts) / self._each(lambda mention: having[mention.lemma]))
        return rarity

    def _each(self, value: Callable[[Described], Any]) -> NDArray[Any]:
        return np.array([value(mention) for mention in self._mentions])


class PairValues:
    """Values of some candidate pairs."""

    def __init__(self, mentions: MentionValues, candidates: Candidates, some: slice) -> None:
        self.mentions = mentions
        self.first, self.second = candidates.first[some], candidates.second[some]
        self.similarity: Values = candidates.similarity[some]
        """The similarity of their documents."""
        self.same_lemma = self.same(mentions.lemmas)

    def same(self, numbers: NDArray[np.int64]) -> Values:
        """Return 1 where both mentions have the same number, else 0."""
        return np.asarray(numbers[self.first] == numbers[self.second], dtype=np.float64)

    def both(self, conditions: NDArray[np.bool_]) -> Values:
        """Return 1 where a condition holds for both mentions, else 0."""
        return np.asarray(conditions[self.first] & conditions[self.second], dtype=np.float64)

    def distance(self) -> Values:
        """Return the number of sentences, ten at most, between two mentions of one document."""
        sentences = self.mentions.sentences
        apart: Values = np.abs(sentences[self.first] - sentences[self.second]) * self.same(self.mentions.documents)
        return apart

    def repeated(self) -> Values:
        """Return how often each document has its head lemma, the smaller of both."""
        logs = self.mentions.repeated
        smaller: Values = np.minimum(logs[self.first], logs[self.second])
        return smaller

    def cosine(self, bag: Bag) -> Values:
        """Return the cosine of the tf-idf vectors of two bags of words."""
        vectors = self.mentions.vectors(bag)
        products = vectors[self.first].multiply(vectors[self.second])
        return np.asarray(products.sum(axis=1), dtype=np.float64).ravel()


def _cosine(bag: Bag) -> Callable[[PairValues], Values]:
    return lambda pairs: pairs.cosine(bag)


class Feature(NamedTuple):
    """A number about two mentions, with an explanation."""

    name: str
    says: str
    values: Callable[[PairValues], Values]


FEATURES = (
    Feature("lemma", "whether the head lemmas are the same", lambda pairs: pairs.same_lemma),
    Feature("spelling", "how alike they are spelt (trigrams)", _cosine(lambda mention: mention.trigrams)),
    Feature("part of speech", "whether both are verbs, or both are nouns", lambda p: p.same(p.mentions.parts)),
    Feature("words", "how alike the whole mentions are", _cosine(lambda mention: mention.words)),
    Feature("sentence", "how alike their sentences are", _cosine(lambda mention: mention.context)),
    Feature("near", "how alike the four words on both sides are", _cosine(lambda mention: mention.near)),
    Feature("names", "whether sentences name the same", _cosine(lambda mention: mention.names)),
    Feature("before", "whether the names before them are the same", _cosine(lambda mention: mention.before)),
    Feature("after", "whether the names after them are the same", _cosine(lambda mention: mention.after)),
    Feature("events", "whether sentences have the same other events", _cosine(lambda mention: mention.events)),
    Feature("arguments", "how alike their arguments are", _cosine(lambda mention: mention.arguments)),
    Feature(
        "frame",
        "whether they evoke the same frame",
        lambda pairs: pairs.same(pairs.mentions.frames) * pairs.both(pairs.mentions.has_frame),
    ),
    Feature("documents", "how similar their documents are", lambda pairs: pairs.similarity),
    Feature("one document", "whether both are in one document", lambda p: p.same(p.mentions.documents)),
    Feature("lead", "whether both are in the first three sentences", lambda p: p.both(p.mentions.is_in_lead)),
    Feature("distance", "how many sentences apart, in one document", PairValues.distance),
)
"""Every feature counts for all pairs."""

OF_SAME_LEMMA = (
    Feature("rarity", "how few documents have the lemma as an event", lambda p: p.mentions.rarity[p.first]),
    Feature("word rarity", "how few documents have the lemma at all", lambda p: p.mentions.word_rarity[p.first]),
    Feature(
        "rare and similar",
        "the same, in similar documents",
        lambda pairs: pairs.mentions.word_rarity[pairs.first] * pairs.similarity,
    ),
    Feature("repeated", "how often both documents have it", PairValues.repeated),
)
"""These count only if the head lemmas are the same, and those above have another weight then."""

COLUMNS = len(FEATURES) + len(FEATURES[2:]) + len(OF_SAME_LEMMA)
"""Numbers about each pair: all features, and again those of pairs with the same lemma."""


def matrices(candidates: Candidates) -> Iterator[tuple[slice, Values]]:
    """Yield the features of pairs in chunks, with their slice of all pairs: one row per pair.

    The intermediate values of a million pairs would fill the memory.
    """
    mentions = MentionValues(candidates)
    for begin in range(0, len(candidates.first), CHUNK):
        some = slice(begin, begin + CHUNK)
        pairs = PairValues(mentions, candidates, some)
        general = [feature.values(pairs) for feature in FEATURES]
        lexical = [*general[2:], *(feature.values(pairs) for feature in OF_SAME_LEMMA)]
        yield some, np.column_stack([*general, *(values * pairs.same_lemma for values in lexical)])


def matrix(candidates: Candidates) -> Values:
    """Return the features of all pairs."""
    features = np.empty((len(candidates.first), COLUMNS))
    for some, values in matrices(candidates):
        features[some] = values
    return features
