"""Commands that travel in time: steps back, checkpoints, and what is skipped on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from actiondbg.analysis.pipeline import find_pass
from actiondbg.breakpoints.resolution import resolve_spec
from actiondbg.breakpoints.spec import split_spec_and_condition
from actiondbg.commands.interpreter import completers, values
from actiondbg.commands.interpreter.declaration import Topic
from actiondbg.commands.interpreter.options import NoOptions, Options, flag, positional
from actiondbg.commands.render.actions import describe
from actiondbg.commands.render.renderer import RenderContext, renders
from actiondbg.commands.render.status import Text
from actiondbg.commands.shell.controls import (
    FinishOptions,
    PlaceOptions,
    StepOptions,
)
from actiondbg.errors import UsageError
from actiondbg.process.branches import Branch, Skipped, Timeline
from actiondbg.process.checkpoints import Automatic, Checkpoint
from actiondbg.session.skip_rules import SkipRule
from actiondbg.support.counts import counted

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Console
    from actiondbg.process.stop import Stop

TIME_TRAVEL = Topic("Time travel", contained=True)
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


@TIME_TRAVEL.command(
    "load skips", example="load skips my.skips", needs_tool=_SKIPS, contained=False
)
def load_skips(console: Console, options: LoadSkipsOptions) -> Text:
    """Skip the actions of a file written by 'save skips', in this run and in later ones."""
    count = console.live_session().skips.load(options.file)
    return Text(f"Loaded {counted(count, 'skip')} from {options.file}.")


class SaveSkipsOptions(Options):
    file: str = positional("FILE", help="the file to write", complete=completers.files)


@TIME_TRAVEL.command(
    "save skips", example="save skips my.skips", needs_tool=_SKIPS, contained=False
)
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


# --- the text of checkpoints, timelines and skip rules ---


_MOST_SKIPS = 5  # shown of a branch


class CheckpointsShown(msgspec.Struct):
    """The user's checkpoints, and statistics of the automatic ones."""

    checkpoints: list[Checkpoint]
    automatic: Automatic


class SkipRulesShown(msgspec.Struct):
    rules: list[SkipRule]


def rules_text(_: RenderContext, shown: SkipRulesShown) -> str:
    if not shown.rules:
        return "There are no skip rules."
    return "\n".join(f"{rule.id}: {rule.text}" for rule in shown.rules)


def checkpoints_text(_: RenderContext, shown: CheckpointsShown) -> str:
    branches = {one.branch for one in shown.checkpoints}
    lines = [
        f"{one.number}: {_place(one)}" + (f", branch {one.branch}" if branches != {1} else "")
        for one in shown.checkpoints
    ]
    automatic = shown.automatic
    if automatic.count:
        lines.append(
            f"Automatic checkpoints: {automatic.count} ({automatic.bytes / (1 << 20):.0f} MB)."
        )
    return "\n".join(lines or ["There are no checkpoints."])


def _place(made: Checkpoint) -> str:
    if made.when == "during":
        return f"inside {describe(made)}" if made.ordinal else "outside of any action"
    return f"{made.when} {describe(made)}"


def timeline_text(_: RenderContext, timeline: Timeline) -> str:
    lines = [
        f"{'*' if one.number == timeline.current else ' '} {_branch(one)}"
        for one in timeline.branches
    ]
    return "\n".join([*lines, _here(timeline)])


def _branch(branch: Branch) -> str:
    reached = f"{'ended after' if branch.ended else 'reached'} #{branch.actions}"
    if branch.parent is not None:
        reached = f"leaves branch {branch.parent} at #{branch.ordinal}, {reached}"
    skips = f"; skips {_skips(branch.skips)}" if branch.skips else ""
    edits = ", ".join(f"{one.target} {one.when} #{one.ordinal}" for one in branch.edits)
    edits = f"; edits {edits}" if edits else ""
    return f"branch {branch.number}: {reached}{skips}{edits}"


def _skips(skips: list[Skipped]) -> str:
    shown = [f"#{one.ordinal} {one.tag} ({one.name or 'nameless'})" for one in skips]
    more = len(shown) - _MOST_SKIPS
    return ", ".join(shown[:_MOST_SKIPS]) + (f" and {more} more" if more > 0 else "")


def _here(timeline: Timeline) -> str:
    if timeline.when is None:
        return "The tool is running."
    if timeline.when == "exit":
        return "The tool has ended."
    where = "inside" if timeline.when == "during" else timeline.when
    return f"The tool is {where} #{timeline.ordinal}, at event {timeline.event}."


def _timeline_object(timeline: Timeline) -> object:
    found = msgspec.to_builtins(timeline)
    for branch in found["branches"]:
        del branch["spans"], branch["created"]  # for the agent, and for names
        for edited in branch["edits"]:
            del edited["edit"]["path"]
    return found


renders(Checkpoint, lambda _, made: f"Checkpoint {made.number}, {_place(made)}")
renders(CheckpointsShown, checkpoints_text)
renders(Timeline, timeline_text, _timeline_object)
renders(SkipRule, lambda _, rule: f"Skip rule {rule.id}: {rule.text}")
renders(SkipRulesShown, rules_text)
