"""The contract of plug-ins: what tables, alignments, protocols and registries promise to whoever writes one."""

import warnings
from collections.abc import Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from karat import protocols
from karat.api.scoring import coref, score
from karat.counts import PrecisionRecall
from karat.families.coref.formulas import FORMULAS
from karat.families.coref.measures import Coref
from karat.families.coref.table import CorefTable, contingency
from karat.filters.heads import Heads
from karat.match.alignment import Alignment
from karat.model import Document, Mention, Pair
from karat.plugin import AlignmentChoice, Comparison, Contingency, Family, Measure, Outcome, Tables, TableSpec
from karat.problems import KaratError, PluginWarning, UsageError
from karat.protocols import PROTOCOLS, resolve
from karat.protocols.files import digest
from karat.registry import Registry, instance_of, named
from karat.run.pairs import Preparation
from tests.corpora import corpus, mention

ANY = Alignment.of(AlignmentChoice(), Comparison(), ())


# Tables


def test_a_table_is_made_once_for_equal_specs() -> None:
    made: list[str] = []

    class Sizes(TableSpec[int], Struct, frozen=True, cache_hash=True):
        name: str

        def make(self, tables: Tables) -> int:
            made.append(self.name)
            return len(tables.pair.gold.mentions)

    tables = Tables(Pair(Document("d", mentions=(mention("m", (0, 4)),)), Document("d")))
    assert [tables.get(Sizes("a")), tables.get(Sizes("a")), tables.get(Sizes("b"))] == [1, 1, 1]
    assert made == ["a", "b"]


def test_protocols_with_equal_filters_share_the_tables_of_a_pair() -> None:
    """Five cross-document protocols align once; the one that collapses clusters sees other mentions."""
    names = ["simple-cdec", "bejan-harabagiu-2014", "upadhyay-2016-st", "upadhyay-2016-is", "yang-2015", "pure-cdec"]
    preparation = Preparation([resolve(name) for name in names], print)
    document = Document("d", mentions=(mention("a", (0, 4), cluster="c"), mention("b", (6, 9), cluster="c")))
    pair = Pair(document, document)
    prepared = preparation.prepare(pair, range(len(names)))
    assert len({id(one.tables) for one in prepared[:-1]}) == 1
    assert [len(one.tables.pair.gold.mentions) for one in prepared[-2:]] == [2, 1]
    assert prepared[-1].filtered is prepared[0].filtered


def test_counts_are_a_parameter_of_the_base() -> None:
    class Declared(Measure[Contingency, PrecisionRecall], frozen=True):
        pass

    class Derived(Declared, frozen=True):
        pass

    class Undeclared(Measure[Contingency, Any], frozen=True):
        pass

    assert Declared(CorefTable(ANY)).counts_type() is Derived(CorefTable(ANY)).counts_type() is PrecisionRecall
    with pytest.raises(TypeError, match="Undeclared does not declare its counts"):
        Undeclared(CorefTable(ANY)).counts_type()


# Outcomes


@pytest.mark.parametrize("name", FORMULAS)
def test_outcomes_of_coreference_are_about_clusters(name: str) -> None:
    """No outcome repeats the total: two gold and two system clusters contribute apart."""
    table = contingency([{"a", "b", "c"}, {"d", "e"}], [{"a", "b"}, {"c", "d", "e", "f"}])
    measure = Coref(CorefTable(ANY), name)
    listed: list[Outcome[PrecisionRecall]] = list(measure.outcomes(table))
    assert len(listed) >= 2
    assert all(outcome.counts != measure.count(table) for outcome in listed)
    assert measure.counts_type().summed(
        [(c.precision_num, c.precision_den, c.recall_num, c.recall_den) for c in (one.counts for one in listed)]
    ) == measure.count(table)


def test_b3_outcomes_by_hand() -> None:
    """Bagga and Baldwin: a cell of o mentions earns o² / n on each side; a mention alone counts below the line."""
    table = contingency([{"a", "b", "c"}], [{"a", "b"}, {"d"}])
    outcomes = list(Coref(CorefTable(ANY), "b3").outcomes(table))
    described = [(one.gold is not None, one.system is not None, one.counts) for one in outcomes]
    assert described == [
        (True, True, PrecisionRecall(2.0, 2, 4 / 3, 2)),
        (True, False, PrecisionRecall(0, 0, 0, 1)),
        (False, True, PrecisionRecall(0, 1, 0, 0)),
    ]
    assert coref([{"a", "b", "c"}], [{"a", "b"}, {"d"}])["b3"].recall == pytest.approx(4 / 9)


# Alignments


@pytest.mark.parametrize(("ties", "chosen"), [("line", "late"), ("words", "early")])
def test_ties_go_by_line_or_by_words(ties: Any, chosen: str) -> None:
    """Two system mentions overlap gold's equally; which is aligned depends on their lines, or on their words."""
    spec = Alignment.of(AlignmentChoice(ties=ties), Comparison(), ())
    gold = Document("d", mentions=(mention("g", (4, 8)),))
    system = Document("d", mentions=(mention("late", (6, 10)), mention("early", (2, 6))))
    table = Tables(Pair(gold, system)).get(spec)
    assert [table.system[s].id for _, s, _, _ in table.pairs] == [chosen]


def test_candidates_are_shared_whatever_must_agree() -> None:
    choice, comparison = AlignmentChoice(agree="type"), Comparison()
    one = Alignment.of(choice, comparison, ("type", "realis"))
    other = Alignment.of(choice, comparison, ("type", "realis"), agree=("realis",))
    assert one != other
    assert one.candidates == other.candidates
    assert (one.bit("type"), one.bit("realis")) == (1, 2)


# Protocols that extend others


def write(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_protocol_states_only_what_differs(tmp_path: Path) -> None:
    mine = write(
        tmp_path, "mine.toml", 'title = "Mine"\nextends = "simple-cdec"\n[parameters.match]\ndefault = "head"\n'
    )
    base, own = resolve("simple-cdec"), resolve(mine)
    assert (own.name, own.title, own.unit) == ("mine", "Mine", base.unit)
    assert own.values == base.values | {"match": "head"}
    assert own.parameters["match"].choices == base.parameters["match"].choices
    assert own.alignments["same"].similarity == "head"
    assert own.filters == tuple(replace(one, match="head") if isinstance(one, Heads) else one for one in base.filters)


def test_the_signature_covers_every_file_that_is_not_karats_own(tmp_path: Path) -> None:
    base = tmp_path / "base.toml"
    base.write_text('title = "Base"\nextends = "conll-2012"\n')
    mine = tmp_path / "mine.toml"
    mine.write_text('title = "Mine"\nextends = "base.toml"\n')
    before = digest(mine)
    base.write_text('title = "Base"\nextends = "conll-2012"\nunit = "corpus"\n')
    assert before is not None
    assert digest(mine) != before
    assert digest(PROTOCOLS.get("yang-2015")) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('title = "T"\nextends = "mine.toml"\n', "it extends itself: mine -> mine"),
        ('title = "T"\nextends = "simple-cdeq"\n', "there is no protocol 'simple-cdeq'"),
        ('title = "T"\nextends = 3\n', "extends names a protocol or a file, found 3"),
        ('title = "T"\nextends = "other.toml"\n', "there is no such protocol file"),
        ('extends = "simple-cdec"\nunit = "page"\n', "unit has the value 'page', expected one of: document, "),
    ],
)
def test_what_cannot_be_extended_is_refused(text: str, message: str, tmp_path: Path) -> None:
    path = write(tmp_path, "mine.toml", text)
    with pytest.raises(KaratError, match=message):
        resolve(path)


def test_aliases_are_not_inherited() -> None:
    assert protocols.resolve("no-singletons").name == "upadhyay-2016-is"
    assert [resolve(name).name for name in ("subtopic", "yang-2015")] == ["upadhyay-2016-st", "yang-2015"]


# Registries


def registry(points: Sequence[EntryPoint]) -> Registry[Family[Any]]:
    one: Registry[Family[Any]] = Registry(
        "karat.measures", "measure", own=lambda: named(), accept=instance_of(Family), listed_by="karat measures"
    )
    one.__dict__["added"] = {point.name: point for point in points}
    return one


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("nowhere.measure:FAMILY", "ModuleNotFoundError: No module named 'nowhere'"),
        ("karat.families.nugget.measures:CARD", "TypeError: expected a karat.plugin.Family"),
        ("karat.families.nugget.measures:NOTHING", "AttributeError"),
    ],
)
def test_a_broken_plugin_stops_nothing_else(value: str, problem: str) -> None:
    broken = EntryPoint("broken", value, "karat.measures")
    works = EntryPoint("works", "karat.families.nugget.measures:FAMILY", "karat.measures")
    both = registry([broken, works])
    with pytest.warns(PluginWarning, match="the measure 'broken' of an unknown package cannot be loaded"):
        assert [name for name, _ in both] == ["works"]
    with pytest.raises(KaratError, match=problem):
        both.get("broken")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert both.get("works").card.title == "Event nugget detection"


def test_an_unknown_name_is_a_mistake_on_the_command_line() -> None:
    with pytest.raises(UsageError, match="there is no measure 'works2'") as refused:
        registry([EntryPoint("works", "karat.families.nugget.measures:FAMILY", "karat.measures")]).get("works2")
    assert "Did you mean works?" in str(refused.value)


def test_a_filter_a_similarity_and_a_matching_from_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is an entry point, and a protocol names it."""
    from karat.filters import FILTERS
    from karat.match.matchings import MATCHINGS
    from karat.match.similarities import SIMILARITIES

    (tmp_path / "outside.py").write_text(
        """
from karat.filters import both_sides, restricted
from karat.plugin import Filter

class Long(Filter, frozen=True):
    least: int = 0

    def prepare(self, comparison, report):
        keep = lambda mention: mention.span[-1][1] - mention.span[0][0] >= self.least
        return both_sides(lambda document: restricted(document, keep))

def same_begin(gold, system):
    return [(-1.0, s, g) for s, x in enumerate(system) for g, y in enumerate(gold) if x.span[0][0] == y.span[0][0]]

def last_first(candidates):
    from karat.match.matchings import greedy
    return greedy(candidates[::-1])
"""
    )
    monkeypatch.syspath_prepend(tmp_path)
    for one, name, value in (
        (FILTERS, "long", "outside:Long"),
        (SIMILARITIES, "same-begin", "outside:same_begin"),
        (MATCHINGS, "last-first", "outside:last_first"),
    ):
        monkeypatch.setitem(one.added, name, EntryPoint(name, value, one.group))
        monkeypatch.setitem(one._loaded, name, EntryPoint(name, value, one.group).load())
    path = write(
        tmp_path,
        "mine.toml",
        """
title = "Long mentions that begin alike"

[[filters]]
name = "long"
least = 3

[alignments.begin]
similarity = "same-begin"
method = "last-first"

[[measures]]
family = "nugget"
alignment = "begin"
""",
    )
    gold = [Document("d", mentions=(mention("a", (0, 4)), mention("b", (6, 8)), mention("c", (10, 14))))]
    system = [Document("d", mentions=(Mention("x", ((0, 9),)), Mention("y", ((11, 14),))))]
    result = score(corpus(gold), corpus(system), protocol=path)
    assert (result["nugget.span"].precision, result["nugget.span"].recall) == (0.5, 0.5)
