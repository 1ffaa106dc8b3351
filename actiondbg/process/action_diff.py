"""Printing the IR before and after an action, by a replica that repeats it."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from pathlib import Path

import msgspec

from actiondbg import protocol
from actiondbg.errors import NoSuchUnit, UnitErased
from actiondbg.ir.diff import Diff, make_diff
from actiondbg.process.forked_tool import ForkedTool
from actiondbg.process.stop import Stop
from actiondbg.process.value_names import NamedText, print_named


def compare_action(
    make: Callable[[], ForkedTool],
    ordinal: int,
    new_file: Callable[[], Path],
    *,
    module: bool = False,
    skipped: bool = False,
    settled: bool = False,
) -> Diff:
    """Compare the IR before an action with that after it.

    Args:
        make: makes a replica that stands before the action, or earlier.
        ordinal: the action's number, from 1.
        new_file: returns a place for a text, which is not there afterwards.
        module: of the whole module; else of the function that holds the action's operation, if
            there is one and it is there afterwards.
        skipped: whether the action is skipped, and so changes nothing.
        settled: whether to look at the next event only: what a fold found is put in its place
            after the fold is over.
    """
    sides = functools.partial(_sides, make, ordinal, new_file, skipped, settled)
    try:
        before, after, stop = sides(module)
    except (NoSuchUnit, UnitErased):
        if module:
            raise
        module = True
        before, after, stop = sides(module)
    if before.generic != after.generic:
        before, after, stop = sides(module, generic=True)
    diff = make_diff(before.text, after.text, before.names, after.names)
    title = " ".join(word for word in (f"#{ordinal}", stop.tag, stop.name) if word)
    return msgspec.structs.replace(diff, ordinal=ordinal, title=title)


def _sides(
    make: Callable[[], ForkedTool],
    ordinal: int,
    new_file: Callable[[], Path],
    skipped: bool,
    settled: bool,
    module: bool,
    generic: bool = False,
) -> tuple[NamedText, NamedText, Stop]:
    """Print before and after an action in one replica, as a value's key is of one process."""
    with make() as replica:
        stop = replica.advance(ordinal)
        root = None if module else _function_of(replica)
        before = print_named(replica, root, new_file(), generic)
        if skipped:
            return before, before, stop
        after = replica.advance(ordinal, "after")
        if after.outcome is not None and after.tag == "fold":
            _put_in_place(replica, after.outcome)
        return before, print_named(replica, root, new_file(), generic), stop


def _put_in_place(replica: ForkedTool, outcome: protocol.Outcome) -> None:
    """Go on until what a fold has found stands in the IR: its caller puts it there."""
    if outcome.result == "succeeded":
        replica.resume("step")


def _function_of(replica: ForkedTool) -> int | None:
    """Return the id of the function that holds the action's operation, or None."""
    with contextlib.suppress(NoSuchUnit, UnitErased):
        return replica.request(protocol.MoveCursor(to="function")).unit.id
    return None
