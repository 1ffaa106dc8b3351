"""Programs whose processes make contexts in others that have one, or are not observed at all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import actiondbg
from actiondbg.errors import UsageError
from actiondbg.recording import open_recording
from actiondbg.tool.identification.mlir_object import _MLIR_TEXT  # pyright: ignore[reportPrivateUsage]
from tests.conftest import PYPI
from tests.elements import some
from tests.paths import ROOT

ACTIONDBG = str(ROOT / ".venv/bin/actiondbg")
TEXT = "func.func @f(%a: i32) -> i32 {\n  %0 = arith.addi %a, %a : i32\n  return %0 : i32\n}\n"
# Makes a context, runs passes, and then waits for a tool that it starts.
PARENT = """
import subprocess, sys
from mlir.ir import Context, Module
from mlir.passmanager import PassManager
with Context():
    module = Module.parse(open("in.mlir").read())
    PassManager.parse("builtin.module(cse)").run(module.operation)
    print(subprocess.run(sys.argv[1:], capture_output=True, text=True, check=True).stdout)
    PassManager.parse("builtin.module(canonicalize)").run(module.operation)
    print(module)
"""


def _record(*argv: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [ACTIONDBG, "record", "-o", "run.adbrec", "--", *argv]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


def _passes(path: Path) -> list[str]:
    names = open_recording(path).table("actions", ["tag", "name"])
    rows = zip(names["tag"].to_pylist(), names["name"].to_pylist(), strict=True)
    return [name for tag, name in rows if tag == "pass-execution"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in.mlir").write_text(TEXT)
    (tmp_path / "parent.py").write_text(PARENT)
    return tmp_path


def test_a_child_of_a_process_with_a_context_is_recorded(folder: Path) -> None:
    argv = [sys.executable, "parent.py", str(PYPI / "mlir-opt"), "in.mlir", "--canonicalize"]
    alone = subprocess.run(argv, capture_output=True, text=True, check=True, cwd=folder).stdout
    done = _record(*argv, cwd=folder)
    assert (done.returncode, done.stdout) == (0, alone)
    assert _passes(folder / "run.adbrec") == ["cse", "canonicalize"]
    assert _passes(folder / "run.p1.adbrec") == ["canonicalize"]


def test_a_tool_without_the_agent_is_named(folder: Path) -> None:
    """A script empties the environment of the tool."""
    tool = folder / "script"
    tool.write_text(f"#!/bin/sh\nexec env -i {PYPI / 'mlir-opt'} in.mlir\n")
    tool.chmod(0o755)
    done = _record("./script", cwd=folder)
    assert done.returncode == 0
    assert f"it started '{PYPI / 'mlir-opt'}' without the agent: keep LD_PRELOAD" in done.stderr


def test_a_stripped_tool_behind_a_script_is_named(folder: Path) -> None:
    """The program that the script becomes holds MLIR's texts, and no symbols."""
    source = folder / "tool.c"
    source.write_text(
        'const char text[2 << 20] = "MLIR_TEXT";\nint main(void) { return text[1] == 0; }\n'
    )
    source.write_text(source.read_text().replace("MLIR_TEXT", _MLIR_TEXT.decode()))
    subprocess.run(["cc", "-s", "-o", folder / "tool", source], check=True)
    script = folder / "script"
    script.write_text("#!/usr/bin/env python3\nimport os\nos.execv('tool', ['tool'])\n")
    script.chmod(0o755)
    done = _record("./script", cwd=folder)
    assert done.returncode == 0
    assert f"it ran '{folder / 'tool'}', where MLIR is stripped" in done.stderr


def test_what_the_user_does_without(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A capability is missing with its reason, its functions are left alone, and the rest works."""
    monkeypatch.setenv("ACTIONDBG_WAY", "portable")
    argv = [str(PYPI / "mlir-opt"), str(folder / "in.mlir"), "--canonicalize"]
    alone = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    for name in ("print", "cursor", "values", "location", "folds", "changes", "reasons", "fork"):
        monkeypatch.setenv("ACTIONDBG_WITHOUT", name)
        with actiondbg.launch(argv) as session:
            session.breakpoints.add("pass:*")
            session.run()
            stop = session.next()
            assert stop.when == "after"
            hello = session.target.hello
            assert hello is not None and name not in hello.capabilities
            assert "--without" in hello.missing[name]
            assert session.continue_().status == 0
            assert session.target.output() == alone
    monkeypatch.setenv("ACTIONDBG_WITHOUT", "prnt")
    with pytest.raises(UsageError, match="no capability 'prnt'"), actiondbg.launch(argv) as session:
        session.run()


def test_a_report_of_a_build(folder: Path) -> None:
    """It names the build and what is missing, and has no IR and no home folder."""
    environment = {**os.environ, "ACTIONDBG_WAY": "portable", "HOME": str(PYPI.parent)}
    environment["XDG_CACHE_HOME"] = os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
    command = [ACTIONDBG, "doctor", "--report", "report.json", "--without", "values"]
    done = subprocess.run(
        [*command, str(PYPI / "mlir-opt")],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    text = (folder / "report.json").read_text()
    assert str(PYPI.parent) not in text and "func.func" not in text
    [tool] = json.loads(text)["tools"]
    assert tool["way"] == "portable" and tool["build"] and tool["bytes"] > 0
    assert tool["missing"]["values"].startswith("--without")
    assert all(name.startswith("_Z") for name in some(tool["absent"]))
