"""Commands that set, list and change breakpoints, watches, catches and displays."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from actiondbg.breakpoints.breakpoint import Breakpoint
from actiondbg.breakpoints.spec import location_spec, split_spec_and_condition
from actiondbg.breakpoints.targets import EVENTS, TARGETS, split_catch
from actiondbg.commands.interpreter import completers, values
from actiondbg.commands.interpreter.declaration import Topic
from actiondbg.commands.interpreter.interpreter import run_display
from actiondbg.commands.interpreter.options import Options, flag, positional, rest
from actiondbg.commands.render.ir import Block
from actiondbg.commands.render.renderer import RenderContext, renders
from actiondbg.commands.render.status import Display, Displayed, Displays, Text
from actiondbg.commands.render.tables import wrapped
from actiondbg.commands.shell.controls import RUNNING, SelectionOptions
from actiondbg.commands.shell.ir import AROUND, PRINTING, with_input_file
from actiondbg.errors import ActiondbgError, NoSuchUnit, UnitErased, UsageError
from actiondbg.support.counts import counted, plural

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Console

BREAKPOINTS = Topic("Breakpoints", contained=True)


def parse_ids(console: Console, words: Sequence[str]) -> list[int]:
    """Return the breakpoint ids given as numbers, ranges and ``all``.

    Raises:
        UsageError: a word is none of these, or a breakpoint does not exist.
    """
    existing = [breakpoint.id for breakpoint in console.session.breakpoints.all()]
    return values.parse_numbers(words, existing, "breakpoint")


@BREAKPOINTS.command(
    "break",
    example="break pattern:Fold* and func:main if depth > 2",
    aliases=("b", "br", "bre", "brea"),  # as in gdb, although also prefixes of break-on-tag
)
def break_(console: Console, options: SelectionOptions) -> Breakpoint:
    """Set a breakpoint at actions that match SPEC, described by 'help spec'."""
    return options.stop(console.session.breakpoints.add)


@BREAKPOINTS.command("tbreak", example="tbreak pass:canonicalize")
def tbreak(console: Console, options: SelectionOptions) -> Breakpoint:
    """Set a temporary breakpoint, which is deleted at its first hit."""
    return options.stop(partial(console.session.breakpoints.add, temporary=True))


class BreakOnTagOptions(Options):
    tag: str = positional("TAG", help="a tag, or a glob", complete=completers.tags)


@BREAKPOINTS.command("break-on-tag", example="break-on-tag apply-pattern")
def break_on_tag(console: Console, options: BreakOnTagOptions) -> Breakpoint:
    """Set a breakpoint at actions with a tag."""
    return console.session.breakpoints.add(f"tag:{options.tag}")


class BreakOnFileOptions(Options):
    place: str = positional(
        "FILE[:LINE[:COL]]|LINE[:COL]", help="a file location", complete=completers.locations
    )


@BREAKPOINTS.command("break-on-file", example="break-on-file in.mlir:12:5")
def break_on_file(console: Console, options: BreakOnFileOptions) -> Breakpoint:
    """Set a breakpoint at actions on operations of a file location."""
    place = with_input_file(console, options.place)
    match = re.fullmatch(r"(.+?)(?::(\d+))?(?::(\d+))?", place)
    path, line, column = match.groups() if match else (place, None, None)
    spec = location_spec(path, int(line) if line else None, int(column) if column else None)
    return console.session.breakpoints.add(spec)


class ConditionOptions(Options):
    text: str = rest("ID [EXPR]", required=True, complete=completers.breakpoint_numbers)


@BREAKPOINTS.command("condition", example="condition 1 depth > 2 and name ~ 'Fold*'")
def condition(console: Console, options: ConditionOptions) -> Breakpoint:
    """Set the condition of a breakpoint; without EXPR, remove it."""
    word, _, expression = options.text.partition(" ")
    if not word.isdecimal():
        raise UsageError(f"{word!r} is not a breakpoint number: 'list' shows them.")
    breakpoint = console.session.breakpoints.get(int(word))
    console.session.breakpoints.set_condition(breakpoint.id, expression.strip() or None)
    return console.session.breakpoints.get(breakpoint.id)


class IgnoreOptions(Options):
    id: int = positional(
        "ID",
        help="the number of a breakpoint",
        parse=values.index,
        complete=completers.breakpoint_numbers,
    )
    count: int = positional("N", help="the number of hits to ignore", parse=values.index)


@BREAKPOINTS.command("ignore", example="ignore 1 20")
def ignore(console: Console, options: IgnoreOptions) -> Ignored:
    """Ignore the next N hits of a breakpoint."""
    console.session.breakpoints.set_ignore(options.id, options.count)
    return Ignored(console.session.breakpoints.get(options.id))


class CommandsOptions(Options):
    ids: tuple[str, ...] = positional(
        "IDS",
        help="numbers, ranges (2-4) or all; by default the newest breakpoint",
        complete=completers.breakpoint_numbers,
    )


@BREAKPOINTS.command("commands", example="commands 1", redirects=False, contained=False)
def commands(console: Console, options: CommandsOptions) -> None:
    """Run the following lines up to 'end' whenever a breakpoint is hit; if the first line is
    'silent', the stop is not printed.
    """
    existing = console.session.breakpoints.all()
    if not existing:
        raise UsageError("There is no breakpoint: set one with 'break'.")
    ids = parse_ids(console, options.ids) if options.ids else [existing[-1].id]
    if console.interpreter.typed and not console.json:
        kind = plural("breakpoint", len(ids))
        console.out.write(
            f"Type commands for {kind} {', '.join(map(str, ids))}, one per line.\n"
            'End with a line saying just "end".\n'
        )
    lines = console.interpreter.block()
    for number in ids:
        console.session.breakpoints.set_commands(number, lines)


class NumbersOptions(Options):
    ids: tuple[str, ...] = positional(
        "IDS",
        help="numbers, ranges (2-4) or all (the default); $_ is the newest",
        complete=completers.breakpoint_numbers,
    )


@BREAKPOINTS.command("enable", example="enable 2-4")
def enable(console: Console, options: NumbersOptions) -> None:
    """Enable breakpoints."""
    console.session.breakpoints.enable(parse_ids(console, options.ids))


@BREAKPOINTS.command(
    "disable",
    example="disable 1 3",
    aliases=("dis", "disa"),  # as in gdb, although also prefixes of display
)
def disable(console: Console, options: NumbersOptions) -> None:
    """Disable breakpoints without deleting them."""
    console.session.breakpoints.disable(parse_ids(console, options.ids))


@BREAKPOINTS.command("delete", example="delete all", aliases=("d",))
def delete(console: Console, options: NumbersOptions) -> None:
    """Delete breakpoints; at the prompt, ask before all of them are deleted."""
    ids = parse_ids(console, options.ids)
    is_all = options.ids in ((), ("all",))
    if not (is_all and ids) or console.confirms("Delete all breakpoints?"):
        console.session.breakpoints.delete(ids)


class ListOptions(Options):
    place: str | None = rest("%NAME | @ID | @SYMBOL | [FILE:]LINE", complete=completers.ir_places)


@BREAKPOINTS.command("list", example="list @12", aliases=("l",), repeats=True, reads=True)
def list_(console: Console, options: ListOptions) -> Breakpoints | Block:
    """List breakpoints, watches and catches with their hits, or show the IR at a place; then Enter
    shows the lines after them.
    """
    if options.place:
        return console.shown_lines.show(with_input_file(console, options.place), AROUND)
    return list_breakpoints(console)


def list_breakpoints(console: Console) -> Breakpoints:
    """Return all breakpoints with their current hit counts."""
    if console.session.state == "stopped":
        console.session.breakpoints.hits()
    return Breakpoints(list(console.session.breakpoints.all()))


BREAKPOINTS.group(
    "save",
    "Save the breakpoints, the skips or the edits to a file.",
    example="save breakpoints my.adbg",
)


class SaveBreakpointsOptions(Options):
    file: str = positional("FILE", help="the script to write", complete=completers.files)


@BREAKPOINTS.command("save breakpoints", example="save breakpoints my.adbg", contained=False)
def save_breakpoints(console: Console, options: SaveBreakpointsOptions) -> Text:
    """Write the breakpoints to a script for 'source'."""
    console.session.breakpoints.save(options.file)
    count = len(console.session.breakpoints.all())
    return Text(f"Saved {counted(count, 'breakpoint')} to {options.file}.")


class WatchOptions(Options):
    text: str = rest(
        "TARGET [if EXPR]", required=True, complete=completers.watched, forms=lambda: TARGETS
    )
    exact: bool = flag(help="do not follow replacements of the operation")


@BREAKPOINTS.command("watch", example="watch attribute value of cursor")
def watch(console: Console, options: WatchOptions) -> Breakpoint:
    """Stop after actions that change, move, replace or erase what is watched."""
    target, condition = split_spec_and_condition(options.text)
    made = console.session.breakpoints.watch(target, exact=options.exact, condition=condition)
    if made.watch is not None and made.watch.id is not None:
        _note_missing(console, made.watch.id)
    return made


def _note_missing(console: Console, operation: int) -> None:
    """Say that there is no watched operation at this stop, if so."""
    stop = console.session.stop
    if stop is None or stop.created is None or stop.when == "exit":
        return
    if operation > stop.created.operations:
        console.note(f"There is no operation @{operation} yet: its creation will stop.")
        return
    try:
        with console.session.cursor.at(f"@{operation}"):
            return
    except (NoSuchUnit, UnitErased):
        console.note(
            f"There is no operation @{operation} now: reverse-continue finds what happened to it."
        )
    except ActiondbgError:
        return  # as in a recording without IR


class CatchOptions(Options):
    text: str = rest(
        "EVENT [GLOB] [if EXPR]",
        required=True,
        complete=completers.caught,
        forms=lambda: {kind: event.about for kind, event in EVENTS.items()},
    )


@BREAKPOINTS.command("catch", example="catch diagnostic *operand*")
def catch(console: Console, options: CatchOptions) -> Breakpoint:
    """Stop at an event other than the beginning or the end of an action."""
    word, glob, condition = split_catch(options.text)
    kinds = [kind for kind in EVENTS if kind.startswith(word)]
    kind = kinds[0] if len(kinds) == 1 else word
    return console.session.breakpoints.catch(kind, glob, condition=condition)


DISPLAYS = Topic(PRINTING.category)
_REFUSED = ("commands", "display", "py", "quit", "shell", "source", "undisplay")


class DisplayOptions(Options):
    text: str = rest("[COMMAND]", complete=completers.command_line)


@DISPLAYS.command("display", example="display info outcome")
def display(console: Console, options: DisplayOptions) -> Displays | Display | Displayed:
    """Run COMMAND at each stop, including the current one; without COMMAND, list displays."""
    if not options.text:
        return Displays(console.displays.all())
    found = console.interpreter.parse(options.text).command
    # Commands that resume the tool, read more lines or change the displays.
    if found.category == RUNNING.category or found.name in _REFUSED:
        raise UsageError(
            f"{found.name!r} cannot be displayed: attach it to a breakpoint with 'commands'."
        )
    added = console.displays.add(options.text)
    return run_display(console, added) if console.session.state == "stopped" else added


class UndisplayOptions(Options):
    ids: tuple[str, ...] = positional(
        "IDS",
        help="numbers, ranges (2-4) or all (the default)",
        complete=completers.display_numbers,
    )


@DISPLAYS.command("undisplay", example="undisplay 1")
def undisplay(console: Console, options: UndisplayOptions) -> None:
    """Delete displays."""
    existing = [each.id for each in console.displays.all()]
    console.displays.remove(values.parse_numbers(options.ids, existing, "display"))


# --- the text of breakpoints ---


# The fixed JSON interface, independent of further fields of the API.
_KEYS = (
    *("id", "kind", "spec", "condition", "enabled", "temporary", "after", "outcome", "ignore"),
    *("hits", "matched", "commands", "pending"),
)


class Breakpoints(msgspec.Struct):
    breakpoints: list[Breakpoint]


class Ignored(msgspec.Struct):
    """A breakpoint whose next hits will be ignored."""

    breakpoint: Breakpoint


def ignored_text(_: RenderContext, ignored: Ignored) -> str:
    """Return what gdb prints after ``ignore``."""
    id, count = ignored.breakpoint.id, ignored.breakpoint.ignore
    if not count:
        return f"Will stop next time breakpoint {id} is reached."
    crossings = "crossing" if count == 1 else counted(count, "crossing")
    return f"Will ignore next {crossings} of breakpoint {id}."


def breakpoint_text(context: RenderContext, breakpoint: Breakpoint) -> str:
    kind = breakpoint.kind.capitalize()
    if breakpoint.temporary:
        kind = f"Temporary {breakpoint.kind}"
    words = breakpoint.words.removeprefix(f"{breakpoint.kind} ")
    pending = f", pending: {breakpoint.pending}" if breakpoint.pending else ""
    line = f"{kind} {breakpoint.id}: {words}{pending}"
    return line if context.width is None else "\n".join(wrapped(line, context.width))


def breakpoints_text(_: RenderContext, listed: Breakpoints) -> str:
    if not listed.breakpoints:
        return "There are no breakpoints."
    lines = ["id   enabled  hits    what"]
    for each in listed.breakpoints:
        temporary = ", once" if each.temporary else ""
        ignore = f", ignored {counted(each.ignore, 'more time')}" if each.ignore else ""
        enabled = "yes" if each.enabled else "no"
        pending = ", pending" if each.pending else ""
        what = f"{each.words}{temporary}{ignore}{pending}"
        lines.append(f"{each.id:<4} {enabled:<8} {each.hits:<7} {what}")
        lines += [f"{'':<22}{line}" for line in each.commands]
    return "\n".join(lines)


def _breakpoint_object(breakpoint: Breakpoint) -> object:
    return {key: getattr(breakpoint, key) for key in _KEYS}


renders(Breakpoint, breakpoint_text, _breakpoint_object)
renders(Ignored, ignored_text, lambda ignored: _breakpoint_object(ignored.breakpoint))
renders(
    Breakpoints,
    breakpoints_text,
    lambda listed: {"breakpoints": [_breakpoint_object(each) for each in listed.breakpoints]},
)
