"""Statistics on rows of counts: against exact enumeration, scipy, and numbers worked out by hand."""

from array import array
from itertools import combinations_with_replacement, product
from math import factorial, prod
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from karat.api.scoring import score
from karat.counts import PrecisionRecall
from karat.model import Document
from karat.plugin import Averages
from karat.result import Confidence, UnitRows
from karat.run.units import MeasureColumns, ScoreFunction
from karat.stats import confidence as intervals
from karat.stats import paired
from karat.stats import paired as correction
from karat.stats.confidence import remarks
from karat.stats.resampling import ExactColumns, all_swaps, bootstrap, bootstrap_weights, matrix, observed
from tests.corpora import mention
from tests.running import run

F1 = ("nugget.span", "micro", "f1")
Counts = NDArray[np.float64]


def rows(counts: Counts) -> UnitRows:
    """One measure, whose units have these counts."""
    finished = ScoreFunction([MeasureColumns("nugget.span", PrecisionRecall, Averages(), has_macro=False)], ())
    return UnitRows([f"d{number}" for number in range(len(counts))], [array("d", c) for c in counts.T], finished)


def simulated(units: int, quality: float, seed: int) -> Counts:
    """Counts of a system that finds each gold mention with a probability; documents of seed 0 are always the same."""
    gold = np.random.default_rng(0).integers(5, 30, units)
    random = np.random.default_rng(seed)
    found = random.binomial(gold, quality)
    return np.array([found, found + random.poisson(3, units), found, gold], dtype=np.float64).T


def f1(total: Counts) -> float:
    return float(2 * total[0] / (total[1] + total[3]))


def test_randomisation_of_eight_documents_is_exact() -> None:
    a, b = simulated(8, 0.6, 1), simulated(8, 0.75, 2)
    least = abs(f1(b.sum(0)) - f1(a.sum(0))) - 1e-12
    extreme = 0
    for swaps in product([False, True], repeat=8):
        swapped = np.array(swaps)[:, None]
        difference = f1(np.where(swapped, a, b).sum(0)) - f1(np.where(swapped, b, a).sum(0))
        extreme += abs(difference) >= least
    p, resamples = paired.approximate_randomisation(rows(a), rows(b), resamples=1000, seed=0)
    assert resamples == 256
    assert p[F1] == extreme / 256


@pytest.mark.slow
def test_randomisation_agrees_with_scipy() -> None:
    a, b = simulated(60, 0.6, 1), simulated(60, 0.63, 2)
    both = np.concatenate([a, b])
    expected = stats.permutation_test(
        (np.arange(60), np.arange(60, 120)),
        lambda one, other: f1(both[other].sum(0)) - f1(both[one].sum(0)),
        permutation_type="samples",
        n_resamples=9999,
        vectorized=False,
        rng=np.random.default_rng(5),
    ).pvalue
    p, resamples = paired.approximate_randomisation(rows(a), rows(b), resamples=10_000, seed=0)
    assert resamples == 10_000
    assert p[F1] == pytest.approx(expected, abs=4 * (expected * (1 - expected) / 10_000) ** 0.5)


@pytest.mark.slow
def test_bootstrap_agrees_with_scipy() -> None:
    counts = simulated(60, 0.6, 1)
    expected = stats.bootstrap(
        (np.arange(60),),
        lambda units: f1(counts[units].sum(0)),
        vectorized=False,
        method="percentile",
        n_resamples=10_000,
        rng=np.random.default_rng(5),
    )
    resampled = bootstrap(rows(counts), resamples=10_000, seed=0)[F1]
    error = expected.standard_error
    assert resampled.std() == pytest.approx(error, rel=0.05)
    low, high = intervals.percentile(resampled, 0.95) or (0.0, 0.0)
    assert (low, high) == pytest.approx(tuple(expected.confidence_interval), abs=error / 10)


def test_bootstrap_of_three_documents_has_the_27_samples() -> None:
    """Every score of the bootstrap is that of one of the 27 ordered samples."""
    counts = simulated(3, 0.6, 1)
    possible = {f1(counts[list(drawn)].sum(0)) for drawn in product(range(3), repeat=3)}
    resampled = bootstrap(rows(counts), resamples=2000, seed=3)[F1]
    assert {round(value, 12) for value in resampled.tolist()} == {round(value, 12) for value in possible}


@pytest.mark.parametrize("kept", [0, 1 << 24])
def test_units_without_rows_are_drawn_like_those_that_count_nothing(monkeypatch: pytest.MonkeyPatch, kept: int) -> None:
    """Rows of a value that few units have are resampled among all units, with weights that are kept or drawn again."""
    monkeypatch.setattr("karat.stats.resampling.KEPT", kept)
    some = rows(np.array([[0.1, 2, 0.1, 3], [1, 1, 1, 4], [2 / 3, 1, 2 / 3, 2]]))
    units = ["x", "d1", "y", "d0", "d2", *(f"z{number}" for number in range(20))]
    sparse = bootstrap(some, resamples=300, seed=5, among={unit: number for number, unit in enumerate(units)})
    dense = bootstrap(some.over(units), resamples=300, seed=5)
    assert {name: values.tobytes() for name, values in sparse.items()} == {
        name: values.tobytes() for name, values in dense.items()
    }


def test_paired_bootstrap_resamples_both_systems_together() -> None:
    """Two systems that differ by the same in every document differ by that in every resample."""
    a = rows(np.array([[5, 10, 5, 10]] * 6, dtype=np.float64))
    b = rows(np.array([[6, 10, 6, 10]] * 6, dtype=np.float64))
    of_a, of_b = (bootstrap(one, resamples=500, seed=0) for one in (a, b))
    assert paired.paired_bootstrap(of_a, of_b, {F1: 0.1}, units=6) == {F1: paired.expanded(1 / 501, 6)}


def test_paired_bootstrap_of_eight_documents_agrees_with_enumeration() -> None:
    """All 6,435 samples of eight documents, each as often as it can be drawn in some order."""
    a, b = simulated(8, 0.6, 1), simulated(8, 0.7, 2)
    observed_difference = f1(b.sum(0)) - f1(a.sum(0))
    extreme = 0
    for drawn in combinations_with_replacement(range(8), 8):
        times = np.bincount(drawn, minlength=8)
        orders = factorial(8) // prod(factorial(int(number)) for number in times)
        centred = f1(times @ b) - f1(times @ a) - observed_difference
        extreme += orders * (abs(centred) >= abs(observed_difference) - 1e-12)
    exact = extreme / 8**8
    assert 0.01 < exact < 0.5
    of_a, of_b = (bootstrap(rows(one), resamples=20_000, seed=0) for one in (a, b))
    found = paired.paired_bootstrap(of_a, of_b, {F1: observed_difference}, units=8)[F1]
    error = 4 * (exact * (1 - exact) / 20_000) ** 0.5
    assert found is not None
    assert paired.expanded(exact - error, 8) < found < paired.expanded(exact + error, 8)


def test_the_correction_for_small_samples_by_hand() -> None:
    """p = 0.05 is z = 1.959964; times √(19/20), t = 1.910335 with 19 degrees of freedom. Many units change little."""
    assert paired.expanded(0.05, 20) == pytest.approx(2 * stats.t.sf(1.910335, 19), abs=1e-6)
    assert paired.expanded(0.05, 20) == pytest.approx(0.0713, abs=1e-4)
    assert paired.expanded(0.05, 10**9) == pytest.approx(0.05)
    assert paired.expanded(1.0, 2) == 1


def test_the_corrected_bootstrap_of_a_mean_is_a_t_test() -> None:
    """Where the score is a mean of normally distributed units, the correction gives Student's paired t-test."""
    random = np.random.default_rng(4)
    a, b = 0.5 + random.normal(size=(2, 12)) / 20 + np.array([[0], [0.035]])
    one, other = (rows(np.array([side, np.ones(12), side, np.ones(12)]).T) for side in (a, b))
    of_a, of_b = (bootstrap(side, resamples=20_000, seed=0) for side in (one, other))
    found = paired.paired_bootstrap(of_a, of_b, {F1: float((b - a).mean())}, units=12)[F1]
    assert found == pytest.approx(stats.ttest_rel(a, b).pvalue, rel=0.15)


@pytest.mark.parametrize("seed", [0, 1, 2**40])
def test_the_same_seed_makes_the_same_resamples(seed: int) -> None:
    one, other = (np.concatenate(list(bootstrap_weights(300, 5000, seed))) for _ in range(2))
    assert one.tobytes() == other.tobytes()
    assert (one.sum(axis=1) == 300).all()


def test_identical_systems_do_not_differ() -> None:
    a = rows(simulated(30, 0.6, 1))
    p, _ = paired.approximate_randomisation(a, a, resamples=200, seed=0)
    assert p[F1] == 1
    resampled = bootstrap(a, resamples=200, seed=0)
    assert paired.paired_bootstrap(resampled, resampled, {F1: 0.0}, units=30) == {F1: 1}


def test_nothing_at_all_is_undefined() -> None:
    empty = rows(np.zeros((4, 4)))
    assert observed(empty)[F1] is None
    assert intervals.percentile(bootstrap(empty, resamples=50, seed=0)[F1], 0.95) is None
    assert paired.approximate_randomisation(empty, empty, resamples=50, seed=0)[0][F1] is None


@given(
    st.lists(st.lists(st.floats(0, 1e6, allow_subnormal=False), min_size=2, max_size=2), min_size=1, max_size=40),
    st.randoms(),
)
def test_sums_do_not_depend_on_the_order_of_units(values: list[list[float]], random: object) -> None:
    columns = np.array(values)
    weights = next(bootstrap_weights(len(columns), 5, 1))
    order = list(range(len(columns)))
    random.shuffle(order)  # type: ignore[attr-defined]
    sums = ExactColumns(columns).sums(weights)
    assert sums.tobytes() == ExactColumns(columns[order]).sums(weights[:, order]).tobytes()
    assert sums == pytest.approx(weights @ columns, rel=1e-8, abs=1e-8 * columns.max() + 1e-300)


def test_all_swaps() -> None:
    assert np.concatenate(list(all_swaps(2))).tolist() == [[0, 0], [1, 0], [0, 1], [1, 1]]


def test_rows_become_a_matrix() -> None:
    counts = simulated(5, 0.6, 1)
    assert matrix(rows(counts)).tolist() == counts.tolist()
    assert matrix(rows(np.zeros((0, 4)))).shape == (0, 4)


def test_jackknife_by_hand() -> None:
    """Scores 0.5, 0.6, 0.7 without a part: mean 0.6, se² = 2/3 · 0.02, and t of 2 degrees of freedom is 4.302653."""
    left_out = [0.5, 0.6, 0.7]
    error = (2 / 3 * 0.02) ** 0.5
    assert intervals.standard_error(left_out) == pytest.approx(error)
    assert intervals.jackknife(0.6, left_out, 0.95) == pytest.approx((0.6 - 4.302653 * error, 0.6 + 4.302653 * error))
    assert paired.jackknife(4.302653 * error, left_out) == pytest.approx(0.05, abs=1e-6)
    assert intervals.jackknife(0.6, [0.6], 0.95) is None
    assert intervals.jackknife(0.6, [0.6, None], 0.95) is None
    assert paired.jackknife(0.0, [0.0, 0.0]) == 1
    assert paired.jackknife(0.1, [0.1, 0.1]) == 0


def test_the_jackknife_of_a_mean_is_its_standard_error() -> None:
    sample = np.random.default_rng(1).normal(size=20)
    left_out = [float(np.delete(sample, number).mean()) for number in range(20)]
    assert intervals.standard_error(left_out) == pytest.approx(sample.std(ddof=1) / 20**0.5)


def test_holm_by_hand() -> None:
    """Holm (1979): 0.01 · 4, 0.02 · 3, then 0.03 · 2 and 0.04, which may not be less than those before."""
    assert correction.holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert correction.holm([0.5, 0.6]) == [1, 1]
    assert correction.holm([None, 0.05]) == [None, 0.05]
    assert correction.holm([]) == []


@given(st.lists(st.one_of(st.none(), st.floats(0, 1))))
def test_holm_never_makes_a_p_value_smaller_and_keeps_their_order(values: list[float | None]) -> None:
    adjusted = correction.holm(values)
    both = [(p, q) for p, q in zip(values, adjusted, strict=True) if p is not None and q is not None]
    assert len(both) == sum(p is not None for p in values)
    assert all(p <= q <= 1 for p, q in both)
    assert [q for _, q in sorted(both)] == sorted(q for _, q in both)


def test_percentiles_need_a_score_in_most_resamples() -> None:
    defined, undefined = [0.1, 0.2, 0.3, 0.4, 0.5], [np.nan] * 5
    assert intervals.percentile(np.array([*defined, *undefined]), 0.9) is None
    assert intervals.percentile(np.array([*defined, *undefined[1:]]), 0.5) == pytest.approx((0.2, 0.4))


def test_an_undefined_score_has_no_jackknife() -> None:
    assert intervals.jackknife(None, [0.5, 0.6], 0.95) is None


@pytest.mark.parametrize(("units", "codes"), [(19, ["units-few"]), (20, [])])
def test_fewer_than_twenty_units_are_few(units: int, codes: list[str]) -> None:
    how = Confidence(0.95, "percentile bootstrap", "document", units, 1000, 0)
    assert [finding.code for finding in remarks(how, unit="document")] == codes


def test_intervals_of_both_averages_and_of_rows() -> None:
    """Type A is in all three documents, B and C in one each, which cannot be resampled."""
    found = mention("m", (0, 4), type="A")
    alone = {"d": (mention("n", (9, 12), type="B"),), "e": (mention("n", (9, 12), type="C"),), "f": ()}
    gold = [Document(id_, mentions=(found, *others)) for id_, others in alone.items()]
    system = [Document(id_, mentions=(found,)) for id_ in alone]
    result = score(gold, system, protocol="tac-2017", measures="nugget", by="type", ci=0.9, resamples=50)
    spans = result["nugget.span"]
    assert spans.macro is not None
    for values in (spans.micro, spans.macro):
        assert values.ci is not None
        low, high = values.ci.values["f1"] or (None, None)
        assert low is not None
        assert high is not None
        assert low <= (values.values["f1"] or 0) <= high
    messages = [finding.message for finding in result.warnings if finding.code == "intervals-of-parts"]
    assert messages == ["by type: 2 values occur in one document only, and have no intervals"]


def test_intervals_of_nothing_to_score(tmp_path: Path) -> None:
    """Gold has no entities, relations or other elements of ACE, so there is no score, and no interval of one."""
    (tmp_path / "gold.jsonl").write_text(
        '{"id":"a","mentions":[{"id":"m","span":[[0,1]],"kind":"x"}]}\n{"id":"b","mentions":[]}\n'
    )
    gold = str(tmp_path / "gold.jsonl")
    done = run("score", gold, gold, "-p", "ace-2005-nist", "--ci", "95", "--resamples", "20")
    assert (done.code, "nothing to score" in done.out) == (0, True), done.err
