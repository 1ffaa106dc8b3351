"""Servers of MCP that tests talk to, with the client of the SDK."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import anyio
import mcp_types
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from actiondbg.commands.cli import mcp
from actiondbg.commands.mcp.restrictions import Restrictions
from actiondbg.commands.mcp.server import DebugServer
from actiondbg.commands.mcp.worker_pool import WorkerPool
from tests.paths import COMMAND

Transport = Literal["memory", "stdio", "http", "http-legacy"]
TRANSPORTS: tuple[Transport, ...] = ("stdio", "http", "http-legacy")
TOKEN = "a token of a test, which is long enough"


@dataclass
class Answered:
    """The answer of a tool."""

    text: str
    data: dict[str, Any]
    failed: bool

    @property
    def stop(self) -> dict[str, Any]:
        """Where the session is."""
        return self.data["stop"]


class Talk:
    """A connection to a server."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def ask(self, tool: str, **arguments: object) -> Answered:
        """Call a tool, also if it fails."""
        result = await self.client.call_tool(tool, arguments)
        [content] = result.content
        assert isinstance(content, mcp_types.TextContent)
        data = cast("dict[str, Any]", result.structured_content)
        assert data["text"] == content.text
        return Answered(content.text, data, bool(result.is_error))

    async def do(self, tool: str, **arguments: object) -> Answered:
        """Call a tool that succeeds."""
        answered = await self.ask(tool, **arguments)
        assert not answered.failed, answered.text
        return answered

    async def fail(self, tool: str, **arguments: object) -> str:
        """Call a tool that fails; return the error."""
        answered = await self.ask(tool, **arguments)
        assert answered.failed, answered.text
        return answered.text


@dataclass
class HttpServer:
    """A server of HTTP."""

    url: str
    process: subprocess.Popen[str]


def environment() -> dict[str, str]:
    """Return our environment: the SDK's client would pass on a part of it only."""
    return dict(os.environ)


@contextlib.contextmanager
def http_server(directory: Path, words: Sequence[str]) -> Generator[HttpServer]:
    """Run a server of HTTP with the token of the tests."""
    process = subprocess.Popen(
        [COMMAND, "mcp", "--http", "0", "--directory", str(directory), *words],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**environment(), "ACTIONDBG_MCP_TOKEN": TOKEN},
    )
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        assert "Serving http://127.0.0.1:" in line, line + process.stderr.read()
        yield HttpServer(line.split()[-1], process)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        process.stderr.close()


@contextlib.asynccontextmanager
async def http_client(server: HttpServer, token: str, mode: str = "auto") -> AsyncGenerator[Talk]:
    """Connect to a server of HTTP."""
    headers = {"Authorization": f"Bearer {token}"}
    async with create_mcp_http_client(headers=headers) as requests:
        transport = streamable_http_client(server.url, http_client=requests)
        async with Client(transport, mode=cast("Any", mode)) as client:
            yield Talk(client)


@contextlib.asynccontextmanager
async def connected(transport: Transport, directory: Path, *words: str) -> AsyncGenerator[Talk]:
    """Start a server and connect to it.

    Args:
        transport: how; http-legacy is the protocol before 2026-07-28, which has sessions. With
            memory, the server is in this process, which has imported the SDK.
        directory: the working directory of the tools.
        words: further words of the command line: options, and tools.
    """
    if transport == "memory":
        options = mcp.run.build_parser().read_intermixed(list(words))
        restrictions = Restrictions.of(directory, options.tools, options.allow)
        server = DebugServer(WorkerPool(restrictions, options.sessions), None)
        async with Client(server.build()) as client:
            yield Talk(client)
        return
    if transport == "stdio":
        arguments = ["mcp", "--directory", str(directory), *words]
        parameters = StdioServerParameters(command=COMMAND, args=arguments, env=environment())
        async with Client(parameters) as client:
            yield Talk(client)
        return
    mode = "legacy" if transport == "http-legacy" else "auto"
    with http_server(directory, words) as server:
        async with http_client(server, TOKEN, mode) as talk:
            yield talk


def talk(
    work: Callable[[Talk], Awaitable[None]],
    directory: Path,
    *words: str,
    transport: Transport = "memory",
) -> None:
    """Run a conversation with a new server."""

    async def run() -> None:
        async with connected(transport, directory, *words) as talk:
            await work(talk)

    anyio.run(run)
