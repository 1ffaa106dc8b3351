"""Capabilities that the user switches off: the agent does without them, and the tool lives on."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import actiondbg
from actiondbg.errors import CapabilityMissing, UsageError
from actiondbg.protocol.capabilities import CAPABILITIES
from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record
from actiondbg.session.session import Session
from tests.conftest import PYPI
from tests.fakes import command_line

OFF = "--without switched it off"


@pytest.fixture
def tool(folds: str) -> list[str]:
    return [str(PYPI / "mlir-opt"), folds, "--canonicalize", "--cse", "--mlir-disable-threading"]


@pytest.fixture
def alone(tool: list[str]) -> str:
    return subprocess.run(tool, capture_output=True, text=True, check=True).stdout


def _missing(session: Session) -> dict[str, str]:
    hello = session.target.hello
    assert hello is not None
    assert not hello.capabilities & hello.missing.keys()
    return hello.missing


@pytest.mark.parametrize("name", CAPABILITIES)
def test_the_tool_is_debugged_without_a_capability(name: str, tool: list[str], alone: str) -> None:
    with actiondbg.launch(tool, without=[name]) as session:
        session.breakpoints.add("pass:*")
        assert session.run().name == "canonicalize"
        assert _missing(session)[name] == OFF
        assert session.next().when == "after"
        assert session.continue_().name == "cse"
        missing = _missing(session)
        assert missing[name] == OFF
        assert all(OFF in reason for reason in missing.values())
        assert session.continue_().status == 0
        assert session.target.output() == alone


def test_what_needs_it_is_missing_too(tool: list[str]) -> None:
    with actiondbg.launch(tool, without=["cursor", "print"]) as session:
        session.start()
        missing = _missing(session)
        assert set(missing) == {"cursor", "print", "location", "lineage", "edit"}
        assert missing["edit"] == f"it needs 'cursor': {OFF}"
        assert missing["location"] == f"it needs 'print': {OFF}"
        with pytest.raises(CapabilityMissing, match=f"cannot print IR: {OFF}"):
            session.ir.print("function")
        with pytest.raises(CapabilityMissing, match=f"cannot move in the IR: {OFF}"):
            session.cursor.parent()


def test_changes_that_are_not_seen_are_not_listed(tool: list[str]) -> None:
    """The end of an operation is followed always: nothing of it is read afterwards."""
    with actiondbg.launch(tool, without=["changes"]) as session:
        session.breakpoints.add("pattern:*", outcome="succeeded")
        stop = session.run()
        assert stop.outcome is not None and stop.outcome.result == "succeeded"
        assert not stop.changes
        assert "arith" not in session.ir.print().text.splitlines()[0]
        with pytest.raises(CapabilityMissing, match=OFF):
            session.outcome.changes()


def test_an_iteration_changed_what_its_patterns_changed(tool: list[str], tmp_path: Path) -> None:
    """Nothing else shows its outcome where changes are not seen."""

    def outcomes(*without: str) -> list[str]:
        done = record(tool, tmp_path / "run.adbrec", stdout=tmp_path / "out", without=[*without])
        assert done.status == 0
        table = open_recording(tmp_path / "run.adbrec").table("actions", ["tag", "outcome"])
        rows = table.to_pylist()
        return [row["outcome"] for row in rows if row["tag"] == "GreedyPatternRewriteIteration"]

    assert outcomes("changes") == outcomes()
    assert {*outcomes()} == {"succeeded", "unchanged"}


@pytest.mark.parametrize("name", sorted(CAPABILITIES.keys() - {"record"}))
def test_a_recording_without_a_capability(
    name: str, tool: list[str], alone: str, tmp_path: Path
) -> None:
    out = tmp_path / "out.mlir"
    done = record(tool, tmp_path / "run.adbrec", stdout=out, without=[name])
    assert (done.status, out.read_text()) == (0, alone)
    tags = set(open_recording(tmp_path / "run.adbrec").table("actions", ["tag"])["tag"].to_pylist())
    assert "pass-execution" in tags
    assert ("fold" in tags) == (name != "folds")


def test_the_users_environment_and_a_wrong_name(
    tool: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="no capability 'prnt' to switch off: choose among inter"):
        actiondbg.launch(tool, without=["prnt"])
    with pytest.raises(UsageError, match="needs the capability 'lineage', which is switched off"):
        record(tool, tmp_path / "run.adbrec", lineage=True, without=["lineage"])
    monkeypatch.setenv("ACTIONDBG_WITHOUT", "values,watch")
    with actiondbg.launch(tool, without=["print"]) as session:
        session.start()
        assert {"values", "watch", "print"} <= _missing(session).keys()


def test_command_lines(tool: list[str], tmp_path: Path) -> None:
    """Sessions, recordings, bisections and the doctor take the option."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return command_line.run(*words, cwd=tmp_path)

    done = run("--batch", "--without", "print", "-ex", "start", "-ex", "print module", "--", *tool)
    assert done.returncode == 1
    assert f"The agent in this tool cannot print IR: {OFF}." in done.stderr
    done = run("record", "--without", "folds", "--without", "watch", "--", *tool)
    assert done.returncode == 0, done.stderr
    done = run("bisect", "--without", "fork", "--test", "grep -q addi {}", "--json", "--", *tool)
    assert done.returncode in (0, 1), done.stderr
    assert "no-such" not in done.stderr
    done = run("doctor", "--without", "values", tool[0])
    assert done.returncode == 0
    assert f"  no values: {OFF}\n  no edit: it needs 'values': {OFF}\n" in done.stdout
    done = run("record", "--without", "prnt", "--", *tool)
    assert done.returncode == 2
    assert "There is no capability 'prnt' to switch off: choose among interrupt, " in done.stderr
