"""Findings of an audit: pairs of mentions whose annotation is hard to explain, and documents that have too few."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from karat.audit.pairs import Pairs, anchor_weights, margins, pairs
from karat.baselines.features import numbered
from karat.baselines.similarity import library
from karat.baselines.texts import EventMention, Text, fingerprint, gold_clusters, texts_of
from karat.corpus.interface import Corpus, Progress
from karat.plugin import WordAnalyser
from karat.problems import Rule
from karat.protocols.protocol import work_signature

THRESHOLD = 0.95
"""The least anchor weight that is reported (section 7.3)."""
SURPRISING = 0.001
"""Documents are listed if so few sentences with events, or fewer, had at most this probability."""

SAME = Rule("audit-same", "fatal", "Audit a corpus in which some event mentions corefer and others do not.")

Kind = Literal["missing", "suspicious"]
"""The classes whose names begin with it."""
Class = Literal["missing-singleton-singleton", "missing-singleton-cluster", "suspicious-link"]
CLASSES: dict[Class, str] = {
    "missing-singleton-singleton": "two singletons that may corefer",
    "missing-singleton-cluster": "a singleton that may belong to a cluster",
    "suspicious-link": "two mentions of one cluster that may not corefer",
}


class Quoted(Struct, frozen=True):
    """A mention in its sentence."""

    document: str
    mention: str
    before: str
    text: str
    after: str
    """The sentence before, in and after the mention; words between its parts belong to the mention."""


class Suspicion(Struct, frozen=True):
    """A pair of mentions whose annotation is hard to explain."""

    kind: Class
    weight: float
    """The weight of its anchor."""
    topic: str | None
    first: Quoted
    second: Quoted
    pairs: int = 1
    """Number of pairs of the same two clusters above the threshold; this one is the most suspicious."""


class PartlyAnnotated(Struct, frozen=True):
    """A document with surprisingly few sentences that have an event mention (Upadhyay et al. 2016, footnote 6)."""

    document: str
    sentences: int
    annotated: int
    norm: float
    """The share of annotated sentences in the corpus."""
    probability: float
    """The probability of so few or fewer, if each sentence had that share as its probability."""


class Audit(Struct, frozen=True):
    """All that is suspicious: missing links, then links that look wrong, each with the most suspicious first."""

    documents: int
    mentions: int
    candidates: int
    engine: str
    threshold: float
    suspicions: tuple[Suspicion, ...]
    partly: tuple[PartlyAnnotated, ...]
    signature: str
    only: Kind | None = None
    """The classes that are listed; None: all."""

    @property
    def classes(self) -> dict[Class, str]:
        """The classes that are listed, and what they are."""
        return {name: what for name, what in CLASSES.items() if name.startswith(self.only or "")}


def audit(
    corpus: Corpus,
    analyser: WordAnalyser,
    *,
    threshold: float = THRESHOLD,
    only: Kind | None = None,
    topics: str | None = None,
    validated: bool = False,
    progress: Progress | None = None,
) -> Audit:
    """Audit a corpus; `topics` are those that it was restricted to, for the signature.

    If it was restricted to validated sentences, no document is called partly annotated.
    """
    texts = texts_of(corpus, analyser, progress)
    candidates = pairs(texts, analyser)
    labels = numbered(gold_clusters(texts))
    corefer = linked(candidates, labels, corpus.name)
    weights = anchor_weights(candidates.rows, corefer)
    return Audit(
        len(texts),
        len(labels),
        len(weights),
        analyser.engine,
        threshold,
        tuple(
            suspicion
            for suspicion in _suspicions(candidates, labels, weights, threshold)
            if suspicion.kind.startswith(only or "")
        ),
        () if validated else tuple(partly_annotated(texts)),
        work_signature({"audit": f"{threshold:g}"}, topics=topics, words=analyser.engine, corpus=fingerprint(texts)),
        only,
    )


def linked(pairs: Pairs, labels: NDArray[np.int64], file: str) -> NDArray[np.bool_]:
    """Check which pairs corefer; there must be both kinds."""
    corefer = np.asarray(labels[pairs.candidates.first] == labels[pairs.candidates.second])
    if corefer.all() or not corefer.any():
        message = "all candidate pairs corefer" if corefer.all() else "no candidate pair corefers"
        raise SAME.error(f"{message}, so there is nothing to learn from", file=file)
    return corefer


def ranked(
    pairs: Pairs, labels: NDArray[np.int64], weights: NDArray[np.float64]
) -> dict[Class, list[tuple[int, tuple[int, int]]]]:
    """Pairs of each class, most suspicious first, with the clusters, or for links the mentions, that they join.

    Of the pairs that would join the same clusters, only the most suspicious is listed. A pair of two clusters with
    several mentions each belongs to no class.
    """
    first, second = pairs.candidates.first, pairs.candidates.second
    sizes = np.bincount(labels)
    singles = (sizes[labels[first]] == 1).astype(int) + (sizes[labels[second]] == 1)
    corefer = labels[first] == labels[second]
    chosen: tuple[tuple[Class, NDArray[np.bool_]], ...] = (
        ("missing-singleton-singleton", ~corefer & (singles == 2)),
        ("missing-singleton-cluster", ~corefer & (singles == 1)),
        ("suspicious-link", corefer),
    )
    lists: dict[Class, list[tuple[int, tuple[int, int]]]] = {}
    for name, condition in chosen:
        rows = np.flatnonzero(condition)
        best: dict[tuple[int, int], int] = {}
        for row in rows[np.argsort(-weights[rows], kind="stable")].tolist():
            ends = (first[row], second[row]) if name == "suspicious-link" else (labels[first[row]], labels[second[row]])
            low, high = sorted(int(end) for end in ends)
            best.setdefault((low, high), row)
        lists[name] = [(row, key) for key, row in best.items()]
    return lists


def _suspicions(
    pairs: Pairs, labels: NDArray[np.int64], weights: NDArray[np.float64], threshold: float
) -> Iterator[Suspicion]:
    texts = pairs.candidates.texts
    events = [(text, event) for text in texts for event in text.mentions]
    first, second = pairs.candidates.first, pairs.candidates.second
    above = weights > threshold
    joined = Counter(
        tuple(sorted(ends)) for ends in zip(labels[first[above]].tolist(), labels[second[above]].tolist(), strict=True)
    )
    listed = []
    for kind, rows in ranked(pairs, labels, weights).items():
        for row, key in rows:
            if weights[row] > threshold:
                is_link = kind == "suspicious-link"
                listed.append((is_link, -float(weights[row]), row, kind, 1 if is_link else joined[key]))
    quotations: dict[int, Quoted] = {}
    for _, weight, row, kind, count in sorted(listed):
        ends = int(first[row]), int(second[row])
        for end in ends:
            if end not in quotations:
                quotations[end] = quoted(*events[end])
        topic = events[ends[0]][0].document.topic
        yield Suspicion(kind, -weight, topic, quotations[ends[0]], quotations[ends[1]], count)


def quoted(text: Text, event: EventMention) -> Quoted:
    sentence = text.sentence(event.head)
    begin, end = min(event.places), max(event.places) + 1
    parts = (range(sentence.start, begin), range(begin, end), range(end, sentence.stop))
    before, inside, after = (" ".join(text.words[place].form for place in part) for part in parts)
    return Quoted(text.document.id, event.mention.id, before, inside, after)


def partly_annotated(texts: Sequence[Text]) -> Iterator[PartlyAnnotated]:
    """Yield surprising documents, the most surprising first; only those whose sentences are known."""
    from scipy.stats import binom

    known = [(text, len(text.document.sentences), _annotated(text)) for text in texts if text.document.sentences]
    every = sum(sentences for _, sentences, _ in known)
    if not every:
        return
    norm = sum(annotated for _, _, annotated in known) / every
    judged = [
        PartlyAnnotated(text.document.id, sentences, annotated, norm, float(binom.cdf(annotated, sentences, norm)))
        for text, sentences, annotated in known
    ]
    surprising = [partly for partly in judged if partly.probability <= SURPRISING]
    yield from sorted(surprising, key=lambda partly: (partly.probability, partly.document))


def _annotated(text: Text) -> int:
    return len({text.sentence_number(mention.head) for mention in text.mentions})


FOLDS = 5
ORDERS = ("anchors", "random", "cross-validated by pair", "cross-validated by topic")
MISSING = "missing links"
"""Both classes of missing links together."""


class Planted(Struct, frozen=True):
    """Precision and recall of one order on one class of errors."""

    order: str
    kind: str
    errors: int
    """Number of pairs of this class that are planted errors."""
    precision: dict[int, float]
    """The share of planted errors in the first k."""
    recall: dict[int, float]
    """The share of the planted errors that are in the first k."""


def plant(
    texts: Sequence[Text], pairs: Pairs, *, rate: float, seed: int, file: str, at: Sequence[int] = (20, 50, 100, 200)
) -> list[Planted]:
    """Hide links of this share of linked mentions, make half as many wrong ones, audit, and compare."""
    true = numbered(gold_clusters(texts))
    copy = damaged(pairs, true, rate=rate, seed=seed)
    corefer = linked(pairs, copy, file)
    first, second = pairs.candidates.first, pairs.candidates.second
    is_planted = (true[first] == true[second]) != corefer
    results = []
    for order, weights in _orders(pairs, corefer, seed).items():
        lists: dict[str, list[tuple[float, int]]] = {
            kind: [(float(-weights[row]), row) for row, _ in rows]
            for kind, rows in ranked(pairs, copy, weights).items()
        }
        missing: tuple[Class, ...] = ("missing-singleton-singleton", "missing-singleton-cluster")
        lists[MISSING] = sorted(entry for kind in missing for entry in lists[kind])
        for kind in (*CLASSES, MISSING):
            hits = np.array([is_planted[row] for _, row in lists[kind]], dtype=bool)
            errors = int(hits.sum())
            counts = {k: int(hits[:k].sum()) for k in at}
            results.append(
                Planted(
                    order,
                    kind,
                    errors,
                    {k: count / min(k, len(hits)) if len(hits) else 0.0 for k, count in counts.items()},
                    {k: count / errors if errors else 0.0 for k, count in counts.items()},
                )
            )
    return results


def damaged(pairs: Pairs, true: NDArray[np.int64], *, rate: float, seed: int) -> NDArray[np.int64]:
    """Return the clusters of mentions after links were hidden and wrong ones made."""
    random = Random(seed)
    copy = true.copy()
    sizes = np.bincount(true)
    in_clusters = [index for index, label in enumerate(true.tolist()) if sizes[label] > 1]
    hidden = random.sample(in_clusters, round(rate * len(in_clusters)))
    copy[hidden] = np.arange(len(sizes), len(sizes) + len(hidden))
    both = zip(pairs.candidates.first.tolist(), pairs.candidates.second.tolist(), strict=True)
    possible = [pair for pair in both if sum(sizes[true[end]] == 1 for end in pair) == 1]
    random.shuffle(possible)
    moved: set[int] = set()
    gone = set(hidden)
    for pair in possible:
        single, other = sorted(pair, key=lambda end: sizes[true[end]])
        if len(moved) < len(hidden) // 2 and single not in moved and other not in gone:
            copy[single] = copy[other]
            moved.add(single)
    return copy


def _orders(pairs: Pairs, corefer: NDArray[np.bool_], seed: int) -> dict[str, NDArray[np.float64]]:
    selection = library("sklearn.model_selection")
    by_pair = selection.KFold(min(FOLDS, len(corefer)), shuffle=True, random_state=seed).split(pairs.rows)
    topics = pairs.topics
    folds = min(FOLDS, len(set(topics)))
    by_topic = selection.GroupKFold(folds).split(pairs.rows, groups=topics) if folds > 1 else []
    signs = np.where(corefer, 1.0, -1.0)
    chosen = (
        anchor_weights(pairs.rows, corefer),
        np.random.default_rng(seed).random(len(corefer)),
        *(-signs * _held_out(pairs, corefer, split) for split in (by_pair, by_topic)),
    )
    return dict(zip(ORDERS, chosen, strict=True))


def _held_out(
    pairs: Pairs, corefer: NDArray[np.bool_], split: Iterable[tuple[NDArray[np.int64], NDArray[np.int64]]]
) -> NDArray[np.float64]:
    """Margins of each pair, by a classifier that was trained without it; 0 where that has nothing to learn from."""
    values = np.zeros(len(corefer))
    for train, test in split:
        if len(set(corefer[train].tolist())) > 1:
            values[test] = margins(pairs.rows[train], corefer[train], pairs.rows[test])
    return values
