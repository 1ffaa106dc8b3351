"""``actiondbg record`` as a person types it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from actiondbg.commands.cli.recorded_tool import print_incomplete
from actiondbg.errors import NotRecorded
from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import RecordedRun
from actiondbg.recording.session import open_session
from tests.conftest import LIBRARY
from tests.fakes import command_line
from tests.fakes.recording.recordings import fake_recording
from tests.paths import COMMAND
from tests.processes import children, is_alive

BUILDS = LIBRARY


def run(*words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return command_line.run("record", *words, stdin=stdin)


def long_input(count: int = 20_000) -> str:
    function = "func.func @f{}(%x: i32) -> i32 {{\n  {}\n  return %x : i32\n}}\n"
    body = "\n  ".join(f"%c{i} = arith.constant {i} : i32" for i in range(10))
    Path("long.mlir").write_text("".join(function.format(n, body) for n in range(count)))
    return "long.mlir"


def test_one_line_summarises_the_recording(mlir_opt: str, folds: str) -> None:
    alone = subprocess.run([mlir_opt, folds, "--canonicalize"], capture_output=True, text=True)
    done = run("-o", "run.adbrec", "--", mlir_opt, folds, "--canonicalize")
    assert (done.returncode, done.stdout) == (0, alone.stdout)
    count, size = open_recording("run.adbrec").count, Path("run.adbrec").stat().st_size
    assert done.stderr == (
        f"actiondbg: {count} actions ({size / 1000:.1f} kB, {size / count:.1f} bytes each) "
        "in run.adbrec.\n"
    )


def test_no_recording_is_lost(mlir_opt: str, folds: str) -> None:
    """Each goes into a new file, unless the user names one: then it is said."""
    for number in ("", "-2", "-3"):
        done = run(mlir_opt, folds, "--canonicalize")
        assert done.stderr.endswith(f"in mlir-opt{number}.adbrec.\n")
    done = run("-o", "mlir-opt-2.adbrec", mlir_opt, folds, "--cse")
    assert done.stderr.endswith("in mlir-opt-2.adbrec, replacing the previous recording.\n")
    assert open_recording("mlir-opt-2.adbrec").header.argv[-1] == "--cse"
    done = run("-o", folds, mlir_opt, folds)
    assert done.returncode == 2 and "is not a recording and is not overwritten" in done.stderr
    Path("empty.adbrec").touch()
    assert run("-o", "empty.adbrec", mlir_opt, folds).returncode == 0


def test_recordings_at_the_same_time_get_files_of_their_own(mlir_opt: str, folds: str) -> None:
    command = [COMMAND, "record", "--quiet", "--", mlir_opt, folds, "-o", os.devnull]
    started = [subprocess.Popen([*command, f"-{name}"]) for name in ("canonicalize", "cse") * 2]
    assert [process.wait() for process in started] == [0] * 4
    names = sorted(path.name for path in Path().glob("*.adbrec"))
    assert names == [f"mlir-opt{number}.adbrec" for number in ("-2", "-3", "-4", "")]
    passes = sorted(open_recording(name).header.argv[-1] for name in names)
    assert passes == ["-canonicalize"] * 2 + ["-cse"] * 2


def test_recording_that_cannot_start_leaves_no_file(folds: str) -> None:
    assert run("--", "no-such-tool", folds).returncode == 3
    assert run("--skip", "pattern:", "--", "mlir-opt", folds).returncode != 0
    assert os.listdir() == [folds]


def test_a_recording_is_a_regular_file(folds: str) -> None:
    for output in ("/dev/stdout", "/dev/null", ".", "-"):
        # In a process of its own, whose /dev/stdout is no file.
        words = [COMMAND, "record", "-o", output, "--", "mlir-opt", folds]
        done = subprocess.run(words, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"'{output}' is not a " in done.stderr and "regular file" in done.stderr
    assert os.listdir() == [folds]


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (["--no-such-option"], 1, "Unknown command line argument"),
        (["nowhere.mlir"], 1, "No such file or directory"),
        (
            ["--version"],
            0,
            "No recording in run.adbrec: the tool ended without creating an MLIR context",
        ),
    ],
)
def test_status_is_that_of_the_tool(
    mlir_opt: str, folds: str, words: list[str], status: int, told: str
) -> None:
    done = run("-o", "run.adbrec", "--", mlir_opt, *words)
    assert done.returncode == status
    assert told in done.stderr and "Traceback" not in done.stderr


def test_quiet_prints_nothing(mlir_opt: str, folds: str) -> None:
    done = run("-q", "--ir", "changed", "--", mlir_opt, folds, "--canonicalize")
    assert (done.returncode, done.stderr) == (0, "")
    assert open_recording("mlir-opt.adbrec").header.ir == "changed"


def test_the_ir_of_passes_only(mlir_opt: str, folds: str) -> None:
    passes = ["--canonicalize", "--cse", "-o", "out.mlir"]
    texts: dict[str, dict[int, list[tuple[str | None, str | None]]]] = {}
    for ir in ("function", "pass"):
        assert run("-q", "--ir", ir, "-o", ir, "--", mlir_opt, folds, *passes).returncode == 0
        recording = open_recording(ir)
        held = set(recording.table("ir", ["ordinal"])["ordinal"].to_pylist())
        texts[ir] = {
            ordinal: [(each.before, each.after) for each in recording.snapshots(ordinal)]
            for ordinal in sorted(held)
        }
    table = open_recording("pass").table("actions", ["ordinal", "tag"]).to_pylist()
    inner = {row["ordinal"] for row in table if row["tag"] != "pass-execution"}
    assert texts["pass"] and not inner & texts["pass"].keys()
    assert inner & texts["function"].keys()
    whole = {key: value for key, value in texts["function"].items() if key not in inner}
    assert texts["pass"] == whole
    with open_session("pass") as session:
        session.run()
        with pytest.raises(NotRecorded, match="around passes only"):
            session.past.diff(min(inner & texts["function"].keys()))


UNTOLD = """\
func.func @f(%a: i32) -> i32 {
  %c = arith.constant 1 : i32
  %d = arith.constant 2 : i32
  %e = arith.addi %c, %d : i32
  %g = arith.muli %a, %e : i32
  %h = arith.muli %a, %e : i32
  %i = arith.addi %g, %h : i32
  return %i : i32
}
"""
_DUMP = re.compile(r"// -----// IR Dump (Before|After) \S+ \(([\w-]+)\).*//----- //\n")


def test_the_ir_around_passes_is_what_the_tool_prints(
    mlir_opt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a pass changes attributes of which no listener is told."""
    monkeypatch.chdir(tmp_path)
    Path("untold.mlir").write_text(UNTOLD)
    function = "func.func(canonicalize,llvm-request-c-wrappers,cse,convert-arith-to-llvm)"
    pipeline = (
        f"--pass-pipeline=builtin.module({function},cse,canonicalize,convert-func-to-llvm,cse)"
    )
    words = [mlir_opt, "untold.mlir", pipeline, "--mlir-disable-threading"]
    assert run("-q", "--ir", "pass", "-o", "run", "--", *words, "-o", "x").returncode == 0
    dumped = subprocess.run(
        [*words, "--mlir-print-ir-before-all", "--mlir-print-ir-after-all", "-o", "x"],
        capture_output=True,
        text=True,
        check=True,
    )
    parts = _DUMP.split(dumped.stderr)
    dumps: dict[str, list[str]] = {name: [] for name in parts[2::3]}
    for name, text in zip(parts[2::3], parts[3::3], strict=True):
        dumps[name].append(text.strip())
    recording = open_recording("run")
    names = {row["ordinal"]: row["name"] for row in recording.table("actions").to_pylist()}
    recorded = [
        (names[ordinal], (each.before or "").strip(), (each.after or "").strip())
        for ordinal in sorted(set(recording.table("ir", ["ordinal"])["ordinal"].to_pylist()))
        for each in recording.snapshots(ordinal)
        if names[ordinal] in dumps
    ]
    assert len({name for name, _, _ in recorded}) >= 3
    for name, before, after in recorded:
        pairs = list(zip(dumps[name][::2], dumps[name][1::2], strict=True))
        assert (before, after) in pairs, name
    assert any("emit_c_interface" in before for _, before, _ in recorded)


BETWEEN = """\
from mlir.ir import Context, Module, UnitAttr
from mlir.passmanager import PassManager

with Context() as context:
    context.enable_multithreading(False)
    module = Module.parse(open("untold.mlir").read())
    PassManager.parse("builtin.module(canonicalize)").run(module.operation)
    module.operation.attributes["arith.between"] = UnitAttr.get()
    PassManager.parse("builtin.module(cse)").run(module.operation)
"""


def test_what_a_program_changes_between_passes_is_before_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("untold.mlir").write_text(UNTOLD)
    Path("program.py").write_text(BETWEEN)
    done = run("-q", "--ir", "pass", "-o", "run", "--", sys.executable, "program.py")
    assert done.returncode == 0, done.stderr
    recording = open_recording("run")
    names = {row["ordinal"]: row["name"] for row in recording.table("actions").to_pylist()}
    befores = {
        names[ordinal]: each.before or ""
        for ordinal in set(recording.table("ir", ["ordinal"])["ordinal"].to_pylist())
        for each in recording.snapshots(ordinal)
    }
    assert "between" in befores["cse"] and "between" not in befores["canonicalize"]


def test_standard_input_reaches_the_tool(mlir_opt: str, folds: str) -> None:
    done = run("--", mlir_opt, "--canonicalize", stdin=Path(folds).read_text())
    assert done.returncode == 0 and "arith.constant 7" in done.stdout


def test_errors_are_one_sentence(folds: str) -> None:
    for words, code, told in (
        ([], 2, "the tool is missing"),
        (["--ir", "all", "x"], 2, "invalid choice: 'all'"),
        (["no-such-tool"], 3, "There is no tool 'no-such-tool'"),
        (["-o", "nowhere/x", "mlir-opt", folds], 3, "nowhere/x' cannot be written"),
    ):
        done = run(*words)
        assert done.returncode == code
        assert told in done.stderr and "Traceback" not in done.stderr
    assert os.listdir() == [folds]


def begin(tool: list[str]) -> subprocess.Popen[str]:
    """Begin a recording, and wait until something of it is there."""
    process = subprocess.Popen(
        [COMMAND, "record", "-o", "run.adbrec", "--", *tool],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    deadline = time.monotonic() + 60
    while not (Path("run.adbrec").exists() and Path("run.adbrec").stat().st_size > 300_000):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.005)
    return process


def test_ctrl_c_ends_the_tool_and_keeps_the_recording(mlir_opt: str, folds: str) -> None:
    process = begin([mlir_opt, long_input(), "--canonicalize", "--cse"])
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGINT
    assert "The tool was killed by SIGINT." in err and "Traceback" not in err
    assert re.search(r"[\d,]+ actions \(.*\) in run.adbrec\.", err)
    assert open_recording("run.adbrec").count > 1000


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_to_the_front_end_ends_the_tool(
    mlir_opt: str, folds: str, number: signal.Signals
) -> None:
    process = begin([mlir_opt, long_input(), "--canonicalize", "--cse"])
    (child,) = children(process.pid)
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert not is_alive(child)
    assert open_recording("run.adbrec").count > 1000


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_before_the_first_context_leaves_no_file(
    mlir_opt: str, folds: str, number: signal.Signals
) -> None:
    os.mkfifo("pipe.mlir")
    command = [COMMAND, "record", "-o", "run.adbrec", "--", mlir_opt, "pipe.mlir"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not (Path("run.adbrec").exists() and children(process.pid)):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.005)
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert sorted(os.listdir()) == sorted([folds, "pipe.mlir"])


def test_a_killed_fork_is_not_called_a_full_disk(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The tool, which waited for the recorded fork, may end well."""
    path = fake_recording(tmp_path / "run.adbrec", killed=True)
    assert print_incomplete(RecordedRun(path, 0), path, path)
    assert "as its process was killed, or the disk is full" in capsys.readouterr().err


def test_full_disk_is_reported(mlir_opt: str, folds: str) -> None:
    """What could be written can be read."""
    tool = f"{mlir_opt} {long_input()} --canonicalize --cse -o /dev/null"
    limited = f"ulimit -f 8000; exec {COMMAND} record -- {tool}"
    trap = "import signal, os, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    trap += "os.execv('/bin/sh', ['sh', '-c', sys.argv[1]])"
    done = subprocess.run([sys.executable, "-c", trap, limited], capture_output=True, text=True)
    assert done.returncode == 1
    assert "is incomplete, as the disk may be full" in done.stderr
    recording = open_recording("mlir-opt.adbrec")
    assert recording.count > 0 and recording.ending.ended == "killed"


def test_missing_packages_are_named(tmp_path: Path) -> None:
    """``record`` needs none of them; who reads does."""
    block = """\
import sys
from importlib.machinery import PathFinder

class Blocked(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name in ("numpy", "pyarrow", "duckdb"):
            return None
        return PathFinder.find_spec(name, path, target)

sys.meta_path = [f for f in sys.meta_path if f is not PathFinder] + [Blocked]
from actiondbg.cli import main
sys.exit(main(sys.argv[1:]))
"""
    path = str(fake_recording(tmp_path / "run.adbrec", 10))
    for words in (["query", path, "FROM actions"], ["export", "--parquet", "x", path]):
        done = subprocess.run([sys.executable, "-c", block, *words], capture_output=True, text=True)
        assert done.returncode == 1
        assert done.stderr == (
            f"actiondbg: actiondbg {words[0]} needs the packages duckdb, pyarrow and numpy: "
            "pip install 'actiondbg[recordings]'.\n"
        )
    done = subprocess.run(
        [sys.executable, "-c", block, "record", "no-such-tool"], capture_output=True, text=True
    )
    assert done.returncode == 3 and "no-such-tool" in done.stderr
