"""Each error counts once, and repairing all of them ends at gold: for every registered protocol.

Protocols of arguments and templates have a file of their own.
"""

from collections import Counter
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.corpus.interface import Corpus
from karat.families.coref.formulas import muc
from karat.model import Document, EmptyNode, Mention
from karat.problems import KaratError
from karat.protocols import PROTOCOLS, resolve
from karat.records import ClusterRecord
from karat.testing.corpora import Sides, relation_documents, sides
from tests.corpora import ace_sides
from tests.error_laws import (
    ACE,
    ARGUMENTS,
    EXAMPLES,
    RELATIONS,
    TEMPLATES,
    analysed,
    counted_tables,
    edited,
    found,
    found_for,
    lost,
    marked,
    names,
    one_of_each_kind,
    repaired,
    scorable,
    scored,
    wrong_outcomes,
)

OTHERS = one_of_each_kind(name for name in PROTOCOLS.names() if name not in (*ACE, *ARGUMENTS, *TEMPLATES))


@st.composite
def zero_documents(draw: st.DrawFn, id_: str) -> Document:
    """Words and, after each, an empty node: mentions of one of them, in few clusters."""
    chosen = draw(st.lists(st.integers(0, 11), max_size=7, unique=True))
    clusters = st.none() | st.sampled_from(["a", "b"]).map(lambda name: f"{id_}:{name}")
    mentions = [Mention(f"m{token}", ((token, token + 1),), cluster=draw(clusters)) for token in chosen]
    nodes = [EmptyNode(token, 1, ((token - 1, "nsubj"),)) for token in range(1, 12, 2)]
    return Document(id_, unit="token", sentences=((0, 99),), empty_nodes=tuple(nodes), mentions=tuple(mentions))


def corpora(protocol: str) -> st.SearchStrategy[Sides]:
    """Corpora that have something to score under a protocol."""
    if protocol in ACE:
        return ace_sides()
    if protocol in RELATIONS:
        return sides(relation_documents)
    return st.one_of(sides(), sides(zero_documents)) if protocol.startswith("crac") else sides()


@pytest.mark.parametrize("protocol", marked(OTHERS))
def test_repairing_all_classes_ends_at_gold(protocol: str) -> None:
    """Clusters need each class once; twice if a gold mention of any type may take what is another's on its span, or if
    what is left of a cluster may be a singleton that is dropped.
    """
    chosen = resolve(protocol)
    once = 2 if chosen.comparison.wildcard or any(one.drops_singletons for one in chosen.filters) else 1

    @given(both=corpora(protocol))
    @EXAMPLES
    def check(both: Sides) -> None:
        gold, system = scorable(both, protocol)
        try:
            perfect = scored(gold, gold, resolve(protocol))
            targets = [*found(gold, system, protocol)]
            targets += found(gold, system, protocol, "coref.zero") if "coref.zero" in perfect.scores else []
        except KaratError:
            return
        for one in targets:
            id_ = one.target.id
            inherent = [] if "perfect" in chosen.laws else found_for(gold, gold, protocol, id_).errors
            if inherent and protocol in RELATIONS:
                continue  # gold has two labels for a pair: no repair gives the system both
            end, left = repaired(gold, system, protocol, id_, rounds=once if one.target.errors_of == "clusters" else 4)
            assert [error.name for error in left.errors] == [error.name for error in inherent], id_
            after = scored(gold, end, resolve(protocol), id_)
            assert after[id_].micro.values == pytest.approx(perfect[id_].micro.values), id_

    check()


@pytest.mark.parametrize("protocol", marked([*OTHERS, *ACE]))
def test_what_no_repair_touches_counts_as_before(protocol: str) -> None:
    """Only documents that a repair touches become new rows; the scores are those of the whole repaired system."""
    chosen = resolve(protocol)

    @given(both=corpora(protocol))
    @EXAMPLES
    def check(both: Sides) -> None:
        gold, system = scorable(both, protocol)
        try:
            targets = analysed(gold, system, protocol)
        except KaratError:  # gold has nothing of what the protocol scores
            return
        for target, measure in targets:
            for one in measure.classes:
                errors = [error for error in target.errors if error.name == one.name]
                repairs = [repair for error in errors for repair in error.repairs]
                if not one.why_not:
                    with suppress(KaratError):  # a repair may leave nothing of a kind that NIST's scorer asks for
                        whole = scored(gold, edited(gold, system, repairs), chosen, measure.id)
                        assert whole[measure.id].micro.values == one.fixed

    check()


@pytest.mark.parametrize("protocol", marked([*OTHERS, *ACE]))
def test_errors_of_every_measure_explain_its_outcomes_once(protocol: str) -> None:
    """Errors explain as many outcomes as there are that did not earn everything; of clusters, all links of MUC.

    With spans repaired, MUC's recall loses a link per division and missing mention, and all links of a missing entity.
    """

    @given(both=corpora(protocol))
    @EXAMPLES
    def check(both: Sides) -> None:
        gold, system = scorable(both, protocol)
        try:
            result = scored(gold, system, resolve(protocol))
            targets = found(gold, system, protocol, *result.scores)
        except KaratError:  # gold has nothing of what the protocol scores
            return
        by_id = {one.target.id: one for one in targets}
        wrong: Counter[str] = Counter()
        with_classes = set[str]()
        for measure, table in counted_tables(gold, system, protocol):
            if not measure.hidden and measure.table.errors_of is not None:
                with_classes.add(measure.id)
                if measure.table.errors_of != "clusters":
                    wrong[measure.id] += wrong_outcomes(measure, table)
        assert with_classes & {*result.counted_ids()} <= {*by_id}
        explained = set[frozenset[str]]()
        for id_, one in by_id.items():
            if one.target.errors_of == "clusters":
                errors = frozenset(repr(error.instance) for error in one.errors)
                if errors not in explained:  # measures of one alignment have the same errors
                    explained.add(errors)
                    assert_all_links_are_explained(gold, system, protocol, id_)
            elif [measure.id for measure in one.target.measures] == [id_]:
                assert sum(error.instance.outcomes for error in one.errors) == wrong[id_], id_
            else:  # a composite: what is wrong in any of its measures is an error
                parts = sum(wrong[measure.id] for measure in one.target.measures)
                assert bool(one.errors) == bool(parts), id_

    check()


def assert_all_links_are_explained(gold: Corpus, system: Corpus, protocol: str, measure: str) -> None:
    spans = [error for one in found(gold, system, protocol, measure) for error in one.errors]
    repairs = [repair for error in spans if error.name == "span error" for repair in error.repairs]
    system = edited(gold, system, repairs)
    errors = [error for one in found(gold, system, protocol, measure) for error in one.errors]
    number = Counter(error.name for error in errors)
    entities = Counter[str]()
    for error in errors:
        if error.name in ("missing entity", "extra entity"):
            (record,) = (*error.instance.gold, *error.instance.system)
            assert isinstance(record, ClusterRecord)
            entities[error.name] += record.size - 1
    every = counted_tables(gold, system, protocol)
    counted = [(one.id, table) for one, table in every if one.table.errors_of == "clusters"]
    counts = [muc(table) for id_, table in counted if id_ == counted[0][0]]  # all read the same tables
    assert sum(one.recall_den - one.recall_num for one in counts) == (
        number["divided entity"] + number["missing mention"] + entities["missing entity"]
    )
    assert sum(one.precision_den - one.precision_num for one in counts) == (
        number["conflated entity"] + number["extra mention"] + entities["extra entity"]
    )


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["edr", "val", "tern", "rdr", "vdr", "emd", "rmd", "vmd"])
@pytest.mark.parametrize("protocol", ACE)
def test_repairing_all_elements_ends_at_gold(protocol: str, measure: str) -> None:
    """No more is lost, and nothing else is wrong, than with gold as the system: NIST's scorer finds errors in gold."""
    id_ = f"ace.{measure}"

    @given(both=ace_sides())
    @EXAMPLES
    def check(both: Sides) -> None:
        gold, system = scorable(both, protocol)
        try:
            of_gold, perfect = found_for(gold, gold, protocol, id_), scored(gold, gold, resolve(protocol), id_)
            end, left = repaired(gold, system, protocol, id_, rounds=8)
        except KaratError:  # gold has no such elements
            return
        assert lost(scored(gold, end, resolve(protocol), id_), id_) <= lost(perfect, id_) + 1e-5
        assert names(left) <= names(of_gold)

    check()
