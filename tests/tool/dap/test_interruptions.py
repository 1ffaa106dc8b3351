"""Requests during long ones: pause, cancel, disconnect, and clients that vanish."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.fakes import stock_tool as stock
from tests.fakes.dap_client import Refused, ServedClient
from tests.processes import descendants, wait_for_end
from tests.tool.dap.conftest import MLIR_OPT


@pytest.fixture
def endless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The command line of a run without an end."""
    monkeypatch.chdir(tmp_path)
    return [MLIR_OPT, stock.write("cycle.mlir", stock.CYCLE), "--transform-interpreter"]


def test_a_run_is_paused_and_goes_on(endless: list[str], client: ServedClient) -> None:
    client.launch(*endless)
    client.request("configurationDone")
    for _ in range(2):
        client.request("pause", {"threadId": 1})
        assert client.event("stopped")["reason"] in ("pause", "entry")  # entry: it had not begun
        assert client.frames()
        client.request("continue", {})
    client.request("pause", {"threadId": 1})
    client.event("stopped")


def test_a_pause_overtakes_the_request_that_resumes(
    endless: list[str], client: ServedClient
) -> None:
    client.launch(*endless, stopOnEntry=True)
    client.run()
    for _ in range(10):
        client.send("continue", {})
        client.send("pause", {"threadId": 1})
        assert client.event("stopped")["reason"] in ("pause", "entry")


def test_a_running_session_is_disconnected(endless: list[str], client: ServedClient) -> None:
    client.launch(*endless)
    client.request("configurationDone")
    processes = descendants(client.server.pid)
    assert client.disconnect() == 0
    wait_for_end(processes)


@pytest.mark.parametrize("seconds", [0, 0.05, 0.5])
def test_a_client_vanishes(endless: list[str], client: ServedClient, seconds: float) -> None:
    client.launch(*endless)
    client.send("configurationDone")
    time.sleep(seconds)
    processes = descendants(client.server.pid)
    client.writer.close()
    assert client.server.wait(60) == 0
    wait_for_end(processes)


def test_a_long_question_is_cancelled(fold: str, client: ServedClient) -> None:
    client.launch(MLIR_OPT, fold, "--canonicalize", stopOnEntry=True)
    client.run()
    number = client.send("actiondbg/bisect", {"options": ["--crash", "--repeat", "1000"]})
    assert client.event("progressStart")["requestId"] == number
    client.event("progressUpdate")
    client.request("cancel", {"requestId": number})
    with pytest.raises(Refused, match="Interrupted"):
        client.response(number)
    client.event("progressEnd")
    assert client.resume("next")["reason"] == "step"


def test_a_waiting_request_is_cancelled(endless: list[str], client: ServedClient) -> None:
    client.launch(*endless)
    client.request("configurationDone")
    number = client.send("actiondbg/pipeline", {})
    client.request("cancel", {"requestId": number})
    client.request("pause", {"threadId": 1})
    with pytest.raises(Refused, match="cancelled"):
        client.response(number)
    client.event("stopped")


def test_breakpoints_of_a_running_tool_are_changed(
    endless: list[str], client: ServedClient
) -> None:
    client.launch(*endless)
    client.request("configurationDone")
    assert client.break_at("pattern:InterleaveToShuffle*", "nosuch")[1]["reason"] == "pending"
    stop = client.event("stopped")
    assert stop["reason"] == "breakpoint", stop
    client.break_at()
    client.request("continue", {})
    client.break_at("tag:apply-pattern if ordinal > 5000")
    assert client.event("stopped")["reason"] == "breakpoint"
    assert "Interrupted" not in client.output["console"]


def test_a_running_tool_is_started_anew(endless: list[str], client: ServedClient) -> None:
    client.launch(*endless, stopOnEntry=True)
    client.run()
    client.request("continue", {})
    client.request("restart", {})
    client.event("stopped", lambda stop: stop["reason"] == "entry")
    client.request("continue", {})
    client.request("terminate", {})
    client.event("terminated")
    assert client.disconnect() == 0
