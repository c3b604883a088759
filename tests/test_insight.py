"""Errors by class: which errors there are, that each counts once, and that repairing all of them ends at gold."""

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings

from karat.corpus import Corpus
from karat.engine import RunOptions, score
from karat.errors import Findings, KaratError
from karat.filters.distinct import Distinct
from karat.insight.analysing import Analysis
from karat.insight.collecting import TargetErrors
from karat.insight.edits import EditedCorpus
from karat.model import Document
from karat.protocols import PROTOCOLS, resolve
from karat.results import ClusterRecord, Result
from karat.testing.corpora import Sides, sides
from tests.corpora import ace_sides, corpus
from tests.test_laws import one_each

EXAMPLES = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
ACE = [name for name in PROTOCOLS.names() if name.startswith("ace-")]
OTHERS = [name for name in PROTOCOLS.names() if not name.startswith("ace-")]


def analysis(
    gold: Corpus, system: Corpus, protocol: str, *measures: str, details: bool = False
) -> tuple[Analysis, Result]:
    chosen = resolve(protocol)
    (result,) = score(gold, system, [chosen], RunOptions(measures, details=details), findings=Findings())
    return Analysis(gold, system, chosen, result, measures=measures), result


def found(gold: Corpus, system: Corpus, protocol: str, *measures: str) -> Sequence[TargetErrors]:
    return analysis(gold, system, protocol, *measures)[0].found()


def repaired(gold: Corpus, system: Corpus, protocol: str, measure: str, *, rounds: int = 1) -> Corpus:
    """The system after repairing one class after another, in the order of definition."""
    for _ in range(rounds):
        for name in found(gold, system, protocol, measure)[0].classes():
            errors = [error for error in found(gold, system, protocol, measure)[0].errors if error.name == name]
            system = EditedCorpus(gold, system, [repair for error in errors for repair in error.repairs])
    return system


def scorable(both: Sides, protocol: str) -> tuple[Corpus, Corpus]:
    """Corpora that the protocol accepts: each span once on a side, or every document on both, if it wants that."""
    gold, system = both
    if protocol.startswith(("crac", "ace")):
        there = {document.id for document in system}
        system = [*system, *(Document(one.id) for one in gold if one.id not in there)]
    chosen = resolve(protocol)
    # Where a system mention has several gold mentions on its span, not even gold is perfect under some protocols.
    if "perfect" not in chosen.laws or any(isinstance(one, Distinct) for one in chosen.filters):
        gold, system = list(map(one_each, gold)), list(map(one_each, system))
    return corpus(gold), corpus(system)


@pytest.mark.parametrize("protocol", OTHERS)
def test_repairing_all_classes_ends_at_gold(protocol: str) -> None:
    @given(both=sides())
    @EXAMPLES
    def check(both: Sides) -> None:
        gold, system = scorable(both, protocol)
        try:
            targets = found(gold, system, protocol)
            perfect = analysis(gold, gold, protocol)[1]
        except KaratError:
            return
        for one in targets:
            try:
                rounds = 1 if one.target.errors_of == "clusters" else 3
                end = repaired(gold, system, protocol, one.target.id, rounds=rounds)
                result = analysis(gold, end, protocol, one.target.id)
            except KaratError as error:  # links of repaired events may form a cycle
                if error.finding.code != "link-cycle":
                    raise
                continue
            assert result[0].found()[0].errors == [], one.target.id
            assert result[1][one.target.id].micro.values == pytest.approx(perfect[one.target.id].micro.values)

    check()


MENTIONS = [
    ("tac-2017", "nugget.span"),
    ("tac-2017", "nugget.type"),
    ("tac-2017", "nugget.type+realis"),
    ("liu-2015", "nugget.type+realis"),
    ("tac-pilot", "nugget.span"),
    ("tac-pilot", "nugget.accuracy.type"),
    ("exact-2013", "nugget.type"),
    ("muc-5", "muc.span"),
    ("muc-5", "muc.type"),
    ("muc-5", "muc.all"),
    ("crac-2024", "coref.mor"),
]
LINKS = [
    ("araki-2014", "hierarchy.subevent.mucp"),
    ("tac-2017", "sequence.after"),
    ("tac-2017", "sequence.subevent"),
    ("tac-2017", "sequence.all"),
]


@pytest.mark.parametrize(("protocol", "measure"), [*MENTIONS, *LINKS])
def test_every_outcome_that_is_not_right_is_explained_once(protocol: str, measure: str) -> None:
    """Errors explain as many outcomes as there are that did not earn everything."""

    @given(both=sides())
    @EXAMPLES
    def check(both: Sides) -> None:
        gold, system = scorable(both, protocol)
        try:
            chosen, result = analysis(gold, system, protocol, measure, details=True)
        except KaratError:  # gold has no such links
            return
        listed = [one.counts for one in result.outcomes.get(measure, ())]
        if (protocol, measure) in LINKS:
            wrong = sum(any(ratio.num < ratio.den for ratio in one.ratios().values()) for one in listed)
        else:
            wrong = sum(one.lost() > 0 for one in listed)
        errors = [error for one in chosen.found() for error in one.errors]
        assert sum(error.instance.outcomes for error in errors) == wrong

    check()


@pytest.mark.parametrize("protocol", ["conll-2012", "tac-2017", "simple-cdec", "pure-cdec", "bejan-harabagiu-2014"])
def test_errors_of_clusters_are_the_links_that_muc_lost(protocol: str) -> None:
    """Spans repaired, MUC's recall loses a link per division and missing mention, and all links of a missing entity."""

    @given(both=sides())
    @EXAMPLES
    def check(both: Sides) -> None:
        gold, system = scorable(both, protocol)
        chosen, _ = analysis(gold, system, protocol, "coref.muc")
        spans = [error for one in chosen.found() for error in one.errors if error.name == "span error"]
        system = EditedCorpus(gold, system, [repair for error in spans for repair in error.repairs])
        chosen, result = analysis(gold, system, protocol, "coref.muc")
        counts = result["coref.muc"].micro.counts
        assert counts is not None
        lost = counts.to_dict()
        errors = [error for one in chosen.found() for error in one.errors]
        number = Counter(error.name for error in errors)
        entities = Counter[str]()
        for error in errors:
            (record,) = (*error.instance.gold, *error.instance.system)[:1]
            if error.name in ("missing entity", "extra entity"):
                assert isinstance(record, ClusterRecord)
                entities[error.name] += record.size - 1
        missed = number["divided entity"] + number["missing mention"] + entities["missing entity"]
        spurious = number["conflated entity"] + number["extra mention"] + entities["extra entity"]
        # With a span repaired, its links are counted among the others.
        assert missed == lost["recall_den"] - lost["recall_num"]
        assert spurious == lost["precision_den"] - lost["precision_num"]

    check()


@pytest.mark.parametrize("protocol", ACE)
def test_every_element_that_is_not_right_is_one_error(protocol: str) -> None:
    @given(both=ace_sides())
    @EXAMPLES
    def check(both: Sides) -> None:
        gold, system = scorable(both, protocol)
        try:
            chosen, result = analysis(gold, system, protocol, details=True)
        except KaratError:
            return
        for one in chosen.found():
            items = result.details[one.target.id]["items"]
            wrong = [item for item in items if item["outcome"] != "correct" or item["value"] < item["worth"]]
            assert len(one.errors) == len(wrong)
            assert {error.instance.document for error in one.errors} <= {item["document"] for item in wrong}

    check()
