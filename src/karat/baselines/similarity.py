"""How similar documents are: the cosine of their tf-idf vectors (Upadhyay et al. 2016, section 6).

A word counts as 1 + ln(its number of occurrences in the document). The vectors are fitted on the documents at hand.
"""

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.baselines.texts import Text
from karat.baselines.words import EXTRA
from karat.errors import Rule, UsageError, quoted

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
        """The similarities of some documents to each other."""
        rows = self._vectors[documents]
        return np.asarray((rows @ rows.T).todense())

    def at_least(self, least: float) -> Iterable[tuple[int, int, float]]:
        """Pairs of different documents (first < second) that are so similar, with their similarity."""
        for first in range(self._vectors.shape[0]):
            similar = np.asarray((self._vectors[first] @ self._vectors[first + 1 :].T).todense()).ravel()
            for second in np.flatnonzero(similar >= least).tolist():
                yield first, first + 1 + second, float(similar[second])


def tf_idf(bags: Sequence[Sequence[str]]) -> Any:
    """A sparse matrix with a unit vector of each bag of words; of an empty bag, zeros."""
    if not any(bags):
        bags = [["-"], *bags[1:]]  # a vocabulary must not be empty; nothing is similar to anything
    return (
        library("sklearn.feature_extraction.text")
        .TfidfVectorizer(analyzer=_itself, sublinear_tf=True)
        .fit_transform(bags)
    )


def _itself(bag: Sequence[str]) -> Sequence[str]:
    return bag


def library(module: str) -> Any:
    """A module of scikit-learn, which is an extra."""
    try:
        return import_module(module)
    except ModuleNotFoundError:
        message = "this baseline needs the library scikit-learn, which is not installed"
        raise UsageError("extra-missing", message, EXTRA) from None
