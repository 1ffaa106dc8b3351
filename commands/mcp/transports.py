"""The transports: standard input and output, and streamable HTTP on the loopback."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import logging
import os
import select
import signal
import threading
from collections.abc import Callable
from typing import NoReturn

import anyio
import uvicorn
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from actiondbg.commands.mcp.server import DebugServer
from actiondbg.support.loopback import HOST, listen

PATH = "/mcp"
_GRACE_SECONDS = 5  # for open requests, when the server is ended
_MOST_CLIENTS = 64  # sessions of HTTP


def run_stdio(server: DebugServer) -> None:
    """Serve the client on standard input, up to its end."""
    anyio.run(_serve_stdio, server)


async def _serve_stdio(server: DebugServer) -> None:
    built = server.build()
    output = os.dup(1)  # before stdio_server replaces it
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_end_on_signal, server)
            tasks.start_soon(_end_on_hangup, server, output)
            async with stdio_server() as (read, write):
                await built.run(read, write, built.create_initialization_options())
            tasks.cancel_scope.cancel()
    except* ConnectionError:
        await _end(server, 0)  # the client went without a word


async def _end_on_signal(server: DebugServer) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        async for number in signals:
            await _end(server, 128 + number)


async def _end_on_hangup(server: DebugServer, output: int) -> None:
    """End when nobody reads the output any more: the input may stay open, as in a pipeline."""
    loop, gone = asyncio.get_running_loop(), asyncio.Event()

    def wait() -> None:
        poll = select.poll()
        poll.register(output, 0)  # for errors and hang-ups only
        poll.poll()
        with contextlib.suppress(RuntimeError):  # the loop is over
            loop.call_soon_threadsafe(gone.set)

    threading.Thread(target=wait, daemon=True).start()
    await gone.wait()
    await _end(server, 0)


async def _end(server: DebugServer, status: int) -> NoReturn:
    """End the sessions and the process, though a thread may wait for input forever."""
    await server.close()
    os._exit(status)


def run_http(
    server: DebugServer,
    port: int,
    token: str,
    idle_seconds: float,
    on_ready: Callable[[str], None],
) -> None:
    """Serve clients over HTTP until the process is told to end.

    Args:
        port: the port; 0 for a free one.
        idle_seconds: the time after which an unused session of HTTP is ended.
        on_ready: called with the URL.

    Raises:
        UsageError: the port is in use.
    """

    async def serve() -> None:
        listener, free = listen(port)
        with listener:
            hosts = [f"{HOST}:{free}", f"localhost:{free}"]
            app = server.build().streamable_http_app(
                streamable_http_path=PATH,
                session_idle_timeout=idle_seconds,
                max_sessions=_MOST_CLIENTS,
                # A page that a browser shows could otherwise reach us by a name that its author
                # points to the loopback.
                transport_security=TransportSecuritySettings(
                    allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts]
                ),
            )
            config = uvicorn.Config(
                TokenCheck(app, token),
                log_level=logging.ERROR,
                timeout_graceful_shutdown=_GRACE_SECONDS,
                server_header=False,
            )
            on_ready(f"http://{HOST}:{free}{PATH}")
            await uvicorn.Server(config).serve([listener])

    anyio.run(serve)


class TokenCheck:
    """Refuses requests without the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._wanted = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or answer it with status 401."""
        if scope["type"] == "http":
            headers: list[tuple[bytes, bytes]] = scope["headers"]
            given = [value for name, value in headers if name == b"authorization"]
            # The time of the comparison does not depend on where the two differ.
            if len(given) != 1 or not hmac.compare_digest(given[0], self._wanted):
                refusal = Response(
                    "The token is missing or wrong.",
                    status_code=401,
                    headers={"WWW-Authenticate": "Bearer"},
                )
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)
