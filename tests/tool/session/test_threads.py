"""Threads that call one session at the same time."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

import pytest

import actiondbg
from actiondbg.errors import NotStopped
from tests.conftest import LIBRARY
from tests.elements import some

BUILDS = LIBRARY

Launch = Callable[..., actiondbg.Session]


def _in_threads(work: Callable[[], None], count: int) -> None:
    threads = [threading.Thread(target=work) for _ in range(count)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


def test_a_thread_gets_its_answer_or_is_refused(launch: Launch) -> None:
    session = launch()
    session.start()
    expected = session.status()
    answers: list[object] = []
    errors: list[Exception] = []

    def ask() -> None:
        for _ in range(300):
            try:
                answers.append(session.status())
            except Exception as error:
                errors.append(error)

    _in_threads(ask, 3)
    assert all(each == expected for each in some(answers))
    assert {type(each) for each in errors} <= {NotStopped}
    assert session.step().event == 2


def test_another_thread_may_kill_a_tool_that_is_waited_for(mlir_opt: str) -> None:
    reading, writing = os.pipe()
    with actiondbg.launch([mlir_opt, "-"], stdin=reading) as session:
        killer = threading.Timer(0.2, session.kill)
        killer.start()
        stop = session.run()
        killer.join()
        assert (stop.when, stop.status) == ("exit", -9)
    os.close(reading)
    os.close(writing)


def test_a_closed_session_is_named_so(launch: Launch) -> None:
    session = launch()
    session.start()
    session.close()
    for call in (session.step, session.continue_, session.wait, session.stack.frames):
        with pytest.raises(actiondbg.errors.UsageError, match="The session is closed"):
            call()
    with pytest.raises(actiondbg.errors.UsageError, match="The session is closed"):
        session.timeline.checkpoints.add()
