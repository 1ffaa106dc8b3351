"""Commands that start the tool and let it run to the next stop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actiondbg.breakpoints.spec import split_spec_and_condition
from actiondbg.commands.interpreter.declaration import (
    Arguments,
    arg,
    command,
    count_argument,
    positive,
)
from actiondbg.commands.interpreter.words import split_stdio
from actiondbg.commands.render.results import Text

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Front

RUNNING = "Running"
_ARGS = "[ARGS] [< IN] [> OUT] [2> ERR]"


@command(
    "run",
    RUNNING,
    "Start the tool, again if it runs already, and go on to a breakpoint or its end.",
    "run in.mlir --canonicalize > out.mlir",
    raw=_ARGS,
    complete="file",
    aliases=("r",),
)
def run(front: Front, args: Arguments) -> Any:
    stdio = split_stdio(args.text)
    return front.resume(
        lambda: front.session.run(
            stdio.arguments, stdin=stdio.stdin, stdout=stdio.stdout, stderr=stdio.stderr
        )
    )


@command(
    "start",
    RUNNING,
    "Start the tool and stop before its first action.",
    "start",
    raw=_ARGS,
    complete="file",
)
def start(front: Front, args: Arguments) -> Any:
    stdio = split_stdio(args.text)
    return front.resume(
        lambda: front.session.start(
            stdio.arguments, stdin=stdio.stdin, stdout=stdio.stdout, stderr=stdio.stderr
        )
    )


@command(
    "restart",
    RUNNING,
    "Start the tool again as it was started last, breakpoints are kept; with N, go back to a "
    "checkpoint.",
    "restart 1",
    arg(
        "checkpoint",
        nargs="?",
        type=positive,
        metavar="N",
        help="a checkpoint; without it, the start",
        complete="checkpoint",
    ),
)
def restart(front: Front, args: Arguments) -> Any:
    number: int | None = args.checkpoint
    if number is None:
        return front.resume(front.session.restart)
    tool = front.tool("it has no checkpoints")
    return front.resume(lambda: tool.restart_from(number))


@command(
    "kill",
    RUNNING,
    "End the tool; breakpoints are kept.",
    "kill",
    needs_tool="no tool runs that could be ended",
)
def kill(front: Front, _: Arguments) -> Any:
    session = front.tool()
    if session.state not in ("stopped", "running"):
        return Text("The tool is not running.")
    session.kill()
    return Text("The tool was killed.")


@command(
    "continue",
    RUNNING,
    "Go on to the next breakpoint, or to the Nth from here.",
    "continue 3",
    count_argument("how many breakpoints to go on to"),
    aliases=("c", "cont"),
    repeats=True,
)
def continue_(front: Front, args: Arguments) -> Any:
    return front.resume(lambda: front.session.continue_(args.count))


@command(
    "step",
    RUNNING,
    "Stop at the very next event: in a nested action, after this one, or before the next.",
    "step 5",
    count_argument(),
    aliases=("s",),
    repeats=True,
)
def step(front: Front, args: Arguments) -> Any:
    return front.resume(lambda: front.session.step(args.count))


@command(
    "next",
    RUNNING,
    "Stop after this action; when already after it, before the next one that is not nested.",
    "next",
    count_argument(),
    aliases=("n", "ne", "nex"),  # though next-change begins so too
    repeats=True,
)
def next_(front: Front, args: Arguments) -> Any:
    return front.resume(lambda: front.session.next(args.count))


@command(
    "next-change",
    RUNNING,
    "Go on to the next action that changes the IR by itself, and stop after it.",
    "next-change",
    count_argument("how many such actions"),
    aliases=("nc",),
    repeats=True,
)
def next_change(front: Front, args: Arguments) -> Any:
    return front.resume(lambda: front.session.next_change(args.count))


@command(
    "finish",
    RUNNING,
    "Stop after the parent action.",
    "finish",
    count_argument("how many levels"),
    aliases=("fin",),
    repeats=True,
)
def finish(front: Front, args: Arguments) -> Any:
    return front.resume(lambda: front.session.finish(args.count))


@command(
    "skip",
    RUNNING,
    "Go on to the next breakpoint without this action.",
    "skip",
    count_argument("do it at so many breakpoints"),
    repeats=True,
    needs_tool="actions cannot be skipped in it",
)
def skip(front: Front, args: Arguments) -> Any:
    return front.resume(lambda: front.tool().skip(args.count))


@command(
    "apply",
    RUNNING,
    "Go on to the next breakpoint with this action.",
    "apply",
    count_argument("do it at so many breakpoints"),
    repeats=True,
    needs_tool="actions cannot be applied anew in it",
)
def apply(front: Front, args: Arguments) -> Any:
    return front.resume(lambda: front.tool().apply(args.count))


@command(
    "until",
    RUNNING,
    "Go on to an action that SPEC matches, but no further than the end of the parent action.",
    "until op:arith.*",
    raw="SPEC [if EXPR]",
    needs_text=True,
    complete="spec",
    aliases=("u",),
)
def until(front: Front, args: Arguments) -> Any:
    spec, condition = split_spec_and_condition(args.text)
    return front.resume(lambda: front.session.until(spec, condition))


@command(
    "advance",
    RUNNING,
    "Go on to the next action that SPEC matches, wherever it is.",
    "advance pass:cse",
    raw="SPEC [if EXPR]",
    needs_text=True,
    complete="spec",
)
def advance(front: Front, args: Arguments) -> Any:
    spec, condition = split_spec_and_condition(args.text)
    return front.resume(lambda: front.session.advance(spec, condition))
