"""The start of the command in a terminal: an early Ctrl-C, and command lines that name no tool."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pexpect
import pytest

from tests.conftest import LIBRARY
from tests.fakes.recording.recordings import write_recording
from tests.fakes.recording.session import OPERATIONS, actions
from tests.paths import COMMAND

BUILDS = LIBRARY

# Presses Ctrl-C when a module is looked for.
HOOK = """\
import os, signal, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["PRESSED_AT"]:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
"""


def opened(*words: str, **environment: str) -> pexpect.spawn[str]:
    child: pexpect.spawn[str] = pexpect.spawn(
        COMMAND,
        list(words),
        encoding="utf-8",
        timeout=60,
        env={**os.environ, "TERM": "xterm", **environment},
    )
    child.expect(pexpect.EOF)
    child.close()
    return child


@pytest.mark.parametrize(
    "module",
    [
        "actiondbg",
        "actiondbg.cli",
        "typing",
        "actiondbg.commands.cli.debug",
        "msgspec",
        "actiondbg.protocol.client",
        "actiondbg.session.session",
        "cmd2",
    ],
)
def test_ctrl_c_during_an_import_ends_without_a_word(
    mlir_opt: str, folds: str, tmp_path: Path, module: str
) -> None:
    (tmp_path / "sitecustomize.py").write_text(HOOK)
    child = opened(
        *("-nx", mlir_opt, folds, "--canonicalize"), PYTHONPATH=str(tmp_path), PRESSED_AT=module
    )
    assert (child.before or "").strip() == ""
    assert signal.SIGINT in (child.signalstatus, (child.exitstatus or 0) - 128)


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["nosuchtool"], 3, "There is no tool 'nosuchtool' on PATH"),
        (["reocrd", "--", "mlir-opt"], 3, "did you mean 'actiondbg record'?"),
        (["--batch", "open", "run.adbrec"], 2, "follow it: actiondbg open --batch run.adbrec"),
        (["run.adbrec"], 3, "is a recording: debug it with 'actiondbg open run.adbrec'"),
        (["folds.mlir", "--canonicalize"], 3, "There is no tool 'folds.mlir' on PATH"),
        (["./"], 3, "is a directory: give the path of a tool in it"),
    ],
)
def test_a_command_line_without_a_tool_opens_no_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], status: int, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write_recording("run.adbrec", actions(), OPERATIONS)
    child = opened(*words)
    assert child.exitstatus == status
    shown = child.before or ""
    assert message in " ".join(shown.split())
    assert "(actiondbg)" not in shown
