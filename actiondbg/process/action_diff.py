"""The IR before and after an action, printed with the values that its SSA names denote."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from actiondbg import protocol
from actiondbg.errors import NoAnswer, NoSuchUnit, UnitErased
from actiondbg.ir.diff import Diff, make_diff
from actiondbg.ir.printed_values import PrintedValues
from actiondbg.ir.value_names import NamedKeys, ValueNames, read_names
from actiondbg.process.forked_tool import ForkedTool
from actiondbg.process.stop import Stop
from actiondbg.protocol.tags import FOLD_TAG, STEP_TAG


class NamedText(NamedTuple):
    """Printed IR."""

    text: str
    named: NamedKeys  # the values; each has the same key in every print of one process
    generic: bool  # whether it is in generic form, requested or not

    @property
    def names(self) -> list[tuple[str, str]]:
        """The (NAME, KEY) of every value."""
        return [(name, key) for name, key, _ in self.named.inside]

    def renamed(self, names: ValueNames) -> NamedText:
        """Return the IR with a session's names."""
        text = PrintedValues(self.text, self.named).renamed(names)
        inside, around = (
            [each._replace(name=names.known(each.key) or each.name) for each in part]
            for part in (self.named.inside, self.named.around)
        )
        return NamedText(text, NamedKeys(inside, around), self.generic)


def print_named(
    fork: ForkedTool, operation: int | None, file: Path, generic: bool = False
) -> NamedText:
    """Print an operation, None for the module, with the names of its values.

    Invalid IR is always printed in generic form. The file is a temporary one.

    Raises:
        NoSuchUnit, UnitErased: the operation does not exist.
    """
    names = file.with_name(f"{file.name}-names")
    message = protocol.Print(
        what="module" if operation is None else "operation",
        id=operation,
        path=str(file),
        names=str(names),
        generic=generic,
    )
    try:
        printed = fork.request(message)
        return NamedText(_read(file), read_names(_read(names)), printed.generic)
    finally:
        file.unlink(missing_ok=True)
        names.unlink(missing_ok=True)


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""


def compare_action(
    make: Callable[[], ForkedTool],
    ordinal: int,
    new_file: Callable[[], Path],
    *,
    module: bool = False,
    skipped: bool = False,
    names: ValueNames | None = None,
) -> Diff:
    """Compare the IR before an action with the IR after it.

    Args:
        make: makes a fork, stopped before the action or earlier.
        ordinal: the action's number, from 1.
        new_file: returns a path for a temporary file.
        module: compare the whole module; otherwise the function that holds the action's operation,
            if it exists before and after the action.
        skipped: whether the action is skipped, and so changes nothing.
        names: the names of values; None for the printer's.
    """
    print_both = functools.partial(_print_both, make, ordinal, new_file, skipped)
    try:
        before, after, stop = print_both(module)
    except (NoSuchUnit, UnitErased):
        if module:
            raise
        module = True
        before, after, stop = print_both(module)
    if before.generic != after.generic:
        before, after, stop = print_both(module, generic=True)
    if names is not None:
        names.learn_all(before.named)
        before, after = before.renamed(names), after.renamed(names)
    return make_diff(before.text, after.text, before.names, after.names).of_action(stop)


def _print_both(
    make: Callable[[], ForkedTool],
    ordinal: int,
    new_file: Callable[[], Path],
    skipped: bool,
    module: bool,
    generic: bool = False,
) -> tuple[NamedText, NamedText, Stop]:
    """Print the IR before and after an action, in one fork: keys of values differ by process."""
    with make() as fork:
        stop = fork.advance(ordinal)
        # An operation of a schedule changes other functions than its own.
        is_step = stop.tag == STEP_TAG
        root = None if module or is_step else _function_of(fork)
        before = print_named(fork, root, new_file(), generic)
        if skipped:
            return before, before, stop
        after = fork.advance(ordinal, "after")
        fork.check_same()
        if after.ordinal != ordinal:
            how = "the tool left it, as it recovered from a crash"
            raise NoAnswer(f"The action #{ordinal} has no end: {how}.")
        if after.outcome is not None and after.tag == FOLD_TAG:
            _apply_fold(fork, after.outcome)
        return before, print_named(fork, root, new_file(), generic), stop


def _apply_fold(fork: ForkedTool, outcome: protocol.Outcome) -> None:
    """Resume until the caller of a fold has inserted the folded values into the IR."""
    if outcome.result == "succeeded":
        fork.resume("step")


def _function_of(fork: ForkedTool) -> int | None:
    """Return the id of the function that holds the action's operation, or None."""
    with contextlib.suppress(NoSuchUnit, UnitErased):
        return fork.request(protocol.MoveCursor(to="function")).unit.id
    return None
