"""Details of a stop: ways back from the end, the reproducer of a crash, and the displays."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec

from actiondbg.commands.interpreter.error_text import message_of
from actiondbg.commands.render.registry import show
from actiondbg.commands.render.status import Display, Displayed
from actiondbg.commands.render.stop import Reproduced
from actiondbg.commands.render.tables import fitted
from actiondbg.process.stop import Stop

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Console


def show_stop_details(console: Console, result: object, silent: bool) -> dict[str, object]:
    """Write the reproducer of a crash, run the displays, and show both.

    Args:
        result: the result of a command; only stops have details.
        silent: the stop is not printed, nor are the displays.

    Returns:
        Further JSON keys of the stop.
    """
    if not isinstance(result, Stop):
        return {}
    if result.when == "exit":
        _show_ways_back(console, result)
        return {}
    details: dict[str, object] = {}
    if result.is_crash and result.ordinal and console.settings.on("reproducer-directory"):
        reproduced = _reproduce(console)
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
    except Exception as error:
        message = message_of(console.interpreter.reported(one.command, error))
        if not console.json:
            console.out.write(f"{fitted(f'  {message}', console.width)}\n")
        return Displayed(one.id, one.command, ok=False, error=message)
    finally:
        console.displays.running = False
    return Displayed(one.id, one.command, ok=True, result=result)


def _show_ways_back(console: Console, stop: Stop) -> None:
    """Tell a user at the prompt how to go back from the end of the run."""
    if console.interactive and not console.json and stop.event and console.can_go_back:
        way = "reverse-step goes back to the last event, goto #N to any action."
        console.out.write(f"{console.fitted(way)}\n")


def _reproduce(console: Console) -> Reproduced:
    directory = os.path.expanduser(console.settings["reproducer-directory"])
    try:
        made = console.live_session().past.keep_reproducer(directory)
    except Exception as error:
        reported = console.interpreter.reported("the reproducer of the crash", error)
        return Reproduced(directory, error=message_of(reported))
    except KeyboardInterrupt:
        if not console.interactive:
            raise
        return Reproduced(directory, error="Interrupted.")
    path = os.path.join(directory, os.path.basename(made.path))
    return Reproduced(path, made.pipeline, list(made.command), is_new=made.is_new)
