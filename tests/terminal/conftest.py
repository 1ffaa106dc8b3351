"""Shells over mlir-opt, in terminals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.terminal.terminal import Terminal, end, environment_in


@pytest.fixture
def terminal(mlir_opt: str, folds: str, tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    """Open shells over mlir-opt; all of them share a home."""
    opened: list[Terminal] = []
    environment = environment_in(tmp_path, PAGER="cat")

    def open_shell(
        *options: str,
        tool: list[str] | None = None,
        python: Sequence[str] = ("-m", "actiondbg"),
        **more: Any,
    ) -> Terminal:
        arguments = [*options, *(tool or [mlir_opt, folds, "--canonicalize"])]
        shell = Terminal(arguments, environment | more, python)
        opened.append(shell)
        return shell

    yield open_shell
    for shell in opened:
        end(shell.child)
