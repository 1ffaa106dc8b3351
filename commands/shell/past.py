"""Commands about past actions and lineages: diffs, attempts, histories, what operations became."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from actiondbg.analysis.attempts import attempted_places
from actiondbg.analysis.contrast import silent_failure
from actiondbg.breakpoints.resolution import is_known, misspelt, resolve_spec
from actiondbg.breakpoints.spec import parse_spec
from actiondbg.commands.interpreter import completers, values
from actiondbg.commands.interpreter.declaration import Topic
from actiondbg.commands.interpreter.options import Options, flag, option, positional, rest
from actiondbg.commands.render.diff import DiffShown
from actiondbg.commands.render.legalization.explanation_text import ExplanationShown
from actiondbg.commands.render.lineage import PictureWritten
from actiondbg.commands.render.past import AttemptsShown
from actiondbg.commands.render.validation import ActionJudged
from actiondbg.commands.shell.ir import with_input_file
from actiondbg.errors import NotRecorded, UsageError
from actiondbg.lineage.level import Level
from actiondbg.support.globs import is_literal
from actiondbg.support.recording_file import refuse_recording

if TYPE_CHECKING:
    from actiondbg.analysis.attempts import PatternAttempts
    from actiondbg.analysis.contrast import Contrast, Example
    from actiondbg.analysis.history import History
    from actiondbg.commands.interpreter.console import Console
    from actiondbg.lineage.session_lineage import SessionLineage
    from actiondbg.lineage.stage import Operation, Stage
    from actiondbg.lineage.track_answer import Direction, TrackAnswer
    from actiondbg.process.stop import Stop
    from actiondbg.session.past.failure_return import FailureReturn
    from actiondbg.session.runnable_session import End

PAST = Topic("Past actions", contained=True)
CORES = os.cpu_count() or 1
_HISTORY_FILE = re.compile(r"(?:-[a-zA-Z]*o|--o[a-z-]*)(?:=(.+))?|-[a-zA-Z]*o(.+)")
_OPERATION = re.compile(r"cursor|@\d+|%\S+")


class DiffOptions(Options):
    ordinal: int | None = positional("#N", help="a past action", parse=values.ordinal)
    module: bool = flag(help="compare the whole module")
    side_by_side: bool = flag(help="print before on the left, after on the right")
    unified: bool = flag(help="print a unified diff (the default)")
    context: int = option(
        "N", default=3, help="the number of unchanged lines around a change", parse=values.index
    )
    elide: int | None = option(
        "N", help="elide attributes of more than N elements", parse=values.index
    )
    full: bool = flag(help="elide nothing, as is done on a terminal")


@PAST.command("diff", example="diff #17 --module", shows_ir=True, reads=True)
def diff(console: Console, options: DiffOptions) -> DiffShown:
    """Show the difference that the action of this stop, or action N, made to the IR."""
    if options.side_by_side and options.unified:
        raise UsageError("--unified and --side-by-side exclude each other: give one of them.")
    with console.progress.shown():
        found = console.session.past.diff(options.ordinal, module=options.module)
    found = console.ir_view.elided(found, options.elide, full=options.full)
    return DiffShown(found, options.side_by_side, options.context)


class WhyNotOptions(Options):
    name: str = positional(
        "NAME", help="the name of a pattern, or a glob", complete=completers.patterns
    )
    where: str | None = positional(
        "[FILE:]LINE|cursor|@ID|%SSA",
        help="only attempts on operations of this location, or on this operation",
        complete=completers.places,
    )
    all: bool = flag(help="list each attempt")
    next: bool = flag(help="continue to the next attempt, and stop after it")
    against: tuple[str, ...] = option(
        "FILE|DIR",
        help="compare failures without a reason with another run too: the command of a "
        "recording or of each recording in a folder, run again, or this command with another "
        "input",
        complete=completers.files,
    )
    native: bool = flag(
        help="find with gdb the last condition in the pattern's code before the newest failure "
        "without a reason returned"
    )


@PAST.command("why-not", example="why-not AddIAddConstant cursor")
def why_not(console: Console, options: WhyNotOptions) -> AttemptsShown | Stop:
    """List the attempts of a pattern so far, with the reasons for each failure, and compare the
    newest failure without a reason with the successes. Without attempts there, list the places of
    the others; without any, continue to the next.
    """
    if options.next:
        return _next_attempt(console, options)
    if options.native:
        console.permissions.check("native", "--native")
    if options.against:
        console.permissions.check("shell", "--against, which runs commands")
    where = _place(console, options.where)
    op_id = _operation_id(console, where)
    location = where if op_id is None else None
    past = console.session.past
    with console.progress.shown():
        found = past.why_not(options.name, location=location, op_id=op_id)
        every = found
        if not found.attempts and found.selected:
            every = past.why_not(options.name)
    if found.attempts:
        compared = None if options.all else _contrast(console, found, options.against)
        returned = _failure_return(console, found) if options.native else None
        inside = console.session.stop is not None and console.session.stop.when == "during"
        return AttemptsShown(found, options.all, inside, compared, returned)
    return _without_attempts(console, options, found, every, location)


def _without_attempts(
    console: Console,
    options: WhyNotOptions,
    found: PatternAttempts,
    every: PatternAttempts,
    location: str | None,
) -> AttemptsShown | Stop:
    """Report a slip, or the attempts elsewhere; otherwise continue to the next attempt."""
    stop = console.session.stop
    # A display, or a question of an editor, must not resume the tool.
    is_over = stop is None or stop.when in ("exit", "during")
    can_continue = not is_over and not console.displays.running
    unknown = _unknown(console, options.name, location, bool(every.attempts))
    if unknown is not None:
        so_far = " so far" if can_continue else ""
        way_on = " 'why-not --next' continues to the next attempt all the same."
        raise UsageError(
            f"There was no attempt of {options.name}{so_far}: {unknown}{way_on if so_far else ''}"
        )
    if every.attempts or stop is None or not can_continue:
        # "during": the tool may be crashing
        inside = stop is not None and stop.when == "during"
        elsewhere = attempted_places(every.attempts, *_file_and_line(location))
        where = options.where or ""
        has_next = can_continue and not where.startswith("@")
        return AttemptsShown(
            found, options.all, inside, where=where, elsewhere=elsewhere, has_next=has_next
        )
    console.note(f"There was no attempt of {options.name} so far: continuing to the next.")
    found_stop = _next_attempt(console, options)
    if found_stop.when == "exit":
        after = " --after" if stop.when == "after" else ""
        way_back = f" 'goto #{stop.ordinal}{after}' goes back." if stop.ordinal else ""
        unknown = _unknown(console, options.name, location, was_tried=False)
        if unknown is not None and is_literal(options.name):
            raise UsageError(f"There was none.{way_back} {unknown[:1].upper()}{unknown[1:]}")
        if way_back or unknown is not None:
            console.note(f"There was none.{way_back}")
    return found_stop


def _file_and_line(location: str | None) -> tuple[str, int | None]:
    terms = parse_spec(location) if location else []
    return (terms[0].path or "", terms[0].line) if terms else ("", None)


def _unknown(console: Console, name: str, location: str | None, was_tried: bool) -> str | None:
    """Return what looks like a slip in the name of a pattern or in a location, or None.

    Before the end of the run, a pattern that is like no other may still come.
    """
    names, stop = console.session.names, console.session.stop
    if not was_tried:
        is_over = stop is None or stop.when == "exit"
        known = "known" if is_over else "known yet"
        where = "in the recording" if names.is_complete else known
        meant = misspelt("pattern", name, names)
        if meant is not None:
            return f"no pattern {name!r} is {where}; did you mean {meant}?"
        if is_over and not is_known("pattern", name, names):
            return (
                f"no pattern {name!r} is {where}. 'info patterns' lists the patterns of this run."
            )
    clause = location and resolve_spec(location, names).unresolved.clause
    return f"{clause}.".replace("?.", "?") if clause else None


def _contrast(
    console: Console, attempts: PatternAttempts, against: tuple[str, ...]
) -> Contrast | None:
    """Compare a failure without a reason with the successes; None if there is no such failure."""
    others: list[Example] = []
    if against:
        from actiondbg.recording.other_runs import examples

        argv = console.live_session("Comparing with other runs").target.argv
        with console.progress.shown():
            others = examples(attempts.name, against, argv)
    try:
        with console.progress.shown():
            return console.session.past.contrast(attempts, others)
    except NotRecorded as error:
        console.note(str(error))
        return None


def _failure_return(console: Console, attempts: PatternAttempts) -> FailureReturn:
    """Find the place in the code where the newest failure without a reason returned."""
    session = console.live_session("A native debugger")
    failed = silent_failure(attempts.attempts)
    if failed is None:
        raise UsageError(f"No attempt of {attempts.name} here failed without a reason.")
    with console.progress.shown():
        return session.past.failure_return(failed)


def _operation_id(console: Console, where: str | None) -> int | None:
    """Return the id of an operation given as cursor, @ID or %SSA; None for a location."""
    if where == "cursor":
        id = console.session.cursor.get().unit.id
        if id is None:
            raise UsageError("The cursor is not on an operation: move it with 'cursor-parent'.")
        return id
    if where is not None and where.startswith("%"):
        return console.session.cursor.operation_id(where)
    return values.operation_id(where) if where is not None and where.startswith("@") else None


def _place(console: Console, where: str | None) -> str | None:
    return None if where is None else with_input_file(console, where)


def _next_attempt(console: Console, options: WhyNotOptions) -> Stop:
    where = _place(console, options.where)
    if where == "cursor":
        where = console.session.cursor.get().unit.location
    if where is not None and re.fullmatch(r"@\d+", where):
        raise UsageError(f"Future attempts cannot be selected by {where}: give FILE:LINE.")
    return console.resume(lambda: console.session.next_attempt(options.name, where))


class ExplainOptions(Options):
    target: str | None = positional(
        "cursor|@ID|%SSA|op:GLOB",
        help="operations that a conversion left; by default, what made a conversion fail",
        complete=completers.operation,
    )
    all: bool = flag(help="show all patterns that were tried, not only the most telling")


@PAST.command("explain", example="explain op:memref.*", shows_ir=True, reads=True)
def explain(console: Console, options: ExplainOptions) -> ExplanationShown:
    """Explain why a dialect conversion failed: the operation that it could not legalize, the
    patterns that it tried, and what each of them lacked. With operations: why conversions left
    them.
    """
    with console.progress.shown():
        found = console.session.past.explain(options.target)
    return ExplanationShown(found, options.all)


class HistoryOptions(Options):
    text: str = rest("[cursor | @ID | %SSA | LINES]", complete=completers.operation)


@PAST.command("history", example="history @12", redirects=True, reads=True)
def history(console: Console, options: HistoryOptions) -> History | None:
    """Show the history of an operation, by default the cursor's: the actions that created, changed,
    moved, replaced or erased it. With other arguments, or when the tool is not stopped, list, run
    or edit earlier command lines.
    """
    text, session = options.text.strip(), console.session
    if _OPERATION.fullmatch(text) or (not text and session.state == "stopped"):
        with console.progress.shown():
            return session.past.history(text or "cursor")
    if console.shell is not None:
        for name in _history_files(text):
            refuse_recording(Path(name).expanduser())
        console.run_builtin(f"history {text}")
        return None
    with console.progress.shown(), session.cursor.at(with_input_file(console, text or "cursor")):
        return session.past.history()


def _history_files(text: str) -> Iterator[str]:
    """Yield the file that a command line of cmd2's history writes, if there is one."""
    try:
        words = shlex.split(text)
    except ValueError:  # cmd2 refuses the line
        return
    for word, following in pairwise([*words, ""]):
        if named := _HISTORY_FILE.fullmatch(word):
            yield named[1] or named[2] or following


class JudgementOptions(Options):
    """How an action is judged, at the prompt and in ``actiondbg validate``.

    They are arguments of ``actiondbg.validate`` with the same names.
    """

    timeout: float | None = option(
        "SECONDS",
        help="time for a function before and after an action; 20, less where a long run is judged",
        parse=values.seconds,
    )
    inputs: int = option(
        "N", default=48, help="run each function on N inputs; 48", parse=values.positive
    )
    aliased: bool = flag(help="memref arguments of a type may overlap")
    any_index: bool = flag(help="arguments of type index may need more than 32 bits")


class ValidationOptions(JudgementOptions):
    """How a run is validated: arguments of ``actiondbg.validate`` with the same names."""

    func: tuple[str, ...] = option(
        "GLOB", help="judge only functions whose name matches; repeatable: any of them"
    )
    budget: float = option(
        "SECONDS",
        default=120.0,
        help="time for the actions in passes that are not equivalent; 120",
        parse=values.seconds,
    )
    jobs: int = option(
        "-j",
        "N",
        default=CORES,
        help=f"judge N functions at a time; {CORES}",
        parse=values.positive,
    )


class ValidateOptions(JudgementOptions):
    ordinal: int | None = positional("#N", help="a past action", parse=values.ordinal)


@PAST.command("validate", example="validate #17", permission="execute")
def validate(console: Console, options: ValidateOptions) -> ActionJudged:
    """Judge whether the program still does the same after the action of this stop, or action N: by
    proof, and by running functions before and after it.
    """
    from actiondbg.recording.errors import need_packages
    from actiondbg.support.scratch_directory import scratch_directory
    from actiondbg.validation.function_judgement import SECONDS, JudgementLimits, Query
    from actiondbg.validation.workers import judge_apart

    need_packages("validate", ("numpy", "ml_dtypes", "bitwuzla"), extra="validate")
    with console.progress.shown("judging ..."), scratch_directory("validate") as scratch:
        past = console.session.past
        try:
            found = past.diff(options.ordinal, module=True)
        except NotRecorded:  # of the whole module
            found = past.diff(options.ordinal, module=False)
        limits = JudgementLimits(
            tool=console.session.target.argv[0],
            scratch=str(scratch),
            inputs=options.inputs,
            seconds=options.timeout or SECONDS,
            aliased=options.aliased,
            any_index=options.any_index,
        )
        judged = judge_apart(Query(found.before, found.after), limits)
    return ActionJudged(options.ordinal or 0, list(judged))


class LineageOptions(Options):
    target: str = positional(
        "cursor|@ID|%SSA|@SYMBOL|[FILE:]LINE",
        default="cursor",
        help="the operation",
        complete=completers.places,
    )
    exact: bool = flag(help="leave out what only source locations show")
    nested: bool = flag(help="track the operations inside a function, too")
    level: Level = option(
        default="operation", help="the units that answer for the operations in them"
    )


class TrackOptions(LineageOptions):
    to: str = option(
        "#N|PASS|end",
        default="end",
        help="track up to the end of this action, of the next run of this pass, or of the run "
        "(the default)",
        complete=completers.passes,
    )


@PAST.command("track", example="track @12 --to cse", reads=True)
def track(console: Console, options: TrackOptions) -> TrackAnswer:
    """List the operations that an operation became, and the actions on the way."""
    found = _open(console, options.target, options.to)
    return _answer(console, found, options, found.here, found.last, "forward")


@PAST.command("track-back", example="track-back %3", reads=True)
def track_back(console: Console, options: LineageOptions) -> TrackAnswer:
    """List the operations of the input from which an operation was made, and the actions on the
    way.
    """
    found = _open(console, options.target, None)
    return _answer(console, found, options, found.last, found.first, "back")


@PAST.command("related", example="related cursor", reads=True)
def related(console: Console, options: LineageOptions) -> TrackAnswer:
    """List the operations at this stop that have an origin in common with an operation."""
    found = _open(console, options.target, None)
    return _answer(console, found, options, found.last, found.last, "related")


class PictureOptions(TrackOptions):
    dot: Path | None = option("FILE", help="write a graph for graphviz")
    svg: Path | None = option("FILE", help="write a picture")
    html: Path | None = option("FILE", help="write a page with the picture")


@PAST.command("lineage", example="lineage @12 --svg lineage.svg", contained=False)
def lineage(console: Console, options: PictureOptions) -> PictureWritten:
    """Draw what an operation came from and became: from the input to the end of the run."""
    from actiondbg.lineage.pictures.tracking_picture import picture, tracked_ways, write_picture

    if options.svg is options.html is options.dot is None:
        raise UsageError("The file is missing: give --svg FILE, --html FILE or --dot FILE.")
    found = _open(console, options.target, options.to)
    sources = found.operations(with_input_file(console, options.target), found.here)
    back, onward = (
        tracked_ways(
            found.lineage,
            sources,
            stage,
            level=options.level,
            exact=options.exact,
            nested=options.nested or None,
        )
        for stage in (found.first, found.last)
    )
    both = onward._replace(traces=(*back.traces, *onward.traces))
    drawn = picture(found.lineage, sources, both)
    written = write_picture(drawn, svg=options.svg, html=options.html, dot=options.dot)
    return PictureWritten(written, len(drawn.boxes), drawn.note)


def _open(console: Console, target: str, to: str | None) -> SessionLineage:
    """Return the lineage of the run up to what ``--to`` names; None is this stop.

    The target is checked first: a replay may take long.
    """
    from actiondbg.lineage.session_lineage import SessionLineage, check_target

    check_target(console.session, with_input_file(console, target))
    end = "now" if to is None else _end(console, to)
    with console.progress.shown():
        return SessionLineage(console.session, end)


def _answer(
    console: Console,
    found: SessionLineage,
    options: LineageOptions,
    source: Stage,
    to: Stage,
    direction: Direction,
) -> TrackAnswer:
    from actiondbg.lineage import track_answer
    from actiondbg.lineage.lineage import related
    from actiondbg.lineage.units import rolled_up

    operations: list[Operation] = found.operations(with_input_file(console, options.target), source)
    if direction == "related":
        tracking = related(found.lineage, operations, exact=options.exact)
    else:
        nested = options.nested or None
        tracking = found.lineage.track(operations, to, exact=options.exact, nested=nested)
    tracking = rolled_up(tracking, options.level)
    return found.named(track_answer.answer(found.lineage, operations, to, tracking, direction))


def _end(console: Console, to: str) -> End:
    """Return the end that ``--to`` names; of a pass, the run that ends next."""
    if to == "end":
        return "end"
    digits = to.removeprefix("#")
    if digits.isdecimal():
        return int(digits)
    from actiondbg.analysis.pipeline import find_pass

    runs = console.session.past.passes()
    if "#" not in to:
        runs = [run for run in runs if run.state != "over"]
    return find_pass(runs, to)
