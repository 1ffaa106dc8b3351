"""Tools that run long, or endlessly, in a session without a prompt."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import actiondbg
from actiondbg.commands.cli.watched_session import run_watched
from actiondbg.errors import NoAnswer
from actiondbg.recording.capture import endless
from tests.conftest import LIBRARY
from tests.fakes import stock_tool as stock

BUILDS = LIBRARY
Launch = Callable[..., actiondbg.Session]


@pytest.fixture
def spin(launch: Launch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> actiondbg.Session:
    """A session of a tool that folds endlessly."""
    monkeypatch.chdir(tmp_path)
    return launch("--canonicalize", source=stock.write("spin.mlir", stock.SPIN))


def test_a_tool_that_repeats_on_one_operation_is_no_longer_waited_for(
    spin: actiondbg.Session, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(endless, "FIRST_SECONDS", 1.0)
    what = r"fold \(arith.xori\) at spin.mlir:9:11 repeats on the same operation"
    with pytest.raises(NoAnswer, match=f"{what}, as before: it does not end. None yet."):
        run_watched(spin, "None yet.")
    assert "repeats on the same operation. None yet. Ctrl-C ends it." in capsys.readouterr().err


def test_an_interrupt_says_how_far_the_tool_came(
    spin: actiondbg.Session, capsys: pytest.CaptureFixture[str]
) -> None:
    timer = threading.Timer(2.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        run_watched(spin, "None yet.")
    assert " actions. None yet." in capsys.readouterr().err


def test_looks_change_no_run_that_ends(launch: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = launch("--canonicalize").run()
    monkeypatch.setattr(endless, "FIRST_SECONDS", 1e-4)
    stop = run_watched(launch("--canonicalize"), "None yet.")
    assert (stop.when, stop.status, stop.event) == (expected.when, expected.status, expected.event)


def test_an_interrupt_ends_a_tool_that_waits_for_its_input(
    launch: Launch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It has made no context, and hears of no interrupt."""
    os.mkfifo(tmp_path / "pipe.mlir")
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        run_watched(launch(source=tmp_path / "pipe.mlir"), "None yet.")
    assert not capsys.readouterr().err
