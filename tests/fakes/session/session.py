"""A Session without a tool, for the tests of the front end: it stops at made-up actions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from actiondbg import protocol
from actiondbg.breakpoints.breakpoint import BreakpointTable
from actiondbg.breakpoints.targets import Target
from actiondbg.errors import LaunchError, NotStopped, UnitErased
from actiondbg.ir.printed import PrintedText
from actiondbg.ir.value_names import ValueNames
from actiondbg.process.process_status import ProcessStatus
from actiondbg.process.stop import Stop
from actiondbg.process.streams import Redirection
from actiondbg.protocol import Action, Cursor, Frame, MLIRContext, Status, Thread, Unit
from actiondbg.protocol.capabilities import CAPABILITIES
from actiondbg.session.breakpoints import BreakpointList
from actiondbg.session.inspection.cursor import Cursor as SessionCursor
from actiondbg.session.inspection.stack import Outcome, Stack
from actiondbg.session.inspection.stopped_ir import StoppedIR
from actiondbg.session.observers import Callback, Observer
from tests.fakes.session.past import FakePast
from tests.fakes.session.time_travel import FakeEdits, FakeSkips, FakeTimeline

CURSOR = protocol.StopCursor(kind="operation", id=7, op="arith.addi", by="action")
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


class FakeAgent:
    """Answers requests at a stop of a FakeSession, and notes them in its calls."""

    def __init__(self, session: FakeSession) -> None:
        self._session = session

    def ask(self, message: Any) -> Any:
        session = self._session
        session.need_stop()
        if isinstance(message, protocol.GetLinks):
            session.calls.append((message.direction,))
            return protocol.Units(units=[ADDI])
        if isinstance(message, protocol.MoveCursor):
            fields = {name: getattr(message, name) for name in message.__struct_fields__}
            given = {k: v for k, v in fields.items() if v is not None and k != "to"}
            session.calls.append((message.to, given))
            return self._cursor()
        if isinstance(message, protocol.GetChanges):
            session.calls.append(("changes", message.nested, message.count))
            return session.changes_made(message.count)
        if isinstance(message, protocol.CountOperations):
            session.calls.append(("count", message.glob, message.function))
            return protocol.Count(count=3)
        return self._look(message)

    def _look(self, message: Any) -> Any:
        session = self._session
        match message:
            case protocol.GetFrames():
                return protocol.Frames(frames=[Frame(**session.frame(i)) for i in range(3)])
            case protocol.SelectFrame(index=index):
                return Frame(**session.frame(index))
            case protocol.GetAction():
                return Action(
                    **session.frame(0),
                    full_name="(anonymous namespace)::Fold",
                    labels=["label"],
                    iteration=1,
                    text="apply-pattern",
                    full_location="loc(unknown)",
                    when="before",
                )
            case protocol.GetContext():
                return protocol.Units(units=[ADDI])
            case protocol.GetCursor():
                return self._cursor()
            case protocol.GetExcerpt():
                return self._excerpt()
            case _:
                raise AssertionError(f"the fake agent does not know {message!r}")

    def _cursor(self) -> Cursor:
        return Cursor(unit=self._session.cursor_unit, function="main", path=[0, 0, 0, 0, 0, 0])

    def _excerpt(self) -> protocol.Excerpt:
        unit = self._session.cursor_unit
        if unit.text is None:
            raise UnitErased("The action's IR unit is erased.")
        line = protocol.Line(kind="operation", id=unit.id, part=0, depth=0, text=unit.text)
        return protocol.Excerpt(
            lines=[line],
            current=0,
            more_before=False,
            more_after=False,
            scope=None,
            function="main",
            definitions=[],
        )


class FakeBreakpointHost:
    """Stops at breakpoints by itself, and notes when their hits are asked for."""

    def __init__(self, calls: list[tuple[Any, ...]]) -> None:
        self._calls = calls

    def check_changeable(self) -> None:
        pass

    def check_watch(self, target: Target) -> None:
        pass

    def check_catch(self, kind: str) -> None:
        pass

    def send(self) -> None:
        pass

    def count_hits(self, *, again: bool = False) -> None:
        if again:
            self._calls.append(("hits",))


class FakeIR(StoppedIR):
    """The IR at a stop, which nobody printed."""

    def __init__(self, session: FakeSession, agent: FakeAgent) -> None:
        super().__init__(agent, session.stack, session.cursor, ValueNames(), lambda: Path("unused"))
        self._session = session

    def print(self, what: str = "cursor", *, mark: bool = False, **options: Any) -> FakeText:
        session = self._session
        session.need_stop()
        session.calls.append(("print", what, {k: v for k, v in options.items() if v}))
        text = f"{ADDI.text}\n" if what == "cursor" else session.module_text
        line = 1 if what == "cursor" else 3
        generic = session.invalid or bool(options.get("generic"))
        printed = FakeText(text, (line, line) if mark else None, generic)
        session.printed.append(printed)
        return printed


class FakeNames:
    """The names that the tool is known to have."""

    is_current = False
    is_complete = False

    def options(self) -> list[str]:
        return ["canonicalize"]

    def inputs(self) -> list[str]:
        return ["in.mlir"]

    def get(self, kind: str) -> list[str]:
        return {
            "tag": ["apply-pattern", "fold"],
            "pattern": ["FoldA", "FoldB"],
            "pass": ["canonicalize", "cse"],
            "op": ["arith.addi"],
            "func": ["main"],
        }[kind]

    def may_have(self, kind: str, name: str) -> bool:
        return name in self.get(kind)

    def line_count(self, file: str) -> int | None:
        return None

    def may_locate(self, path: str) -> bool:
        return True


class FakeObservers:
    """Callbacks, which no action calls."""

    def __init__(self) -> None:
        self.added: list[Observer] = []

    def add(
        self, spec: str, *, before: Callback | None = None, after: Callback | None = None
    ) -> Observer:
        self.added.append(Observer(spec, before, after))
        return self.added[-1]

    def on_stop(self, callback: Callback) -> None:
        pass

    def remove(self, observer: Observer) -> None:
        self.added.remove(observer)


class FakeTarget:
    """The program that is debugged."""

    def __init__(self) -> None:
        self.argv = ["mlir-opt", "in.mlir"]
        self.tool: Any = None
        self.hello: protocol.Hello | None = protocol.Hello(
            protocol=protocol.VERSION,
            pid=4711,
            parent=1,
            capabilities=frozenset(CAPABILITIES),
            role="tool",
            ordinal=0,
            event=0,
            when=None,
        )
        self.pid: int | None = None

    def process(self) -> ProcessStatus:
        return ProcessStatus(pid=4711, halted=None, threads=1, tracer=0)

    def forks(self) -> list[int]:
        return [4712, 4713]


class FakeOptions:
    """What the agent does beside stopping."""

    def __init__(self) -> None:
        self.verify_each_action = False
        self.count_actions = False
        self.disable_randomization = True
        self.stop_on_crash = True
        self.threads_wait = True
        self.follow = "*"
        self.checkpoint_spacing = 50
        self.checkpoint_memory = 1024


class FakeSession:
    """Stops at every breakpoint once, ends after ``actions`` actions."""

    def __init__(self, actions: int = 10) -> None:
        self.state = "not-running"
        self.stop: Stop | None = None
        self.exit_status: int | None = None
        self.calls: list[tuple[Any, ...]] = []
        self.printed: list[FakeText] = []
        self.module_text = MODULE
        self.fail_to_start = False
        self.invalid = False  # the IR can be printed in generic form only
        self.interrupts = 0  # how many KeyboardInterrupts the next waits raise
        self.next_stop: dict[str, Any] = {}  # fields of the next stop, beside the usual ones
        self.cursor_unit = ADDI
        self.found_changes: list[protocol.Change] = []
        self._actions = actions
        self._ordinal = 0
        agent = FakeAgent(self)
        self.target = FakeTarget()
        self.options = FakeOptions()
        self.stack = Stack(agent)
        self.cursor = SessionCursor(agent)
        self.ir = FakeIR(self, agent)
        self.outcome = Outcome(agent, lambda: self.stop)
        host = FakeBreakpointHost(self.calls)
        self.names = FakeNames()
        self.breakpoints = BreakpointList(BreakpointTable(), host, self.cursor, self.names)
        self.observers = FakeObservers()
        self.past = FakePast(self.calls)
        self.timeline = FakeTimeline(self.calls, self.need_stop, self._stop)
        self.skips = FakeSkips(self.calls)
        self.edits = FakeEdits()

    def changes_made(self, limit: int) -> protocol.Changes:
        counts: dict[str, int] = {}
        for each in self.found_changes:
            counts[each.kind] = counts.get(each.kind, 0) + 1
        return protocol.Changes(
            changes=self.found_changes[:limit],
            total=len(self.found_changes),
            counts=counts,
            forgotten=0,
            undated=0,
        )

    # --- running

    def _stop(self, reason: Any, breakpoints: list[int] | None = None) -> Stop:
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
            cursor=None if ends else CURSOR,
        )
        self.stop = msgspec.structs.replace(self.stop, **self.next_stop)
        self.next_stop = {}
        return self.stop

    def need_stop(self) -> None:
        if self.state != "stopped":
            raise NotStopped("The tool is not stopped: start it with 'start' or 'run'.")

    def start(
        self,
        args: list[str] | None = None,
        *,
        stdin: Redirection = None,
        stdout: Redirection = None,
        stderr: Redirection = None,
    ) -> Stop:
        return self._launch("start", args, dict(stdin=stdin, stdout=stdout, stderr=stderr))

    def run(
        self,
        args: list[str] | None = None,
        *,
        stdin: Redirection = None,
        stdout: Redirection = None,
        stderr: Redirection = None,
    ) -> Stop:
        return self._launch("run", args, dict(stdin=stdin, stdout=stdout, stderr=stderr))

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
        ids = [each.id for each in self.breakpoints.all() if each.enabled]
        if not ids:
            self._ordinal = self._actions
        return self._stop("breakpoint", ids)

    def continue_(self, count: int = 1) -> Stop:
        self.need_stop()
        self.calls.append(("continue", count))
        return self._continue()

    def _control(self, reason: str, *call: Any) -> Stop:
        """Note the call, by which the tests tell one control from another, and stop."""
        self.need_stop()
        self.calls.append(call)
        return self._stop(reason)

    def step(self, count: int = 1) -> Stop:
        return self._control("step", "step", count)

    def next(self, count: int = 1) -> Stop:
        return self._control("next", "next", count)

    def finish(self, count: int = 1) -> Stop:
        return self._control("finish", "finish", count)

    def skip(self, count: int = 1, *, step: bool = False) -> Stop:
        return self._control("step", "skip", *(("step",) if step else (count,)))

    def apply(self, count: int = 1) -> Stop:
        return self._control("step", "apply", count)

    def next_change(self, count: int = 1) -> Stop:
        return self._control("until", "next_change", count)

    def next_success(self, spec: str | None = None, condition: str | None = None) -> Stop:
        return self._control("until", "next_success", spec, condition)

    def next_attempt(self, name: str, location: str | None = None) -> Stop:
        return self._control("until", "next_attempt", name, location)

    def until(
        self,
        spec: str,
        condition: str | None = None,
        *,
        after: bool = False,
        outcome: str | None = None,
    ) -> Stop:
        return self._control("until", "until", spec, condition, after, outcome)

    def advance(
        self,
        spec: str,
        condition: str | None = None,
        *,
        after: bool = False,
        outcome: str | None = None,
    ) -> Stop:
        return self._control("until", "advance", spec, condition, after, outcome)

    def interrupt(self) -> None:
        self.calls.append(("interrupt",))

    def wait(self) -> Stop:
        self.calls.append(("wait",))
        return self._stop("interrupt")

    def close(self) -> None:
        self.calls.append(("close",))

    def kill(self) -> None:
        self.calls.append(("kill",))
        self.state = "exited"

    # --- looking

    def frame(self, index: int) -> dict[str, Any]:
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

    @property
    def way_on(self) -> str | None:
        return None

    @property
    def contexts(self) -> list[MLIRContext]:
        return [MLIRContext(name="c0", thread="t0", state="stopped", actions=self._ordinal)]

    @property
    def threads(self) -> list[Thread]:
        state, title = "stopped", "mlir-opt"
        return [
            Thread(
                name="t0",
                id=4711,
                title=title,
                state=state,
                context="c0",
                actions=self._ordinal,
                unfollowed=0,
            )
        ]

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
