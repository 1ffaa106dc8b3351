"""Commands that go back in time, and on again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actiondbg.commands.interpreter.declaration import (
    Arguments,
    arg,
    command,
    count_argument,
    flag,
    ordinal,
    positive,
    subject,
)
from actiondbg.commands.render.results import CheckpointsShown, Text
from actiondbg.commands.shell.breakpoints import DELETE
from actiondbg.commands.shell.info import INFO

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Front

TRAVEL = "Going back in time"
_FREEZES = "there is no process in it to be frozen, and goto goes anywhere"
_SKIPS = "actions cannot be skipped in it"


@command(
    "goto",
    TRAVEL,
    "Go back, or on, to before action N, or to after it; nothing else stops the tool on the way.",
    "goto #17 --after",
    arg("ordinal", type=ordinal, metavar="#N", help="the action"),
    flag("--after", "to after it"),
)
def goto(front: Front, args: Arguments) -> Any:
    when = "after" if args.after else "before"
    return front.resume(lambda: front.session.goto(args.ordinal, when))


@command(
    "reverse-step",
    TRAVEL,
    "Go back to the event before: the beginning or the end of an action.",
    "reverse-step 5",
    count_argument(),
    aliases=("rs",),
    repeats=True,
)
def reverse_step(front: Front, args: Arguments) -> Any:
    return front.resume(lambda: front.session.reverse_step(args.count))


@command(
    "reverse-next",
    TRAVEL,
    "Go back to before this action; when already before it, to after the one before it that is "
    "not nested.",
    "reverse-next",
    count_argument(),
    aliases=("rn",),
    repeats=True,
)
def reverse_next(front: Front, args: Arguments) -> Any:
    return front.resume(lambda: front.session.reverse_next(args.count))


@command(
    "reverse-finish",
    TRAVEL,
    "Go back to before the parent action.",
    "reverse-finish",
    count_argument("how many levels"),
    aliases=("rf", "rfin"),
    repeats=True,
)
def reverse_finish(front: Front, args: Arguments) -> Any:
    return front.resume(lambda: front.session.reverse_finish(args.count))


@command(
    "reverse-continue",
    TRAVEL,
    "Go back to the newest hit of a breakpoint, a watch or a catch before here, or to the Nth.",
    "reverse-continue 3",
    count_argument("how many hits to go back"),
    aliases=("rc",),
    repeats=True,
)
def reverse_continue(front: Front, args: Arguments) -> Any:
    return front.resume(lambda: front.session.reverse_continue(args.count))


@command(
    "checkpoint",
    TRAVEL,
    "Freeze a copy of the tool here; 'restart N' goes back to it.",
    "checkpoint",
    needs_tool=_FREEZES,
)
def checkpoint(front: Front, _: Arguments) -> Any:
    return front.tool().checkpoint()


@subject(
    INFO,
    "checkpoints",
    "List the checkpoints of this run.",
    "info checkpoints",
    needs_tool=_FREEZES,
)
def info_checkpoints(front: Front, _: Arguments) -> Any:
    session = front.tool()
    return CheckpointsShown(session.checkpoints(), session.automatic_checkpoints())


@subject(
    DELETE,
    "checkpoint",
    "Forget a checkpoint.",
    "delete checkpoint 1",
    arg("number", type=positive, metavar="N", help="its number", complete="checkpoint"),
    needs_tool=_FREEZES,
)
def delete_checkpoint(front: Front, args: Arguments) -> Any:
    front.tool().delete_checkpoint(args.number)


@subject(
    INFO,
    "timeline",
    "Tell where the tool stands, what is skipped, and where timelines branch.",
    "info timeline",
)
def info_timeline(front: Front, _: Arguments) -> Any:
    return front.session.timeline()


@command(
    "load",
    TRAVEL,
    "Skip in this run and in later ones what 'save skips' has saved.",
    "load skips my.skips",
    needs_tool=_SKIPS,
)
def load(_: Front, __: Arguments) -> Any:
    """Do nothing: a word has to follow, and is a subject."""


@subject(
    "load",
    "skips",
    "Skip these actions again when they come; one that is not there ends the replay.",
    "load skips my.skips",
    arg("file", metavar="FILE", help="what 'save skips' wrote", complete="file"),
    needs_tool=_SKIPS,
)
def load_skips(front: Front, args: Arguments) -> Any:
    count = front.tool().load_skips(args.file)
    return Text(f"Loaded {count} skip{'s'[: count != 1]} from {args.file}.")


@subject(
    "save",
    "skips",
    "Write what is skipped on this timeline into a file that 'load skips' reads.",
    "save skips my.skips",
    arg("file", metavar="FILE", help="the file", complete="file"),
    needs_tool=_SKIPS,
)
def save_skips(front: Front, args: Arguments) -> Any:
    count = front.tool().save_skips(args.file)
    return Text(f"Saved {count} skip{'s'[: count != 1]} to {args.file}.")
