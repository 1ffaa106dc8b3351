"""A session whose tool may never end: what it does is said, and endless rewriting is ended."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Timer
from typing import TYPE_CHECKING

from actiondbg import protocol
from actiondbg.commands.render.terminal.output import print_notice
from actiondbg.errors import ActiondbgError, NoAnswer
from actiondbg.protocol.tags import FOLD_TAG, PATTERN_TAG
from actiondbg.recording.capture import endless
from actiondbg.support.counts import counted

if TYPE_CHECKING:
    from actiondbg.analysis.cycles import Cycle
    from actiondbg.process.stop import Stop
    from actiondbg.session.session import Session

_PATIENCE = 1.0  # seconds, after Ctrl-C
_SAMPLE = 256  # stops that are looked at, two of each action


def run_watched(session: Session, so_far: str) -> Stop:
    """Run a tool to a stop or its end; say after some seconds what it does, and again later.

    Args:
        so_far: what is known before the stop, one sentence.

    Raises:
        NoAnswer: the same actions on the same operations repeated at two such times.
        KeyboardInterrupt: Ctrl-C, after a notice about what the tool did up to then.
    """
    passed = seconds = endless.FIRST_SECONDS
    control = session.run
    before: set[tuple[str, str, int | None]] | None = None
    while True:
        try:
            stop, is_due = _within(session, control, seconds)
        except KeyboardInterrupt:
            stop = _interrupted(session)
            if stop is not None and stop.when != "exit":
                print_notice(f"Interrupted after {counted(stop.ordinal, 'action')}. {so_far}")
            raise
        if not is_due or stop.reason != "interrupt":
            return stop
        count = counted(stop.ordinal, "action")
        cycle, stop = _sampled(session, stop)
        if stop.reason not in ("interrupt", "step"):
            return stop
        known = f"The tool still runs after {passed:.0f} s: {count}"
        if cycle is None:
            print_notice(f"{known} up to now. {so_far} Ctrl-C ends it.")
            repeated = None
        else:
            known += f", and now {endless.repeated_text(cycle)} on the same operation"
            repeated = {(one.tag, one.name, one.id) for one in cycle.round}
            if repeated == before:
                raise NoAnswer(
                    f"{known}, as before: it does not end. {so_far} See docs/crashes.md."
                )
            print_notice(f"{known}. {so_far} Ctrl-C ends it.")
        before, control = repeated, session.continue_
        passed, seconds = passed + 2 * seconds, 2 * seconds


def _interrupted(session: Session) -> Stop | None:
    """Stop a tool before its next action, or soon inside one; return None where it does not stop.

    Before its first context, as while it waits for its input, it hears of nothing.
    """
    if session.target.hello is None:
        return None
    timers = Timer(_PATIENCE, session.interrupt), Timer(2 * _PATIENCE, session.kill)
    try:
        for timer in timers:
            timer.daemon = True
            timer.start()
        session.interrupt()
        return session.wait()
    except ActiondbgError:
        return None
    finally:
        for timer in timers:
            timer.cancel()


def _within(session: Session, control: Callable[[], Stop], seconds: float) -> tuple[Stop, bool]:
    """Resume a tool, and stop it after some seconds; return the stop, and whether they passed."""
    is_due = Event()

    def interrupt() -> None:
        is_due.set()
        session.interrupt()

    timer = Timer(seconds, interrupt)
    timer.daemon = True
    timer.start()
    try:
        return control(), is_due.is_set()
    finally:
        timer.cancel()


def _sampled(session: Session, stop: Stop) -> tuple[Cycle | None, Stop]:
    """Step on; return the round that repeats on the same operations, and the last stop."""
    from actiondbg.analysis.cycles import Applied, find_cycle

    actions: list[Applied] = []
    for _ in range(_SAMPLE):
        stop = session.step()
        if stop.reason != "step":
            return None, stop
        has_changed = stop.outcome is not None and stop.outcome.result == "succeeded"
        if has_changed and stop.tag in (PATTERN_TAG, FOLD_TAG):
            actions.append(Applied(id=stop.id, **protocol.ref_fields(stop)))
    cycle = find_cycle(actions)
    if cycle is None:
        return None, stop
    ids = {one.id for one in cycle.round}
    period = len(cycle.round)
    is_same = all(one.id in ids for one in actions[-2 * period :]) and None not in ids
    return (cycle if is_same else None), stop
