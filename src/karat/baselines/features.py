"""What the pairwise classifier knows about two event mentions: each feature with a line on what it says."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.baselines.pairs import Candidates, Described
from karat.baselines.similarity import tf_idf

Values = NDArray[np.float64]
CHUNK = 100_000
LEAD = 3
"""The first sentences, in which news tells what it is about."""


class PairValues:
    """Values of candidate pairs that features are made of, each computed once."""

    def __init__(self, candidates: Candidates) -> None:
        self._all = candidates
        self._first, self._second = candidates.first, candidates.second

    @cached_property
    def same_lemma(self) -> Values:
        """1 if the head lemmas are the same."""
        lemmas = self._numbered(lambda one: one.lemma)
        return _ones(lemmas[self._first] == lemmas[self._second])

    @cached_property
    def same_part(self) -> Values:
        """1 if the heads have the same part of speech."""
        parts = self._numbered(lambda one: one.part)
        return _ones(parts[self._first] == parts[self._second])

    @cached_property
    def same_frame(self) -> Values:
        """1 if both evoke the same frame."""
        frames = self._numbered(lambda one: one.frame or "")
        known = np.array([one.frame is not None for one in self._all.mentions])
        both = known[self._first] & known[self._second]
        return _ones(both & (frames[self._first] == frames[self._second]))

    @cached_property
    def same_document(self) -> Values:
        """1 if both are in one document."""
        documents = self._each(lambda one: one.document)
        return _ones(documents[self._first] == documents[self._second])

    @property
    def documents(self) -> Values:
        """The similarity of their documents."""
        return self._all.similarity

    @cached_property
    def lead(self) -> Values:
        """1 if both are in the first sentences of their documents."""
        early = self._each(lambda one: one.sentence < LEAD)
        return _ones(early[self._first] & early[self._second])

    @cached_property
    def distance(self) -> Values:
        """How many sentences, ten at most, are between two mentions of one document."""
        sentences = self._each(lambda one: min(one.sentence, 10))
        apart: Values = np.abs(sentences[self._first] - sentences[self._second]) * self.same_document
        return apart

    @cached_property
    def rarity(self) -> Values:
        """ln(documents / documents in which the lemma of the first is that of an event's head)."""
        heads = {(one.document, one.lemma) for one in self._all.mentions}
        return self._rarity(Counter(lemma for _, lemma in heads))

    @cached_property
    def word_rarity(self) -> Values:
        """ln(documents / documents in which the lemma of the first is that of any word)."""
        texts = self._all.texts
        return self._rarity(Counter(lemma for text in texts for lemma in {word.lemma for word in text.words}))

    @cached_property
    def repeated(self) -> Values:
        """ln(how often each document has its head lemma), the smaller of both."""
        times = Counter((one.document, one.lemma) for one in self._all.mentions)
        logs = np.log(self._each(lambda one: times[one.document, one.lemma]))
        smaller: Values = np.minimum(logs[self._first], logs[self._second])
        return smaller

    def cosine(self, bag: Callable[[Described], Sequence[str]]) -> Values:
        """The cosine of the tf-idf vectors of two bags of words."""
        vectors = tf_idf([bag(one) for one in self._all.mentions])
        values = np.empty(len(self._first))
        for begin in range(0, len(values), CHUNK):  # rows of all pairs at once would fill the memory
            some = slice(begin, begin + CHUNK)
            products = vectors[self._first[some]].multiply(vectors[self._second[some]])
            values[some] = np.asarray(products.sum(axis=1)).ravel()
        return values

    def _rarity(self, having: Counter[str]) -> Values:
        count = len(self._all.texts)
        return np.log(count / self._each(lambda one: having[one.lemma]))[self._first]

    def _each(self, value: Callable[[Described], Any]) -> NDArray[Any]:
        return np.array([value(one) for one in self._all.mentions])

    def _numbered(self, value: Callable[[Described], str]) -> NDArray[np.int64]:
        numbers: dict[str, int] = {}
        return np.array([numbers.setdefault(value(one), len(numbers)) for one in self._all.mentions])


def _ones(condition: NDArray[Any]) -> Values:
    """1 where a condition holds, else 0."""
    return np.asarray(condition, dtype=np.float64)


class Feature(NamedTuple):
    """A number about two mentions, and what it says."""

    name: str
    says: str
    values: Callable[[PairValues], Values]


FEATURES = (
    Feature("lemma", "whether the head lemmas are the same", lambda pairs: pairs.same_lemma),
    Feature("spelling", "how alike they are spelt (trigrams)", lambda pairs: pairs.cosine(lambda one: one.trigrams)),
    Feature("part of speech", "whether both are verbs, or both are nouns", lambda pairs: pairs.same_part),
    Feature("words", "how alike the whole mentions are", lambda pairs: pairs.cosine(lambda one: one.words)),
    Feature("sentence", "how alike their sentences are", lambda pairs: pairs.cosine(lambda one: one.context)),
    Feature("near", "how alike the four words on both sides are", lambda pairs: pairs.cosine(lambda one: one.near)),
    Feature("names", "whether sentences name the same", lambda pairs: pairs.cosine(lambda one: one.names)),
    Feature("before", "whether the names before them are the same", lambda pairs: pairs.cosine(lambda one: one.before)),
    Feature("after", "whether the names after them are the same", lambda pairs: pairs.cosine(lambda one: one.after)),
    Feature(
        "events", "whether sentences have the same other events", lambda pairs: pairs.cosine(lambda one: one.events)
    ),
    Feature("arguments", "how alike their arguments are", lambda pairs: pairs.cosine(lambda one: one.arguments)),
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


def matrix(candidates: Candidates) -> Values:
    """One row per pair: all features, and again those of pairs with the same lemma."""
    pairs = PairValues(candidates)
    general = [feature.values(pairs) for feature in FEATURES]
    lexical = [*general[2:], *(feature.values(pairs) for feature in OF_SAME_LEMMA)]
    return np.column_stack([*general, *(values * pairs.same_lemma for values in lexical)])
