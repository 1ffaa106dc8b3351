"""``actiondbg dap [options]``."""

from __future__ import annotations

import os
import sys

from actiondbg.commands.cli.line_parser import LineParser, subcommand
from actiondbg.commands.interpreter.options import Options, option
from actiondbg.commands.interpreter.values import index

_EPILOG = """\
examples:
  actiondbg dap
  actiondbg dap --port 4711

An editor starts the server, and sends it requests of the Debug Adapter Protocol: docs/dap.md has
the configurations. Whoever can connect to the port can run commands as you.

exit status: 0 the client has disconnected, 2 bad usage.
"""


class DapOptions(Options):
    port: int | None = option(
        "PORT",
        help="serve one client after the other on this port of the loopback, 0 for any free one; "
        "by default the client on the standard streams",
        parse=index,
    )


@subcommand("dap", "[options]", DapOptions, _EPILOG)
def run(parser: LineParser[DapOptions], argv: list[str]) -> int:
    """Serve the Debug Adapter Protocol, for VS Code and other editors."""
    options = parser.read(argv)
    from actiondbg.commands.dap.requests import HANDLERS
    from actiondbg.commands.dap.server import serve_port, serve_streams
    from actiondbg.commands.shell.topics import COMMANDS

    if options.port is not None:
        return serve_port(options.port, HANDLERS, COMMANDS, lambda text: print(text, flush=True))
    sys.stdout.flush()
    serve_streams(os.dup(0), os.dup(1), HANDLERS, COMMANDS)
    return 0
