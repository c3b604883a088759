"""The documentation: generated pages miss nothing, written ones show what karat prints, the site loads only its own."""

import ast
import contextlib
import difflib
import doctest
import html
import inspect
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, get_args
from unittest.mock import patch

import declared
import formulas
import markup
import pytest
import reference
import sessions
import sources
from click.testing import CliRunner
from msgspec import structs

import karat
from karat import protocols
from karat.cli import main
from karat.cli.program import cli
from karat.families import MEASURES
from karat.formats import FORMATS
from karat.model import Cluster, Document, Link, Mention
from karat.plugin import Law

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
WRITTEN = sorted(DOCS.rglob("*.md"))
RENEW = bool(os.environ.get("KARAT_RENEW"))

FENCE = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


# The output of commands on pages

ELISION = "..."


LISTINGS = ("karat formats", "karat measures", "karat protocols")
"""Commands that list plug-ins. A page with an elision shows some of them, and stays true when another one is added."""


def shows(page: str, printed: str, *, command: str = "") -> bool:
    """True if a page shows what the command printed; a line `...` matches any lines.

    A listing with a line `...` may have rows that the page does not show, and these widen its columns. So where there
    is one, the widths of blanks do not matter.
    """
    lines = page.splitlines(keepends=True)
    if ELISION + "\n" not in lines:
        return page == printed
    if command in LISTINGS:
        lines = [part for line in lines for part in (line, ELISION + "\n")]
    pattern = "".join("(?:.*\n)*?" if line == ELISION + "\n" else re.escape(_narrow(line)) for line in lines)
    return re.fullmatch(pattern, _narrow(printed)) is not None


def _narrow(text: str) -> str:
    return re.sub(r" {2,}", "  ", text)


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
    assert all(f"| {markup.code(key)} |" in page for key in protocol.parameters)
    assert all(markup.prose(source) in page for source in protocol.sources)
    assert protocols.PROTOCOLS.get(name).read_text(encoding="utf-8").rstrip() in page


@pytest.mark.parametrize("name", MEASURES.names())
def test_a_measure_page_has_the_whole_card(name: str, pages: dict[str, str]) -> None:
    page, card = pages[f"measures/{name}.md"], MEASURES.get(name).card
    block = re.search(r'<table class="formula">.*</table>', page)
    assert block is not None
    written = html.unescape(re.sub(r"<[^>]+>", "", block[0])).replace(formulas.MINUS, "-")
    written, printed = (
        re.sub(r"[\s_]", "", text.translate(str.maketrans("²³", "23"))) for text in (written, card.formula)
    )
    assert written == printed
    for symbol, meaning in card.symbols.items():
        assert f"| {markup.code(symbol)} | {markup.prose(meaning)} |" in page
    for text in (card.citation, *card.traps, *card.departures, *card.rows.values()):
        assert markup.prose(text) in page


@pytest.mark.parametrize("name", MEASURES.names())
def test_the_symbols_of_a_formula_are_defined(name: str) -> None:
    """Single letters, and names that are all capitals or have an underscore; names of measures are none."""
    card = MEASURES.get(name).card
    used = set(re.findall(r"(?<!')\b(?:[A-Za-z]+_[\w-]+|[A-Z]{2,}|[A-Za-z])\b", card.formula))
    measures = {part.casefold() for id_ in card.rows for part in re.split(r"\W+", id_)}
    defined = {symbol for key in card.symbols for symbol in re.findall(r"[\w-]+", key)}
    assert {symbol for symbol in used - defined if symbol.casefold() not in measures} == set()


@pytest.mark.parametrize("name", MEASURES.names())
def test_every_symbol_that_a_card_defines_is_in_its_formula(name: str) -> None:
    """An argument in parentheses, the a of Value(a, b), stands for any argument."""
    card = MEASURES.get(name).card
    defined = re.findall(r"[\w-]+", " ".join(re.sub(r"\(.*?\)", "", key) for key in card.symbols))
    assert [symbol for symbol in defined if not re.search(rf"(?<!\w){symbol}(?!\w)", card.formula)] == []


@pytest.mark.parametrize("name", MEASURES.names())
def test_a_card_promises_laws_that_there_are_and_lists_rows_of_its_family(name: str) -> None:
    card = MEASURES.get(name).card
    assert set(card.laws) <= {*get_args(Law)}
    rows = {id_ for key in card.rows for id_ in key.split(", ") if id_ != "..."}
    assert [id_ for id_ in rows if not id_.startswith(f"{name}.")] == []


def test_every_field_of_the_model_is_documented(pages: dict[str, str]) -> None:
    section = pages["formats/jsonl.md"].partition("## Fields")[2].partition("## Findings")[0]
    for record in (Document, Mention, Cluster, Link):
        table = html.unescape(section.partition(f"### {record.__name__}\n")[2].partition("###")[0])
        rows = dict(re.findall(r"^\| <code>(\w+)</code> \|.*\| (.*) \|$", table, re.MULTILINE))
        assert list(rows) == [field.encode_name for field in structs.fields(record)]
        assert all(rows.values())
    assert "| <code>span</code> | <code>&#91;&#91;begin, end&#93;, ...&#93;</code> | required |" in section


def test_generated_tables_have_no_empty_cell(pages: dict[str, str]) -> None:
    rows = [(page, row) for page, text in pages.items() for row in text.splitlines() if row.startswith("| ")]
    assert rows
    assert [(page, row) for page, row in rows if re.search(r"\|\s*\|", row)] == []


def test_a_table_of_values_is_shown_in_the_file_of_its_protocol(pages: dict[str, str]) -> None:
    assert "<code>EDR</code>: in [the file](#the-file)" in pages["protocols/ace-2005.md"]
    assert not [page for page, text in pages.items() if re.search(r"Parameters\(\w+=", text)]


def test_a_protocol_page_has_its_other_names(pages: dict[str, str]) -> None:
    assert "Also called <code>subtopic</code>." in pages["protocols/upadhyay-2016-st.md"]
    assert "Also called" not in pages["protocols/tac-2017.md"]


def test_the_python_page_has_the_signatures_of_the_functions() -> None:
    page = (DOCS / "python.md").read_text(encoding="utf-8").replace("{name: system}", "systems")
    for name in ("read", "score", "compare", "Scorer", "coref"):
        (written,) = re.findall(rf"`karat\.{name}\(([^`]*)\)`\s(?:opens|scores|ranks|takes)", page)
        parameters = [part.partition("=")[0] for part in " ".join(written.split()).split(", ")]
        assert [one for one in parameters if one != "*"] == list(inspect.signature(getattr(karat, name)).parameters)


def test_every_column_has_a_name(pages: dict[str, str]) -> None:
    texts = [*pages.values(), *(path.read_text(encoding="utf-8") for path in [*WRITTEN, *ROOT.glob("*.md")])]
    headers = [line for text in texts for line in re.findall(r"^(\|.*\|)\n\| ?-", text, re.MULTILINE)]
    assert headers
    assert [line for line in headers if re.search(r"\|\s*\|", line)] == []


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
        (page,) = [page for page in pages.values() if f'<a id="{entry.code}"></a>' in page]
        assert markup.prose(entry.hints[0]) in page


def test_errors_of_a_format_are_on_its_page_and_shared_ones_are_linked(pages: dict[str, str]) -> None:
    for code, name in (("answers-gold", "answers"), ("casie-shape", "casie"), ("tbf-unwritable", "tbf")):
        assert f'<a id="{code}"></a>' in pages[f"formats/{name}.md"]
        assert f"](formats/{name}.md)" in pages["errors.md"]
    assert "../errors.md#json-broken" in pages["formats/answers.md"]


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
        assert f"[karat {name}]({name}.md)" in pages["commands/index.md"]
        page = pages[f"commands/{name}.md"]
        assert f"# karat {name}\n" in page
        for parameter in command.params:
            for option in [opt for opt in parameter.opts if opt.startswith("--")][:1]:
                assert f"{option} " in page or f"{option}<" in page
    assert "<code>--codabench</code>" in pages["commands/campaign-new.md"]


def test_prose_is_not_taken_for_markup() -> None:
    assert markup.prose("N_S and N_G, `--by type`, [[4, 9]] <TAB> a|b") == (
        "N&#95;S and N&#95;G, <code>--by type</code>, &#91;&#91;4, 9&#93;&#93; &lt;TAB&gt; a&#124;b"
    )


def test_tables_that_written_pages_ask_for_are_there() -> None:
    asked = {name for path in WRITTEN for name in declared.MARKER.findall(path.read_text(encoding="utf-8"))}
    assert asked
    assert asked <= set(declared.TABLES)
    assert "many-to-one" in declared.filled("<!-- table: methods -->")


# Written pages


def terminal(line: str) -> str:
    """The terminal after one command."""
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
                if not shows(output, printed, command=line):
                    diff = difflib.unified_diff(output.splitlines(), printed.splitlines(), "page", line, lineterm="")
                    wrong.append("\n".join(diff))
                    if ELISION + "\n" not in output.splitlines(keepends=True):
                        text = text.replace(f"$ {line}\n{output}", f"$ {line}\n{printed}")
        elif kind == "pycon":
            wrong.extend(doctested(text, names))
        return block[0].replace(block[3], text)

    return FENCE.sub(done, page), wrong


def doctested(text: str, names: dict[str, Any]) -> list[str]:
    """Run a Python example and return its problem; names stay for the next one of the page."""
    test = doctest.DocTestParser().get_doctest(text, names, "pycon", None, 0)
    failures = io.StringIO()
    doctest.DocTestRunner().run(test, out=failures.write, clear_globs=False)
    names.update(test.globs)
    return [failures.getvalue()] if failures.getvalue() else []


LONG = ("campaign.md", "figures.md", "report.md", "tutorial.md")
"""Pages whose commands take more than a second: figures, reports, many systems."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=pytest.mark.slow if path.name in LONG else ()) for path in WRITTEN],
    ids=lambda path: str(path.relative_to(DOCS)),
)
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
    for name in ("tutorial.md", "readings/mentions.md"):
        assert len(re.findall(r"^\$ karat ", (DOCS / name).read_text(encoding="utf-8"), re.MULTILINE)) > 15
    assert ">>> " in (DOCS / "python.md").read_text(encoding="utf-8")


def test_a_formula_does_not_break_a_list() -> None:
    """A line that begins with `+` or `*` inside a sentence would become a new item."""
    broken = [
        (path.name, line)
        for path in WRITTEN
        for line in re.findall(r"^ +[+*] .*", FENCE.sub("", path.read_text(encoding="utf-8")), re.MULTILINE)
    ]
    assert broken == []


def test_the_page_on_citing_agrees_with_the_citation_file() -> None:
    page, record = ((ROOT / name).read_text(encoding="utf-8") for name in ("docs/citing.md", "CITATION.cff"))
    assert f"version = {{{karat.__version__}}}" in page
    assert page.count(karat.__version__) == 3
    title = re.search(r'^title: "(.*)"$', record, re.MULTILINE)
    assert title
    assert f"title   = {{{title[1]}}}" in page


def test_a_session_is_copied_as_its_commands() -> None:
    console = "$ karat demo --into here\nhere/gold.jsonl\n$ cd here\n"
    assert sessions.commands(console, "console") == "karat demo --into here\ncd here"
    python = ">>> for name in names:\n...     print(name)\n...\none\n>>> 1 < 2\nTrue\n"
    assert sessions.commands(python, "pycon") == "for name in names:\n    print(name)\n\n1 < 2"
    block = '<div class="language-pycon highlight"><pre><span class="gp">&gt;&gt;&gt; </span>1 &lt; 2\n</pre></div>'
    assert 'highlight" data-copy="1 &lt; 2">' in sessions.with_commands_to_copy(block)


def test_an_elision_matches_any_lines() -> None:
    assert shows("a\n...\nd\n", "a\nb\nc\nd\n")
    assert shows("a\n...\n", "a\n")
    assert not shows("a\n...\nd\n", "a\nb\n")
    assert not shows("a\n", "a\nb\n")
    assert shows("a    b\n...\n", "a        b\nlonger   c\n")
    assert not shows("a    b\n", "a        b\n")


def test_a_listing_of_plug_ins_with_an_elision_may_have_more_rows() -> None:
    assert shows("a\nc\n...\n", "a\nb\nc\n", command="karat protocols")
    assert not shows("a\nc\n...\n", "a\nb\nc\n", command="karat protocols tac-2017")
    assert not shows("c\na\n...\n", "a\nb\nc\n", command="karat protocols")


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
    folders = ("bench", "src", "tests", "tools")
    code = [path for folder in folders for kind in ("*.py", "*.toml") for path in (ROOT / folder).rglob(kind)]
    elsewhere = re.compile(r"\b(?:CONTRACT|DESIGN|STYLE)\b(?!\|)|\b(?:specs|shared)/|\bpapers/[\w-]+\.txt")
    texts = {path: path.read_text(encoding="utf-8") for path in (*prose, *code) if path != Path(__file__)}
    assert [str(path.relative_to(ROOT)) for path, text in texts.items() if elsewhere.search(text)] == []


# The README's own commands, run as they stand there, and the version to cite

README_FILE = ROOT / "README.md"
README = README_FILE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(console|python)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
COMMANDS = [
    part.partition("\n")
    for kind, block in BLOCKS
    if kind == "console"
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
]
INSTALLED = (". .venv/bin/activate", "make demo", "make test")
"""Commands that need a copy of the repository; what follows needs only karat, and an empty folder."""


def test_commands_print_what_the_readme_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after another, from an empty folder, with the Python at the end."""
    monkeypatch.chdir(tmp_path)
    assert [command[0] for command in COMMANDS[:3]] == ["make demo", "make test", ". .venv/bin/activate"]
    for line, end, output in COMMANDS:
        program, *args = shlex.split(line)
        if line in INSTALLED:
            continue
        if program == "cd":
            monkeypatch.chdir(args[0])
            continue
        assert program == "karat"
        done = CliRunner().invoke(cli, args)
        assert done.exit_code == 0, line
        if RENEW and ELISION not in output.splitlines():
            page = README_FILE.read_text(encoding="utf-8")
            README_FILE.write_text(page.replace(f"{line}{end}{output}", f"{line}\n{done.stdout}"), encoding="utf-8")
        assert shows(output, done.stdout, command=line), line
    (code,) = [block for kind, block in BLOCKS if kind == "python"]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, {})
    assert "nugget.type+realis" in printed.getvalue()


def test_other_commands_of_the_readme_run_there_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those in the text that name only files of the demo."""
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(cli, ["demo", "--into", "."]).exit_code == 0
    inline = [re.sub(r"\s+", " ", command) for command in re.findall(r"`karat ([^`]+)`", README)]
    names = {path.name for path in tmp_path.iterdir()}
    runnable = [c for c in inline if c.startswith("score ") and names.issuperset(re.findall(r"\S+(?:\.\w+|/)", c))]
    assert len(runnable) > 1
    for command in runnable:
        assert CliRunner().invoke(cli, shlex.split(command)).exit_code == 0, command


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = [command[0].split()[1] for command in COMMANDS if command[0].startswith("make ")]
    assert targets == ["demo", "test"]
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)


def test_actions_are_pinned_by_commit() -> None:
    """In karat's own workflow and in the one that the page shows, which pins packages, too."""
    page = (DOCS / "continuous-integration.md").read_text(encoding="utf-8")
    text = page + (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    actions = re.findall(r"uses: (\S+)", text)
    assert len(actions) > 5
    assert [action for action in actions if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action)] == []
    assert re.findall(r"pip install (\S+)", page) == [f"karat=={karat.__version__}"]


def test_the_demo_installs_only_what_it_needs(tmp_path: Path) -> None:
    """The tests add theirs to the same environment."""
    for target, extras in (("demo", {"."}), ("test", {".", ".[dev]"})):
        make = ["make", "--dry-run", f"VENV={tmp_path / 'none'}", target]
        planned = subprocess.run(make, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        assert set(re.findall(r"--editable '?([^'\s]+)", planned)) == extras


def test_the_citation_has_the_version() -> None:
    assert f"\nversion: {karat.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
