"""The texts of two runs and of two suites that were compared."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from actiondbg.commands.render.units import path_from_here
from actiondbg.comparison.changing_actions import ChangingAction
from actiondbg.comparison.run_comparison import FirstDifference, FunctionComparison, RunComparison
from actiondbg.comparison.side import Side
from actiondbg.comparison.suite_comparison import (
    LIKENESS_WORDS,
    DifferenceCause,
    FirstAction,
    SuiteComparison,
)
from actiondbg.ir.diff import make_diff
from actiondbg.protocol.tags import FOLD_TAG
from actiondbg.support.counts import counted, plural

_MOST_ACTIONS = 4  # of each run, where they part
_MOST_LINES = 24  # of a diff
_NARROW = 160  # columns of a command
_FINAL_IR = {
    "same": "the same IR at the end",
    "other": "other IR at the end",
    "only in A": "only in A at the end",
    "only in B": "only in B at the end",
    "unknown": "IR at the end is not recorded",
}
_ACTIONS = {
    "same": "by the same actions",
    "reordered": "by the same actions in another order",
    "other": "by other actions",
}

Paint = Callable[[str], str]


def run_lines(
    compared: RunComparison, most: int | None, with_diff: bool, paint: Paint
) -> Iterator[str]:
    """Yield the text of two runs, with ``most`` functions of each kind; None for all."""
    yield _side("A", compared.a)
    yield _side("B", compared.b)
    yield _summary(compared)
    for kinds, title in (
        (("other", "only in A", "only in B"), "other IR"),
        (("same", "unknown"), "other actions"),
    ):
        found = [each for each in compared.functions if each.ir in kinds and not each.is_equal]
        for each in found[:most]:
            yield ""
            yield from _function(each, with_diff, paint)
        if most is not None and len(found) > most:
            more = plural("function", len(found) - most)
            yield f"\n... and {len(found) - most:,} more {more} with {title} (--all)"


def _side(name: str, side: Side) -> str:
    command = shlex.join(side.argv)
    shown = command if len(command) <= _NARROW else f"{command[: _NARROW - 3]}..."
    llvm = side.recording.header.llvm
    version = f" (LLVM {llvm})" if llvm else ""
    actions = counted(side.recording.count, "action")
    return f"{name}  {shown or side.path}{version}: {actions}, {side.ending}"


def _summary(compared: RunComparison) -> str:
    a, b = compared.a, compared.b
    count = counted(len(compared.functions), "function")
    ended = ""
    if None not in (a.status, b.status) and a.ending != b.ending:
        ended = f"A {a.ending}, and B {b.ending}. "
    if not compared.functions:
        if compared.has_only_bytes:
            how = "is identical" if compared.has_same_bytes else "differs"
            return f"{ended}No action ran, and the output {how}."
        is_empty = all(side.final_texts is not None for side in (a, b))
        ending = "the IR at the end is empty" if is_empty else "no IR was recorded at the end"
        return f"{ended}No action changed IR, and {ending}."
    if compared.output == "same" and compared.has_same_bytes:
        same = "The output is identical"
    elif compared.output == "same":
        is_exact = all(each.texts[0] == each.texts[1] for each in compared.functions)
        same = "The IR at the end is the same" + ("" if is_exact else " but for names and order")
    else:
        same = ""
    if same:
        how = "by the same actions" if compared.has_same_actions else "by other actions"
        return f"{same}, {how}: {count}."
    outputs = Counter(each.ir for each in compared.functions)
    other_ways = Counter(each.ir for each in compared.functions if each.actions != "same")
    parts = [
        f"{number:,} {verb}"
        for number, verb in (
            (outputs["other"], "with other IR at the end"),
            (outputs["only in A"], "only in A"),
            (outputs["only in B"], "only in B"),
            (other_ways["same"], "with the same IR by other actions"),
            (other_ways["unknown"], "with other actions"),
        )
        if number
    ]
    note = _missing_ir(compared)
    if not note and compared.has_hidden_data:
        note = " The data of large constants and of resources was not compared."
    if not parts:
        return f"{ended}{count} by the same actions.{note}"
    return f"{ended}Of {count}: {', '.join(parts)}.{note}"


def _missing_ir(compared: RunComparison) -> str:
    """Return why the IR at the end of a run is missing, as a sentence; empty if none is."""
    sides = (("A", compared.a), ("B", compared.b))
    missing = [(name, side) for name, side in sides if side.final_texts is None]
    if not missing:
        return ""
    died = " and ".join(name for name, side in missing if (side.status or 0) < 0)
    if died:
        return f" There is no IR at the end of {died}."
    idle = " and ".join(name for name, side in missing if not side.recording.count)
    if idle:
        return f" The IR at the end of {idle} is not known, as no action ran."
    return " The IR at the end is not recorded: record with --ir output, or --ir function."


def _function(each: FunctionComparison, with_diff: bool, paint: Paint) -> Iterator[str]:
    name = f"@{each.function.symbol}" if each.function.symbol else "outside of functions"
    part = f", part {each.function.module + 1} of the input" if each.function.module else ""
    how = "" if each.ir.startswith("only") else f", {_ACTIONS[each.actions]}"
    yield f"{name}{part}: {_FINAL_IR[each.ir]}{how}"
    if each.first is not None:
        yield from _difference(each.first)
    if each.meeting is not None:
        a, b = each.meeting
        yield f"  the IR is the same again after #{a.ordinal} of A and #{b.ordinal} of B"
    if each.ir == "other":
        yield from _diff(each, with_diff, paint)


def _difference(first: FirstDifference) -> Iterator[str]:
    around = {action.passes for action in (*first.a, *first.b)}
    passes = around.pop() if len(around) == 1 else None
    where = "" if passes is None else f" in {', '.join(passes)}" if passes else " outside of passes"
    yield f"  they part{where}:"
    if first.has_same_actions:
        a, b = first.a[0], first.b[0]
        yield f"    {_action(a)}: another result in B, in #{b.ordinal}"
        return
    for name, actions in (("A", first.a), ("B", first.b)):
        for action in actions[:_MOST_ACTIONS]:
            inside = f", in {', '.join(action.passes)}" if passes is None else ""
            yield f"    {name}  {_action(action)}{inside}"
        if len(actions) > _MOST_ACTIONS:
            yield f"    {name}  ... and {len(actions) - _MOST_ACTIONS:,} more"
        if not actions:
            yield f"    {name}  nothing"


def _action(action: ChangingAction) -> str:
    place = f" at {os.path.basename(action.file)}:{action.line}:{action.col}" if action.file else ""
    return f"#{action.ordinal} {_step(action)}{place}"


def _diff(each: FunctionComparison, is_whole: bool, paint: Paint) -> Iterator[str]:
    a, b = each.texts
    if a is None or b is None:
        return
    lines = make_diff(a, b, {}, {}).unified(1 if not is_whole else 3)
    shown = lines if is_whole else lines[:_MOST_LINES]
    yield from (f"    {paint(line)}" for line in shown)
    if len(lines) > len(shown):
        yield f"    ... {len(lines) - len(shown):,} more lines (--diff)"


def run_object(compared: RunComparison) -> dict[str, Any]:
    return {
        "a": _side_object(compared.a),
        "b": _side_object(compared.b),
        "output": compared.output,
        "same_actions": compared.has_same_actions,
        "functions": [
            {
                "function": each.function.symbol,
                "part": each.function.module,
                "output": each.ir,
                "actions": each.actions,
                "counts": [len(ordinals) for ordinals in each.ordinals],
                "first": None if each.first is None else _difference_object(each.first),
                "meeting": each.meeting and [action.ordinal for action in each.meeting],
            }
            for each in compared.functions
        ],
    }


def _side_object(side: Side) -> dict[str, Any]:
    return {
        "command": list(side.argv),
        "recording": side.path,
        "llvm": side.recording.header.llvm,
        "actions": side.recording.count,
        "status": side.status,
    }


def _difference_object(first: FirstDifference) -> dict[str, Any]:
    return {
        "same_actions": first.has_same_actions,
        "a": [msgspec.to_builtins(action) for action in first.a],
        "b": [msgspec.to_builtins(action) for action in first.b],
    }


# --- suites -----------------------------------------------------------------------


_CAUSES = {
    "Causes of other output": ("other output",),
    "Other ways to the same output": ("other way", "same"),
    "Other differences, where the output is not recorded": ("unknown output", "same actions"),
}


def suite_lines(compared: SuiteComparison, most: int | None) -> Iterator[str]:
    """Yield the text of two suites, with ``most`` causes of each kind; None for all."""
    yield f"{counted(len(compared.pairs), 'run')} of both suites:"
    for likeness, text in LIKENESS_WORDS.items():
        if number := compared.count(likeness):
            yield f"  {number:6,}  {text}"
    for name, only in (("A", compared.only_a), ("B", compared.only_b)):
        if only:
            yield f"{counted(len(only), 'run')} only in {name}, such as {only[0]}"
    groups = compared.groups()
    for title, likenesses in _CAUSES.items():
        found = [each for each in groups if each.likeness in likenesses]
        if not found:
            continue
        yield f"\n{title}, the most frequent first ({len(found):,})"
        for group in found[:most]:
            pair = group.pairs[0]
            runs = counted(len(group.pairs), "run")
            functions = f", {counted(group.functions, 'function')}" if group.functions > 1 else ""
            yield f"  {runs}{functions}: {cause_text(group.cause)}"
            yield f"    {pair.name}"
            paths = path_from_here(pair.a), path_from_here(pair.b)
            yield f"    {shlex.join(['actiondbg', 'compare', *paths])}"
        if most is not None and len(found) > most:
            yield f"... and {len(found) - most:,} more (--all)"


def cause_text(cause: DifferenceCause) -> str:
    if cause.kind == "ending":
        return cause.detail
    if cause.kind == "text":
        return f"no recorded action differs; {cause.detail}"
    where = f"in {cause.passes[-1]}, " if cause.passes else ""
    if cause.a is not None and cause.b is not None and cause.a == cause.b:
        return f"{where}{_step(cause.a)}: another result"
    a, b = ("nothing" if step is None else _step(step) for step in (cause.a, cause.b))
    return f"{where}A {a}; B {b}"


def _step(step: FirstAction | ChangingAction) -> str:
    about = f" on {step.op}" if step.op and step.op != step.name else ""
    return f"{'fold ' if step.tag == FOLD_TAG else ''}{step.name or step.tag}{about}"


def suite_object(compared: SuiteComparison) -> dict[str, Any]:
    return {
        "pairs": [
            {
                "name": pair.name,
                "a": pair.a,
                "b": pair.b,
                "kind": pair.likeness,
                "causes": [_cause_object(*item) for item in pair.causes.items()],
                "message": pair.message,
            }
            for pair in compared.pairs
        ],
        "only_a": compared.only_a,
        "only_b": compared.only_b,
        "groups": [
            {
                **_cause_object(group.cause, group.functions),
                "other_output": group.likeness == "other output",
                "runs": [pair.name for pair in group.pairs],
            }
            for group in compared.groups()
        ],
    }


def _cause_object(cause: DifferenceCause, functions: int) -> dict[str, Any]:
    return {
        "kind": cause.kind,
        "passes": list(cause.passes),
        "a": cause.a and cause.a._asdict(),
        "b": cause.b and cause.b._asdict(),
        "detail": cause.detail,
        "text": cause_text(cause),
        "functions": functions,
    }
