"""What a stop at a terminal says of changes."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

import actiondbg
from tests.conftest import LIBRARY
from tests.fakes.typed_shell import Screen
from tests.paths import ROOT

BUILDS = LIBRARY


def test_changes_that_no_line_shows_are_counted(
    launch: Callable[..., actiondbg.Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An action that began before a stop has changes that were only counted."""
    session = launch("--canonicalize", source=str(ROOT / "examples" / "fold.mlir"))
    screen = Screen(session, monkeypatch)
    screen.type("break pattern:AddIAddConstant", "run", "continue 2", "delete 1")
    end = screen.type("finish")
    assert re.search(r"^  [1-9]\d* changes?: info changes$", end, re.M), end
    assert "more: info changes" not in end
