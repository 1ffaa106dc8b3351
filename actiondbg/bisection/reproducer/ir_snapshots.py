"""Snapshots of the IR before and after the culprit, printed by forks that are stopped there."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Literal, Protocol

from msgspec import structs

from actiondbg import protocol
from actiondbg.bisection.reproducer.strategies import AFTER, BEFORE, BEFORE_PASS
from actiondbg.bisection.result import Culprit
from actiondbg.errors import ActiondbgError, ToolGone
from actiondbg.ir.diff import Diff, make_diff
from actiondbg.process.forked_tool import ForkedTool
from actiondbg.process.value_names import print_named
from actiondbg.protocol.tags import FOLD_TAG, PATTERN_TAG

_SCRATCH = "named"  # a temporary file in the folder


class RepeatableRun(Protocol):
    """A run that can be replayed."""

    @property
    def hello(self) -> protocol.Hello | None:
        """The hello of the agent."""
        ...

    def replay(self, ordinal: int, when: Literal["before", "after"] = "before") -> ForkedTool:
        """Fork the tool and stop it at an action; close the fork."""
        ...


class IRSnapshots:
    """The IR before and after the culprit, in files.

    Attributes:
        names: of the files that were written.
        generic: names of the files in generic form, because their IR is invalid.
        nth: the culprit's number among the actions of its tag, from 1; None if not known.
        diff: only for a fold: includes the replacement that the driver makes after it.
        first: the number of the first pattern application in the pass; None if not known.
        notes: what failed, one sentence each.
    """

    def __init__(self) -> None:
        self.names = set[str]()
        self.generic = set[str]()
        self.nth: int | None = None
        self.diff: Diff | None = None
        self.first: int | None = None
        self.notes: list[str] = []


def take_snapshots(run: RepeatableRun, culprit: Culprit, folder: Path) -> IRSnapshots:
    """Print the module before and after the culprit, and before its pass, into a folder."""
    snapshots = IRSnapshots()
    ordinal = _ordinal_in_run(culprit)

    def attempt(what: str, take: Callable[[], None]) -> None:
        try:
            take()
        except ActiondbgError as error:
            snapshots.notes.append(f"{what} could not be printed: {error}")

    if culprit.tag == FOLD_TAG:
        attempt("The IR before and after the fold", lambda: _fold(run, ordinal, folder, snapshots))
    else:
        attempt("The IR before the action", lambda: _before(run, ordinal, folder, snapshots))
        attempt("The IR after the action", lambda: _after(run, ordinal, folder, snapshots))
    start = culprit.pass_ordinal
    if start is not None and start != ordinal:
        attempt("The IR before the pass", lambda: _before_pass(run, start, folder, snapshots))
    return snapshots


def _ordinal_in_run(culprit: Culprit) -> int:
    """Return the culprit's ordinal in the run that its stack was taken from."""
    return culprit.stack[0].ordinal if culprit.stack else culprit.ordinal


def _before(run: RepeatableRun, ordinal: int, folder: Path, snapshots: IRSnapshots) -> None:
    with run.replay(ordinal) as fork:
        snapshots.nth = fork.stop.nth if fork.stop else None
        _print(fork, folder / BEFORE, snapshots)


def _after(run: RepeatableRun, ordinal: int, folder: Path, snapshots: IRSnapshots) -> None:
    try:
        fork = run.replay(ordinal, "after")
    except ToolGone:
        snapshots.notes.append("There is no IR after the action, because the tool ended in it.")
        return
    with fork:
        _print(fork, folder / AFTER, snapshots)


def _fold(run: RepeatableRun, ordinal: int, folder: Path, snapshots: IRSnapshots) -> None:
    """Print the IR before and after a fold.

    A fold only returns the replacement; the driver has replaced the operation by the next event.
    Both texts come from one fork of the tool, because the keys of values differ between processes.
    """
    with run.replay(ordinal) as fork:
        snapshots.nth = fork.stop.nth if fork.stop else None
        _print(fork, folder / BEFORE, snapshots)
        before = print_named(fork, None, folder / _SCRATCH)
        fork.resume("next")
        fork.resume("step")
        _print(fork, folder / AFTER, snapshots)
        after = print_named(fork, None, folder / _SCRATCH)
    if before.generic == after.generic:
        diff = make_diff(before.text, after.text, before.names, after.names)
        title = f"#{ordinal} fold and its replacement"
        snapshots.diff = structs.replace(diff, ordinal=ordinal, title=title)


def _before_pass(run: RepeatableRun, start: int, folder: Path, snapshots: IRSnapshots) -> None:
    with run.replay(start) as fork:
        _print(fork, folder / BEFORE_PASS, snapshots)
        with contextlib.suppress(ActiondbgError):
            until = protocol.Until(
                terms=[protocol.Term(kind="tag", glob=PATTERN_TAG)],
                condition=None,
                within=False,
            )
            snapshots.first = fork.resume("apply", until=until).nth


def _print(fork: ForkedTool, file: Path, snapshots: IRSnapshots) -> None:
    printed = fork.request(protocol.Print(what="module", path=str(file)))
    snapshots.names.add(file.name)
    if printed.generic:
        snapshots.generic.add(file.name)
