"""The IR before and after an action, printed by replicas of the tool that stand there."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Literal, Protocol

from msgspec import structs

from actiondbg import protocol
from actiondbg.bisection.reproducer.strategies import AFTER, BEFORE, BEFORE_PASS
from actiondbg.bisection.result import Guilty
from actiondbg.errors import ActiondbgError, ToolGone
from actiondbg.ir.diff import Diff, make_diff
from actiondbg.process.forked_tool import ForkedTool
from actiondbg.process.value_names import print_named

_NAMED = "named"  # a file for a moment


class Past(Protocol):
    """A run that can be repeated, such as a Session's that is over."""

    @property
    def hello(self) -> protocol.Hello | None:
        """What the agent said of itself and the tool."""
        ...

    def replay(self, ordinal: int, when: Literal["before", "after"] = "before") -> ForkedTool:
        """Make a replica that stands at an action; close it."""
        ...


class Sides:
    """What replicas told of the guilty action.

    Attributes:
        texts: the files that were written.
        generic: those of them that are in generic form, as they are not valid IR.
        nth: the action's number among those of its tag, from 1; None if not known.
        diff: of a fold, as the driver puts its result in its place after it; else None.
        first: that of the first pattern application in its pass; None if not known.
        notes: what could not be told, and why.
    """

    def __init__(self) -> None:
        self.texts = set[str]()
        self.generic = set[str]()
        self.nth: int | None = None
        self.diff: Diff | None = None
        self.first: int | None = None
        self.notes: list[str] = []


def print_sides(past: Past, guilty: Guilty, folder: Path) -> Sides:
    """Print the module before and after an action, and before its pass, into a folder."""
    found = Sides()
    ordinal = ordinal_in_run(guilty)

    def try_to(what: str, act: Callable[[], None]) -> None:
        try:
            act()
        except ActiondbgError as error:
            found.notes.append(f"{what} is not known: {error}")

    if guilty.tag == "fold":
        try_to("What the fold did to the IR", lambda: _fold(past, ordinal, folder, found))
    else:
        try_to("The IR before the action", lambda: _before(past, ordinal, folder, found))
        try_to("The IR after the action", lambda: _after(past, ordinal, folder, found))
    place = guilty.pass_ordinal
    if place is not None and place != ordinal:
        try_to("The IR before the pass", lambda: _before_pass(past, place, folder, found))
    return found


def ordinal_in_run(guilty: Guilty) -> int:
    """Return the action's ordinal in the run that its stack is of."""
    return guilty.stack[0].ordinal if guilty.stack else guilty.ordinal


def _before(past: Past, ordinal: int, folder: Path, found: Sides) -> None:
    with past.replay(ordinal) as replica:
        found.nth = replica.stop.nth if replica.stop else None
        _print(replica, folder / BEFORE, found)


def _after(past: Past, ordinal: int, folder: Path, found: Sides) -> None:
    try:
        replica = past.replay(ordinal, "after")
    except ToolGone:
        found.notes.append("There is no IR after the action, as the tool ended in it.")
        return
    with replica:
        _print(replica, folder / AFTER, found)


def _fold(past: Past, ordinal: int, folder: Path, found: Sides) -> None:
    """Print around a fold, in one replica, as the key of a value is of one process.

    A fold only says what could stand in the operation's place: who asked puts it there, and has
    done so at the next event.
    """
    with past.replay(ordinal) as replica:
        found.nth = replica.stop.nth if replica.stop else None
        _print(replica, folder / BEFORE, found)
        before = print_named(replica, None, folder / _NAMED)
        replica.resume("next")
        replica.resume("step")
        _print(replica, folder / AFTER, found)
        after = print_named(replica, None, folder / _NAMED)
    if before.generic == after.generic:
        diff = make_diff(before.text, after.text, before.names, after.names)
        title = f"#{ordinal} fold and what was put in its place"
        found.diff = structs.replace(diff, ordinal=ordinal, title=title)


def _before_pass(past: Past, place: int, folder: Path, found: Sides) -> None:
    with past.replay(place) as replica:
        _print(replica, folder / BEFORE_PASS, found)
        with contextlib.suppress(ActiondbgError):
            until = protocol.Until(
                terms=[protocol.Term(kind="tag", glob="apply-pattern")],
                condition=None,
                within=False,
            )
            found.first = replica.resume("apply", until=until).nth


def _print(replica: ForkedTool, file: Path, found: Sides) -> None:
    printed = replica.request(protocol.Print(what="module", path=str(file)))
    found.texts.add(file.name)
    if printed.generic:
        found.generic.add(file.name)
