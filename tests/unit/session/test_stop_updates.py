"""The updates of a session at a stop."""

from __future__ import annotations

from typing import cast

import msgspec

from actiondbg.process.stop import Stop
from actiondbg.session.executions import Executions, StopUpdates

STOP = Stop(when="before", reason="step", event=1, ordinal=1, tag="t", name="n")


class _Ended:
    """Executions whose program has ended."""

    goes_on = False

    def need(self) -> _Ended:
        return self


def _no_turn(_turn: object) -> Stop:
    raise AssertionError


def test_updates_run_in_their_order_each_with_the_stop_of_the_one_before() -> None:
    seen: list[int] = []

    def update(stop: Stop) -> Stop:
        seen.append(stop.event)
        return msgspec.structs.replace(stop, event=stop.event + 1)

    executions = cast("Executions", _Ended())
    updates = StopUpdates(executions, [], [update] * 3, lambda stop: stop, _no_turn)
    assert updates.resume(lambda: STOP).event == 4
    assert seen == [1, 2, 3]
