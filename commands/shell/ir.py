"""Commands that print IR and count operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from actiondbg.commands.interpreter import completers, values
from actiondbg.commands.interpreter.declaration import Topic
from actiondbg.commands.interpreter.options import (
    Flag,
    Option,
    Options,
    Positional,
)
from actiondbg.commands.render.ir import Counted

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Console
    from actiondbg.ir.printed import PrintedText
    from actiondbg.session.inspection.stopped_ir import What

PRINTING = Topic("IR")


class PrintOptions(Options):
    """The options of ``print``."""

    what: Annotated[
        Literal["cursor", "action", "function", "module"],
        Positional("cursor|action|function|module", help="the IR to print", prefix=True),
    ] = "cursor"
    generic: Annotated[bool, Flag("--generic", help="print the generic form")] = False
    locations: Annotated[bool, Flag("--locations", help="print locations")] = False
    skip_regions: Annotated[
        bool, Flag("--skip-regions", help="leave out the regions of the operation")
    ] = False
    elide: Annotated[
        int | None,
        Option("--elide", "N", help="elide attributes of more than N elements", parse=values.index),
    ] = None
    plain: Annotated[bool, Flag("--plain", help="do not mark the cursor")] = False


@PRINTING.command("print", example="print function --skip-regions", aliases=("p",), shows_ir=True)
def print_(console: Console, options: PrintOptions) -> PrintedText:
    """Print the IR of the cursor, the action, the function or the module; --> marks the cursor,
    except in a file or a pipe.
    """
    return print_ir(
        console,
        options.what,
        plain=options.plain,
        generic=options.generic,
        locations=options.locations,
        skip_regions=options.skip_regions,
        elide=options.elide,
    )


class CountOptions(Options):
    """The options of ``count``."""

    glob: Annotated[
        str,
        Positional("[op:]GLOB", help="the name of operations", complete=completers.operations),
    ]
    function: Annotated[
        bool, Flag("--function", help="count only in the function of the cursor")
    ] = False


@PRINTING.command("count", example="count op:arith.* --function", needs_tool="Counting operations")
def count(console: Console, options: CountOptions) -> Counted:
    """Count the operations of a name in the module, or in the function of the cursor."""
    glob = options.glob.removeprefix("op:")
    return Counted(
        glob, options.function, console.session.ir.count(glob, function=options.function)
    )


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
        mark=not (plain or console.json or console.redirected),
        generic=generic,
        locations=locations,
        skip_regions=skip_regions,
        elide=elide,
    )
    if printed.generic and not generic:
        console.note("The IR is invalid here: printed in generic form.")
    return printed
