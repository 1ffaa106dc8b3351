"""The text of ``help`` and the tables of docs/commands.md, from the declarations."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING

from actiondbg.breakpoints.condition import INTEGER_FIELDS, RESULTS, TEXT_FIELDS

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.declaration import Command, CommandTable

Refusal = Callable[["Command"], str | None]

SPEC = """\
SPEC selects actions by one property, or by several joined with 'and'.
  tag:T             tag, such as apply-pattern, fold, pass-execution
  pattern:GLOB      application of a pattern with that name
  pass:GLOB         execution of a pass, by argument or class name
  fold:OPGLOB       fold of an operation with that name
  op:GLOB           name of the operation of the action
  func:GLOB         symbol of the function around the operation
  in:GLOB           anything inside a pass, at any depth; in:GLOB#2 is inside the
                    second run of that pass
  FILE:LINE[:COL]   location of the operation; FILE:LINE-LINE is a range,
                    file:FILE a whole file; FILE matches by its last components
  #17               ordinal
  NAME              pattern, pass, operation, function or tag, in this order
  @NAME             function, as func:NAME
  FILE, LINE        any line of a file; a line, or a range, of the only input
"""

EXPR = f"""\
EXPR is a condition over the fields of an action.
  integer fields    {", ".join(INTEGER_FIELDS)}
  text fields       {", ".join(TEXT_FIELDS)}; values in '' or ""
  pass              the innermost pass around the action, or the action itself
  outcome           {", ".join(RESULTS)}; with it in EXPR,
                    the stop is after the action; the other fields are those before
  comparisons       == != < <= > >=, and ~ !~ for globs: op ~ 'arith.*'
  operators         and, or, not, ( )
"""

TOPICS = {"spec": SPEC, "expr": EXPR}


def _supports_all(_: Command) -> None:
    """Support every command."""


def overview(commands: CommandTable, refusal: Refusal = _supports_all) -> str:
    """Return a line and an example for each command, by category.

    Args:
        commands: all commands.
        refusal: returns why a command is unsupported, or None; unsupported ones are only named.
    """
    lines: list[str] = []
    refused: list[str] = []
    for category, found in commands.categories().items():
        supported = [each for each in found if refusal(each) is None]
        refused += [each.name for each in found if each not in supported]
        lines += [f"{category}:"] if supported else []
        for each in supported:
            names = ", ".join((each.name, *each.aliases))
            lines += [f"  {names:<28} {each.summary}", f"  {'':<28} {each.example}"]
        lines += [""] if supported else []
    if refused:
        lines += [*textwrap.wrap(f"Not available here: {', '.join(refused)}.", 78), ""]
    lines.append("'help COMMAND' describes a command; 'help spec' and 'help expr', breakpoints.")
    return "\n".join(lines)


def page(command: Command, refusal: Refusal = _supports_all) -> str:
    """Return the help of a command; see ``overview``."""
    lines = [f"{command.usage()}", "", f"  {command.summary}"]
    if why := refusal(command):
        lines.append(f"  Not available here. {why}")
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
