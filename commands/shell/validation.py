"""The validate command: whether the program still does the same after an action."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actiondbg.commands.interpreter import values
from actiondbg.commands.interpreter.options import Options, flag, option, positional
from actiondbg.commands.render.validation import ActionJudged
from actiondbg.commands.shell.past import PAST
from actiondbg.errors import NotRecorded

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Console
    from actiondbg.ir.diff import Diff


class ValidateOptions(Options):
    ordinal: int | None = positional("#N", help="a past action", parse=values.ordinal)
    timeout: float = option(
        "SECONDS", default=20.0, help="the time limit for a function; 20", parse=values.seconds
    )
    aliased: bool = flag(help="memref arguments of a type may overlap")
    any_index: bool = flag(help="arguments of type index may need more than 32 bits")


@PAST.command("validate", example="validate #17", permission="shell")
def validate(console: Console, options: ValidateOptions) -> ActionJudged:
    """Judge whether the program still does the same after the action of this stop, or action N: by
    proof, and by running functions before and after it.
    """
    from actiondbg.recording.dependencies import need_packages
    from actiondbg.support.scratch_directory import scratch_directory
    from actiondbg.validation.inputs import INDEX_BITS
    from actiondbg.validation.judgement import Limits, Query
    from actiondbg.validation.types import INDEX_WIDTH
    from actiondbg.validation.workers import judge_apart

    need_packages("validate", ("numpy", "ml_dtypes", "bitwuzla"), extra="validate")
    with console.progress.shown("judging ..."), scratch_directory("validate") as scratch:
        found = _difference(console, options.ordinal)
        limits = Limits(
            tool=console.session.target.argv[0],
            scratch=str(scratch),
            seconds=options.timeout,
            aliased=options.aliased,
            index_bits=INDEX_WIDTH if options.any_index else INDEX_BITS,
        )
        judged = judge_apart(Query(found.before, found.after), limits)
    return ActionJudged(options.ordinal or 0, list(judged))


def _difference(console: Console, ordinal: int | None) -> Diff:
    """Return the IR of the module before and after an action; of the function, if that is all."""
    past = console.session.past
    try:
        return past.diff(ordinal, module=True)
    except NotRecorded:
        return past.diff(ordinal, module=False)
