"""Tools with MLIR in them: Debian's mlir-opt 19, and a foo-opt in a user's build tree.

Their functions are not exported.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import actiondbg
from actiondbg.recording import open_recording
from tests.conftest import locked
from tests.fakes import command_line
from tests.paths import INPUTS
from tests.tool.targets.script import SESSION, scripted
from tests.tool.targets.targets import TARGETS

pytestmark = pytest.mark.all_tools

MLIR = Path("/usr/lib/llvm-22/lib/cmake/mlir")
FOO = INPUTS / "foo"
FOLDING = ["--canonicalize", "--cse", "--mlir-disable-threading"]
FOO_SESSION = """\
break pattern:DoubleToAdd if op == 'arith.muli' and line == 3
catch crash
run
info action
context
print function
next
info changes
diff
why-not DoubleToAdd
goto #6
reverse-continue
skip
continue
reverse-step
info patterns
info pipeline
info timeline
"""

debian19 = TARGETS["debian19"]
needs_debian19 = pytest.mark.skipif(debian19.missing is not None, reason=debian19.missing or "")


@pytest.fixture
def mlir_opt_19() -> str:
    return str(debian19.programs["mlir-opt"])


@pytest.fixture(scope="session")
def foo(shared_directory: Path) -> Path:
    """The build tree of foo, whose tools are in bin: see its CMakeLists.txt."""
    if not MLIR.is_dir() or not (MLIR.parent.parent / "libMLIRIR.a").exists():
        pytest.skip("Debian's MLIR is not installed (scripts/install-debian-mlir)")
    if shutil.which("cmake") is None:
        pytest.skip("there is no cmake (apt-get install cmake)")
    build = shared_directory / "foo"
    configure = [
        "cmake",
        "-S",
        FOO,
        "-B",
        build,
        f"-DMLIR_DIR={MLIR}",
        "-DCMAKE_BUILD_TYPE=Release",
    ]
    with locked(shared_directory / "foo.lock"):  # another worker finds it built
        for command in (configure, ["cmake", "--build", build, "--parallel", "2"]):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return build


def _told(*words: str) -> str:
    """Return what a command of actiondbg prints, which succeeds."""
    done = command_line.run(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@needs_debian19
def test_a_session_of_mlir_opt_19(mlir_opt_19: str, folds: str) -> None:
    argv = [mlir_opt_19, folds, *FOLDING]
    lines = scripted(SESSION, argv)
    assert "@18 arith.addi" in lines and "Catch 4: diagnostic" in lines


@needs_debian19
def test_reports_of_mlir_opt_19(mlir_opt_19: str, folds: str) -> None:
    argv = ["--", mlir_opt_19, folds, *FOLDING]
    _told("record", "-q", "-o", "run.adbrec", *argv)
    assert open_recording(Path("run.adbrec")).count == 56
    added = r"#13 .* succeeded .* apply-pattern \(AddIAddConstant\) on @7 arith.addi"
    for source in (argv, ["run.adbrec"]):
        assert re.search(added, _told("log", *source))
        assert "apply-pattern (AddIAddConstant)" in _told("stat", *source)
        _told("trace", "-o", "trace.json", *source)
        assert "AddIAddConstant" in Path("trace.json").read_text()
        _told("report", "-o", "report.html", *source)
        assert "AddIAddConstant" in Path("report.html").read_text()
    found = _told("bisect", "--test", "! grep -q c7_i32 {}", "--output", "bisected", *argv)
    assert "Found: #13 apply-pattern (AddIAddConstant) on arith.addi" in found
    assert "(verified: shows good and bad)" in found


def test_a_session_of_foo_opt(foo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = [str(FOO / "in.mlir"), "--foo-strength", "--mlir-disable-threading"]
    lines = scripted(FOO_SESSION, [str(foo / "bin/foo-opt"), *words])
    assert lines[3].startswith(
        "Breakpoint 1, stopped before #8 apply-pattern (DoubleToAdd) in @scaled"
    )
    assert any("the factor is not two" in line for line in lines)


def test_a_crash_in_a_pass_of_foo_opt(foo: Path) -> None:
    with actiondbg.launch(
        [str(foo / "bin/foo-opt"), str(FOO / "in.mlir"), "--foo-trap"]
    ) as session:
        stop = session.run()
        assert stop.is_crash and stop.message is not None and "SIGILL" in stop.message
        assert stop.name == "foo-trap"


def test_functions_that_the_linker_left_out(foo: Path) -> None:
    small = str(foo / "bin/foo-opt-small")
    with actiondbg.launch([small, str(FOO / "in.mlir"), "--foo-strength"]) as session:
        session.breakpoints.add("pattern:DoubleToAdd", outcome="succeeded")
        stop = session.run()
        assert (stop.when, stop.op) == ("after", "arith.muli")
        assert "arith.addi" in session.ir.print("function").text


@pytest.mark.parametrize("name", ["foo-opt-folded", "foo-opt-checked"])
def test_how_a_tool_is_linked_changes_nothing(foo: Path, name: str) -> None:
    if not (other := foo / "bin" / name).exists():
        pytest.skip("there is no ld.gold (apt-get install binutils-gold)")
    words = [str(FOO / "in.mlir"), "--foo-strength", "--canonicalize", "--cse"]
    assert scripted(FOO_SESSION, [str(other), *words]) == scripted(
        FOO_SESSION, [str(foo / "bin/foo-opt"), *words]
    )


def test_what_trials_leave_allocated_is_no_leak(foo: Path, tmp_path: Path) -> None:
    """LeakSanitizer is on in trials, which end without destroying their IR."""
    tool = [str(foo / "bin/foo-opt-checked"), str(FOO / "in.mlir"), "--foo-strength"]
    alone = subprocess.run(tool, capture_output=True, text=True, check=True)
    assert "arith.addi" in alone.stdout
    found = command_line.run("bisect", "--test", "! grep -q addi {}", "--", *tool, cwd=tmp_path)
    assert "Found: " in found.stdout and "(DoubleToAdd)" in found.stdout


def test_a_stripped_foo_opt_is_refused(foo: Path, tmp_path: Path) -> None:
    stripped = tmp_path / "foo-opt"
    subprocess.run(["strip", "-o", stripped, foo / "bin/foo-opt"], check=True)
    done = command_line.run(stripped)
    assert done.returncode == 3
    assert "is stripped of the names of MLIR's functions" in done.stderr


@needs_debian19
@pytest.mark.parametrize("is_recorded", [False, True])
def test_a_crash_outside_of_conversions_is_explained(
    mlir_opt_19: str, folds: str, tmp_path: Path, is_recorded: bool
) -> None:
    tool = ["--", mlir_opt_19, folds, "--canonicalize", "--test-pass-crash"]
    if is_recorded:
        recording = str(tmp_path / "crash.adbrec")
        command_line.run("record", "-q", "-o", recording, *tool)
        tool = [recording]
    done = command_line.run("explain", *tool)
    first, hint = done.stdout.splitlines()
    assert re.fullmatch(
        r"No dialect conversion failed\. The tool .* #\d+ pass-execution .*test-pass-crash.*", first
    )
    assert hint.startswith("'bisect --crash' finds")
