"""Pairs of event mentions that may corefer, with their features.

A candidate is a pair of the same topic whose head lemmas are the same or spelt alike. Documents without a topic are
compared if they are similar.
"""

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.baselines.features import SAME_DOCUMENT, Candidates, described, matrix, numbered
from karat.baselines.running import DELTA
from karat.baselines.similarity import DocumentSimilarity, library, tf_idf
from karat.baselines.texts import Text
from karat.limits import check_pairs
from karat.plugin import WordAnalyser
from karat.problems import Rule

PENALTY = 0.5
TOLERANCE = 1e-8
"""The tolerance of the SVM: with a larger one, the order of pairs would depend on how the processor rounds."""


def anchor_weights(rows: Any, is_positive: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the size of each example's anchor weight: 0 for one that the others explain."""
    weights: NDArray[np.float64] = np.maximum(
        0.0, 1 - margins(rows, is_positive, rows) * np.where(is_positive, 1.0, -1.0)
    )
    return weights


def margins(rows: Any, is_positive: NDArray[np.bool_], others: Any) -> NDArray[np.float64]:
    """Train on some examples; return the margins w x of others."""
    svm = library("sklearn.svm")
    model = svm.LinearSVC(C=PENALTY, fit_intercept=False, tol=TOLERANCE, max_iter=10_000, random_state=0)
    values: NDArray[np.float64] = model.fit(rows, is_positive).decision_function(others)
    return values.round(4)  # pairs that are alike differ by less


AT_ONCE = 500
"""Mentions whose heads are compared at once with those of all others."""
ALIKE = 0.4
"""The least cosine of the trigrams of two head lemmas."""

NO_CANDIDATES = Rule("audit-pairs", "fatal", "Audit a corpus in which several mentions of a topic have similar heads.")


class Pairs(NamedTuple):
    """Candidate pairs with their features."""

    candidates: Candidates
    rows: Any
    """The features of each pair, a sparse matrix."""

    @property
    def topics(self) -> list[str]:
        topics = [_topic(self.candidates.texts[mention.document]) for mention in self.candidates.mentions]
        return [topics[first] for first in self.candidates.first.tolist()]


def pairs(texts: Sequence[Text], analyser: WordAnalyser) -> Pairs:
    """Return all candidate pairs of a corpus."""
    mentions, numbers = described(texts, analyser, lambda *_: ())
    spelling = tf_idf([mention.trigrams for mention in mentions])
    similarity = DocumentSimilarity(texts)
    firsts, seconds, similarities, count = [], [], [], 0
    for documents in _comparable(texts, similarity):
        similar = similarity.among(documents)
        place = {document: at for at, document in enumerate(documents)}
        group = np.concatenate([numbers[document] for document in documents])
        at = np.array([place[mentions[index].document] for index in group.tolist()], dtype=np.int64)
        for first, second in _alike(spelling[group]):
            values = np.where(at[first] == at[second], SAME_DOCUMENT, similar[at[first], at[second]])
            firsts.append(group[first])
            seconds.append(group[second])
            similarities.append(values)
            count += len(values)
            check_pairs(count, "or more pairs of event mentions with similar heads", where="the corpus")
    first, second = np.concatenate(firsts), np.concatenate(seconds)
    if not len(first):
        raise NO_CANDIDATES.error("no two event mentions of one topic have similar heads")
    candidates = Candidates(texts, mentions, first, second, np.concatenate(similarities))
    return Pairs(candidates, _rows(candidates))


def _alike(spelling: Any) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield the pairs of rows that are alike, in order. Few are, so the product is computed part by part."""
    from scipy.sparse import triu

    others = spelling.T.tocsr()
    for begin in range(0, spelling.shape[0], AT_ONCE):
        product = triu(spelling[begin : begin + AT_ONCE] @ others, begin + 1, format="csr")
        product.sort_indices()
        listed = product.tocoo()
        chosen = listed.data >= ALIKE
        yield listed.row[chosen] + begin, listed.col[chosen]


def _comparable(texts: Sequence[Text], similarity: DocumentSimilarity) -> list[list[int]]:
    """Return groups of documents whose mentions may corefer: of one topic, or connected by their similarity."""
    groups: dict[str, list[int]] = {}
    for index, text in enumerate(texts):
        groups.setdefault(_topic(text), []).append(index)
    if any(text.document.topic is not None for text in texts):
        return list(groups.values())
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    edges = [(first, second) for first, second, _ in similarity.at_least(DELTA)]
    ends = tuple(zip(*edges, strict=True)) or ((), ())
    graph = csr_array((np.ones(len(edges)), ends), shape=(len(texts), len(texts)))
    _, labels = connected_components(graph, directed=False)
    connected: dict[int, list[int]] = {}
    for index, label in enumerate(labels.tolist()):
        connected.setdefault(label, []).append(index)
    return list(connected.values())


def _topic(text: Text) -> str:
    """Return the topic of a document; one without a topic is a topic of its own."""
    return text.document.topic or f"document {text.document.id}"


def _rows(candidates: Candidates) -> Any:
    """Return the features of the baseline SAC, scaled; the two head lemmas; and the two head lemmas in their topic."""
    from scipy.sparse import csr_array, hstack

    with np.errstate(invalid="ignore"):  # the variance of a constant may be rounded below 0; it is scaled by 1
        scaled = library("sklearn.preprocessing").StandardScaler().fit_transform(matrix(candidates))
    lemmas = [mention.lemma for mention in candidates.mentions]
    topics = [_topic(candidates.texts[mention.document]) for mention in candidates.mentions]
    both = list(zip(candidates.first.tolist(), candidates.second.tolist(), strict=True))
    words: list[Hashable] = [tuple(sorted((lemmas[first], lemmas[second]))) for first, second in both]
    in_topics: list[Hashable] = [(topics[first], word) for (first, _), word in zip(both, words, strict=True)]
    return hstack([csr_array(scaled), csr_array(np.ones((len(both), 1))), _one_hot(words), _one_hot(in_topics)]).tocsr()


def _one_hot(keys: Sequence[Hashable]) -> Any:
    from scipy.sparse import csr_array

    columns = numbered(keys).astype(np.int32)  # LinearSVC takes no wider indices
    rows = np.arange(len(keys), dtype=np.int32)
    return csr_array((np.ones(len(keys)), (rows, columns)), shape=(len(keys), int(columns.max()) + 1))
