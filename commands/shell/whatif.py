"""Commands about what could be otherwise: alternatives, and passes and patterns that apply now."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

from actiondbg.commands.interpreter import completers, values
from actiondbg.commands.interpreter.declaration import Topic
from actiondbg.commands.interpreter.options import Flag, Option, Options, Positional, Rest
from actiondbg.commands.render.past import DiffShown
from actiondbg.commands.render.whatif import ApplicableShown, ComparisonShown, PatternsShown
from actiondbg.commands.shell.bisection import OracleOptions, optional_oracle
from actiondbg.errors import UsageError

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Console
    from actiondbg.whatif.comparison import Comparison

WHATIF = Topic("What if")
_TRY_SECONDS = 5.0


class ComparisonOptions(OracleOptions):
    """The options of ``whatif``, at the prompt and on the command line."""

    until: Annotated[
        str | None,
        Option(
            "--until",
            "PASS",
            help="compare the IR after the next run of a pass, instead of the end",
            complete=completers.passes,
        ),
    ] = None
    jobs: Annotated[
        int,
        Option(
            "--jobs",
            "N",
            help="the number of alternatives that run at a time (1)",
            short="-j",
            parse=values.positive,
        ),
    ] = 1
    timeout: Annotated[
        float | None,
        Option(
            "--timeout", "SECONDS", help="the time limit of an alternative", parse=values.seconds
        ),
    ] = None
    diff: Annotated[
        bool, Flag("--diff", help="show the diff of the final IR of each alternative too")
    ] = False
    all: Annotated[
        bool, Flag("--all", help="show all operations whose numbers differ, not only the first")
    ] = False


class WhatifOptions(ComparisonOptions):
    """The options of ``whatif``."""

    text: Annotated[
        str, Rest("ALTERNATIVE[; ALTERNATIVE...]", required=True, complete=completers.alternative)
    ]


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
    from actiondbg.whatif.comparison import compare

    session = console.live_session()
    with console.progress.shown("... 0 runs"):
        found = compare(
            session,
            options.text,
            until=options.until,
            oracle=optional_oracle(options),
            jobs=options.jobs,
            timeout=options.timeout,
            progress=_counting(console, "runs"),
        )
    if console.comparison is not None:
        console.comparison.close()
    console.comparison = found
    return shown_comparison(found, options, lambda changes: _sentence(console, changes))


def shown_comparison(
    found: Comparison, options: ComparisonOptions, sentence: Callable[[list[str]], str]
) -> ComparisonShown:
    """Select the rows and diffs of a comparison to show, and add the notes about it.

    Args:
        found: the comparison.
        options: what to show.
        sentence: returns the note about changes without effect.
    """
    notes = [sentence(row.unmatched) for row in found.rows if row.unmatched] + found.notes
    numbers = range(1, len(found.rows)) if options.diff else ()
    diffs = [found.without_ir(number) or found.diff(number) for number in numbers]
    return ComparisonShown(found, options.all, list(dict.fromkeys(notes)), diffs)


def _sentence(console: Console, changes: list[str]) -> str:
    from actiondbg.whatif.comparison import unmatched_sentence

    return unmatched_sentence(changes, console.live_session())


def _counting(console: Console, what: str) -> Callable[[int, int], None]:
    """Return a callback that shows how many of all are done."""

    def show(done: int, total: int) -> None:
        console.progress.change(f"... {done} of {total} {what},")

    return show


class WhatifDiffOptions(Options):
    """The options of ``whatif diff``."""

    number: Annotated[
        int, Positional("N", help="the number of an alternative", parse=values.positive)
    ]
    side_by_side: Annotated[
        bool,
        Flag("--side-by-side", help="print the alternative on the right"),
    ] = False


@WHATIF.subcommand(
    "whatif",
    "diff",
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
    """The options of ``info applicable``."""

    patterns: Annotated[
        bool, Flag("--patterns", help="list the patterns that the pass of this stop will apply")
    ] = False
    all: Annotated[
        bool, Flag("--all", help="list the passes too that change nothing or cannot run, and why")
    ] = False
    timeout: Annotated[
        float,
        Option(
            "--timeout", "SECONDS", help="the time limit of each pass (5)", parse=values.seconds
        ),
    ] = _TRY_SECONDS


@WHATIF.subcommand(
    "info",
    "applicable",
    example="info applicable",
    needs_tool="Trying passes",
)
def info_applicable(
    console: Console, options: ApplicableOptions
) -> ApplicableShown | PatternsShown:
    """List the passes of the tool that would change the IR now, those with the most changes first:
    each is tried in a fork of this stop, before or after a pass. With --patterns, list the patterns
    that this pass will apply.
    """
    from actiondbg.whatif.applicable import applicable_patterns, try_passes

    session = console.live_session()
    if options.patterns:
        if options.all:
            raise UsageError("--all is about passes, not about --patterns: leave it out.")
        with console.progress.shown():
            return PatternsShown(applicable_patterns(session))
    with console.progress.shown("... 0 passes"):
        tried = try_passes(session, seconds=options.timeout, progress=_counting(console, "passes"))
    return ApplicableShown(tried, options.all)
