"""Tools that rewrite endlessly: recorded up to an interrupt, or ended by ``lint``."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from actiondbg.commands.cli.recorded_tool import open_source
from actiondbg.comparison.side import run_side
from actiondbg.lint.linted_runs import ToolCommand
from actiondbg.lint.linter import Linter
from actiondbg.lint.rerun import Repetition
from actiondbg.recording.capture import endless
from actiondbg.recording.capture.recorder import start_recording
from actiondbg.recording.log.tally import Tally
from tests.conftest import LIBRARY
from tests.fakes import stock_tool as stock
from tests.tool.lint.conftest import Lint

BUILDS = LIBRARY
MANY = 100_000  # actions


@pytest.fixture
def spin(mlir_opt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A command line of a tool that folds endlessly."""
    monkeypatch.chdir(tmp_path)
    stock.write("spin.mlir", stock.SPIN)
    monkeypatch.setattr(endless, "FIRST_SECONDS", 1.0)
    return [mlir_opt, "spin.mlir", "--canonicalize"]


def test_what_an_interrupted_recording_repeats(spin: list[str], lint: Lint) -> None:
    with start_recording(spin, "run.adbrec", stdout=os.devnull) as running:
        tally = Tally(Path("run.adbrec"))
        while tally.actions < MANY and running.poll(0.05) is None:
            tally.update()
        running.process.send_signal(signal.SIGINT)
        assert running.wait().status == -signal.SIGINT
    done = lint("--format", "json", "run.adbrec")
    (finding,) = json.loads(done.stdout)["findings"]
    assert (finding["rule"], finding["subject"]) == ("no-convergence", "fold (arith.xori)")
    assert finding["times"] > MANY / 2
    assert finding["place"]["line"] == 9
    assert done.returncode == 1


def test_what_a_program_repeats_that_a_signal_ends(spin: list[str], lint: Lint) -> None:
    """It has no handler of the signal: the agent records what ended it."""
    pytest.importorskip("mlir.ir")
    Path("spin.py").write_text(
        "from mlir.ir import Context, Module\n"
        "from mlir.passmanager import PassManager\n"
        "with Context():\n"
        f"    module = Module.parseFile({spin[1]!r})\n"
        "    PassManager.parse('builtin.module(canonicalize)').run(module.operation)\n"
    )
    with start_recording([sys.executable, "spin.py"], "run.adbrec") as running:
        tally = Tally(Path("run.adbrec"))
        while tally.actions < MANY and running.poll(0.05) is None:
            tally.update()
        running.process.send_signal(signal.SIGTERM)
        assert running.wait().status == -signal.SIGTERM
    (finding,) = json.loads(lint("--format", "json", "run.adbrec").stdout)["findings"]
    assert (finding["rule"], finding["subject"]) == ("no-convergence", "fold (arith.xori)")


@pytest.mark.parametrize("is_compared", [False, True])
def test_a_run_that_repeats_is_ended_and_checked(
    spin: list[str], tmp_path: Path, is_compared: bool
) -> None:
    told: list[str] = []
    command = ToolCommand(tuple(spin), str(tmp_path))
    linter = Linter()
    done = Repetition(command, tmp_path, tell=told.append).lint(linter, is_compared=is_compared)
    assert done.is_endless
    assert [each.key for each in linter.finish()] == [("no-convergence", "fold (arith.xori)")]
    assert linter.runs == 1
    (sentence,) = told
    assert "fold (arith.xori) at spin.mlir:9:11 repeats endlessly. It is ended:" in sentence


def test_a_recording_of_the_most_bytes_is_ended(
    spin: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actiondbg.lint.rerun._MOST_BYTES", 1000)
    monkeypatch.setattr(endless, "_SURE", 10**9)  # nothing repeats so often
    told: list[str] = []
    done = Repetition(ToolCommand(tuple(spin), str(tmp_path)), tmp_path, tell=told.append).run()
    assert done.is_endless
    assert "up to now. It is ended:" in told[0]


def test_a_compared_command_that_repeats_is_ended(spin: list[str], tmp_path: Path) -> None:
    told: list[str] = []
    side = run_side(spin, tmp_path, ir="pass", tell=told.append)
    assert side.ending == "is killed by SIGTERM in canonicalize"
    assert told[0].endswith("fold (arith.xori) at spin.mlir:9:11 repeats endlessly. It is ended.")


def test_a_source_says_what_its_tool_repeats(
    spin: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    show = endless.look_text

    def interrupt(look: endless.Look) -> str:
        if look.repeated is not None:
            os.kill(os.getpid(), signal.SIGINT)
        return show(look)

    monkeypatch.setattr(endless, "look_text", interrupt)
    with open_source(spin, "report", stdout=os.devnull) as source:
        assert source.status == 128 + signal.SIGINT
        assert source.recording.count > 0
    err = capsys.readouterr().err
    assert "fold (arith.xori) at spin.mlir:9:11 repeats endlessly. Ctrl-C ends it" in err
