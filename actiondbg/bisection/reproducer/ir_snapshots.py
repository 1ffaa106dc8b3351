"""Snapshots of the IR before and after the culprit, printed by forks that are stopped there."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

from msgspec import structs

from actiondbg import protocol
from actiondbg.bisection.frozen_tool import FrozenTool
from actiondbg.bisection.reproducer.strategies import AFTER, BEFORE, BEFORE_PASS
from actiondbg.bisection.result import Culprit
from actiondbg.errors import ActiondbgError, ToolGone
from actiondbg.ir.diff import Diff, make_diff
from actiondbg.process.forked_tool import ForkedTool
from actiondbg.process.value_names import print_named
from actiondbg.protocol.tags import FOLD_TAG, PATTERN_TAG

_SCRATCH = "named"  # a temporary file in the folder


class IRSnapshots:
    """The IR before and after the culprit, and before its pass, in files.

    The constructor replays the run, and writes the files.

    Args:
        run: the run that the culprit's stack was taken from.

    Attributes:
        names: of the files that were written.
        generic: names of the files in generic form, because their IR is invalid.
        nth: the culprit's number among the actions of its tag, from 1; None if not known.
        diff: only for a fold: includes the replacement that the driver makes after it.
        first: the number of the first pattern application in the pass; None if not known.
        notes: what failed, one sentence each.
    """

    def __init__(self, run: FrozenTool, culprit: Culprit, folder: Path) -> None:
        self.names = set[str]()
        self.generic = set[str]()
        self.nth: int | None = None
        self.diff: Diff | None = None
        self.first: int | None = None
        self.notes: list[str] = []
        self._run = run
        self._folder = folder
        self._ordinal = culprit.stack[0].ordinal if culprit.stack else culprit.ordinal
        if culprit.tag == FOLD_TAG:
            self._attempt("The IR before and after the fold", self._take_fold)
        else:
            self._attempt("The IR before the action", self._take_before)
            self._attempt("The IR after the action", self._take_after)
        start = culprit.pass_ordinal
        if start is not None and start != self._ordinal:
            self._attempt("The IR before the pass", lambda: self._take_before_pass(start))

    def _attempt(self, what: str, take: Callable[[], None]) -> None:
        try:
            take()
        except ActiondbgError as error:
            self.notes.append(f"{what} could not be printed: {error}")

    def _take_before(self) -> None:
        with self._run.replay(self._ordinal) as fork:
            self.nth = fork.stop.nth if fork.stop else None
            self._print(fork, BEFORE)

    def _take_after(self) -> None:
        try:
            fork = self._run.replay(self._ordinal, "after")
        except ToolGone:
            self.notes.append("There is no IR after the action, because the tool ended in it.")
            return
        with fork:
            self._print(fork, AFTER)

    def _take_fold(self) -> None:
        """Print the IR before and after a fold.

        A fold only returns the replacement; the driver has replaced the operation by the next
        event. Both texts come from one fork, because the keys of values differ between processes.
        """
        with self._run.replay(self._ordinal) as fork:
            self.nth = fork.stop.nth if fork.stop else None
            self._print(fork, BEFORE)
            before = print_named(fork, None, self._folder / _SCRATCH)
            fork.resume("next")
            fork.resume("step")
            self._print(fork, AFTER)
            after = print_named(fork, None, self._folder / _SCRATCH)
        if before.generic == after.generic:
            diff = make_diff(before.text, after.text, before.names, after.names)
            title = f"#{self._ordinal} fold and its replacement"
            self.diff = structs.replace(diff, ordinal=self._ordinal, title=title)

    def _take_before_pass(self, start: int) -> None:
        with self._run.replay(start) as fork:
            self._print(fork, BEFORE_PASS)
            with contextlib.suppress(ActiondbgError):
                until = protocol.Until(terms=[protocol.Term(kind="tag", glob=PATTERN_TAG)])
                self.first = fork.resume("apply", until=until).nth

    def _print(self, fork: ForkedTool, name: str) -> None:
        printed = fork.request(protocol.Print(what="module", path=str(self._folder / name)))
        self.names.add(name)
        if printed.generic:
            self.generic.add(name)
