"""Signals that come at a bad moment."""

from __future__ import annotations

import sys

from actiondbg.support.interrupts import delay_signal, undisturbed

_NONE = 0  # a signal that the kernel does not send


@undisturbed
def _make() -> bool:
    return delay_signal(_NONE, sys._getframe())


def _execute_child() -> bool:
    """As the method of subprocess.Popen."""
    return delay_signal(_NONE, sys._getframe())


def test_signals_wait_until_somebody_has_what_is_made() -> None:
    assert _make() and _execute_child()
    assert not delay_signal(_NONE, sys._getframe())
