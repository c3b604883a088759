"""The shape of the house: nothing imports upward, and the engine names no protocol and no measure."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import karat
from karat.families import MEASURES
from karat.protocols import PROTOCOLS

SOURCE = Path(karat.__file__).parent
# The rooms in the order of building: each imports only from rooms before it.
ROOMS = (
    *("model", "regions", "problems", "limits", "counts", "interpreter", "inputs", "scratch", "plugin", "registry"),
    *("formats", "corpus", "checks", "describe", "convert", "simulate", "records", "errors", "result", "stats"),
    *("match", "filters", "insight", "families", "protocols", "run", "comparison", "baselines", "audit", "testing"),
    *("report", "api", "demo", "studies", "campaign", "cli"),
)


def imports(path: Path) -> Iterator[str]:
    """The rooms that a module imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "karat":
            parts = node.module.split(".")
            yield from [parts[1]] if len(parts) > 1 else [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".")[1] for alias in node.names if alias.name.startswith("karat."))


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def test_nothing_imports_upward() -> None:
    paths = [path for path in SOURCE.rglob("*.py") if room_of(path) not in ("__init__", "__main__")]
    assert {room_of(path) for path in paths} == set(ROOMS)
    upward = {
        f"{path.relative_to(SOURCE)} imports {room}"
        for path in paths
        for room in imports(path)
        if room != "__version__" and ROOMS.index(room) > ROOMS.index(room_of(path))
    }
    assert upward == set()


def private_imports(path: Path) -> Iterator[str]:
    """The underscored modules and names of other rooms that a module imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            package, *parts = name.split(".")
            if package == "karat" and parts[0] != room_of(path):
                yield from [name] if any(re.match(r"_(?!_)", part) for part in parts) else []


@pytest.mark.slow
def test_no_room_imports_what_is_private_to_another() -> None:
    found = {str(path.relative_to(SOURCE)): [*private_imports(path)] for path in sorted(SOURCE.rglob("*.py"))}
    assert {path: names for path, names in found.items() if names} == {}


def test_the_engine_names_no_protocol_and_no_measure() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in (SOURCE / "run").rglob("*.py"))
    words = [*PROTOCOLS.names(), *MEASURES.names()]
    assert words
    assert [word for word in words if re.search(rf"\b{re.escape(word)}\b", text)] == []


def test_help_starts_at_once() -> None:
    """Nothing heavy is imported before it is needed."""
    code = "import sys\nfrom karat.cli import cli\ncli(['--help'], standalone_mode=False)\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    imported = done.stdout.splitlines()[-1].split()
    assert "karat.cli.convert" in imported
    assert {"numpy", "scipy", "lxml", "msgspec", "jinja2"}.isdisjoint(imported)


def test_templates_are_loaded_only_for_pages() -> None:
    gold = SOURCE / "demo" / "gold.jsonl"
    code = f"import sys\nfrom karat.cli import cli\ncli(['score', {str(gold)!r}, {str(gold)!r}], standalone_mode=False)"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nprint(*sys.modules)"], check=True, capture_output=True, text=True
    )
    imported = done.stdout.splitlines()[-1].split()
    assert "karat.run.scoring" in imported
    assert {"jinja2", "karat.insight", "karat.report.html"}.isdisjoint(imported)


def test_the_public_names_are_there() -> None:
    assert set(karat.__all__) - {"__version__"} == set(karat._HOMES)
    assert all(hasattr(karat, name) for name in karat.__all__)
    assert dir(karat) == karat.__all__
    with pytest.raises(AttributeError):
        _ = karat.nothing


def test_scoring_a_file_loads_only_its_own_format(tmp_path: Path) -> None:
    """A file called after its format needs no other one, and karat's own plug-ins need no look at other packages."""
    line = '{"id": "a", "mentions": [{"id": "m", "span": [[0, 1]], "cluster": "c"}]}\n'
    (tmp_path / "gold.jsonl").write_text(line)
    code = (
        "import sys, karat; karat.score('gold.jsonl', 'gold.jsonl', protocol='simple-cdec');"
        "loaded = ('importlib.metadata', 'karat.formats.tbf', 'karat.formats.apf', 'karat.report.outputs');"
        "print([name for name in loaded if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
