"""What each control leads to in the real tool: the same as in the fake session and recordings."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import actiondbg
from tests.conftest import LIBRARY
from tests.fakes.session.controls import CONTROLS, check_breakpoint, check_control, check_run

BUILDS = LIBRARY

Launch = Callable[..., actiondbg.Session]


@pytest.mark.parametrize("control", CONTROLS)
def test_a_control_gives_its_reason_to_the_stop(launch: Launch, control: str) -> None:
    check_control(launch(), control)


def test_a_run_without_a_breakpoint_ends(launch: Launch) -> None:
    check_run(launch())


def test_a_breakpoint_is_the_reason_of_its_stop(launch: Launch) -> None:
    check_breakpoint(launch())
