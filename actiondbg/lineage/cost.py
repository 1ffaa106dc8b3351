"""What each operation of the input costs: a profile joined with a lineage.

The rules, which docs/lineage-cost.md states for users:

- The time of a line of the input goes to the operations on it; inside one of them, nothing else.
- The time of a line of a later module goes to the operation on it, and from there evenly to the
  distinct operations of the input that it came from.
- The time of a function goes evenly to the outermost operations that its code came from.
- An operation that the lineage does not lead to the input came from the lines of its location.
- Operations around another origin, and those that compute nothing (constants, ``tensor.empty``,
  terminators) get a share only if nothing else does.
- Of a call chain the first place that can be attributed counts.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath

from actiondbg.errors import ActiondbgError
from actiondbg.lineage import units
from actiondbg.lineage.lineage import Lineage
from actiondbg.lineage.locations import same_file
from actiondbg.lineage.profiles import Profile, ProfileEntry, ProfileFrame
from actiondbg.lineage.stage import Operation, Stage, places

NO_LINE = "code of the program without a line"
OTHER_CODE = "other code"
NO_ORIGIN = "code without an origin in the input"

_IDLE = {"tensor.empty", "func.return", "llvm.return", "linalg.yield", "scf.yield", "affine.yield"}
_IDLE_ENDINGS = (".constant", ".const", ".const_shape", ".return", ".yield")
_SYMBOLS_SHOWN = 3


@dataclass
class Cost:
    """The time of a profile by operation of the input.

    Args:
        stage: the input.
        profile: the profile.
        own: by index of an operation, its time without that of the operations in its regions.
        counts: by index, how often it was measured.
        left: the time that no operation got: by reason, by place.
    """

    stage: Stage
    profile: Profile
    own: dict[int, float] = field(default_factory=dict[int, float])
    counts: dict[int, int] = field(default_factory=dict[int, int])
    left: dict[str, dict[str, float]] = field(default_factory=dict[str, dict[str, float]])

    @cached_property
    def total(self) -> dict[int, float]:
        """By index of an operation, its time with that of the operations in its regions."""
        total: dict[int, float] = {}
        for index, time in self.own.items():
            for one in (index, *self.stage.around(index)):
                total[one] = total.get(one, 0.0) + time
        return total

    @property
    def attributed(self) -> float:
        """The time that operations got."""
        return math.fsum(self.own.values())

    def share(self, time: float) -> float:
        """Return a time as a part of the whole, from 0 to 1."""
        return time / self.profile.time

    def hottest(self) -> list[tuple[Operation, float]]:
        """Return the outermost operations of functions with their total times, longest first."""
        times: dict[int, float] = {}
        for index, time in self.own.items():
            root = outermost(self.stage, index)
            times[root] = times.get(root, 0.0) + time
        return [(self.stage[index], time) for index, time in sorted(times.items(), key=_longest)]

    def kinds(self) -> list[tuple[str, int, float]]:
        """Return the names of the outermost operations, how many cost time, and their total."""
        found: dict[str, tuple[int, float]] = {}
        for operation, time in self.hottest():
            count, known = found.get(operation.name, (0, 0.0))
            found[operation.name] = count + 1, known + time
        rows = [(name, count, time) for name, (count, time) in found.items()]
        return sorted(rows, key=lambda row: -row[2])


def attribute(
    profile: Profile, lineage: Lineage, modules: Mapping[str, Stage] | None = None
) -> Cost:
    """Join a profile with a lineage.

    Args:
        profile: the profile of a run of the compiled program.
        lineage: that of its compilation.
        modules: stages by the file to which debug info points.

    Raises:
        ActiondbgError: no time belongs to the program.
    """
    cost = _Attribution(profile, lineage, modules or {}).run()
    if not cost.own:
        raise ActiondbgError(_nothing(cost))
    return cost


def outermost(stage: Stage, index: int) -> int:
    """Return the index of the outermost operation, in its function, around one or itself."""
    while (around := stage.parents[index]) >= 0 and not _holds_functions(stage, around):
        index = around
    return index


class _Attribution:
    """The entries of a profile, one after the other.

    Args:
        profile: the profile.
        lineage: the lineage.
        modules: stages by file.
    """

    def __init__(self, profile: Profile, lineage: Lineage, modules: Mapping[str, Stage]) -> None:
        self._profile = profile
        self._lineage = lineage
        self._input = lineage.stages[0]
        self._modules = dict(modules)
        for stage in lineage.stages[1:]:
            self._modules.setdefault(stage.name, stage)  # of dumps, the file
        self._located = _by_place(self._input)
        self._with_lines = {
            frame.function for entry in profile.entries for frame in entry.frames if frame.line
        }
        self._frames: dict[ProfileFrame, list[int]] = {}
        self._origins: dict[tuple[Stage, int], list[int]] = {}

    def run(self) -> Cost:
        cost = Cost(self._input, self._profile)
        for entry in self._profile.entries:
            shares = next((found for one in entry.frames if (found := self._of_frame(one))), None)
            if not shares:
                reason, place = self._reason(entry)
                of_reason = cost.left.setdefault(reason, {})
                of_reason[place] = of_reason.get(place, 0.0) + entry.time
                continue
            for index in shares:
                cost.own[index] = cost.own.get(index, 0.0) + entry.time / len(shares)
                cost.counts[index] = cost.counts.get(index, 0) + entry.occurrences
        return cost

    def _of_frame(self, frame: ProfileFrame) -> list[int]:
        """Return the operations that share the time of a frame."""
        found = self._frames.get(frame)
        if found is None:
            found = self._of_line(frame) if frame.line else self._of_function(frame.function)
            self._frames[frame] = found
        return found

    def _of_line(self, frame: ProfileFrame) -> list[int]:
        if indices := self._on_line(frame.file, frame.line):
            return indices
        for file, stage in self._modules.items():
            if same_file(file, frame.file):
                return self._origins_of(stage, stage.on_line(frame.line))
        return []

    def _on_line(self, file: str, line: int) -> list[int]:
        """Return the outermost operations of the input that are located on a line of a file."""
        located = self._located.get((PurePath(file).name, line), [])
        indices = [index for known, index in located if same_file(known, file)]
        return units.outermost(self._input, indices)

    def _of_function(self, function: str) -> list[int]:
        """Return the outermost operations of the input from which a function was made."""
        if not function or function in self._with_lines:
            return []
        for stage in reversed(self._lineage.stages):
            found = stage.with_symbol(function)
            if not found:
                continue
            nested = [stage[index] for one in found for index in stage.nested(one.index)]
            origins = self._origins_of(stage, nested)
            return _kept(self._input, {outermost(self._input, each) for each in origins})
        return []

    def _origins_of(self, stage: Stage, operations: Iterable[Operation]) -> list[int]:
        if stage is self._input:
            return _kept(stage, {one.index for one in operations})
        found: set[int] = set()
        for one in operations:
            key = (stage, one.index)
            if key not in self._origins:
                # Its own origins; else those of the operations in its regions.
                alone = self._lineage.track([one], self._input, nested=False).operations
                traced = alone or self._lineage.track([one], self._input).operations
                self._origins[key] = [origin.index for origin in traced] or [
                    index for place in places(one.location) for index in self._on_line(*place)
                ]
            found.update(self._origins[key])
        return _kept(self._input, found)

    def _reason(self, entry: ProfileEntry) -> tuple[str, str]:
        """Return why an entry is left, and its place."""
        for frame in entry.frames:
            if frame.line and any(same_file(file, frame.file) for file in self._modules):
                return NO_ORIGIN, f"{frame.file}:{frame.line}"
            known = any(stage.with_symbol(frame.function) for stage in self._lineage.stages)
            if frame.function and known:
                return NO_LINE, frame.function
        frame = entry.frames[0]
        place = f"{frame.file}:{frame.line}" if frame.line else frame.file
        return OTHER_CODE, frame.function or place or "unknown"


def _by_place(stage: Stage) -> dict[tuple[str, int], list[tuple[str, int]]]:
    """Return the operations by the last component of the file, and the line."""
    found: dict[tuple[str, int], list[tuple[str, int]]] = {}
    for index, location in enumerate(stage.locations):
        for file, line in places(location):
            found.setdefault((PurePath(file).name, line), []).append((file, index))
    return found


def _holds_functions(stage: Stage, index: int) -> bool:
    """Whether an operation is a function, a module or another one with a symbol."""
    return bool(stage.symbols.get(index)) or stage.names[index].endswith("module")


def _kept(stage: Stage, indices: set[int]) -> list[int]:
    """Return the operations of a set that get a share."""
    innermost = units.innermost(stage, indices)
    active = [one for one in innermost if not _is_idle(stage.names[one])]
    return active or innermost


def _is_idle(name: str) -> bool:
    return name in _IDLE or name.endswith(_IDLE_ENDINGS)


def _nothing(cost: Cost) -> str:
    """Return the message for a profile of which nothing is of the program."""
    frames = [frame for entry in cost.profile.entries for frame in entry.frames]
    files = Counter(PurePath(frame.file).name for frame in frames if frame.line)
    functions = Counter(frame.function for frame in frames if frame.function)
    without_line = cost.left.get(NO_LINE, {})
    if without_line and not any(one.line and one.function in without_line for one in frames):
        return (
            f"The profile has no line for the functions of the program ({_some(without_line)}): "
            "compile it with the debug info that 'actiondbg annotate' makes, and give perf "
            "script -F +srcline."
        )
    known = {PurePath(file).name for one in cost.stage.locations for file, _ in places(one)}
    where = f"of the files {_some(files)}" if files else f"of the functions {_some(functions)}"
    names = ", ".join(sorted(known)[:_SYMBOLS_SHOWN]) or cost.stage.name
    return (
        f"The profile is of another program: it has times {where}, none of which is in the "
        f"lineage of {names}. If debug info points to another module, give --module FILE."
    )


def _longest(item: tuple[object, float]) -> float:
    return -item[1]


def _some(names: Mapping[str, float]) -> str:
    most = [name for name, _ in sorted(names.items(), key=_longest)[:_SYMBOLS_SHOWN]]
    return ", ".join(most) + (", ..." if len(names) > len(most) else "")
