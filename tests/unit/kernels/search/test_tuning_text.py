"""The text of a tuned model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from actiondbg.commands.render.kernels.search import tuning_text
from actiondbg.errors import UsageError
from actiondbg.kernels.model import ElementType, Tensor
from actiondbg.kernels.results.words import ModelWeights
from actiondbg.kernels.search.tuning import (
    Agreement,
    ModelTuner,
    TuneSettings,
    TuningResult,
    WholeTimes,
    program_operands,
)
from actiondbg.kernels.sweep.settings import SweepSettings
from actiondbg.support.recording_file import MAGIC

RESULT = TuningResult(
    ModelWeights((), 0),
    [],
    100.0,
    Path("spec.mlir"),
    Agreement(0.0, 2.0),
    WholeTimes((0.003,) * 10, (0.002,) * 10),
)


def whole(result: TuningResult) -> str:
    """Return the text."""
    return "\n".join(tuning_text(result))


def test_a_gain_is_the_median_of_the_ratios() -> None:
    text = whole(RESULT)
    assert "1.50 times as fast, and faster in 10 of 10 repetitions in turn" in text
    assert "2.000 ms for 3.000" in text


def test_one_lucky_time_is_no_gain() -> None:
    times = WholeTimes((0.003,) * 10, (0.001, *(0.0031,) * 6, *(0.002,) * 3))
    assert "not clearly faster or slower" in whole(replace(RESULT, times=times))


def test_a_model_that_becomes_slower_is_said_to_be() -> None:
    times = WholeTimes((0.002,) * 10, (0.004,) * 10)
    assert "slower: 0.50 times as fast" in whole(replace(RESULT, times=times))


@pytest.mark.parametrize("difference", [0.01, float("inf")])
def test_other_results_are_wrong(difference: float) -> None:
    wrong = Agreement(difference, 2.0)
    assert not wrong.holds
    assert "WRONG: results differ by" in whole(replace(RESULT, agreement=wrong))


def test_results_that_are_not_finite_show_nothing() -> None:
    text = whole(replace(RESULT, agreement=Agreement(0.0, 0.0, finite=False)))
    assert "Results were not compared" in text


def test_operands_keep_the_numbers_of_a_network_small() -> None:
    kinds = (Tensor("a", (64,), ElementType.F32), Tensor("b", (3, 3, 64, 8), ElementType.F32))
    vector, filter = program_operands(kinds)
    assert (vector > 0).all()
    assert 0.5 < float(np.square(filter).sum()) / 8 < 2.0
    (tokens,) = program_operands([Tensor("c", (64,), ElementType.I32)])
    assert tokens.dtype == np.int32 and tokens.min() >= 0 and tokens.max() < 8


def test_a_spec_over_another_file_is_refused_before_the_searches(tmp_path: Path) -> None:
    program, recording = tmp_path / "model.mlir", tmp_path / "run.adbrec"
    recording.write_bytes(MAGIC)
    for spec, message in ((program, "is named twice"), (recording, "is a recording")):
        with pytest.raises(UsageError, match=message):
            ModelTuner(program, TuneSettings(spec=spec), SweepSettings(tmp_path))
