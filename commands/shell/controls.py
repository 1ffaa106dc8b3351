"""Commands that start, resume and end the tool, and that travel in time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actiondbg.analysis.pipeline import find_pass
from actiondbg.breakpoints.resolution import resolve_spec
from actiondbg.breakpoints.spec import split_spec_and_condition
from actiondbg.commands.interpreter import completers, values
from actiondbg.commands.interpreter.declaration import Topic
from actiondbg.commands.interpreter.options import NoOptions, Options, flag, positional, rest
from actiondbg.commands.interpreter.words import split_stdio
from actiondbg.commands.render.status import Text
from actiondbg.commands.render.time_travel import CheckpointsShown, SkipRulesShown
from actiondbg.errors import UsageError
from actiondbg.support.counts import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from actiondbg.commands.interpreter.console import Console
    from actiondbg.process.branches import Timeline
    from actiondbg.process.checkpoints import Checkpoint
    from actiondbg.process.stop import Stop
    from actiondbg.session.skip_rules import SkipRule

RUNNING = Topic("Running")
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


@RUNNING.command("until", example="until op:arith.*", aliases=("u",))
def until(console: Console, options: PlaceOptions) -> Stop:
    """Continue to the next action that matches SPEC, at most to the end of the parent action."""
    return _to_place(console, options, console.session.until)


@RUNNING.command("advance", example="advance pass:cse")
def advance(console: Console, options: PlaceOptions) -> Stop:
    """Continue to the next action that matches SPEC."""
    return _to_place(console, options, console.session.advance)


def _to_place(
    console: Console, options: PlaceOptions, go: Callable[[str, str | None], Stop]
) -> Stop:
    """Continue to a place; report names that are not known, and an end without such an action."""
    console.need_stop()
    spec, condition = split_spec_and_condition(options.text)
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
    stop = console.resume(lambda: go(spec, condition))
    if stop.when == "exit":
        console.note(f"No action matched {options.text.strip()}.")
    return stop


TIME_TRAVEL = Topic("Time travel")
_FREEZES = "A checkpoint"
_SKIPS = "Skipping actions"


class GotoOptions(Options):
    place: str = positional(
        "#N|PASS[#N]",
        help="the ordinal of an action, or the Nth run of a pass, by default the first",
        complete=completers.passes,
    )
    after: bool = flag(help="stop after the action")


@TIME_TRAVEL.command("goto", example="goto #17 --after")
def goto(console: Console, options: GotoOptions) -> Stop:
    """Go to action N, or to a run of a pass, backwards or forwards, and stop before it, ignoring
    breakpoints.
    """
    when = "after" if options.after else "before"
    ordinal = _ordinal(console, options.place)
    return console.resume(lambda: console.session.timeline.goto(ordinal, when))


def _ordinal(console: Console, place: str) -> int:
    """Return the ordinal of an action that is given as one, or as a run of a pass."""
    digits = place.removeprefix("#")
    if digits.isdecimal() and int(digits):
        return int(digits)
    if not place or not (place[0].isalpha() or place[0] in "*?[{"):
        raise UsageError(
            f"goto: {place!r} is not an ordinal, such as #17, or a pass, such as canonicalize#2."
        )
    return find_pass(console.session.past.passes(), place)


@TIME_TRAVEL.command("reverse-step", example="reverse-step 5", aliases=("rs",), repeats=True)
def reverse_step(console: Console, options: StepOptions) -> Stop:
    """Step back to the previous event: the beginning or the end of an action."""
    return console.resume(lambda: console.session.timeline.reverse_step(options.count))


@TIME_TRAVEL.command("reverse-next", aliases=("rn",), repeats=True)
def reverse_next(console: Console, options: StepOptions) -> Stop:
    """Go back to the beginning of this action, or, when already there, to the end of the previous
    action that is not nested.
    """
    return console.resume(lambda: console.session.timeline.reverse_next(options.count))


@TIME_TRAVEL.command("reverse-finish", aliases=("rf", "rfin"), repeats=True)
def reverse_finish(console: Console, options: FinishOptions) -> Stop:
    """Go back to the beginning of the parent action; in the outermost one as 'reverse-next'."""
    stop = console.session.stop
    if stop is not None and stop.ordinal and not stop.depth:
        return console.resume(lambda: console.session.timeline.reverse_next(options.count))
    return console.resume(lambda: console.session.timeline.reverse_finish(options.count))


class ReverseContinueOptions(Options):
    count: int = positional("N", default=1, help="the number of hits", parse=values.positive)


@TIME_TRAVEL.command(
    "reverse-continue", example="reverse-continue 3", aliases=("rc",), repeats=True
)
def reverse_continue(console: Console, options: ReverseContinueOptions) -> Stop:
    """Go back to the previous hit of a breakpoint, watch or catch, or to the Nth."""
    return console.resume(lambda: console.session.timeline.reverse_continue(options.count))


@TIME_TRAVEL.command("checkpoint", needs_tool=_FREEZES)
def checkpoint(console: Console, _: NoOptions) -> Checkpoint:
    """Make a checkpoint of the tool; 'restart N' restores it."""
    return console.live_session().timeline.checkpoints.add()


@TIME_TRAVEL.command("info checkpoints", needs_tool=_FREEZES, reads=True)
def info_checkpoints(console: Console, _: NoOptions) -> CheckpointsShown:
    """List the checkpoints."""
    session = console.live_session()
    return CheckpointsShown(
        session.timeline.checkpoints.all(), session.timeline.checkpoints.automatic()
    )


class DeleteCheckpointOptions(Options):
    number: int = positional(
        "N",
        help="the number of a checkpoint",
        parse=values.positive,
        complete=completers.checkpoint_numbers,
    )


@TIME_TRAVEL.command("delete checkpoint", example="delete checkpoint 1", needs_tool=_FREEZES)
def delete_checkpoint(console: Console, options: DeleteCheckpointOptions) -> None:
    """Delete a checkpoint."""
    console.live_session().timeline.checkpoints.delete(options.number)


@TIME_TRAVEL.command("info timeline", reads=True)
def info_timeline(console: Console, _: NoOptions) -> Timeline:
    """Show the branches of the timeline, their skips, and the current event."""
    return console.session.timeline.branches()


TIME_TRAVEL.group(
    "load",
    "Load the skips or the edits that 'save' wrote.",
    example="load skips my.skips",
    needs_tool=_SKIPS,
)


class LoadSkipsOptions(Options):
    file: str = positional("FILE", help="a file written by 'save skips'", complete=completers.files)


@TIME_TRAVEL.command("load skips", example="load skips my.skips", needs_tool=_SKIPS)
def load_skips(console: Console, options: LoadSkipsOptions) -> Text:
    """Skip the actions of a file written by 'save skips', in this run and in later ones."""
    count = console.live_session().skips.load(options.file)
    return Text(f"Loaded {counted(count, 'skip')} from {options.file}.")


class SaveSkipsOptions(Options):
    file: str = positional("FILE", help="the file to write", complete=completers.files)


@TIME_TRAVEL.command("save skips", example="save skips my.skips", needs_tool=_SKIPS)
def save_skips(console: Console, options: SaveSkipsOptions) -> Text:
    """Write the skips of this branch to a file for 'load skips'."""
    count = console.live_session().skips.save(options.file)
    return Text(f"Saved {counted(count, 'skip')} to {options.file}.")


@TIME_TRAVEL.command(
    "set skip", example="set skip pattern:AddIAdd*", needs_tool=_SKIPS, abbreviates=False
)
def set_skip(console: Console, options: PlaceOptions) -> SkipRule:
    """Skip every action that matches SPEC, from this stop on and in later runs."""
    spec, condition = split_spec_and_condition(options.text)
    session = console.live_session()
    unknown = resolve_spec(spec, session.names).unresolved.clause
    rule = session.skips.rules.add(spec, condition)
    if unknown is not None:
        console.note(f"Pending: {unknown}.".replace("?.", "?"))
    stop = console.session.stop
    if stop is not None and stop.when != "exit" and stop.ordinal > 1:
        console.note("It applies from here on, and to later runs from their beginning.")
    return rule


@TIME_TRAVEL.command("show skip", needs_tool=_SKIPS, abbreviates=False, reads=True)
def show_skip(console: Console, _: NoOptions) -> SkipRulesShown:
    """List the rules of 'set skip'."""
    return SkipRulesShown(console.live_session().skips.rules.all())


class DeleteSkipOptions(Options):
    ids: tuple[str, ...] = positional(
        "IDS", help="numbers, ranges (2-4) or all (the default)", complete=completers.skip_numbers
    )


@TIME_TRAVEL.command("delete skip", example="delete skip 1", needs_tool=_SKIPS)
def delete_skip(console: Console, options: DeleteSkipOptions) -> None:
    """Delete rules of 'set skip', from this stop on."""
    rules = console.live_session().skips.rules
    existing = [rule.id for rule in rules.all()]
    rules.remove(values.parse_numbers(options.ids, existing, "skip rule"))
