"""The shape of the house: nothing imports upward, and the engine names no protocol and no measure."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import karat
from karat.cli.program import SUMMARIES, cli
from karat.families import MEASURES
from karat.protocols import PROTOCOLS

SOURCE = Path(karat.__file__).parent
# The rooms in the order of building: each imports only from rooms before it.
ROOMS = (
    *(
        "model",
        "arguments",
        "regions",
        "words",
        "problems",
        "decoding",
        "limits",
        "counts",
        "interpreter",
        "inputs",
        "scratch",
        "plugin",
        "registry",
    ),
    *("formats", "corpus", "checks", "describe", "convert", "simulate", "records", "result", "stats"),
    *("match", "filters", "insight", "families", "protocols", "run", "comparison", "baselines", "audit", "testing"),
    *("report", "api", "demo", "studies", "campaign", "cli"),
)


def imports(path: Path) -> Iterator[list[str]]:
    """The modules and names of karat that a module imports, anywhere in it, as parts of their dotted names."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        yield from (name.split(".")[1:] for name in names if name.startswith("karat."))


def test_rooms_import_public_names_of_rooms_below() -> None:
    wrong: list[str] = []
    rooms = set[str]()
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE)
        room = place.parts[0].removesuffix(".py")
        if room.startswith("__"):
            continue
        rooms.add(room)
        for parts in imports(path):
            is_private = parts[0] != room and any(re.match(r"_(?!_)", part) for part in parts)
            if is_private or (parts[0] in ROOMS and ROOMS.index(parts[0]) > ROOMS.index(room)):
                wrong.append(f"{place} imports {'.'.join(parts)}")
    assert rooms == set(ROOMS)
    assert wrong == []


def test_code_does_not_live_in_packages() -> None:
    """A package says what it holds, and may offer names of its modules; `karat` itself loads its own on demand."""
    for path in sorted({*SOURCE.rglob("__init__.py")} - {SOURCE / "__init__.py"}):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            is_listing = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
            assert is_listing or isinstance(node, ast.Expr | ast.Import | ast.ImportFrom), path


def test_the_engine_names_no_protocol_and_no_measure() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in (SOURCE / "run").rglob("*.py"))
    words = [*PROTOCOLS.names(), *MEASURES.names()]
    assert words
    assert [word for word in words if re.search(rf"\b{re.escape(word)}\b", text)] == []


def test_summaries_of_commands_are_those_of_their_help() -> None:
    for name, command in cli.commands.items():
        assert SUMMARIES[name] == " ".join((command.help or "").partition("\n\n")[0].split())


def test_the_public_names_are_there() -> None:
    assert set(karat.__all__) - {"__version__"} == set(karat._HOMES)
    assert all(hasattr(karat, name) for name in karat.__all__)
    assert dir(karat) == karat.__all__
    with pytest.raises(AttributeError):
        _ = karat.nothing


LINE = '{"id": "a", "mentions": [{"id": "m", "span": [[0, 1]], "cluster": "c"}]}\n'
BLOCK = """#BeginOfDocument a
gold\ta\tE1\t0,1\tx\tT\tActual
gold\ta\tE2\t2,3\ty\tT\tActual
@Coreference\tC\tE1,E2
#EndOfDocument
"""
CROSSED = """#begin document (d);
d\t0\t0\ta\t(1)
d\t0\t1\tb\t(2)
d\t0\t2\tc\t(1)
d\t0\t3\td\t(2)
d\t0\t4\te\t(1)

#end document
"""
"""Each gold cluster shares mentions with each system cluster."""
LOADED = {
    "from karat.cli.program import cli; cli(['--help'], standalone_mode=False)": (
        {"karat.cli.program"},
        {"numpy", "scipy", "lxml", "msgspec", "jinja2", *(f"karat.cli.{name}" for name in SUMMARIES)},
    ),
    "from karat.cli.program import cli; cli(['score', 'gold.jsonl', 'gold.jsonl'], standalone_mode=False)": (
        {"karat.run.scoring"},
        {"jinja2", "karat.insight", "karat.report.html"},
    ),
    "from karat.cli.program import cli; cli(['score', 'gold.tbf', 'gold.tbf'], standalone_mode=False)": (
        {"karat.formats.tbf", "karat.families.coref.formulas"},
        {
            *("numpy", "scipy", "json", "gzip", "difflib", "importlib.metadata", "karat.records"),
            *(f"karat.formats.{name}" for name in ("_json", "_sgm", "_writing", "_tbf_writer")),
            *(f"karat.report.{name}" for name in ("breakdowns", "errors", "listing", "markup")),
            *("karat.corpus.remote", "karat.families.coref.metamentions", "karat.families.coref.zeros"),
            *("karat.checks.links", "karat.checks.pairs", "karat.arguments", "karat.words", "karat.match.events"),
            *("karat.families.sequence.timeline", "karat.run.fields", "karat.run.jackknife", "karat.cli._figures"),
            *("karat.corpus.chunks", "multiprocessing", "concurrent.futures", "html"),
            *("karat.decoding", "karat.scratch", "tempfile", "pkgutil"),
        },
    ),
    "from karat.cli.program import cli; cli(['score', 'gold.conll', 'system.conll'], standalone_mode=False)": (
        {"karat.formats.conll", "karat.match.sparse"},
        {"numpy", "scipy", "multiprocessing", "karat.checks.links", "karat.families.sequence", "karat.corpus.chunks"},
    ),
    "from karat.cli.program import cli; cli(['score', 'gold.tbf', 'gold.tbf', '-f', 'html'], standalone_mode=False)": (
        {"karat.report.html.report"},
        {"numpy", "scipy", "karat.comparison.comparison", "multiprocessing"},
    ),
    "import karat; karat.score('gold.jsonl', 'gold.jsonl', protocol='simple-cdec')": (
        {"karat.formats.jsonl"},
        {"importlib.metadata", "karat.formats.tbf", "karat.formats.apf", "karat.report.outputs"},
    ),
}
"""Programs, with modules that they need and modules that they must not load."""


@pytest.mark.parametrize("program", LOADED)
def test_only_what_is_needed_is_loaded(program: str, tmp_path: Path) -> None:
    (tmp_path / "gold.jsonl").write_text(LINE)
    (tmp_path / "gold.tbf").write_text(BLOCK)
    (tmp_path / "gold.conll").write_text(CROSSED)
    (tmp_path / "system.conll").write_text(CROSSED.replace("b\t(2)", "b\t(1)").replace("c\t(1)", "c\t(2)"))
    code = f"import sys; {program}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    loaded = {*done.stdout.splitlines()[-1].split()}
    needed, unwanted = LOADED[program]
    assert needed <= loaded
    assert unwanted.isdisjoint(loaded)
