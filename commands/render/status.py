"""Plain text, settings, facts, displays, processes and threads."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Literal

import msgspec

from actiondbg.commands.render.renderer import RenderContext, renders
from actiondbg.commands.render.tables import aligned, rows
from actiondbg.support.counts import plural

if TYPE_CHECKING:
    from actiondbg.process.program_run import FollowedProcess
    from actiondbg.protocol import MLIRContext, Thread

Fact = str | int | bool | list[str] | None


class Text(msgspec.Struct):
    """Plain text: help, echo, a confirmation."""

    text: str


class SettingsShown(msgspec.Struct):
    settings: dict[str, str]


class Facts(msgspec.Struct):
    """Named facts about the tool or the program; None for unknown ones."""

    title: str
    facts: dict[str, Fact]


class Display(msgspec.Struct):
    id: int
    command: str


class Displays(msgspec.Struct):
    displays: list[Display]


class Displayed(msgspec.Struct):
    """The result of a display as JSON, or its error; the text has been shown already."""

    id: int
    command: str
    ok: bool
    result: object = None
    error: str | None = None


AliasKind = Literal["alias", "macro"]


class Alias(msgspec.Struct, frozen=True):
    """A name for a command line.

    Attributes:
        kind: whether the line has places for arguments.
        line: the command line; in a macro, ``{1}`` is the place of the first argument, and
            ``{{1}}`` that text itself.
    """

    kind: AliasKind
    name: str
    line: str


class Aliases(msgspec.Struct):
    kind: AliasKind
    aliases: list[Alias]


def aliases_text(_: RenderContext, shown: Aliases) -> str:
    if not shown.aliases:
        return f"There are no {plural(shown.kind)}."
    return "\n".join(f"{each.kind} create {each.name} {each.line}" for each in shown.aliases)


def displays_text(_: RenderContext, shown: Displays) -> str:
    if not shown.displays:
        return "There are no displays."
    return "\n".join(f"{each.id}: {each.command}" for each in shown.displays)


class ProcessesShown(msgspec.Struct):
    processes: list[FollowedProcess]


class ContextsShown(msgspec.Struct):
    contexts: list[MLIRContext]


class ThreadsShown(msgspec.Struct):
    threads: list[Thread]


def _processes_text(_: RenderContext, shown: ProcessesShown) -> str:
    if not shown.processes:
        return "No process was debugged."
    head = ("process", "pid", "actions", "status", "state", "command")
    cells = [
        (
            one.name,
            str(one.pid),
            "-" if one.actions is None else f"{one.actions:,}",
            "-" if one.status is None else str(one.status),
            one.state,
            shlex.join(one.command),
        )
        for one in shown.processes
    ]
    return "\n".join(aligned([head, *cells], left=(0, 4, 5)))


def _contexts_text(_: RenderContext, shown: ContextsShown) -> str:
    if not shown.contexts:
        return "There are no contexts."
    head = ("context", "actions", "thread", "state")
    cells = [(one.name, f"{one.actions:,}", one.thread or "-", one.state) for one in shown.contexts]
    mlirs = [one.mlir or "-" for one in shown.contexts]
    if len(set(mlirs)) > 1:
        rows = zip(cells, mlirs, strict=True)
        return "\n".join(
            aligned([(*head, "MLIR"), *((*cell, mlir) for cell, mlir in rows)], left=(0, 2, 3, 4))
        )
    return "\n".join(aligned([head, *cells], left=(0, 2, 3)))


def _threads_text(_: RenderContext, shown: ThreadsShown) -> str:
    if not shown.threads:
        return "No thread has run an action."
    head = ("thread", "actions", "unfollowed", "context", "state", "name")
    cells = [
        (
            one.name,
            f"{one.actions:,}",
            f"{one.unfollowed:,}",
            one.context or "-",
            one.state,
            one.title or "",
        )
        for one in shown.threads
    ]
    return "\n".join(aligned([head, *cells], left=(0, 3, 4, 5)))


renders(Text, lambda _, shown: shown.text)
renders(SettingsShown, lambda _, shown: "\n".join(rows(shown.settings)))
renders(Facts, lambda _, shown: "\n".join(rows(shown.facts)), lambda shown: shown.facts)
renders(Alias, lambda _, __: "")  # an init file that defines some prints nothing
renders(Aliases, aliases_text)
renders(Display, lambda _, added: f"Display {added.id}: {added.command}")
renders(Displays, displays_text)
renders(Displayed, lambda _, __: "")  # shown when it ran
renders(ProcessesShown, _processes_text)
renders(ContextsShown, _contexts_text)
renders(ThreadsShown, _threads_text)
