"""What the Session without a tool tells of what actions did: made-up, of the right types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from actiondbg import protocol
from actiondbg.analysis.history import Event, History
from actiondbg.breakpoints.breakpoint import Breakpoint
from actiondbg.breakpoints.watch import catch_spec, parse_catch, parse_target, watch_spec
from actiondbg.ir.diff import Diff
from actiondbg.protocol import Change, Outcome, Statistic, ValueRef
from actiondbg.session.past import Attempt, Attempts, Reproducer

BEFORE = "func.func @main() {\n  %0 = test.a\n  return\n}\n"
AFTER = "func.func @main() {\n  %0 = test.b\n  return\n}\n"
PATTERNS = [
    Statistic(
        tag="apply-pattern",
        name=name,
        attempts=attempts,
        succeeded=succeeded,
        unchanged=1,
        failed=attempts - succeeded,
        skipped=0,
        changes=changes,
        seconds=seconds,
    )
    for name, attempts, succeeded, changes, seconds in (
        ("FoldA", 10, 4, 7, 0.5),
        ("FoldB", 30, 2, 1, 0.25),
        ("Other", 20, 20, 40, 0.125),
    )
]


def change(kind: Any, id: int, by: int | None = None, ordinal: int = 1, **more: Any) -> Change:
    """Make a change of an arith.addi."""
    values = [ValueRef(id=by, op="arith.constant", result=0)] if by else None
    fields = {"what": "operation", "op": "arith.addi", "location": "in.mlir:3:10", "guess": False}
    return Change(kind=kind, id=id, by=values, ordinal=ordinal, **{**fields, **more})


def attempt(ordinal: int, result: Any, reason: str | None = None, changes: int = 0) -> Attempt:
    """Make an attempt on an arith.addi."""
    return Attempt(
        ordinal=ordinal,
        op="arith.addi",
        id=7,
        location="in.mlir:3:10",
        function="main",
        outcome=Outcome(result=result, reasons=[reason] if reason else []),
        change_count=changes,
    )


class FakePast:
    """The part of FakeSession that tells what actions did."""

    state: str
    calls: list[tuple[Any, ...]]
    breakpoints: list[Breakpoint]

    def __init__(self) -> None:
        self.verify_each_action = False
        self.counting = False
        self.attempts: list[Attempt] = []
        self.found_changes: list[Change] = []
        self.difference = Diff(BEFORE, AFTER, 1, "#1 apply-pattern Fold")
        self.cycle: Any = None
        self.reproducer_fails: Exception | type[BaseException] | None = None
        self.lived = History(id=7, op="arith.addi", events=[], made_from=[], became=[])

    def watch(
        self, target: str, *, exact: bool = False, condition: str | None = None
    ) -> Breakpoint:
        parsed = parse_target(target)
        number = parsed.operation if isinstance(parsed.operation, int) else 7
        watch = protocol.Watch(kind=parsed.kind, exact=exact)
        if parsed.kind == "count":
            watch.glob = parsed.name
        else:
            watch.id, watch.attribute = number, parsed.name
        return self._add(watch_spec(watch), condition, watch=watch)

    def catch(self, kind: str, glob: str | None = None) -> Breakpoint:
        event = parse_catch(kind, glob)
        return self._add(catch_spec(event), None, catch=event)

    def _add(self, spec: str, condition: str | None, **kind: Any) -> Breakpoint:
        added = Breakpoint(len(self.breakpoints) + 1, spec, condition, **kind)
        self.breakpoints.append(added)
        return added

    def changes(self, nested: bool = True, limit: int = 1000) -> protocol.Changes:
        self.calls.append(("changes", nested, limit))
        counts: dict[str, int] = {}
        for each in self.found_changes:
            counts[each.kind] = counts.get(each.kind, 0) + 1
        return protocol.Changes(
            changes=self.found_changes[:limit],
            total=len(self.found_changes),
            counts=counts,
            forgotten=0,
        )

    def statistics(self, kind: str | None = None) -> list[Statistic]:
        self.calls.append(("statistics", kind))
        return list(PATTERNS) if kind == "pattern" else []

    def count(self, glob: str, function: bool = False) -> int:
        self.calls.append(("count", glob, function))
        return 3

    def why_not(self, name: str, location: str | None = None, op_id: int | None = None) -> Attempts:
        self.calls.append(("why_not", name, location, op_id))
        return Attempts(name=name, attempts=self.attempts)

    def history(self, target: str = "cursor") -> History:
        self.calls.append(("history", target))
        return self.lived

    def diff(self, ordinal: int | None = None, module: bool = False) -> Diff:
        self.calls.append(("diff", ordinal, module))
        return self.difference

    def cycles(self) -> Any:
        return self.cycle

    def reproducer(self, path: Path) -> Reproducer:
        if isinstance(self.reproducer_fails, type):
            raise self.reproducer_fails
        if self.reproducer_fails is not None:
            raise self.reproducer_fails
        path.write_text("module {}\n")
        command = ["mlir-opt", str(path), "--run-reproducer"]
        return Reproducer(path=str(path), pipeline="builtin.module(cse)", command=command)


def lived() -> History:
    """Make the life of an operation."""

    def event(ordinal: int, kind: Any, message: str | None, guess: bool = False) -> Event:
        tag, name = ("apply-pattern", "FoldA") if ordinal else ("", "the parser")
        return Event(
            ordinal=ordinal, tag=tag, name=name, kind=kind, message=message, guess=guess, id=7
        )

    events = [
        event(0, "created", None),
        event(12, "modified", "@7 arith.addi was modified: operands", guess=True),
        event(123, "replaced", None),
    ]
    return History(id=7, op="arith.addi", events=events, made_from=[3], became=[12, 13])
