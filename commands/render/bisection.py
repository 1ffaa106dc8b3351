"""The progress and the result of a bisection."""

from __future__ import annotations

import bisect
import contextlib
import itertools
import os
import shlex
import shutil
from collections.abc import Callable, Generator
from functools import partial
from typing import TYPE_CHECKING, TextIO

import msgspec

from actiondbg.commands.render.actions import describe
from actiondbg.commands.render.diff import unified_line
from actiondbg.commands.render.outcomes import outcome_lines, result_words
from actiondbg.commands.render.renderer import RenderContext, renders
from actiondbg.commands.render.tables import fitted
from actiondbg.support.counts import counted

if TYPE_CHECKING:
    from actiondbg.bisection.progress import Progress
    from actiondbg.bisection.result import Culprit, Entry, Result

_MOST_LINES = 40  # of a diff
_LEAST_LINES = 8  # of a diff on a small screen
_MOST_ENTRIES = 20  # of a set

_VERDICTS = {
    "found": "Found",
    "untestable": "Untestable",
    "not-bad": "Not bad",
    "not-good-at-start": "Not good at the start",
    "flaky": "Flaky",
    "limit": "Limit reached",
}


class Bisected(msgspec.Struct):
    result: Result


def bisection_text(
    result: Result, paint: Callable[[str], str] = str, screen: os.terminal_size | None = None
) -> str:
    """Return the result as text, which fits a screen; ``paint`` colours a line of a diff."""
    lines = [f"{_VERDICTS[result.verdict]}: {result.message}"]
    if result.crash is not None:
        lines.append(f"Crash: {result.crash}")
    if result.culprit is not None:
        lines += _culprit_lines(result.culprit)
    after: list[str] = []
    if result.mode == "minimize" and result.applied:
        after += ["Applied, all others skipped:", *_entries(result.applied)]
    if result.mode == "skip" and result.skips:
        after += ["Skipped, all others applied:", *_entries(result.skips)]
    after += [f"Note: {note}" for note in result.notes]
    counts = [counted(result.trials, "trial"), counted(result.candidates, "candidate")]
    if result.oracle_runs:
        counts.insert(1, f"{counted(result.oracle_runs, 'run')} of the oracle")
    after += [f"{', '.join(counts)}, {result.seconds:.1f} s.", *_reproducer_lines(result)]
    width = None if screen is None else max(screen.columns, 1)
    lines, after = (fitted("\n".join(part), width).split("\n") for part in (lines, after))
    diff: list[str] = []
    if result.culprit and result.culprit.diff and not result.culprit.diff.is_empty:
        found = result.culprit.diff
        diff = [f"--- before {found.title}", "+++ after", *found.unified()]
    shown = _fitting(diff, [*lines, *after], screen)
    lines += [paint(line) for line in diff[:shown]]
    if shown < len(diff):
        more = counted(len(diff) - shown, "more line")
        where = f" in {shlex.quote(result.reproducer)}/report.md" if result.reproducer else ""
        lines.append(f"... and {more}{where}")
    return "\n".join([*lines, *after])


def _fitting(diff: list[str], others: list[str], screen: os.terminal_size | None) -> int:
    """Return how many lines of a diff are shown, so that all fits on the screen."""
    if screen is None:
        return min(len(diff), _MOST_LINES)
    columns = max(screen.columns, 1)

    def rows(line: str) -> int:
        return max(1, -(-len(line) // columns))

    room = screen.lines - 3 - sum(map(rows, others))  # below are the rest and the prompt
    ends = list(itertools.accumulate(map(rows, diff)))
    if ends and ends[-1] <= room + 1:
        return len(diff)
    return max(bisect.bisect_right(ends, room), min(len(diff), _LEAST_LINES))


def _culprit_lines(culprit: Culprit) -> list[str]:
    lines = [f"  {i}  {describe(frame)}" for i, frame in enumerate(culprit.stack)]
    if culprit.pass_pipeline is not None:
        lines.append(f"Pass: {culprit.pass_pipeline}")
    if culprit.outcome is not None:
        words = [result_words(culprit.outcome, 1), *outcome_lines(culprit.outcome, culprit.tag)]
        lines.append(f"Outcome: {'; '.join(words)}")
    return lines


def _entries(entries: list[Entry]) -> list[str]:
    from actiondbg.bisection.result import listed

    return [f"  {line}" for line in listed(entries, _MOST_ENTRIES)]


def _reproducer_lines(result: Result) -> list[str]:
    if result.reproducer is None:
        return []
    folder = shlex.quote(result.reproducer)
    status = "verified: shows good and bad"
    if result.reproducer_needs_actiondbg:
        status += ", and needs actiondbg"
    if not result.reproducer_verified:
        status = "not verified: see the report"
    return [f"Report: {folder}/report.md", f"Reproducer: {folder}/repro.sh ({status})"]


def bisected_text(context: RenderContext, shown: Bisected) -> str:
    screen = None if context.width is None else shutil.get_terminal_size()
    return bisection_text(shown.result, partial(unified_line, context.ir_view), screen)


renders(Bisected, bisected_text, lambda shown: shown.result.as_json(), fits=True)


# --- progress ----------------------------------------------------------------------------

Report = Callable[["Progress"], None]


@contextlib.contextmanager
def progress_display(err: TextIO, quiet: bool = False) -> Generator[Report | None]:
    """Yield a callback that shows the progress of a bisection; if quiet, on a terminal only."""
    if err.isatty():
        with _bar(err) as report:
            yield report
    elif quiet:
        yield None
    else:
        yield _lines(err)


def _lines(out: TextIO) -> Report:
    """Return a callback that prints a line for each verdict and each note."""
    last, trials = "", 0

    def show(line: str) -> None:
        nonlocal last
        if line != last:
            print(f"bisect: {line}", file=out, flush=True)
        last = line

    def report(progress: Progress) -> None:
        nonlocal trials
        if progress.note:
            show(progress.note)
        if progress.trials != trials:
            trials = progress.trials
            show(progress_words(progress))

    return report


@contextlib.contextmanager
def _bar(err: TextIO) -> Generator[Report]:
    from rich.console import Console
    from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    console = Console(file=err)
    words = TextColumn("{task.fields[words]}")
    columns = (TextColumn("{task.description}"), BarColumn(32), TimeElapsedColumn(), words)
    with Bar(*columns, console=console, transient=True) as bar:
        task: TaskID = bar.add_task("bisect", total=None, words="")

        def report(progress: Progress) -> None:
            if progress.note:
                console.print(progress.note, markup=False, highlight=False)
            total = None if progress.to_go is None else progress.trials + progress.to_go
            bar.update(task, completed=progress.trials, total=total, words=progress_words(progress))

        yield report


def progress_words(progress: Progress) -> str:
    words = [f"{progress.phase}: {counted(progress.trials, 'trial')}"]
    how = "at least" if progress.at_least else "about"
    if progress.to_go:
        words.append(f"{how} {progress.to_go} to go")
    if progress.best is not None:
        words.append(f"{counted(progress.best, 'candidate')} so far")
    if progress.range is not None:
        words.append(f"#{progress.range[0]} to #{progress.range[1]}")
    if progress.left is not None and progress.to_go:
        words.append(_time(progress.left, "at least " if progress.at_least else ""))
    return ", ".join(word for word in words if word)


def _time(seconds: float, how: str) -> str:
    if seconds < 1 and how:
        return ""
    if seconds < 1:
        return "less than a second left"
    minutes, rest = divmod(round(seconds), 60)
    return f"{how}{minutes}:{rest:02} left" if minutes else f"{how}{rest} s left"
