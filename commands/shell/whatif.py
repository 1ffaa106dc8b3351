"""Commands about what could be otherwise: alternatives, and passes and patterns that apply now."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from actiondbg.commands.interpreter import completers, values
from actiondbg.commands.interpreter.declaration import Topic
from actiondbg.commands.interpreter.options import Options, flag, option, positional, rest
from actiondbg.commands.interpreter.oracle_options import OracleOptions, optional_oracle
from actiondbg.commands.render.past import DiffShown
from actiondbg.commands.render.whatif import ApplicableShown, ComparisonShown, PatternsShown
from actiondbg.errors import UsageError

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Console
    from actiondbg.commands.render.terminal.progress import ProgressLine
    from actiondbg.session.session import Session

WHATIF = Topic("What if")
_TRY_SECONDS = 5.0


class ComparisonOptions(OracleOptions):
    """The options of ``whatif``, at the prompt and on the command line."""

    until: str | None = option(
        "PASS",
        help="compare the IR after the next run of a pass, instead of the end",
        complete=completers.passes,
    )
    jobs: int = option(
        "-j",
        "--jobs",
        "N",
        default=1,
        help="the number of alternatives that run at a time (1)",
        parse=values.positive,
    )
    timeout: float | None = option(
        "SECONDS", help="the time limit of an alternative", parse=values.seconds
    )
    diff: bool = flag(help="show the diff of the final IR of each alternative too")
    all: bool = flag(help="show all operations whose numbers differ, not only the first")


class WhatifOptions(ComparisonOptions):
    text: str = rest(
        "ALTERNATIVE[; ALTERNATIVE...]", required=True, complete=completers.alternative
    )


@WHATIF.command(
    "whatif",
    example="whatif pattern:AddIAddConstant off; drop cse",
    redirects=True,
    needs_tool="A run that does otherwise",
)
def whatif(console: Console, options: WhatifOptions) -> ComparisonShown:
    """Compare the run as it is with alternatives, each in a fork of this stop: 'pattern:P off', or
    'on', which tries P first; 'fold:OP off'; both with 'in PASS'; 'drop PASS';
    'PASS{OPTION=VALUE ...}'; 'replace PASS with PIPELINE'; 'insert PIPELINE before PASS', or
    'after'; 'move PASS before PASS', or 'after'; 'swap PASS PASS'; 'append PIPELINE';
    'benefit P N'. A PASS may be a run of it, such as cse#2. 'and' joins changes into one
    alternative. The session itself is not affected.
    """
    shown = compare_alternatives(console.live_session(), options.text, options, console.progress)
    if console.comparison is not None:
        console.comparison.close()
    console.comparison = shown.comparison
    return shown


def compare_alternatives(
    session: Session,
    alternatives: str | Sequence[str],
    options: ComparisonOptions,
    progress: ProgressLine,
) -> ComparisonShown:
    """Compare the run of a session with alternatives; select the rows, diffs and notes to show."""
    from actiondbg.whatif.comparison import compare, unmatched_sentence

    with progress.shown("... 0 runs"):
        found = compare(
            session,
            alternatives,
            until=options.until,
            oracle=optional_oracle(options),
            jobs=options.jobs,
            timeout=options.timeout,
            progress=_counting(progress, "runs"),
        )
    unmatched = [row.unmatched for row in found.rows if row.unmatched]
    notes = [unmatched_sentence(changes, session) for changes in unmatched] + found.notes
    numbers = range(1, len(found.rows)) if options.diff else ()
    diffs = [found.without_ir(number) or found.diff(number) for number in numbers]
    return ComparisonShown(found, options.all, list(dict.fromkeys(notes)), diffs)


def _counting(progress: ProgressLine, what: str) -> Callable[[int, int], None]:
    """Return a callback that shows how many of all are done."""

    def show(done: int, total: int) -> None:
        progress.change(f"... {done} of {total} {what},")

    return show


class WhatifDiffOptions(Options):
    number: int = positional("N", help="the number of an alternative", parse=values.positive)
    side_by_side: bool = flag(help="print the alternative on the right")


@WHATIF.command(
    "whatif diff",
    example="whatif diff 1",
    needs_tool="A run that does otherwise",
    abbreviates=False,
)
def whatif_diff(console: Console, options: WhatifDiffOptions) -> DiffShown:
    """Show the difference between the final IR of the run as it is and of alternative N of the
    latest 'whatif'.
    """
    if console.comparison is None:
        raise UsageError("There is no comparison yet: make one with 'whatif'.")
    return DiffShown(console.comparison.diff(options.number), options.side_by_side, 3)


class ApplicableOptions(Options):
    patterns: bool = flag(help="list the patterns that the pass of this stop will apply")
    all: bool = flag(help="list the passes too that change nothing or cannot run, and why")
    timeout: float = option(
        "SECONDS",
        default=_TRY_SECONDS,
        help="the time limit of each pass (5)",
        parse=values.seconds,
    )


@WHATIF.command("info applicable", needs_tool="Trying passes", reads=True)
def info_applicable(
    console: Console, options: ApplicableOptions
) -> ApplicableShown | PatternsShown:
    """List the passes of the tool that would change the IR now, those with the most changes first:
    each is tried in a fork of this stop, before or after a pass, for at most the time of --timeout.
    With --patterns, list the patterns that this pass will apply.
    """
    from actiondbg.whatif.applicable import applicable_patterns, try_passes

    session = console.live_session()
    if options.patterns:
        if options.all:
            raise UsageError("--all is about passes, not about --patterns: leave it out.")
        with console.progress.shown():
            return PatternsShown(applicable_patterns(session))
    with console.progress.shown("... 0 passes"):
        counting = _counting(console.progress, "passes")
        tried = try_passes(session, seconds=options.timeout, progress=counting)
    return ApplicableShown(tried, options.all)
