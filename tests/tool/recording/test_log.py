"""``actiondbg log`` of real tools: live, filtered, killed, and in upstream's format."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record
from tests.elements import some
from tests.fakes import command_line
from tests.fakes import stock_tool as stock
from tests.paths import COMMAND
from tests.processes import children
from tests.tool.agent.test_fortran import FORTRAN

_LINE = re.compile(
    r"#(?P<ordinal>\d+) +t(?P<thread>\d+) +(?P<outcome>[a-z]+) +(?P<duration>[\d.]+[num]?s)"
    r" (?P<indent>(?:  )*)(?P<tag>[\w-]+)(?: \((?P<name>.*?)\))? on @(?P<operation>\d+) (?P<op>\S+)"
    r"(?: in @(?P<function>\S+))?(?: at (?P<place>\S+:\d+:\d+))?(?:: (?P<note>.*))?"
)
_SECONDS = 60  # for what has to happen at once


@pytest.fixture
def mixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return stock.write("mixed.mlir", stock.MIXED)


FUNCTIONS = 500  # which several threads share


def functions(count: int) -> str:
    head, function = stock.MIXED.split("func.func @mixed")
    return head + "".join(f"func.func @mixed{n}{function}" for n in range(count))


@pytest.fixture
def long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A program that the tool works at for a second or two: it is ended before."""
    monkeypatch.chdir(tmp_path)
    return stock.write("long.mlir", functions(4000))


@pytest.fixture
def many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A program with work for several threads."""
    monkeypatch.chdir(tmp_path)
    return stock.write("many.mlir", functions(FUNCTIONS))


def run(*words: str, **how: Any) -> subprocess.CompletedProcess[str]:
    return command_line.run("log", *words, **how)


def start(*words: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [COMMAND, "log", *words], stdout=pipe, stderr=pipe, text=True, start_new_session=True
    )


def parsed(line: str) -> dict[str, Any]:
    match = _LINE.fullmatch(line)
    assert match is not None, line
    return match.groupdict()


def wait_for_lines(path: Path) -> None:
    until = time.monotonic() + _SECONDS
    while not path.exists() or not path.stat().st_size:
        assert time.monotonic() < until
        time.sleep(0.01)


# --- a run ------------------------------------------------------------------------------


def test_the_lines_are_those_of_a_recording(mlir_opt: str, mixed: str) -> None:
    tool = [mlir_opt, mixed, stock.PASSES, "--mlir-disable-threading"]
    done = run("-o", "run.log", "--", *tool)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == stock.run(tool).stdout
    recorded = record([*tool, "-o", "out"], "run.adbrec")
    assert recorded.path is not None
    rows = open_recording(recorded.path).table("actions").to_pylist()
    lines = [parsed(line) for line in Path("run.log").read_text().splitlines()]
    assert len(lines) > 100 and {row["outcome"] for row in rows} > {"failed", "unchanged"}
    for line, row in zip(lines, rows, strict=True):
        assert int(line["ordinal"]) == row["ordinal"]
        assert len(line["indent"]) == 2 * row["depth"]
        assert line["outcome"] == row["outcome"]
        assert int(line["operation"]) == row["operation"]
        assert (line["tag"], line["name"] or "") == (row["tag"], row["name"])
        assert (line["op"], line["function"]) == (row["op"], row["function"])
        assert line["place"] == f"{row['file']}:{row['line']}:{row['col']}"
        folded = row["fold"] and f"folded {'' if row['fold'] == 'in-place' else 'to '}"
        if folded:
            assert line["note"].startswith(folded)
        else:
            assert line["note"] == row["reason"]


def test_without_a_file_the_log_is_printed_and_the_tool_is_not(mlir_opt: str, mixed: str) -> None:
    tool = [mlir_opt, mixed, "--canonicalize"]
    done = run("--tool-stdout", "out.mlir", "--", *tool)
    assert (done.returncode, done.stderr) == (0, "")
    assert all(parsed(line) for line in done.stdout.splitlines())
    assert Path("out.mlir").read_text() == stock.run(tool).stdout
    assert len(run("--", *tool).stdout.splitlines()) == len(done.stdout.splitlines())


def test_filters_and_json_of_a_run(mlir_opt: str, mixed: str) -> None:
    tool = [mlir_opt, mixed, stock.PASSES, "--mlir-disable-threading"]
    lines = [parsed(line) for line in run("--", *tool).stdout.splitlines()]
    failed = run("--failed", "--filter", "tag:apply-pattern if depth > 1", "--", *tool)
    wanted = [
        line["ordinal"]
        for line in lines
        if line["outcome"] == "failed" and line["tag"] == "apply-pattern" and line["indent"] > "  "
    ]
    assert wanted == [parsed(line)["ordinal"] for line in failed.stdout.splitlines()]
    assert 0 < len(wanted) < len(lines)
    objects = list(map(json.loads, run("--json", "--", *tool).stdout.splitlines()))
    assert [str(each["ordinal"]) for each in objects] == [line["ordinal"] for line in lines]
    assert {each["function"] for each in objects} > {"mixed", None}


def test_threads_have_their_number_and_are_in_order(mlir_opt: str, many: str) -> None:
    pipeline = "--pass-pipeline=builtin.module(func.func(canonicalize,cse))"
    done = run("-o", "run.log", "--", mlir_opt, many, pipeline, "-o", "out")
    assert (done.returncode, done.stderr) == (0, "")
    lines = [parsed(line) for line in Path("run.log").read_text().splitlines()]
    assert [int(line["ordinal"]) for line in lines] == list(range(1, len(lines) + 1))
    if (os.cpu_count() or 1) > 1:
        assert len({line["thread"] for line in lines}) > 1
    alone = run("-o", "alone.log", "--", mlir_opt, many, pipeline, "--mlir-disable-threading")
    assert alone.returncode == 0

    def subjects(log: str) -> Counter[tuple[str, ...]]:
        keys = ("outcome", "tag", "name", "op", "function", "place")
        every = map(parsed, Path(log).read_text().splitlines())
        return Counter(tuple(line[key] for key in keys) for line in every if line["function"])

    assert subjects("run.log") == subjects("alone.log")


def test_input_and_status_are_passed_through(mlir_opt: str, mixed: str) -> None:
    done = run("--", mlir_opt, "--canonicalize", "-", stdin=stock.MIXED)
    assert done.returncode == 0 and "at <stdin>:" in done.stdout
    done = run("-o", "run.log", "--", mlir_opt, stdin="not MLIR")
    assert done.returncode == 1 and "error" in done.stderr
    done = run("--", mlir_opt, "--no-such-option")
    assert done.returncode == 1
    assert "the tool ended without creating an MLIR context" in done.stderr


# --- a run that ends early -------------------------------------------------------------------


def test_a_killed_tool_leaves_its_lines(mlir_opt: str, long: str) -> None:
    logged = start("-o", "run.log", "--", mlir_opt, long, "--canonicalize", "-o", "out")
    wait_for_lines(Path("run.log"))
    (tool,) = children(logged.pid)
    os.kill(tool, signal.SIGKILL)
    _, errors = logged.communicate(timeout=_SECONDS)
    assert logged.returncode == 128 + signal.SIGKILL
    lines = Path("run.log").read_text().splitlines()
    assert f"killed by SIGKILL: the log has the {len(lines):,} actions up to then" in errors
    assert lines[0].startswith("#1       t0  unfinished         pass-execution (canonicalize)")
    finished = [line for line in lines if " unfinished " not in line]
    assert len(finished) > len(lines) - 10
    assert all(parsed(line) for line in finished)


def test_ctrl_c_ends_the_tool_and_the_log_is_finished(mlir_opt: str, long: str) -> None:
    logged = start("-o", "run.log", "--", mlir_opt, long, "--canonicalize", "-o", "out")
    wait_for_lines(Path("run.log"))
    os.killpg(logged.pid, signal.SIGINT)
    _, errors = logged.communicate(timeout=_SECONDS)
    assert logged.returncode == 128 + signal.SIGINT
    assert "killed by SIGINT" in errors and "Traceback" not in errors
    assert Path("run.log").read_text().endswith("\n")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_tool_ends_with_the_front_end(
    mlir_opt: str, long: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    logged = start("-o", "run.log", "--", mlir_opt, long, "--canonicalize", "-o", "out")
    wait_for_lines(Path("run.log"))
    (tool,) = children(logged.pid)
    logged.send_signal(number)
    logged.communicate(timeout=_SECONDS)
    stock.wait_until_gone(tool)
    lines = Path("run.log").read_text().splitlines()
    assert all(line.startswith("#") for line in lines[:-1]) and len(lines) > 10
    if number == signal.SIGTERM:
        assert logged.returncode == 128 + number
    else:
        run("--", mlir_opt, "--version")  # it removes what the killed one left
    assert not list(tmp_path.glob("actiondbg-*"))


def test_full_disk_is_reported_and_the_tool_continues(mlir_opt: str, many: str) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 21, 1 << 21))

    tool = [mlir_opt, many, "--canonicalize", "-o"]
    done = subprocess.run(
        [COMMAND, "log", "-o", "run.log", "--", *tool, "out.mlir"],
        preexec_fn=limit,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "'run.log' cannot be written (File too large)" in done.stderr
    assert "Traceback" not in done.stderr
    lines = Path("run.log").read_text().splitlines()
    assert len(lines) > 2_000 and all(line.startswith("#") for line in lines[:-1])
    subprocess.run([*tool, "theirs.mlir"], check=True)
    assert Path("out.mlir").read_bytes() == Path("theirs.mlir").read_bytes()


# --- upstream's format ------------------------------------------------------------------------

_CASES = {
    "mixed": (stock.MIXED, [stock.PASSES]),
    "debug information": (stock.MIXED, [stock.PASSES, "--mlir-print-debuginfo"]),
    "generic": (stock.MIXED, ["--canonicalize", "--mlir-print-op-generic"]),
    "users": (stock.MIXED, ["--canonicalize", "--mlir-print-value-users"]),
    "lowered": (
        """\
        func.func @loops(%m: memref<?xf32>, %n: index, %c: i1) -> index {
          %c1 = arith.constant 1 : index
          %d = memref.dim %m, %c1 : memref<?xf32>
          affine.for %i = 0 to 10 {
            affine.for %j = 0 to %n {
              %v = affine.load %m[%i + 1] : memref<?xf32>
              affine.store %v, %m[%j] : memref<?xf32>
            }
          }
          %s = scf.for %i = %c1 to %n step %c1 iter_args(%acc = %d) -> (index) {
            %q = arith.addi %acc, %i : index
            %r = arith.addi %q, %c1 : index
            %t = arith.addi %r, %c1 : index
            scf.yield %t : index
          }
          cf.cond_br %c, ^bb1(%s : index), ^bb2
        ^bb1(%x: index):
          %y = arith.addi %x, %c1 : index
          %z = arith.addi %y, %c1 : index
          return %z : index
        ^bb2:
          return %c1 : index
        }
        """,
        [
            *("--canonicalize", "--lower-affine", "--convert-scf-to-cf", "--canonicalize"),
            *("--convert-arith-to-llvm", "--finalize-memref-to-llvm", "--convert-func-to-llvm"),
            *("--convert-cf-to-llvm", "--reconcile-unrealized-casts", "--canonicalize"),
        ],
    ),
    "isolated": (
        """\
        #file = #llvm.di_file<"a.c" in "/">
        #unit = #llvm.di_compile_unit<id = distinct[7]<>, sourceLanguage = DW_LANG_C, file = #file,
          producer = "x", isOptimized = false, emissionKind = Full>
        #sub = #llvm.di_subprogram<id = distinct[8]<>, compileUnit = #unit, scope = #file,
          name = "f", file = #file, line = 1, scopeLine = 1, subprogramFlags = "Definition">
        #var = #llvm.di_local_variable<scope = #sub, name = "v", file = #file, line = 2>
        module @outer attributes {x.y = distinct[0]<>} {
          module @inner {
            func.func @nested(%a: i32) -> i32 {
              %c0 = arith.constant 0 : i32
              %c1 = arith.constant 1 : i32
              %x = arith.addi %a, %c0 : i32
              %y = arith.addi %x, %c1 : i32
              %z = arith.addi %y, %c1 : i32
              %u = "some.op"(%z, %c1) {d = distinct[1]<>} : (i32, i32) -> i32
              return %u : i32
            }
          }
          llvm.func @debug(%arg0: i32) -> i32 {
            %0 = llvm.add %arg0, %arg0 : i32
            llvm.intr.dbg.value #var = %0 : i32
            %1 = llvm.mlir.constant(0 : i32) : i32
            %2 = llvm.add %0, %1 : i32
            llvm.return %2 : i32
          }
        }
        """,
        ["--allow-unregistered-dialect", "--canonicalize", "--cse", "--canonicalize"],
    ),
}


@pytest.mark.parametrize("case", _CASES)
def test_upstreams_log_to_the_byte(
    mlir_opt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    monkeypatch.chdir(tmp_path)
    source, flags = _CASES[case]
    tool = [mlir_opt, stock.write("in.mlir", source), *flags, "--mlir-disable-threading"]
    done = run("--upstream-format", "-o", "ours.log", "--", *tool)
    assert (done.returncode, done.stderr) == (0, "")
    theirs = stock.run([*tool, "--log-actions-to=theirs.log"], check=True)
    assert Path("ours.log").read_bytes() == Path("theirs.log").read_bytes()
    assert done.stdout == theirs.stdout
    assert Path("ours.log").read_text().count("apply-pattern") > 10


def test_upstreams_log_of_threads_has_whole_lines(mlir_opt: str, many: str) -> None:
    """Upstream cuts and mixes them: so ours are compared with those of one thread."""
    flags = ["--pass-pipeline=builtin.module(func.func(canonicalize,cse))", "-o", "out"]
    tool = [mlir_opt, many, *flags]
    assert run("--upstream-format", "-o", "ours.log", "--", *tool).returncode == 0
    one = [*tool, "--mlir-disable-threading", "--log-actions-to=theirs.log"]
    stock.run(one, check=True)

    def lines(log: str) -> Counter[str]:
        # How a module is dealt out over threads is written on its passes.
        every = Path(log).read_text().splitlines()
        return Counter(re.sub(r"^\[thread \S+\] ", "", each) for each in every if "@" not in each)

    def running(log: str) -> Counter[str]:
        return Counter(
            re.findall(r"begins .* running .*func\.func.*?@(\w+)\(", Path(log).read_text())
        )

    ours, theirs = lines("ours.log"), lines("theirs.log")
    assert +(ours - theirs) == +(theirs - ours) == Counter()
    assert running("ours.log") == running("theirs.log")
    assert len(running("ours.log")) >= FUNCTIONS


def test_upstreams_log_with_that_of_the_tool(mlir_opt: str, mixed: str) -> None:
    tool = [mlir_opt, mixed, "--canonicalize", "--mlir-disable-threading", "-o", "out"]
    run("--upstream-format", "-o", "ours.log", "--", *tool, "--log-actions-to=theirs.log")
    assert Path("ours.log").read_bytes() == Path("theirs.log").read_bytes()


def test_upstreams_log_of_a_tool_without_the_flag(
    debian: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flang = debian("flang-22")
    monkeypatch.chdir(tmp_path)
    Path("scale.f90").write_text(FORTRAN)
    words = ["-O1", "-S", "-emit-llvm", "scale.f90", "-o", "ours.ll"]
    done = run("--upstream-format", "--", flang, *words)
    assert done.returncode == 0
    begun = re.findall(r"\[thread flang\S*\] begins \(no breakpoint\) Action .*`", done.stdout)
    ended = re.findall(r"\[thread flang\S*\] completed `[\w-]+`", done.stdout)
    assert len(begun) == len(ended) > 100
    assert len(done.stdout.splitlines()) == len(begun) + len(ended)
    assert any("func.func @_QPscale" in line for line in begun)


def test_upstreams_log_of_another_dialect(
    debian: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flang, fir_opt = debian("flang-22"), debian("fir-opt")
    monkeypatch.chdir(tmp_path)
    Path("scale.f90").write_text(FORTRAN)
    subprocess.run([flang, "-fc1", "-emit-hlfir", "scale.f90", "-o", "scale.mlir"], check=True)
    passes = ["--bufferize-hlfir", "--convert-hlfir-to-fir", "--canonicalize", "--cse"]
    tool = [fir_opt, "scale.mlir", *passes, "--mlir-disable-threading", "-o", "out"]
    assert run("--upstream-format", "-o", "ours.log", "--", *tool).returncode == 0
    stock.run([*tool, "--log-actions-to=theirs.log"], check=True)
    assert Path("ours.log").read_bytes() == Path("theirs.log").read_bytes()
    assert "hlfir." in Path("ours.log").read_text()


def test_upstreams_log_of_a_killed_tool_is_kept(mlir_opt: str, long: str) -> None:
    flags = ["--canonicalize", "-o", "out", "--mlir-disable-threading"]
    logged = start("--upstream-format", "-o", "run.log", "--", mlir_opt, long, *flags)
    wait_for_lines(Path("run.log"))
    (tool,) = children(logged.pid)
    os.kill(tool, signal.SIGKILL)
    _, errors = logged.communicate(timeout=_SECONDS)
    assert logged.returncode == 128 + signal.SIGKILL and "killed by SIGKILL" in errors
    lines = Path("run.log").read_text().splitlines()
    assert all(line.startswith("[thread mlir-opt] ") for line in some(lines))


def test_upstreams_log_on_a_full_disk_ends(mlir_opt: str, mixed: str) -> None:
    done = run("--upstream-format", "-o", "/dev/full", "--", mlir_opt, mixed, "--canonicalize")
    assert done.returncode == 1 and "'/dev/full' cannot be written" in done.stderr
    assert "Traceback" not in done.stderr
