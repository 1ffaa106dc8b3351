"""Random sessions: clients that vanish, requests out of order, cancelled, malformed or twice.

No server hangs, nothing is left of a session, and the tool writes what it writes by itself.
ACTIONDBG_RANDOM_SESSIONS is the number of sessions, ACTIONDBG_RANDOM_SEED the first seed.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import socket
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from tests.elements import some
from tests.paths import COMMAND
from tests.processes import descendants, open_files, wait_for_end, wait_until
from tests.tool.mcp.servers import TOKEN, environment, http_server

BUILDS = ("pypi",)
SESSIONS = int(os.environ.get("ACTIONDBG_RANDOM_SESSIONS", "24"))
SEED = int(os.environ.get("ACTIONDBG_RANDOM_SEED", "1"))
ARGUMENTS = ["fold.mlir", "--canonicalize", "--cse"]
INFO: dict[str, Any] = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "t", "version": "1"},
}
MALFORMED = [
    "",
    "{",
    "[]",
    "null",
    '"text"',
    "\x00\x01",
    '{"jsonrpc": "2.0"}',
    '{"jsonrpc": "2.0", "id": {}, "method": "tools/call"}',
    '{"jsonrpc": "1.0", "id": 7, "method": "tools/list"}',
    '{"jsonrpc": "2.0", "id": 1e400, "method": "ping"}',
    '{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}}',
    "x" * 100_000,
    "[" * 5_000,
]
_ODD: tuple[Any, ...] = (
    None,
    0,
    -1,
    10**30,
    1.5,
    "",
    "\0",
    "@999999",
    "%x",
    [],
    {},
    [[]],
    True,
    "x" * 10_000,
    "é\ud800",
)


@dataclass
class Calls:
    """Random calls of tools.

    Attributes:
        random: chooses.
        command: a command line whose output is a file.
        changes: whether a call may have changed what the tool writes.
    """

    random: random.Random
    command: list[str]
    changes: bool = False
    opened: int = field(default=0)

    def next(self) -> tuple[str, dict[str, Any]]:
        """Return a tool and its arguments."""
        choice = self.random.random()
        if not self.opened or choice < 0.07:
            self.opened += 1
            return "open", {"command": self.command}
        name, arguments = self.random.choice(self._tools())
        if choice < 0.15:  # an odd value, or an unknown or missing argument
            key = self.random.choice([*arguments, "session", "unknown"])
            arguments = {**arguments, key: self.random.choice(_ODD[:-1])}
        if name in ("skip", "edit") or arguments.get("line") == "apply":
            self.changes = True
        return name, arguments

    def _tools(self) -> list[tuple[str, dict[str, Any]]]:
        count = self.random.randint(1, 40)
        return [
            ("set_breakpoint", {"what": "pattern:AddI*"}),
            ("set_breakpoint", {"what": "op:arith.addi count", "kind": "watch"}),
            ("set_breakpoint", {"what": "failure", "kind": "catch"}),
            ("run", {}),
            ("run", {"restart": True}),
            ("run", {"back": True}),
            ("run", {"to": f"#{count}"}),
            ("run", {"to": "pass:cse"}),
            ("step", {"count": count}),
            ("step", {"unit": "action"}),
            ("step", {"unit": "parent"}),
            ("step", {"back": True, "count": count}),
            ("show_ir", {}),
            ("show_ir", {"what": "module"}),
            ("changes", {}),
            ("changes", {"ordinal": count}),
            ("why_not", {"pattern": "AddIAddConstant"}),
            ("explain", {}),
            ("history", {"target": "@5"}),
            ("history", {"target": "@5", "direction": "became"}),
            ("skip", {}),
            ("edit", {"pipeline": "cse"}),
            ("whatif", {"alternatives": "drop cse"}),
            ("bisect", {"command": self.command, "oracle": {"verify": True}, "max_trials": 2}),
            ("record", {"command": self.command, "output": f"{count}.adbrec"}),
            ("command", {"line": "info pipeline"}),
            ("command", {"line": "info patterns"}),
            ("command", {"line": "apply"}),
            ("command", {"line": "shell touch ran"}),
            ("close", {}),
            ("close", {"session": f"s{self.random.randint(1, 4)}"}),
            ("more", {"answer": "a1", "offset": count}),
            ("nothing", {}),
        ]


def _plain(mlir_opt: str, work: Path) -> bytes:
    command = [mlir_opt, *ARGUMENTS, "-o", "plain.mlir"]
    subprocess.run(command, cwd=work, check=True)
    return (work / "plain.mlir").read_bytes()


def _nothing_is_left(work: Path, scratch: Path, pids: list[int]) -> None:
    wait_for_end(pids)
    wait_until(lambda: not list(scratch.iterdir()))
    assert not (work / "ran").exists()


def _message(number: int, method: str, params: dict[str, Any]) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


# --- standard input ------------------------------------------------------------------------


class StdioClient:
    """A client that sends lines, well-formed or not, and counts the answers."""

    def __init__(self, work: Path, mlir_opt: str) -> None:
        self._connection, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                [COMMAND, "mcp", "--directory", str(work), "--sessions", "3", mlir_opt],
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=subprocess.PIPE,
                env=environment(),
                text=True,
            )
        self.answers: dict[object, list[dict[str, Any]]] = {}
        self.errors = ""
        self._readers = [
            threading.Thread(target=each, daemon=True) for each in (self._read, self._read_errors)
        ]
        for each in self._readers:
            each.start()

    def send(self, line: str) -> None:
        with contextlib.suppress(ConnectionError):
            self._connection.sendall(f"{line}\n".encode(errors="replace"))

    def end(self, how: str) -> None:
        with contextlib.suppress(OSError):  # it has ended already
            if how == "vanish":
                self._connection.shutdown(socket.SHUT_RDWR)
            elif how == "close":
                self._connection.shutdown(socket.SHUT_WR)
        if how == "term":
            self.process.terminate()
        elif how == "kill":
            self.process.kill()
        self.process.wait(60)
        for each in self._readers:
            each.join(60)
        self._connection.close()

    def _read(self) -> None:
        with contextlib.suppress(ConnectionError), self._connection.makefile() as lines:
            for line in lines:
                answer = json.loads(line)
                if "method" not in answer:
                    self.answers.setdefault(answer.get("id"), []).append(answer)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        self.errors = self.process.stderr.read()


def _send_calls(client: StdioClient, calls: Calls) -> set[int]:
    """Send random requests; return those that get exactly one answer."""
    chosen = calls.random
    sent: list[int] = []
    unsure: set[int] = set()  # sent twice or cancelled
    for number in range(1, chosen.randint(2, 14)):
        choice = chosen.random()
        if choice < 0.15:
            client.send(chosen.choice(MALFORMED))
        elif choice < 0.3 and sent:
            cancelled = chosen.choice([*sent, 10_000])
            unsure.add(cancelled)
            note = {"method": "notifications/cancelled", "params": {"requestId": cancelled}}
            client.send(json.dumps({"jsonrpc": "2.0", **note}))
        else:
            if choice > 0.9 and sent:
                number = chosen.choice(sent)
                unsure.add(number)
            name, arguments = calls.next()
            client.send(_message(number, "tools/call", {"name": name, "arguments": arguments}))
            sent.append(number)
        if chosen.random() < 0.5:
            time.sleep(chosen.random() * 0.5)
    return set(sent) - unsure


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEED, SEED + SESSIONS // 2))
def test_a_random_session_on_standard_input(
    seed: int, mlir_opt: str, work: Path, scratch: Path
) -> None:
    chosen = random.Random(seed)
    plain = _plain(mlir_opt, work)
    calls = Calls(chosen, [mlir_opt, *ARGUMENTS, "-o", "out.mlir"])
    client = StdioClient(work, mlir_opt)
    if chosen.random() < 0.8:
        client.send(_message(0, "initialize", INFO))
        if chosen.random() < 0.8:
            client.send('{"jsonrpc": "2.0", "method": "notifications/initialized"}')
    expected = _send_calls(client, calls)
    how = chosen.choice(["polite", "polite", "close", "vanish", "vanish", "term", "kill"])
    if how == "polite":  # each request has exactly one answer
        wait_until(lambda: expected <= client.answers.keys() or client.process.poll() is not None)
        assert expected <= client.answers.keys(), client.errors
        assert all(len(client.answers[each]) == 1 for each in expected)
        how = "close"
    workers = descendants(client.process.pid)
    client.end(how)
    _nothing_is_left(work, scratch, workers)
    assert "Internal error" not in client.errors and "Internal error" not in str(client.answers)
    _check_output(work / "out.mlir", plain, calls)


def _check_output(output: Path, plain: bytes, calls: Calls) -> None:
    """Compare what the tool wrote; the tool opens it at its start, and writes it at its end."""
    if output.exists() and not calls.changes:
        assert output.read_bytes() in (b"", plain)


# --- HTTP ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_random_sessions_over_http(mlir_opt: str, work: Path, scratch: Path) -> None:
    """One server; each client speaks the newer protocol or the one with sessions."""
    plain = _plain(mlir_opt, work)

    async def run() -> None:
        with http_server(work, ["--sessions", "6", "--idle", "4", mlir_opt]) as server:
            files: list[int] = []
            for seed in some(range(SEED, SEED + SESSIONS // 2)):
                await _random_http_session(seed, server.url, mlir_opt, work, plain)
                assert server.process.poll() is None, f"seed {seed}"
                files.append(len(open_files(server.process.pid)))
            # What the last clients have left is ended by the time, or with their sessions.
            await anyio.to_thread.run_sync(wait_until, lambda: not descendants(server.process.pid))
            await anyio.to_thread.run_sync(_nothing_is_left, work, scratch, list[int]())
            async with httpx2.AsyncClient(timeout=60) as requests:
                answer = await _post(requests, server.url, {}, _modern("open", mlir_opt))
                assert "Session s" in answer
            assert len(open_files(server.process.pid)) < 60, files

    anyio.run(run)
    assert list(work.glob("out-*.mlir"))


def _modern(name: str, mlir_opt: str) -> str:
    return _modern_call(1, name, {"command": [mlir_opt, *ARGUMENTS]})


def _modern_call(number: int, name: str, arguments: dict[str, Any]) -> str:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    return _message(number, "tools/call", {"name": name, "arguments": arguments, "_meta": meta})


async def _post(
    requests: httpx2.AsyncClient, url: str, headers: dict[str, str], content: str
) -> str:
    method = {}
    with contextlib.suppress(ValueError, TypeError, KeyError, RecursionError):
        message = json.loads(content)
        name = message["params"]["name"]
        method = {"Mcp-Method": message["method"], "Mcp-Name": name}
    if "Mcp-Session-Id" not in headers:
        method["MCP-Protocol-Version"] = "2026-07-28"
    answer = await requests.post(
        url,
        content=content.encode(errors="replace"),
        headers={
            "Authorization": f"Bearer {TOKEN}",
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            **method,
            **headers,
        },
    )
    return answer.text


async def _random_http_session(
    seed: int, url: str, mlir_opt: str, work: Path, plain: bytes
) -> None:
    chosen = random.Random(seed)
    calls = Calls(chosen, [mlir_opt, *ARGUMENTS, "-o", f"out-{seed}.mlir"])
    headers: dict[str, str] = {}
    async with httpx2.AsyncClient(timeout=60) as requests:
        if chosen.random() < 0.5:
            begun = await requests.post(
                url,
                json=json.loads(_message(0, "initialize", INFO)),
                headers={
                    "Authorization": f"Bearer {TOKEN}",
                    "Accept": "application/json, text/event-stream",
                },
            )
            headers["Mcp-Session-Id"] = begun.headers["Mcp-Session-Id"]
            note = '{"jsonrpc": "2.0", "method": "notifications/initialized"}'
            await _post(requests, url, headers, note)
        for number in range(1, chosen.randint(2, 10)):
            name, arguments = calls.next()
            content = (
                _message(number, "tools/call", {"name": name, "arguments": arguments})
                if headers
                else _modern_call(number, name, arguments)
            )
            if chosen.random() < 0.15:
                content = chosen.choice(MALFORMED)
            seconds = chosen.random() * 0.5 if chosen.random() < 0.3 else 60
            with anyio.move_on_after(seconds) as scope:  # the connection is closed
                answer = await _post(requests, url, headers, content)
                assert "Internal error" not in answer, (seed, content[:200])
            assert not scope.cancelled_caught or seconds < 60, (seed, content[:200])
        if headers and chosen.random() < 0.5:
            await requests.delete(url, headers={"Authorization": f"Bearer {TOKEN}", **headers})
    _check_output(work / f"out-{seed}.mlir", plain, calls)
