"""Laws: every protocol and every family of measures declares which it obeys, and each promise is checked.

`karat.testing.laws` has the laws, and `karat.testing.suite` the tests of everything that is installed. For a law that a
protocol does not promise, a counter-example is here as a test.
"""

from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import astuple, replace

from karat.api.scoring import Result, score
from karat.counts import PrecisionRecall
from karat.families import MEASURES
from karat.families.nugget.measures import Nugget
from karat.model import Document, Link, Mention
from karat.plugin import AlignedPairs, Contingency, Facts, Law
from karat.protocols import PROTOCOLS, resolve
from karat.run.pipeline import Batch, RunSetup, Task
from karat.testing import check, laws, suite
from karat.testing.checks import check_laws, takes_defaults
from karat.testing.corpora import Sides, argument_documents, completed, distinct, sides, template_documents
from karat.testing.laws import LAWS, Trial, tables
from tests.corpora import ace, arguments, corpus, mention, templates


def _argument_families(name: str) -> set[str]:
    return {choice.name for choice in resolve(name).families} & {"trig", "arg", "template"}


EXAMPLES = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def run(protocol: str, gold: list[Document], system: list[Document]) -> Result:
    return score(corpus(gold), corpus(system), protocol=protocol, per_unit=True)


def test_every_law_has_its_check() -> None:
    assert tuple(LAWS) == get_args(Law)


TWO_DOCUMENTS: Sides = (
    [Document(id_, mentions=(mention("m", (0, 4)),)) for id_ in "de"],
    [Document("d", mentions=(mention("m", (0, 4)),))],
)


def no_rows(setup: RunSetup, task: Task) -> Batch:
    del task
    batch = Batch.empty(len(setup.protocols))
    batch.facts = Facts(), Facts()
    return batch


def test_a_merge_that_loses_a_part_breaks_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a run that is never divided would pass for one that is."""
    laws.processes(Trial(resolve("tac-2017"), TWO_DOCUMENTS))
    monkeypatch.setattr("karat.run.pipeline.worker_batch", no_rows)
    with pytest.raises(AssertionError, match="must obey 'processes', but one part per document"):
        laws.processes(Trial(resolve("tac-2017"), TWO_DOCUMENTS))


def test_an_empty_document_that_counts_breaks_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    laws.empty(Trial(resolve("exact-2013"), TWO_DOCUMENTS))
    monkeypatch.setattr(Nugget, "count", lambda *_: PrecisionRecall(0, 1, 0, 1))
    with pytest.raises(AssertionError, match="must obey 'empty', but an empty document changes /nugget"):
        laws.empty(Trial(resolve("exact-2013"), TWO_DOCUMENTS))


@pytest.mark.slow
@pytest.mark.parametrize("name", PROTOCOLS.names())
def test_laws_of_protocols(name: str) -> None:
    """On fewer corpora than in the suite that third parties run: many protocols share their measures."""
    check(name, examples=15)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, family in MEASURES if takes_defaults(family)])
def test_laws_of_families(name: str) -> None:
    check(MEASURES.get(name), examples=15)


class TestEverythingInstalled:
    """The rest of the suite that third parties run."""

    test_families_used = staticmethod(suite.test_every_family_is_used_or_has_defaults)
    test_formats = staticmethod(suite.test_laws_of_formats)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROTOCOLS.names())
def test_a_law_is_either_promised_or_disproved(name: str) -> None:
    """By a counter-example below, or by one that is found at random: a protocol says no less than it could."""
    for law in [law for law in get_args(Law) if law not in resolve(name).laws and (name, law) not in COUNTEREXAMPLES]:
        try:
            check_laws([law], resolve(name), examples=300)
        except AssertionError:
            continue
        pytest.skip(f"no counter-example for {law!r} was found: promise it, or disprove it here")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PROTOCOLS.names() if _argument_families(name)])
def test_laws_of_arguments_and_templates(name: str) -> None:
    """On corpora that hold nothing else: those of every sort have few arguments."""
    made = template_documents if "template" in _argument_families(name) else argument_documents
    check_laws(resolve(name).laws, resolve(name), corpora=sides(made), examples=20)


RESTRICTED = ("coref", "hierarchy", "sequence")
"""Families whose breakdowns score a restricted corpus and count its mentions, as `coref.mention` does."""


@pytest.mark.slow
@pytest.mark.parametrize("name", PROTOCOLS.names())
def test_the_items_of_a_breakdown_agree_with_its_scores(name: str) -> None:
    """The items are those of the ratios. All are missed if recall is 0, and only then; those found earn at most 1."""
    families = _argument_families(name)
    both_sides = sides().map(distinct).map(completed)
    if families:
        both_sides = sides(template_documents if "template" in families else argument_documents)

    @settings(parent=EXAMPLES, database=None)
    @given(both_sides)
    def check_items(both: Sides) -> None:
        if not any(document.links if families else document.mentions for document in both[0]):
            return
        result = score(*map(corpus, both), protocol=name, by=["role" if families else "type"])
        for row in next(iter(result.by.values())).values():
            for id_, found in row.items():
                counts, items = found.micro.counts, found.items
                is_of_items = id_ == "coref.mention" or id_.partition(".")[0] not in RESTRICTED
                if not isinstance(counts, PrecisionRecall) or items is None or not is_of_items:
                    continue
                gold, system = items.gold - items.missed, items.system - items.spurious
                assert ((counts.recall_num > 0), (counts.precision_num > 0)) == (gold > 0, system > 0)
                if counts.precision_den.is_integer():  # a match of tac-pilot counts less than 1
                    assert (counts.recall_den, counts.precision_den) == (items.gold, items.system)
                if "bounded" in resolve(name).laws:
                    assert (counts.recall_num <= gold + 1e-9, counts.precision_num <= system + 1e-9) == (True, True)

    check_items()


def one(*mentions: Mention) -> list[Document]:
    return [Document("d", mentions=mentions)]


def linked(*ids: str, **links: list[tuple[str, str]]) -> list[Document]:
    mentions = tuple(mention(id_, (10 * number, 10 * number + 4)) for number, id_ in enumerate(ids))
    joined = tuple(Link(kind, *ends) for kind, pairs in links.items() for ends in pairs)
    return [Document("d", mentions=mentions, links=joined)]


ACROSS = (
    "simple-cdec",
    "pure-cdec",
    "bejan-harabagiu-2014",
    "upadhyay-2016-st",
    "upadhyay-2016-is",
    "yang-2015",
)

COUNTEREXAMPLES: dict[tuple[str, Law], Sides] = {
    # A gold NOT_ANNOTATED agrees with anything; a system's is just wrong.
    **{
        (protocol, "swap"): (
            one(mention("g", (0, 4), type="NOT_ANNOTATED")),
            one(mention("s", (0, 4), type="Life_Die")),
        )
        for protocol in ("tac-2017", "liu-2015")
    },
    # The accuracy of links is over those of gold alone.
    ("tieval-2023", "swap"): (
        linked("a", "b", "c", BEFORE=[("a", "b")]),
        linked("a", "b", "c", BEFORE=[("a", "b"), ("a", "c")]),
    ),
    # A system that contradicts itself has all of gold's links and says what they entail, too.
    ("tac-2017", "bounded"): (
        linked("a", "b", "c", after=[("a", "b")], subevent=[("b", "c")]),
        linked("a", "b", "c", after=[("a", "b"), ("a", "c")], subevent=[("a", "b"), ("b", "c")]),
    ),
    # BLANC ignores non-links if gold has none; a system without them is wrong about gold's.
    ("cattan-2021", "swap"): (
        one(*(mention(str(at), (at, at + 1), cluster="E") for at in range(4))),
        one(*(mention(str(at), (at, at + 1), cluster=str(at // 2)) for at in range(4))),
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
    ("rams-2020", "swap"): (
        [*arguments(("3", "A", "5")), replace(arguments(("3", "A", "5"))[0], id="e")],
        arguments(("3", "A", "5")),
    ),
    # Words that the system has too many cost nothing, those that it lacks do: another partner is the better one.
    **{
        (protocol, "swap"): (
            one(mention("g", (0, 4), cluster="c"), mention("h", (20, 24), cluster="c")),
            one(
                mention("s", (0, 2), cluster="c"),
                mention("t", (20, 24), cluster="c"),
                mention("u", (0, 8), cluster="e"),
                mention("v", (30, 34), cluster="e"),
            ),
        )
        for protocol in ("crac-2022", "crac-2023", "crac-2024")
    },
    # Clusters meet across documents, so that documents by themselves do not add up.
    **{
        (protocol, "additive"): (
            [Document(id_, topic="t", mentions=(mention("g", (0, 4), cluster="c"),)) for id_ in "de"],
            [Document(id_, topic="t", mentions=(mention("g", (0, 4), cluster="c"),)) for id_ in "de"],
        )
        for protocol in (*ACROSS, "cattan-2021")
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
    # A repeated system trigger is right each time, and only the first type of a gold span can be found.
    ("oneie-2020", "bounded"): (arguments(("3", "", "")), arguments(("3", "", ""), ("3'", "", ""))),
    ("oneie-2020", "perfect"): (arguments(("3", "", ""), ("3:Die", "", "")), []),
    ("oneie-2020", "swap"): (arguments(("3", "", "")), arguments(("3", "", ""), ("3'", "", ""))),
    # An argument of two system triggers is right twice.
    **{
        ("dygie-2019", law): (arguments(("3", "A", "5")), arguments(("3", "A", "5"), ("9", "A", "5")))
        for law in ("bounded", "swap")
    },
    # The head of `the men` without its article is `men`, whatever the file calls its head.
    ("wikievents-2021", "perfect"): (arguments(("3", "A", "0-2@0"), text="the men had fled"), []),
    # Several mentions of one gold entity are all right; system events without a gold event are ignored.
    ("wikievents-2021", "bounded"): (
        arguments(("3", "A", "5"), ("9", "", "6"), clusters={"5": "c", "6": "c"}),
        arguments(("3", "A", "5"), ("3", "A", "6")),
    ),
    ("wikievents-2021", "swap"): (arguments(("3", "A", "5")), arguments(("3", "A", "5"), ("9", "A", "5"))),
    # What gold lists twice counts twice, also for precision.
    **{
        ("paie-2022", law): (arguments(("3", "A", "5"), ("3", "A", "5")), arguments(("3", "A", "5")))
        for law in ("perfect", "bounded", "swap")
    },
    # The system's answer is its first trigger on a span; its types are gold's; single tokens are candidates.
    ("omnievent-2023", "perfect"): (arguments(("3", "A", "5"), ("3:Die", "A", "5")), []),
    ("omnievent-2023", "swap"): (arguments(("3", "A", "5")), arguments(("3", "A", "5"), ("9:Die", "A", "5"))),
    ("omnievent-2023", "additive"): (
        [*arguments(("3", "A", "5")), replace(arguments(("3:Die", "A", "5"))[0], id="e")],
        arguments(("3:Die", "A", "5")),
    ),
    # System events of one trigger and type are merged, gold's are not; surplus strings cost nothing in entities.
    ("maven-arg-2024", "perfect"): (
        arguments(("3", "A", "5"), ("3'", "A", "6"), text="zero one two three four five six"),
        [],
    ),
    ("maven-arg-2024", "swap"): (
        arguments(("3", "A", "5"), text="zero one two three four five six"),
        arguments(("3", "A", "5"), ("3", "A", "6"), text="zero one two three four five six"),
    ),
    # A string that gold repeats counts twice in the proportional score.
    **{("ree-2021", law): (templates("attack: men=men"), templates("attack: men")) for law in ("bounded", "swap")},
    ("ree-2021", "perfect"): (templates("attack: men=men, men"), []),
    # Equal gold templates are one, equal system templates are not.
    ("gtt-2021", "perfect"): (templates("attack: men", "attack: men"), []),
    ("gtt-2021", "swap"): (templates("attack: men", "attack: men"), templates("attack: men")),
    # Repeated strings of an entity all match the one string of gold.
    ("rme-2023", "bounded"): (templates("attack: men"), templates("attack: men=men")),
    # A gold type that is a choice is counted once for each label.
    ("rme-2023", "perfect"): (templates("attack / bombing: men"), []),
    ("rme-2023", "swap"): (templates("attack / bombing: men"), templates("attack: men")),
    # A pair without a label is right where gold says VAGUE; in TB-Dense, pairs that gold does not label are ignored.
    ("matres-2018", "swap"): (linked("a", "b"), linked("a", "b", VAGUE=[("a", "b")])),
    ("tb-dense-2014", "swap"): (
        linked("a", "b", "c", BEFORE=[("a", "b")]),
        linked("a", "b", "c", BEFORE=[("a", "b"), ("a", "c")]),
    ),
    ("tieval-2023", "perfect"): (linked("a", "b", VAGUE=[("a", "b")]), []),
    # Relations that contradict each other count in their order, so it is part of the signature.
    ("tempeval-3", "order"): (linked("a", "b", BEFORE=[("a", "b"), ("b", "a")]), []),
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
def test_counterexamples_disprove(protocol: str, law: Law) -> None:
    assert law not in resolve(protocol).laws
    with pytest.raises(AssertionError):
        LAWS[law](Trial(resolve(protocol), COUNTEREXAMPLES[protocol, law]))


# Families promise for their own arithmetic, whatever alignment made the table.


def transposed(table: AlignedPairs | Contingency) -> AlignedPairs | Contingency:
    if isinstance(table, Contingency):
        return Contingency.by_name(
            table.system, table.gold, {(r, k): shared for (k, r), shared in table.overlap.items()}
        )
    return AlignedPairs(table.system, table.gold, [(s, g, value, bits) for g, s, value, bits in table.pairs])


@EXAMPLES
@given(sides())
def test_family_laws(both: Sides) -> None:
    """Swapping a table swaps precision and recall; lists of pairs count alike one by one and together."""
    every = [*tables(resolve("tac-2017"), both), *tables(resolve("muc-5"), both)]
    made = [(measure, table) for measure, table in every if isinstance(table, AlignedPairs | Contingency)]
    for measure, table in made:
        there, back = measure.count(table).ratios(), measure.count(transposed(table)).ratios()
        assert (there["precision"], there["recall"]) == (back["recall"], back["precision"])
    for measure in {measure for measure, table in made if isinstance(table, AlignedPairs)}:
        own = [table for other, table in made if other == measure]
        total = measure.counts_type().summed(astuple(measure.count(table)) for table in own)
        assert astuple(measure.count(measure.table.add(own))) == pytest.approx(astuple(total))


@EXAMPLES
@given(sides(), st.randoms(use_true_random=False))
def test_cross_document_clusters_survive_renaming_in_the_fingerprint(both: Sides, random: Any) -> None:
    """A cluster over two documents is identified by its places, not by its name."""
    gold = [replace(doc, mentions=tuple(replace(m, cluster="shared") for m in doc.mentions)) for doc in both[0]]
    other = [replace(doc, mentions=tuple(replace(m, cluster="another") for m in doc.mentions)) for doc in gold]
    split = [replace(doc, mentions=tuple(replace(m, cluster=doc.id) for m in doc.mentions)) for doc in gold]
    random.shuffle(other)
    prints = [run("tac-2017", side, both[1]).gold.fingerprint for side in (gold, other, split)]
    assert prints[0] == prints[1]
    assert (prints[0] == prints[2]) == (sum(bool(doc.mentions) for doc in gold) < 2)
