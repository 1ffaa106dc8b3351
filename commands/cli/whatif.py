"""``actiondbg whatif [options] -- TOOL ARGS...``."""

from __future__ import annotations

import shutil
import signal
import sys
from typing import TYPE_CHECKING

from actiondbg.commands.cli.line_parser import LineParser, NoColor, subcommand
from actiondbg.commands.interpreter import completers
from actiondbg.commands.interpreter.options import flag, option
from actiondbg.commands.render.diff import stdout_paint
from actiondbg.commands.render.terminal.output import print_notice, print_result
from actiondbg.commands.render.terminal.progress import ProgressLine
from actiondbg.commands.render.whatif import alternatives_lines, alternatives_object
from actiondbg.commands.shell.whatif import AlternativesOptions, compare_alternatives
from actiondbg.errors import UsageError
from actiondbg.whatif.alternatives import FORMS

if TYPE_CHECKING:
    from actiondbg.session.session import Session

_FORMS = "\n".join(f"  {form:<29}  {meaning}" for form, meaning in FORMS.items())
_EPILOG = f"""\
alternatives, joined by 'and' into one; PASS is a pass, or with #N the place of its N-th run:
{_FORMS}

examples:
  actiondbg whatif -a 'drop cse' -a 'pattern:FoldX off' -- mlir-opt in.mlir --canonicalize --cse
  actiondbg whatif -a 'swap canonicalize cse' --diff -- mlir-opt in.mlir --canonicalize --cse
  actiondbg whatif --at pass:cse -a 'drop cse and benefit FoldX 5' -j 2 -- mlir-opt in.mlir ...

exit status: 0 success, 1 error, 2 bad usage, 3 the tool could not be started.
docs/whatif.md explains alternatives and the table.
"""


class WhatifCommandLine(AlternativesOptions):
    alternatives: tuple[str, ...] = option(
        "-a",
        "--alternative",
        "TEXT",
        help="what a run does otherwise, such as 'drop cse#2' or 'canonicalize{top-down=0}', "
        "see below; may be repeated",
    )
    at: str | None = option(
        "SPEC",
        help="where the alternatives begin: the first action that matches (#1)",
        complete=completers.spec,
    )
    json: bool = flag(help="print one JSON object")
    no_color: NoColor = False


@subcommand("whatif", "[options] -a ALTERNATIVE -- TOOL ARGS...", WhatifCommandLine, _EPILOG)
def run(parser: LineParser[WhatifCommandLine], argv: list[str]) -> int:
    """Compare a run with others that do something otherwise."""
    ours, tool = parser.split(argv)
    options = parser.read(ours)
    if not tool:
        parser.error("the tool is missing: actiondbg whatif [options] -a TEXT -- TOOL ARGS...")
    if not options.alternatives:
        parser.error("an alternative is missing: give one with -a, such as -a 'drop cse'")
    from actiondbg.session.session import launch

    try:
        with launch(tool) as session:
            _go(session, options.at)
            _compare(session, options)
    except KeyboardInterrupt:
        print_notice("Interrupted.")
        return 128 + signal.SIGINT
    return 0


def _go(session: Session, at: str | None) -> None:
    """Run to the place where the alternatives begin."""
    if at is None:
        stop = session.start()
    else:
        session.breakpoints.add(at)
        stop = session.run()
    if stop.when == "exit":
        message = (stop.message or "The tool ended.").rstrip(".")
        why = "no action matches" if at is not None else "it has no actions"
        raise UsageError(f"{message}, and {why}{f' {at!r}' if at else ''}: alternatives need one.")


def _compare(session: Session, options: WhatifCommandLine) -> None:
    progress = ProgressLine(sys.stderr)
    shown = compare_alternatives(session, options.alternatives, options, progress)
    with shown.comparison:
        if options.json:
            print_result(alternatives_object(shown))
            return
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        print_result(alternatives_lines(shown, stdout_paint(options.no_color), width))
