"""The text of what breaks the rules of rewriting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from actiondbg.commands.render.units import path_from_here
from actiondbg.lint.reports import command_of
from actiondbg.support.counts import counted, time_text

if TYPE_CHECKING:
    from actiondbg.lint.api import Stage
    from actiondbg.lint.rules import Finding


def progress_words(stage: Stage, done: int, total: int) -> str:
    """Return a line about a check that goes on."""
    if stage == "tool":
        return "running the tool ..."
    if stage == "recordings":
        return f"{counted(done, 'run')} checked ..."
    return f"{done:,} of {counted(total, 'command')} run again ..."


def lint_text(findings: Sequence[Finding], runs: int, known: int) -> str:
    """Return the text of findings, by rule; ``known`` is the number of those in the baseline."""
    lines: list[str] = []
    shows_commands = len({each.place.command for each in findings}) > 1
    for name, group in groupby(findings, key=lambda each: each.rule):
        of_rule = list(group)
        rule = of_rule[0].declared
        lines += [f"{name}: {rule.meaning}", f"  {rule.advice}", ""]
        for each in of_rule:
            lines += [*_lines(each), *([f"    {command_of(each)}"] if shows_commands else [])]
        lines.append("")
    total = f"{counted(len(findings), 'finding')} in {counted(runs, 'run')}"
    lines.append(f"{total}, {known} known." if known else f"{total}.")
    return "\n".join(lines)


def _lines(finding: Finding) -> Iterator[str]:
    times = "once" if finding.times == 1 else f"{finding.times:,} times"
    runs = f", in {finding.runs:,} runs" if finding.runs > 1 else ""
    detail = f"{finding.detail}; " if finding.detail else ""
    yield f"  {finding.subject}: {detail}{times}{runs}, {time_text(finding.seconds * 1e9)}"
    place = finding.place
    where: list[str] = []
    if place.file is not None:
        line = f":{place.line}" if place.line else ""  # 0: MLIR knows the file only
        where.append(f"{path_from_here(place.file)}{line}")
    if place.function is not None:
        where.append(f"in @{place.function}")
    if place.ordinal:
        where.append(f"action #{place.ordinal}")
    if place.test is not None:
        where.append(f"of {place.test}")
    if where:
        yield f"    {', '.join(where)}"
