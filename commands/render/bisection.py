"""The progress and the result of a bisection."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, TextIO

import msgspec

from actiondbg.commands.render.past import paint_line
from actiondbg.commands.render.renderer import RenderContext, renders
from actiondbg.commands.render.stop import outcome_lines, result_words
from actiondbg.commands.render.units import describe

if TYPE_CHECKING:
    from actiondbg.bisection.progress import Progress
    from actiondbg.bisection.result import Culprit, Entry, Result

_MOST_LINES = 40  # of a diff
_MOST_ENTRIES = 20  # of a set

_VERDICTS = {
    "found": "Found",
    "untestable": "Untestable",
    "not-bad": "Not bad",
    "not-good-at-start": "Not good at the start",
    "flaky": "Flaky",
}


class Bisected(msgspec.Struct):
    """The result of a bisection."""

    result: Result


def bisection_text(result: Result, paint: Callable[[str], str] = str) -> str:
    """Return the result as text.

    Args:
        result: the result of the bisection.
        paint: colours a line of a diff.
    """
    lines = [f"{_VERDICTS[result.verdict]}: {result.message}"]
    if result.culprit is not None:
        lines += _culprit_lines(result.culprit, paint)
    if result.mode == "minimize" and result.applied:
        lines += ["Applied, all others skipped:", *_entries(result.applied)]
    if result.mode == "skip" and result.skips:
        lines += ["Skipped, all others applied:", *_entries(result.skips)]
    lines += [f"Note: {note}" for note in result.notes]
    trials = _plural(result.trials, "trial")
    candidates = _plural(result.candidates, "candidate")
    lines.append(f"{trials}, {candidates}, {result.seconds:.1f} s.")
    return "\n".join([*lines, *_reproducer_lines(result)])


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s'[: count != 1]}"


def _culprit_lines(culprit: Culprit, paint: Callable[[str], str]) -> list[str]:
    lines = [f"  {i}  {describe(frame)}" for i, frame in enumerate(culprit.stack)]
    if culprit.pass_pipeline is not None:
        lines.append(f"Pass: {culprit.pass_pipeline}")
    if culprit.outcome is not None:
        words = [result_words(culprit.outcome, 1), *outcome_lines(culprit.outcome, culprit.tag)]
        lines.append(f"Outcome: {'; '.join(words)}")
    if culprit.diff is None or culprit.diff.is_empty:
        return lines
    diff = [f"--- before {culprit.diff.title}", "+++ after", *culprit.diff.unified()]
    lines += [paint(line) for line in diff[:_MOST_LINES]]
    if len(diff) > _MOST_LINES:
        lines.append(f"... and {len(diff) - _MOST_LINES} more lines")
    return lines


def _entries(entries: list[Entry]) -> list[str]:
    lines = [f"  {entry.describe()}" for entry in entries[:_MOST_ENTRIES]]
    if len(entries) > _MOST_ENTRIES:
        lines.append(f"  ... and {len(entries) - _MOST_ENTRIES:,} more")
    return lines


def _reproducer_lines(result: Result) -> list[str]:
    if result.reproducer is None:
        return []
    folder = shlex.quote(result.reproducer)
    status = "verified: shows good and bad"
    if not result.reproducer_verified:
        status = "not verified: see the report"
    return [f"Report: {folder}/report.md", f"Reproducer: {folder}/repro.sh ({status})"]


def bisected_text(context: RenderContext, shown: Bisected) -> str:
    """Return the result as text, with coloured diffs."""
    return bisection_text(shown.result, lambda line: paint_line(context, line))


def _bisected_object(shown: Bisected) -> object:
    return shown.result.as_json()


RENDERERS = (renders(Bisected, bisected_text, _bisected_object),)


# --- progress ----------------------------------------------------------------------------

Report = Callable[["Progress"], None]


@contextlib.contextmanager
def progress_display(err: TextIO, quiet: bool = False) -> Generator[Report | None]:
    """Yield a callback that shows the progress of a bisection, or None.

    Args:
        err: the stream to show it on.
        quiet: show it only on a terminal.
    """
    if err.isatty():
        with _bar(err) as report:
            yield report
    elif quiet:
        yield None
    else:
        yield _Lines(err).report


class _Lines:
    """Progress as lines: one for each verdict and each note."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._last = ""
        self._trials = 0

    def report(self, progress: Progress) -> None:
        if progress.note:
            self._print(progress.note)
        if progress.trials != self._trials:
            self._trials = progress.trials
            self._print(_words(progress))

    def _print(self, line: str) -> None:
        if line != self._last:
            print(f"bisect: {line}", file=self._out, flush=True)
        self._last = line


@contextlib.contextmanager
def _bar(err: TextIO) -> Generator[Report]:
    from rich.console import Console
    from rich.progress import BarColumn, TaskID, TextColumn
    from rich.progress import Progress as Bar

    console = Console(file=err)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[words]}"))
    with Bar(*columns, console=console, transient=True) as bar:
        task: TaskID = bar.add_task("bisect", total=None, words="")

        def report(progress: Progress) -> None:
            if progress.note:
                console.print(progress.note, markup=False, highlight=False)
            total = None if progress.to_go is None else progress.trials + progress.to_go
            bar.update(task, completed=progress.trials, total=total, words=_words(progress))

        yield report


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
