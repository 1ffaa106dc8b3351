"""The real agent is given each golden request, and answers in the golden form."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actiondbg.tool.shipped import shipped_agent
from tests.elements import some
from tests.paths import GOLDEN

MESSAGES = GOLDEN / "protocol.jsonl"
LINES = [json.loads(line) for line in MESSAGES.read_text().splitlines()]
REQUESTS = [
    one
    for one in LINES
    if one["direction"] == "to agent" and one["method"] not in ("resume", "exit")
]


class Agent:
    """A tool that is stopped before its first action, and the socket to its agent."""

    def __init__(self, tool: str, source: Path, directory: Path) -> None:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(directory / "sock"))
        listener.listen()
        listener.settimeout(60)
        environment = {
            "LD_PRELOAD": str(shipped_agent()),
            "ACTIONDBG_SOCKET": str(directory / "sock"),
        }
        argv = [tool, str(source), "--canonicalize", "-o", "/dev/null"]
        self.process = subprocess.Popen(argv, env=environment)
        self.connection, _ = listener.accept()
        self.connection.settimeout(60)
        self.lines = self.connection.makefile("rb")
        listener.close()

    def send(self, line: str) -> None:
        self.connection.sendall(line.encode() + b"\n")

    def receive(self) -> dict[str, Any]:
        return json.loads(self.lines.readline())

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        request = {"jsonrpc": "2.0", "id": 1000, "method": method, "params": params}
        self.send(json.dumps(request))
        return self.receive()


@pytest.fixture
def agent(mlir_opt: str, folds: str, tmp_path: Path) -> Iterator[Agent]:
    running = Agent(mlir_opt, tmp_path / folds, tmp_path)
    yield running
    running.process.kill()
    running.process.wait()
    running.connection.close()


def keys_of(method: str) -> set[frozenset[str]]:
    """The sets of keys that golden results of a method have."""
    answers = [
        json.loads(one["line"])
        for one in LINES
        if one["direction"] == "from agent" and one["method"] == method
    ]
    return {frozenset(one["result"]) for one in answers if "result" in one}


def test_hello_and_stopped_have_the_golden_form(agent: Agent) -> None:
    for method in ("hello", "stopped"):
        if method == "stopped":
            assert agent.ask("resume", control="step", count=1, until=None)["result"] == {}
        golden = next(json.loads(one["line"]) for one in LINES if one["method"] == method)
        real = agent.receive()
        assert real["method"] == method
        assert real["params"].keys() == golden["params"].keys()
        given = {key: (real["params"][key], value) for key, value in golden["params"].items()}
        both = {key: pair for key, pair in given.items() if None not in pair}
        assert len(both) > 5
        for key, (ours, value) in both.items():
            assert type(ours) is type(value), key


def test_each_golden_request_is_understood(agent: Agent, tmp_path: Path) -> None:
    agent.receive()
    agent.ask("resume", control="step", count=12, until=None)
    agent.receive()
    for one in some(REQUESTS):
        line = one["line"].replace("/tmp/actiondbg-x", str(tmp_path))
        agent.send(line)
        if one["method"] == "interrupt":
            continue
        answer = agent.receive()
        assert answer["id"] == json.loads(line)["id"]
        if "error" in answer:
            # This program may have no such unit; but nothing was misunderstood.
            assert answer["error"]["code"] in (-32002, -32003, -32006), (line, answer)
        elif golden := keys_of(one["method"]):
            assert frozenset(answer["result"]) in golden


@pytest.mark.parametrize(
    ("line", "code", "named"),
    [
        ("garbage", -32700, "not JSON"),
        ("[]", -32600, "JSON-RPC"),
        ('{"jsonrpc":"1.0","id":1,"method":"context"}', -32600, "JSON-RPC"),
        ('{"jsonrpc":"2.0","id":1,"method":"evaluate","params":{}}', -32601, "evaluate"),
        ('{"jsonrpc":"2.0","id":1,"method":"context","params":{"x":1}}', -32602, "'x'"),
        ('{"jsonrpc":"2.0","id":1,"method":"context","params":[]}', -32602, "params"),
        ('{"jsonrpc":"2.0","id":1,"method":"frame/select","params":{}}', -32602, "index"),
        (
            '{"jsonrpc":"2.0","id":1,"method":"frame/select","params":{"index":"0"}}',
            -32602,
            "index",
        ),
        (
            '{"jsonrpc":"2.0","id":1,"method":"breakpoints/set","params":{"breakpoints":[{"id":1,'
            '"terms":[{"kind":"colour","glob":"x"}]}]}}',
            -32602,
            "colour",
        ),
        ('{"jsonrpc":"2.0","id":1,"method":"resume","params":{"control":"jump"}}', -32602, "jump"),
        (
            '{"jsonrpc":"2.0","id":1,"method":"resume","params":{"control":"continue","event":0}}',
            -32602,
            "event",
        ),
        (
            '{"jsonrpc":"2.0","id":1,"method":"fork","params":{"socket":"/x","role":"spoon"}}',
            -32602,
            "spoon",
        ),
        (
            '{"jsonrpc":"2.0","id":1,"method":"plan/set","params":{"apply":[{"tag":"fold"}]}}',
            -32602,
            "name",
        ),
    ],
)
def test_bad_messages_are_refused_by_name(agent: Agent, line: str, code: int, named: str) -> None:
    agent.receive()
    agent.send(line)
    answer = agent.receive()
    assert answer["error"]["code"] == code
    assert named in answer["error"]["message"]
    # Nothing is lost: the next request is served.
    assert "result" in agent.ask("status")


def test_a_crash_before_the_first_action_ends_the_tool(agent: Agent) -> None:
    """The thread that crashes is the one that serves, and must not wait for itself."""
    assert agent.receive()["method"] == "hello"
    os.kill(agent.process.pid, signal.SIGSEGV)
    assert agent.process.wait(30) == -signal.SIGSEGV


@pytest.mark.parametrize("status", [7, -signal.SIGTERM])
def test_exit_ends_the_tool_as_it_says(agent: Agent, status: int) -> None:
    agent.receive()
    (golden,) = [json.loads(one["line"]) for one in LINES if one["method"] == "exit"]
    agent.send(json.dumps({**golden, "params": {"status": status}}))
    assert agent.process.wait(60) == status
    assert agent.lines.readline() == b""
