"""Processes of a program as child sessions, which an editor starts."""

from __future__ import annotations

import os

import pytest

from tests.conftest import PYPI
from tests.fakes.dap_client import DapClient, Message, Refused, ServedClient, connect

_SCRIPT = "mlir-opt fold.mlir --canonicalize -o a; mlir-opt a --cse -o b; mlir-opt b --sccp -o c"
_PATH = {"PATH": f"{PYPI}:{os.environ['PATH']}"}


def launch(client: ServedClient) -> None:
    """Launch the program, up to the stop in its first process."""
    client.initialize(supportsStartDebuggingRequest=True)
    client.request("launch", {"tool": "bash", "args": ["-c", _SCRIPT], "env": _PATH})
    client.event("initialized")
    client.break_at("pass:*")
    client.run()


def start_child(client: ServedClient) -> tuple[DapClient, Message]:
    """Start the child session that the server asks for, as an editor does."""
    asked = client.reverse_request("startDebugging")
    child = connect(asked["configuration"]["debugServer"])
    child.initialize()
    child.request("attach", asked["configuration"])
    child.event("initialized")
    child.break_at("pass:*")
    child.request("configurationDone", {})
    return child, child.event("stopped")


def test_each_process_has_a_session(fold: str, client: ServedClient) -> None:
    launch(client)
    assert "canonicalize" in client.frames()[0]["name"]
    client.request("continue", {})
    first, stop = start_child(client)
    assert "(cse)" in stop["description"]
    assert "(cse)" in first.frames()[0]["name"]
    assert first.request("actiondbg/ir", {})["text"].startswith("module")
    first.resume("next")
    first.request("continue", {})
    assert first.event("exited")["exitCode"] == 0
    first.event("terminated")
    second, stop = start_child(client)
    assert "(sccp)" in stop["description"]
    second.request("continue", {})
    second.event("terminated")
    assert client.event("exited")["exitCode"] == 0
    client.event("terminated")
    assert client.disconnect() == 0


def test_an_editor_that_starts_none_has_all_in_one(fold: str, client: ServedClient) -> None:
    launch(client)
    client.request("continue", {})
    client.reverse_request("startDebugging", succeeds=False)
    assert "(cse)" in client.event("stopped")["description"]
    assert "(cse)" in client.frames()[0]["name"]


def test_a_child_session_that_vanishes_leaves_its_process(fold: str, client: ServedClient) -> None:
    launch(client)
    client.request("continue", {})
    child, _ = start_child(client)
    child.request("disconnect", {})
    assert "(cse)" in client.event("stopped")["description"]
    client.break_at()
    assert client.run_to_end() == 0


def test_a_stranger_is_refused(fold: str, client: ServedClient) -> None:
    launch(client)
    client.request("continue", {})
    asked = client.reverse_request("startDebugging")["configuration"]
    stranger = connect(asked["debugServer"])
    stranger.initialize()
    for command, arguments in (
        ("evaluate", {"expression": "bt"}),
        ("launch", {"tool": "bash"}),
        ("pause", {"threadId": 1}),
        ("attach", {**asked, "token": "x"}),
        ("attach", {**asked, "process": "p7"}),
    ):
        with pytest.raises(Refused):
            stranger.request(command, arguments)
