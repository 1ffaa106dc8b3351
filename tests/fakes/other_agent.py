"""Agents of changed sources, in the place of the one that is shipped."""

from __future__ import annotations

from pathlib import Path

import pytest

from actiondbg.tool import agent_compilation


def use_agent_of(source: Path, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile the agent of some sources into a directory, for the tools that are started."""
    monkeypatch.setattr(agent_compilation, "FLAGS", (*agent_compilation.FLAGS, "-O0"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(directory))
    agent = directory / "agent.so"
    agent_compilation.compile_agent(agent, source)
    monkeypatch.setenv("ACTIONDBG_AGENT", str(agent))
