"""Tables for LaTeX: every kind of table compiles, whatever the names in it."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import karat
from karat.report.latex import latex
from karat.report.tables import Page, Table
from tests.running import run

DEMO = Path(karat.__file__).parent / "demo"
NAMES = [
    "A_b&c%d#e",
    "~t^i\\l$e{x}",
    "[br] <gt> |p| \"q\" 's'",
    "`` -- --- ?` !` '' ,,",
    "- 1",
    "%comment",
    "a\\\\b",
    "\u00dcber \u00e9",
]

DOCUMENT = r"""\documentclass[twocolumn]{article}
\setlength{\textwidth}{16cm}
\setlength{\columnsep}{0.6cm}
\usepackage{booktabs}
\usepackage{graphicx}
\begin{document}
%s
\end{document}
"""
PACKAGES = ("booktabs.sty", "graphicx.sty")


def missing() -> str:
    """Packages that are not installed."""
    if shutil.which("pdflatex") is None:
        return "pdflatex"
    found = subprocess.run(["kpsewhich", *PACKAGES], capture_output=True, text=True, check=False).stdout
    return " and ".join(name for name in PACKAGES if name not in found)


def corpus(path: Path, missing: int) -> str:
    """Documents with one mention per name, some of which are missing."""
    lines = []
    for number, id_ in enumerate(NAMES):
        mentions = [
            {"id": f"m{n}", "span": [[9 * n, 9 * n + 5]], "attributes": {"type": name}, "cluster": f"c{n % 3}"}
            for n, name in enumerate(NAMES)
            if not missing or (n + number) % missing
        ]
        lines.append(json.dumps({"id": id_, "mentions": mentions}))
    path.write_text("\n".join(lines))
    return str(path)


def test_characters_that_latex_would_join_stay_apart() -> None:
    out = latex([Page([Table.of(["--", "x"], [["``a''", "-1.5"]])])])
    assert "-{}- & x \\\\" in out
    assert "`{}`a'{}' & $-$1.5 \\\\" in out


def test_scripts_that_pdflatex_does_not_know_are_noted() -> None:
    def comments(name: str) -> str:
        return latex([Page([Table.of([name, "x"], [["a", "1"]])])]).partition("\n\n")[0]

    assert comments("\u00fcber \u20ac \u2013") == r"% needs \usepackage{booktabs}"
    assert comments("\u4e2d").endswith(
        "\n% characters such as \u4e2d need XeLaTeX or LuaLaTeX, and a font that has them"
    )


def test_a_table_is_as_wide_as_a_column_or_a_page() -> None:
    """Columns that do not fit form further tables of the float; one that alone is too wide is made smaller."""
    header = ["measure", *(f"{average} {score}" for average in ("micro", "macro", "macro.type") for score in "PR")]
    page = Page([Table.of(header, [["x" * 20, *["100.00"] * 6]])])
    one, both = latex([page]), latex([page], wide=True)
    assert one.count(r"\begin{tabular}") == 2
    assert one.count("\nmeasure & P & R ") == 2
    assert both.count(r"\begin{tabular}") == 1
    assert r"\multicolumn{2}{c}{macro.type}" in both
    assert r"\resizebox" not in one + both
    wide = latex([Page([Table.of(["", "x"], [["W" * 40, "1"]])])])
    assert wide.count(r"\resizebox{\linewidth}{!}{%") == 1
    assert wide.startswith("% needs \\usepackage{booktabs}, \\usepackage{graphicx}\n")


@pytest.mark.skipif(bool(missing()), reason=f"not installed: {missing()}")
def test_every_kind_of_table_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gold, one, two = corpus(tmp_path / "gold.jsonl", 0), corpus(tmp_path / "a_b&%#.jsonl", 3), tmp_path / "~^{$.jsonl"
    corpus(two, 4)
    parts = ("--by", "type", "--per-unit", "--resamples", "20")
    tables = [
        run("score", gold, one, "-p", "tac-2017", "--ci", "95", *parts, "-f", "latex"),
        run("score", gold, one, "-p", "tac-2017", "-p", "muc-5", "--summary", "-f", "latex"),
        run("compare", gold, one, str(two), "-p", "tac-2017", *parts, "-f", "latex"),
        run("compare", gold, one, str(two), "-p", "tac-2017", "-m", "nugget.type", "--errors", "-f", "latex", "--wide"),
        run("score", gold, one, "-p", "tac-2017", "-m", "nugget", "--errors", "--by", "type", "-f", "latex"),
        run("describe", gold, "-f", "latex"),
    ]
    assert [done.code for done in tables] == [0] * len(tables)
    monkeypatch.chdir(tmp_path)
    Path("tables.tex").write_text(DOCUMENT % "\n\\clearpage\n".join(done.out for done in tables), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "tables.tex"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
    assert r"Overfull \hbox" not in done.stdout


def test_a_count_of_zero_is_not_called_undefined() -> None:
    """In the table of values that were confused."""
    gold, literal = (str(DEMO / f"{name}.jsonl") for name in ("gold", "literal"))
    out = run("score", gold, literal, "-p", "tac-2017", "-m", "nugget", "--errors", "-f", "latex").out
    assert r"Generic & 6 & 0 \\" in out
    assert "undefined" not in out
