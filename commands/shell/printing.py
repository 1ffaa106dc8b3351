"""The command that prints IR."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actiondbg.commands.interpreter.declaration import Arguments, arg, choice, command, flag, index
from actiondbg.commands.render.results import Counted

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Front
    from actiondbg.ir.printed import PrintedText
    from actiondbg.session.old_inspection import What

PRINTING = "IR"


@command(
    "print",
    PRINTING,
    "Print the cursor, the action's IR, the function or the module, the cursor marked with -->; "
    "into a file or a pipe it is plain IR.",
    "print function --skip-regions",
    choice(
        "what",
        ("cursor", "action", "function", "module"),
        "what is printed",
        nargs="?",
        default="cursor",
    ),
    flag("--generic", "print the generic form"),
    flag("--locations", "print locations"),
    flag("--skip-regions", "leave out the regions of the operation"),
    arg("--elide", type=index, metavar="N", help="elide constants of more than N elements"),
    flag("--plain", "leave out the mark at the cursor"),
    aliases=("p",),
    shows_ir=True,
)
def print_(front: Front, args: Arguments) -> Any:
    return print_ir(
        front,
        args.what,
        args.plain,
        generic=args.generic,
        locations=args.locations,
        skip_regions=args.skip_regions,
        elide=args.elide,
    )


@command(
    "count",
    PRINTING,
    "Count the operations of a name in the module, or in the cursor's function.",
    "count op:arith.* --function",
    arg("glob", metavar="[op:]GLOB", help="the name of the operations", complete="op"),
    flag("--function", "count in the cursor's function only"),
    needs_tool="operations cannot be counted in it",
)
def count(front: Front, args: Arguments) -> Any:
    glob = args.glob.removeprefix("op:")
    return Counted(glob, args.function, front.session.count(glob, function=args.function))


def print_ir(front: Front, what: What, plain: bool = False, **options: Any) -> PrintedText:
    """Print IR, for people with a mark; tell them when it could not be had in the custom form."""
    mark = not (plain or front.json or front.redirected)
    printed = front.session.print(what, mark=mark, **options)
    if printed.generic and not options.get("generic"):
        front.note("The IR is not valid here, so this is its generic form.")
    return printed
