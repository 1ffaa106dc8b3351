"""``actiondbg connect [options] SOCKET``."""

from __future__ import annotations

from actiondbg.commands.cli.line_parser import LineParser, subcommand
from actiondbg.commands.cli.startup import StartupOptions, make_console, run_console
from actiondbg.commands.interpreter.options import positional

_EPILOG = """\
examples:
  actiondbg connect /tmp/actiondbg-attach-12ab/wait
  actiondbg connect --batch -ex 'break pattern:Fold*' -ex run -ex print SOCKET

The program goes on at 'run' or 'start', and stops in MLIR contexts that it makes from then on. It
keeps its standard streams. 'quit' lets it run on by itself.

exit status: 0 all commands succeeded, 1 a command failed, 2 bad usage,
3 no program waits at the socket.
"""


class ConnectOptions(StartupOptions):
    socket: str = positional("SOCKET", help="the path that actiondbg.attach(wait=True) printed")


@subcommand("connect", "[options] SOCKET", ConnectOptions, _EPILOG)
def run(parser: LineParser[ConnectOptions], argv: list[str]) -> int:
    """Debug a Python program that waits in actiondbg.attach(wait=True)."""
    options = parser.read(argv)
    from actiondbg.session.session import connect

    with connect(options.socket) as session:
        return run_console(make_console(session, options, live=session), options)
