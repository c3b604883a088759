"""Similarity of documents: the cosine of their tf-idf vectors (Upadhyay et al. 2016, section 6).

A word counts as 1 + ln(its number of occurrences in the document). The vectors are fitted on the documents at hand.
"""

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.baselines.texts import Text
from karat.model import qualified
from karat.problems import Rule, UsageError, install_hint, quoted

NO_TEXT = Rule("baseline-text", "fatal", "Use a corpus with texts or tokens, or a baseline that does not compare them.")


class DocumentSimilarity:
    """The similarity of any two of some documents."""

    def __init__(self, texts: Sequence[Text]) -> None:
        for text in texts:
            if not text.has_context:
                message = f"document {quoted(text.document.id)} has neither text nor tokens to compare with others"
                raise NO_TEXT.error(message)
        self._vectors = tf_idf([[word.lemma for word in text.words if word.form[:1].isalnum()] for text in texts])

    def among(self, documents: Sequence[int]) -> NDArray[np.float64]:
        """Return the similarities of some documents to each other."""
        rows = self._vectors[documents]
        return np.asarray((rows @ rows.T).todense())

    def at_least(self, least: float) -> Iterable[tuple[int, int, float]]:
        """Yield pairs of different documents (first < second) that are at least so similar, with their similarity."""
        for first in range(self._vectors.shape[0]):
            similar = np.asarray((self._vectors[first] @ self._vectors[first + 1 :].T).todense()).ravel()
            for second in np.flatnonzero(similar >= least).tolist():
                yield first, first + 1 + second, float(similar[second])


def tf_idf(bags: Sequence[Sequence[str]]) -> Any:
    """Return a sparse matrix with a unit vector of each bag of words; of an empty bag, zeros."""
    if not any(bags):
        bags = [["-"], *bags[1:]]  # a vocabulary must not be empty; nothing is similar to anything
    return (
        library("sklearn.feature_extraction.text").TfidfVectorizer(analyzer=list, sublinear_tf=True).fit_transform(bags)
    )


def library(module: str) -> Any:
    """Import a module of scikit-learn, which is an extra."""
    try:
        return import_module(module)
    except ModuleNotFoundError:
        message = "this baseline needs the library scikit-learn, which is not installed"
        raise UsageError("extra-missing", message, install_hint("baselines")) from None


Clusters = list[list[str]]
"""The cluster of each event mention of each document."""


def lemma(texts: Sequence[Text]) -> Clusters:
    """Lemma: two mentions corefer if their head lemmas match."""
    return [[text.lemma(mention) for mention in text.mentions] for text in texts]


def lemma_wd(texts: Sequence[Text]) -> Clusters:
    """Lemma-WD: two mentions corefer if their head lemmas match and they are in the same document."""
    return [[qualified(text.document.id, text.lemma(mention)) for mention in text.mentions] for text in texts]


def lemma_delta(texts: Sequence[Text], similarity: DocumentSimilarity, *, delta: float) -> Clusters:
    """Lemma-δ: their head lemmas match and their documents' similarity is at least δ. Links are transitive."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    documents: dict[str, list[int]] = {}
    for index, text in enumerate(texts):
        for word in {text.lemma(mention) for mention in text.mentions}:
            documents.setdefault(word, []).append(index)
    group: dict[tuple[str, int], int] = {}
    for word, having in documents.items():
        linked = csr_array(similarity.among(having) >= delta)
        _, labels = connected_components(linked, directed=False)
        group.update({(word, index): int(label) for index, label in zip(having, labels, strict=True)})
    return [
        [f"{word}.{group[word, index]}" for word in map(text.lemma, text.mentions)] for index, text in enumerate(texts)
    ]
