"""Events: classes of coreference, and links propagated over them."""

from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import karat
from karat.match.events import Events
from karat.model import Document, Link, cluster_keys
from tests.corpora import corpus, documents, mention


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
    events = Events(document, cluster_keys(document))
    assert events.members == [[0], [1, 3], [2]]
    assert events.event_of == [0, 1, 2, 1]
    assert events.links("after") == {(2, 1)}
    assert events.links("subevent") == {(1, 0)}
    assert events.keys == [("d", 0), "K", "L"]


def test_an_id_of_a_mention_and_a_cluster_means_the_mention() -> None:
    document = Document(
        "d",
        mentions=(mention("K", (0, 1)), mention("E1", (2, 3), cluster="K"), mention("E2", (4, 5))),
        links=(Link("after", "K", "E2"),),
    )
    assert Events(document, cluster_keys(document)).links("after") == {(0, 2)}


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
    one, other = Events(renamed, cluster_keys(renamed)), Events(document, cluster_keys(document))
    assert one.members == other.members
    assert all(one.links(kind) == other.links(kind) for kind in ("after", "subevent"))
    assert sorted(number for members in other.members for number in members) == [*range(len(document.mentions))]


TBF = """#BeginOfDocument d
s\td\tE1\t0,1\ta\tLife_Die\tActual
s\td\tE2\t2,3\ta\tLife_Die\tActual
 @After\tR1\tE1,E2
@Coreference\tR2\tE1,E2
@Nothing\tR3\tE1,E2
#EndOfDocument
#BeginOfDocument e
s\te\tE1\t0,1\ta\tLife_Die\tActual
#EndOfDocument
"""
BRAT = """T1\tLife_Die 0 1\ta
T2\tPER 2 3\tb
T3\tLife_Die 4 5\tc
E1\tLife_Die:T1 Victim2:T2
E2\tLife_Die:T3
R1\tAfter Arg2:E1 Arg1:T2
R2\tCoreference Arg1:E1 Arg2:E2
R3\tSubevent Arg1:T1 Arg2:E2
R4\tAfter Arg1:E1 Arg2:E9
"""
JSONL = """{"id": "d", "mentions": [{"id": "m", "span": [[0, 1]], "cluster": "C"}, {"id": "n", "span": [[2, 3]], \
"kind": "entity"}], "links": [{"kind": "cause", "from": "C", "to": "m"}, {"kind": "Victim", "from": "m", "to": "n"}]}
"""


@pytest.mark.parametrize(
    ("name", "text", "everywhere", "among_events"),
    [
        ("a.tbf", TBF, {"after", "nothing"}, {"after", "nothing"}),
        ("a.ann", BRAT, {"Victim", "after", "subevent"}, {"subevent"}),
        ("a.jsonl", JSONL, {"cause", "Victim"}, {"cause"}),
    ],
)
def test_the_light_pass_tells_which_links_there_are(
    name: str, text: str, everywhere: set[str], among_events: set[str], tmp_path: Path
) -> None:
    """Declare what reading would find, so that a protocol knows its rows before it reads."""
    (tmp_path / name).write_text(text)
    survey = karat.read(tmp_path / name).facts()
    assert survey.links_of(None) == everywhere
    assert survey.links_of(["event"]) == among_events
    assert survey.links == corpus(karat.read(tmp_path / name)).facts().links
