"""``actiondbg open [options] RUN.adbrec``."""

from __future__ import annotations

from typing import Annotated

from actiondbg.commands.cli.line_parser import LineParser, Partial
from actiondbg.commands.cli.startup import StartupOptions, drive, is_interactive
from actiondbg.commands.interpreter.options import Positional

_EPILOG = """\
examples:
  actiondbg open run.adbrec
  actiondbg open -ex 'break pattern:Fold*' -ex continue --batch run.adbrec
  echo 'info patterns' | actiondbg open --json run.adbrec

The commands are those of 'actiondbg TOOL ARGS...', as far as the recording holds what they
tell: docs/open.md says what it holds. 'actiondbg record -o run.adbrec -- TOOL ARGS...' makes one.

exit status: 0 all commands succeeded, 1 a command failed or the file is no recording, 2 bad usage.
"""


class OpenOptions(StartupOptions):
    """The options of ``actiondbg open``."""

    partial: Partial = False
    file: Annotated[str, Positional("RUN.adbrec", help="what 'actiondbg record' wrote")]


def build_parser() -> LineParser[OpenOptions]:
    """Return the parser of the command line after the word open."""
    return LineParser(
        OpenOptions,
        "actiondbg open",
        "[options] RUN.adbrec",
        "Look at a recording as one looks at a tool that has stopped.",
        _EPILOG,
    )


def run(argv: list[str]) -> int:
    """Run the command line after the word open; return the exit code.

    Raises:
        RecordingError: the file cannot be read, or is no recording.
    """
    options = build_parser().read(argv)
    from actiondbg.commands.interpreter.console import Console
    from actiondbg.commands.interpreter.recording_console import RecordingConsole
    from actiondbg.recording.session import open_session

    with open_session(options.file, partial=options.partial) as session:
        recorded = RecordingConsole(session)
        console = Console(
            session,
            json=options.json,
            interactive=is_interactive(options),
            color=not options.no_color,
            recorded=recorded,
        )
        # Mostly it is not held: a line at each stop that says so would be noise.
        console.settings.set("print-stop", "off")
        if console.interactive:
            console.note(recorded.greeting())
        return drive(console, options)
