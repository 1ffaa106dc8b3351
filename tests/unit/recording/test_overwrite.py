"""What no command writes over, and what each does."""

from __future__ import annotations

import fcntl
import os
import subprocess
from pathlib import Path

import pytest

from actiondbg.errors import UsageError
from actiondbg.process.streams import Streams
from actiondbg.recording.capture.recorder import RecordingProcess
from actiondbg.recording.overwrite_protection import check_overwritten
from actiondbg.tool.program import StartedProgram
from tests.fakes import command_line
from tests.fakes.recording.recordings import Action, write_recording

TOOL = ("--", "mlir-opt", "in.mlir", "--canonicalize", "-o=out.mlir")  # refused before it is run

DUMP = "// -----// IR Dump After Canonicalizer (canonicalize) //----- //"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_recording("run.adbrec", [Action("canonicalize", "pass-execution")])
    Path("other.adbrec").write_bytes(Path("run.adbrec").read_bytes())
    Path("in.mlir").write_text("module {}\n")
    Path("link.mlir").symlink_to("in.mlir")
    Path("passes.log").write_text(
        "// -----// IR Dump After Canonicalizer (canonicalize) //----- //\nmodule {}\n"
    )


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return command_line.run(*words)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("query", "-o", "other.adbrec", "run.adbrec", "select 1"),
            "'other.adbrec' is a recording",
        ),
        (("stat", "-o", "run.adbrec", "run.adbrec"), "'run.adbrec' is a recording"),
        (("report", "-o", "-", "run.adbrec"), "'-' is not a file name"),
        (("log", "-o", "run.adbrec", "other.adbrec"), "'run.adbrec' is a recording"),
        (("log", "--tool-stdout", "run.adbrec", *TOOL), "'run.adbrec' is a recording"),
        (("trace", "--format", "chrome", "-o", "run.adbrec", *TOOL), "'run.adbrec' is a recording"),
        (("log", "-o", "in.mlir", *TOOL), "'in.mlir' is named twice"),
        (("log", "-o", "out.mlir", *TOOL), "'out.mlir' is named twice"),
        (("log", "--tool-stdout", "link.mlir", *TOOL), "'link.mlir' is named twice"),
        (("trace", "--format", "chrome", "-o", "./in.mlir", *TOOL), "'./in.mlir' is named twice"),
        (("stat", "-o", "in.mlir", *TOOL), "'in.mlir' is named twice"),
        (("report", "-o", "in.mlir", *TOOL), "'in.mlir' exists and is not a report"),
        (("trace", "--format", "chrome", "-o", "-", *TOOL), "'-' is not a file name"),
        (("log", "-o", "a", "--tool-stdout", "./a", *TOOL), "'./a' is the file of the log"),
        (("--tool-stdout", "run.adbrec", *TOOL), "'run.adbrec' is a recording"),
        (("--tool-stdout", "in.mlir", *TOOL), "'in.mlir' is named twice"),
        (("import", "passes.log", "--rest", "run.adbrec"), "'run.adbrec' is a recording"),
        (
            ("import", "passes.log", "-o", "new", "--rest", "./new"),
            "'new' is the file of the recording",
        ),
    ],
)
def test_overwriting_an_input_is_refused(words: tuple[str, ...], told: str) -> None:
    before = {path: path.read_bytes() for path in Path().iterdir()}
    done = run(*words)
    assert done.returncode == 2
    assert told in done.stderr and "Traceback" not in done.stderr
    assert {path: path.read_bytes() for path in Path().iterdir()} == before


@pytest.mark.parametrize(
    "command", ["info actions > run.adbrec", "info actions >> run.adbrec", "help > link.adbrec"]
)
def test_a_redirection_leaves_a_recording(command: str) -> None:
    Path("link.adbrec").symlink_to("run.adbrec")
    before = Path("run.adbrec").read_bytes()
    done = run("open", "--batch", "-ex", command, "run.adbrec")
    assert done.returncode == 1
    assert "adbrec' is a recording and is not overwritten" in done.stderr
    assert Path("run.adbrec").read_bytes() == before


def test_an_import_replaces_a_recording() -> None:
    before = Path("run.adbrec").read_bytes()
    assert run("import", "passes.log", "-o", "run.adbrec").returncode == 0
    assert Path("run.adbrec").read_bytes() != before


def test_the_output_of_a_tool_leaves_a_recording() -> None:
    before = Path("run.adbrec").read_bytes()
    for streams in (Streams(stdout="run.adbrec"), Streams(stderr=Path("run.adbrec"))):
        with pytest.raises(UsageError, match="is a recording"), streams.opened():
            pass
    assert Path("run.adbrec").read_bytes() == before
    with Streams(stdin="run.adbrec").opened() as (stdin, _, _):
        assert stdin is not None


def test_the_samples_of_stat_leave_a_recording() -> None:
    Path("samples.csv").write_bytes(Path("run.adbrec").read_bytes())
    done = run("stat", "--csv", ".", "run.adbrec")
    assert done.returncode != 0 and "samples.csv' is a recording" in done.stderr


def test_earlier_output_is_overwritten() -> None:
    for _ in range(2):
        assert run("query", "-o", "x", "run.adbrec", "select 1").returncode == 0
        assert run("log", "-o", "y", "run.adbrec").returncode == 0
        assert run("log", "-o", "/dev/null", "run.adbrec").returncode == 0


def test_harmless_overwrite_is_accepted() -> None:
    Path("empty").touch()
    os.mkfifo("pipe")
    for path in ("empty", "pipe", "/dev/null", "new", "mlir-opt"):
        check_overwritten(path, ["mlir-opt", "in.mlir", "-o", "/dev/null"])
    with pytest.raises(UsageError, match=r"'link.mlir' is named twice"):
        check_overwritten("link.mlir", ["mlir-opt", "in.mlir"])


def test_a_dash_is_standard_output() -> None:
    log = run("log", "run.adbrec").stdout
    assert log and run("log", "-o", "-", "run.adbrec").stdout == log
    assert run("query", "-o", "-", "run.adbrec", "select 7 as n").stdout.split()[-1] == "7"
    assert not Path("-").exists()


def test_the_recording_that_another_tool_writes_is_not_ours(tmp_path: Path) -> None:
    path = tmp_path / "run.adbrec"
    path.write_bytes(b"ADBREC\r\n")
    refused = StartedProgram(subprocess.Popen(["sh", "-c", "exit 3"]), None)
    with path.open("rb") as other, RecordingProcess(refused, path) as running:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert running.wait().path is None
    assert path.read_bytes()
    own = StartedProgram(subprocess.Popen(["sh", "-c", "exit 3"]), None)
    with RecordingProcess(own, path) as running:
        assert running.wait().path == path
