"""The laws of measures and protocols: each function raises an AssertionError if its law is broken.

`LAWS` are those that a measure or a protocol may promise or not; `ALWAYS` are those that hold for every protocol.
"""

import math
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Literal, TypeVar

from msgspec.structs import astuple, replace

from karat.corpus.interface import Executor
from karat.corpus.memory import MemoryCorpus
from karat.counts import Counts
from karat.insight.records import no_line
from karat.model import Document, Link, Pair
from karat.plugin import Facts, Law, Measure, Tables, TableSpec
from karat.problems import Findings, ignore
from karat.protocols import Protocol
from karat.result import Result, Score
from karat.run import scoring
from karat.run.pairs import Preparation
from karat.run.plan import Options, Plan, unit_of
from karat.run.processes import call_packed, packed
from karat.run.units import UnitTable, finish
from karat.testing.corpora import Sides, completed

AlwaysLaw = Literal["empty", "processes"]
"""Laws of every protocol.

empty      a document that is empty on both sides changes no score, and one that the system lacks counts as an empty one
processes  documents that are divided among processes, and what they send merged, give the same result as one process
"""

AnyLaw = Law | AlwaysLaw

MANY = 1_000
"""More processes than a small corpus has documents, so that each document is a part of its own."""

S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")

LESS_IS_BETTER = {"error", "undergeneration", "overgeneration", "substitution"}

SWAPPED = {
    "precision": "recall",
    "recall": "precision",
    "undergeneration": "overgeneration",
    "overgeneration": "undergeneration",
}


class Trial:
    """A protocol and the corpora that it is tried on, with the result that several laws compare with another."""

    def __init__(self, protocol: Protocol, both: Sides) -> None:
        self.protocol = protocol
        self.both = both

    @cached_property
    def result(self) -> Result:
        """Gold and system scored in one process."""
        return _score(self.protocol, *self.both)

    @cached_property
    def content(self) -> dict[str, Any]:
        """The result as data; nobody changes it."""
        return self.result.to_dict()


def _require(condition: bool, law: AnyLaw, protocol: Protocol, message: str) -> None:
    verb = "promises" if law in LAWS else "must obey"
    assert condition, f"{protocol.name} {verb} {law!r}, but {message}"


def _require_same(here: Any, there: Any, law: AnyLaw, protocol: Protocol, change: str) -> None:
    if here != there:
        _require(False, law, protocol, f"{change} changes {_difference(here, there)}")


def perfect(trial: Trial) -> None:
    """Gold against itself scores 1 if the ratio is defined (or 0 if less is better).

    A composite, such as the CoNLL average, scores 1 if all ratios of its family are defined.
    """
    protocol, gold = trial.protocol, trial.both[0]
    scores = _score(protocol, gold, gold).scores
    undefined: set[str] = set()
    for id_, score in scores.items():
        for name, ratio in score.micro.counts.ratios().items() if score.micro.counts is not None else ():
            if ratio.value is None:
                undefined.add(_family(id_))
                continue
            message = f"gold against itself has the {name} {ratio.value} in {id_}"
            _require(ratio.value == (0 if name in LESS_IS_BETTER else 1), "perfect", protocol, message)
    for id_, score in scores.items():
        if score.micro.counts is None and _family(id_) not in undefined:
            for name, value in score.micro.values.items():
                message = f"gold against itself has the {name} {value} in {id_}"
                _require(value is None or math.isclose(value, 1), "perfect", protocol, message)


def _family(id_: str) -> str:
    return id_.partition(".")[0]


def bounded(trial: Trial) -> None:
    """Scores lie between 0 and 1."""
    for id_, score in trial.result.scores.items():
        for values in (score.micro, score.macro):
            for name, value in values.values.items() if values is not None else ():
                inside = value is None or 0 <= value <= 1
                _require(inside, "bounded", trial.protocol, f"the {name} of {id_} is {value}")


def order(trial: Trial) -> None:
    """The order of documents and links does not matter."""
    reordered = ([replace(doc, links=doc.links[::-1]) for doc in reversed(side)] for side in trial.both)
    here, there = trial.content, _score(trial.protocol, *reordered).to_dict()
    _require_same(here, there, "order", trial.protocol, "another order")


def ids(trial: Trial) -> None:
    """Renaming mentions and clusters changes nothing but the names in messages."""
    renamed = ([_renamed(document) for document in side] for side in trial.both)
    here, there = map(_without_messages, (trial.content, _score(trial.protocol, *renamed).to_dict()))
    _require_same(here, there, "ids", trial.protocol, "renaming")


def additive(trial: Trial) -> None:
    """Counts of documents add up to the counts of the corpus."""
    protocol, both = trial.protocol, trial.both
    whole = _counts(protocol, both, both)
    systems = {document.id: document for document in both[1]}
    golds = {document.id: document for document in both[0]}
    parts = [
        _counts(protocol, both, ([golds[id_]] if id_ in golds else [], [systems[id_]] if id_ in systems else []))
        for id_ in sorted({*golds, *systems})
    ]
    for id_, counts in whole.items():
        sums = [math.fsum(column) for column in zip(*(astuple(part[id_]) for part in parts if part), strict=True)]
        close = _close(astuple(counts), sums)
        _require(close, "additive", protocol, f"{id_} counts {counts} in all, and {sums} document by document")


def outcomes(trial: Trial) -> None:
    """The outcomes of a document sum to its counts, and those of a unit to the unit's; each names an item.

    The card of a family describes the classes of its outcomes.
    """
    protocol = trial.protocol
    described = {"match", "miss", "spurious"}.union(*(choice.family.card.outcomes for choice in protocol.families))
    for measure, table in tables(protocol, trial.both):
        listed = list(measure.outcomes(table))
        counts = measure.count(table)
        sums = measure.counts_type().summed(astuple(outcome.counts) for outcome in listed)
        close = _close(astuple(counts), astuple(sums))
        _require(close, "outcomes", protocol, f"{measure.id} counts {counts}, and its outcomes sum to {sums}")
        nameless = [outcome for outcome in listed if outcome.gold is None and outcome.system is None]
        _require(not nameless, "outcomes", protocol, f"an outcome of {measure.id} names no item: {nameless[:1]}")
        unknown = sorted({outcome.outcome for outcome in listed} - described)
        message = f"no card describes the outcomes {', '.join(unknown)} of {measure.id}"
        _require(not unknown, "outcomes", protocol, message)


def swap(trial: Trial) -> None:
    """Swapping the two sides swaps precision and recall, and changes no other score."""
    protocol, both = trial.protocol, trial.both
    facts = _joint_facts(both)
    there, back = _scores(protocol, facts, facts, both), _scores(protocol, facts, facts, (both[1], both[0]))
    for id_, values in there.items():
        swapped = {SWAPPED.get(name, name): value for name, value in back[id_].items()}
        for name, value in values.items():
            other = swapped[name]
            equal = other is value if value is None or other is None else math.isclose(value, other, abs_tol=1e-9)
            message = (
                f"the {name} of {id_} is {value}, and with the sides swapped the {SWAPPED.get(name, name)} {other}"
            )
            _require(equal, "swap", protocol, message)


def empty(trial: Trial) -> None:
    """A document that is empty on both sides changes no score; one that the system lacks counts as an empty one."""
    protocol, both = trial.protocol, trial.both
    here = trial.content["scores"]
    nothing = [Document("nothing", topic=both[0][0].topic)]
    there = _score(protocol, [*both[0], *nothing], [*both[1], *nothing]).to_dict()["scores"]
    _require_same(here, there, "empty", protocol, "an empty document")
    if protocol.gold_only_documents == "score":
        there = _score(protocol, *completed(both)).to_dict()["scores"]
        _require_same(here, there, "empty", protocol, "an empty document in place of one that the system lacks")


def processes(trial: Trial) -> None:
    """Documents that are divided among processes give the same result as in one."""
    here, there = trial.content, _score(trial.protocol, *trial.both, executor=_Pickled()).to_dict()
    _require_same(here, there, "processes", trial.protocol, "one part per document, merged in order,")


class _Pickled:
    """Runs the tasks of other processes, pickled as for them, in this one: fast enough to try many corpora."""

    def width(self, size: int) -> int:
        del size
        return MANY

    def map(self, function: Callable[[S, T], R], shared: S, tasks: Iterable[T]) -> Iterator[R]:
        data = packed(function, shared)
        for task in tasks:
            yield call_packed(data, pickle.loads(pickle.dumps(task))).result


class _Divisible(MemoryCorpus):
    """A corpus in memory that can be sent to other processes, as those of files can."""

    def part(self, ids: Sequence[str]) -> "_Divisible":
        """Some of the documents, with the facts of all."""
        part = _Divisible([document for document in self if document.id in ids], name=self.name)
        part._facts = self.facts()
        return part


LAWS: dict[AnyLaw, Callable[[Trial], None]] = {
    "perfect": perfect,
    "bounded": bounded,
    "order": order,
    "ids": ids,
    "additive": additive,
    "outcomes": outcomes,
    "swap": swap,
}

ALWAYS: dict[AnyLaw, Callable[[Trial], None]] = {"empty": empty, "processes": processes}


def _score(
    protocol: Protocol, gold: Iterable[Document], system: Iterable[Document], *, executor: Executor | None = None
) -> Result:
    corpora = _Divisible(gold), _Divisible(system)
    options = Options(per_unit=True)
    (result,) = scoring.score(*corpora, [protocol], options, findings=Findings(), executor=executor)
    return result


def _run(protocol: Protocol, gold: Facts, system: Facts, both: Sides) -> dict[str, Score]:
    """Score these documents, by the measures that these facts imply."""
    plan, preparation = Plan(protocol, gold, system, Options()), Preparation([protocol], ignore)
    rows = []
    golds, systems = ({document.id: document for document in side} for side in both)
    for id_ in sorted({*golds, *systems}):
        if id_ in golds or protocol.system_only_documents == "score":
            empty = Document(id_, topic=(golds.get(id_) or systems[id_]).topic)
            (prepared,) = preparation.prepare(Pair(golds.get(id_, empty), systems.get(id_, empty)), [0])
            rows.append(plan.row(prepared, no_line, ignore))
    scores = UnitTable(plan.measures, finish(plan.measures, rows, ignore)).scores()
    return {id_: scores[id_] for id_ in plan.selected if id_ in scores}


def _counts(protocol: Protocol, corpora: Sides, both: Sides) -> dict[str, Counts]:
    scores = _run(protocol, MemoryCorpus(corpora[0]).facts(), MemoryCorpus(corpora[1]).facts(), both)
    return {id_: score.micro.counts for id_, score in scores.items() if score.micro.counts is not None}


def _scores(protocol: Protocol, gold: Facts, system: Facts, both: Sides) -> dict[str, dict[str, float | None]]:
    return {id_: score.micro.values for id_, score in _run(protocol, gold, system, both).items()}


def _joint_facts(both: Sides) -> Facts:
    """The facts of both sides together, so that a row that one direction has is in the other, too."""
    documents = [
        replace(document, id=f"{side}{document.id}") for side, listed in enumerate(both) for document in listed
    ]
    return MemoryCorpus(documents).facts()


def tables(protocol: Protocol, both: Sides) -> Iterator[tuple[Measure[Any, Any], Any]]:
    """Each measure of a protocol with the table of each document, and with the finished table of each unit."""
    gold, system = (MemoryCorpus(side).facts() for side in both)
    measures = Plan(protocol, gold, system, Options()).measures.measures
    preparation = Preparation([protocol], ignore)
    systems = {document.id: document for document in both[1]}
    units: dict[str, list[Tables]] = {}
    for document in both[0]:
        pair = Pair(document, systems.get(document.id, Document(document.id, topic=document.topic)))
        made = preparation.prepare(pair, [0])[0].tables
        units.setdefault(unit_of(document, protocol), []).append(made)
        for measure, _ in measures:
            yield measure, made.get(measure.table)
    for measure, _ in measures:
        spec = measure.table
        if type(spec).add is not TableSpec.add:
            # Documents are added up even if each is a unit, to check that their tables do add up.
            together = [*units.values(), [made for unit in units.values() for made in unit]]
            whole = [spec.add([made.get(spec) for made in unit]) for unit in together]
            for table in spec.finish(whole, ignore) if spec.counted == "corpus" else whole:
                yield measure, table


def _renamed(document: Document) -> Document:
    """Other ids, in another alphabetical order."""
    names = {m.cluster: m.cluster[::-1] for m in document.mentions if m.cluster}
    names |= {m.id: f"x{len(document.mentions) - number:02}" for number, m in enumerate(document.mentions)}
    return replace(
        document,
        mentions=tuple(replace(m, id=names[m.id], cluster=m.cluster and m.cluster[::-1]) for m in document.mentions),
        clusters=tuple(replace(cluster, id=cluster.id[::-1]) for cluster in document.clusters),
        links=tuple(Link(link.kind, names[link.source], names[link.target]) for link in document.links),
    )


def _without_messages(content: dict[str, Any]) -> dict[str, Any]:
    return content | {"warnings": [warning | {"message": ""} for warning in content["warnings"]]}


def _difference(value: Any, other: Any, where: str = "") -> str:
    """The first place where two results differ."""
    if isinstance(value, dict) and isinstance(other, dict):
        for key in dict.fromkeys([*value, *other]):
            if value.get(key) != other.get(key):
                return _difference(value.get(key), other.get(key), f"{where}/{key}")
    return f"{where} from {value!r} to {other!r}"


def _close(numbers: Sequence[float], other: Sequence[float]) -> bool:
    return len(numbers) == len(other) and all(
        math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-9) for x, y in zip(numbers, other, strict=True)
    )
