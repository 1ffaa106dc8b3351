"""The schedule of the transform dialect in a module: its operations, and its beginnings."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from actiondbg.bisection.reproducer.run import StepResult
from actiondbg.bisection.reproducer.scripts import Step
from actiondbg.bisection.search.binary import Interval
from actiondbg.bisection.verdict import Verdict
from actiondbg.ir.tree.outline import Printed, find, operations_in

_OPTION = re.compile(r"transform-interpreter\{[^}]*\bentry-point=(?P<name>[^\s}]+)")
_ENTRY = "__transform_main"


@dataclass(frozen=True)
class Schedule:
    """A schedule in the text of a module.

    Args:
        text: the module.
        operations: the operations of the schedule, without the terminator.
        end: where the terminator begins.
    """

    text: str
    operations: Sequence[Printed]
    end: int

    def beginning(self, count: int) -> str:
        """Return the module with only the first operations of the schedule."""
        cut = self.operations[count].begin if count < len(self.operations) else self.end
        return self.text[:cut] + self.text[self.end :]

    def name(self, number: int) -> str:
        """Return the name of an operation, numbered from 1."""
        return self.operations[number - 1].name


def read_schedule(text: str, pipeline: str) -> Schedule | None:
    """Return the schedule that a pass of a pipeline interprets, in a module as MLIR prints it.

    Args:
        pipeline: the pass with its options.

    Returns:
        None if the pass interprets none, or none in this module.
    """
    if "transform-interpreter" not in pipeline:
        return None
    option = _OPTION.search(pipeline)
    sequences = find(text, "transform.named_sequence", option["name"] if option else _ENTRY)
    operations = list(operations_in(text, sequences[0])) if sequences else []
    if not operations or operations[-1].name != "transform.yield":
        return None
    return Schedule(text, operations[:-1], operations[-1].begin)


class ScheduleCulprit(NamedTuple):
    """The operation of a schedule that turns good to bad.

    Attributes:
        sentence: names it.
        results: the runs without it and with it; both end the schedule there.
        files: the names of their modules in the folder, and what they are.
    """

    sentence: str
    results: list[StepResult]
    files: dict[str, str]


def find_in_schedule(
    folder: Path, source: str, pipeline: str, bad: Step, try_step: Callable[[Step], StepResult]
) -> ScheduleCulprit | None:
    """Search for the operation of a schedule whose interpretation turns good to bad.

    The schedule is cut off after an operation, so that none needs what is left out.

    Args:
        folder: has the module, and gets the modules of the runs.
        source: the name of the module before the pass.
        pipeline: the pass that interprets the schedule.
        bad: a run of the module that is bad.
        try_step: runs and judges a step.

    Returns:
        None if there is no schedule in the module, or not one operation of it is the culprit.
    """
    text = (folder / source).read_text(encoding="utf-8", errors="surrogateescape")
    schedule = read_schedule(text, pipeline)
    if schedule is None or not schedule.operations:
        return None
    total = len(schedule.operations)
    tried: dict[int, StepResult] = {}

    def verdict(count: int) -> Verdict:
        name = _module(count)
        (folder / name).write_text(
            schedule.beginning(count), encoding="utf-8", errors="surrogateescape"
        )
        args = [name if word == source else word for word in bad.args]
        title = f"{name}, {source} with only the first {count} of {total} operations"
        if not count:
            title = f"{name}, {source} with no operation in its schedule"
        tried[count] = try_step(replace(bad, title=title, args=args))
        return tried[count].verdict

    interval = Interval(0, total)
    if verdict(0) == "good" and verdict(total) == "bad":
        while (count := interval.next()) is not None:
            interval.add(count, verdict(count))
    is_found = interval.is_narrow and len(tried) > 1 and tried[interval.bad].verdict == "bad"
    kept = (interval.good, interval.bad) if is_found else ()
    for count in tried.keys() - set(kept):
        (folder / _module(count)).unlink()
    if not is_found:
        return None
    good, wrong = tried[interval.good], tried[interval.bad]
    return ScheduleCulprit(
        f"In its schedule, operation {interval.bad} of {total} turns good to bad: "
        f"{schedule.name(interval.bad)}.",
        [replace(good, step=replace(good.step, expected="good")), wrong],
        {_module(count): f"{source} with {count} operations in its schedule" for count in kept},
    )


def _module(count: int) -> str:
    return f"schedule-{count}.mlir"
