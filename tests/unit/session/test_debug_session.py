"""Live, recorded and fake sessions offer what DebugSession names, with the same parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

import actiondbg
from actiondbg.breakpoints import resolution
from actiondbg.recording.session import open_session
from actiondbg.session import debug_session
from tests.fakes.recording.recordings import write_recording
from tests.fakes.recording.session import OPERATIONS, actions
from tests.fakes.session.controls import CONTROLS, check_breakpoint, check_control, check_run
from tests.fakes.session.session import FakeSession

INTERFACES: dict[str, type] = {
    "": debug_session.DebugSession,
    "target": debug_session.TargetView,
    "timeline": debug_session.TimelineView,
    "timeline.checkpoints": debug_session.CheckpointView,
    "past": debug_session.PastView,
    "names": resolution.Vocabulary,
    "observers": debug_session.ObserversView,
}
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


def members(interface: type) -> list[tuple[str, Any]]:
    """Return the public names that an interface declares, with what it declares for them."""
    return [pair for pair in vars(interface).items() if not pair[0].startswith("_")]


def parameters(function: Any) -> list[tuple[str, Any, Any]]:
    """Return the name, kind and default of each parameter but self."""
    found = inspect.signature(function).parameters.values()
    return [(one.name, one.kind, one.default) for one in found if one.name != "self"]


@pytest.mark.parametrize("kind", ["live", "recorded", "fake"])
@pytest.mark.parametrize("where", INTERFACES)
def test_session_has_the_attributes_of_the_protocol(opened: Open, kind: str, where: str) -> None:
    session = opened(kind)
    part = attrgetter(where)(session) if where else session
    declared = members(INTERFACES[where])
    assert declared
    for name, declaration in declared:
        if isinstance(declaration, property):
            # Not getattr: a property may need a stop.
            assert name in dir(part), name
        else:
            assert parameters(getattr(part, name)) == parameters(declaration), name


def test_every_protocol_of_the_module_is_checked() -> None:
    protocols = {
        one
        for one in vars(debug_session).values()
        if inspect.isclass(one) and getattr(one, "_is_protocol", False)
    }
    declared_here = {one for one in protocols if one.__module__ == debug_session.__name__}
    assert declared_here == set(INTERFACES.values()) - {resolution.Vocabulary}


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
