"""``actiondbg open [options] RUN.adbrec``."""

from __future__ import annotations

from actiondbg.commands.cli.line_parser import LineParser
from actiondbg.commands.interpreter.startup import add_options, drive, is_interactive

_EPILOG = """\
examples:
  actiondbg open run.adbrec
  actiondbg open -ex 'break pattern:Fold*' -ex continue --batch run.adbrec
  echo 'info patterns' | actiondbg open --json run.adbrec

The commands are those of 'actiondbg TOOL ARGS...', as far as the recording holds what they
tell: docs/open.md says what it holds. 'actiondbg record -o run.adbrec -- TOOL ARGS...' makes one.

exit status: 0 all commands succeeded, 1 a command failed or the file is no recording, 2 bad usage.
"""


def build_parser() -> LineParser:
    """Return the parser of the command line after the word open."""
    description = "Look at a recording as one looks at a tool that has stopped."
    parser = LineParser("actiondbg open", "[options] RUN.adbrec", description, _EPILOG)
    add_options(parser)
    parser.add_shared("--partial")
    parser.add_argument("file", metavar="RUN.adbrec", help="what 'actiondbg record' wrote")
    return parser


def run(argv: list[str]) -> int:
    """Run the command line after the word open; return the exit code.

    Raises:
        RecordingError: the file cannot be read, or is no recording.
    """
    options = build_parser().parse_args(argv)
    from actiondbg.commands.interpreter.console import Front
    from actiondbg.commands.interpreter.recording_console import Recorded
    from actiondbg.recording.session import open_session
    from actiondbg.recording.session.old_names import OldRecordedSession

    with open_session(options.file, partial=options.partial) as session:
        old = OldRecordedSession(session)
        recorded = Recorded(old)
        front = Front(
            old,
            json=options.json,
            interactive=is_interactive(options),
            color=not options.no_color,
            recorded=recorded,
        )
        # Mostly it is not held: a line at each stop that says so would be noise.
        front.settings.set("print-stop", "off")
        if front.interactive:
            front.note(recorded.greeting())
        return drive(front, options)
