"""The sessions of docs/tour.md, done by tools: the answers are those that the page prints."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.paths import ROOT
from tests.tool.mcp.servers import TRANSPORTS, Talk, Transport, talk

BUILDS = ("pypi",)
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "break pattern:AddIAddConstant if line == 8": (
        "set_breakpoint",
        {"what": "pattern:AddIAddConstant", "condition": "line == 8"},
    ),
    "run": ("run", {}),
    "start": ("command", {"line": "info action"}),  # as open has done
    "continue": ("run", {}),
    "print function": ("show_ir", {"what": "function"}),
    "step": ("step", {}),
    "finish": ("step", {"unit": "parent"}),
    "diff": ("changes", {}),
    "watch cursor": ("set_breakpoint", {"kind": "watch", "what": "cursor"}),
    "history @5": ("history", {"target": "@5"}),
    "why-not AddIAddConstant": ("why_not", {"pattern": "AddIAddConstant"}),
    "tbreak pass:cse --outcome unchanged": (
        "set_breakpoint",
        {"what": "pass:cse", "outcome": "unchanged", "temporary": True},
    ),
}
COMMANDS = (  # which have no tool of their own
    *("backtrace", "cursor-defs", "context", "info breakpoints", "delete all"),
    "cursor-goto fold.mlir:8",
)


def _sessions() -> list[str]:
    page = (ROOT / "docs/tour.md").read_text()
    return re.findall(r"^```text\n(.*?)^```$", page, re.M | re.S)


def _steps(session: str) -> list[tuple[str, str]]:
    """Return the commands of a session, each with what it prints."""
    parts = re.split(r"^\(actiondbg\) (.*)\n", session, flags=re.M)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("session", _sessions())
def test_a_session_of_the_tour(
    session: str, transport: Transport, mlir_opt: str, tmp_path: Path
) -> None:
    shutil.copy(ROOT / "examples/fold.mlir", tmp_path)
    words = session.partition("\n")[0].removeprefix("$ actiondbg mlir-opt ").split()
    steps = _steps(session)
    assert len(steps) >= 8

    async def work(talk: Talk) -> None:
        opened = await talk.do("open", command=[mlir_opt, *words])
        assert opened.data["session"] in opened.text
        for command, printed in steps:
            tool, arguments = CALLS.get(command) or ("command", {"line": command})
            has_tool = command not in (*COMMANDS, "start")
            assert (tool != "command") == has_tool, command
            answered = await talk.do(tool, **arguments)
            if command == "start":
                answered = opened
            assert printed.rstrip() in answered.text, command
        await talk.do("close")

    talk(work, tmp_path, mlir_opt, transport=transport)
