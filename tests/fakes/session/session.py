"""A Session without a tool, for the tests of the front end: it stops at made-up actions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from actiondbg.breakpoints.breakpoint import Breakpoint
from actiondbg.errors import LaunchError, NotStopped, UsageError
from actiondbg.ir.printed import PrintedText
from actiondbg.process.stop import Stop
from actiondbg.protocol import Action, Cursor, Frame, Status, Unit
from tests.fakes.session.past import FakePast
from tests.fakes.session.time_travel import FakeTravel

MODULE = """\
module {
  func.func @main(%arg0: i32) -> i32 {
    %0 = arith.addi %arg0, %arg0 : i32
    return %0 : i32
  }
}
"""
ADDI = Unit(
    kind="operation",
    name="arith.addi",
    state="alive",
    text="%0 = arith.addi %arg0, %arg0 : i32",
    location="in.mlir:3:10",
    id=7,
)


class FakeText(PrintedText):
    """IR that no agent has printed."""

    def __init__(self, text: str, mark: tuple[int, int] | None, generic: bool) -> None:
        self._given = text
        self.mark = mark
        self.generic = generic
        self.bytes = len(text)
        self.closed = False

    @property
    def text(self) -> str:
        return self._given

    def copy_to(self, file: Any) -> None:
        for start in range(0, len(self._given), 7):  # in pieces, which cut lines
            file.write(self._given[start : start + 7])

    def close(self) -> None:
        self.closed = True

    def __enter__(self) -> FakeText:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class FakeSession(FakePast, FakeTravel):
    """Stops at every breakpoint once, ends after ``actions`` actions."""

    def __init__(self, actions: int = 10) -> None:
        FakePast.__init__(self)
        FakeTravel.__init__(self)
        self.argv = ["mlir-opt", "in.mlir"]
        self.state = "not-running"
        self.stop: Stop | None = None
        self.exit_status: int | None = None
        self.breakpoints: list[Breakpoint] = []
        self.frame_index = 0
        self.calls: list[tuple[Any, ...]] = []
        self.printed: list[FakeText] = []
        self.module_text = MODULE
        self.fail_to_start = False
        self.invalid = False  # the IR can be printed in generic form only
        self.interrupts = 0  # how many KeyboardInterrupts the next waits raise
        self.next_stop: dict[str, Any] = {}  # what is told of the next stop, beside the usual
        self.cursor_unit = ADDI
        self._actions = actions
        self._ordinal = 0

    # --- running

    def _stop(self, reason: str, breakpoints: list[int] | None = None) -> Stop:
        if self.interrupts:
            self.interrupts -= 1
            self.state = "running"
            raise KeyboardInterrupt
        self._ordinal += 1
        ends = self._ordinal > self._actions
        self.state = "exited" if ends else "stopped"
        self.exit_status = 0 if ends else None
        self.stop = Stop(
            when="exit" if ends else "before",
            reason="exited" if ends else reason,
            ordinal=self._ordinal,
            tag="apply-pattern",
            name="Fold",
            op="arith.addi",
            location="in.mlir:3:10",
            function="main",
            depth=2,
            breakpoints=[] if ends else (breakpoints or []),
            skipped=False,
            status=0 if ends else None,
            id=None if ends else 7,
            cursor_id=None if ends else 7,
        )
        self.stop = msgspec.structs.replace(self.stop, **self.next_stop)
        self.next_stop = {}
        return self.stop

    def _need_stop(self) -> None:
        if self.state != "stopped":
            raise NotStopped("The tool is not stopped: start it with 'start' or 'run'.")

    def start(self, args: list[str] | None = None, **streams: Any) -> Stop:
        return self._launch("start", args, streams)

    def run(self, args: list[str] | None = None, **streams: Any) -> Stop:
        return self._launch("run", args, streams)

    def _launch(self, how: str, args: list[str] | None, streams: dict[str, Any]) -> Stop:
        self.calls.append((how, args, {k: v for k, v in streams.items() if v is not None}))
        if self.fail_to_start:
            raise LaunchError("There is no tool 'mlir-opt'.")
        self._ordinal = 0
        return self._stop("start") if how == "start" else self._continue()

    def restart(self) -> Stop:
        self.calls.append(("restart",))
        self._ordinal = 0
        return self._stop("start")

    def _continue(self) -> Stop:
        ids = [each.id for each in self.breakpoints if each.enabled]
        if not ids:
            self._ordinal = self._actions
        return self._stop("breakpoint", ids)

    def continue_(self, count: int = 1) -> Stop:
        self._need_stop()
        self.calls.append(("continue", count))
        return self._continue()

    def _control(self, reason: str, *call: Any) -> Stop:
        """Note the call, by which the tests tell one control from another, and stop."""
        self._need_stop()
        self.calls.append(call)
        return self._stop(reason)

    def step(self, count: int = 1) -> Stop:
        return self._control("step", "step", count)

    def next(self, count: int = 1) -> Stop:
        return self._control("step", "next", count)

    def finish(self, count: int = 1) -> Stop:
        return self._control("step", "finish", count)

    def skip(self, count: int = 1) -> Stop:
        return self._control("step", "skip", count)

    def apply(self, count: int = 1) -> Stop:
        return self._control("step", "apply", count)

    def next_change(self, count: int = 1) -> Stop:
        return self._control("until", "next_change", count)

    def next_attempt(self, name: str, location: str | None = None) -> Stop:
        return self._control("until", "next_attempt", name, location)

    def until(self, spec: str, condition: str | None = None) -> Stop:
        return self._control("until", "until", spec, condition)

    def advance(self, spec: str, condition: str | None = None) -> Stop:
        return self._control("until", "advance", spec, condition)

    def interrupt(self) -> None:
        self.calls.append(("interrupt",))

    def wait(self) -> Stop:
        self.calls.append(("wait",))
        return self._stop("interrupt")

    def kill(self) -> None:
        self.calls.append(("kill",))
        self.state = "exited"

    # --- breakpoints

    def add_breakpoint(
        self,
        spec: str,
        condition: str | None = None,
        *,
        temporary: bool = False,
        after: bool = False,
        outcome: str | None = None,
    ) -> Breakpoint:
        number = len(self.breakpoints) + 1
        added = Breakpoint(
            id=number,
            spec=spec,
            condition=condition,
            temporary=temporary,
            after=after,
            outcome=outcome,
        )
        self.breakpoints.append(added)
        return added

    def breakpoint(self, number: int) -> Breakpoint:
        for each in self.breakpoints:
            if each.id == number:
                return each
        raise UsageError(f"There is no breakpoint {number}.")

    def delete_breakpoints(self, ids: list[int]) -> None:
        self.breakpoints = [each for each in self.breakpoints if each.id not in ids]

    def enable(self, ids: list[int]) -> None:
        for number in ids:
            self.breakpoint(number).enabled = True

    def disable(self, ids: list[int]) -> None:
        for number in ids:
            self.breakpoint(number).enabled = False

    def set_condition(self, number: int, text: str | None) -> None:
        self.breakpoint(number).condition = text

    def set_ignore(self, number: int, count: int) -> None:
        self.breakpoint(number).ignore = count

    def set_commands(self, number: int, lines: list[str]) -> None:
        self.breakpoint(number).commands = lines

    def hits(self) -> None:
        self.calls.append(("hits",))

    def save_breakpoints(self, path: str) -> None:
        Path(path).write_text("".join(f"break {each.spec}\n" for each in self.breakpoints))

    # --- looking

    def _frame(self, index: int) -> dict[str, Any]:
        return {
            "index": index,
            "ordinal": self._ordinal - index,
            "tag": "apply-pattern",
            "name": "Fold",
            "depth": 2 - index,
            "op": "arith.addi",
            "location": "in.mlir:3:10",
            "function": "main",
            "units": [ADDI],
            "id": 7,
        }

    def backtrace(self) -> list[Frame]:
        self._need_stop()
        return [Frame(**self._frame(index)) for index in range(3)]

    def select_frame(self, index: int) -> Frame:
        self.frame_index = index
        return Frame(**self._frame(index))

    def action(self) -> Action:
        self._need_stop()
        return Action(
            **self._frame(0),
            full_name="(anonymous namespace)::Fold",
            labels=["label"],
            iteration=1,
            text="apply-pattern",
            full_location="loc(unknown)",
            when="before",
        )

    def context(self) -> list[Unit]:
        self._need_stop()
        return [ADDI]

    def cursor(self) -> Cursor:
        self._need_stop()
        return Cursor(unit=self.cursor_unit, function="main", path=[0, 0, 0, 0, 0, 0])

    def move_cursor(self, to: str, **fields: Any) -> Cursor:
        self.calls.append((to, {k: v for k, v in fields.items() if v is not None}))
        return self.cursor()

    def links(self, direction: str) -> list[Unit]:
        self.calls.append((direction,))
        return self.context()

    def print(self, what: str = "cursor", *, mark: bool = False, **options: Any) -> FakeText:
        self._need_stop()
        self.calls.append(("print", what, {k: v for k, v in options.items() if v}))
        text = f"{ADDI.text}\n" if what == "cursor" else self.module_text
        line = 1 if what == "cursor" else 3
        printed = FakeText(
            text, (line, line) if mark else None, self.invalid or bool(options.get("generic"))
        )
        self.printed.append(printed)
        return printed

    def names(self, kind: str) -> list[str]:
        return {
            "tag": ["apply-pattern", "fold"],
            "pattern": ["FoldA", "FoldB"],
            "pass": ["canonicalize", "cse"],
            "op": ["arith.addi"],
        }[kind]

    def status(self) -> Status:
        return Status(
            ordinal=self._ordinal,
            event=2 * self._ordinal,
            contexts=1,
            threading=True,
            tracked=100,
            written=(0, 0),
            passed=[],
        )
