"""The HTML report, opened in Chromium: nothing leaves it, nothing in it is run, and it can be worked with."""

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import karat
from tests.running import run

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = sync_api.expect
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on this machine"),
]

DEMO = Path(karat.__file__).parent / "demo"
ACE = Path(karat.__file__).parent / "studies" / "data" / "ace"
EVIL = "<script>window.broken=1</script><img src=x onerror='window.broken=1'>"

Page = Any
Open = Callable[..., Page]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield launched
        launched.close()


@contextmanager
def opened(browser: Any, path: Path, **context: Any) -> Iterator[Page]:
    """A report that requests nothing but itself, and reports no error."""
    problems: list[str] = []
    requests: list[str] = []
    settings = {"viewport": {"width": 1280, "height": 800}, **context}
    own = browser.new_context(**settings)
    own.set_default_timeout(10_000)
    page = own.new_page()
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_selector("#list button")
    yield page
    assert problems == []
    assert requests == [path.as_uri()]
    assert page.evaluate("window.broken") is None
    own.close()


@pytest.fixture
def opening(browser: Any) -> Iterator[Open]:
    with ExitStack() as stack:
        yield lambda path, **context: stack.enter_context(opened(browser, path, **context))


def report(path: Path, *args: str | Path) -> Path:
    done = run(*map(str, args), "-f", "html", "-o", str(path))
    assert done.code == 0, done.err
    assert f"{path}: " in done.err
    return path


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("scored") / "report.html"
    return report(path, "score", DEMO / "gold.jsonl", DEMO / "literal.jsonl", "-p", "tac-2017", "--ci", "95")


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("compared") / "report.html"
    systems = [DEMO / f"{name}.jsonl" for name in ("literal", "eager", "cautious")]
    chosen = ("-p", "tac-2017", "-m", "nugget", "--resamples", "50")
    return report(path, "compare", DEMO / "gold.jsonl", *systems, *chosen)


def write(path: Path, documents: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(document) + "\n" for document in documents), encoding="utf-8")
    return path


def mention(id_: str, begin: int, end: int, type_: str = "Attack", **others: Any) -> dict[str, Any]:
    return {"id": id_, "span": [[begin, end]], "attributes": {"type": type_}, **others}


def reported(folder: Path, gold: Sequence[dict[str, Any]], system: Sequence[dict[str, Any]], *args: str) -> Path:
    files = write(folder / "gold.jsonl", gold), write(folder / "system.jsonl", system)
    return report(folder / "report.html", "score", *files, *(args or ("-p", "tac-2017", "-m", "nugget")))


def choose(page: Page, label: str, option: str) -> None:
    page.get_by_label(label, exact=True).select_option(label=option)


def chips(page: Page) -> dict[str, int]:
    """The classes of outcomes with their numbers, as the page offers them."""
    texts = page.locator("#classes .chip").all_inner_texts()
    words = [text.replace(",", "").split() for text in texts]
    return {" ".join(one[1:-1]): int(one[-1]) for one in words}


def signs(page: Page) -> list[str]:
    return [str(sign) for sign in page.locator("#items .sign").all_inner_texts()]


def position(page: Page) -> str:
    return str(page.locator("#position").inner_text())


def title(page: Page) -> str:
    return str(page.locator("#document-title").inner_text())


def test_the_whole_report_is_one_file_that_asks_for_nothing(opening: Open, scored: Path) -> None:
    page = opening(scored)
    text = scored.read_text(encoding="utf-8")
    policy = page.locator("meta[http-equiv]").get_attribute("content")
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert [word for word in ("http://", "https://", "src=", " style=", "@import", "url(") if word in text] == []
    assert "literal.jsonl" in page.title()
    assert "47.92" in page.locator(".headlines").inner_text()
    assert "[42.4, 53.9]" in page.locator(".headlines").inner_text()
    assert page.locator("#breakdowns svg rect").count() > 20


def test_the_policy_forbids_every_request(browser: Any, scored: Path) -> None:
    """Not even data in the page itself, and no script or style that is added to it."""
    page = browser.new_page()
    page.goto(scored.as_uri())
    assert page.evaluate("fetch('data:,x').then(() => 'fetched', () => 'blocked')") == "blocked"
    page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.broken = 1'}))"
    )
    page.evaluate("document.body.setAttribute('onclick', 'window.broken = 1')")
    page.locator("h1").click()
    assert page.evaluate("window.broken") is None
    page.close()


def test_keys_move_between_errors(opening: Open, scored: Path) -> None:
    page = opening(scored)
    total = int(position(page).split()[0])
    assert position(page) == f"{total} errors"
    seen = []
    for key, number in (("n", 1), ("j", 2), ("n", 3), ("p", 2), ("k", 1), ("p", total), ("n", 1)):
        page.keyboard.press(key)
        assert position(page) == f"Error {number} of {total}"
        assert page.locator(".piece.selected").count() > 0
        assert page.locator("#items [aria-pressed=true]").count() == 1
        seen.append((title(page), page.locator("#card").inner_text()))
    assert seen[0] == seen[4] == seen[6]
    assert seen[0] != seen[1]
    assert seen[5][0] != seen[0][0]
    page.keyboard.press("Escape")
    assert page.locator("#card").is_hidden()
    first = title(page)
    page.keyboard.press("]")
    assert title(page) != first
    page.keyboard.press("[")
    assert title(page) == first
    page.keyboard.press("/")
    page.keyboard.type("n")  # in a field, it is a letter
    assert page.locator("#search").input_value() == "n"


def test_keys_can_be_switched_off(opening: Open, scored: Path) -> None:
    page = opening(scored)
    before = position(page)
    page.keyboard.press("?")
    assert "next error" in page.get_by_role("dialog", name="Keys").inner_text()
    page.keyboard.press("n")  # of the dialog, not of the documents
    page.locator("#shortcuts").uncheck()
    page.keyboard.press("Escape")
    assert page.get_by_role("dialog").count() == 0
    page.keyboard.press("n")
    page.keyboard.press("?")
    assert page.get_by_role("dialog").count() == 0
    assert position(page) == before
    page.get_by_role("button", name="Next error").click()
    assert position(page).startswith("Error 1 of")


def test_filters_filter(opening: Open, scored: Path) -> None:
    page = opening(scored)
    choose(page, "Measure", "nugget.type")
    assert chips(page) == {"missed": 55, "spurious": 59, "match": 89}
    assert set(signs(page)) == {"✓", "\N{MINUS SIGN}", "+"}
    page.locator("#classes").get_by_label("missed").uncheck()
    assert set(signs(page)) == {"✓", "+"}
    assert "59 errors" in page.locator("#list-count").inner_text()
    page.locator("#classes").get_by_label("match").uncheck()
    assert set(signs(page)) == {"+"}
    assert page.locator("#text .sign").all_inner_texts() == signs(page)
    page.locator("#classes").get_by_label("missed").check()
    choose(page, "Type", "Conflict_Attack")
    assert chips(page)["spurious"] == 13
    assert all("Conflict_Attack" in row for row in page.locator("#items button").all_inner_texts())


def test_search_finds(opening: Open, scored: Path) -> None:
    page = opening(scored)
    page.get_by_label("Search").fill("CRANE drivers")
    expect(page.locator("#list button")).to_have_count(2)
    assert "crane drivers" in page.locator("#text mark").all_inner_texts()
    page.get_by_label("Search").fill("tessen-2")
    expect(page.locator("#list button")).to_have_count(1)
    assert title(page) == "tessen-2"
    page.get_by_label("Search").fill("nowhere at all")
    expect(page.locator("#list button")).to_have_count(0)
    expect(page.locator("#list")).to_have_text("Nothing found for “nowhere at all”.")
    assert "0 of 12 documents" in page.locator("#list-count").inner_text()
    page.keyboard.press("Escape")
    expect(page.locator("#list button")).to_have_count(12)


def test_pointing_at_a_mention_shows_its_cluster_and_its_links(opening: Open, scored: Path) -> None:
    page = opening(scored)
    walked = page.locator("#text .piece", has_text="walked").first
    walked.scroll_into_view_if_needed()
    page.wait_for_timeout(50)  # scrolling ends what pointing shows
    walked.hover()
    tip = page.locator("#tip").inner_text()
    assert "cluster dock-strike, 2 mentions here" in tip
    assert "after: dismissed (dock-sackings) → walked out (dock-strike)" in tip
    assert any("strike" in text for text in page.locator(".coreferent").all_inner_texts())
    assert any("dismissed" in text for text in page.locator(".linked").all_inner_texts())
    walked.click()
    card = page.locator("#card").inner_text()
    assert "wrong type" in card
    assert "≠ Movement_Transport-Person" in card
    page.get_by_label("Number clusters").check()
    assert page.locator("#text .cluster").count() >= 4
    page.locator("#links summary").click()
    assert "dismissed (dock-sackings) → walked out (dock-strike)" in page.locator("#links").inner_text()
    page.locator("#text .piece[role=button]").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("#card").is_visible()


def test_outcomes_on_the_page_are_those_of_the_measure(opening: Open, scored: Path) -> None:
    page = opening(scored)
    result = karat.score(DEMO / "gold.jsonl", DEMO / "literal.jsonl", protocol="tac-2017", details=True, errors=True)
    for id_, records in result.outcomes.items():
        choose(page, "Measure", id_)
        names = Counter("missed" if record.outcome == "miss" else record.outcome for record in records)
        assert chips(page) == names, id_
    assert result.errors is not None
    for measure in result.errors.measures:
        choose(page, "Measure", f"{measure.id}: error classes")
        assert {name: count for name, count in chips(page).items() if name != "match"} == {
            one.name: one.count for one in measure.found()
        }


def test_error_classes_lead_to_their_instances(opening: Open, scored: Path) -> None:
    page = opening(scored)
    row = page.locator("#errors tr", has_text="wrong realis").first
    page.get_by_role("button", name="Show wrong realis in the documents").first.click()
    assert page.locator("#measure").evaluate("node => node.selectedOptions[0].textContent").endswith("error classes")
    count = row.locator("td").first.inner_text()
    assert f"{count} errors" in page.locator("#list-count").inner_text()
    assert all("wrong realis" in text for text in page.locator("#items button").all_inner_texts())


def test_a_link_restores_what_is_shown(browser: Any, opening: Open, compared: Path) -> None:
    """The document, the error, and all that was chosen; what the page does not have is ignored."""
    page = opening(compared)
    choose(page, "Measure", "nugget.type")
    choose(page, "System", "cautious")
    choose(page, "Beside", "no other")
    page.locator("#classes").get_by_label("match").uncheck()
    page.get_by_label("Search").fill("strike")
    expect(page.locator("#shown")).to_have_text("tac-2017 nugget.type; search strike")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("n")
    page.keyboard.press("n")
    link = page.locator("#card").get_by_role("link").get_attribute("href")
    expect(page).to_have_url(f"{compared.as_uri()}{link}")
    shown = ("#card", "#list-count", "#position", "#items", "#classes", "#legend")
    before = [page.locator(place).inner_text() for place in shown]
    for bad in ("#errors", "#no-such-document/1", "#%/", f"{link.partition('?')[0]}0000?measure=x&system=y&hide=z"):
        again = browser.new_page()
        again.on("pageerror", lambda error: pytest.fail(str(error)))
        again.goto(f"{compared.as_uri()}{bad}")
        again.wait_for_selector("#list button")
        assert again.locator("#card").is_hidden()
        again.goto(f"{compared.as_uri()}{link}")
        expect(again.locator("#card")).to_be_visible()
        assert [again.locator(place).inner_text() for place in shown] == before
        again.close()


def test_two_systems_side_by_side(opening: Open, compared: Path) -> None:
    page = opening(compared)
    choose(page, "Measure", "nugget.type")
    choose(page, "System", "eager")
    choose(page, "Beside", "cautious")
    right: dict[str, set[tuple[str | None, str]]] = {}
    spurious: dict[str, int] = {}
    for name in ("eager", "cautious"):
        result = karat.score(DEMO / "gold.jsonl", DEMO / f"{name}.jsonl", protocol="tac-2017", details=True)
        records: list[Any] = list(result.outcomes["nugget.type"])
        right[name] = {(one.document, one.gold.id) for one in records if one.outcome == "match"}
        spurious[name] = sum(one.outcome == "spurious" for one in records)
        every = {(one.document, one.gold.id) for one in records if one.gold is not None}
    eager, cautious = right["eager"], right["cautious"]
    assert chips(page) == {
        "only eager right": len(eager - cautious),
        "only cautious right": len(cautious - eager),
        "both wrong": len(every - eager - cautious),
        "both right": len(eager & cautious),
        "spurious in eager": spurious["eager"],
        "spurious in cautious": spurious["cautious"],
    }
    for label in ("both wrong", "both right", "only cautious right", "spurious in eager", "spurious in cautious"):
        page.locator("#classes").get_by_label(label).uncheck()
    assert f"{len(eager - cautious)} errors" in page.locator("#list-count").inner_text()
    page.keyboard.press("n")
    assert "only eager right" in page.locator("#card").inner_text()
    assert page.locator("#card section").count() == 3
    choose(page, "Beside", "no other")
    assert "match" in chips(page)


def test_nothing_in_a_file_is_run(opening: Open, tmp_path: Path) -> None:
    text = f"{EVIL} </script><!-- <script> attack"
    evil = {
        "id": EVIL,
        "text": text,
        "topic": EVIL,
        "mentions": [
            {
                "id": EVIL,
                "span": [[0, 8]],
                "cluster": EVIL,
                "attributes": {"type": EVIL, "realis": f'">{EVIL}'},
            },
            mention("m2", 20, 30, "Attack"),
        ],
        "links": [{"kind": EVIL, "from": EVIL, "to": "m2"}],
    }
    other = {**evil, "mentions": [mention(f"{EVIL}2", 4, 9, f"{EVIL}2", cluster="</script>"), *evil["mentions"][1:]]}
    (tmp_path / EVIL.replace("/", "")).mkdir()
    folder = tmp_path / EVIL.replace("/", "")
    gold, system = write(folder / "gold.jsonl", [evil]), write(folder / os.fsdecode(b"<b>system\xff.jsonl"), [other])
    for name, args in (
        ("score", ("score", gold, system, "--by", "type")),
        ("compare", ("compare", gold, system, gold)),
    ):
        page = opening(report(tmp_path / f"{name}.html", *args, "-p", "tac-2017", "-m", "nugget", "-m", "coref.b3"))
        assert page.locator("#text").inner_text().replace("\n", "").endswith("<!-- <script> attack")
        assert page.locator("main img, main script, main b b").count() == 0
        assert title(page) == EVIL
        for number in range(page.locator("#measure option").count()):
            page.locator("#measure").select_option(str(number))
            page.evaluate("document.activeElement.blur()")
            page.keyboard.press("n")
        page.locator("#text .piece").first.hover()


def test_five_hundred_documents_are_drawn_one_at_a_time(opening: Open, tmp_path: Path) -> None:
    text = "The attack of Monday was followed by a strike. " * 20
    marks = [mention(f"m{number}", 47 * number + 4, 47 * number + 10) for number in range(20)]
    golds = [{"id": f"d{number:03}", "text": text, "mentions": marks} for number in range(500)]
    systems = [{**gold, "mentions": marks[: number % 21]} for number, gold in enumerate(golds)]
    page = opening(reported(tmp_path, golds, systems))
    expect(page.locator("#list button")).to_have_count(500)
    assert page.locator("#text .piece").count() == 20
    assert page.evaluate("document.querySelectorAll('body *').length") < 5000
    errors = sum(20 - number % 21 for number in range(500))
    assert f"500 documents, {errors:,} errors" in page.locator("#list-count").inner_text()
    page.keyboard.press("p")
    assert position(page) == f"Error {errors:,} of {errors:,}"
    assert title(page) == "d499"


def test_a_long_text_is_laid_out_as_it_comes_into_view(opening: Open, tmp_path: Path) -> None:
    """Browsers need minutes for a paragraph of megabytes; blocks that are out of view cost nothing."""
    text = "The attack of Monday was followed by a strike. " * 40_000
    marks = [mention(f"m{number}", 47_000 * number + 4, 47_000 * number + 10) for number in range(40)]
    page = opening(reported(tmp_path, [{"id": "d", "text": text, "mentions": marks}], [{"id": "d", "mentions": []}]))
    assert page.locator("#text .block").count() == 95
    assert page.locator("#text").text_content().replace("\N{MINUS SIGN}", "") == text
    page.keyboard.press("p")
    assert position(page) == "Error 40 of 40"
    assert 0 < page.locator(".piece.selected").bounding_box()["y"] < 800


def test_forty_systems(opening: Open, tmp_path: Path) -> None:
    text = "attack " * 10
    marks = [mention(f"m{number}", 7 * number, 7 * number + 6) for number in range(10)]
    golds = [{"id": f"d{number}", "text": text, "mentions": marks} for number in range(3)]
    gold = write(tmp_path / "gold.jsonl", golds)
    systems = tmp_path / "systems"
    systems.mkdir()
    for number in range(40):
        write(systems / f"team{number:02}.jsonl", [{**one, "mentions": marks[: 1 + number // 4]} for one in golds])
    chosen = ("-p", "tac-2017", "-m", "nugget.type", "--resamples", "20")
    page = opening(report(tmp_path / "report.html", "compare", gold, systems, *chosen))
    assert page.locator(".ranking tbody tr").count() == 40
    assert page.locator("#system-a option").count() == 40
    choose(page, "System", "team39")
    choose(page, "Beside", "team00")
    choose(page, "Measure", "nugget.type")
    assert chips(page)["only team39 right"] == 27
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_one_document_without_errors(opening: Open, tmp_path: Path) -> None:
    gold = [{"id": "only", "text": "an attack", "mentions": [mention("m1", 3, 9)]}]
    page = opening(reported(tmp_path, gold, gold))
    assert position(page) == "No errors"
    assert page.get_by_role("button", name="Next error").is_disabled()
    page.keyboard.press("n")
    assert page.locator("#list-count").inner_text() == "1 document, 0 errors"
    assert "No errors." in page.locator("#errors").inner_text()
    assert signs(page) == ["✓"]


def test_a_document_without_text_is_a_list_of_mentions(opening: Open, tmp_path: Path) -> None:
    gold: list[dict[str, Any]] = [
        {"id": "d", "mentions": [mention("m1", 3, 9, text="attack"), mention("m2", 20, 26)]},
        {"id": "e", "mentions": []},
    ]
    page = opening(reported(tmp_path, gold, [{"id": "d", "mentions": [mention("m1", 3, 9)]}]))
    assert page.locator("#no-text").is_visible()
    rows = page.locator("#items button").all_inner_texts()
    assert "attack" in rows[0]
    assert "3-9" in rows[0]
    assert "20-26" in rows[1]
    page.keyboard.press("n")
    assert "20-26" in page.locator("#card").inner_text()
    page.keyboard.press("]")
    assert "No outcomes" in page.locator("#items").inner_text()


def test_right_to_left_text_and_characters_beyond_the_basic_plane(opening: Open, tmp_path: Path) -> None:
    arabic, emoji = "وقع هجوم في المدينة", "🔥🔥 an attack 🔥 and a strike"
    gold = [
        {"id": "ar", "text": arabic, "mentions": [mention("m1", 4, 8)]},
        {
            "id": "emoji",
            "text": emoji,
            "mentions": [mention("m1", 6, 12), {**mention("m2", 0, 2), "span": [[0, 2], [21, 27]]}],
        },
    ]
    page = opening(reported(tmp_path, gold, [{**one, "mentions": []} for one in gold]))
    assert page.locator("#text").evaluate("node => getComputedStyle(node).direction") == "rtl"
    assert page.locator("#text .layer").all_inner_texts() == ["هجوم"]
    page.keyboard.press("]")
    assert page.locator("#text .layer").all_inner_texts() == ["🔥🔥", "attack", "strike"]
    assert page.locator("#text").evaluate("node => getComputedStyle(node).direction") == "ltr"


def test_tokens_are_shown_as_text(opening: Open, tmp_path: Path) -> None:
    rows = [("He", "(1)"), ("said", "-"), ("she", "(2)"), None, ("She", "(2)"), ("left", "-"), ("him", "(1)")]

    def conll(changed: dict[str, str]) -> str:
        lines = ["#begin document (talk); part 000"]
        for number, row in enumerate(rows):
            lines.append("" if row is None else f"talk 0 {number} {row[0]} {changed.get(row[1], row[1])}")
        return "\n".join([*lines, "", "#end document", ""])

    gold, system = tmp_path / "gold.conll", tmp_path / "system.conll"
    gold.write_text(conll({}))
    system.write_text(conll({"(2)": "(1)"}))
    page = opening(report(tmp_path / "report.html", "score", gold, system))
    choose(page, "Measure", "coref.b3")
    words = page.locator("#text").inner_text()
    assert words.replace("~", "").split() == ["He", "said", "she", "She", "left", "him"]
    assert chips(page) == {"partial": 2}
    page.keyboard.press("n")
    assert "cluster 1" in page.locator("#card").inner_text()


def test_clusters_across_documents_are_counted_once(opening: Open, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    page = opening(
        report(path, "score", DEMO / "gold.jsonl", DEMO / "literal.jsonl", "-p", "simple-cdec", "-m", "coref.b3")
    )
    result = karat.score(DEMO / "gold.jsonl", DEMO / "literal.jsonl", protocol="simple-cdec", details=True)
    names = Counter("missed" if one.outcome == "miss" else one.outcome for one in result.outcomes["coref.b3"])
    choose(page, "Measure", "coref.b3")
    assert chips(page) == names
    page.keyboard.press("n")
    elsewhere = page.locator("#card button[data-document]").first
    name = elsewhere.inner_text().rpartition(" in ")[2]
    elsewhere.click()
    assert title(page) == name


def test_elements_of_ace(opening: Open, tmp_path: Path) -> None:
    gold = (ACE / "norvik.apf.xml").read_text(encoding="utf-8")
    system = tmp_path / "system.apf.xml"
    system.write_text(gold.replace('TYPE="GPE"', 'TYPE="LOC"', 1), encoding="utf-8")
    made = report(
        tmp_path / "report.html",
        "score",
        ACE / "norvik.apf.xml",
        system,
        "-p",
        "ace-2005",
        "--sources",
        ACE,
        "--accept-faults",
    )
    page = opening(made)
    choose(page, "Measure", "ace.edr")
    assert page.locator("#text .piece").count() > 10
    assert sum(chips(page).values()) > 3


def test_phone_dark_and_print(opening: Open, scored: Path, compared: Path) -> None:
    for path in (scored, compared):
        page = opening(path, viewport={"width": 400, "height": 800}, color_scheme="dark")
        assert page.evaluate("document.documentElement.scrollWidth") == 400
        page.keyboard.press("n")
        assert page.locator("#card").is_visible()
        box = page.locator(".piece.selected").first.bounding_box()
        assert box["y"] + box["height"] < page.locator("#card").bounding_box()["y"]
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert all(int(part) < 60 for part in background.removeprefix("rgb(").rstrip(")").split(","))
        page.emulate_media(media="print")
        assert page.locator("#text").is_visible()
        assert page.locator("#controls").is_hidden()
        assert page.locator(".signature").inner_text().startswith("signature karat=")
        framed = "nodes => nodes.some((n) => n.checkVisibility() && getComputedStyle(n).borderStyle !== 'none')"
        assert page.locator("button, summary").evaluate_all(framed) is False
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_long_names_of_systems_fit_on_a_phone(opening: Open, tmp_path: Path) -> None:
    text = {"id": "d", "text": "they attack"}
    gold = write(tmp_path / "gold.jsonl", [{**text, "mentions": [mention("a", 5, 11)]}])
    names = [f"{letter}{'_long_name' * 9}" for letter in "ab"]
    systems = [write(tmp_path / f"{name}.jsonl", [{**text, "mentions": []}]) for name in names]
    made = report(tmp_path / "report.html", "compare", gold, *systems, "-p", "tac-2017", "-m", "nugget.type")
    page = opening(made, viewport={"width": 400, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 400


def test_arguments_are_shown_with_their_errors(opening: Open, tmp_path: Path) -> None:
    """Links without a place of their own are marked at both ends, and each class leads to its instances."""
    words = {"id": "d", "text": "they attack the old bridge"}
    event, filler = mention("e", 5, 11), {"id": "m", "span": [[16, 26]], "kind": "entity"}
    link = {"kind": "Target", "from": "e", "to": "m"}
    other = {**filler, "span": [[20, 26]]}
    gold, system = ([{**words, "mentions": [event, own], "links": [link]}] for own in (filler, other))
    made = reported(tmp_path, gold, system, "-p", "textee-2024", "-m", "arg.c+")
    page = opening(made)
    page.get_by_role("button", name="Show").first.click()
    assert chips(page)["boundary"] == 1
    assert page.locator("#items .title").first.inner_text() == "attack → old bridge"
    assert page.locator("#text .piece").count() >= 2


def test_right_items_that_a_system_lists_alone_are_not_spurious(opening: Open, tmp_path: Path) -> None:
    """MUCp lists the links of each side: 1 -> {2,3,4} of one system is right, and so is 1 -> {2,3} of the other."""
    trees = {"gold": "(1(2)(3)(4))", "merged": "(1({2,3,4}))", "partly": "(1({2,3}(4)))"}
    for name, forest in trees.items():
        (tmp_path / f"{name}.forest").write_text(f"d\t{forest}\n")
    files = [tmp_path / f"{name}.forest" for name in trees]
    page = opening(report(tmp_path / "report.html", "compare", *files, "-m", "hierarchy.subevent.mucp"))
    found = {label: count for label, count in chips(page).items() if count}
    assert found == {"both right": 2, "only merged right": 1, "spurious in partly": 1}


SIEGE = "Rebels seized the town on Monday after troops had withdrawn. Shelling began before the withdrawal."

TWICE = "withdrawn \N{MULTIPLICATION SIGN}2"


def siege(*links: str) -> dict[str, Any]:
    """A document with events, one of them with two mentions, a time, and these links."""
    marks = [
        {"id": word, "span": [[SIEGE.index(word), SIEGE.index(word) + len(word)]]}
        for word in ("seized", "Monday", "withdrawn", "Shelling", "withdrawal")
    ]
    for mark in (marks[2], marks[4]):
        mark["cluster"] = "w"
    marks[1]["kind"] = "time"
    parts = [link.split() for link in links]
    listed = [{"kind": kind, "from": source, "to": target} for source, kind, target in parts]
    return {"id": "siege", "text": SIEGE, "mentions": marks, "links": listed}


def timelines(page: Page) -> list[list[str]]:
    """The events of each timeline, in their order."""
    sections = page.locator("#timeline section").all()
    return [section.locator(".event").all_inner_texts() for section in sections]


def test_timelines_are_beside_the_text(opening: Open, tmp_path: Path) -> None:
    """In the order that the links entail; contradictions of gold, and of a side with itself, are marked."""
    gold = siege("w BEFORE seized", "seized IS_INCLUDED Monday", "Shelling BEFORE w")
    system = siege("w BEFORE seized", "w BEFORE Shelling", "Shelling BEFORE Monday", "Monday BEFORE withdrawn")
    page = opening(reported(tmp_path, [gold], [system], "-p", "tempeval-3"))
    assert timelines(page) == [
        ["Shelling", TWICE, "Monday", "seized"],
        [f"≠ {TWICE}", "seized", "≠ Shelling", "≠ Monday"],
    ]
    assert page.locator("#timeline summary").inner_text() == "Timeline: gold 4, system.jsonl 4; 2 contradictions"
    assert page.locator("#timeline ul li").all_inner_texts() == [
        "≠ BEFORE: withdrawn (w) → Shelling (Shelling) contradicts gold",
        "≠ BEFORE: Monday (Monday) → withdrawn (withdrawn) contradicts the links before it, and gold",
    ]
    bars = [bar.bounding_box() for bar in page.locator("#timeline section").first.locator(".span").all()]
    shelling, withdrawn, monday, seized = [(bar["x"], bar["x"] + bar["width"]) for bar in bars]
    assert shelling[1] <= withdrawn[0]
    assert withdrawn[1] <= seized[0]
    assert monday[0] < seized[0] < seized[1] < monday[1]
    rows = page.locator("#timeline section").last.locator(".lane")
    rows.filter(has_text="seized").scroll_into_view_if_needed()
    page.wait_for_timeout(50)  # scrolling ends what pointing shows
    rows.filter(has_text="seized").hover()
    assert page.locator("#timeline .pale").all_inner_texts() == ["≠ Shelling", "≠ Monday"]
    assert page.locator("#text .coreferent, #text .linked").count() >= 2
    choose(page, "Measure", "temporal.awareness")
    assert len(timelines(page)) == 2


def test_documents_without_links_in_time_have_no_timeline(opening: Open, tmp_path: Path) -> None:
    page = opening(reported(tmp_path, [siege("w member seized")], [siege()]))
    assert page.locator("#timeline").is_hidden()


def test_a_screen_reader_finds_its_way(opening: Open, compared: Path) -> None:
    page = opening(compared)
    for role in ("banner", "main", "navigation", "contentinfo", "complementary", "article"):
        assert page.get_by_role(role).count() >= 1, role
    assert page.locator("h1").count() == 1
    levels = [
        int(name[1]) for name in page.locator("h1, h2, h3, h4").evaluate_all("nodes => nodes.map((n) => n.tagName)")
    ]
    assert all(after - before <= 1 for before, after in pairwise(levels))
    unnamed = """nodes => nodes.filter((node) => !(node.labels?.length || node.getAttribute("aria-label")
        || node.textContent.trim())).length"""
    assert page.locator("button, input, select, a, summary").evaluate_all(unnamed) == 0
    assert page.locator("th:not([scope])").count() == 0
    assert page.locator("svg:not([aria-hidden=true])").count() == 0
    assert page.locator("#position[aria-live=polite]").count() == 1
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    outline = page.evaluate("getComputedStyle(document.querySelector(':focus-visible')).outlineStyle")
    assert outline == "solid"


def test_a_summary_has_no_documents(tmp_path: Path, browser: Any) -> None:
    path = report(
        tmp_path / "report.html", "score", DEMO / "gold.jsonl", DEMO / "literal.jsonl", "-p", "tac-2017", "--summary"
    )
    text = path.read_text(encoding="utf-8")
    assert "<script" not in text
    assert "47.92" in text
