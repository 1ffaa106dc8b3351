"""The text of ``help`` and the tables of docs/commands.md, from the declarations."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable
from itertools import zip_longest
from typing import TYPE_CHECKING

from actiondbg.breakpoints.condition import FIELDS
from actiondbg.breakpoints.spec_kinds import KINDS
from actiondbg.commands.interpreter.options import no_forms
from actiondbg.commands.render.tables import fitted

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.declaration import Command, CommandTable

Refusal = Callable[["Command"], str | None]

_COLUMN = 20  # of the meanings of the terms of a SPEC
_TERMS = "\n".join(
    f"  {kind}:{traits.word}".ljust(_COLUMN) + traits.about.replace("\n", "\n" + " " * _COLUMN)
    for kind, traits in KINDS.items()
)
SPEC = f"""\
SPEC selects actions by one property, or by several joined with 'and'.
{_TERMS}
  FILE:LINE[:COL]   location of the operation; FILE:LINE-LINE is a range,
                    file:FILE a whole file; FILE matches by its last components
  #17               ordinal
  NAME              pattern, pass, operation, function or tag, in this order
  @NAME             function, as func:NAME; also as MLIR prints it, @"a\\22 b"
  FILE, LINE        any line of a file; a line, or a range, of the only input
"""

_WIDTH = max(map(len, FIELDS)) + 1
_FIELD_LINES = "\n".join(
    f"  {name:<{_WIDTH}}{field.type:<8}{field.about}" for name, field in FIELDS.items()
)
EXPR = f"""\
EXPR is a condition over the fields of an action.
{_FIELD_LINES}
  values            integers, and texts in '' or ""
  comparisons       == != < <= > >=, and ~ !~ for globs: op ~ 'arith.*'
  operators         and, or, not, ( )
With outcome in EXPR, the stop is after the action; the other fields are those before.
"""

TASKS = """\
What to do, and the commands that do it; 'help COMMAND' describes each.
  stop where a pattern is tried        break pattern:FoldX, then run
  see the IR there, go on by actions   print function, then step, next or finish
  see what an action did               info changes, diff
  leave out one rewrite                break pattern:FoldX, run, skip, continue
  change the IR, and go on with it     goto canonicalize, edit-ir, continue
  why a pattern did not apply          why-not FoldX in.mlir:12
  why a conversion failed              catch failure, run, then explain
  which passes run, and change what    info pipeline
  which actions there are              info actions, info patterns
  what happened to an operation        cursor-goto in.mlir:12, then history
  what it came from, and became        track-back, track
  stop when an operation changes       watch cursor, then continue
  go back                              reverse-step, goto #17
  which rewrite breaks the output      bisect --test './judge.sh {}'
  run it otherwise, and compare        whatif drop cse; pattern:FoldX off
  what could change the IR now         info applicable
  debug the compiler's own code        native
"""

TOPICS = {"spec": SPEC, "expr": EXPR, "tasks": TASKS}
ALL = "all"
WIDTH = 79  # columns, so that no line wraps on a terminal of 80
_NAMES = 31  # columns of the names of commands, with the indentation
_NARROW = 70  # columns, below which those of names take less room
_MORE = ("More: help tasks, help COMMAND, help cursor (a heading), help all, help spec.",)
_TITLES = 23
_CONTINUED = 15  # the least indentation of a line that continues another one in a topic


def _supports_all(_: Command) -> None:
    """Support every command."""


def topic(word: str, width: int = WIDTH) -> str:
    """Return the text of a topic; on a narrow terminal its lines are broken anew."""
    text = TOPICS[word]
    if width >= WIDTH:
        return text
    lines: list[str] = []
    for line in text.splitlines():
        indentation = len(line) - len(line.lstrip())
        if lines and indentation >= _CONTINUED:
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line)
    return fitted("\n".join(lines), width)


def overview(commands: CommandTable, refusal: Refusal = _supports_all, width: int = WIDTH) -> str:
    """Return the names of all commands by category, on one screen.

    Args:
        refusal: returns why a command is unsupported, or None; unsupported ones come last.
    """
    lines: list[str] = []
    for category, found in commands.categories().items():
        names = [each.name for each in _supported(found, refusal) if " " not in each.name]
        lines += _hanging(category, ", ".join(names), _TITLES, width) if names else []
    more = _MORE if width >= WIDTH else textwrap.wrap(" ".join(_MORE), width)
    lines += ["", *_refused(commands, refusal, width), *more]
    return "\n".join(lines)


def summaries(
    commands: CommandTable,
    heading: str = ALL,
    refusal: Refusal = _supports_all,
    width: int = WIDTH,
) -> str | None:
    """Return the summaries and examples of the commands of a category, or of all; see ``overview``.

    The heading is the first word of the category, in lower case; None if there is no such category.
    """
    lines: list[str] = []
    indent = _NAMES if width >= _NARROW else _NAMES // 2
    for category, found in commands.categories().items():
        supported = _supported(found, refusal)
        if heading not in (ALL, heading_of(category)) or not supported:
            continue
        lines.append(f"{category}:")
        for each in supported:
            names = f"  {', '.join((each.name, *each.aliases))}"
            lines += [
                *_hanging(names, each.summary, indent, width),
                f"{'':<{indent}}{each.example}",
            ]
        lines.append("")
    if not lines:
        return None
    if heading == ALL:
        lines += _refused(commands, refusal, width)
    lines.append("'help COMMAND' describes a command; 'help spec' and 'help expr', breakpoints.")
    return fitted("\n".join(lines), width)


def heading_of(category: str) -> str:
    """Return the word by which ``help`` knows a category."""
    return category.split()[0].lower()


def _supported(commands: Iterable[Command], refusal: Refusal) -> list[Command]:
    return [each for each in commands if refusal(each) is None]


def _refused(commands: CommandTable, refusal: Refusal, width: int) -> list[str]:
    found = [each for group in commands.categories().values() for each in group]
    refused = [each.name for each in found if refusal(each) is not None]
    if not refused:
        return []
    text = f"Not available here: {', '.join(refused)}."
    return [*textwrap.wrap(text, width, break_on_hyphens=False), ""]


def _hanging(head: str, text: str, indent: int, width: int) -> list[str]:
    """Return a text broken at words, right of its head, which may take a line of its own."""
    room = max(width - indent, 1)
    lines = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False) or [""]
    if len(head) >= indent - 1:
        lines.insert(0, "")
    return [
        f"{first:<{indent}}{line}".rstrip()
        for first, line in zip_longest([head], lines, fillvalue="")
    ]


def page(command: Command, refusal: Refusal = _supports_all, width: int = WIDTH) -> str:
    """Return the help of a command; see ``overview``."""
    is_group = command.subcommands and not command.fields
    usage = f"{command.name} SUBCOMMAND" if is_group else command.usage()
    lines = [*_hanging("", usage, 4, width), "", *_hanging("", command.summary, 2, width)]
    lines[0] = lines[0].lstrip()
    if why := refusal(command):
        lines.append(f"  Not available here. {why}")
    rows = [(name, each.summary) for name, each in command.subcommands.items()]
    rows += [] if command.rest is None else command.rest.forms().items()
    rows += [(each.written, each.help) for each in command.fields]
    longest = max((len(name) for name, _ in rows), default=0)
    indent = longest + 4 if longest + 4 <= width // 2 else 8
    for name, text in rows:
        lines += _hanging(f"  {name}", text, indent, width)
    if command.aliases:
        lines.append(f"  Also: {', '.join(command.aliases)}")
    lines.append(f"  Example: {command.example}")
    if command.rest is not None and "SPEC" in command.rest.metavar:
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
            forms = no_forms() if each.rest is None else each.rest.forms()
            listed = ", ".join(f"`{form}` ({meaning})" for form, meaning in forms.items())
            summary = f"{each.summary} Forms: {listed}." if forms else each.summary
            cells = (
                f"`{usage}`{' also ' + names if names else ''}",
                summary.replace("|", "\\|"),
            )
            lines.append(f"| {cells[0]} | {cells[1]} | `{each.example}` |")
        lines.append("")
    return "\n".join(lines)
