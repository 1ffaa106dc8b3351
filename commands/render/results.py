"""What commands return beside the objects of Session; docs/commands.md documents the keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from actiondbg.breakpoints.breakpoint import Breakpoint
from actiondbg.process.checkpoints import Automatic, Checkpoint
from actiondbg.protocol import Changes, Frame, Statistic, Unit

if TYPE_CHECKING:
    from actiondbg.analysis.cycles import Cycle
    from actiondbg.bisection.result import Result
    from actiondbg.ir.diff import Diff
    from actiondbg.recording.session.past import RecordedAttempts
    from actiondbg.session.past import Attempts, History


class Text(msgspec.Struct):
    """Words for people: help, echo, a confirmation."""

    text: str


class Backtrace(msgspec.Struct):
    """The stack of actions, innermost first, and which of them is selected."""

    frames: list[Frame]
    selected: int


class Units(msgspec.Struct):
    """IR units, numbered from 0, as cursor-select-from-context and others take them."""

    units: list[Unit]


class Breakpoints(msgspec.Struct):
    """Breakpoints (JSON has their public fields)."""

    breakpoints: list[Breakpoint]


class SettingsShown(msgspec.Struct):
    """Settings by name."""

    settings: dict[str, str]


class Facts(msgspec.Struct):
    """Named facts about the tool or the program; None where a fact is not known now."""

    title: str
    facts: dict[str, Any]


class Written(msgspec.Struct):
    """IR that was sent elsewhere: ``operator`` is >, >> or |, ``bytes`` is its length."""

    target: str
    operator: str
    bytes: int


class Printed(msgspec.Struct):
    """IR as JSON gives it; ``generic`` is whether it is in the generic form."""

    text: str
    generic: bool


class CursorPlace(msgspec.Struct):
    """Where the cursor is (info cursor); ``path`` as docs/protocol.md has it."""

    kind: str
    name: str | None
    state: str
    text: str | None
    location: str | None
    function: str | None
    path: list[int]
    id: int | None = None


class OutcomeShown(msgspec.Struct):
    """What the action of the stop came to; ``changes`` is how many there are."""

    ordinal: int
    tag: str
    name: str
    result: str
    reasons: list[str]
    how: str | None
    values: list[str]
    changes: int


class ChangesShown(msgspec.Struct):
    """The changes of the selected action."""

    ordinal: int
    changes: Changes


class StatisticsShown(msgspec.Struct):
    """What the patterns, the passes or the folds came to, and their sum.

    ``glob`` is of the names that were asked for, None for all.
    """

    kind: str
    glob: str | None
    rows: list[Statistic]
    total: Statistic


class AttemptsShown(msgspec.Struct):
    """Past attempts of a pattern; ``each``: a line for each of them."""

    attempts: Attempts | RecordedAttempts
    each: bool


class HistoryShown(msgspec.Struct):
    """The life of an operation."""

    history: History


class CycleShown(msgspec.Struct):
    """The actions that repeat, if any do."""

    cycle: Cycle | None


class DiffShown(msgspec.Struct):
    """What an action changed; ``context`` is how many equal lines stand around a change."""

    diff: Diff
    side_by_side: bool
    context: int


class Counted(msgspec.Struct):
    """How many operations there are of a name, in the module or in the cursor's function."""

    glob: str
    function: bool
    count: int


class Display(msgspec.Struct):
    """A command that is run at each stop."""

    id: int
    command: str


class Displays(msgspec.Struct):
    """The commands that are run at each stop."""

    displays: list[Display]


class Displayed(msgspec.Struct):
    """What a display gave, which people have been shown: a result as JSON has it, or an error."""

    id: int
    command: str
    ok: bool
    result: Any = None
    error: str | None = None


class CheckpointsShown(msgspec.Struct):
    """The checkpoints of the run, and how many the tool has made of itself."""

    checkpoints: list[Checkpoint]
    automatic: Automatic


class Reproduced(msgspec.Struct):
    """The file that reproduces a crash, and what shows it; or why there is none."""

    path: str
    pipeline: str | None = None
    command: list[str] = []
    error: str | None = None


class Bisected(msgspec.Struct):
    """What a bisection found."""

    result: Result
