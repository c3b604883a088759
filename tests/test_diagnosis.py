"""Notes on what may be wrong with a system as a whole."""

import json
import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

import karat
from karat.model import Document, Link, Mention, Pair, Unit
from karat.result import Result
from tests.running import run

TEXT = "The rebels attacked the town and burnt it after they had fled from the river to the hills again. " * 3
WORDS = [(at, at + len(word)) for word in {*TEXT.split()} for at in range(len(TEXT)) if TEXT.startswith(word + " ", at)]
SPANS = sorted(WORDS)[::2]

Span = tuple[int, int]


def document(spans: Iterable[Span], *, text: str | None = None, words: bool = False, **about: Any) -> Document:
    mentions = tuple(
        Mention(f"m{number}", ((begin, end),), text=TEXT[slice(*SPANS[number])] if words else None)
        for number, (begin, end) in enumerate(spans)
    )
    return Document("d", text=text, mentions=mentions, **about)


def notes(gold: Document, system: Document, protocol: str = "exact-2013") -> dict[str, str]:
    result = karat.score([gold], [system], protocol=protocol)
    return {finding.code: finding.message for finding in result.warnings}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda begin, end: (begin, end - 1), "ends look inclusive (18 of 18 would match gold if corrected, 0 do now)"),
        (lambda begin, end: (begin, end + 1), "ends look one too far"),
        (lambda begin, end: (begin + 1, end + 1), "spans look shifted by 1"),
        (lambda begin, end: (begin + 1, end), "spans look shifted by 1 and ends look inclusive"),
        (lambda begin, end: (begin + 40, end + 40), "spans look shifted by 40"),
    ],
)
@pytest.mark.parametrize("with_text", [True, False])
def test_a_constant_change_of_spans_is_named(change: Callable[..., Span], named: str, *, with_text: bool) -> None:
    """In scores and in validation against gold, with the text of gold or by its mentions alone."""
    spans = SPANS[:18]
    gold = document(spans, text=TEXT if with_text else None)
    found = notes(gold, document([change(*span) for span in spans]))["spans-differ"]
    assert found.startswith("system mentions: ")
    assert named in found
    assert ("cut words" in found) == (with_text and "too far" not in named)


def test_texts_of_mentions_are_compared_with_gold(tmp_path: Path) -> None:
    """Gold has the text, and the system only mentions with theirs; gold may be without any mention."""
    system = document([(begin, end - 1) for begin, end in SPANS[:12]], words=True)
    found = notes(document(SPANS[:1], text=TEXT), system)["spans-differ"]
    assert "12 of 12 differ from the text at their span" in found
    assert "ends look inclusive (12 of 12 would match gold if corrected, 0 do now)" in found
    right = document(SPANS[:12], words=True)
    assert "spans-differ" not in notes(document(SPANS[:1], text=TEXT), right)
    paths = tmp_path / "gold.jsonl", tmp_path / "mine.jsonl"
    for path, side in zip(paths, (document([], text=TEXT), system), strict=True):
        path.write_bytes(karat_line(side))
    done = run("validate", str(paths[1]), "--against", str(paths[0]))
    assert "ends look inclusive" in done.out


@pytest.mark.parametrize(("unit", "size"), [("char", len(TEXT)), ("token", len(TEXT.split()))])
def test_spans_after_the_text_of_gold_are_counted(unit: Unit, size: int, tmp_path: Path) -> None:
    """In scores; in validation, each of them is a fault."""
    gold = document([(0, 1)], text=TEXT) if unit == "char" else document([(0, 1)], unit=unit, forms=tuple(TEXT.split()))
    spans = [(0, 1), (size - 1, size), (size - 1, size + 1), (size, size + 1)]
    system = Document("d", unit=unit, mentions=tuple(Mention(f"m{n}", (span,)) for n, span in enumerate(spans)))
    found = notes(gold, system)["spans-differ"]
    assert found.startswith("system mentions: 2 of 4 end after gold's text")
    for name, side in (("gold", gold), ("mine", system)):
        (tmp_path / f"{name}.jsonl").write_bytes(karat_line(side))
    done = run("validate", str(tmp_path / "mine.jsonl"), "--against", str(tmp_path / "gold.jsonl"))
    assert ("2 faults" in done.out, "end after" in done.out) == (True, False)


def karat_line(side: Document) -> bytes:
    return msgspec.json.encode(side) + b"\n"


def test_few_mentions_must_agree() -> None:
    """Of fewer than ten, all; of fewer than three, by one place at most."""
    inclusive = [(begin, end - 1) for begin, end in SPANS[:4]]
    assert "ends look inclusive (4 of 4" in notes(document(SPANS[:4]), document(inclusive))["spans-differ"]
    assert "spans-differ" not in notes(document(SPANS[:4]), document([*inclusive[:3], SPANS[3]]))
    shifted = [(begin + 7, end + 7) for begin, end in SPANS[:4]]
    for count in (2, 3, 4):
        found = notes(document(SPANS[:4]), document(shifted[:count])).get("spans-differ", "")
        assert ("shifted by 7" in found) == (count > 2)


@pytest.mark.parametrize("shift", [-1, 1])
def test_a_shift_is_named_once(shift: int) -> None:
    """Texts are equal whatever blanks are around them, but spans are not."""
    spans = SPANS[1:14]
    system = document([(begin + shift, end + shift) for begin, end in SPANS[:14]], words=True)
    system = replace(system, mentions=system.mentions[1:])
    explained = (
        f"13 of 13 differ from the text at their span; spans look shifted by {shift} "
        "(13 of 13 would match gold if corrected, 0 do now)"
    )
    found = notes(document(spans, text=TEXT), system)["spans-differ"]
    assert found.partition("; 1")[0] == f"system mentions: {explained}"


@pytest.mark.parametrize(("exact", "inclusive", "named"), [(4, 8, True), (5, 8, False), (3, 7, False)])
def test_a_change_is_named_if_it_doubles_the_matches_to_half_of_the_mentions(
    exact: int, inclusive: int, *, named: bool
) -> None:
    """Of 16 mentions."""
    wrong = [(1000 + 3 * at, 1001 + 3 * at) for at in range(16 - exact - inclusive)]
    spans = [*SPANS[:exact], *((begin, end - 1) for begin, end in SPANS[exact : exact + inclusive]), *wrong]
    assert ("spans-differ" in notes(document(SPANS), document(spans))) == named


def test_spans_that_cut_words_are_counted_where_most_are_right() -> None:
    spans = [*SPANS[:14], *((begin + 1, end) for begin, end in SPANS[14:18])]
    found = notes(document(SPANS, text=TEXT), document(spans))["spans-differ"]
    assert found == "system mentions: 4 of 18 spans cut words"


def test_ordinary_errors_are_no_change_of_all_spans() -> None:
    """Half right, missed and spurious spans, and now and then a longer one."""
    chosen = random.Random(1)
    for _ in range(20):
        spans = [
            (begin, end + chosen.choice((0, 0, 4))) for begin, end in chosen.sample(sorted(WORDS), 20) if end < 280
        ]
        assert "spans-differ" not in notes(document(SPANS), document(spans))


@pytest.mark.parametrize(
    ("gold", "system", "swapped"),
    [
        ("pred.jsonl", "gold.jsonl", True),
        ("test.jsonl", "my-ref.jsonl", True),
        ("dev_output.v2.jsonl", "x.jsonl", True),
        ("predictions.jsonl", "dev.jsonl", True),
        ("response.jsonl", "key.jsonl", True),
        ("predictions.jsonl", "predicted.jsonl", False),
        ("gold.jsonl", "gold.test.jsonl", False),
        ("system.jsonl", "sys.jsonl", False),
        ("gold.jsonl", "system.jsonl", False),
        ("test.pred.jsonl", "test.gold.jsonl", True),
        ("test.gold.jsonl", "test.pred.jsonl", False),
        ("reference.jsonl", "keys.jsonl", False),
        ("a.jsonl", "predator.jsonl", False),
        ("test.jsonl", "pred_gold_mentions.jsonl", False),
        ("gold_output.jsonl", "mine.jsonl", False),
    ],
)
def test_sides_that_look_swapped(gold: str, system: str, tmp_path: Path, *, swapped: bool) -> None:
    for name in (gold, system):
        (tmp_path / name).write_bytes(karat_line(document(SPANS[:2])))
    done = run("score", str(tmp_path / gold), str(tmp_path / system), "-p", "exact-2013", "-f", "json")
    codes = [warning["code"] for warning in json.loads(done.out)["warnings"]]
    assert ("sides-swapped" in codes) == swapped
    done = run("validate", str(tmp_path / system), "--against", str(tmp_path / gold))
    assert ("look swapped" in done.out) == swapped


def labelled(types: Iterable[str], roles: Iterable[str]) -> Document:
    events = [Mention(f"e{n}", ((n, n + 1),), attributes={"type": type_}) for n, type_ in enumerate(types)]
    filler = Mention("a", ((90, 91),), kind="argument")
    return Document("d", mentions=(filler, *events), links=tuple(Link(role, "e0", "a") for role in roles))


def messages(result: Result, code: str) -> list[str]:
    return [finding.message for finding in result.warnings if finding.code == code]


def test_types_and_roles_that_gold_never_has() -> None:
    gold = labelled(["Attack", "Die", "Meet"], ["Attacker", "Target"])
    system = labelled(["attack", "attack", "Dies", "Meet", "x", "yy", "yy"], ["attacker", "Target"])
    assert messages(karat.score([gold], [system], protocol="textee-2024"), "labels-unknown") == [
        "6 of 7 items of the system (85.7%) have a type that gold never has: 'attack' (2; nearest in gold: 'Attack'), "
        "'yy' (2), 'Dies' (1; nearest in gold: 'Die'), ...; "
        "1 of 2 items of the system (50.0%) has a role that gold never has: "
        "'attacker' (1; nearest in gold: 'Attacker')",
    ]
    assert not messages(karat.score([gold], [gold], protocol="textee-2024"), "labels-unknown")
    of_protocol = karat.score([gold], [labelled(["ATTACK"], ["x"])], protocol="tac-2017")
    assert not messages(of_protocol, "labels-unknown"), "case does not matter there, and roles are not scored"
    untyped = Document("d", mentions=tuple(replace(m, attributes={}) for m in gold.mentions), links=gold.links)
    for protocol, noted in (("paie-2022", True), ("wikievents-2021", True), ("rams-2020", False)):
        expected = ["gold has types, such as 'Attack', but no item of the system has one"] * noted
        assert messages(karat.score([gold], [untyped], protocol=protocol), "labels-unknown") == expected, protocol


def test_arguments_that_are_events_are_counted() -> None:
    """A Theme may be an entity or an event; a link that no entity fills is a relation."""
    gold = labelled(["Regulation", "Binding"], ["Theme"])
    links = (*gold.links, Link("Theme", "e0", "e1"), Link("after", "e0", "e1"))
    gold = Document("d", mentions=gold.mentions, links=links)
    result = karat.score([gold], [gold], protocol="textee-2024")
    assert messages(result, "arguments-are-events") == [
        "arguments that are events are not scored: 1 of 2 in gold, 1 of 2 in the system"
    ]
    assert result["arg.c"].f1 == 1
    assert not messages(karat.score([gold], [gold], protocol="exact-2013"), "arguments-are-events")


def test_a_scorer_compares_each_document_once_in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those beyond the first thousand mentions give way to earlier documents."""
    compared: list[str] = []

    def compare(pair: Pair, fit: object) -> None:
        compared.append(pair.gold.id)

    shifts = [0, 40, 0, 1, 1, 1, -3, 0, 40, 40]
    pairs = [
        (
            Document(f"d{index}", mentions=document((200 * n, 200 * n + 5) for n in range(150)).mentions),
            Document(f"d{index}", mentions=document((200 * n + by, 200 * n + by + 5) for n in range(150)).mentions),
        )
        for index, by in enumerate(shifts)
    ]
    random.Random(1).shuffle(pairs)
    scorer = karat.Scorer("exact-2013")
    growing = []
    with monkeypatch.context() as patched:
        patched.setattr("karat.run.diagnosis._compare_texts", compare)
        for pair in pairs:
            scorer.add(*pair)
            growing.append(messages(scorer.result(), "spans-differ"))
    assert len(compared) == len({*compared})
    sides = [zip(*pairs[:count], strict=True) for count in range(1, len(pairs) + 1)]
    at_once = [messages(karat.score(*side, protocol="exact-2013"), "spans-differ") for side in sides]
    assert growing == at_once
    assert len({*map(tuple, growing)}) > 2
