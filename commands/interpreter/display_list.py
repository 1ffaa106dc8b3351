"""The displays of a front: commands that are run, and shown, at each stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actiondbg.commands.interpreter.error_text import message_of
from actiondbg.commands.render.results import Display, Displayed
from actiondbg.errors import ActiondbgError

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Front


class Displays:
    """Displays, under numbers from 1 that are never given out again.

    Attributes:
        running: whether one is run now; the tool must not go on meanwhile.
    """

    def __init__(self) -> None:
        self.running = False
        self._all: dict[int, Display] = {}
        self._newest = 0

    def all(self) -> list[Display]:
        """Return all, in the order of their numbers."""
        return list(self._all.values())

    def add(self, line: str) -> Display:
        """Add a command line."""
        self._newest += 1
        added = self._all[self._newest] = Display(self._newest, line)
        return added

    def remove(self, ids: list[int]) -> None:
        """Forget displays."""
        for number in ids:
            del self._all[number]

    def run_all(self, front: Front) -> list[Displayed]:
        """Run and show all, one after the other."""
        return [self.run(front, each) for each in self.all()]

    def run(self, front: Front, one: Display) -> Displayed:
        """Run one and show it; an error of it is shown too, and no failure."""
        if not front.json:
            front.out.write(f"{one.id}: {one.command}\n")
        self.running = True
        try:
            result = front.interpreter.display(one.command)
        except BrokenPipeError:
            raise  # nobody reads us any more
        except (ActiondbgError, OSError) as error:
            message = message_of(error)
            if not front.json:
                front.out.write(f"  {message}\n")
            return Displayed(one.id, one.command, ok=False, error=message)
        finally:
            self.running = False
        return Displayed(one.id, one.command, ok=True, result=result)
