"""Commands that start, resume and end the tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, get_args

from actiondbg.breakpoints.resolution import resolve_spec
from actiondbg.breakpoints.spec import split_spec_and_condition
from actiondbg.commands.interpreter import completers, values
from actiondbg.commands.interpreter.declaration import Topic
from actiondbg.commands.interpreter.options import (
    NoOptions,
    Options,
    flag,
    option,
    positional,
    rest,
)
from actiondbg.commands.interpreter.words import split_stdio
from actiondbg.commands.render.status import Text
from actiondbg.errors import UsageError
from actiondbg.protocol import ResultFilter

if TYPE_CHECKING:
    from collections.abc import Callable

    from actiondbg.commands.interpreter.console import Console
    from actiondbg.process.stop import Stop

RUNNING = Topic("Running", contained=True)
Stops = TypeVar("Stops")  # what a method of the session returns
_ARGS = "[ARGS] [< IN] [> OUT] [2> ERR]"


class StartOptions(Options):
    text: str = rest(_ARGS, complete=completers.tool_arguments)


@RUNNING.command("run", example="run in.mlir --canonicalize > out.mlir", aliases=("r",))
def run(console: Console, options: StartOptions) -> Stop:
    """Start the tool, or restart it, and run to a breakpoint or the end of the tool."""
    return _launch(console, options, console.session.run)


@RUNNING.command("start")
def start(console: Console, options: StartOptions) -> Stop:
    """Start the tool and stop before its first action."""
    return _launch(console, options, console.session.start)


def _launch(console: Console, options: StartOptions, launch: Callable[..., Stop]) -> Stop:
    """Start the tool by a control of the session, with its arguments and redirections."""
    stdio = split_stdio(options.text)
    if stdio.stdout is not None or stdio.stderr is not None:
        console.permissions.check("redirection", "A redirection of the tool's output")
    return console.resume(
        lambda: launch(stdio.arguments, stdin=stdio.stdin, stdout=stdio.stdout, stderr=stdio.stderr)
    )


class RestartOptions(Options):
    checkpoint: int | None = positional(
        "N",
        help="the number of a checkpoint",
        parse=values.positive,
        complete=completers.checkpoint_numbers,
    )


@RUNNING.command("restart", example="restart 1")
def restart(console: Console, options: RestartOptions) -> Stop:
    """Restart the tool with the same arguments, or restore checkpoint N; breakpoints are kept."""
    number = options.checkpoint
    if number is None:
        return console.resume(console.session.restart)
    tool = console.live_session("A checkpoint")
    return console.resume(lambda: tool.timeline.checkpoints.restore(number))


@RUNNING.command("kill", needs_tool="Killing the tool")
def kill(console: Console, _: NoOptions) -> Text:
    """Kill the tool; breakpoints are kept."""
    session = console.live_session()
    if session.state not in ("stopped", "running"):
        return Text("The tool is not running.")
    session.kill()
    return Text("The tool was killed.")


class ContinueOptions(Options):
    count: int = positional(
        "N", default=1, help="the number of breakpoint hits to continue to", parse=values.positive
    )


@RUNNING.command("continue", example="continue 3", aliases=("c", "cont"), repeats=True)
def continue_(console: Console, options: ContinueOptions) -> Stop:
    """Continue to the next breakpoint hit, or to the Nth."""
    return console.resume(lambda: console.session.continue_(options.count))


class StepOptions(Options):
    count: int = positional("N", default=1, help="the number of repetitions", parse=values.positive)


@RUNNING.command("step", example="step 5", aliases=("s",), repeats=True)
def step(console: Console, options: StepOptions) -> Stop:
    """Step to the next event: the beginning or the end of an action, nested ones included."""
    return console.resume(lambda: console.session.step(options.count))


@RUNNING.command(
    "next",
    aliases=("n", "ne", "nex"),  # though next-change begins so too
    repeats=True,
)
def next_(console: Console, options: StepOptions) -> Stop:
    """Stop after this action, or, when already after it, before the next one that is not nested."""
    return console.resume(lambda: console.session.next(options.count))


class NextChangeOptions(Options):
    count: int = positional("N", default=1, help="the number of changes", parse=values.positive)


@RUNNING.command("next-change", aliases=("nc",), repeats=True)
def next_change(console: Console, options: NextChangeOptions) -> Stop:
    """Stop after the next action that changes the IR, not counting nested actions."""
    return console.resume(lambda: console.session.next_change(options.count))


class NextSuccessOptions(Options):
    text: str = rest("[SPEC [if EXPR]]", complete=completers.spec)


@RUNNING.command("next-success", aliases=("ns",), repeats=True)
def next_success(console: Console, options: NextSuccessOptions) -> Stop:
    """Stop after the next successful attempt that the breakpoint of this stop names, or of the same
    pattern, or fold of the same operation; elsewhere, of any pattern. SPEC selects others.
    Breakpoints at attempts and folds only count on the way; others, watches and catches stop.
    """
    spec, condition = split_spec_and_condition(options.text) if options.text else (None, None)
    here = console.session.stop
    stop = console.resume(lambda: console.session.next_success(spec, condition))
    if stop.when == "exit" and here is not None and here.ordinal:
        after = " --after" if here.when == "after" else ""
        console.note(f"No attempt succeeded. 'goto #{here.ordinal}{after}' goes back.")
    return stop


class FinishOptions(Options):
    count: int = positional("N", default=1, help="the number of levels", parse=values.positive)


@RUNNING.command("finish", aliases=("fin",), repeats=True)
def finish(console: Console, options: FinishOptions) -> Stop:
    """Stop after the parent action; in the outermost one as 'next'."""
    stop = console.session.stop
    if stop is not None and stop.when != "exit" and not stop.depth:
        return console.resume(lambda: console.session.next(options.count))
    return console.resume(lambda: console.session.finish(options.count))


class ApplyOptions(Options):
    count: int = positional(
        "N",
        default=1,
        help="the number of hits, this stop included, at which to do so",
        parse=values.positive,
    )


class SkipOptions(ApplyOptions):
    step: bool = flag(help="stop at the next event instead: the end of the skipped action")


@RUNNING.command("skip", example="skip --step", repeats=True, needs_tool="Skipping actions")
def skip(console: Console, options: SkipOptions) -> Stop:
    """Skip this action and continue to the next breakpoint."""
    return console.resume(lambda: console.live_session().skip(options.count, step=options.step))


@RUNNING.command("apply", repeats=True, needs_tool="Applying actions")
def apply(console: Console, options: ApplyOptions) -> Stop:
    """Apply this action and continue to the next breakpoint."""
    return console.resume(lambda: console.live_session().apply(options.count))


class PlaceOptions(Options):
    text: str = rest("SPEC [if EXPR]", required=True, complete=completers.spec)


class SelectionOptions(PlaceOptions):
    """The actions at which to stop, and whether before or after them."""

    after: bool = flag(help="stop after the action, not before it")
    outcome: tuple[str, ...] = option(
        "OUTCOME,...",
        help="stop after the action if its outcome is one of succeeded, failed, changed, "
        "unchanged, skipped or reason:GLOB",
        common=(*get_args(ResultFilter), "reason:"),
    )

    def stop(self, stops: Callable[..., Stops]) -> Stops:
        """Call a method of the session that takes a selection."""
        spec, condition = split_spec_and_condition(self.text)
        outcome = ",".join(self.outcome) or None
        return stops(spec, condition, after=self.after, outcome=outcome)


@RUNNING.command("until", example="until op:arith.*", aliases=("u",))
def until(console: Console, options: SelectionOptions) -> Stop:
    """Continue to the next action that matches SPEC, at most to the end of the parent action."""
    return _to_place(console, options, console.session.until)


@RUNNING.command("advance", example="advance pass:cse")
def advance(console: Console, options: SelectionOptions) -> Stop:
    """Continue to the next action that matches SPEC."""
    return _to_place(console, options, console.session.advance)


def _to_place(console: Console, options: SelectionOptions, go: Callable[..., Stop]) -> Stop:
    """Continue to a place; report names that are not known, and an end without such an action."""
    console.need_stop()
    spec, _ = split_spec_and_condition(options.text)
    names = console.session.names
    unknown = resolve_spec(spec, names).unresolved.clause
    if unknown is not None:
        reason = f"{unknown[0].upper()}{unknown[1:]}".removesuffix("?")
        reason += "?" if unknown.endswith("?") else "."
        if names.is_complete:
            raise UsageError(reason)
        if not console.confirms("Continue in search of it?", reason):
            raise UsageError("Stayed at this stop.")
        console.note(reason)
    stop = console.resume(lambda: options.stop(go))
    if stop.when == "exit":
        outcome = f" with the outcome {','.join(options.outcome)}" if options.outcome else ""
        console.note(f"No action matched {options.text.strip()}{outcome}.")
    return stop
