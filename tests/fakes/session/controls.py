"""Checks of what each control leads to, for sessions over a tool, a recording and neither."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actiondbg.process.stop import Stop

if TYPE_CHECKING:
    from actiondbg.recording.session.recorded_session import DebugSession

CONTROLS: dict[str, tuple[Any, ...]] = {
    "step": (),
    "next": (),
    "finish": (),
    "until": ("tag:*",),
    "advance": ("tag:*",),
    "next_change": (),
    "next_attempt": ("*",),
    "next_success": ("tag:*",),
}


def check_control(session: DebugSession, control: str) -> None:
    """Check the stop of a control from inside of an outermost action."""
    started = session.start()
    assert (started.when, started.reason, session.state) == ("before", "start", "stopped")
    first = session.step()
    assert (first.reason, session.state) == ("step", "stopped")
    stop: Stop = getattr(session, control)(*CONTROLS[control])
    assert session.stop == stop
    assert stop.reason == (control if control in ("step", "next", "finish") else "until")
    assert (session.state, session.exit_status) == ("stopped", None)


def check_run(session: DebugSession) -> None:
    """Check a run without a breakpoint, which ends."""
    stop = session.run()
    assert (stop.when, stop.reason, session.state) == ("exit", "exited", "exited")
    assert session.exit_status == stop.status == 0


def check_breakpoint(session: DebugSession) -> None:
    """Check the stop at a breakpoint."""
    session.start()
    added = session.breakpoints.add("tag:*")
    stop = session.continue_()
    assert (stop.when, stop.reason, stop.breakpoints) == ("before", "breakpoint", [added.id])
