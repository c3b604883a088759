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
from karat.counts import Counts
from karat.engine.sheet import Sheet
from karat.measures import MEASURES, Law
from karat.model import Document, Link, Mention, Pair
from karat.tables import Tables
from karat.tables.aligned import AlignedPairs
from tests.corpora import corpus, mention, sides

Sides = tuple[list[Document], list[Document]]
EXAMPLES = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
LAWS = get_args(Law)


def run(protocol: str, gold: list[Document], system: list[Document]) -> Result:
    return score(corpus(gold), corpus(system), protocol=protocol, per_unit=True)


def defined(result: Result) -> list[float]:
    leaves = [leaf for one in result.scores.values() for leaf in (one.micro, one.macro) if leaf is not None]
    return [value for leaf in leaves for value in leaf.values.values() if value is not None]


def perfect(protocol: str, both: Sides) -> None:
    assert set(defined(run(protocol, both[0], both[0]))) <= {1.0}


def bounded(protocol: str, both: Sides) -> None:
    assert all(0 <= value <= 1 for value in defined(run(protocol, *both)))


def order(protocol: str, both: Sides) -> None:
    turned = [[replace(doc, links=doc.links[::-1]) for doc in reversed(side)] for side in both]
    assert run(protocol, *turned).to_dict() == run(protocol, *both).to_dict()


def renamed(document: Document) -> Document:
    """Other ids, in another alphabetical order."""
    names = {m.id: f"x{len(document.mentions) - number:02}" for number, m in enumerate(document.mentions)}
    return replace(
        document,
        mentions=tuple(replace(m, id=names[m.id], cluster=m.cluster and m.cluster[::-1]) for m in document.mentions),
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
    whole = run(protocol, *both)
    system = {document.id: document for document in both[1]}
    parts = [run(protocol, [doc], [system[doc.id]] if doc.id in system else []) for doc in both[0]]
    for id_, one in whole.scores.items():
        assert one.micro.counts is not None
        counts = [part[id_].micro.counts for part in parts if id_ in part.scores]
        rows = [astuple(found) for found in counts if found is not None]
        assert astuple(one.micro.counts) == pytest.approx([math.fsum(column) for column in zip(*rows, strict=True)])


def outcomes(protocol: str, both: Sides) -> None:
    for measure, table in tables(protocol, both):
        total = measure.kind.total(astuple(outcome.counts) for outcome in measure.outcomes(table))
        assert astuple(total) == pytest.approx(astuple(measure.count(table)))


def swap(protocol: str, both: Sides) -> None:
    there, back = run(protocol, *both), run(protocol, both[1], both[0])
    for id_, one in there.scores.items():
        assert (one.precision, one.recall) == pytest.approx((back[id_].recall, back[id_].precision))


def tables(protocol: str, both: Sides) -> list[tuple[Any, Any]]:
    """Each measure of a protocol with the table of each document."""
    resolved = protocols.resolve(protocol)
    surveys = [corpus(side).survey() for side in both]
    sheet = Sheet(resolved, surveys[0], surveys[1], by=(), measures=(), report=print)
    found = {document.id: document for document in both[1]}
    pairs = [Pair(document, found.get(document.id, Document(document.id))) for document in both[0]]
    return [(measure, Tables(pair).get(measure.artefact)) for pair in pairs for measure, _, _ in sheet.measures]


CHECKS: dict[str, Callable[[str, Sides], None]] = {
    "perfect": perfect,
    "bounded": bounded,
    "order": order,
    "ids": ids,
    "additive": additive,
    "outcomes": outcomes,
    "swap": swap,
}


@pytest.mark.parametrize("protocol", protocols.names())
@pytest.mark.parametrize("law", LAWS)
def test_promised_laws_hold(protocol: str, law: str) -> None:
    if law not in protocols.resolve(protocol).laws:
        assert (protocol, law) in COUNTEREXAMPLES, "a law is either promised or disproved"
        return

    @EXAMPLES
    @given(sides())
    def holds(both: Sides) -> None:
        CHECKS[law](protocol, both)

    holds()


def one(*mentions: Mention) -> list[Document]:
    return [Document("d", mentions=mentions)]


COUNTEREXAMPLES: dict[tuple[str, str], Sides] = {
    # A gold NOT_ANNOTATED agrees with anything; a system's is just wrong.
    ("tac-2017", "swap"): (
        one(mention("g", (0, 4), type="NOT_ANNOTATED")),
        one(mention("s", (0, 4), type="Life_Die")),
    ),
}


@pytest.mark.parametrize(("protocol", "law"), COUNTEREXAMPLES)
def test_counterexamples_disprove(protocol: str, law: str) -> None:
    assert law not in protocols.resolve(protocol).laws
    with pytest.raises(AssertionError):
        CHECKS[law](protocol, COUNTEREXAMPLES[protocol, law])


# Families promise for their own arithmetic, whatever alignment made the table.


def transposed(table: AlignedPairs) -> AlignedPairs:
    return AlignedPairs(table.system, table.gold, [(s, g, value) for g, s, value in table.pairs])


def swapped(counts: Counts) -> tuple[float, ...]:
    precision_num, precision_den, recall_num, recall_den = astuple(counts)
    return recall_num, recall_den, precision_num, precision_den


@EXAMPLES
@given(sides())
def test_family_laws(both: Sides) -> None:
    """Nugget counts: swapping a table swaps precision and recall; the table of a sum is the sum of the tables."""
    assert set(MEASURES.get("nugget").CARD.laws) == set(LAWS)
    made = tables("tac-2017", both)
    for measure, table in made:
        assert astuple(measure.count(transposed(table))) == swapped(measure.count(table))
    for measure in {measure for measure, _ in made}:
        own = [table for other, table in made if other == measure]
        total = measure.kind.total(astuple(measure.count(table)) for table in own)
        assert astuple(measure.count(measure.artefact.add(own))) == pytest.approx(astuple(total))


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
