"""Laws: every protocol and every family of measures declares which it obeys, and each promise is checked.

For a law that a protocol does not promise, a counter-example stands here as a test.
"""

import math
from collections.abc import Callable
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import astuple, replace

from karat import protocols
from karat.api import Result, score
from karat.engine.sheet import Sheet
from karat.filters import Distinct, restricted
from karat.measures import MEASURES, Law
from karat.model import Cluster, Document, Link, Mention, Pair
from karat.tables import Tables
from karat.tables.aligned import AlignedPairs
from karat.tables.contingency import Contingency
from tests.corpora import ace, ace_sides, corpus, mention, sides

Sides = tuple[list[Document], list[Document]]
EXAMPLES = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
LAWS = get_args(Law)


def run(protocol: str, gold: list[Document], system: list[Document]) -> Result:
    return score(corpus(gold), corpus(system), protocol=protocol, per_unit=True)


ERRORS = {"error", "undergeneration", "overgeneration", "substitution"}
"""Scores of which less is better."""


def defined(result: Result) -> list[tuple[str, float]]:
    leaves = [leaf for one in result.scores.values() for leaf in (one.micro, one.macro) if leaf is not None]
    return [(name, value) for leaf in leaves for name, value in leaf.values.items() if value is not None]


def perfect(protocol: str, both: Sides) -> None:
    """Every ratio that is defined; a protocol may make a zero of one that is not."""
    counted = [one.micro.counts for one in run(protocol, both[0], both[0]).scores.values() if one.micro.counts]
    ratios = [(name, ratio.value) for counts in counted for name, ratio in counts.ratios().items()]
    assert all(value in (None, name not in ERRORS) for name, value in ratios)


def bounded(protocol: str, both: Sides) -> None:
    assert all(0 <= value <= 1 for _, value in defined(run(protocol, *both)))


def order(protocol: str, both: Sides) -> None:
    turned = [[replace(doc, links=doc.links[::-1]) for doc in reversed(side)] for side in both]
    assert run(protocol, *turned).to_dict() == run(protocol, *both).to_dict()


def renamed(document: Document) -> Document:
    """Other ids, in another alphabetical order."""
    names = {m.cluster: m.cluster[::-1] for m in document.mentions if m.cluster}
    names |= {m.id: f"x{len(document.mentions) - number:02}" for number, m in enumerate(document.mentions)}
    return replace(
        document,
        mentions=tuple(replace(m, id=names[m.id], cluster=m.cluster and m.cluster[::-1]) for m in document.mentions),
        clusters=tuple(replace(cluster, id=cluster.id[::-1]) for cluster in document.clusters),
        links=tuple(Link(link.kind, names[link.source], names[link.target]) for link in document.links),
    )


def without_messages(result: Result) -> dict[str, Any]:
    """What a result says, except that findings may name what they are about."""
    told = result.to_dict()
    return told | {"warnings": [warning | {"message": ""} for warning in told["warnings"]]}


def ids(protocol: str, both: Sides) -> None:
    gold, system = ([renamed(document) for document in side] for side in both)
    assert without_messages(run(protocol, gold, system)) == without_messages(run(protocol, *both))


def additive(protocol: str, both: Sides) -> None:
    if not all(document.mentions for document in both[0]):
        return  # a document without any has, by itself, no attributes to score
    whole = run(protocol, *both)
    found = {document.id: document for document in both[1]}
    parts = [run(protocol, [doc], [found[doc.id]] if doc.id in found else []) for doc in both[0]]
    for id_, one in whole.scores.items():
        if one.micro.counts is None or not all(id_ in part.scores for part in parts):
            continue  # a composite, or a kind of link that a document by itself does not have
        rows = [astuple(counts) for part in parts if id_ in part.scores and (counts := part[id_].micro.counts)]
        assert astuple(one.micro.counts) == pytest.approx([math.fsum(column) for column in zip(*rows, strict=True)])


def outcomes(protocol: str, both: Sides) -> None:
    for measure, table in tables(protocol, both):
        total = measure.kind.summed(astuple(outcome.counts) for outcome in measure.outcomes(table))
        assert astuple(total) == pytest.approx(astuple(measure.count(table)))


def swap(protocol: str, both: Sides) -> None:
    if not all(any(document.mentions for document in side) for side in both):
        return  # a side that says nothing has no attributes to score when it is gold
    there, back = run(protocol, *both), run(protocol, both[1], both[0])
    for id_, one in there.scores.items():
        if "precision" not in one.micro.values or id_ not in back.scores:
            continue  # there are no links of that kind where the other side is gold
        assert (one.precision, one.recall) == pytest.approx((back[id_].recall, back[id_].precision))


def tables(protocol: str, both: Sides) -> list[tuple[Any, Any]]:
    """Each measure of a protocol with the table of each document."""
    resolved = protocols.resolve(protocol)
    surveys = [corpus(side).survey() for side in both]
    sheet = Sheet(resolved, surveys[0], surveys[1], by=(), measures=(), report=print)
    found = {document.id: document for document in both[1]}
    pairs = [Pair(document, found.get(document.id, Document(document.id))) for document in both[0]]
    return [(measure, Tables(pair).get(measure.artefact)) for pair in pairs for measure, _ in sheet.measures]


CHECKS: dict[str, Callable[[str, Sides], None]] = {
    "perfect": perfect,
    "bounded": bounded,
    "order": order,
    "ids": ids,
    "additive": additive,
    "outcomes": outcomes,
    "swap": swap,
}


@pytest.mark.slow
@pytest.mark.parametrize("protocol", protocols.names())
@pytest.mark.parametrize("law", LAWS)
def test_promised_laws_hold(protocol: str, law: str) -> None:
    if law not in protocols.resolve(protocol).laws:
        assert (protocol, law) in COUNTEREXAMPLES, "a law is either promised or disproved"
        return

    distinct = any(isinstance(filter_, Distinct) for filter_ in protocols.resolve(protocol).filters)

    @EXAMPLES
    @given(ace_sides() if protocol.startswith("ace-") else sides())
    def holds(both: Sides) -> None:
        CHECKS[law](protocol, (list(map(one_each, both[0])), list(map(one_each, both[1]))) if distinct else both)

    holds()


def one_each(document: Document) -> Document:
    """The document with each span once."""
    firsts = {mention.span: mention.id for mention in reversed(document.mentions)}.values()
    return restricted(document, lambda mention: mention.id in firsts)


def one(*mentions: Mention) -> list[Document]:
    return [Document("d", mentions=mentions)]


def linked(*ids: str, **links: list[tuple[str, str]]) -> list[Document]:
    mentions = tuple(mention(id_, (10 * number, 10 * number + 4)) for number, id_ in enumerate(ids))
    joined = tuple(Link(kind, *ends) for kind, pairs in links.items() for ends in pairs)
    return [Document("d", mentions=mentions, links=joined)]


def timed(document: Document, *events: str) -> Document:
    """The document with a time, which these events have for an argument."""
    id_ = f"{document.id}-T"
    return replace(
        document,
        mentions=(*document.mentions, Mention(f"{id_}-1", ((90, 99),), kind="time", cluster=id_)),
        clusters=(*document.clusters, Cluster(id_, "time", {"val": "2003"})),
        links=(*document.links, *(Link("Time-Within", f"{document.id}-{event}", id_) for event in events)),
    )


ACROSS = (
    "simple-cdec",
    "pure-cdec",
    "bejan-harabagiu-2014",
    "upadhyay-2016-st",
    "upadhyay-2016-is",
    "yang-2015",
)

COUNTEREXAMPLES: dict[tuple[str, str], Sides] = {
    # A gold NOT_ANNOTATED agrees with anything; a system's is just wrong.
    **{
        (protocol, "swap"): (
            one(mention("g", (0, 4), type="NOT_ANNOTATED")),
            one(mention("s", (0, 4), type="Life_Die")),
        )
        for protocol in ("tac-2017", "liu-2015")
    },
    # A system that contradicts itself has all of gold's links and says what they entail, too.
    ("tac-2017", "bounded"): (
        linked("a", "b", "c", after=[("a", "b")], subevent=[("b", "c")]),
        linked("a", "b", "c", after=[("a", "b"), ("a", "c")], subevent=[("a", "b"), ("b", "c")]),
    ),
    # Without false positives the pilot's precision is perfect, however bad the span.
    ("tac-pilot", "swap"): (one(mention("g", (0, 4))), one(mention("s", (0, 2)))),
    # Two mentions of one span both go to the first gold mention; the second is missed.
    **{
        (protocol, "perfect"): (one(mention("g1", (0, 4)), mention("g2", (0, 4))), [])
        for protocol in ("tac-pilot", "liu-2015")
    },
    # What only the system has is ignored; what only gold has is missed.
    **{
        (protocol, "swap"): (
            [Document("d", mentions=(mention("g", (0, 4)),)), Document("e", mentions=(mention("g", (0, 4)),))],
            one(mention("s", (0, 4))),
        )
        for protocol in ("exact-2013", "muc-5", "conll-2012")
    },
    # Clusters meet across documents, so that documents by themselves do not add up.
    **{
        (protocol, "additive"): (
            [Document(id_, topic="t", mentions=(mention("g", (0, 4), cluster="c"),)) for id_ in "de"],
            [Document(id_, topic="t", mentions=(mention("g", (0, 4), cluster="c"),)) for id_ in "de"],
        )
        for protocol in ACROSS
    },
    # Values may be negative.
    **{
        (protocol, "bounded"): ([ace(entities="E:SPC")], [ace(entities="F@60:SPC H@80:SPC")])
        for protocol in ("ace-2005", "ace-2005-nist")
    },
    # A spurious argument makes no error, a missing one does.
    **{
        (protocol, "swap"): ([ace(entities="E F", events="V(E)")], [ace(entities="E F", events="V(E,F)")])
        for protocol in ("ace-2005", "ace-2005-nist")
    },
    # A reference event without arguments cannot be mapped by its arguments; promoted arguments are never right in v14.
    ("ace-2005", "perfect"): ([ace(events="V()")], []),
    ("ace-2005-nist", "perfect"): ([ace(entities="E:SPC", events="V(E)")], []),
    # Times that only the system has are worth nothing as arguments, unless the reference has times anywhere.
    ("ace-2005-nist", "additive"): (
        [timed(ace(entities="E", events="V(E)")), ace("e", entities="F", events="W(F)")],
        [timed(ace(entities="E", events="V(E)")), timed(ace("e", entities="F", events="W(F)"), "W")],
    ),
    # BLANC leaves out links where gold has none, and singletons are gold's.
    **{
        (protocol, "swap"): (
            [Document(id_, topic="t", mentions=(mention("g", (0, 4)),)) for id_ in "def"],
            [
                Document(id_, topic="t", mentions=(mention("s", (0, 4), cluster=cluster),))
                for id_, cluster in (("d", "c"), ("e", "c"), ("f", None))
            ],
        )
        for protocol in ACROSS
    },
}


@pytest.mark.parametrize(("protocol", "law"), COUNTEREXAMPLES)
def test_counterexamples_disprove(protocol: str, law: str) -> None:
    assert law not in protocols.resolve(protocol).laws
    with pytest.raises(AssertionError):
        CHECKS[law](protocol, COUNTEREXAMPLES[protocol, law])


# Families promise for their own arithmetic, whatever alignment made the table.


def transposed(table: AlignedPairs | Contingency) -> AlignedPairs | Contingency:
    if isinstance(table, Contingency):
        return Contingency(table.system, table.gold, {(r, k): shared for (k, r), shared in table.overlap.items()})
    return AlignedPairs(table.system, table.gold, [(s, g, value, bits) for g, s, value, bits in table.pairs])


@EXAMPLES
@given(sides())
def test_family_laws(both: Sides) -> None:
    """Swapping a table swaps precision and recall; lists of pairs count alike one by one and together."""
    assert all(set(MEASURES.get(family).CARD.laws) == set(LAWS) for family in ("nugget", "muc", "coref"))
    every = [*tables("tac-2017", both), *tables("muc-5", both)]
    made = [(measure, table) for measure, table in every if isinstance(table, AlignedPairs | Contingency)]
    for measure, table in made:
        there, back = measure.count(table).ratios(), measure.count(transposed(table)).ratios()
        assert (there["precision"], there["recall"]) == (back["recall"], back["precision"])
    for measure in {measure for measure, table in made if isinstance(table, AlignedPairs)}:
        own = [table for other, table in made if other == measure]
        total = measure.kind.summed(astuple(measure.count(table)) for table in own)
        assert astuple(measure.count(measure.artefact.add(own))) == pytest.approx(astuple(total))


@pytest.mark.slow
@EXAMPLES
@given(sides(), st.randoms(use_true_random=False))
def test_cross_document_clusters_survive_renaming_in_the_fingerprint(both: Sides, random: Any) -> None:
    """A cluster over two documents is told by its places, not by its name."""
    gold = [replace(doc, mentions=tuple(replace(m, cluster="shared") for m in doc.mentions)) for doc in both[0]]
    other = [replace(doc, mentions=tuple(replace(m, cluster="another") for m in doc.mentions)) for doc in gold]
    split = [replace(doc, mentions=tuple(replace(m, cluster=doc.id) for m in doc.mentions)) for doc in gold]
    random.shuffle(other)
    prints = [run("tac-2017", side, both[1]).gold.fingerprint for side in (gold, other, split)]
    assert prints[0] == prints[1]
    assert (prints[0] == prints[2]) == (sum(bool(doc.mentions) for doc in gold) < 2)
