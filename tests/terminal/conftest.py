"""Shells over mlir-opt, in terminals."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.terminal.terminal import Terminal


@pytest.fixture
def terminal(mlir_opt: str, folds: str, tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    """Open shells over mlir-opt; all of them share a home."""
    opened: list[Terminal] = []
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": cache,
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "TERM": "xterm",
        "PAGER": "cat",
        "PROMPT_TOOLKIT_NO_CPR": "1",
    }

    def open_shell(*options: str, tool: list[str] | None = None, **more: Any) -> Terminal:
        arguments = [*options, *(tool or [mlir_opt, folds, "--canonicalize"])]
        shell = Terminal(arguments, environment | more)
        opened.append(shell)
        return shell

    yield open_shell
    for shell in opened:
        shell.child.close(force=True)
