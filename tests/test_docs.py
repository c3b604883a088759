"""The documentation: generated pages miss nothing, written ones show what karat prints, the site loads only its own."""

import ast
import contextlib
import difflib
import doctest
import importlib.util
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import reference
import sources
from click.testing import CliRunner

import karat
from karat import protocols
from karat.cli import cli, main
from karat.formats import FORMATS
from karat.measures import MEASURES
from tests.pages import ELISION, matches

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
WRITTEN = sorted(DOCS.rglob("*.md"))
RENEW = bool(os.environ.get("KARAT_RENEW"))

FENCE = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


# Generated pages


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return reference.pages()


def test_there_is_a_page_for_every_family_protocol_and_format(pages: dict[str, str]) -> None:
    rooms = {"measures": MEASURES.names(), "protocols": protocols.PROTOCOLS.names(), "formats": FORMATS.names()}
    for room, names in rooms.items():
        assert names
        assert [f"{room}/index.md", *(f"{room}/{name}.md" for name in names)] == [
            entry if isinstance(entry, str) else next(iter(entry.values())) for entry in reference.listed(room)
        ]
        for name in names:
            assert f"# {name}" in pages[f"{room}/{name}.md"]
            assert f"({name}.md)" in pages[f"{room}/index.md"]


@pytest.mark.parametrize("name", protocols.PROTOCOLS.names())
def test_a_protocol_page_has_every_parameter_and_the_file(name: str, pages: dict[str, str]) -> None:
    page, protocol = pages[f"protocols/{name}.md"], protocols.resolve(name)
    assert all(f"| {reference.code(key)} |" in page for key in protocol.parameters)
    assert all(reference.prose(source) in page for source in protocol.sources)
    assert protocols.PROTOCOLS.get(name).read_text(encoding="utf-8").rstrip() in page


@pytest.mark.parametrize("name", MEASURES.names())
def test_a_measure_page_has_the_whole_card(name: str, pages: dict[str, str]) -> None:
    page, card = pages[f"measures/{name}.md"], MEASURES.get(name).card
    assert card.formula in page
    for text in (card.citation, *card.traps, *card.departures, *card.rows.values()):
        assert reference.prose(text) in page


def test_every_rule_has_a_row(pages: dict[str, str]) -> None:
    """Found in another way: every call of Rule in the source, whatever is done with it."""
    written = [
        str(node.args[0].value)
        for path in Path(karat.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "Rule"
        and isinstance(node.args[0], ast.Constant)
    ]
    assert sorted(written) == [entry.code for entry in sources.rules()]
    for entry in sources.rules():
        assert f'<a id="{entry.code}"></a>' in pages["errors.md"]
        assert reference.prose(entry.hints[0]) in pages["errors.md"]


def test_every_error_of_usage_has_a_row(pages: dict[str, str]) -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in Path(karat.__file__).parent.rglob("*.py"))
    written = set(re.findall(r'UsageError\(\s*"([a-z-]+)"', source))
    codes = {entry.code for entry in sources.usage_errors()}
    assert written
    assert codes == written | {"unknown-format", "unknown-measure", "unknown-paper"}
    assert all(f'<a id="{code}"></a>' in pages["errors.md"] for code in codes)


def test_messages_are_found_where_rules_are_applied() -> None:
    said = {entry.code: entry.messages for entry in sources.rules()}
    assert said["units-differ"] == ("document … has … offsets in gold, but … offsets in the system",)
    assert "the span … has an empty token id, or one of more than … bytes" in said["tbf-span"]
    silent = [code for code, messages in said.items() if not messages]
    assert len(silent) < len(said) / 10


def test_every_command_is_in_the_reference(pages: dict[str, str]) -> None:
    for name, command in cli.commands.items():
        assert f"## karat {name}\n" in pages["commands.md"]
        for parameter in command.params:
            for option in (opt for opt in parameter.opts if opt.startswith("--")):
                assert option in pages["commands.md"]


def test_code_blocks_of_the_reference_are_not_too_wide(pages: dict[str, str]) -> None:
    assert max(map(len, pages["commands.md"].splitlines())) <= 120


def test_prose_is_not_taken_for_markup() -> None:
    assert reference.prose("N_S and N_G, `--by type`, [[4, 9]] <TAB> a|b") == (
        "N&#95;S and N&#95;G, <code>--by type</code>, &#91;&#91;4, 9&#93;&#93; &lt;TAB&gt; a&#124;b"
    )


def test_tables_that_written_pages_ask_for_are_there() -> None:
    asked = {name for path in WRITTEN for name in reference.MARKER.findall(path.read_text(encoding="utf-8"))}
    assert asked
    assert asked <= set(reference.TABLES)
    assert "many-to-one" in reference.filled("<!-- table: methods -->")


# Written pages


def terminal(line: str) -> str:
    """What a terminal shows after one command."""
    program, *args = shlex.split(line, comments=True)
    if program == "cd":
        os.chdir(args[0])
        return ""
    assert program == "karat", f"a page runs only karat and cd, not {program}"
    with patch.object(sys, "argv", ["karat", *args]), CliRunner().isolation() as (_, _, both):
        with contextlib.suppress(SystemExit):
            main()
        sys.stdout.flush()
        sys.stderr.flush()
        return both.getvalue().decode()


def commands(block: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with the output that the page shows below it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        line, _, output = part.partition("\n")
        yield line, output


def followed(page: str) -> tuple[str, list[str]]:
    """Do what a page says, top to bottom: the page with what was really printed, and how it differs."""
    wrong: list[str] = []
    names: dict[str, Any] = {}

    def done(block: re.Match[str]) -> str:
        kind, title, text = block[1], block[2], block[3]
        if title is not None:
            Path(title).parent.mkdir(parents=True, exist_ok=True)
            Path(title).write_text(text, encoding="utf-8")
        elif kind == "console" and text.startswith(("$ karat ", "$ cd ")):
            for line, output in commands(text):
                printed = terminal(line)
                if not matches(output, printed, command=line):
                    diff = difflib.unified_diff(output.splitlines(), printed.splitlines(), "page", line, lineterm="")
                    wrong.append("\n".join(diff))
                    if ELISION + "\n" not in output.splitlines(keepends=True):
                        text = text.replace(f"$ {line}\n{output}", f"$ {line}\n{printed}")
        elif kind == "pycon":
            wrong.extend(doctested(text, names))
        return block[0].replace(block[3], text)

    return FENCE.sub(done, page), wrong


def doctested(text: str, names: dict[str, Any]) -> list[str]:
    """What goes wrong in a Python example; names stay for the next one of the page."""
    test = doctest.DocTestParser().get_doctest(text, names, "pycon", None, 0)
    failures = io.StringIO()
    doctest.DocTestRunner().run(test, out=failures.write, clear_globs=False)
    names.update(test.globs)
    return [failures.getvalue()] if failures.getvalue() else []


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: str(path.relative_to(DOCS)))
def test_pages_show_what_karat_prints(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with as_file(files("karat") / "demo") as demo:
        shutil.copytree(demo, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    page = path.read_text(encoding="utf-8")
    renewed, wrong = followed(page)
    if RENEW and renewed != page:
        path.write_text(renewed, encoding="utf-8")
    assert not wrong, "\n\n".join(["run with KARAT_RENEW=1 to renew what can be renewed", *wrong])


def test_the_pages_do_run_something() -> None:
    for name in ("tutorial.md", "readings.md"):
        assert len(re.findall(r"^\$ karat ", (DOCS / name).read_text(encoding="utf-8"), re.MULTILINE)) > 15
    assert ">>> " in (DOCS / "python.md").read_text(encoding="utf-8")


def test_an_elision_matches_any_lines() -> None:
    assert matches("a\n...\nd\n", "a\nb\nc\nd\n")
    assert matches("a\n...\n", "a\n")
    assert not matches("a\n...\nd\n", "a\nb\n")
    assert not matches("a\n", "a\nb\n")
    assert matches("a    b\n...\n", "a        b\nlonger   c\n")
    assert not matches("a    b\n", "a        b\n")


def test_a_listing_of_plug_ins_with_an_elision_may_have_more_rows() -> None:
    assert matches("a\nc\n...\n", "a\nb\nc\n", command="karat protocols")
    assert not matches("a\nc\n...\n", "a\nb\nc\n", command="karat protocols tac-2017")
    assert not matches("c\na\n...\n", "a\nb\nc\n", command="karat protocols")


def test_prose_names_only_files_of_the_repository() -> None:
    """Paths that begin with one of our folders exist, and notes that live elsewhere are not referred to."""
    prose = [*WRITTEN, *ROOT.glob("*.md"), *ROOT.glob("tools/**/*.md")]
    named = {
        (path.name, name)
        for path in prose
        for name in re.findall(r"`((?:src|tests|tools|docs|bench)/[\w./-]+)`", path.read_text(encoding="utf-8"))
    }
    assert named
    assert [(page, name) for page, name in sorted(named) if not (ROOT / name).exists()] == []
    code = [path for folder in ("bench", "tests", "tools") for path in (ROOT / folder).rglob("*.py")]
    elsewhere = re.compile(r"\b(?:CONTRACT|DESIGN|STYLE)\b(?!\|)|\bspecs/|\.\./shared")
    texts = {path: path.read_text(encoding="utf-8") for path in (*prose, *code) if path != Path(__file__)}
    assert [str(path.relative_to(ROOT)) for path, text in texts.items() if elsewhere.search(text)] == []


# The site


class Loaded(HTMLParser):
    """What a browser fetches by itself to show a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.found += [values[name] for name in ("src", "srcset", "poster", "data") if name in values]
        if tag == "link" and values.get("rel") not in ("canonical", "prev", "next"):
            self.found.append(values.get("href", ""))
        self.found += re.findall(r"url\(([^)]*)\)", values.get("style", ""))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if importlib.util.find_spec("mkdocs") is None or importlib.util.find_spec("material") is None:
        pytest.skip("mkdocs-material is not installed (make docs installs it)")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_the_site_has_every_page(site: Path, pages: dict[str, str]) -> None:
    places = [*pages, *(path.relative_to(DOCS).as_posix() for path in WRITTEN)]
    missing = [place for place in places if not (site / place).with_suffix(".html").is_file()]
    assert not missing


@pytest.mark.slow
def test_the_site_loads_nothing_from_elsewhere(site: Path) -> None:
    elsewhere = re.compile(r"\s*['\"]?(https?:)?//")
    for path in site.rglob("*.html"):
        parser = Loaded()
        parser.feed(path.read_text(encoding="utf-8"))
        assert parser.found
        assert [place for place in parser.found if elsewhere.match(place)] == [], path.name
    for path in site.rglob("*.css"):
        text = path.read_text(encoding="utf-8")
        loaded = re.findall(r"url\(([^)]*)\)|@import\s+([^;]*)", text)
        assert [place for pair in loaded for place in pair if elsewhere.match(place)] == [], path.name
