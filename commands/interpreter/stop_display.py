"""What a stop brings with it: the reproducer of a crash, and the displays."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from actiondbg.commands.interpreter.error_text import message_of
from actiondbg.commands.render.results import Reproduced
from actiondbg.commands.render.text import show
from actiondbg.errors import ActiondbgError
from actiondbg.process.stop import Stop

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Front


def arrive(front: Front, result: Any, silent: bool) -> dict[str, Any]:
    """Write a reproducer if a crash was caught, run the displays, and show both.

    Args:
        front: where they are shown.
        result: what a command gave; nothing is done unless it is a stop of the tool.
        silent: the displays are left out, as the stop is.

    Returns:
        What is told of them in JSON, beside the keys of the stop.
    """
    if not isinstance(result, Stop) or result.when == "exit":
        return {}
    beside: dict[str, Any] = {}
    if _is_crash(front, result):
        reproduced = _reproduce(front, result)
        if not front.json:
            show(front, reproduced)
        beside["reproducer"] = msgspec.to_builtins(reproduced)
    if not silent and (displayed := front.displays.run_all(front)):
        beside["displays"] = msgspec.to_builtins(displayed)
    return beside


def _is_crash(front: Front, stop: Stop) -> bool:
    if stop.reason != "catch":
        return False
    specs = {each.id: each.spec for each in front.session.breakpoints}
    return any(specs.get(number) == "catch crash" for number in stop.breakpoints)


def _reproduce(front: Front, stop: Stop) -> Reproduced:
    path = _free_path(f"actiondbg-reproducer-{stop.ordinal}")
    try:
        made = front.tool().reproducer(path)
    except (ActiondbgError, OSError) as error:
        return Reproduced(str(path), error=message_of(error))
    except KeyboardInterrupt:
        if not front.interactive:
            raise
        return Reproduced(str(path), error="It was interrupted.")
    return Reproduced(str(path), made.pipeline, list(made.command))


def _free_path(stem: str) -> Path:
    """Return the path of a file of this directory that is not there yet."""
    path, number = Path(f"{stem}.mlir"), 2
    while path.exists():
        path, number = Path(f"{stem}-{number}.mlir"), number + 1
    return path
