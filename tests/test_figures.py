"""Figures: what they show is what was scored, they are the same bytes twice, and odd input does not spoil them."""

import csv
import io
import re
import sys
from importlib.resources import files
from pathlib import Path
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

import karat
from karat.counts import PrecisionRecall, ScoreValues
from karat.model import Document, Mention
from karat.problems import KaratError, UsageError, install_hint
from karat.report.figures.drawing import COLUMN, LONGEST, TEXT
from karat.report.figures.figure import Figure, HeatMap, Series, Values, checked_suffix
from karat.report.figures.kinds import KINDS, systems_figure
from karat.result import Result, Score
from tests.running import run

pytest.importorskip("matplotlib", reason="figures need matplotlib (karat[plots])")

DEMO = Path(str(files("karat"))) / "demo"
GOLD = str(DEMO / "gold.jsonl")
NAMES = ("cautious", "eager", "literal")
SYSTEMS = {name: str(DEMO / f"{name}.jsonl") for name in NAMES}
SVG = "{http://www.w3.org/2000/svg}"


def compared(protocol: str, **options: object) -> karat.Comparison:
    options = {"measures": "nugget", "resamples": 200, **options}
    return karat.compare(GOLD, SYSTEMS, protocol=protocol, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def pilot() -> karat.Comparison:
    return compared("tac-pilot")


@pytest.fixture(scope="module")
def fixed() -> karat.Comparison:
    return compared("liu-2015", by="realis")


@pytest.fixture(scope="module")
def literal() -> karat.Result:
    return karat.score(
        GOLD, SYSTEMS["literal"], protocol="tac-2017", measures="nugget", by=["type", "realis"], errors=True
    )


class Picture:
    """An SVG file, read back."""

    def __init__(self, figure: Figure) -> None:
        self.root = ElementTree.fromstring(figure.drawn(".svg"))
        self.texts = ["".join(element.itertext()) for element in self.root.iter(f"{SVG}text")]
        self.width, self.height = (
            float(str(self.root.get(side)).removesuffix("pt")) / 72 for side in ("width", "height")
        )
        """Inches."""

    def below(self, prefix: str) -> list[ElementTree.Element]:
        """The groups of the axes whose names start so, outside the legend."""
        axes = [group for group in self.root.iter(f"{SVG}g") if str(group.get("id")).startswith("axes_")]
        inside = [group for axis in axes for group in axis.findall(f"{SVG}g")]
        return [group for group in inside if str(group.get("id")).startswith(prefix)]


def records(figure: Figure) -> list[dict[str, str]]:
    lines = [line for line in figure.csv().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


# The figures of the paper


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protocol", "kind", "ids", "labels", "sorted_by"),
    [
        (
            "tac-pilot",
            "accuracy",
            ["nugget.span", "nugget.accuracy.type", "nugget.accuracy.realis"],
            ["span F1", "type accuracy", "realis accuracy"],
            "nugget.span",
        ),
        (
            "tac-pilot",
            "product",
            ["nugget.span", "nugget.product.type", "nugget.product.realis", "nugget.product.type+realis"],
            ["span", "span\u00d7type", "span\u00d7realis", "span\u00d7type\u00d7realis"],
            "nugget.product.type+realis",
        ),
        (
            "liu-2015",
            "attributes",
            ["nugget.span", "nugget.type", "nugget.realis", "nugget.type+realis"],
            ["span", "type", "realis", "type+realis"],
            "nugget.type+realis",
        ),
    ],
)
def test_a_figure_of_the_paper(
    protocol: str,
    kind: str,
    ids: list[str],
    labels: list[str],
    sorted_by: str,
    pilot: karat.Comparison,
    fixed: karat.Comparison,
) -> None:
    comparison = pilot if protocol == "tac-pilot" else fixed
    figure = comparison.figure(kind)
    rows = records(figure)
    assert [row["measure"] for row in rows[: len(ids)]] == ids
    assert len(rows) == len(ids) * len(NAMES)
    for row in rows:
        micro = comparison[row["system"]].scores[row["measure"]].micro
        assert float(row["value"]) == micro.values[row["score"]]
        assert micro.ci is not None
        assert (float(row["low"]), float(row["high"])) == micro.ci.values[row["score"]]
    order = [float(row["value"]) for row in rows if row["measure"] == sorted_by]
    assert order == sorted(order, reverse=True)
    picture = Picture(figure)
    assert set(labels) | set(NAMES) <= set(picture.texts)
    assert [text for text in picture.texts if text in NAMES] == [row["system"] for row in rows[:: len(ids)]]
    assert len(picture.below("line2d")) == len(ids)
    assert picture.width == pytest.approx(COLUMN)


def test_ranks_have_intervals_and_bands(fixed: karat.Comparison) -> None:
    figure = fixed.figure()
    rows = records(figure)
    assert [(row["system"], int(row["rank"])) for row in rows] == [(one.name, one.rank) for one in fixed.systems]
    for row in rows:
        micro = fixed[row["system"]].scores["nugget.type+realis"].micro
        assert float(row["value"]) == micro.values["f1"]
        assert micro.ci is not None
        assert (float(row["low"]), float(row["high"])) == micro.ci.values["f1"]
    texts = Picture(figure).texts
    assert [f"{one.name}  {one.rank}" for one in fixed.systems] == [
        text for text in texts if text[:5] in "cautiouseagerliteral"
    ]
    assert {"nugget.type+realis F1 [%]", "95 % intervals"} <= set(", ".join(texts).split(", "))
    assert figure.csv().startswith("# liu-2015: ")
    assert f"\n# signature {fixed.first.signature}\n" in figure.csv()


def test_ranks_by_another_measure(fixed: karat.Comparison) -> None:
    rows = records(fixed.figure("ranks", of="nugget.span"))
    values = [float(row["value"]) for row in rows]
    assert "rank" not in rows[0]
    assert values == sorted(values, reverse=True)
    assert {row["measure"] for row in rows} == {"nugget.span"}


# One system


def test_the_breakdown_is_the_default_where_there_is_one(literal: karat.Result) -> None:
    figure = literal.figure()
    rows = records(figure)
    assert {row["type"] for row in rows} == set(literal.by["type"])
    for row in rows:
        value = literal.by["type"][row["type"]][row["measure"]].micro.values["f1"]
        assert row["value"] == ("" if value is None else repr(value))
    picture = Picture(figure)
    assert set(literal.by["type"]) | {"span", "type", "realis", "type+realis", "nugget F1 [%]"} <= set(picture.texts)
    assert picture.height < LONGEST + 0.5
    lost = [literal.by["type"][row["type"]]["nugget.span"].micro.counts for row in rows[::4]]
    assert [one.lost() for one in lost if one] == sorted((one.lost() for one in lost if one), reverse=True)


def test_the_breakdown_by_another_field(literal: karat.Result) -> None:
    assert {row["realis"] for row in records(literal.figure("breakdown", of="realis"))} == set(literal.by["realis"])


def test_the_breakdown_of_several_systems(fixed: karat.Comparison) -> None:
    rows = records(fixed.figure("breakdown"))
    assert {row["system"] for row in rows} == set(NAMES)
    for row in rows:
        value = fixed[row["system"]].by["realis"][row["realis"]]["nugget.type+realis"].micro.values["f1"]
        assert row["value"] == ("" if value is None else repr(value))


def test_scores_of_every_measure() -> None:
    result = karat.score(GOLD, SYSTEMS["eager"], protocol="tac-2017", ci=0.9, resamples=50)
    figure = result.figure()
    rows = records(figure)
    assert list(dict.fromkeys(row["measure"] for row in rows)) == result.counted_ids()
    assert {row["score"] for row in rows} == {"precision", "recall", "f1"}
    for row in rows:
        value = result[row["measure"]].micro.values.get(row["score"])
        assert row["value"] == ("" if value is None else repr(value))
    assert {"P", "R", "F1", "coref.avg4", "score [%], 90 % intervals"} <= set(Picture(figure).texts)


@pytest.mark.parametrize("attribute", ["type", "realis"])
def test_confusions_sum_to_the_mentions(attribute: str, literal: karat.Result) -> None:
    figure = literal.figure("confusion", of=attribute)
    ((panel,),) = figure.rows
    assert isinstance(panel, HeatMap)
    gold = [sum(counts) for name, counts in zip(panel.rows, panel.counts, strict=True) if name != "(spurious)"]
    system = [
        sum(counts)
        for name, counts in zip(panel.columns, zip(*panel.counts, strict=True), strict=True)
        if name != "(missed)"
    ]
    counts = literal["nugget.span"].micro.counts
    assert isinstance(counts, PrecisionRecall)
    assert (sum(gold), sum(system)) == (counts.recall_den, counts.precision_den)
    assert literal.errors is not None
    (confusion,) = [one for one in literal.errors.measures[0].confusions if one.attribute == attribute]
    missed = sum(row[panel.columns.index("(missed)")] for row in panel.counts)
    assert missed == sum(count for (_, system), count in confusion.cells.items() if system is None)
    rows = records(figure)
    assert len(rows) == len(panel.rows) * len(panel.columns)
    assert sum(int(row["count"]) for row in rows) == sum(map(sum, panel.counts))
    assert {*panel.rows, *panel.columns, f"gold {attribute}", f"system {attribute}"} <= set(Picture(figure).texts)
    assert gold[:-1] == sorted(gold[:-1], reverse=True)


# Bytes, sizes, fonts


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_figures_are_the_same_twice(suffix: str, fixed: karat.Comparison) -> None:
    first, second = (fixed.figure().drawn(suffix) for _ in range(2))
    assert first == second
    assert b"20" + b"26" not in first[:2000]
    assert b"CreationDate" not in first
    if suffix == ".pdf":  # publishers want TrueType fonts
        assert b"/CIDFontType2" in first or b"/TrueType" in first
        assert b"/Type3" not in first


def test_a_personal_style_changes_nothing() -> None:
    import matplotlib

    figure = Figure.column([HeatMap("type", ("a",), ("a",), ((3,),))])
    before = figure.drawn(".svg")
    with matplotlib.rc_context({"font.size": 30, "svg.fonttype": "path", "axes.grid": True}):
        assert figure.drawn(".svg") == before
        assert matplotlib.rcParams["font.size"] == 30


# Sets of systems of any size, with any names


def result_of(f1: float) -> Result:
    """A result with made-up scores, which a figure takes as they are."""
    one = karat.score(GOLD, SYSTEMS["cautious"], protocol="liu-2015", measures="nugget")
    scores = {id_: Score(ScoreValues({"precision": f1, "recall": f1, "f1": f1})) for id_ in one.scores}
    return replace(one, scores=scores, headline=())


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 20, 40])
def test_any_number_of_systems(count: int) -> None:
    base = result_of(0.5)
    score = {number: Score(ScoreValues({"f1": number / 200})) for number in range(count)}
    results = {f"s{number}": replace(base, scores=dict.fromkeys(base.scores, score[number])) for number in score}
    figure = systems_figure(results, "attributes")
    assert len(records(figure)) == 4 * count
    picture = Picture(figure)
    assert picture.width == pytest.approx(COLUMN if count <= 20 else TEXT)
    assert {f"s{number}" for number in range(count)} <= set(picture.texts)


@pytest.mark.slow
@pytest.mark.parametrize(("drawn", "count"), [("lines", 1), ("bars", 150), ("points", 1)])
def test_names_of_any_kind(drawn: str, count: int) -> None:
    """Dollars are no formulas, underscores no secrets, control characters no holes in the XML."""
    odd = ["$x^2$", "_hidden", "bell\x07", "<script>&", "\u4e8b\u4ef6", "\u05d0\u05d9\u05e8", "long-" * 60 + "end"]
    rows = tuple((odd * count)[:count])
    series = tuple(Series(name, (0.5,) * count, "m", "f1") for name in odd)
    figure = Figure.column([Values(drawn=drawn, rows=rows, row_field="system", series=series, axis="F1 [%]")])  # type: ignore[arg-type]
    picture = Picture(figure)
    shown = {text.replace("\u200b", "").split("  ")[0] for text in picture.texts}
    assert {"$x^2$", "_hidden", "bell\\u0007", "<script>&", "\u4e8b\u4ef6"} <= shown
    assert all(len(text) < 70 for text in picture.texts)
    assert picture.height < LONGEST + 2
    assert figure.drawn(".png")
    if drawn != "lines" and count == 150:
        assert any("more in the CSV" in text for text in picture.texts)
    assert len(records(figure)) == count * len(odd)
    assert count == 1 or "long-" * 60 + "end" in figure.csv()


@pytest.mark.slow
def test_tall_panels_stand_side_by_side() -> None:
    rows, series = tuple(f"s{number}" for number in range(40)), (Series("F1", (0.5,) * 40, "m", "f1"),)
    panel = Values(drawn="points", rows=rows, row_field="system", series=series, axis="F1 [%]", title="p")
    one, two = (Picture(Figure.column([panel] * number)) for number in (1, 2))
    assert [one.width, two.width] == pytest.approx([COLUMN, TEXT])
    assert one.height == pytest.approx(two.height)
    assert two.texts.count("s39") == 2


def test_characters_that_the_font_lacks_are_reported(tmp_path: Path) -> None:
    system = tmp_path / "\u4e8b\u4ef6.jsonl"
    system.write_bytes(Path(SYSTEMS["eager"]).read_bytes())
    command = ["compare", GOLD, str(system), "-p", "liu-2015", "-m", "nugget", "--resamples", "20", "--plot"]
    done = run(*command, str(tmp_path / "x.png"))
    assert (done.code, "2 characters are not in the font" in done.err) == (0, True)
    assert "[figure-letters]" in done.err
    assert "figure-letters" not in run(*command, str(tmp_path / "x.svg")).err


def test_no_attributes() -> None:
    """Spans alone: Figure 3 has one line; the others need attributes."""
    side = [Document("d", mentions=(Mention("m", ((0, 5),)), Mention("n", ((7, 9),))))]
    result = karat.score(side, side, protocol="liu-2015")
    figure = result.figure("attributes")
    assert [(row["measure"], row["value"]) for row in records(figure)] == [("nugget.span", "1.0")]
    assert "span" in Picture(figure).texts
    with pytest.raises(KaratError, match="has no accuracies here; use -p tac-pilot, on gold with types"):
        karat.score(side, side, protocol="tac-pilot").figure("accuracy")
    with pytest.raises(KaratError, match="figure-data-absent"):
        karat.score(side, side, protocol="liu-2015", errors=True).figure("confusion")


def test_many_attributes_have_a_legend_of_reasonable_size() -> None:
    attributes = dict.fromkeys(("type", "realis", "polarity", "tense", "modality"), "x")
    side = [Document("d", mentions=(Mention("m", ((0, 5),), attributes={**attributes}),))]
    result = karat.score(side, side, protocol="liu-2015", settings={"attributes": [*attributes]})
    rows = records(result.figure("attributes"))
    assert len(result.scores) == 32
    assert [row["measure"].removeprefix("nugget.") for row in rows] == ["span", *attributes, "+".join(attributes)]


def test_undefined_scores_are_last_and_empty(fixed: karat.Comparison) -> None:
    base = fixed.first
    nothing = {id_: Score(ScoreValues({"f1": None})) for id_ in base.scores}
    rows = records(systems_figure({"none": replace(base, scores=nothing), "some": base}, "attributes"))
    assert [row["system"] for row in rows] == ["some"] * 4 + ["none"] * 4
    assert {row["value"] for row in rows[4:]} == {""}


# Refusals


@pytest.mark.parametrize(
    ("kind", "of", "reported"),
    [
        ("product", None, "tac-2017 has no products here; use -p tac-pilot"),
        ("ranks", None, "use `karat compare`"),
        ("breakdown", "polarity", "there is no field 'polarity' here"),
        ("confusion", "polarity", "there is no attribute 'polarity' here"),
        ("scores", "x", "figure-of"),
    ],
)
def test_a_figure_without_data_is_refused(kind: str, of: str | None, reported: str, literal: karat.Result) -> None:
    with pytest.raises(KaratError, match=re.escape(reported)):
        literal.figure(kind, of=of)


def test_figures_of_one_system_are_refused_for_several(fixed: karat.Comparison) -> None:
    for kind in ("scores", "confusion"):
        with pytest.raises(KaratError, match="it shows one system"):
            fixed.figure(kind)


def test_errors_are_needed_for_confusions() -> None:
    with pytest.raises(KaratError, match="errors=True"):
        karat.score(GOLD, SYSTEMS["eager"], protocol="tac-2017", measures="nugget").figure("confusion")


@pytest.mark.parametrize("name", ["figure", "figure.jpg", "figure.svg.gz", ".svg"])
def test_an_unknown_suffix_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=r"\.svg, \.png, \.pdf"):
        checked_suffix(name)


# The command line


@pytest.mark.slow
def test_score_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, literal: karat.Result) -> None:
    monkeypatch.chdir(tmp_path)
    base = ["score", GOLD, SYSTEMS["literal"], "-p", "tac-2017", "-m", "nugget", "--by", "type", "--by", "realis"]
    plots = {"breakdown": "breakdown.svg", "confusion": "confusion.svg", "breakdown:realis": "realis.SVG"}
    done = run(
        *base, *(part for kind, file in plots.items() for part in ("--plot", f"{kind}={file}")), "--plot", "d.png"
    )
    assert (done.code, done.out) == (0, run(*base).out), "errors are only for the figure"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        name for file in [*plots.values(), "d.png"] for name in (file, f"{file}.csv")
    )
    assert (tmp_path / "confusion.svg").read_bytes() == literal.figure("confusion").drawn(".svg")
    assert (tmp_path / "confusion.svg.csv").read_text() == literal.figure("confusion").csv()
    assert (tmp_path / "d.png.csv").read_bytes() == (tmp_path / "breakdown.svg.csv").read_bytes()


def test_compare_draws_a_panel_per_protocol(tmp_path: Path) -> None:
    path = tmp_path / "ranks.svg"
    protocols = ["-p", "tac-pilot", "-p", "liu-2015"]
    done = run("compare", GOLD, *SYSTEMS.values(), *protocols, "-m", "nugget", "--resamples", "50", "--plot", str(path))
    assert done.code == 0
    texts = ["".join(one.itertext()) for one in ElementTree.fromstring(path.read_bytes()).iter(f"{SVG}text")]
    assert {"tac-pilot", "liu-2015"} <= set(texts)
    rows = list(
        csv.DictReader(line for line in io.StringIO((tmp_path / "ranks.svg.csv").read_text()) if line[0] != "#")
    )
    assert [row["protocol"] for row in rows] == ["tac-pilot"] * 3 + ["liu-2015"] * 3


@pytest.mark.parametrize(
    ("plot", "code", "reported"),
    [
        ("figure.jpg", 2, "[plot-format]"),
        ("rank=figure.svg", 2, "[unknown-figure]"),
        ("ranks:nugget.spam=figure.svg", 1, "Did you mean nugget.span?"),
        ("product=figure.svg", 1, "[figure-data-absent]"),
        ("ranks:nugget.span=good.svg", 2, "[plot-twice]"),
        ("breakdown=figure.svg", 1, "add --by FIELD"),
    ],
)
def test_a_refusal_writes_nothing(
    plot: str, code: int, reported: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["compare", GOLD, *SYSTEMS.values(), "-p", "liu-2015", "-m", "nugget", "--resamples", "50"]
    done = run(*command, "--plot", "good.svg", "--plot", plot)
    assert (done.code, done.out, list(tmp_path.iterdir())) == (code, "", [])
    assert reported in done.err


def test_without_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = run("score", GOLD, SYSTEMS["eager"], "-p", "tac-2017", "--plot", str(tmp_path / "x.svg"))
    assert (done.code, done.out, list(tmp_path.iterdir())) == (1, "", [])
    assert "[plots-missing]" in done.err
    assert install_hint("plots") in done.err
    assert run("score", GOLD, SYSTEMS["eager"], "-p", "tac-2017", "-m", "nugget.span").code == 0


def test_the_help_names_every_kind() -> None:
    reported = " ".join((run("score", "--help").out + run("compare", "--help").out).split())
    assert [kind for kind in KINDS if not re.search(rf"\b{kind}\b", reported)] == []


def test_save_writes_both(tmp_path: Path, fixed: karat.Comparison) -> None:
    fixed.figure().save(tmp_path / "ranks.pdf")
    assert (tmp_path / "ranks.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "ranks.pdf.csv").read_text() == fixed.figure().csv()
    with pytest.raises(UsageError):
        fixed.figure().save(tmp_path / "ranks.jpg")


def test_the_figure_of_the_page_is_this_one() -> None:
    """The text of it: another version of matplotlib may draw other bytes."""
    systems = {name: SYSTEMS[name] for name in ("literal", "eager", "cautious")}
    figure = karat.compare(GOLD, systems, protocol="tac-2017", measures="nugget").figure()
    page = (Path(__file__).parents[1] / "docs" / "assets" / "demo-ranks.svg").read_text(encoding="utf-8")
    found = ["".join(one.itertext()) for one in ElementTree.fromstring(page).iter(f"{SVG}text")]
    assert found == Picture(figure).texts
