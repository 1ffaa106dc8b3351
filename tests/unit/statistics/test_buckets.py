"""Quantile buckets, correlations and tables of probabilities, against what is counted by hand."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import chain, pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from actiondbg.statistics.quantities import Buckets, Floats, conditional, pearson, ranks, split
from tests.fakes import strategies


def floats(*values: float) -> Floats:
    return np.array(values, dtype=np.float64)


def spearman(x: Floats, y: Floats) -> float | None:
    return pearson(ranks(x), ranks(y))


def members(values: Floats, buckets: Buckets) -> list[list[float]]:
    return [sorted(values[buckets.of == number].tolist()) for number in range(buckets.size)]


# --- buckets ----------------------------------------------------------------------------


def test_different_values_are_cut_into_equal_parts() -> None:
    values = floats(*range(32, 0, -1))
    buckets = split(values, 4)
    assert buckets.calls.tolist() == [8, 8, 8, 8]
    assert buckets.low.tolist() == [1, 9, 17, 25]
    assert buckets.high.tolist() == [8, 16, 24, 32]
    assert buckets.mean.tolist() == [4.5, 12.5, 20.5, 28.5]
    assert (buckets.of[0], buckets.of[-1]) == (3, 0)


def test_equal_values_stay_together() -> None:
    buckets = split(floats(0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 5), 4)
    assert members(floats(0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 5), buckets) == [[0] * 9, [1, 1, 5]]
    assert (buckets.wanted, buckets.size) == (4, 2)
    assert buckets.mean.tolist() == [0, 7 / 3]


def test_constant_has_one_bucket() -> None:
    buckets = split(floats(3, 3, 3), 16)
    assert (buckets.size, buckets.calls.tolist(), buckets.mean.tolist()) == (1, [3], [3.0])


def test_a_rare_value_at_the_end_has_a_bucket() -> None:
    values = floats(*[0] * 99, 1)
    assert members(values, split(values, 16)) == [[0] * 99, [1]]


def test_fewer_samples_than_buckets() -> None:
    values = floats(5, 1, 3)
    assert members(values, split(values, 16)) == [[1], [3], [5]]


@pytest.mark.parametrize("wanted", [2, 3, 16, 64])
@given(values=strategies.columns())
def test_properties_of_buckets(values: Floats, wanted: int) -> None:
    buckets = split(values, wanted)
    parts = members(values, buckets)
    assert 1 <= buckets.size <= min(wanted, len(set(values.tolist())))
    assert list(chain.from_iterable(parts)) == sorted(values.tolist())
    for part, calls, mean in zip(parts, buckets.calls, buckets.mean, strict=True):
        assert len(part) == calls > 0
        assert part[0] <= mean <= part[-1]
        exact = sum(map(Fraction, part)) / len(part)
        assert mean == pytest.approx(float(exact), rel=1e-12)
    for part, following in pairwise(parts):
        assert part[-1] < following[0]
    assert buckets.low.tolist() == [part[0] for part in parts]
    assert buckets.high.tolist() == [part[-1] for part in parts]


@pytest.mark.parametrize("wanted", [2, 7, 16])
@pytest.mark.parametrize("size", [16, 17, 31, 1000])
def test_without_equal_values_sizes_differ_by_one(size: int, wanted: int) -> None:
    values = floats(*np.random.default_rng(size).permutation(size) * 1.5)
    buckets = split(values, wanted)
    assert buckets.size == wanted
    assert max(buckets.calls) - min(buckets.calls) <= 1


# --- correlations -----------------------------------------------------------------------


def test_known_correlations() -> None:
    x = floats(1, 2, 3, 4)
    assert pearson(x, 10 * x + 3) == pytest.approx(1)
    assert pearson(x, -x) == pytest.approx(-1)
    assert pearson(x, floats(1, -1, -1, 1)) == pytest.approx(0)
    # By hand: the products sum to 4, both squares to 5.
    assert pearson(x, floats(1, 3, 2, 4)) == pytest.approx(0.8)
    assert spearman(x, np.exp(x)) == pytest.approx(1)
    # Ranks 1, 2.5, 2.5, 4: the products sum to 4.5, the squares to 4.5 and 5.
    assert spearman(floats(1, 2, 2, 3), floats(1, 3, 2, 4)) == pytest.approx(4.5 / 22.5**0.5)


@pytest.mark.parametrize("constant", [0.0, 7.0, 1e300])
def test_a_constant_has_no_correlation(constant: float) -> None:
    x, y = floats(1, 2, 3), floats(constant, constant, constant)
    assert pearson(x, y) is pearson(y, x) is spearman(x, y) is None
    assert pearson(floats(1), floats(2)) is None


def brute_ranks(values: Floats) -> list[float]:
    found = values.tolist()
    return [
        sum(other < one for other in found) + (1 + sum(other == one for other in found)) / 2
        for one in found
    ]


def brute_pearson(x: list[float], y: list[float]) -> float:
    xs, ys = list(map(Fraction, x)), list(map(Fraction, y))
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    product = sum((a - mean_x) * (b - mean_y) for a, b in zip(xs, ys, strict=True))
    squares = sum((a - mean_x) ** 2 for a in xs) * sum((b - mean_y) ** 2 for b in ys)
    return float(product) / float(squares) ** 0.5


@given(seed=st.integers(0, 2**32), digits=st.integers(1, 11), slope=st.integers(-2, 2))
def test_correlations_against_exact_ones(seed: int, digits: int, slope: int) -> None:
    dice = np.random.default_rng(seed)
    x = dice.integers(0, 10**digits, 60).astype(np.float64)
    y = x * slope + dice.poisson(3, 60) + 1e9
    assume(np.ptp(x) > 0 and np.ptp(y) > 0)
    assert pearson(x, y) == pytest.approx(brute_pearson(x.tolist(), y.tolist()), abs=1e-6)
    exact = brute_pearson(brute_ranks(x), brute_ranks(y))
    assert spearman(x, y) == pytest.approx(exact, abs=1e-12)
    assert pearson(x, y) == pytest.approx(float(np.corrcoef(x, y)[0, 1]), abs=1e-9)


# --- tables of probabilities ------------------------------------------------------------


def test_known_table() -> None:
    # Of 8 calls 4 have no page fault: 3 of them are fast; of the others 1 is.
    faults = split(floats(0, 0, 0, 0, 2, 2, 2, 2), 2)
    duration = split(floats(10, 11, 12, 20, 13, 21, 22, 23), 2)
    assert conditional(faults, duration).tolist() == [[0.75, 0.25], [0.25, 0.75]]
    few = split(floats(0, 0, 0, 0, 0, 0, 2, 2), 4)
    assert conditional(few, duration).tolist() == [[4 / 6, 2 / 6], [0, 1]]
    assert conditional(duration, few).tolist() == [[1, 0], [0.5, 0.5]]


@given(left=strategies.columns(), right=strategies.columns())
def test_tables_against_counting(left: Floats, right: Floats) -> None:
    size = min(len(left), len(right))
    x, y = split(left[:size], 16), split(right[:size], 16)
    pairs = Counter(zip(x.of.tolist(), y.of.tolist(), strict=True))
    calls: Counter[int] = Counter(x.of.tolist())
    table = conditional(x, y)
    assert table.shape == (x.size, y.size)
    assert table.sum(axis=1) == pytest.approx(1)
    for row in range(x.size):
        for column in range(y.size):
            assert table[row, column] == pairs[row, column] / calls[row]
    # Bayes: both tables are of the same counts.
    other = conditional(y, x)
    assert table * x.calls[:, None] == pytest.approx((other * y.calls[:, None]).T)


def test_quantity_determines_its_own_bucket() -> None:
    x = split(floats(*range(64)), 16)
    assert conditional(x, x).tolist() == np.eye(16).tolist()
