"""The web site of a campaign in a browser: from disk, in both colour schemes, wide and narrow, with hostile names."""

import shutil
from pathlib import Path

import pytest

from tests.running import run
from tests.submissions import folder, jsonl

sync_api = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium")
EVIL = "<img src=x onerror=window.broken=1>"


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_every_page_in_a_browser(tmp_path: Path) -> None:
    """Nothing but the page is requested, no message appears on the console, and nothing is wider than the page."""
    (tmp_path / "gold.jsonl").write_bytes(jsonl())
    submissions = tmp_path / "submissions"
    for number, name in enumerate(("alpha", EVIL, "x" * 40)):
        folder(submissions / name, {"out.jsonl": jsonl(wrong=number)})
    folder(submissions / "short", {"out.jsonl": jsonl(documents=("a", EVIL))})
    done = run(
        *("campaign", str(submissions), "--gold", str(tmp_path / "gold.jsonl"), "-p", "tac-2017", "--title", EVIL),
        *("-o", str(tmp_path / "out"), "--jobs", "1", "--resamples", "40"),
    )
    assert done.code == 0, done.err
    pages = sorted((tmp_path / "out" / "site").rglob("*.html"))
    assert len(pages) == 1 + 1 + 4 + 3
    problems: list[str] = []
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        for scheme, width in (("light", 1280), ("dark", 400)):
            page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
            requests: list[str] = []
            page.on("console", lambda message: problems.append(message.text))
            page.on("pageerror", lambda error: problems.append(str(error)))
            page.on("request", lambda request, requests=requests: requests.append(request.url))
            for path in pages:
                page.goto(path.as_uri())
                assert page.evaluate("window.broken") is None
                wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
                assert not page.evaluate(wide), (path, width)
            assert set(requests) == {path.as_uri() for path in pages}
            page.close()
        page = browser.new_page()
        page.goto((tmp_path / "out" / "site" / "index.html").as_uri())
        systems = page.locator(".ranking tbody th")
        by_rank = systems.all_inner_texts()
        assert by_rank[0] == "alpha"
        header = page.get_by_role("columnheader", name="nugget.type F1")
        header.get_by_role("button").click()
        assert header.get_attribute("aria-sort") == "descending"
        header.get_by_role("button").click()
        assert systems.all_inner_texts() == by_rank[::-1]
        link, accent = systems.get_by_role("link").first, "getComputedStyle(document.querySelector('.brand')).color"
        assert link.evaluate("node => getComputedStyle(node).color") == page.evaluate(accent)
        page.click("a:has-text('alpha')")
        page.click("text=Error report with all documents")
        page.wait_for_selector("#list button")
        browser.close()
    assert problems == []
