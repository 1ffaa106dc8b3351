"""The culprits of wrong kernels: one kernel, and the triage of many."""

from __future__ import annotations

from collections.abc import Sequence

from actiondbg.commands.render.units import path_from_here
from actiondbg.kernels.bisection.dispatch_bisection import BisectedKernel, CulpritGroup
from actiondbg.kernels.results.entry import Row
from actiondbg.support.counts import counted

_MOST_NAMES = 4  # of kernels in a group


def row_line(row: Row) -> str:
    """Return the verdict of a kernel in one line, before its bisection."""
    verification = row.verification
    if verification is None:
        return f"{row.dispatch.name}: not verified"
    line = f"{row.dispatch.name}: {verification.verdict}"
    if verification.wrong:
        line += f", {verification.wrong:,} of {verification.total:,} elements are wrong"
    if verification.detail and verification.verdict != "SUCCESS":
        line += f"{'.' if verification.wrong else ','} {verification.detail}"
    return line


def culprit_lines(kernel: BisectedKernel) -> list[str]:
    """Return the culprit of a kernel, with the folder of the report."""
    culprit = kernel.culprit
    if not culprit.is_found:
        return [f"  Undecided ({culprit.verdict}): {culprit.sentence}"]
    lines = [f"  Culprit: {culprit.sentence}"]
    if culprit.pipeline:
        lines.append(f"  Pass: {culprit.pipeline}")
    lines.append(f"  {counted(culprit.trials, 'trial')}, {culprit.seconds:.1f} s.")
    if culprit.folder is not None:
        lines.append(f"  Report: {path_from_here(str(culprit.folder))}/report.md")
    return lines


def triage_text(rows: Sequence[Row], groups: Sequence[CulpritGroup]) -> str:
    """Return how many kernels are wrong, and a table of the distinct culprits."""
    wrong = sum(row.is_wrong for row in rows)
    bisected = sum(len(group.kernels) for group in groups)
    found = [group for group in groups if group.is_found]
    decided = sum(len(group.kernels) for group in found)
    head = f"{counted(len(rows), 'kernel')}: {wrong} wrong"
    if bisected:
        head += f", {decided} of {bisected} bisected to {counted(len(found), 'culprit')}"
    lines = [f"{head}."]
    shown = groups if bisected > 1 else ()  # one alone was just printed
    for number, group in enumerate(shown, 1):
        lines += _group_lines(number, group)
    return "\n".join(lines)


def triage_object(rows: Sequence[Row], groups: Sequence[CulpritGroup]) -> dict[str, object]:
    """Return the verdicts and the culprits with stable keys, for JSON."""
    return {
        "kernels": [
            {
                "dispatch": row.dispatch.name,
                "verdict": row.verification.verdict if row.verification else None,
                "wrong": row.verification.wrong if row.verification else None,
                "total": row.verification.total if row.verification else None,
                "culprit": row.culprit or None,
                "report": row.culprit_folder or None,
            }
            for row in rows
        ],
        "culprits": [_group_object(group) for group in groups],
    }


def _group_object(group: CulpritGroup) -> dict[str, object]:
    culprit = group.example.culprit
    return {
        "title": group.title,
        "verdict": culprit.verdict,
        "tag": culprit.tag or None,
        "name": culprit.name or None,
        "pass": culprit.pass_name or None,
        "pipeline": culprit.pipeline or None,
        "example": group.example.dispatch.name,
        "report": str(culprit.folder) if culprit.folder else None,
        "message": culprit.sentence,
        "kernels": [each.dispatch.name for each in group.kernels],
    }


def _group_lines(number: int, group: CulpritGroup) -> list[str]:
    example = group.example
    lines = [f"{number}. {group.title}, {counted(len(group.kernels), 'kernel')}"]
    lines.append(f"   smallest: {example.dispatch.name}")
    pipeline = example.dispatch.configuration.parameters.get("pipeline")
    if pipeline:
        lines.append(f"   pipeline: {pipeline}")
    if example.culprit.pass_text:
        lines.append(f"   pass: {example.culprit.pass_text}")
    if example.culprit.folder is not None:
        lines.append(f"   report: {path_from_here(str(example.culprit.folder))}/report.md")
    if not group.is_found:
        lines.append(f"   {example.culprit.sentence}")
    others = group.kernels[1:]
    for each in others[:_MOST_NAMES]:
        around = f": {each.culprit.pass_text}" if each.culprit.pass_text else ""
        lines.append(f"   also: {each.dispatch.name}{around}")
    if len(others) > _MOST_NAMES:
        lines.append(f"   and {len(others) - _MOST_NAMES} more")
    return lines
