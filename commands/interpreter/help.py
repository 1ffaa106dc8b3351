"""The words of ``help`` and of docs/commands.md, from the declarations."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.declaration import Command, CommandTable

Refusal = Callable[["Command"], str | None]

SPEC = """\
SPEC is what a breakpoint stops at: one part, or several joined with 'and'.
  tag:T             the action's tag, such as apply-pattern, fold, pass-execution
  pattern:GLOB      an action that applies a pattern of that name
  pass:GLOB         a pass, by its argument or class name
  fold:OPGLOB       a fold of an operation of that name
  op:GLOB           the name of the operation that the action is about
  func:GLOB         the symbol that holds the operation
  FILE:LINE[:COL]   a location of the operation; FILE:LINE-LINE is a range,
                    FILE matches by its last components, file:FILE is all of it
  #17               the action's ordinal
  NAME              a pattern, pass or tag of that name
"""

EXPR = """\
EXPR is a condition over the fields of an action.
  integers          ordinal, depth, iteration, line, hits
  text              tag, name, op, file, func; in '' or "" where it is written
  comparisons       == != < <= > >=, and ~ and !~ for a glob: op ~ 'arith.*'
  joined with       and, or, not, ( )
"""

TOPICS = {"spec": SPEC, "expr": EXPR}


def _usable(_: Command) -> None:
    """Refuse nothing."""


def overview(commands: CommandTable, refusal: Refusal = _usable) -> str:
    """Return all commands by category, a line and an example each.

    Args:
        commands: all of them.
        refusal: tells why a command cannot be used; None if it can. Such are only named.
    """
    lines: list[str] = []
    refused: list[str] = []
    for category, found in commands.categories().items():
        there = [each for each in found if refusal(each) is None]
        refused += [each.name for each in found if each not in there]
        lines += [f"{category}:"] if there else []
        for each in there:
            names = ", ".join((each.name, *each.aliases))
            lines += [f"  {names:<28} {each.summary}", f"  {'':<28} {each.example}"]
        lines += [""] if there else []
    if refused:
        lines += [*textwrap.wrap(f"Not here, and help tells why: {', '.join(refused)}.", 78), ""]
    lines.append("'help COMMAND' tells more; 'help spec' and 'help expr' are about breakpoints.")
    return "\n".join(lines)


def page(command: Command, refusal: Refusal = _usable) -> str:
    """Return the help of one command; see ``overview``."""
    lines = [f"{command.usage()}", "", f"  {command.summary}"]
    if why := refusal(command):
        lines.append(f"  Not here. {why}")
    rows = [(name, each.summary) for name, each in command.subcommands.items()]
    rows += [(each.written, each.help) for each in command.fields]
    width = max((len(name) for name, _ in rows), default=0)
    lines += [f"  {name:<{width}}  {text}" for name, text in rows]
    if command.aliases:
        lines.append(f"  Also: {', '.join(command.aliases)}")
    lines.append(f"  Example: {command.example}")
    if command.rest is not None and "SPEC" in command.rest.usage:
        lines.append("  See 'help spec' and 'help expr'.")
    return "\n".join(lines)


def tables(commands: CommandTable) -> str:
    """Return the command tables of docs/commands.md, in Markdown."""
    lines: list[str] = []
    for category, found in commands.categories().items():
        lines += [f"### {category}", "", "| command | does | example |", "|---|---|---|"]
        for each in found:
            names = ", ".join(f"`{alias}`" for alias in each.aliases)
            usage = each.usage().replace("|", "\\|")
            cells = (
                f"`{usage}`{' also ' + names if names else ''}",
                each.summary.replace("|", "\\|"),
            )
            lines.append(f"| {cells[0]} | {cells[1]} | `{each.example}` |")
        lines.append("")
    return "\n".join(lines)
