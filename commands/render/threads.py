"""Processes, MLIR contexts and threads as text."""

from __future__ import annotations

import shlex

import msgspec

from actiondbg.commands.render.renderer import RenderContext, renders
from actiondbg.commands.render.tables import aligned
from actiondbg.process.program_run import FollowedProcess
from actiondbg.protocol import MLIRContext, Thread


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


RENDERERS = (
    renders(ProcessesShown, _processes_text),
    renders(ContextsShown, _contexts_text),
    renders(ThreadsShown, _threads_text),
)
