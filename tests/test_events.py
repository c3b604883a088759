"""Events: classes of coreference, and links propagated over them."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from karat.model import Document, Link
from karat.tables.events import events
from tests.corpora import documents, mention


def test_what_is_said_of_one_mention_is_said_of_its_event() -> None:
    """E6 -> E8, E7 -> E8 and a link of their clusters are one; a link inside an event is none."""
    document = Document(
        "d",
        mentions=(
            mention("E8", (0, 1)),
            mention("E6", (2, 3), cluster="K"),
            mention("E9", (4, 5), cluster="L"),
            mention("E7", (6, 7), cluster="K"),
        ),
        links=(
            Link("subevent", "E7", "E8"),
            Link("subevent", "E6", "E8"),
            Link("subevent", "K", "E8"),
            Link("subevent", "E6", "E7"),
            Link("after", "L", "K"),
            Link("after", "L", "nowhere"),
        ),
    )
    found = events(document)
    assert found.members == [[0], [1, 3], [2]]
    assert found.event_of == [0, 1, 2, 1]
    assert found.links == {"after": [(2, 1)], "subevent": [(1, 0)]}


def test_an_id_of_a_mention_and_a_cluster_means_the_mention() -> None:
    document = Document(
        "d",
        mentions=(mention("K", (0, 1)), mention("E1", (2, 3), cluster="K"), mention("E2", (4, 5))),
        links=(Link("after", "K", "E2"),),
    )
    assert events(document).links == {"after": [(0, 2)]}


@given(documents(), st.randoms(use_true_random=False))
def test_neither_names_nor_the_order_of_links_matter(document: Document, random: Random) -> None:
    names = {m.id: f"x{len(document.mentions) - number}" for number, m in enumerate(document.mentions)}
    links = [Link(link.kind, names[link.source], names[link.target]) for link in document.links]
    random.shuffle(links)
    renamed = replace(
        document,
        mentions=tuple(replace(m, id=names[m.id], cluster=m.cluster and m.cluster[::-1]) for m in document.mentions),
        links=tuple(links),
    )
    assert events(renamed) == events(document)
    assert sorted(number for members in events(document).members for number in members) == [
        *range(len(document.mentions))
    ]
