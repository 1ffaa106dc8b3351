"""Commands about breakpoints."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from actiondbg.breakpoints.spec import location_spec, split_spec_and_condition
from actiondbg.commands.interpreter.declaration import Arguments, arg, command, flag, index, subject
from actiondbg.commands.render.results import Breakpoints, Text
from actiondbg.errors import UsageError

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Front

BREAKPOINTS = "Breakpoints"
DELETE = "delete"
_AFTER = flag("--after", "stop after the action, not before it")
_OUTCOME = arg(
    "--outcome",
    action="append",
    metavar="OUTCOME,...",
    help="stop after the action if it succeeded, failed, changed, unchanged, skipped (one suffices)"
    " or gave a reason:GLOB",
    words=("succeeded", "failed", "changed", "unchanged", "skipped", "reason:"),
)
_ID = arg("id", type=index, metavar="ID", help="a breakpoint's number", complete="breakpoint")
_IDS = arg(
    "ids",
    nargs="*",
    metavar="IDS",
    help="numbers, ranges (2-4), or all; nothing means all; $_ is the newest",
    complete="breakpoint",
)


def parse_ids(front: Front, words: list[str]) -> list[int]:
    """Return the breakpoint ids that numbers, ranges and ``all`` mean.

    Raises:
        UsageError: a word is none of these, or a breakpoint does not exist.
    """
    existing = [breakpoint.id for breakpoint in front.session.breakpoints]
    return parse_numbers(words, existing, "breakpoint")


def parse_numbers(words: list[str], existing: Iterable[int], what: str) -> list[int]:
    """Return those of the existing numbers that words mean; see parse_ids."""
    existing = list(existing)
    if not words or words == ["all"]:
        return existing
    numbers: list[int] = []
    for word in words:
        first, dash, last = word.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise UsageError(f"{word!r} is not a {what} number, a range such as 2-4, or all.")
        if not dash and int(first) not in existing:
            known = ", ".join(map(str, existing)) or "none yet"
            raise UsageError(f"There is no {what} {first}: there are {known}.")
        numbers += [n for n in existing if int(first) <= n <= int(last or first)]
    return list(dict.fromkeys(numbers))


def _add(front: Front, args: Arguments, *, temporary: bool) -> Any:
    spec, condition = split_spec_and_condition(args.text)
    outcome = ",".join(args.outcome) if args.outcome else None
    return front.session.add_breakpoint(
        spec, condition, temporary=temporary, after=args.after, outcome=outcome
    )


@command(
    "break",
    BREAKPOINTS,
    "Stop before (or after) every action that SPEC matches; 'help spec' tells what SPEC can be.",
    "break pattern:Fold* and func:main if depth > 2",
    _AFTER,
    _OUTCOME,
    raw="SPEC [if EXPR]",
    needs_text=True,
    complete="spec",
    aliases=("b", "br", "bre", "brea"),  # as in gdb, though break-on-tag begins so too
)
def break_(front: Front, args: Arguments) -> Any:
    return _add(front, args, temporary=False)


@command(
    "tbreak",
    BREAKPOINTS,
    "Set a breakpoint that is deleted when it is hit.",
    "tbreak pass:canonicalize",
    _AFTER,
    _OUTCOME,
    raw="SPEC [if EXPR]",
    needs_text=True,
    complete="spec",
)
def tbreak(front: Front, args: Arguments) -> Any:
    return _add(front, args, temporary=True)


@command(
    "break-on-tag",
    BREAKPOINTS,
    "Stop before every action of a tag.",
    "break-on-tag apply-pattern",
    arg("tag", metavar="TAG", help="a tag, or a glob", complete="tag"),
)
def break_on_tag(front: Front, args: Arguments) -> Any:
    return front.session.add_breakpoint(f"tag:{args.tag}")


@command(
    "break-on-file",
    BREAKPOINTS,
    "Stop before every action about an operation of a place in a file.",
    "break-on-file in.mlir:12:5",
    arg("place", metavar="FILE[:LINE[:COL]]", help="a file location", complete="file"),
)
def break_on_file(front: Front, args: Arguments) -> Any:
    match = re.fullmatch(r"(.+?)(?::(\d+))?(?::(\d+))?", args.place)
    path, line, column = match.groups() if match else (args.place, None, None)
    spec = location_spec(path, int(line) if line else None, int(column) if column else None)
    return front.session.add_breakpoint(spec)


@command(
    "condition",
    BREAKPOINTS,
    "Make a breakpoint stop only where EXPR holds; without EXPR, always.",
    "condition 1 depth > 2 and name ~ 'Fold*'",
    raw="ID [EXPR]",
    needs_text=True,
    complete="breakpoint",
)
def condition(front: Front, args: Arguments) -> Any:
    word, _, expression = args.text.partition(" ")
    breakpoint = front.session.breakpoint(_number(word))
    front.session.set_condition(breakpoint.id, expression.strip() or None)
    return front.session.breakpoint(breakpoint.id)


def _number(word: str) -> int:
    if not word.isdecimal():
        raise UsageError(f"{word!r} is not a breakpoint's number.")
    return int(word)


@command(
    "ignore",
    BREAKPOINTS,
    "Let the next N hits of a breakpoint pass.",
    "ignore 1 20",
    _ID,
    arg("count", type=index, metavar="N", help="how many hits"),
)
def ignore(front: Front, args: Arguments) -> Any:
    front.session.set_ignore(args.id, args.count)
    return front.session.breakpoint(args.id)


@command(
    "commands",
    BREAKPOINTS,
    "Run the lines up to 'end' at every stop of a breakpoint (the last one without ID); "
    "a first line 'silent' keeps the stop from being printed.",
    "commands 1",
    arg("id", type=index, nargs="?", metavar="ID", help="its number", complete="breakpoint"),
    redirects=False,
)
def commands(front: Front, args: Arguments) -> Any:
    existing = front.session.breakpoints
    if args.id is None and not existing:
        raise UsageError("There is no breakpoint: set one with 'break'.")
    number = existing[-1].id if args.id is None else front.session.breakpoint(args.id).id
    front.session.set_commands(number, front.interpreter.block())
    return None


@command("enable", BREAKPOINTS, "Let breakpoints stop again.", "enable 2-4", _IDS)
def enable(front: Front, args: Arguments) -> Any:
    front.session.enable(parse_ids(front, args.ids))


@command(
    "disable",
    BREAKPOINTS,
    "Keep breakpoints, but do not stop at them.",
    "disable 1 3",
    _IDS,
    aliases=("dis", "disa"),  # as in gdb, though display begins so too
)
def disable(front: Front, args: Arguments) -> Any:
    front.session.disable(parse_ids(front, args.ids))


@command(DELETE, BREAKPOINTS, "Delete breakpoints.", "delete all", _IDS, aliases=("d",))
def delete(front: Front, args: Arguments) -> Any:
    front.session.delete_breakpoints(parse_ids(front, args.ids))


@command(
    "list",
    BREAKPOINTS,
    "List breakpoints, watches and catches with their hits, as 'info breakpoints' does.",
    "list",
    aliases=("l",),
)
def list_(front: Front, _: Arguments) -> Any:
    return list_breakpoints(front)


def list_breakpoints(front: Front) -> Breakpoints:
    """Return all breakpoints with their newest hits."""
    if front.session.state == "stopped":
        front.session.hits()
    return Breakpoints(list(front.session.breakpoints))


@command(
    "save",
    BREAKPOINTS,
    "Write the breakpoints, or what was skipped, into a file.",
    "save breakpoints my.adbg",
)
def save(_: Front, __: Arguments) -> Any:
    """Do nothing: a word has to follow, and is a subject."""


@subject(
    "save",
    "breakpoints",
    "Write the breakpoints into a script that 'source' reads.",
    "save breakpoints my.adbg",
    arg("file", metavar="FILE", help="the script", complete="file"),
)
def save_breakpoints(front: Front, args: Arguments) -> Any:
    front.session.save_breakpoints(args.file)
    return Text(f"Saved {len(front.session.breakpoints)} breakpoints to {args.file}.")
