"""Documents that look only partly annotated (Upadhyay et al. 2016, footnote 6: 5 sentences of 40 with events)."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from karat.baselines.texts import Text

SURPRISING = 0.001
"""Documents are listed if so few sentences with events, or fewer, had at most this probability."""


class PartlyAnnotated(Struct, frozen=True):
    """A document with surprisingly few sentences that have an event mention."""

    document: str
    sentences: int
    annotated: int
    norm: float
    """The share of annotated sentences in the corpus."""
    probability: float
    """Of so few or fewer, if each sentence had that share as its probability."""


def partly_annotated(texts: Sequence[Text]) -> Iterator[PartlyAnnotated]:
    """The most surprising first; only documents whose sentences are known."""
    from scipy.stats import binom

    known = [(text, len(text.document.sentences), _annotated(text)) for text in texts if text.document.sentences]
    every = sum(sentences for _, sentences, _ in known)
    if not every:
        return
    norm = sum(annotated for _, _, annotated in known) / every
    found = [
        PartlyAnnotated(text.document.id, sentences, annotated, norm, float(binom.cdf(annotated, sentences, norm)))
        for text, sentences, annotated in known
    ]
    yield from sorted(
        (one for one in found if one.probability <= SURPRISING), key=lambda one: (one.probability, one.document)
    )


def _annotated(text: Text) -> int:
    return len({text.sentence_number(mention.head) for mention in text.mentions})
