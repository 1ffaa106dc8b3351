"""The doctor with real tools."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from pathlib import Path

from actiondbg.doctor.examination import examine
from actiondbg.doctor.sample import Sample
from actiondbg.doctor.subject import ExaminedSubject, installed_subjects
from actiondbg.protocol.capabilities import CAPABILITIES
from actiondbg.tool import find_tool
from actiondbg.tool.identification import build_id_of
from actiondbg.version import VERSION
from tests.conftest import PYPI
from tests.fakes import command_line
from tests.tool.session.test_crashes import CRASHING, LOWER


def test_the_native_agent_has_all_capabilities(mlir_opt: str) -> None:
    words = ["doctor", "--json", mlir_opt]
    done = command_line.run(*words, check=True)
    (tool,) = json.loads(done.stdout)["tools"]
    assert tool["symbols"] == "exported"
    assert (tool["capabilities"], tool["missing"]) == (list(CAPABILITIES), {})
    assert tool["problem"] is None
    assert tool["llvm"].startswith("22.1.")


def test_what_is_installed() -> None:
    programs = {subject.name: subject.program for subject in installed_subjects()}
    assert programs["mlir-opt"] == find_tool("mlir-opt").path


def test_a_sample_that_the_tool_refuses(mlir_opt: str) -> None:
    sample = Sample("in.mlir", "module {}", ("in.mlir", "--no-such-option"))
    found = examine(ExaminedSubject("mlir-opt", Path(mlir_opt), sample), seconds=600)
    assert found.capabilities is None
    assert found.problem is not None
    assert "it ended with status 1 before any action (" in found.problem


def test_a_program_that_makes_no_context() -> None:
    subject = ExaminedSubject("true", Path("/bin/true"), Sample("in", "", ()))
    found = examine(subject, seconds=600)
    assert not found.is_usable
    assert found.problem is not None
    begin = (
        "there is no MLIR in it or in the libraries that it names, and it could not be tried: it"
    )
    assert found.problem.startswith(begin)


def test_a_tool_that_does_not_end(tmp_path: Path) -> None:
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nsleep 600\n")
    slow.chmod(0o755)
    found = examine(ExaminedSubject("slow", slow, Sample("in", "", ())), seconds=3)
    assert found.problem is not None
    assert "it could not be tried: it reached no action within 3 s;" in found.problem


def test_a_report_of_a_build(tmp_path: Path) -> None:
    """It names what an author needs, and has no folder, IR or variable of the user's."""
    tool = str(PYPI / "mlir-opt")
    home = str(PYPI.parents[1])
    environment = {**os.environ, "HOME": home, "TOKEN": "secret-word"}
    environment["XDG_CACHE_HOME"] = os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
    words = ["doctor", "--report", "report.txt", "--without", "changes", tool]
    done = command_line.run(*words, cwd=tmp_path, env=environment, check=True)
    assert "Report: report.txt. Read it before you send it." in done.stderr
    text = (tmp_path / "report.txt").read_text()
    assert f"program       ~{tool.removeprefix(home)}" in text
    assert home not in text and "secret-word" not in text and "func.func" not in text
    assert f"libc       {os.confstr('CS_GNU_LIBC_VERSION')}\n" in text
    assert platform.release() in text and f"actiondbg  {VERSION}\n" in text
    assert build_id_of(find_tool(tool).libmlir or Path()) in text
    layouts = text.partition("\nLayouts:\n")[2].partition("\n\n")[0]
    assert "  regions: proved\n" in layouts and "region size 24" in layouts
    functions = {
        part.partition(":\n")[0]: part.split()[2:] for part in text.split("\nFunctions, ")[1:]
    }
    assert "_ZN4mlir9Operation5eraseEv" in functions["replaced"]
    assert "_ZN4mlir9Operation9moveAfterEPS0_" in functions["--without switched it off"]
    exported = subprocess.run(
        ["nm", "-D", "--defined-only", str(find_tool(tool).libmlir)],
        capture_output=True,
        text=True,
        check=True,
    )
    # Names of lists say whether their nodes are checked, which is no difference to the agent.
    names = exported.stdout.replace("node_optionsINS_5BlockELb1", "node_optionsINS_5BlockELb0")
    symbols = {line.split()[-1].partition("@")[0] for line in names.splitlines()}
    assert set(functions["replaced"]) <= symbols
    assert functions["absent"] and not set(functions["absent"]) & symbols


def test_a_report_that_cannot_be_written(tmp_path: Path) -> None:
    words = ["doctor", "--static", "--report", str(tmp_path / "no/r.txt"), "mlir-opt"]
    done = command_line.run(*words)
    assert done.returncode == 1
    assert "cannot be written (No such file or directory): name another file." in done.stderr


def test_a_tool_that_crashes_in_the_trial(tmp_path: Path) -> None:
    """Its first actions are no proof that it can be debugged."""
    sample = Sample("crash.mlir", CRASHING, ("crash.mlir", *LOWER))
    found = examine(ExaminedSubject("mlir-opt", PYPI / "mlir-opt", sample), seconds=600)
    assert found.capabilities == list(CAPABILITIES)
    assert found.problem is not None
    assert "SIG" in found.problem and "(--without CAPABILITY)" in found.problem
