"""Details of a stop: the reproducer of a crash, and the displays."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from actiondbg.commands.interpreter.error_text import message_of
from actiondbg.commands.render.info import Display, Displayed
from actiondbg.commands.render.registry import show
from actiondbg.commands.render.stop import Reproduced
from actiondbg.errors import ActiondbgError
from actiondbg.process.stop import Stop

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Console


def show_stop_details(console: Console, result: object, silent: bool) -> dict[str, object]:
    """Write the reproducer of a caught crash, run the displays, and show both.

    Args:
        console: the console of the session.
        result: the result of a command; only stops have details.
        silent: the stop is not printed, nor are the displays.

    Returns:
        Further JSON keys of the stop.
    """
    if not isinstance(result, Stop) or result.when == "exit":
        return {}
    details: dict[str, object] = {}
    if _is_crash(console, result):
        reproduced = _reproduce(console, result)
        if not console.json:
            show(console, reproduced)
        details["reproducer"] = msgspec.to_builtins(reproduced)
    if not silent and (
        displayed := [run_display(console, each) for each in console.displays.all()]
    ):
        details["displays"] = msgspec.to_builtins(displayed)
    return details


def run_display(console: Console, one: Display) -> Displayed:
    """Run and show a display; its error is shown, but does not count as a failure."""
    if not console.json:
        console.out.write(f"{one.id}: {one.command}\n")
    console.displays.running = True
    try:
        result = console.interpreter.display(one.command)
    except BrokenPipeError:
        raise  # the reader of the output has exited
    except (ActiondbgError, OSError) as error:
        message = message_of(error)
        if not console.json:
            console.out.write(f"  {message}\n")
        return Displayed(one.id, one.command, ok=False, error=message)
    finally:
        console.displays.running = False
    return Displayed(one.id, one.command, ok=True, result=result)


def _is_crash(console: Console, stop: Stop) -> bool:
    if stop.reason != "catch":
        return False
    specs = {each.id: each.spec for each in console.session.breakpoints.all()}
    return any(specs.get(number) == "catch crash" for number in stop.breakpoints)


def _reproduce(console: Console, stop: Stop) -> Reproduced:
    path = _free_path(f"actiondbg-reproducer-{stop.ordinal}")
    try:
        made = console.live_session().past.reproducer(path)
    except (ActiondbgError, OSError) as error:
        return Reproduced(str(path), error=message_of(error))
    except KeyboardInterrupt:
        if not console.interactive:
            raise
        return Reproduced(str(path), error="interrupted.")
    return Reproduced(str(path), made.pipeline, list(made.command))


def _free_path(stem: str) -> Path:
    """Return an unused file name in the current directory."""
    path, number = Path(f"{stem}.mlir"), 2
    while path.exists():
        path, number = Path(f"{stem}-{number}.mlir"), number + 1
    return path
