"""``actiondbg open [options] RUN.adbrec``."""

from __future__ import annotations

from actiondbg.commands.cli.line_parser import LineParser, Partial, subcommand
from actiondbg.commands.cli.startup import StartupOptions, make_console, run_console
from actiondbg.commands.interpreter.options import positional

_EPILOG = """\
examples:
  actiondbg open run.adbrec
  actiondbg open -ex 'break pattern:Fold*' -ex continue --batch run.adbrec
  echo 'info patterns' | actiondbg open --json run.adbrec

The commands are those of 'actiondbg TOOL ARGS...', except for those that need a running tool:
docs/open.md lists them. 'actiondbg record -o run.adbrec -- TOOL ARGS...' makes a recording.

exit status: 0 all commands succeeded, 1 a command failed or the file is not a recording,
2 bad usage.
"""


class OpenOptions(StartupOptions):
    partial: Partial = False
    file: str = positional("RUN.adbrec", help="a recording of 'actiondbg record'")


@subcommand("open", "[options] RUN.adbrec", OpenOptions, _EPILOG)
def run(parser: LineParser[OpenOptions], argv: list[str]) -> int:
    """Debug a recording like a running tool."""
    options = parser.read(argv)
    from actiondbg.recording.session import open_session

    with open_session(options.file, partial=options.partial) as session:
        console = make_console(session, options, recorded=session)
        # Most recordings contain no IR: a message about that at each stop would be noise.
        console.settings.set("print-stop", "off")
        if console.interactive:
            console.note(console.greeting)
        return run_console(console, options)
