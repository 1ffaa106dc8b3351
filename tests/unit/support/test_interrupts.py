"""Signals that come at a bad moment."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from actiondbg.support.interrupts import delay_signal, undisturbed

_NONE = 0  # a signal that the kernel does not send


@undisturbed
def _make() -> bool:
    return delay_signal(_NONE, sys._getframe())


def _execute_child() -> bool:
    """Not the method of subprocess.Popen."""
    return delay_signal(_NONE, sys._getframe())


def test_signals_wait_until_somebody_has_what_is_made() -> None:
    start: dict[str, Any] = {"delay": lambda: delay_signal(_NONE, sys._getframe())}
    exec(compile("def _execute_child(): return delay()", subprocess.__file__, "exec"), start)
    assert _make() and start["_execute_child"]()
    assert not _execute_child()
    assert not delay_signal(_NONE, sys._getframe())
