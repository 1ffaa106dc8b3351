"""The doctor with real tools."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from actiondbg.doctor.examination import examine
from actiondbg.doctor.sample import Sample
from actiondbg.doctor.subject import Subject, installed_subjects
from actiondbg.protocol.capabilities import CAPABILITIES
from actiondbg.tool import find_tool
from tests.paths import COMMAND


def test_the_native_agent_has_all_capabilities(mlir_opt: str) -> None:
    words = [COMMAND, "doctor", "--json", mlir_opt]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    (tool,) = json.loads(done.stdout)["tools"]
    assert (tool["way"], tool["symbols"], tool["agent"]) == ("native", "exported", "cached")
    assert (tool["capabilities"], tool["missing"]) == (list(CAPABILITIES), {})
    assert (tool["limit"], tool["problem"]) == (None, None)
    assert tool["llvm"].startswith("22.1.")


def test_what_is_installed() -> None:
    programs = {subject.name: subject.program for subject in installed_subjects()}
    assert programs["mlir-opt"] == find_tool("mlir-opt").path


def test_a_sample_that_the_tool_refuses(mlir_opt: str) -> None:
    sample = Sample("in.mlir", "module {}", ("in.mlir", "--no-such-option"))
    found = examine(Subject("mlir-opt", Path(mlir_opt), sample), seconds=600)
    assert found.capabilities is None
    assert found.problem is not None
    assert "it ended with status 1 before any action (" in found.problem


def test_a_program_that_makes_no_context() -> None:
    subject = Subject("true", Path("/bin/true"), Sample("in", "", ()))
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
    found = examine(Subject("slow", slow, Sample("in", "", ())), seconds=3)
    assert found.problem is not None
    assert "it could not be tried: it reached no action within 3 s;" in found.problem
