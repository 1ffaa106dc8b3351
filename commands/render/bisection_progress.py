"""How far a bisection is, on a terminal as a bar, else in lines."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from actiondbg.bisection.progress import Progress

Tell = Callable[["Progress"], None]


@contextlib.contextmanager
def showing_progress(err: TextIO, quiet: bool = False) -> Generator[Tell | None]:
    """Yield what a bisection tells its progress to.

    Args:
        err: where it is shown.
        quiet: show it only where it is a terminal.
    """
    if err.isatty():
        with _bar(err) as tell:
            yield tell
    elif quiet:
        yield None
    else:
        yield _Lines(err).tell


class _Lines:
    """A line for each verdict, and for what was found out."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._last = ""
        self._trials = 0

    def tell(self, progress: Progress) -> None:
        if progress.note:
            self._say(progress.note)
        if progress.trials != self._trials:
            self._trials = progress.trials
            self._say(_words(progress))

    def _say(self, line: str) -> None:
        if line != self._last:
            print(f"bisect: {line}", file=self._out, flush=True)
        self._last = line


@contextlib.contextmanager
def _bar(err: TextIO) -> Generator[Tell]:
    from rich.console import Console
    from rich.progress import BarColumn, TaskID, TextColumn
    from rich.progress import Progress as Bar

    console = Console(file=err)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[words]}"))
    with Bar(*columns, console=console, transient=True) as bar:
        task: TaskID = bar.add_task("bisect", total=None, words="")

        def tell(progress: Progress) -> None:
            if progress.note:
                console.print(progress.note, markup=False, highlight=False)
            total = None if progress.to_go is None else progress.trials + progress.to_go
            shown: dict[str, Any] = {"words": _words(progress)}
            bar.update(task, completed=progress.trials, total=total, **shown)

        yield tell


def _words(progress: Progress) -> str:
    words = [f"{progress.phase}: {progress.trials} trial{'s'[: progress.trials != 1]}"]
    if progress.to_go:
        words.append(f"about {progress.to_go} to go")
    if progress.range is not None:
        words.append(f"#{progress.range[0]} to #{progress.range[1]}")
    if progress.left is not None and progress.to_go:
        words.append(_time(progress.left))
    return ", ".join(words)


def _time(seconds: float) -> str:
    if seconds < 1:
        return "less than a second left"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02} left" if minutes else f"{rest} s left"
