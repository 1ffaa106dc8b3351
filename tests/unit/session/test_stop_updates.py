"""The phases of a stop."""

from __future__ import annotations

import random
from typing import cast

import pytest

from actiondbg.process.stop import Stop
from actiondbg.session.executions import Executions
from actiondbg.session.stop_updates import Phase, StopUpdates, Update

STOP = Stop(when="before", reason="step", event=1, ordinal=1, tag="t", name="n")


class _Ended:
    """Executions whose program has ended."""

    goes_on = False

    def need(self) -> _Ended:
        return self


def _updates(updates: dict[Phase, Update]) -> StopUpdates:
    return StopUpdates(cast("Executions", _Ended()), [], updates, lambda stop: stop, _no_turn)


def _no_turn(_turn: object) -> Stop:
    raise AssertionError


def test_updates_run_in_the_order_of_their_phases() -> None:
    """Whatever the order is in which they are given."""
    ran: list[Phase] = []

    def of(phase: Phase) -> Update:
        def update(stop: Stop) -> Stop:
            ran.append(phase)
            return stop

        return update

    shuffled = random.Random(1).sample(list(Phase), len(Phase))
    _updates({phase: of(phase) for phase in shuffled}).resume(lambda: STOP)
    assert ran == list(Phase)


@pytest.mark.parametrize("phase", Phase)
def test_each_phase_has_an_update(phase: Phase) -> None:
    updates: dict[Phase, Update] = {one: lambda stop: stop for one in Phase if one != phase}
    with pytest.raises(ValueError, match=f"has the phase {phase.name}."):
        _updates(updates)
