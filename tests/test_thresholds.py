"""`--value` and `--fail-under`: single scores for scripts."""

from pathlib import Path

import pytest

from tests.running import run

GOLD = '{"id": "d", "mentions": [{"id": "m", "span": [[0, 1]], "attributes": {"type": "A", "realis": "Actual"}}]}\n'
SYSTEM = (
    '{"id": "d", "mentions": [{"id": "m", "span": [[0, 1]], "attributes": {"type": "A", "realis": "Other"}}, '
    '{"id": "n", "span": [[2, 3]], "attributes": {"type": "A", "realis": "Actual"}}]}\n'
)


@pytest.fixture
def sides(tmp_path: Path) -> tuple[str, str]:
    for name, text in (("gold", GOLD), ("system", SYSTEM)):
        (tmp_path / f"{name}.jsonl").write_text(text)
    return str(tmp_path / "gold.jsonl"), str(tmp_path / "system.jsonl")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("nugget.type", "66.67"),
        ("nugget.type.precision", "50.00"),
        ("nugget.type+realis", "0.00"),  # as in the table: P and R are 0
        ("nugget.realis.recall", "0.00"),
    ],
)
def test_value_prints_the_number_of_the_table(sides: tuple[str, str], name: str, value: str) -> None:
    done = run("score", *sides, "-p", "tac-2017", "--value", name)
    assert (done.code, done.out) == (0, f"{value}\n"), done.err


def test_an_undefined_value_is_a_dash(sides: tuple[str, str]) -> None:
    Path(sides[1]).write_text('{"id": "d"}\n')
    assert run("score", *sides, "-p", "tac-2017", "--value", "nugget.span.precision").out == "-\n"


@pytest.mark.parametrize(
    ("threshold", "message"),
    [
        ("nugget.type=66.6", None),
        ("nugget.type=66.7", "nugget.type f1 is 66.67, below 66.7"),
        ("nugget.type.recall=100", None),
        ("nugget.type.precision=60", "nugget.type precision is 50.00, below 60"),
        ("nugget.type+realis=0", "nugget.type+realis f1 is 0.00, below 0"),  # undefined
    ],
)
def test_a_score_below_its_threshold_is_exit_code_3(
    sides: tuple[str, str], threshold: str, message: str | None, tmp_path: Path
) -> None:
    """Outputs are written all the same."""
    out = tmp_path / "scores.json"
    done = run("score", *sides, "-p", "tac-2017", "--fail-under", threshold, "-f", "json", "-o", str(out))
    assert done.code == (0 if message is None else 3)
    assert out.stat().st_size
    assert [line for line in done.err.splitlines() if "--fail-under" in line] == (
        [] if message is None else [f"--fail-under: {message}"]
    )


def test_thresholds_of_several_protocols(sides: tuple[str, str]) -> None:
    """A protocol without the measure is passed over, as long as one has it."""
    done = run(
        "score", *sides, "-p", "tac-2017", "-p", "conll-2012", "-p", "liu-2015", "--fail-under", "nugget.type=70"
    )
    assert done.code == 3
    assert "--fail-under: nugget.type f1 under tac-2017 is 66.67, below 70\n" in done.err
    assert "under liu-2015" in done.err
    assert "conll-2012 is" not in done.err


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--fail-under", "nugget.type"], 2, "[threshold-form]"),
        (["--fail-under", "nugget.type=inf"], 2, "[threshold-form]"),
        (["--fail-under", "nuget.type=60"], 2, "[unknown-measure]"),
        (["--fail-under", "nugget.tipe=60"], 1, "[score-absent]"),
        (
            ["--fail-under", "coref.x=60", "-m", "nugget"],
            1,
            "Known: nugget.span, nugget.type, nugget.realis, nugget.type+",
        ),
        (["--value", "nugget.type.f2"], 1, "Did you mean nugget.type.f1?"),
        (["--value", "nuget"], 2, "[unknown-measure]"),
        (["--value", "nugget.type", "-f", "json"], 2, "[value-alone]"),
        (["--value", "nugget.type", "-p", "liu-2015"], 2, "[value-protocol]"),
    ],
)
def test_what_cannot_be_a_single_score(sides: tuple[str, str], options: list[str], code: int, message: str) -> None:
    done = run("score", *sides, "-p", "tac-2017", *options)
    assert done.code == code
    assert message in done.err


def test_a_threshold_is_a_percentage(sides: tuple[str, str]) -> None:
    """With or without its sign; a fraction would always be reached, so a note says what it means."""
    for threshold, code, message in (
        ("nugget.type=70%", 3, "--fail-under: nugget.type f1 is 66.67, below 70%\n"),
        (
            "nugget.type=0.7",
            0,
            "note: --fail-under takes percentages: nugget.type=0.7 is 0.7 %, nugget.type=70 is 70 %\n",
        ),
        ("nugget.type=1", 0, ""),
    ):
        done = run("score", *sides, "-p", "tac-2017", "--fail-under", threshold)
        assert (done.code, done.err) == (code, message)


@pytest.mark.parametrize(
    ("options", "notes"),
    [(["--value", "nugget.type"], False), *((["-f", form], True) for form in ("csv", "markdown", "latex"))],
)
def test_findings_that_an_output_has_no_place_for_are_on_standard_error(
    sides: tuple[str, str], options: list[str], *, notes: bool
) -> None:
    """Tables have none for faults and notes; beside a single number, only faults are printed."""
    Path(sides[1]).write_text(SYSTEM.replace("[2, 3]", "[3, 2]").replace('"type": "A"', '"type": "B"'))
    commands = [["score", *sides, "-p", "tac-2017"], ["compare", *sides, "-p", "tac-2017"]][: 1 + notes]
    for command in commands:
        done = run(*command, *options)
        assert "-span]" not in done.out
        assert "[jsonl-span]" in done.err
        assert ("[labels-unknown]" in done.err) == notes
