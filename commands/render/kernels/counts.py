"""The cost of counted calls: totals of functions and threads, and statistics."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from actiondbg.commands.render.stat import GAMMA, quantity_lines
from actiondbg.commands.render.tables import aligned
from actiondbg.statistics.quantities import DURATION, value_text
from actiondbg.support.counts import counted

if TYPE_CHECKING:
    from actiondbg.kernels.counting.measurement import (
        CallCost,
        CallStatistics,
        FunctionTotal,
        Thread,
        ThreadTotal,
    )

_MORE = "--name GLOB prints the statistics of one function, --by-thread those of each thread."


def counts_text(
    cost: CallCost, argv: Sequence[str], most: int, tables: bool = True, gamma: float = GAMMA
) -> str:
    """Return the cost of the calls of a program, or of a folder, as text; ``most`` 0: all."""
    functions, threads = len(cost.functions), len(cost.threads)
    lines = [
        f"{counted(cost.calls.size, 'call')} of {counted(functions, 'function')} in "
        f"{counted(threads, 'thread')}: {shlex.join(argv)}"
    ]
    lines += [f"Note: {note}" for note in cost.calls.notes]
    lines += ["", *_function_lines(cost.functions[: most or None])]
    if most and functions > most:
        lines.append(f"... and {counted(functions - most, 'more function')}; --limit 0 lists all")
    lines += ["", *_thread_lines(cost.threads)]
    if not cost.statistics:
        lines += ["", _MORE]
    for statistics in cost.statistics:
        lines += ["", *_statistic_lines(statistics, tables, gamma)]
    return "\n".join(lines)


def _function_lines(totals: Sequence[FunctionTotal]) -> list[str]:
    titles = ["calls", DURATION, "/call"]
    for event in totals[0].events:
        titles += [event, "/call"]
    names = Counter(total.function.name for total in totals)
    rows = [[*titles, "function"]]
    for total in totals:
        mean = total.duration / total.calls
        row = [f"{total.calls:,}", value_text(DURATION, total.duration), value_text(DURATION, mean)]
        for event, count in total.events.items():
            row += [value_text(event, count), value_text(event, total.means[event])]
        is_unique = names[total.function.name] == 1
        library = "" if is_unique else f" ({total.function.library})"
        rows.append([*row, total.function.name + library])
    return aligned(rows)


def _thread_lines(totals: Sequence[ThreadTotal]) -> list[str]:
    rows = [["calls", DURATION, "process", "thread", "calls on each CPU"]]
    for total in totals:
        cpus = ", ".join(f"{cpu}: {calls:,}" for cpu, calls in total.cpus.items())
        rows.append(
            [
                f"{total.calls:,}",
                value_text(DURATION, total.duration),
                str(total.thread.process),
                _thread_text(total.thread),
                cpus,
            ]
        )
    return aligned(rows)


def _thread_text(thread: Thread) -> str:
    return f"{thread.name} ({thread.number})"


def _statistic_lines(statistics: CallStatistics, tables: bool, gamma: float) -> list[str]:
    title: list[str] = []
    if statistics.thread is not None:
        title = [
            f"Thread {_thread_text(statistics.thread)} of process {statistics.thread.process}, "
            f"{counted(statistics.calls, 'call')}:",
            "",
        ]
    return title + quantity_lines(statistics.quantities, statistics.relations, tables, gamma)
