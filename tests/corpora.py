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
    ends = draw(st.lists(st.tuples(st.integers(0, most), st.integers(0, most)), max_size=3))
    lone = {number for number, m in enumerate(mentions) if m.cluster is None}
    links = {Link("after", f"m{a}", f"m{b}") for a, b in ends if a < b and {a, b} <= lone}
    return Document(
        id_, mentions=tuple(mentions), links=tuple(sorted(links, key=lambda link: (link.source, link.target)))
    )


@st.composite
def sides(draw: st.DrawFn) -> tuple[list[Document], list[Document]]:
    """Gold and system documents with the same ids; a side may lack one."""
    names = [f"d{number}" for number in range(draw(st.integers(1, 3)))]
    gold = [draw(documents(name)) for name in names]
    system = [draw(documents(name)) for name in names if name == "d0" or draw(st.booleans())]
    return gold, system
