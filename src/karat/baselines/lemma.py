"""Baselines that link event mentions with the same head lemma (Upadhyay et al. 2016, section 6)."""

from collections.abc import Sequence

from karat.baselines.similarity import DocumentSimilarity
from karat.baselines.texts import Text
from karat.model import qualified

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
    for number, text in enumerate(texts):
        for word in {text.lemma(mention) for mention in text.mentions}:
            documents.setdefault(word, []).append(number)
    group: dict[tuple[str, int], int] = {}
    for word, having in documents.items():
        linked = csr_array(similarity.among(having) >= delta)
        _, labels = connected_components(linked, directed=False)
        group.update({(word, number): int(label) for number, label in zip(having, labels, strict=True)})
    return [
        [f"{word}.{group[word, number]}" for word in map(text.lemma, text.mentions)]
        for number, text in enumerate(texts)
    ]
