"""Errors of a compilation that a bisection can look for."""

from __future__ import annotations

from pathlib import Path

import pytest

from actiondbg.kernels.bisection.dispatch_bisection import (
    compilation_error,
    count_steps,
    is_compiler_fault,
)


@pytest.mark.parametrize(
    ("sentence", "error", "fault"),
    [
        (
            "mlir-opt failed with exit status 1: configured.mlir:7:11: error: 'vector.load' op "
            "requires a map (see /tmp/compile.log).",
            "'vector.load' op requires a map",
            True,
        ),
        ("mlir-opt was killed by signal 6: error: unexpected op (see a.log).", "", True),
        ("llc took longer than 600 s.", "", False),
        ("The tile does not divide.", "", False),
    ],
)
def test_an_error_is_read_from_the_sentence_on_a_step(
    sentence: str, error: str, fault: bool
) -> None:
    assert compilation_error(sentence) == error
    assert is_compiler_fault(sentence) is fault


def test_the_steps_of_a_log_are_counted(tmp_path: Path) -> None:
    log = tmp_path / "compile.log"
    assert count_steps(log) == 0
    log.write_text("$ mlir-opt a.mlir\n$ llc a.ll\nerror: $ is no register\n")
    assert count_steps(log) == 2
