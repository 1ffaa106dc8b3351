"""Live, recorded and fake sessions have the same methods, with the same parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

import actiondbg
from actiondbg.recording.session import open_session
from tests.fakes.recording.recordings import write_recording
from tests.fakes.recording.session import OPERATIONS, actions
from tests.fakes.session.controls import CONTROLS, check_breakpoint, check_control, check_run
from tests.fakes.session.session import FakeSession

PARTS = ("", "target", "timeline", "timeline.checkpoints", "past", "names", "observers")
NOT_OF_FRONT_ENDS = {"call", "check_resumable", "notifying"}  # of observers
Open = Callable[[str], Any]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Open a session of a kind that has not run, or is before its first action."""
    with ExitStack() as stack:

        def open_one(kind: str) -> Any:
            if kind == "fake":
                return FakeSession()
            if kind == "live":
                return stack.enter_context(actiondbg.launch(["mlir-opt"]))
            path = write_recording(tmp_path / "run.adbrec", actions(), OPERATIONS)
            return stack.enter_context(open_session(path))

        yield open_one


def parameters(function: Any) -> list[tuple[str, Any, Any]]:
    """Return the name, kind and default of each parameter but self."""
    found = inspect.signature(function).parameters.values()
    return [(one.name, one.kind, one.default) for one in found if one.name != "self"]


@pytest.mark.parametrize("where", PARTS)
def test_what_live_and_recorded_sessions_have_is_alike(opened: Open, where: str) -> None:
    """What both have is what front ends use, and fakes have it."""
    sessions = [opened(kind) for kind in ("live", "recorded", "fake")]
    live, recorded, fake = (attrgetter(where)(one) if where else one for one in sessions)
    names = set(dir(live)) & set(dir(recorded)) - NOT_OF_FRONT_ENDS
    public = {name for name in names if not name.startswith("_")}
    assert public
    for name in public:
        # Not getattr: a property may need a stop.
        assert name in dir(fake), name
        declaration = inspect.getattr_static(recorded, name)
        if inspect.isfunction(declaration):
            wanted = parameters(getattr(recorded, name))
            assert parameters(getattr(live, name)) == wanted, name
            assert parameters(getattr(fake, name)) == wanted, name


@pytest.mark.parametrize("kind", ["recorded", "fake"])
@pytest.mark.parametrize("control", CONTROLS)
def test_a_control_gives_its_reason_to_the_stop(opened: Open, kind: str, control: str) -> None:
    check_control(opened(kind), control)


@pytest.mark.parametrize("kind", ["recorded", "fake"])
def test_a_run_without_a_breakpoint_ends(opened: Open, kind: str) -> None:
    check_run(opened(kind))


@pytest.mark.parametrize("kind", ["recorded", "fake"])
def test_a_breakpoint_is_the_reason_of_its_stop(opened: Open, kind: str) -> None:
    check_breakpoint(opened(kind))
