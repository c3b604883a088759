"""The first minutes with karat: help, short names, suggestions, completion, and errors in one style."""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
import sources
from click.shell_completion import ShellComplete, get_completion_class

from karat import __version__
from karat.cli import _terms
from karat.cli._parameters import SECTIONS
from karat.cli.program import SUMMARIES, cli
from karat.families import MEASURES
from karat.formats import FORMATS
from karat.problems import install_hint
from karat.protocols import PROTOCOLS
from tests.running import run

DATA = Path(__file__).parent / "data"


# karat explain


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("b3", "coref.b3: B-cubed: for each mention"),
        ("B³", "coref.b3: B-cubed: for each mention"),
        ("LEA", "coref.lea: for each cluster"),
        ("B-cubed", "coref.b3: B-cubed"),
        ("conll", "coref.conll: the mean F1 of MUC"),
        ("CEAF-e", "coref.ceafm, coref.ceafe: clusters matched"),
        ("mucp", "hierarchy.KIND.mucp: links"),
        ("hierarchy.member.mucp", "hierarchy.KIND.mucp: links"),
        ("coref.blanc.links", "coref.blanc: the mean of coref.blanc.links"),
        ("Nugget.Type", "nugget.type, nugget.realis, ...: spans"),
        ("nugget.polarity", "nugget.type, nugget.realis, ...: spans"),
        ("nugget.accuracy.realis", "nugget.accuracy.type, ...: share"),
        ("nugget.product.realis+type", "nugget.product.type+realis, ...: span F1"),
        ("edr", "ace.edr: entities"),
        ("coref", "Coreference"),
        ("muc", "MUC-5 slots\n\n  muc.span"),
        ("Arg-C", "arg.c: arguments in the right role"),
        ("STMp", "hierarchy.KIND.nstmp: events"),
        ("accuracy", "relation.accuracy: labels"),
        ("dice", "dice: a similarity of protocol files\n\nDice(G, S) = "),
        ("greedy", "greedy: a matching of protocol files\n\nOne-to-one"),
        ("kinds", "Kind\n\n  What a mention"),
        ("TAC-2017", "tac-2017: TAC KBP event nuggets"),
        ("crac-2025", "crac-2024: CRAC 2024"),
        ("csv", "csv: tables of mentions"),
        ("tbf-columns", "tbf-columns: fatal\n\n  Write: system id"),
        ("bad-jobs", "bad-jobs: a mistake"),
        ("micro", "Micro average and macro average\n\n  Micro: "),
        ("unit", "Unit of offsets\n\n  What positions count"),
        ("realis", "Attribute\n\n  A named property"),
        ("interval", "Confidence interval\n"),
        ("p-value", "Significance test\n"),
        ("singletons", "Cluster\n\n  What mentions refer to"),
        ("jackknife", "Jackknife\n\n  Scoring again without"),
        (
            "twinless",
            "twinless: a parameter of protocols, changed with --set twinless=...\n\n  araki-2014\n  BLANCp if",
        ),
        ("blanc.edge", "blanc.edge: a parameter of protocols"),
    ],
)
def test_explain_understands(name: str, first: str) -> None:
    done = run("explain", name)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(first)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("b33", "Did you mean coref.b3?"),
        ("nugget.tpye", "Did you mean nugget.type?"),
        ("coref.leaa", "Did you mean coref.lea?"),
        ("xyz", "`karat measures`, `karat protocols` and `karat formats` list names."),
        ("tac-2071", "Did you mean tac-2017?"),
        ("tbf-colums", "Did you mean tbf-columns?"),
        ("mcro", "Did you mean Micro?"),
        ("ceaf", "Did you mean coref.ceafm?"),
        ("twinles", "Did you mean twinless?"),
        ("nugget.accuracy", "Choose one: nugget.accuracy.type, nugget.accuracy.type+realis."),
        ("coref.", "Did you mean coref."),
        ("nugget.product", "Choose one: nugget.product.type, nugget.product.type+realis."),
    ],
)
def test_explain_refuses_what_has_no_name(name: str, hint: str) -> None:
    done = run("explain", name)
    assert (done.code, done.out) == (2, "")
    assert hint in done.err


def test_every_listed_measure_is_explained() -> None:
    ids = [id_ for _, family in MEASURES for row in family.card.rows for id_ in row.split(", ") if id_ != "..."]
    assert all(run("explain", id_.replace("KIND", "subevent")).code == 0 for id_ in ids)


def test_a_measure_has_a_page_of_its_own() -> None:
    """Formulas, symbols, traps and departures of the family that are about other measures are left out."""
    mucp, family = (" ".join(run("explain", name).out.split()) for name in ("mucp", "hierarchy"))
    for text in ("BLANCp R_c", "rc, wc links", "NSTMp stops", "root = counted"):
        assert text in family.replace("BLANCp over all N(N - 1) ordered pairs of events R_c", "BLANCp R_c")
        assert text not in mucp
    for text in ("MUCp R = |gold links", "two disadvantages", "None of these scores", "Araki, Hovy"):
        assert text in mucp
        assert text in family
    assert "o           the number of mentions that g and s share" in run("explain", "b3").out
    conll = run("explain", "coref.conll").out
    assert re.findall(r"^  (\w+) +R = ", conll, re.MULTILINE) == ["MUC", "B3", "CEAFe"]
    assert run("explain", "coref.conll").out == run("measures", "coref.conll").out


def test_a_name_may_mean_several_things() -> None:
    out = run("explain", "conll").out
    assert out.startswith("coref.conll: ")
    assert "\n\n\nconll: CoNLL-2012 coreference\n" in out
    assert run("explain", "span").out.endswith("See also the measures muc.span, nugget.span.\n")
    assert run("explain", "accuracy").out.endswith("nugget.accuracy.type, nugget.accuracy.type+realis.\n")


def test_formats_and_measures_describe_one_by_name() -> None:
    for name in FORMATS.names():
        assert run("formats", name).out == run("explain", name).out[-len(run("formats", name).out) :]
    assert "csv-header, csv-row, csv-span, csv-segments, csv-unit" in run("formats", "csv").out
    assert "Did you mean csv?" in run("formats", "csvv").err
    assert "Did you mean coref.b3?" in run("measures", "b33").err


@pytest.mark.slow
def test_every_code_and_term_is_explained() -> None:
    codes = {entry.code for entry in sources.rules()} | {entry.code for entry in sources.usage_errors()}
    assert codes - _terms.codes().keys() == set()
    for name in (*codes, *_terms.names_of_terms()):
        assert run("explain", name).code == 0, name


# karat help, -V, files with nearly that name


def test_help_and_version() -> None:
    assert run("help") == run("--help")
    assert run("help", "score") == run("score", "--help")
    assert run("-V").out == run("--version").out == f"karat, version {__version__}\n"
    wrong = run("help", "scroe")
    assert wrong.code == 2
    assert "'score'" in wrong.err


def test_help_lists_every_command_in_one_line() -> None:
    lines = run("--help").out.splitlines()
    for name, summary in SUMMARIES.items():
        assert f"  {name.ljust(max(map(len, SUMMARIES)))}  {summary}" in lines
    assert max(map(len, lines[: lines.index("  Examples:")])) <= 80


def test_help_lists_every_option_of_a_long_command_in_a_section() -> None:
    for name in ("score", "compare", "campaign"):
        help_, _, other = run(name, "--help").out.partition("\nOther:\n")
        assert all(f"\n{title}:\n" in help_ for title in SECTIONS)
        assert other.splitlines()[0].split() == ["-h,", "--help", "Show", "this", "message", "and", "exit."]
        assert other.splitlines()[1] == ""


def test_a_former_name_of_an_option_is_taken_and_not_shown(tmp_path: Path) -> None:
    help_ = run("demo", "--help").out
    assert "--into DIR" in help_
    assert "--to" not in help_
    assert run("demo", "--to", str(tmp_path / "copy")).code == 0
    assert (tmp_path / "copy" / "gold.jsonl").is_file()


def test_one_option_gives_the_format_of_both_sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("gold", "system"):
        shutil.copy(DATA / f"{name}.tbf", name)
    formats = ("--gold-format", "tbf", "--system-format", "tbf")
    both = run("score", "gold", "system", "--input-format", "tbf")
    assert both == run("score", "gold", "system", *formats)
    assert both.code == 0
    one = run("score", "gold", "system", "--input-format", "jsonl", *formats)
    assert one == both, "the option of a side decides"


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (None, "pip install 'karat[plots]'"),
        ('{"archive_info": {}, "url": "file:///tmp/karat-0.1.0-py3-none-any.whl"}', "pip install 'karat[plots]'"),
        ('{"dir_info": {"editable": true}, "url": "file:///home/me/karat"}', "pip install '.[plots]'"),
    ],
)
def test_an_extra_is_installed_from_where_karat_came(
    origin: str | None, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        importlib.metadata, "distribution", lambda name: importlib.metadata.PathDistribution(Path(name))
    )
    monkeypatch.setattr(importlib.metadata.PathDistribution, "read_text", lambda _self, _name: origin)
    assert install_hint("plots").endswith(command)


def test_files_with_nearly_that_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DATA)
    done = run("score", "gold.tfb", "system.tbf")
    assert done.code == 1
    assert done.err == (
        "error: gold.tfb: there is no such file or folder [file-missing]\n"
        "  Did you mean gold.tbf? Check the spelling and the current folder.\n"
    )
    assert "Did you mean golden/score.txt?" in run("score", "gold.tbf", "golden/scores.txt").err
    assert "Did you mean gold.tbf?" in run("validate", "glod.tbf").out
    assert "Did you mean" not in run("score", "gold.tbf", "something else").err
    assert "Did you mean" not in run("score", "gold.tbf", "nowhere/gold.tbf").err


# Errors


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("scroe",), 2),
        (("score", "gold.tbf"), 2),
        (("score", "--nothing"), 2),
        (("score", "gold.tbf", "system.tbf", "-f", "jsn"), 2),
        (("score", "gold.tbf", "system.tbf", "-p", "tac"), 2),
        (("score", "nowhere", "system.tbf"), 1),
        (("describe", "gold.tbf", "-o", "/nowhere/x"), 1),
    ],
)
def test_every_error_is_spelt_in_one_way(args: tuple[str, ...], code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """`error: what [code]`, then lines that are indented."""
    monkeypatch.chdir(DATA)
    done = run(*args)
    first, *others = done.err.splitlines()
    assert done.code == code
    assert re.fullmatch(r"error: .* \[[a-z-]+\]", first)
    assert others
    assert all(line.startswith("  ") for line in others)


# Completion


def completed(shell: str, *words: str) -> list[str]:
    """Complete the last of these words, as a shell does."""
    kind = get_completion_class(shell)
    assert kind is not None
    complete: ShellComplete = kind(cli, {}, "karat", "_KARAT_COMPLETE")
    return [item.value for item in complete.get_completions(list(words[:-1]), words[-1])]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_names_are_completed(shell: str) -> None:
    assert completed(shell, "score", "-p", "") == PROTOCOLS.names()
    assert completed(shell, "score", "a", "b", "-p", "tac-") == ["tac-2017", "tac-pilot"]
    assert completed(shell, "protocols", "conll") == ["conll-2012"]
    assert {"coref", "coref.b3", "coref.blanc", "coref.blanc.links"} <= {*completed(shell, "score", "-m", "coref")}
    assert completed(shell, "explain", "hierarchy.member.mu") == ["hierarchy.member.mucp"]
    assert completed(shell, "score", "--gold-format", "cor") == ["corefud"]
    assert completed(shell, "val") == ["validate"]


def test_files_are_left_to_the_shell() -> None:
    """Wherever a command takes a file; a protocol may be one, too."""
    complete = ShellComplete(cli, {}, "karat", "_KARAT_COMPLETE")
    for words in (["score"], ["validate"], ["score", "-o"], ["score", "-p", "x"], ["validate", "x", "--against"]):
        *before, last = [*words, "my"]
        assert [(item.type, item.value) for item in complete.get_completions(before, last)][:1] == [("file", "my")], (
            words
        )
    takes_files = re.compile(r"FILE|DIR|GOLD|CORPUS|PATH|\bIN\b|\bOUT\b|SYSTEM")
    for command in cli.commands.values():
        context = click.Context(command)
        for parameter in command.params:
            if isinstance(parameter.type, click.types.StringParamType) and takes_files.search(
                parameter.make_metavar(context)
            ):
                assert parameter.shell_complete(context, "my"), (command.name, parameter.name)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_that_of_the_shell(shell: str) -> None:
    done = run("completion", shell)
    assert done.code == 0
    assert f"_KARAT_COMPLETE={shell}_complete" in done.out
    assert "karat" in run("help", "completion").out
    assert run("completion", "tcsh").code == 2


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_a_command_line() -> None:
    script = (
        'eval "$(karat completion bash)"; COMP_WORDS=(karat explain coref.l); COMP_CWORD=2; '
        '_karat_completion karat coref.l explain; echo "${COMPREPLY[@]}"'
    )
    path = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, env=path)
    assert done.stdout == "coref.lea\n"


def test_completion_loads_nothing_heavy() -> None:
    code = (
        "import sys; from click.shell_completion import ShellComplete; from karat.cli.program import cli\n"
        "complete = ShellComplete(cli, {}, 'karat', '_KARAT_COMPLETE').get_completions\n"
        "assert complete(['score', '-p'], '') and complete(['score', '-m'], '') and complete(['explain'], '')\n"
        "print(sorted({'numpy', 'scipy', 'lxml'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="there is no list of threads")
def test_linear_algebra_has_no_threads_unless_asked() -> None:
    code = (
        "import os; from karat.cli import main\n"
        "try:\n    main()\n"
        "finally:\n    import numpy; print(len(os.listdir('/proc/self/task')), os.environ['OPENBLAS_NUM_THREADS'])"
    )
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}

    def printed(**more: str) -> str:
        arguments = [sys.executable, "-c", code, "formats"]
        return subprocess.run(arguments, capture_output=True, text=True, env=environment | more).stdout.splitlines()[-1]

    assert printed() == "1 1"
    assert printed(OPENBLAS_NUM_THREADS="2").endswith(" 2")
