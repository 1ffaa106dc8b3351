"""What the Session without a tool tells of what actions did: made-up, of the right types."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from actiondbg.analysis.actions import ActionList, ActionState, ListedAction
from actiondbg.analysis.attempts import Attempt, Attempts, PatternAttempts
from actiondbg.analysis.contrast import Contrast, Example
from actiondbg.analysis.history import Event, History
from actiondbg.analysis.legalization.explanation import Explanation
from actiondbg.errors import NoAnswer
from actiondbg.ir.diff import Diff
from actiondbg.process.stop import Stop
from actiondbg.protocol import Change, Excerpt, GetExcerpt, Outcome, Statistic, ValueRef
from actiondbg.session.past.pass_reproducer import Reproducer
from actiondbg.session.runnable_session import End

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
    fields: dict[str, Any] = {
        "what": "operation",
        "op": "arith.addi",
        "location": "in.mlir:3:10",
        "guess": False,
    }
    return Change(kind=kind, id=id, by=values, ordinal=ordinal, **{**fields, **more})


def attempt(ordinal: int, result: Any, reason: str | None = None, changes: int = 0) -> Attempt:
    """Make an attempt on an arith.addi."""
    return Attempt(
        ordinal=ordinal,
        tag="apply-pattern",
        name="FoldA",
        op="arith.addi",
        id=7,
        location="in.mlir:3:10",
        function="main",
        outcome=Outcome(result=result, reasons=[reason] if reason else []),
        change_count=changes,
    )


def listed(ordinal: int, name: str, state: ActionState) -> ListedAction:
    """Make a run of a pass on the module."""
    return ListedAction(
        ordinal=ordinal,
        tag="pass-execution",
        name=name,
        op="builtin.module",
        depth=0,
        id=1,
        state=state,
        outcome=Outcome(result="succeeded"),
        change_count=3,
        seconds=0.25,
    )


class FakePast:
    """What actions did up to now."""

    def __init__(self, calls: list[tuple[Any, ...]]) -> None:
        self.calls = calls
        self.attempts: list[Attempt] = []
        self.difference = Diff(BEFORE, AFTER, 1, "#1 apply-pattern Fold")
        self.cycle: Any = None
        self.compared: Contrast | None = None
        self.reproducer_fails: Exception | type[BaseException] | None = None
        self.lived = History(id=7, op="arith.addi", events=[], made_from=[], became=[])

    @contextlib.contextmanager
    def recorded(self, end: End = "now") -> Generator[Path]:
        raise NoAnswer(f"A fake session has no recording up to {end}.")
        yield  # pyright: ignore[reportUnreachable]

    def statistics(self, kind: str | None = None) -> list[Statistic]:
        self.calls.append(("statistics", kind))
        return list(PATTERNS) if kind == "pattern" else []

    def actions(
        self,
        spec: str | None = None,
        condition: str | None = None,
        *,
        changed: bool = False,
        first: int | None = None,
        count: int = 20,
    ) -> ActionList:
        self.calls.append(("actions", spec, condition, changed, first, count))
        return ActionList(actions=self.passes(), earlier=1, later=2000, is_complete=False)

    def passes(self) -> list[ListedAction]:
        return [listed(2, "canonicalize", "running"), listed(9, "cse", "ahead")]

    def why_not(self, name: str, location: str | None = None, op_id: int | None = None) -> Attempts:
        self.calls.append(("why_not", name, location, op_id))
        found = [
            one
            for one in self.attempts
            if (location is None or (one.location or "").startswith(f"{location}:"))
            and (op_id is None or one.id == op_id)
        ]
        selected = location is not None or op_id is not None
        return Attempts(name=name, attempts=found, selected=selected)

    def explain(self, target: str | None = None) -> Explanation:
        self.calls.append(("explain", target))
        return Explanation(target=target, conversions=[])

    def contrast(
        self, attempts: PatternAttempts, others: Sequence[Example] = ()
    ) -> Contrast | None:
        self.calls.append(("contrast", attempts.name))
        return self.compared

    def history(self, target: str = "cursor") -> History:
        self.calls.append(("history", target))
        return self.lived

    def diff(self, ordinal: int | None = None, module: bool = False) -> Diff:
        self.calls.append(("diff", ordinal, module))
        return self.difference

    def excerpt_before(self, stop: Stop, message: GetExcerpt) -> Excerpt:
        raise NoAnswer("A fake session has no lines of the past.")

    def cycles(self) -> Any:
        return self.cycle

    def keep_reproducer(self, directory: str) -> Reproducer:
        path = Path(directory).absolute() / "cse.mlir"
        is_new = not path.exists()
        path.parent.mkdir(exist_ok=True)
        return msgspec.structs.replace(self.reproducer(path), is_new=is_new)

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
