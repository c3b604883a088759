"""Sequences: the exact closure against brute force, worked cases, refusals, and what may not matter."""

from collections.abc import Callable, Iterable
from itertools import combinations, pairwise, product
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import astuple, replace

from karat.api.scoring import Result, score
from karat.cli.program import cli
from karat.counts import PrecisionRecall
from karat.families.sequence.measures import TimeLink
from karat.families.sequence.timeline import Timeline
from karat.model import Document, Link, Mention
from karat.problems import KaratError
from karat.protocols import PROTOCOLS
from tests.corpora import corpus, mention

ROWS = {"after": ["after"], "subevent": ["subevent"], "all": ["after", "subevent"]}


def document(links: str, clusters: str = "", mentions: str = "abcdefgh", *, id_: str = "d") -> Document:
    """Mentions by letter, each at its own place; `a<b` is After, `a>b` Subevent, `ab cd` are clusters."""
    cluster_of = {letter: f"{id_}:{cluster}" for cluster in clusters.split() for letter in cluster}
    kinds = {"<": "after", ">": "subevent"}
    return Document(
        id_,
        mentions=tuple(
            mention(letter, (10 * ord(letter), 10 * ord(letter) + 5), cluster=cluster_of.get(letter))
            for letter in mentions
        ),
        links=tuple(Link(kinds[sign], source, target) for source, sign, target in map(tuple, links.split())),
    )


def run(gold: Document | list[Document], system: Document | list[Document], **options: str) -> Result:
    sides = (corpus(side if isinstance(side, list) else [side]) for side in (gold, system))
    return score(*sides, protocol="tac-2017", settings=options, measures=["sequence"])


def counts(result: Result) -> dict[str, PrecisionRecall]:
    found = {}
    for name in ROWS:
        own = result[f"sequence.{name}"].micro.counts
        assert isinstance(own, PrecisionRecall)
        found[name] = own
    return found


def numbers(result: Result, row: str) -> tuple[float | None, float | None]:
    return result[f"sequence.{row}"].precision, result[f"sequence.{row}"].recall


# Brute force: links between mentions, every link tried without itself, paths walked one by one.

Constraint = tuple[str, str]


def constraints(link: TimeLink) -> list[Constraint]:
    kind, x, y = link
    return [(f"{x}.end", f"{y}.start")] if kind == "after" else [(f"{x}.start", f"{y}.start"), (f"{y}.end", f"{x}.end")]


def leads(known: set[Constraint], first: str, last: str) -> bool:
    seen, left = set[str](), [first]
    while left:
        point = left.pop()
        for one, other in known:
            if one == point and other not in seen:
                seen.add(other)
                left.append(other)
    return last in seen


def known_by(links: Iterable[TimeLink]) -> set[Constraint]:
    links = list(links)
    own = {(f"{event}.start", f"{event}.end") for _, *ends in links for event in ends}
    return own | {constraint for link in links for constraint in constraints(link)}


def follows(link: TimeLink, links: Iterable[TimeLink]) -> bool:
    known = known_by(links)
    return all(leads(known, *constraint) for constraint in constraints(link))


def expanded(document: Document, kind: str) -> set[TimeLink]:
    """Links between classes without those over a third class, then between all mentions of the two."""
    class_of = {m.id: m.cluster or m.id for m in document.mentions}
    links = {(class_of[link.source], class_of[link.target]) for link in document.links if link.kind == kind}
    kept = {link for link in links if not leads(links - {link}, *link)}
    places = {m.id: m.span[0][0] for m in document.mentions}
    return {
        (kind, places[x], places[y])
        for x, y in product(class_of, class_of)
        if (class_of[x], class_of[y]) in kept  # ids and clusters never have the same name here
    }


def by_hand(gold: Document, system: Document, kinds: list[str]) -> tuple[float, float, float, float]:
    """Spec 6, word for word."""
    written, graphs, reduced = [], [], []
    for side in (gold, system):
        links = {link for kind in kinds for link in expanded(side, kind)}
        known = known_by(links)
        against = {link for link in links if any(leads(known, y, x) for x, y in constraints(link))}
        remaining = links - against
        written.append(links)
        graphs.append(remaining)
        reduced.append({link for link in remaining if not follows(link, remaining - {link})} | against)

    def found(side: int) -> list[TimeLink]:
        other = 1 - side
        return [link for link in reduced[side] if link in written[other] or follows(link, graphs[other])]

    implicit = [link for link in reduced[1] if link not in reduced[0] and follows(link, graphs[0])]
    nodes = [{event for _, *ends in links for event in ends} for links in reduced]
    n = len(nodes[0] & nodes[1])
    divisor = 1 + n * (n - 1) / 2 - len(found(0))
    weight = 0.99 / divisor if divisor > 0 else 0
    return len(found(1)), len(reduced[1]), len(found(0)) + weight * len(implicit), len(reduced[0])


@st.composite
def sides(draw: st.DrawFn) -> tuple[Document, Document]:
    """Two sides of a document with mentions at the same places, clusters, and links of both kinds without a cycle.

    Links of a kind lead the same way on both sides, so that they often meet, and the kinds do not, so that they clash.
    """
    ranks = {sign: draw(st.permutations("abcde")) for sign in "<>"}
    pairs = [f"{x}{sign}{y}" for sign in "<>" for x, y in combinations(ranks[sign], 2)]
    both = []
    for _ in range(2):
        mentions = draw(st.sampled_from(["abcde", "abcde", "abcd", "edcba"]))
        cluster = draw(st.sampled_from(["", "", "ab", "bd", "ace"]))
        links = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=9))
        # A cluster stands where its first letter stands, so that no links over it form a cycle.
        place = {letter: cluster[0] if letter in cluster else letter for letter in mentions}
        kept = [
            f"{x}{sign}{y}"
            for x, sign, y in map(tuple, links)
            if x in place and y in place and ranks[sign].index(place[x]) < ranks[sign].index(place[y])
        ]
        both.append(document(" ".join(kept), cluster, mentions))
    return both[0], both[1]


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(sides())
def test_as_by_hand(both: tuple[Document, Document]) -> None:
    """Events with multiplicities and bits give what links between mentions give, tried one by one."""
    result = counts(run(*both))
    for row, kinds in ROWS.items():
        own = result[row]
        numbers = own.precision_num, own.precision_den, own.recall_num, own.recall_den
        assert numbers == pytest.approx(by_hand(*both, kinds), abs=1e-12), row


Interval = tuple[int, int]


def models(events: int) -> Iterable[list[Interval]]:
    """Every way in which so many intervals can lie, as starts and ends on a line of end points."""
    points = range(2 * events)
    for placed in product(points, repeat=2 * events):
        intervals = list(zip(placed[::2], placed[1::2], strict=True))
        if all(start < end for start, end in intervals):
            yield intervals


HOLDS: dict[str, Callable[[Interval, Interval], bool]] = {
    "after": lambda x, y: x[1] < y[0],
    "subevent": lambda x, y: x[0] < y[0] and y[1] < x[1],
}
ALL_MODELS = list(models(3))
ALL_LINKS = [(kind, x, y) for kind in HOLDS for x in range(3) for y in range(3) if x != y]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(ALL_LINKS), max_size=4, unique=True))
def test_what_is_entailed_holds_in_every_model(links: list[TimeLink]) -> None:
    """Three intervals can be laid out in every way: a link is entailed if it holds wherever the given ones hold."""

    def holds(link: TimeLink, intervals: list[Interval]) -> bool:
        kind, x, y = link
        return HOLDS[kind](intervals[x], intervals[y])

    having = [intervals for intervals in ALL_MODELS if all(holds(link, intervals) for link in links)]
    timeline = Timeline(links)
    if not having:  # a contradiction: some links are left aside, and others entail what they entail
        assert links
        return
    entailed = {link for link in ALL_LINKS if all(holds(link, intervals) for intervals in having)}
    assert timeline.entailed(ALL_LINKS) == (entailed if links else set())
    assert Timeline(timeline.reduced).entailed(ALL_LINKS) == timeline.entailed(ALL_LINKS)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(sides(), st.randoms(use_true_random=False))
def test_neither_ids_nor_the_order_of_links_matter(both: tuple[Document, Document], random: Random) -> None:
    """Spec 6.9: in the old scorer renaming mentions moved scores."""

    def other(side: Document) -> Document:
        names = dict(zip((m.id for m in side.mentions), random.sample(range(100), len(side.mentions)), strict=True))
        links = [Link(link.kind, f"x{names[link.source]}", f"x{names[link.target]}") for link in side.links]
        random.shuffle(links)
        mentions = [replace(m, id=f"x{names[m.id]}", cluster=m.cluster and m.cluster[::-1]) for m in side.mentions]
        return replace(side, mentions=tuple(mentions), links=tuple(links))

    assert counts(run(*map(other, both))) == counts(run(*both))


# Worked cases.


def test_a_chain_and_its_shortcut() -> None:
    """Gold a < b < c; the system says a < c: right, and a little of gold's two links: w = 0.99 / (1 + 1 - 0)."""
    result = run(document("a<b b<c"), document("a<c"))
    assert numbers(result, "after") == pytest.approx((1, 0.99 / 2 / 2))


def test_the_shortcut_beside_the_chain_changes_nothing() -> None:
    assert counts(run(document("a<b b<c a<c"), document("a<b b<c"))) == counts(
        run(document("a<b b<c"), document("a<b b<c"))
    )


def test_links_hold_between_all_mentions_of_two_events() -> None:
    """{a b} < {c d} is four links; a system without coreference that says a < c has one of them."""
    result = run(document("a<c", "ab cd"), document("a<c"))
    assert counts(result)["after"] == PrecisionRecall(1, 1, 1, 4)


def test_kinds_entail_each_other_in_all() -> None:
    """a is before b, b includes c: so a is before c, which only `all` knows."""
    result = run(document("a<b b>c"), document("a<c"))
    assert numbers(result, "after") == (0, 0)
    assert numbers(result, "all") == pytest.approx((1, 0.99 / 2 / 2))


def test_a_system_of_both_kinds_against_gold_of_one() -> None:
    result = run(document("a>b c>d"), document("a>b c<d"))
    assert numbers(result, "subevent") == (1, 0.5)
    assert numbers(result, "after") == (0, 0)
    assert numbers(result, "all") == (0.5, 0.5)


def test_the_same_pair_in_both_kinds_on_both_sides() -> None:
    """Spec 6.10: the old scorer divided by zero, a perfect system included."""
    both = document("a<b a>b")
    assert [numbers(run(both, both), row) for row in ROWS] == [(1, 1)] * 3


def test_contradictory_links_count_for_themselves_and_entail_nothing() -> None:
    """a < b contradicts a > b: neither lets a < c follow from b > c."""
    result = run(document("a<c"), document("a<b a>b b>c"))
    assert numbers(result, "all") == (0, 0)
    assert counts(result)["all"].precision_den == 3


def test_a_system_that_contradicts_itself_may_recall_more_than_there_is() -> None:
    """Everything of gold is there literally, and a < c, which gold entails, beside it: 2 + 0.99 / (1 + 3 - 2) of 2."""
    result = run(document("a<b b>c"), document("a<b a>b b>c a<c"))
    assert numbers(result, "all") == pytest.approx((0.75, 2.495 / 2))


def test_no_links_at_all() -> None:
    """The rows are there, as scorer v1.8 prints them; with links on one side only they are zero as well."""
    for gold, system in (("", ""), ("a<b", ""), ("", "a<b")):
        assert numbers(run(document(gold), document(system)), "all") == (0, 0)
    assert counts(run(document(""), document("a<b")))["all"] == PrecisionRecall(0, 1, 0, 0)


def test_documents_without_gold_mentions_count() -> None:
    """Links of the system there are wrong."""
    gold = [document("a<b"), document("", mentions="", id_="e")]
    system = [document("a<b"), document("a<b", id_="e")]
    assert counts(run(gold, system))["after"] == PrecisionRecall(1, 2, 1, 1)


def test_mentions_meet_without_the_threshold_of_coreference() -> None:
    """Spec 6.6: spans that overlap will do, types as coref.mapping says."""

    def side(shift: int, type_: str) -> Document:
        mentions = tuple(
            mention(letter, (start + shift, start + 9 + shift), type=type_) for letter, start in (("a", 0), ("b", 20))
        )
        return Document("d", mentions=mentions, links=(Link("after", "a", "b"),))

    assert numbers(run(side(0, "T"), side(4, "T")), "after") == (1, 1)
    assert numbers(run(side(0, "T"), side(4, "U")), "after") == (0, 0)
    assert numbers(run(side(0, "T"), side(4, "U"), **{"coref.mapping": "span"}), "after") == (1, 1)


def test_mentions_that_are_filtered_take_their_links_along(tmp_path: Path) -> None:
    """Spec 3.2: a relation that lost an argument is dropped, even if the event has other mentions."""
    (tmp_path / "types.txt").write_text("A\n")
    gold = document("a<c", "ab")
    typed = replace(
        gold, mentions=tuple(replace(m, attributes={"type": "B" if m.id == "a" else "A"}) for m in gold.mentions)
    )
    assert counts(run(typed, typed, types=str(tmp_path / "types.txt")))["after"] == PrecisionRecall(0, 0, 0, 0)
    assert counts(run(typed, typed))["after"] == PrecisionRecall(2, 2, 2, 2)


@pytest.mark.parametrize("unit", ["topic", "corpus"])
def test_larger_units_are_one_graph(unit: str, tmp_path: Path) -> None:
    """Documents share no event, so everything adds but w, which is of the unit."""
    toml = PROTOCOLS.get("tac-2017").read_text().replace('unit = "document"', f'unit = "{unit}"')
    (tmp_path / "larger.toml").write_text(toml)
    gold = [replace(document("a<b b<c", id_=id_), topic="t") for id_ in "de"]
    system = [replace(document("a<c", id_=id_), topic="t") for id_ in "de"]
    result = score(corpus(gold), corpus(system), protocol=str(tmp_path / "larger.toml"), measures=["sequence"])
    assert astuple(counts(result)["after"]) == pytest.approx((2, 2, 2 * 0.99 / (1 + 6), 4))


# What is refused, noted, or large.


def block(*lines: str) -> str:
    mentions = [f"s\td\tE{n}\t{10 * n},{10 * n + 5}\tx\tA\tActual" for n in range(1, 6)]
    return "\n".join(
        ["#BeginOfDocument d", *mentions, *(line.replace("|", "\t") for line in lines), "#EndOfDocument", ""]
    )


def scored(folder: Path, gold: str, system: str) -> str:
    (folder / "gold.tbf").write_text(gold)
    (folder / "system.tbf").write_text(system)
    done = CliRunner().invoke(cli, ["score", str(folder / "gold.tbf"), str(folder / "system.tbf"), "-m", "sequence"])
    if done.exception is not None:
        raise done.exception
    return done.stdout


@pytest.mark.parametrize("side", ["gold", "system"])
def test_cycles_are_refused_with_their_members(side: str, tmp_path: Path) -> None:
    """Of three links, over a cluster; the old scorer dropped all of them without a word."""
    good = block("@After|R1|E1,E2")
    bad = block("@Coreference|C1|E1,E5", "@After|R1|E1,E2", "@After|R2|E2,E3", "@After|R3|E3,E5")
    with pytest.raises(KaratError) as refused:
        scored(tmp_path, *((bad, good) if side == "gold" else (good, bad)))
    finding = refused.value.finding
    assert (finding.code, finding.line, Path(finding.file or "").stem) == ("link-cycle", 10, side)
    assert "d:C1 -> E2 -> E3 -> d:C1" in finding.message


def test_contradictions_between_kinds_are_no_cycles(tmp_path: Path) -> None:
    """Spec 6.8: After against Subevent may be said."""
    both = block("@After|R1|E1,E2", "@Subevent|R2|E2,E1")
    assert "link-cycle" not in scored(tmp_path, both, both)


def test_notes(tmp_path: Path) -> None:
    odd = block("@Coreference|C1|E1,E5", "@After|R1|E1,E5", "@Subevent|R2|E1,E3", "@Subevent|R3|E2,E3")
    reported = scored(tmp_path, block("@After|R1|E1,E2"), odd)
    assert "line 8: the after link from 'E1' to 'E5' of document 'd' joins mentions of one cluster" in reported
    assert "line 10: 'E3' of document 'd' has 2 parents by subevent links: 'd:C1' and 'E2'" in reported


def test_long_chains_and_large_events() -> None:
    """A thousand links, and links between events that would be a million pairs of mentions."""
    chain = [("after", n, n + 1) for n in range(1000)]
    timeline = Timeline([*chain, ("after", 3, 1000)])
    assert timeline.reduced == chain
    assert timeline.entailed([("after", 0, 1000), ("after", 1000, 0), ("subevent", 0, 1)]) == {("after", 0, 1000)}

    def event(name: str, begin: int) -> list[Mention]:
        return [mention(f"{name}{n}", (begin + 2 * n, begin + 2 * n + 1), cluster=f"d:{name}") for n in range(1000)]

    events = [event(name, 10_000 * number) for number, name in enumerate("abc")]
    links = tuple(Link("after", f"{x}0", f"{y}0") for x, y in pairwise("abc"))
    whole = Document("d", mentions=tuple(m for members in events for m in members), links=links)
    assert counts(run(whole, whole))["after"] == PrecisionRecall(2e6, 2e6, 2e6, 2e6)
