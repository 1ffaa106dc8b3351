"""session.adb: commands of actiondbg's shell that go to the action and show it."""

from __future__ import annotations

from collections.abc import Sequence

from actiondbg.bisection.result import Entry, Result

SESSION = "session.adb"


def session_script(result: Result, command: str) -> str:
    """Return the script.

    Args:
        result: what was found.
        command: how the script is run.
    """
    entries = _entries(result)
    one = len(entries) == 1
    what = "the action that is to blame" if one else f"the {len(entries)} actions to blame"
    lines = [f"# Stops before {what}, shows it, carries it out, and shows what it did:"]
    lines += [f"#   {' '.join(command.split())}", ""]
    for entry in entries:
        lines += [f"# {' '.join(entry.words().split())}", f"break #{entry.ordinal}"]
    for number, entry in enumerate(entries):
        lines += ["run" if number == 0 else "continue", *_look(entry, result)]
    return "\n".join([*lines, ""])


def _look(entry: Entry, result: Result) -> Sequence[str]:
    guilty = result.guilty
    if guilty is not None and guilty.ordinal == entry.ordinal and guilty.outcome is None:
        return ("backtrace", "print", "next")  # the tool ends in it
    if entry.tag == "fold":
        return ("backtrace", "print function", "next", "diff")
    return ("backtrace", "print", "next", "diff")


def _entries(result: Result) -> Sequence[Entry]:
    """Return the actions to look at, with their ordinals in the run that skips nothing."""
    if result.mode == "minimize" and result.applied:
        return result.applied
    if result.mode == "skip" and result.skips:
        return result.skips
    return [result.guilty.entry] if result.guilty else []
