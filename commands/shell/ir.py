"""Commands that print IR and count operations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from actiondbg.commands.interpreter import completers, values
from actiondbg.commands.interpreter.declaration import Topic
from actiondbg.commands.interpreter.options import Options, flag, option, positional
from actiondbg.commands.render.ir.excerpt import Block
from actiondbg.commands.render.ir.printed_ir import Counted
from actiondbg.errors import NoSuchUnit, NotStopped, UnitErased, UsageError
from actiondbg.support.source_file import SourceLines, lines_around

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Console
    from actiondbg.ir.printed import PrintedText
    from actiondbg.session.inspection.stopped_ir import What

PRINTING = Topic("IR")
AROUND = 10  # lines before and after a place
_WHATS: tuple[What, ...] = ("cursor", "action", "function", "module")


class PrintOptions(Options):
    what: str = positional(
        "cursor|action|function|module|PLACE",
        default="cursor",
        help="the IR to print; PLACE is %NAME, @ID, @SYMBOL or [FILE:]LINE",
        complete=completers.ir_places,
    )
    generic: bool = flag(help="print the generic form")
    locations: bool = flag(help="print locations")
    skip_regions: bool = flag(help="leave out the regions of the operation")
    elide: int | None = option(
        "N", help="elide attributes of more than N elements", parse=values.index
    )
    full: bool = flag(help="elide nothing, as is done on a terminal")
    plain: bool = flag(help="do not mark the cursor")


@PRINTING.command(
    "print", example="print function --skip-regions", aliases=("p",), shows_ir=True, reads=True
)
def print_(console: Console, options: PrintOptions) -> PrintedText:
    """Print the IR of the cursor, the action, the function, the module or a place; --> marks the
    cursor, except in a file.
    """
    elide = console.elision(options.elide, options.full)

    def print_what(what: What) -> PrintedText:
        return print_ir(
            console,
            what,
            plain=options.plain,
            generic=options.generic,
            locations=options.locations,
            skip_regions=options.skip_regions,
            elide=elide,
        )

    what: What | None = next((each for each in _WHATS if each.startswith(options.what)), None)
    if what is not None:
        return print_what(what)
    if not re.match(r"[%@\d]|.+:\d", options.what):
        raise UsageError(
            f"There is no IR {options.what!r} to print: give {', '.join(_WHATS)}, %NAME, @ID, "
            "@SYMBOL, FILE:LINE or LINE."
        )
    with console.session.cursor.at(place_of(console, options.what)):
        return print_what("cursor")


class AroundOptions(Options):
    count: int = positional(
        "N", default=AROUND, help="the number of lines before and after", parse=values.positive
    )


@PRINTING.command("around", example="around 20", aliases=("ll",), repeats=True, reads=True)
def around(console: Console, options: AroundOptions) -> Block:
    """Show the lines of IR around the cursor; again, or Enter: the lines after them."""
    return console.shown_lines.show("cursor", options.count)


class SourceLinesOptions(Options):
    count: int = positional(
        "N", default=5, help="the number of lines before and after", parse=values.positive
    )


@PRINTING.command("source-lines", example="source-lines 10", aliases=("sl",), reads=True)
def source_lines(console: Console, options: SourceLinesOptions) -> SourceLines:
    """Show the lines of the source file around the cursor's location, as of a Python kernel."""
    stop = console.session.stop
    if stop is None or stop.when == "exit":
        raise NotStopped("The tool is not stopped at an action: source-lines shows its location.")
    location = _location_of_cursor(console) or stop.location
    if location is None:
        raise NoSuchUnit("The operation of this action has no location in a file: try 'around'.")
    return lines_around(location, options.count)


def _location_of_cursor(console: Console) -> str | None:
    """Return the location of the unit in view; None if it has none, or is erased."""
    try:
        return console.session.cursor.get().unit.location
    except (NoSuchUnit, UnitErased):
        return None


class CountOptions(Options):
    glob: str = positional(
        "[op:]GLOB", help="the name of operations", complete=completers.operations
    )
    function: bool = flag(help="count only in the function of the cursor")


@PRINTING.command(
    "count", example="count op:arith.* --function", needs_tool="Counting operations", reads=True
)
def count(console: Console, options: CountOptions) -> Counted:
    """Count the operations of a name in the module, or in the function of the cursor."""
    count = console.session.ir.count(options.glob, function=options.function)
    return Counted(options.glob.removeprefix("op:"), options.function, count)


def place_of(console: Console, text: str) -> str:
    """Return a place for the cursor, with the file before a bare LINE[:COL].

    Raises:
        UsageError: there is not one input file.
    """
    if not re.fullmatch(r"\d+(:\d+)?", text):
        return text
    files = console.session.names.inputs()
    if len(files) != 1:
        why = f"there are {len(files)}: {', '.join(files)}" if files else "none is known"
        raise UsageError(f"{text} is a line of the only input file, but {why}: write FILE:{text}.")
    return f"{files[0]}:{text}"


def print_ir(
    console: Console,
    what: What,
    *,
    plain: bool = False,
    generic: bool = False,
    locations: bool = False,
    skip_regions: bool = False,
    elide: int | None = None,
) -> PrintedText:
    """Print IR; mark the cursor in text output, and note a fallback to the generic form."""
    printed = console.session.ir.print(
        what,
        mark=not (plain or console.json or (console.redirected and not console.piped)),
        printer_names=console.redirected and not console.piped,
        generic=generic,
        locations=locations,
        skip_regions=skip_regions,
        elide=elide,
    )
    if printed.generic and not generic:
        console.note("The IR is invalid here: printed in generic form.")
    return printed
