"""Clients that come and go: tokens, hosts, the ends of sessions, cancelled requests, progress."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from mcp.shared._httpx_utils import create_mcp_http_client

from actiondbg.commands.mcp.restrictions import Restrictions
from actiondbg.commands.mcp.worker import Request
from tests.elements import some
from tests.paths import COMMAND
from tests.processes import descendants, is_alive, open_files, wait_for_end, wait_until
from tests.tool.mcp.servers import (
    TOKEN,
    TRANSPORTS,
    HttpServer,
    Talk,
    Transport,
    environment,
    http_client,
    http_server,
    talk,
)

BUILDS = ("pypi",)
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@pytest.fixture(autouse=True)
def _scratch_of_all(scratch: Path) -> None:  # pyright: ignore[reportUnusedFunction]
    """Each test has a directory of its own for temporary files."""


def _slow_input(directory: Path, functions: int = 3000) -> str:
    """Write an input whose compilation takes seconds."""
    body = "  %a = arith.constant 1 : i32\n" + "".join(
        f"  %v{i} = arith.addi %{'x' if i == 0 else f'v{i - 1}'}, %a : i32\n" for i in range(40)
    )
    (directory / "slow.mlir").write_text(
        "".join(
            f"func.func @f{n}(%x: i32) -> i32 {{\n{body}  return %v39 : i32\n}}\n"
            for n in range(functions)
        )
    )
    return "slow.mlir"


# --- HTTP ----------------------------------------------------------------------------------


def _posting(
    work: Path, use: Callable[[HttpServer, Callable[..., Awaitable[Any]]], Awaitable[None]]
) -> None:
    async def run() -> None:
        with http_server(work, []) as server:
            async with create_mcp_http_client() as client:

                async def post(**headers: str) -> Any:
                    return await client.post(
                        server.url, json=INITIALIZE, headers={**ACCEPT, **headers}
                    )

                await use(server, post)

    anyio.run(run)


def test_wrong_tokens_are_refused(work: Path) -> None:
    async def use(_: HttpServer, post: Callable[..., Awaitable[Any]]) -> None:
        good = {"Authorization": f"Bearer {TOKEN}"}
        assert (await post(**good)).status_code == 200
        for bad in (
            {},
            {"Authorization": "Bearer"},
            {"Authorization": f"Bearer {TOKEN}x"},
            {"Authorization": f"Bearer {TOKEN[:-1]}"},
            {"Authorization": TOKEN},
            {"Authorization": f"Basic {TOKEN}"},
            {"X-Token": TOKEN},
        ):
            refused = await post(**bad)
            assert refused.status_code == 401
            assert refused.headers["WWW-Authenticate"] == "Bearer"
            assert "actiondbg" not in refused.text

    _posting(work, use)


def test_pages_of_a_browser_are_refused(work: Path) -> None:
    """A name that its owner points to the loopback, and a page of another origin."""

    async def use(server: HttpServer, post: Callable[..., Awaitable[Any]]) -> None:
        good = {"Authorization": f"Bearer {TOKEN}"}
        host = server.url.split("/")[2]
        port = host.partition(":")[2]
        for version in ({}, {"MCP-Protocol-Version": "2026-07-28"}):
            headers = good | version
            for bad in ("evil.example", f"evil.example:{port}", f"{host}0", "127.0.0.1:1"):
                assert (await post(Host=bad, **headers)).status_code == 421
            for bad in ("http://evil.example", f"http://evil.example:{port}", "null", "http://x"):
                assert (await post(Origin=bad, **headers)).status_code == 403
        assert (await post(Origin=f"http://{host}", **good)).status_code == 200
        assert (await post(Host=f"localhost:{port}", **good)).status_code == 200

    _posting(work, use)


def test_a_token_is_made_up(work: Path) -> None:
    variables = {k: v for k, v in environment().items() if k != "ACTIONDBG_MCP_TOKEN"}
    with subprocess.Popen(
        [COMMAND, "mcp", "--http", "0", "--directory", str(work)],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=variables,
    ) as process:
        assert process.stderr is not None
        url = process.stderr.readline().split()[-1]
        token = process.stderr.readline().split()[-1]
        assert len(token) > 40

        async def run() -> None:
            async with http_client(HttpServer(url, process), token) as talk:
                assert len((await talk.client.list_tools()).tools) > 10

        anyio.run(run)
        process.send_signal(signal.SIGTERM)


def test_a_short_token_is_refused(work: Path) -> None:
    done = subprocess.run(
        [COMMAND, "mcp", "--http", "0"],
        capture_output=True,
        text=True,
        env={**environment(), "ACTIONDBG_MCP_TOKEN": "short"},
    )
    assert done.returncode == 2 and "fewer than 16 characters" in done.stderr


def test_a_port_that_is_used(work: Path) -> None:
    with http_server(work, []) as server:
        port = server.url.split(":")[2].partition("/")[0]
        done = subprocess.run(
            [COMMAND, "mcp", "--http", port],
            capture_output=True,
            text=True,
            env={**environment(), "ACTIONDBG_MCP_TOKEN": TOKEN},
        )
    assert done.returncode == 2 and f"Port {port} cannot be used" in done.stderr


# --- the ends of sessions ------------------------------------------------------------------


def test_a_session_of_http_ends_with_its_client(mlir_opt: str, work: Path, scratch: Path) -> None:
    async def run() -> None:
        with http_server(work, [mlir_opt]) as server:
            before = len(open_files(server.process.pid))
            for _ in range(3):
                async with http_client(server, TOKEN, "legacy") as talk:
                    await talk.do("open", command=[mlir_opt, "fold.mlir", "--canonicalize"])
                    workers = descendants(server.process.pid)
                    assert len(workers) >= 2 and list(scratch.iterdir())
                # The client has sent DELETE.
                await anyio.to_thread.run_sync(wait_for_end, workers)
                await anyio.to_thread.run_sync(wait_until, lambda: not list(scratch.iterdir()))
            assert len(open_files(server.process.pid)) <= before + 2
            async with http_client(server, TOKEN) as talk:
                assert "none is open" in await talk.fail("step")

    anyio.run(run)


def test_an_unused_session_of_http_ends(mlir_opt: str, work: Path, scratch: Path) -> None:
    async def run() -> None:
        with http_server(work, ["--idle", "1", mlir_opt]) as server:
            for mode in ("auto", "legacy"):
                async with http_client(server, TOKEN, mode) as talk:
                    await talk.do("open", command=[mlir_opt, "fold.mlir", "--canonicalize"])
                    workers = descendants(server.process.pid)
                    assert workers
                    await anyio.to_thread.run_sync(wait_for_end, workers)
            await anyio.to_thread.run_sync(wait_until, lambda: not list(scratch.iterdir()))

    anyio.run(run)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL, None])
def test_nothing_is_left_of_a_server_that_ends(
    how: signal.Signals | None, mlir_opt: str, work: Path, scratch: Path
) -> None:
    """By a signal, or by the end of its standard input."""
    process = subprocess.Popen(
        [COMMAND, "mcp", "--directory", str(work), mlir_opt],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None
    assert process.stderr is not None
    call = {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {
            "name": "open",
            "arguments": {"command": [mlir_opt, "fold.mlir", "--canonicalize"]},
        },
    }
    import json

    for message in (INITIALIZE, {"jsonrpc": "2.0", "method": "notifications/initialized"}, call):
        process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
    assert "2025-06-18" in process.stdout.readline()
    assert "Session s1" in process.stdout.readline()
    workers = descendants(process.pid)
    assert len(workers) >= 2 and list(scratch.iterdir())
    if how is None:
        process.stdin.close()
    else:
        process.send_signal(how)
    process.wait(60)
    wait_for_end(workers)
    wait_until(lambda: not list(scratch.iterdir()))
    assert process.stderr.read() == ""
    assert process.returncode == (0 if how is None else -9 if how == signal.SIGKILL else 128 + how)
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()


def test_a_worker_ends_with_a_server_that_has_not_read_its_answer(
    mlir_opt: str, work: Path, scratch: Path
) -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        restrictions = Restrictions(directory=str(work), programs=(mlir_opt,))
        words = [str(theirs.fileno()), msgspec.json.encode(restrictions).decode()]
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "actiondbg.commands.mcp.worker", *words],
            pass_fds=[theirs.fileno()],
            env={**environment(), "TMPDIR": tempfile.mkdtemp(dir=scratch)},
        )
    with process, ours:
        ours.sendall(msgspec.json.encode(Request(1, "doctor", msgspec.Raw(b"{}"))) + b"\n")
        assert select.select([ours], [], [], 60)[0]  # the answer, which nobody reads
        ours.close()
        try:
            assert process.wait(60) == 0
        finally:
            process.kill()
    assert not list(scratch.iterdir())


def test_a_tool_and_a_worker_that_are_killed(mlir_opt: str, work: Path) -> None:
    async def converse(talk: Talk) -> None:
        command = [mlir_opt, "fold.mlir", "--canonicalize"]
        await talk.do("open", command=command)
        [worker] = [pid for pid in descendants(os.getpid()) if "mcp.worker" in _command(pid)]
        tool = next(pid for pid in descendants(worker) if "fold.mlir" in _command(pid))
        os.kill(tool, signal.SIGKILL)
        wait_for_end([tool])
        ended = await talk.ask("step")
        assert "killed" in ended.text
        assert (await talk.do("run", restart=True)).stop["status"] == 0
        os.kill(worker, signal.SIGKILL)
        wait_for_end([worker])
        assert "is over" in await talk.fail("step")
        assert "none is open" in await talk.fail("step")
        await talk.do("open", command=command)

    talk(converse, work, mlir_opt, transport="stdio")


def _command(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")


def test_more_sessions_than_allowed(mlir_opt: str, work: Path) -> None:
    async def converse(talk: Talk) -> None:
        command = [mlir_opt, "fold.mlir", "--canonicalize"]
        for _ in range(2):
            await talk.do("open", command=command)
        assert "as many as the server allows" in await talk.fail("open", command=command)
        assert "as many as the server allows" in await talk.fail("doctor")
        await talk.do("close", session="s1")
        assert "s3" in (await talk.do("open", command=command)).text

    talk(converse, work, "--sessions", "2", mlir_opt, transport="stdio")


# --- cancelled requests, and progress ------------------------------------------------------


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_run_is_cancelled(transport: Transport, mlir_opt: str, work: Path) -> None:
    """The tool stops before its next action; the session goes on from there."""
    command = [mlir_opt, _slow_input(work), "--canonicalize", "-o"]
    began = time.monotonic()
    subprocess.run([*command, "plain.mlir"], cwd=work, check=True)
    # As long as no debugged run takes, on this machine.
    seconds = (time.monotonic() - began) / 4

    async def converse(talk: Talk) -> None:
        first = (await talk.do("open", command=[*command, "out.mlir"])).stop
        with anyio.move_on_after(seconds) as scope:
            await talk.do("run")
        assert scope.cancelled_caught
        here = (await talk.do("command", line="info action")).stop
        assert here["ordinal"] > first["ordinal"]
        following = (await talk.do("step")).stop
        assert following["ordinal"] >= here["ordinal"]
        assert (await talk.do("run")).stop["status"] == 0

    talk(converse, work, mlir_opt, transport=transport)
    assert (work / "out.mlir").read_bytes() == (work / "plain.mlir").read_bytes()


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_bisection_reports_progress_and_is_cancelled(
    transport: Transport, mlir_opt: str, work: Path, scratch: Path
) -> None:
    seen: list[tuple[float, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, message))

    async def converse(talk: Talk) -> None:
        command = [mlir_opt, "fold.mlir", "--canonicalize", "--cse"]
        arguments = {"command": command, "oracle": {"test": "sleep 0.4; exit 1"}, "output": "found"}
        async with anyio.create_task_group() as group:

            async def bisect() -> None:
                await talk.client.call_tool("bisect", arguments, progress_callback=note)

            group.start_soon(bisect)
            while len(seen) < 2:
                await anyio.sleep(0.05)
            group.cancel_scope.cancel()
        # The worker of the job ends, and with it the runs.
        with anyio.fail_after(60):
            while (await talk.ask("step")).text == "" or list(scratch.iterdir()):
                await anyio.sleep(0.1)

    talk(converse, work, "--allow", "shell", mlir_opt, transport=transport)
    numbers = [number for number, _ in seen]
    assert numbers == sorted(set(numbers))
    assert all(text for _, text in some(seen))


def test_a_tool_that_hangs_inside_an_action(mlir_opt: str, work: Path) -> None:
    """There is no next action to stop before, and the tool does not answer: it is killed."""
    command = [mlir_opt, _slow_input(work, 1), "--canonicalize"]

    async def converse(talk: Talk) -> None:
        await talk.do("open", command=command)
        [worker] = [pid for pid in descendants(os.getpid()) if "mcp.worker" in _command(pid)]
        tool = next(pid for pid in descendants(worker) if "slow.mlir" in _command(pid))
        os.kill(tool, signal.SIGSTOP)
        with anyio.move_on_after(0.5):
            await talk.do("run")
        with anyio.fail_after(60):
            answered = await talk.ask("run")
        assert answered.failed
        await talk.do("open", command=command)
        assert not is_alive(tool)

    talk(converse, work, mlir_opt, transport="stdio")
