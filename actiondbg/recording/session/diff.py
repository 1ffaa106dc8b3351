"""What an action changed, as far as a recording holds the IR."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actiondbg.ir.diff import Diff, make_diff

if TYPE_CHECKING:
    from collections.abc import Iterable

    from actiondbg.recording.recording import Recording


def recorded_diff(recording: Recording, ordinal: int, longest: int | None = None) -> Diff | None:
    """Compare the IR before and after an action.

    With ``--ir function`` that is a function; with ``--ir changed`` a line for each operation, in
    which values have numbers that stay the same.

    Args:
        recording: that may hold it.
        ordinal: of the action.
        longest: characters of a side, beyond which it is not compared.

    Returns:
        None if a side is longer than that; an empty one if nothing is held.
    """
    found = recording.snapshots(ordinal)
    before = _text(one.before for one in found)
    after = _text(one.after for one in found)
    if longest is not None and max(len(before), len(after)) > longest:
        return None
    is_of_functions = recording.header.ir == "function"
    return make_diff(before, after, (), ()) if is_of_functions else Diff(before, after)


def _text(parts: Iterable[str | None]) -> str:
    return "".join(part if part.endswith("\n") else f"{part}\n" for part in parts if part)
