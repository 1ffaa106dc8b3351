"""Commands that go back in time, and on again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from actiondbg.commands.interpreter import completers, values
from actiondbg.commands.interpreter.declaration import Topic
from actiondbg.commands.interpreter.options import (
    Flag,
    NoOptions,
    Options,
    Positional,
)
from actiondbg.commands.render.info import Text
from actiondbg.commands.render.time_travel import CheckpointsShown

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Console
    from actiondbg.process.checkpoints import Checkpoint
    from actiondbg.process.stop import Stop
    from actiondbg.process.timeline import Timeline

TIME_TRAVEL = Topic("Going back in time")
_FREEZES = "A checkpoint"
_SKIPS = "Skipping actions"


class GotoOptions(Options):
    """The options of ``goto``."""

    ordinal: Annotated[int, Positional("#N", help="the action", parse=values.ordinal)]
    after: Annotated[bool, Flag("--after", help="to after it")] = False


@TIME_TRAVEL.command("goto", example="goto #17 --after")
def goto(console: Console, options: GotoOptions) -> Stop:
    """Go back, or on, to before action N, or to after it; nothing else stops the tool on the
    way.
    """
    when = "after" if options.after else "before"
    return console.resume(lambda: console.session.timeline.goto(options.ordinal, when))


class ReverseOptions(Options):
    """The options of ``reverse-step`` and ``reverse-next``."""

    count: Annotated[int, Positional("N", help="how often", parse=values.positive)] = 1


@TIME_TRAVEL.command("reverse-step", example="reverse-step 5", aliases=("rs",), repeats=True)
def reverse_step(console: Console, options: ReverseOptions) -> Stop:
    """Go back to the event before: the beginning or the end of an action."""
    return console.resume(lambda: console.session.timeline.reverse_step(options.count))


@TIME_TRAVEL.command("reverse-next", example="reverse-next", aliases=("rn",), repeats=True)
def reverse_next(console: Console, options: ReverseOptions) -> Stop:
    """Go back to before this action; when already before it, to after the one before it that is not
    nested.
    """
    return console.resume(lambda: console.session.timeline.reverse_next(options.count))


class ReverseFinishOptions(Options):
    """The options of ``reverse-finish``."""

    count: Annotated[int, Positional("N", help="how many levels", parse=values.positive)] = 1


@TIME_TRAVEL.command(
    "reverse-finish", example="reverse-finish", aliases=("rf", "rfin"), repeats=True
)
def reverse_finish(console: Console, options: ReverseFinishOptions) -> Stop:
    """Go back to before the parent action."""
    return console.resume(lambda: console.session.timeline.reverse_finish(options.count))


class ReverseContinueOptions(Options):
    """The options of ``reverse-continue``."""

    count: Annotated[
        int, Positional("N", help="how many hits to go back", parse=values.positive)
    ] = 1


@TIME_TRAVEL.command(
    "reverse-continue", example="reverse-continue 3", aliases=("rc",), repeats=True
)
def reverse_continue(console: Console, options: ReverseContinueOptions) -> Stop:
    """Go back to the newest hit of a breakpoint, a watch or a catch before here, or to the Nth."""
    return console.resume(lambda: console.session.timeline.reverse_continue(options.count))


@TIME_TRAVEL.command(
    "checkpoint",
    example="checkpoint",
    needs_tool=_FREEZES,
)
def checkpoint(console: Console, _: NoOptions) -> Checkpoint:
    """Freeze a copy of the tool here; 'restart N' goes back to it."""
    return console.tool().timeline.checkpoints.add()


@TIME_TRAVEL.subcommand(
    "info",
    "checkpoints",
    example="info checkpoints",
    needs_tool=_FREEZES,
)
def info_checkpoints(console: Console, _: NoOptions) -> CheckpointsShown:
    """List the checkpoints of this run."""
    session = console.tool()
    return CheckpointsShown(
        session.timeline.checkpoints.all(), session.timeline.checkpoints.automatic()
    )


class DeleteCheckpointOptions(Options):
    """The options of ``delete checkpoint``."""

    number: Annotated[
        int,
        Positional(
            "N", help="its number", parse=values.positive, complete=completers.checkpoint_numbers
        ),
    ]


@TIME_TRAVEL.subcommand(
    "delete",
    "checkpoint",
    example="delete checkpoint 1",
    needs_tool=_FREEZES,
)
def delete_checkpoint(console: Console, options: DeleteCheckpointOptions) -> None:
    """Forget a checkpoint."""
    console.tool().timeline.checkpoints.delete(options.number)


@TIME_TRAVEL.subcommand("info", "timeline", example="info timeline")
def info_timeline(console: Console, _: NoOptions) -> Timeline:
    """Tell where the tool stands, what is skipped, and where timelines branch."""
    return console.session.timeline.branches()


TIME_TRAVEL.group(
    "load",
    "Skip in this run and in later ones what 'save skips' has saved.",
    example="load skips my.skips",
    needs_tool=_SKIPS,
)


class LoadSkipsOptions(Options):
    """The options of ``load skips``."""

    file: Annotated[
        str, Positional("FILE", help="what 'save skips' wrote", complete=completers.files)
    ]


@TIME_TRAVEL.subcommand("load", "skips", example="load skips my.skips", needs_tool=_SKIPS)
def load_skips(console: Console, options: LoadSkipsOptions) -> Text:
    """Skip these actions again when they come; one that is not there ends the replay."""
    count = console.tool().skips.load(options.file)
    return Text(f"Loaded {count} skip{'s'[: count != 1]} from {options.file}.")


class SaveSkipsOptions(Options):
    """The options of ``save skips``."""

    file: Annotated[str, Positional("FILE", help="the file", complete=completers.files)]


@TIME_TRAVEL.subcommand("save", "skips", example="save skips my.skips", needs_tool=_SKIPS)
def save_skips(console: Console, options: SaveSkipsOptions) -> Text:
    """Write what is skipped on this timeline into a file that 'load skips' reads."""
    count = console.tool().skips.save(options.file)
    return Text(f"Saved {count} skip{'s'[: count != 1]} to {options.file}.")
