"""``actiondbg mcp [options] [TOOL...]``."""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from actiondbg.commands.cli.line_parser import LineParser, subcommand
from actiondbg.commands.interpreter.options import Options, option, positional
from actiondbg.commands.interpreter.values import index, positive, seconds
from actiondbg.commands.mcp.restrictions import PERMISSIONS, Permission, Restrictions
from actiondbg.commands.render.terminal.output import print_notice
from actiondbg.errors import UsageError
from actiondbg.recording.errors import need_packages

if TYPE_CHECKING:
    from actiondbg.commands.mcp.server import DebugServer

_TOKEN = "ACTIONDBG_MCP_TOKEN"
_SHORTEST_TOKEN = 16  # characters
_EPILOG = f"""\
examples:
  actiondbg mcp mlir-opt
  actiondbg mcp --directory ~/work --allow execute build/bin
  actiondbg mcp --http 8900 mlir-opt iree-opt

A coding agent starts it: claude mcp add actiondbg -- actiondbg mcp mlir-opt. The TOOLs, names or
paths of tools or directories of tools, may be run, all in --directory; nothing outside it is
written. Without TOOL, recordings can be read. Clients of --http send 'Authorization: Bearer TOKEN':
the token in ${_TOKEN}, {_SHORTEST_TOKEN} characters or more, else a new one, which is printed.
docs/mcp.md describes the tools, the permissions of --allow, and clients.

exit status: 0 the client has disconnected, 1 error, 2 bad usage, 3 a TOOL does not exist.
"""


class McpOptions(Options):
    tools: tuple[str, ...] = positional(
        "TOOL", help="a tool, or a directory of tools, that may be run"
    )
    directory: Path = option(
        "DIR", default=Path("."), help="the working directory of all tools (.)"
    )
    allow: tuple[Permission, ...] = option(
        "PERMISSION",
        help=f"permit one of {', '.join(PERMISSIONS)}; may be repeated",
    )
    http: int | None = option(
        "PORT",
        help="serve HTTP at this port of the loopback, 0 for any, instead of standard input",
        parse=index,
    )
    idle: float = option(
        "SECONDS",
        default=1800.0,
        help="--http: end what was not used for SECONDS (1800)",
        parse=seconds,
    )
    sessions: int = option(
        "N", default=8, help="the number of sessions and jobs at a time (8)", parse=positive
    )


@subcommand("mcp", "[options] [TOOL...]", McpOptions, _EPILOG)
def run(parser: LineParser[McpOptions], argv: list[str]) -> int:
    """Serve coding agents: debugging as tools of the Model Context Protocol."""
    options = parser.read_intermixed(argv)
    need_packages("actiondbg mcp", ("mcp",), "mcp")
    restrictions = Restrictions.of(options.directory, options.tools, options.allow)
    from actiondbg.commands.mcp.server import DebugServer
    from actiondbg.commands.mcp.worker_pool import WorkerPool

    workers = WorkerPool(restrictions, options.sessions)
    if options.http is None:
        from actiondbg.commands.mcp.transports import run_stdio

        if sys.stdin.isatty():
            print_notice(
                "A client of MCP starts this command; end it with Ctrl-D. See docs/mcp.md."
            )
        run_stdio(DebugServer(workers, None))
    else:
        _serve_http(DebugServer(workers, options.idle), options.http, options.idle)
    return 0


def _serve_http(server: DebugServer, port: int, idle_seconds: float) -> None:
    from actiondbg.commands.mcp.transports import run_http

    given = os.environ.pop(_TOKEN, None)  # not for the tools
    if given is not None and len(given) < _SHORTEST_TOKEN:
        raise UsageError(f"${_TOKEN} has fewer than {_SHORTEST_TOKEN} characters: choose more.")
    token = given or secrets.token_urlsafe(32)

    def tell(url: str) -> None:
        print_notice(f"Serving {url}")
        if given is None:
            print_notice(f"Token: {token}")

    run_http(server, port, token, idle_seconds, tell)
