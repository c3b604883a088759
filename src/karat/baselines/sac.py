"""SAC: supervised agglomerative clustering (Upadhyay et al. 2016, section 6).

A logistic regression learns from training documents how likely two event mentions corefer. Clusters of mentions are
then merged greedily by the average of these probabilities. Only mentions in one document or in documents with a tf-idf
similarity of at least delta can bring clusters together.
"""

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.baselines.features import COLUMNS, Arguments, Candidates, candidates, matrices, numbered
from karat.baselines.similarity import Clusters, library
from karat.baselines.texts import EventMention, Text, gold_clusters
from karat.corpus.interface import Progress
from karat.plugin import WordAnalyser
from karat.problems import Rule

STOP = 0.4
"""The least average probability that merges two clusters; chosen on the first 23 topics of ECB+, see the docs."""
TOPICS = 3
"""A lemma that is the head in this many training topics has a weight of its own: `say` means less than `explode`."""
WEIGHT = 0.3
"""Trust in the weights of lemmas, compared with those of features."""
LEAST = 0.01
"""Pairs that are less likely than this count as 0: they are most pairs, and cannot bring two clusters together."""

CONSTANT = 1e-12
"""The standard deviation of a feature that is the same for all pairs, up to rounding; it is not scaled."""
TOLERANCE = 1e-8
"""The tolerance of the regression: with a larger one, weights would depend on how the processor rounds."""

STEPS = 3
"""Steps of training: pairs of mentions, their features, the regression."""

ONE_SIDED = Rule("baseline-training", "fatal", "Train on topics with mentions that corefer and others that do not.")


class Classifier:
    """Coreference probabilities of two event mentions, learned from documents with coreference."""

    def __init__(
        self,
        texts: Sequence[Text],
        *,
        delta: float,
        analyser: WordAnalyser,
        gold_arguments: bool = False,
        on_step: Progress | None = None,
    ) -> None:
        """Learn from texts; `on_step` is called after each of the `STEPS`."""
        step = (lambda *_: None) if on_step is None else on_step
        self._delta, self._analyser = delta, analyser
        self._arguments: Arguments = _gold_arguments if gold_arguments else self._analysed_arguments
        pairs = self.candidates(texts)
        step(1, STEPS)
        corefer = _corefer(pairs)
        if corefer.all() or not corefer.any():
            raise ONE_SIDED.error("all pairs of mentions in the training documents are alike: coreferent or not")
        self._lemmas = _frequent_lemmas(texts)
        self._model = library("sklearn.linear_model").LogisticRegression(solver="newton-cholesky", tol=TOLERANCE)
        entries = np.empty((len(pairs.first), COLUMNS + 1))
        for some, values in matrices(pairs):
            entries[some, :COLUMNS] = values
        self._means = entries[:, :COLUMNS].mean(axis=0)
        deviations = np.array([column.std() for column in entries[:, :COLUMNS].T])
        self._scales = np.where(deviations > CONSTANT, deviations, 1.0)
        step(2, STEPS)
        self._model.fit(self._rows(entries, self._shared_lemmas(pairs)), corefer)
        step(STEPS, STEPS)

    def candidates(self, texts: Sequence[Text]) -> Candidates:
        """Return the pairs that can bring clusters together."""
        return candidates(texts, gate=self._delta, analyser=self._analyser, arguments=self._arguments)

    def probabilities(self, pairs: Candidates) -> NDArray[np.float64]:
        """Return the probability that each pair corefers."""
        lemmas = self._shared_lemmas(pairs)
        probabilities = np.empty(len(lemmas))
        for some, values in matrices(pairs):
            entries = np.empty((len(values), COLUMNS + 1))
            entries[:, :COLUMNS] = values
            probabilities[some] = self._model.predict_proba(self._rows(entries, lemmas[some]))[:, 1]
        return probabilities

    def _rows(self, entries: NDArray[np.float64], lemmas: NDArray[np.int64]) -> Any:
        """Scale the features of each pair in place, and return them with the frequent lemma that both heads have.

        `entries` has a further column for the lemma. So each row has the same number of entries.
        """
        from scipy.sparse import csr_array

        features = entries[:, :COLUMNS]
        features -= self._means
        features /= self._scales
        entries[:, COLUMNS] = np.where(lemmas >= 0, WEIGHT, 0.0)
        columns = np.empty(entries.shape, dtype=np.int32)
        columns[:] = np.arange(COLUMNS + 1)
        columns[:, COLUMNS] += np.maximum(lemmas, 0)
        ends = np.arange(len(entries) + 1, dtype=np.int32) * (COLUMNS + 1)
        shape = len(entries), COLUMNS + max(len(self._lemmas), 1)
        return csr_array((entries.ravel(), columns.ravel(), ends), shape=shape)

    def _shared_lemmas(self, pairs: Candidates) -> NDArray[np.int64]:
        """Return for each pair the index of the frequent lemma that both heads have, or -1."""
        lemmas = np.array([self._lemmas.get(mention.lemma, -1) for mention in pairs.mentions], dtype=np.int64)
        first, second = lemmas[pairs.first], lemmas[pairs.second]
        return np.where(first == second, first, -1)

    def _analysed_arguments(self, text: Text, mention: EventMention) -> Sequence[str]:
        return self._analyser.arguments(text.document, mention.mention)


def sac(texts: Sequence[Text], classifier: Classifier, *, stop: float = STOP) -> Clusters:
    """Cluster the event mentions of some documents."""
    pairs = classifier.candidates(texts)
    return clusters(texts, pairs, classifier.probabilities(pairs), stop=stop)


def clusters(texts: Sequence[Text], pairs: Candidates, probabilities: NDArray[np.float64], *, stop: float) -> Clusters:
    """Cluster by given probabilities, so that several values of `stop` can be tried."""
    labels = iter(numbered(agglomerate(len(pairs.mentions), pairs.first, pairs.second, probabilities, stop=stop)))
    return [[f"cluster {next(labels)}" for _ in text.mentions] for text in texts]


def _corefer(pairs: Candidates) -> NDArray[np.bool_]:
    """Check which pairs corefer in gold."""
    gold = numbered(gold_clusters(pairs.texts))
    return np.asarray(gold[pairs.first] == gold[pairs.second])


def _frequent_lemmas(texts: Sequence[Text]) -> dict[str, int]:
    """Number the head lemmas of several topics; a document without a topic is one of its own."""
    topics: dict[str, set[str]] = {}
    for text in texts:
        for mention in text.mentions:
            topics.setdefault(text.lemma(mention), set()).add(text.document.topic or text.document.id)
    frequent = sorted(lemma for lemma, having in topics.items() if len(having) >= TOPICS)
    return {lemma: index for index, lemma in enumerate(frequent)}


def _gold_arguments(text: Text, mention: EventMention) -> list[str]:
    """Words of gold's other mentions, such as participants, times and places, in the sentence of an event."""
    sentence = text.sentence(mention.head)
    return [text.words[place].lemma for places in text.others for place in sorted(places) if place in sentence]


def agglomerate(
    count: int, first: NDArray[np.int64], second: NDArray[np.int64], similarity: NDArray[np.float64], *, stop: float
) -> list[int]:
    """Cluster items: the two clusters with the highest average similarity are merged, until it is too low.

    Pairs of items that are not given have the similarity 0.
    """
    kept = np.flatnonzero(similarity >= LEAST)
    items = list(range(count))  # each number is one object, in whichever places
    sums: list[dict[int, float]] = [{} for _ in items]
    """For each cluster the sum of similarities to each other cluster."""
    queue: list[tuple[float, int, int]] = []
    for edge in kept.tolist():
        left, right, value = items[first[edge]], items[second[edge]], float(similarity[edge])
        sums[left][right] = sums[right][left] = value
        if value >= stop:
            queue.append((-value, left, right))
    sizes = [1] * count
    merged_into: dict[int, int] = {}
    heapify(queue)
    while queue:
        average, left, right = heappop(queue)
        if left in merged_into or right in merged_into:
            continue
        assert -average == sums[left][right] / (sizes[left] * sizes[right])
        new = len(sums)
        merged_into[left] = merged_into[right] = new
        sizes.append(sizes[left] + sizes[right])
        sums.append({})
        for old in (left, right):
            for neighbour, value in sums[old].items():
                if neighbour not in merged_into:
                    sums[new][neighbour] = sums[new].get(neighbour, 0.0) + value
                    del sums[neighbour][old]
        for neighbour, value in sums[new].items():
            sums[neighbour][new] = value
            average = value / (sizes[new] * sizes[neighbour])
            if average >= stop:
                heappush(queue, (-average, neighbour, new))
    return [_last(item, merged_into) for item in range(count)]


def _last(item: int, merged_into: dict[int, int]) -> int:
    while item in merged_into:
        item = merged_into[item]
    return item
