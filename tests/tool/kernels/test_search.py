"""Searches for the fastest configuration of real kernels."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from actiondbg.errors import UsageError
from actiondbg.kernels.model import Configuration, Operation, Parameter
from actiondbg.kernels.operations.matmul import Matmul
from actiondbg.kernels.operations.windowed import Conv2d
from actiondbg.kernels.providers.mlir.provider import MlirProvider
from actiondbg.kernels.search.api import search
from actiondbg.kernels.search.search import SearchProgress
from actiondbg.kernels.sweep.settings import SweepSettings
from tests.fakes import command_line
from tests.paths import COMMAND

# Upstream pull request 196973: vectors of two dimensions ignore the stride.
STRIDE_2 = Conv2d(1, 17, 17, 8, 16, 3, 3, stride_h=2, stride_w=2)
PIPELINES = (
    "convert-linalg-to-loops",
    "convert-linalg-to-affine-loops,affine-super-vectorize{virtual-vector-size=4,4}",
    "convert-linalg-to-affine-loops,affine-scalrep",
)
SIZES = ["--problem-m", "32", "--problem-n", "32", "--problem-k", "32"]


class PipelineProvider(MlirProvider):
    """Searches pipelines, of which one is wrong for strides, and fast."""

    def configurations(self, operation: Operation) -> Sequence[Configuration]:
        return []

    def space(self, operation: Operation) -> Mapping[str, Sequence[Parameter]]:
        return {"pipeline": PIPELINES}

    def configured(self, operation: Operation, choice: Mapping[str, Parameter]) -> Configuration:
        return Configuration("mlir", f"mlir_{PIPELINES.index(str(choice['pipeline']))}", choice)


def run_command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run ``actiondbg kernels search`` on a matmul in a folder."""
    return command_line.run(
        "kernels", "search", "--operation-kind", "matmul", *SIZES, *words, cwd=folder
    )


def test_the_best_is_verified_and_measured_again(tmp_path: Path) -> None:
    seen: list[SearchProgress] = []
    settings = SweepSettings(generated_dir=tmp_path)
    result = search(Matmul(32, 32, 32), budget=6, settings=settings, progress=seen.append)
    assert len(result.trials) == 6 == len(seen)
    assert result.best is not None
    assert len(result.best.profile.seconds) == 15
    assert result.default is not None
    trials = {each.configuration.name: each for each in result.trials}
    assert trials[result.best.configuration.name].verdict == "SUCCESS"
    again = search(Matmul(32, 32, 32), budget=6, settings=settings, progress=seen.append)
    assert again.trials == result.trials
    assert len(seen) == 6


def test_a_wrong_kernel_never_wins(tmp_path: Path) -> None:
    settings = SweepSettings(generated_dir=tmp_path)
    result = search(STRIDE_2, PipelineProvider(), settings=settings)
    assert result.ended == "space"
    (wrong,) = result.wrong
    assert (wrong.verdict, wrong.configuration.name) == ("FAILED", "mlir_1")
    assert "elements are wrong" in wrong.detail
    assert "mlir_1" not in [each.configuration.name for each in result.finalists]


def test_a_provider_without_a_space_has_nothing_to_search(tmp_path: Path) -> None:
    class Fixed(PipelineProvider):
        def space(self, operation: Operation) -> Mapping[str, Sequence[Parameter]]:
            return {}

    with pytest.raises(UsageError, match="provider mlir has no parameters to search"):
        search(STRIDE_2, Fixed(), settings=SweepSettings(generated_dir=tmp_path))


def test_the_command_prints_the_best_and_continues(tmp_path: Path) -> None:
    done = run_command(tmp_path, "--budget", "4", "--sampler", "random")
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1].startswith("4/4; ")
    assert "\nBest: " in done.stdout
    log = done.stdout.splitlines()[-1].removeprefix("Log: ")
    assert len(Path(log).read_text().splitlines()) == 5
    more = run_command(tmp_path, "--budget", "6", "--sampler", "random", "--json")
    assert more.returncode == 0, more.stderr
    assert more.stderr.splitlines()[0].startswith("5/6; ")
    found = json.loads(more.stdout)
    assert (found["tried"], found["ended"]) == (6, "budget")
    assert found["best"] in [each["configuration"] for each in found["finalists"]]


def test_an_interrupt_keeps_the_trials(tmp_path: Path) -> None:
    words = ["kernels", "search", "--operation-kind", "matmul", *SIZES, "--budget", "5000"]
    with subprocess.Popen(
        [COMMAND, *words], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stderr is not None
        for line in running.stderr:
            if line.startswith("3/5000"):
                break
        running.send_signal(signal.SIGINT)
        rest = running.stderr.read()
        assert running.wait() == 130
    assert "interrupted: the same command continues" in rest
    assert "Traceback" not in rest
    (log,) = tmp_path.rglob("search_mlir.jsonl")
    assert len(log.read_text().splitlines()) >= 4


def test_bad_input_is_one_sentence(tmp_path: Path) -> None:
    for words, expected in (
        (["--provider", "nothing"], "Unknown provider 'nothing'"),
        (["--dispatches", "conv*"], "No dispatch matches 'conv*'"),
    ):
        done = run_command(tmp_path, *words)
        assert done.returncode == 2
        (message,) = done.stderr.splitlines()
        assert expected in message


def test_a_time_limit_ends_the_search(tmp_path: Path) -> None:
    done = run_command(tmp_path, "--seconds", "1", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["ended"] == "time"
