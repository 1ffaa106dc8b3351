"""Recordings of actions that are listed; see recorded.py."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fakes.recording.chunks import (
    ACTION_NAME,
    ACTIONS,
    CHANGES,
    FILE,
    FOLDS,
    FUNCTION,
    IR,
    KINDS,
    LOCATION,
    OPERATION_NAME,
    OPERATIONS,
    OUTCOMES,
    PATCHES,
    REASON,
    REASONS,
    SAMPLES,
    Thread,
    Writer,
    array_sections,
    text_hash,
)


@dataclass
class Operation:
    """An operation, as it is defined for the first action of ``thread`` that names it.

    ``location`` is the whole text, if it is not just ``file:line:column``. ``row`` is the row of
    the thread from which it holds; None for the first that names it.
    """

    number: int
    name: str = "arith.addi"
    file: str = "in.mlir"
    line: int = 1
    column: int = 1
    function: str = "f0"
    location: str = ""
    row: int | None = None
    thread: int | None = None


@dataclass
class Change:
    """One change: ``by`` is the number of the operation that replaced it, 0 for none."""

    kind: str
    operation: int
    by: int = 0
    result: int = 0
    block: bool = False
    guess: bool = False


@dataclass
class Action:
    """One action. Times are in ns; ``start`` None: 1 us after the one before it in the list.

    ``duration`` None: unfinished. ``patched``: written unfinished, and finished by a patch.
    ``ir`` holds (operation, text before or None, text after or None).
    """

    name: str = "A"
    tag: str = "apply-pattern"
    full_name: str | None = None
    labels: Sequence[str] = ()
    depth: int = 0
    operation: int = 0
    start: int | None = None
    duration: int | None = 500
    outcome: str = "unchanged"
    changed: bool | None = None  # None: if the outcome is "succeeded"
    rolled_back: bool = False
    fold: str | None = None
    reasons: Sequence[str] = ()
    changes: Sequence[Change] = ()
    ir: Sequence[tuple[int, str | None, str | None]] = ()
    samples: Sequence[int] | None = None
    thread: int = 0
    patched: bool = False


def write_recording(
    path: str | os.PathLike[str],
    actions: Sequence[Action] = (),
    operations: Sequence[Operation] = (),
    *,
    header: Mapping[str, Any] | None = None,
    ending: Mapping[str, Any] | None = None,
    killed: bool = False,
    chunk: int = 1000,
    events: Sequence[str] = (),
    ir: str = "none",
    **how: int,
) -> Path:
    """Write a recording.

    Args:
        path: of the file.
        actions: in the order in which they begin.
        operations: those that the actions and their changes name; one may stand there again, with
            the row from which it holds.
        header: what replaces fields of the usual header.
        ending: the END section; None for a tool that ended with status 0.
        killed: there is no END.
        chunk: how many actions a chunk has at most.
        events: the names of the samples.
        ir: what is said of the IR in the header.
        how: unit, ticks_per_ns, version.
    """
    writer = Writer(path, usual_header(events, ir) | dict(header or {}), **how)
    numbers = {0, *(each.thread for each in actions)}
    threads = {number: Thread(number, len(events)) for number in numbers}
    begin_times(actions)
    for part in _parts(actions, chunk):
        thread, base = threads[part[0].thread], min(each.start or 0 for each in part)
        first = thread.row
        texts = gather(writer, thread, part, operations, base)
        flush(writer, thread, thread.take_rows(), texts, first, base)
    close(writer, threads.values(), {} if killed else ending or {"ended": "exit", "status": 0})
    return writer.path


def usual_header(events: Sequence[str] = (), ir: str = "none") -> dict[str, Any]:
    return {
        "agent": "0.1.0",
        "llvm": "22.1.8",
        "pid": 4711,
        "argv": ["mlir-opt", "in.mlir", "--canonicalize"],
        "cwd": "/somewhere",
        "started": 1_760_000_000_000_000_000,
        "ir": ir,
        "events": list(events),
        "threads": False,
    }


def begin_times(actions: Sequence[Action], at: int = 0) -> None:
    """Give each action a start that has none."""
    for action in actions:
        at = action.start = at + 1000 if action.start is None else action.start


def _parts(actions: Sequence[Action], size: int) -> Iterator[list[Action]]:
    """Divide the actions into chunks of one thread each; a chunk is written when it is full."""
    waiting: dict[int, list[Action]] = {}
    for action in actions:
        part = waiting.setdefault(action.thread, [])
        part.append(action)
        if len(part) == size:
            yield waiting.pop(action.thread)
    yield from waiting.values()


def gather(
    writer: Writer,
    thread: Thread,
    part: Sequence[Action],
    operations: Sequence[Operation],
    base: int,
) -> list[str | None]:
    """Add a chunk's actions to the thread; return the texts that they name."""
    first, texts = thread.row, list[str | None]()
    for action in part:
        _define_missing(thread, action, operations)
        _add(writer, thread, action, base)
        for operation, before, after in action.ir:
            hashes = (text_hash(text) if text is not None else 0 for text in (before, after))
            thread.add(IR, thread.row, operation, *hashes)
            texts += [before, after]
        writer.now = max(writer.now, (action.start or 0) + (action.duration or 0))
        thread.row += 1
    for each in operations:
        inside = each.row is not None and first <= each.row < thread.row
        if inside and each.thread in (None, thread.number):
            _define(thread, each.row or 0, each)
    return texts


def flush(
    writer: Writer,
    thread: Thread,
    rows: Mapping[int, Any],
    texts: Sequence[str | None],
    first: int,
    base: int,
) -> None:
    sections = [*thread.take_strings(), *array_sections(rows), *writer.texts(texts)]
    writer.write(thread.number, sections, first, base)


def close(writer: Writer, threads: Any, ending: Mapping[str, Any]) -> None:
    for thread in threads:
        for patch in thread.patches:
            thread.add(PATCHES, *patch)
        if thread.patches:
            flush(writer, thread, thread.take_rows(), (), thread.row, writer.now)
    writer.now += 1000
    writer.close(ending or None)


def _define_missing(thread: Thread, action: Action, operations: Sequence[Operation]) -> None:
    numbers = {action.operation, *(each.operation for each in action.changes)}
    numbers |= {each.by for each in action.changes} | {each[0] for each in action.ir}
    missing = numbers - thread.defined - {0}
    for operation in operations if missing else ():
        if operation.number in missing and operation.row is None:
            _define(thread, thread.row, operation)


def _define(thread: Thread, row: int, operation: Operation) -> None:
    thread.defined.add(operation.number)
    name = thread.string(OPERATION_NAME, operation.name)
    text = thread.string(LOCATION, operation.location) if operation.location else 0
    file = thread.string(FILE, operation.file) if operation.line else 0
    place = thread.place(file, operation.line, operation.column, text) if file or text else 0
    function = thread.string(FUNCTION, operation.function) if operation.function else 0
    thread.add(OPERATIONS, row, operation.number, name, place, function)


def _add(writer: Writer, thread: Thread, action: Action, base: int) -> None:
    full = action.name if action.full_name is None else action.full_name
    words = "\0".join((action.tag, action.name, full, "\x1f".join(action.labels)))
    changed = action.outcome == "succeeded" if action.changed is None else action.changed
    fold = FOLDS.index(action.fold) + 1 if action.fold else 0
    finished = (OUTCOMES.index(action.outcome), changed | action.rolled_back << 1 | fold << 4)
    start = writer.units(action.start or 0) - writer.units(base)
    duration = writer.units(action.duration or 0)
    if action.patched:
        thread.patches.append((thread.row, *finished, 0, duration))
    if action.patched or action.duration is None:
        duration, finished = 0, (0, 0)
    name = thread.string(ACTION_NAME, words)
    thread.add(ACTIONS, start, duration, action.operation, name, action.depth, *finished)
    for each in action.changes:
        bits = each.block | each.guess << 1
        kind = KINDS.index(each.kind)
        thread.add(CHANGES, thread.row, each.operation, each.by, kind, bits, each.result)
    for reason in action.reasons:
        thread.add(REASONS, thread.row, thread.string(REASON, reason))
    if action.samples is not None:
        thread.add(SAMPLES, thread.row, 0, *(value % 2**64 for value in action.samples))
