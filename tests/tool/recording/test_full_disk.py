"""What a user reads when there is no room for what was asked."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from actiondbg.recording import open_recording
from tests.conftest import LIBRARY
from tests.fakes import command_line
from tests.fakes.small_disk import SmallDisk, small_disk
from tests.paths import COMMAND

BUILDS = LIBRARY


def test_print_to_a_full_disk_is_reported_and_nothing_is_lost(mlir_opt: str, folds: str) -> None:
    commands = ["start", "print module > /dev/full", "print module > whole.mlir"]
    run = subprocess.run(
        [
            *(COMMAND, "-nx", "--batch", "--keep-going"),
            *(word for command in commands for word in ("-ex", command)),
            *(mlir_opt, folds, "--canonicalize"),
        ],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 1
    assert "'/dev/full' cannot be written (No space left on device)" in run.stderr
    assert "func.func @twice" in Path("whole.mlir").read_text()


# A child whose files have room for a note and not for a recording compiles, too.
PROGRAM = """
import os, resource, signal
from mlir.ir import Context, Module
from mlir.passmanager import PassManager

def compile():
    with Context():
        module = Module.parse("module {}")
        PassManager.parse("builtin.module(cse)").run(module.operation)

compile()
if (pid := os.fork()) == 0:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, resource.RLIM_INFINITY))
    compile()
    os._exit(0)
print(os.waitpid(pid, 0)[1])
"""


def test_a_program_goes_on_without_the_recording_of_a_later_process(tmp_path: Path) -> None:
    pytest.importorskip("mlir.ir")
    (tmp_path / "program.py").write_text(PROGRAM)
    words = [COMMAND, "record", "-o", "run.adbrec", "--", sys.executable, "program.py"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "0\n")
    assert done.stderr.count("run.p1.adbrec cannot be written (No space left on device)") == 1
    assert [path.name for path in tmp_path.glob("*.adbrec")] == ["run.adbrec"]
    assert open_recording(tmp_path / "run.adbrec").count == 1


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with small_disk(tmp_path / "disk") as disk:
        yield disk


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """An input of which a recording and logs take more than a megabyte."""
    function = """
  func.func @f{}(%x: i32) -> i32 {{
    %two = arith.constant 2 : i32
    %once = arith.addi %x, %two : i32
    %twice = arith.addi %once, %two : i32
    return %twice : i32
  }}"""
    path = tmp_path / "many.mlir"
    path.write_text("".join(map(function.format, range(3000))))
    return path


def run(*words: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **variables}
    return command_line.run(*words, env=env)


def test_a_recording_that_fills_the_disk(disk: SmallDisk, many: Path, mlir_opt: str) -> None:
    """The exit status is the tool's unless that is 0, and what was written can be read."""
    path = disk.path / "run.adbrec"
    done = run("record", "-o", path, "--", mlir_opt, many, "--canonicalize", "-o", os.devnull)
    assert done.returncode == 1
    assert f"The recording '{path}' is incomplete, as the disk may be full" in done.stderr
    assert "name another file" in done.stderr
    assert open_recording(path).count > 1000
    compared = run("compare", path, path)
    assert compared.stderr.count(f"{path}: The recording is cut off") == 2
    path.unlink()
    bad = run("record", "-o", path, "--", mlir_opt, many, "--canonicalize", "-o", "none/there")
    whole = subprocess.run([mlir_opt, many, "--canonicalize", "-o", "none/there"], check=False)
    assert (bad.returncode, whole.returncode) == (1, 1)


@pytest.mark.parametrize(
    "words",
    [
        ("stat",),
        ("log",),
        ("log", "--json"),
        ("log", "-o", "{}/log"),
        ("trace", "-o", "{}/run.pftrace"),
        ("report", "-o", "{}/run.html"),
        ("log", "--upstream-format"),
    ],
)
def test_a_temporary_recording_that_fills_the_disk(
    words: tuple[str, ...], disk: SmallDisk, many: Path, mlir_opt: str, tmp_path: Path
) -> None:
    words = tuple(word.format(tmp_path) for word in words)
    tool = (mlir_opt, many, "--canonicalize", "-o", os.devnull)
    done = run(*words, "--", *tool, TMPDIR=str(disk.path))
    assert done.returncode == 1
    assert f" '{disk.path}/actiondbg-" in done.stderr
    assert "is incomplete, as the disk may be full" in done.stderr
    assert "set TMPDIR to another directory" in done.stderr
    assert not [*disk.path.iterdir()]
    if words[0] == "log":
        text = Path(words[2]).read_text() if len(words) == 3 else done.stdout
        assert len(text.splitlines()) > 1000


def test_a_log_without_a_line_is_removed(disk: SmallDisk, many: Path, mlir_opt: str) -> None:
    disk.fill()
    path = disk.path / "run.log"
    done = run("log", "-o", path, "--", mlir_opt, many, "--canonicalize", "-o", os.devnull)
    assert done.returncode == 1
    assert f"'{path}' cannot be written (No space left on device)" in done.stderr
    assert not path.exists()


def test_an_upstream_log_that_fills_the_disk(disk: SmallDisk, many: Path, mlir_opt: str) -> None:
    """It is the begin of the tool's own; also when not a line fits, nothing is silent."""
    tool = (mlir_opt, many, "--canonicalize", "-o", os.devnull)
    path = disk.path / "run.log"
    own = subprocess.run(
        [*tool, "--log-actions-to=-", "--mlir-disable-threading"],
        capture_output=True,
        text=True,
        check=True,
    )
    done = run("log", "--upstream-format", "-o", path, "--", *tool, "--mlir-disable-threading")
    assert done.returncode == 1
    assert f"The log '{path}' is incomplete, as the disk may be full" in done.stderr
    text = path.read_text()
    assert len(text) > 500_000 and own.stdout.startswith(text)
    path.unlink()
    disk.fill()
    empty = run("log", "--upstream-format", "-o", path, "--", *tool)
    assert (empty.returncode, path.read_text()) == (1, "")
    assert f"The log '{path}' is incomplete, as the disk may be full" in empty.stderr


OUTPUTS = (
    ("export", "--parquet", "{}/new/bucket"),
    ("stat", "--csv", "{}/new/raw"),
    ("stat", "--name", "*", "--plot", "{}/plot.png"),
    ("log", "-o", "{}/log"),
    ("lineage", "--matrix", "{}/matrix.csv"),
    ("query", "-o", "{}/actions.csv", "SELECT * FROM actions"),
    ("report", "-o", "{}/report.html"),
    ("trace", "-o", "{}/trace.json"),
)


def test_an_output_that_fills_the_disk_leaves_nothing(
    disk: SmallDisk, many: Path, mlir_opt: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.adbrec"
    tool = (mlir_opt, many, "--canonicalize", "-o", os.devnull)
    assert run("record", "--lineage", "-o", path, "--", *tool).returncode == 0
    disk.fill(20_000)
    for words in OUTPUTS:
        done = run(words[0], path, *(word.format(disk.path) for word in words[1:]))
        assert done.returncode == 1, words
        assert "cannot be written (No space left on device): free disk space" in done.stderr
        assert [each.name for each in disk.path.iterdir()] == ["filling"]


@pytest.mark.parametrize(
    "words",
    [
        ("lint", "--", "{0}", "{1}", "--canonicalize"),
        (
            *("compare", "--ir", "output"),
            *("{0} {1} --canonicalize -o /dev/null", "{0} {1} --cse -o /dev/null"),
        ),
    ],
)
def test_a_temporary_recording_that_is_cut_names_the_cause(
    words: tuple[str, ...], disk: SmallDisk, many: Path, mlir_opt: str
) -> None:
    words = tuple(word.format(mlir_opt, many) for word in words)
    done = run(*words, TMPDIR=str(disk.path))
    assert done.returncode == 1
    assert "The recording is cut off in the middle of a block, as by a full disk" in done.stderr
    assert str(disk.path) in done.stderr
    assert not [*disk.path.iterdir()]
