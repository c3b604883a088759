"""TextEE and DyGIE++ as output: what is written reads back the same, and what would be lost is reported."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.corpus.fingerprint import Fingerprint
from karat.formats import FORMATS
from karat.model import Cluster, Document, Link, Mention
from karat.plugin import WriteOptions
from karat.problems import KaratError
from karat.testing.checks import documents_in
from tests.event_files import DYGIE, ONEIE, RAMS, TEXTEE, WIKIEVENTS, saved
from tests.running import run

FORMS = tuple("abcdefgh")


def written(name: str, document: Document) -> tuple[bytes, list[str]]:
    """The bytes of a document, and what was lost."""
    lost: list[str] = []
    write = FORMATS.get(name).write
    assert write is not None
    data = write(document, WriteOptions(), lost.append)
    assert isinstance(data, bytes)
    return data, lost


def through(name: str, document: Document) -> tuple[Document, list[str]]:
    """A document written and read back, and what was lost."""
    data, lost = written(name, document)
    (read,) = documents_in(data, FORMATS.get(name), report=lambda finding: pytest.fail(str(finding)))
    return read, lost


def fingerprint(document: Document) -> str:
    whole = Fingerprint()
    whole.add(document)
    return str(whole)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """Entities and arguments, then events with roles: in the order of these formats or in another."""
    kinds = draw(st.lists(st.sampled_from(["entity", "argument", "event"]), max_size=7))
    if draw(st.booleans()):
        kinds.sort(key=["entity", "argument", "event"].index)
    mentions = []
    for number, kind in enumerate(kinds):
        begin = draw(st.integers(0, 7))
        end = draw(st.integers(begin + 1, 8)) if draw(st.booleans()) else begin + 1
        type_ = draw(st.sampled_from([None, "A", "B"]))
        cluster = draw(st.sampled_from([None, None, "d:1", "d:2"]))
        attributes: dict[str, Any] = {} if type_ is None or kind == "argument" else {"type": type_}
        mentions.append(Mention(f"m{number}", ((begin, end),), kind=kind, cluster=cluster, attributes=attributes))
    ids = [mention.id for mention in mentions]
    ends = st.tuples(st.sampled_from(["R", "S"]), st.sampled_from(ids), st.sampled_from([*ids, "d:1"]))
    links = draw(st.lists(ends, max_size=6)) if ids else []
    known = {*ids, *(mention.cluster for mention in mentions)}
    return Document(
        "d",
        unit="token",
        forms=FORMS,
        sentences=draw(st.sampled_from([(), ((0, 4), (4, 8))])),
        mentions=tuple(mentions),
        links=tuple(Link(*link) for link in links if link[2] in known),
    )


@settings(max_examples=80, deadline=None)
@given(documents(), st.sampled_from(["textee", "dygie"]))
@pytest.mark.slow
def test_without_a_loss_nothing_is_lost(document: Document, name: str) -> None:
    back, lost = through(name, document)
    if not lost:
        assert fingerprint(back) == fingerprint(document)
    assert back.forms == document.forms


@pytest.mark.parametrize(
    ("record", "name"), [(TEXTEE, "textee"), (ONEIE, "textee"), (DYGIE, "dygie"), (RAMS, "dygie")], ids=str
)
def test_conversion_without_loss(record: dict[str, Any], name: str, tmp_path: Path) -> None:
    """Into the format itself, and from another one that says no more."""
    source, target = saved(tmp_path / "in.json", record), tmp_path / f"out.{name}.json"
    done = run("convert", source, str(target))
    assert done.code == 0, done.err
    one, other = (next(iter(karat.read(path))) for path in (source, target))
    assert fingerprint(one) == fingerprint(other)
    again = tmp_path / f"again.{name}.json"
    assert run("convert", str(target), str(again)).code == 0
    assert again.read_bytes() == target.read_bytes()


@pytest.mark.parametrize(("name", "record"), [("textee", TEXTEE), ("dygie", DYGIE)], ids=["textee", "dygie"])
def test_a_file_as_it_is_written(name: str, record: dict[str, Any], tmp_path: Path) -> None:
    """Keys and values are those of the program's own files."""
    data, lost = written(name, next(iter(karat.read(saved(tmp_path / "w.json", record)))))
    assert (json.loads(data), lost) == (record, [])


FULL = Document(
    "d",
    topic="36",
    source="newswire",
    text="a b c d e f g h",
    unit="token",
    forms=FORMS,
    about={"note": "x"},
    mentions=(
        Mention("e1", ((0, 2),), cluster="c1", attributes={"type": "A", "realis": "Actual"}, text="A B"),
        Mention("t1", ((3, 4), (5, 6)), kind="value", head=((3, 4),), cluster="c2", confidence=("0.5",)),
        Mention("t2", ((3, 6),), kind="entity", cluster="c2", attributes={"type": 3}),
        Mention("t3", (), kind="entity", text="nowhere"),
        Mention("e2", ((6, 7),), cluster="c1"),
    ),
    clusters=(Cluster("c2", "entity"),),
    links=(Link("Agent", "e1", "c2"), Link("after", "e1", "e2"), Link("Place", "c1", "t1")),
)
BOTH = {
    "the document's topic",
    "the document's source",
    "the document's note",
    "kinds and attributes of clusters",
    "the attribute realis",
    "the attribute type",
    "the head of mentions",
    "confidences",
    "segments of spans (written from the first token to the last)",
    "mentions without a span",
    "that arguments are entities as a whole (written as their first mention)",
    "links of kind after",
    "links of kind Place",
    "that mentions are of kind value (read as entity)",
    "the order of mentions",
}


def test_textee_tells_what_it_cannot_hold() -> None:
    back, lost = through("textee", FULL)
    assert set(lost) == {*BOTH, "clusters"}
    assert [(link.kind, link.source, link.target) for link in back.links] == [("Agent", "e1", "t1")]


def test_dygie_tells_what_it_cannot_hold() -> None:
    back, lost = through("dygie", FULL)
    assert set(lost) == {
        *BOTH,
        "the document's text",
        "clusters of events",
        "triggers of several tokens (written as their first token)",
        "mentions that share a span with another",
        "the text of mentions",
    }
    assert [mention.span for mention in back.mentions if mention.kind == "event"] == [((0, 1),), ((6, 7),)]


@pytest.mark.parametrize(("name", "code"), [("textee", "textee-unwritable"), ("dygie", "dygie-unwritable")])
def test_what_cannot_be_written_at_all_is_refused(name: str, code: str) -> None:
    mention = Mention("m", ((0, 3),))
    for document, says in (
        (Document("d", mentions=(mention,)), "has no tokens with their words"),
        (Document("d", unit="token", forms=("a",), mentions=(mention,)), "there are 1 tokens"),
        (Document("d", text="ab cd", tokens=((0, 2), (3, 5)), mentions=(mention,)), "whole tokens"),
        (Document("d", unit="microsecond", mentions=(mention,)), "microsecond"),
    ):
        with pytest.raises(KaratError, match=says) as caught:
            written(name, document)
        assert caught.value.finding.code == code


@pytest.mark.parametrize("name", ["textee", "dygie"])
def test_characters_are_written_as_tokens(name: str) -> None:
    """Where the document says where its tokens are, spans of whole tokens are found again."""
    document = Document("d", text="ab cd", tokens=((0, 2), (3, 5)), mentions=(Mention("m", ((3, 5),)),))
    back, lost = through(name, document)
    assert (back.forms, back.mentions[0].span) == (("ab", "cd"), ((1, 2),))
    assert "character offsets (written as tokens)" in lost


def test_wikievents_becomes_anything(tmp_path: Path) -> None:
    """Scores do not depend on the format."""
    source = saved(tmp_path / "in.jsonl", WIKIEVENTS)
    for name in ("out.jsonl", "out.textee.json", "out.dygie.json"):
        target = str(tmp_path / name)
        assert run("convert", source, target, "--lossy").code == 0
        assert karat.score(source, target, protocol="exact-2013")["nugget.type"].f1 == 1


def test_words_of_conll_can_be_written(tmp_path: Path) -> None:
    """Readers of columns make words when someone asks for them; the writers need all of them."""
    conll = tmp_path / "a.conll"
    conll.write_text("#begin document (a); part 000\na\t0\t0\tThey\t(1)\na\t0\t1\tleft\t-\n\n#end document\n")
    out = tmp_path / "a.textee.json"
    assert run("convert", str(conll), str(out), "--lossy").code == 0
    assert json.loads(out.read_text())["tokens"] == ["They", "left"]
