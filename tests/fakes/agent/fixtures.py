"""Fixtures: the fake agent as a tool, in a directory for temporary files of its own."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import actiondbg
from actiondbg.session.session import Session
from actiondbg.tool import Tool
from tests.fakes.functions import returning
from tests.processes import wait_for_end

Launch = Callable[..., Session]

FAKE = Path(__file__).with_name("fake_agent.py")
PARTS = [FAKE.with_name(f"fake_{part}.py") for part in ("stream", "answers", "forks")]


@pytest.fixture
def base(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """The directory for temporary files, short enough for sockets; nothing may be left in it."""
    tmp_path_factory.getbasetemp()  # not in here
    with tempfile.TemporaryDirectory(prefix="adbg") as name:
        monkeypatch.setattr(tempfile, "tempdir", name)
        monkeypatch.setenv("XDG_CACHE_HOME", str(Path(name) / "cache"))
        yield Path(name)
        assert list(Path(name).glob("actiondbg-*")) == []


@pytest.fixture
def fake(base: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Launch]:
    """Launch the fake with options; sessions are closed, and their tools have to be gone."""
    tool = base / "fake-tool"
    tool.write_text(f"#!{sys.executable} -SE\n{FAKE.read_text()}")
    tool.chmod(0o700)
    for part in PARTS:
        (base / part.name).write_text(part.read_text())
    libc = re.findall(r"(/\S+/libc[.-]\S+)", Path("/proc/self/maps").read_text())[0]
    found = Tool(tool, Path(libc), "fake")
    monkeypatch.setattr("actiondbg.tool.program.find_tool", returning(found))
    # What is preloaded has to be something: the C library is there already.
    monkeypatch.setattr("actiondbg.tool.program.shipped_agent", returning(Path(libc)))
    sessions: list[Session] = []

    def launch(*options: str, **keywords: object) -> Session:
        session = actiondbg.launch([str(tool), *options], **keywords)  # type: ignore[arg-type]
        sessions.append(session)
        return session

    yield launch
    for session in sessions:
        session.close()
    wait_for_end(processes_of(tool))


def processes_of(tool: Path) -> list[int]:
    """Return the pids of the tool and its forks."""
    found: list[int] = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if os.fsencode(tool) in entry.read_bytes():
                found.append(int(entry.parent.name))
    return found
