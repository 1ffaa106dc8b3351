"""A fault of actiondbg in a command: it is reported, and the session goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import actiondbg
from tests.conftest import LIBRARY
from tests.fakes import stock_tool as stock

BUILDS = LIBRARY

# Front ends with a fault: where cycles are looked for, and where tools are examined.
FAULTY_CYCLES = """
import sys
from actiondbg.session.past.past import Past
def cycles(self):
    return max([])
Past.cycles = cycles
from actiondbg.cli import main
sys.exit(main())
"""
FAULTY_DOCTOR = """
import sys
from actiondbg.commands.cli import doctor
doctor.examine = None
from actiondbg.cli import main
sys.exit(main())
"""


def front_end(
    faulty: str, arguments: list[str], **variables: str
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "XDG_STATE_HOME": str(Path.cwd() / "state"), **variables}
    argv = [sys.executable, "-c", faulty, *arguments]
    return subprocess.run(
        argv, capture_output=True, text=True, check=False, env=environment, timeout=300
    )


def batch(
    tool: list[str], commands: list[str], *options: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    lines = [word for line in commands for word in ("-ex", line)]
    arguments = ["-nx", "--batch", *options, *lines, "--", *tool]
    return front_end(FAULTY_CYCLES, arguments, **variables)


def reports() -> list[str]:
    return [file.read_text() for file in Path("state").rglob("reports/*.txt")]


def test_a_batch_goes_on_after_an_internal_error(mlir_opt: str, folds: str) -> None:
    tool = [mlir_opt, folds, "--canonicalize", "-o", "out.mlir"]
    commands = ["start", "info cycles", "step", "info cursor", "continue"]
    ended = batch(tool, commands)
    assert "ended with status 0" in ended.stdout
    assert Path("out.mlir").read_text() == stock.run([mlir_opt, folds, "--canonicalize"]).stdout
    assert ended.returncode == 1  # a command failed
    assert "Internal error in 'info cycles': ValueError: max()" in ended.stderr
    assert "The session goes on, and the tool is still stopped." in ended.stderr
    assert "Traceback" not in ended.stdout + ended.stderr
    [report] = reports()
    [named] = [str(file) for file in Path("state").absolute().rglob("reports/*.txt")]
    assert f"Please send the report {named} to the maintainers" in ended.stderr
    for line in ("start\ninfo cycles\n", "in cycles", "ValueError: max()", "folds.mlir", "LLVM 2"):
        assert line in report


def test_a_display_with_an_internal_error_keeps_its_stop(mlir_opt: str, folds: str) -> None:
    tool = [mlir_opt, folds, "--canonicalize"]
    ended = batch(tool, ["display info cycles", "start", "step"])
    assert ended.stdout.count("Internal error in 'info cycles'") == 2
    assert ended.stdout.count("Stopped ") == 2
    assert len(reports()) == 2


def test_an_internal_error_is_an_answer_in_json(mlir_opt: str, folds: str) -> None:
    tool = [mlir_opt, folds, "--canonicalize"]
    ended = batch(tool, ["start", "info cycles", "info cursor"], "--json")
    answers = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [one["ok"] for one in answers] == [True, False, True]
    assert Path(answers[1]["report"]).read_text() == reports()[0]


def test_a_report_that_cannot_be_written_is_printed(mlir_opt: str, folds: str) -> None:
    tool = [mlir_opt, folds, "--canonicalize"]
    ended = batch(tool, ["start", "info cycles"], XDG_STATE_HOME="/dev/null")
    assert "Please send this report to the maintainers" in ended.stderr
    assert "in cycles" in ended.stderr


def test_an_internal_error_of_a_subcommand_is_reported(mlir_opt: str, folds: str) -> None:
    assert Path(folds).exists()  # here
    ended = front_end(FAULTY_DOCTOR, ["doctor", mlir_opt])
    assert ended.returncode == 1
    assert "Internal error in 'actiondbg doctor': TypeError" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert len(reports()) == 1


def test_a_session_of_the_api_goes_on(
    mlir_opt: str, folds: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(_: object) -> None:
        raise ValueError("planted")

    argv = [mlir_opt, folds, "--canonicalize", "-o", "out.mlir"]
    with actiondbg.launch(argv) as session:
        stop = session.start()
        with monkeypatch.context() as patch:
            patch.setattr("actiondbg.session.past.past.Past.cycles", faulty)
            with pytest.raises(ValueError, match="planted"):
                session.past.cycles()
        assert session.stop == stop and session.state == "stopped"
        assert session.continue_().status == 0
    assert Path("out.mlir").read_text() == stock.run([mlir_opt, folds, "--canonicalize"]).stdout
