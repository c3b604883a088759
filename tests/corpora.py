"""Corpora for tests: in a few words, or at random."""

from collections.abc import Iterable

from hypothesis import strategies as st

from karat.corpus import MemoryCorpus
from karat.model import Document, Link, Mention, Region, Value
from karat.regions import union


def mention(id_: str, *segments: tuple[int, int], cluster: str | None = None, **attributes: Value) -> Mention:
    """A mention in one line."""
    return Mention(id_, tuple(segments), cluster=cluster, attributes=attributes)


def corpus(documents: Iterable[Document]) -> MemoryCorpus:
    """Documents as a corpus."""
    return MemoryCorpus(documents)


TYPES = ["Life_Die", "Life_Injure", "NOT_ANNOTATED"]
REALIS = ["Actual", "Generic"]

_segments = st.tuples(st.integers(0, 12), st.integers(1, 4)).map(lambda pair: (pair[0], pair[0] + pair[1]))
regions: st.SearchStrategy[Region] = st.lists(_segments, min_size=1, max_size=2).map(union)


@st.composite
def documents(draw: st.DrawFn, id_: str = "d", *, most: int = 6) -> Document:
    """A document with mentions that overlap a lot, some clusters, and links that never form a cycle."""
    count = draw(st.integers(0, most))
    mentions = [
        Mention(
            f"m{number}",
            draw(regions),
            cluster=draw(st.none() | st.sampled_from(["c0", "c1"]).map(lambda c: f"{id_}:{c}")),
            attributes={"type": draw(st.sampled_from(TYPES)), "realis": draw(st.sampled_from(REALIS))},
        )
        for number in range(count)
    ]
    ends = st.tuples(st.sampled_from(["after", "subevent"]), st.integers(0, most), st.integers(0, most))
    # A cluster stands where its first mention stands, so that links that lead forward form no cycle over it.
    first = {m.cluster or m.id: number for number, m in reversed([*enumerate(mentions)])}
    place = {number: first[m.cluster or m.id] for number, m in enumerate(mentions)}
    links = {
        (kind, f"m{a}", f"m{b}")
        for kind, a, b in draw(st.lists(ends, max_size=4))
        if a in place and b in place and place[a] < place[b]
    }
    return Document(id_, mentions=tuple(mentions), links=tuple(Link(*link) for link in sorted(links)))


@st.composite
def sides(draw: st.DrawFn) -> tuple[list[Document], list[Document]]:
    """Gold and system documents with the same ids; a side may lack one."""
    names = [f"d{number}" for number in range(draw(st.integers(1, 3)))]
    gold = [draw(documents(name)) for name in names]
    system = [draw(documents(name)) for name in names if name == "d0" or draw(st.booleans())]
    return gold, system
