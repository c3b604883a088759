"""Runs of baselines: training, the choice of a parameter on development topics, and clustering."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from karat.baselines.similarity import Clusters, DocumentSimilarity, lemma, lemma_delta, lemma_wd
from karat.baselines.texts import Text, fingerprint, texts_of
from karat.corpus.files import FileCorpus
from karat.corpus.interface import Progress
from karat.corpus.memory import MemoryCorpus
from karat.corpus.topics import Topics
from karat.model import Document
from karat.plugin import WordAnalyser
from karat.problems import Findings, Rule, UsageError
from karat.protocols import resolve
from karat.protocols.protocol import work_signature
from karat.run.plan import Options
from karat.run.scoring import score

Name = Literal["lemma", "lemma-wd", "lemma-delta", "sac"]
DELTA = 0.3
"""The least similarity of two documents; chosen on development topics in the paper."""
DELTAS = tuple(number / 20 for number in range(15))
STOPS = tuple(number / 20 for number in range(2, 15))
PROTOCOL, MEASURE = "simple-cdec", "coref.conll"
"""The score that a parameter is chosen by."""

GIVEN_AWAY = frozenset({"relation"})
"""Attributes that tell whether gold links a mention (ECB+)."""

SEEN = Rule("baseline-seen", "note", "For a fair score, use topics that the baseline has not seen: --topics 26-45.")


class Choice(NamedTuple):
    """The values of a parameter that were tried on development topics, with their scores; the best one is used."""

    parameter: str
    scores: Mapping[float, float]

    @property
    def best(self) -> float:
        """Return the value with the highest score; of several, the lowest."""
        return max(sorted(self.scores), key=lambda value: self.scores[value])


class Plan(Struct, frozen=True):
    """A baseline and its topics."""

    name: Name
    delta: float | None = None
    topics: Topics | None = None
    train: Topics | None = None
    dev: Topics | None = None
    gold_arguments: bool = False

    def __post_init__(self) -> None:
        learns = self.name == "sac"
        compares = learns or self.name == "lemma-delta"
        for option, is_given, is_known in (
            ("--delta", self.delta is not None, compares),
            ("--dev-topics", self.dev is not None, compares),
            ("--train-topics", self.train is not None, learns),
            ("--gold-arguments", self.gold_arguments, learns),
        ):
            if is_given and not is_known:
                raise UsageError("baseline-option", f"{self.name} has no {option}", f"Omit {option}.")
        if learns and self.train is None:
            raise UsageError("baseline-training-topics", "sac learns from gold", "Name topics: --train-topics 1-22.")
        if self.name == "lemma-delta" and self.delta is not None and self.dev is not None:
            raise UsageError("baseline-option", "--dev-topics chooses delta, and --delta gives it", "Omit one of them.")


class Run(NamedTuple):
    """A baseline's output, and how it was made."""

    texts: Sequence[Text]
    clusters: Clusters
    about: Mapping[str, str]
    """Description of the run that the documents of the output carry."""
    choice: Choice | None = None

    def signature(self, topics: Topics | None) -> str:
        """Return the signature of the run; `topics` are those that were chosen."""
        settings = {key: value for key, value in self.about.items() if key != "words"}
        chosen = None if topics is None else str(topics)
        return work_signature(settings, topics=chosen, words=self.about["words"], corpus=fingerprint(self.texts))

    def documents(self) -> list[Document]:
        return list(system(self.texts, self.clusters, self.about))


def run(
    plan: Plan,
    corpus: FileCorpus,
    analyser: WordAnalyser,
    *,
    findings: Findings,
    progress: Progress | None = None,
    on_step: Progress | None = None,
) -> Run:
    """Run a baseline; `progress` counts documents that are read, `on_step` the steps of training and clustering."""

    def read(topics: Topics | None) -> list[Text]:
        return texts_of(corpus.of_topics(topics), analyser, progress)

    texts = read(plan.topics)
    learned_from = [topics for topics in (plan.train, plan.dev) if topics is not None]
    seen = [text for text in texts if any(text.document.topic in topics for topics in learned_from)]
    if plan.topics is None and len(seen) < len(texts):
        texts = [text for text in texts if text not in seen]
    elif seen:
        findings.add(SEEN.at(f"{len(seen):,} documents are of topics that the baseline learns from", file=corpus.name))
    about = {"baseline": plan.name, "words": analyser.engine}
    if corpus.options.validated:
        about["sentences"] = "validated"
    if plan.name == "lemma":
        return Run(texts, lemma(texts), about)
    if plan.name == "lemma-wd":
        return Run(texts, lemma_wd(texts), about)
    delta = DELTA if plan.delta is None else plan.delta
    choice = None
    if plan.name == "lemma-delta":
        if plan.dev is not None:
            dev = read(plan.dev)
            similarity = DocumentSimilarity(dev)
            choice = Choice("delta", _scores(dev, DELTAS, lambda value: lemma_delta(dev, similarity, delta=value)))
            delta = choice.best
        made = lemma_delta(texts, DocumentSimilarity(texts), delta=delta)
        return Run(texts, made, {**about, "delta": f"{delta:g}"}, choice)
    from karat.baselines.sac import STOP, Classifier, clusters, sac

    classifier = Classifier(
        read(plan.train), delta=delta, analyser=analyser, gold_arguments=plan.gold_arguments, on_step=on_step
    )
    stop = STOP
    if plan.dev is not None:
        dev = read(plan.dev)
        pairs = classifier.candidates(dev)
        likely = classifier.probabilities(pairs)
        choice = Choice("stop", _scores(dev, STOPS, lambda value: clusters(dev, pairs, likely, stop=value)))
        stop = choice.best
    about |= {"delta": f"{delta:g}", "stop": f"{stop:g}", "trained on topics": str(plan.train)}
    if plan.gold_arguments:
        about["arguments"] = "gold"
    return Run(texts, sac(texts, classifier, stop=stop), about, choice)


def _scores(texts: Sequence[Text], values: Sequence[float], make: Callable[[float], Clusters]) -> dict[float, float]:
    gold = MemoryCorpus(text.document for text in texts)
    scores = {}
    for value in values:
        made = MemoryCorpus(system(texts, make(value), {}))
        (result,) = score(gold, made, [resolve(PROTOCOL)], Options(measures=(MEASURE,)), findings=Findings())
        scores[value] = result[MEASURE].f1 or 0.0
    return scores


def system(texts: Sequence[Text], clusters: Clusters, about: Mapping[str, str]) -> Iterator[Document]:
    """Yield the documents of the system; of gold they keep texts and event mentions, and nothing about coreference."""
    for text, names in zip(texts, clusters, strict=True):
        mentions = tuple(
            replace(event.mention, cluster=cluster, attributes=_kept(event.mention.attributes))
            for event, cluster in zip(text.mentions, names, strict=True)
        )
        yield replace(text.document, mentions=mentions, clusters=(), links=(), about=dict(about))


def _kept(attributes: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in attributes.items() if name not in GIVEN_AWAY}
