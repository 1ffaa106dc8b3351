"""``actiondbg validate``: miscompiles without an oracle, right pipelines, what is not known."""

from __future__ import annotations

import json
import lzma
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

import actiondbg
from actiondbg.errors import ActiondbgError
from tests.conftest import LIBRARY
from tests.elements import some
from tests.fakes import command_line
from tests.paths import COMMAND, ROOT

BUILDS = LIBRARY

MISCOMPILES = ROOT / "examples" / "miscompiles"

# The guilty actions are those of examples/miscompiles/README.md.
BUGS: dict[str, tuple[list[str], set[int], str]] = {
    "while-if": (["--canonicalize"], {8}, "WhileMoveIfDown"),
    "masked-write": (["--canonicalize"], {6}, "vector.transfer_write"),
    "hoisted-store": (
        ["--canonicalize", "--affine-loop-invariant-code-motion", "--cse"],
        {15},
        "affine-loop-invariant-code-motion",
    ),
    "index-casts": (["--canonicalize=max-iterations=1"], {18}, "IndexCastOfIndexCast"),
    "unfilled-copy": (
        [
            "--pass-pipeline=builtin.module(func.func(cse,"
            "affine-data-copy-generate{fast-mem-space=0}))"
        ],
        {3},
        "affine-data-copy-generate",
    ),
    "wide-switch": (["--convert-scf-to-cf"], {4}, "IndexSwitchLowering"),
    "index-compare": (["--canonicalize"], {6}, "mlir::index::CmpOp::canonicalize"),
}

SCHEDULE = """
module attributes {transform.with_named_sequence} {
  func.func @stencil(%m: memref<5x5xi32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %unused = arith.constant 77 : index
    scf.for %i = %c1 to %c5 step %c1 {
      scf.for %j = %c0 to %c4 step %c1 {
        %above = arith.subi %i, %c1 : index
        %right = arith.addi %j, %c1 : index
        %x = memref.load %m[%above, %right] : memref<5x5xi32>
        memref.store %x, %m[%i, %j] : memref<5x5xi32>
      }
    }
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.consumed}) {
    %all = transform.structured.match ops{["func.func"]} in %root
      : (!transform.any_op) -> !transform.any_op
    %clean = transform.apply_registered_pass "canonicalize" to %all
      : (!transform.any_op) -> !transform.any_op
    %store = transform.structured.match ops{["memref.store"]} in %clean
      : (!transform.any_op) -> !transform.any_op
    %loop = transform.get_parent_op %store {op_name = "scf.for", nth_parent = 2}
      : (!transform.any_op) -> !transform.op<"scf.for">
    transform.loop.unroll_and_jam %loop {factor = 2} : !transform.op<"scf.for">
    transform.yield
  }
}
"""


def validate(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return command_line.run("validate", *words, cwd=cwd)


def validated(*words: str, cwd: Path | None = None) -> dict[str, Any]:
    return json.loads(validate("--json", *words, cwd=cwd).stdout)


@pytest.mark.parametrize("name", BUGS)
def test_a_miscompile_of_a_released_compiler(name: str, mlir_opt: str) -> None:
    options, ordinals, subject = BUGS[name]
    found = validated("--", mlir_opt, str(MISCOMPILES / f"{name}.mlir"), *options)
    culprit = found["culprit"]
    assert found["verdict"] == "different"
    assert culprit["ordinal"] in ordinals
    assert subject in culprit["name"]
    judged = [each for each in culprit["functions"] if each["verdict"] == "different"]
    assert all(each["confirmed"] for each in some(judged))


def test_the_counterexample_runs_without_actiondbg(mlir_opt: str, tmp_path: Path) -> None:
    source = MISCOMPILES / "index-casts.mlir"
    done = validate("-o", "out", "--", mlir_opt, str(source), "--canonicalize", cwd=tmp_path)
    assert done.returncode == 1
    printed: list[str] = []
    for name in ("before", "after"):
        text = (tmp_path / f"out/counterexample-{name}.mlir").read_text()
        command = next(line for line in text.splitlines() if line.startswith("// Run: "))
        ran = subprocess.run(
            command.removeprefix("// Run: "),
            shell=True,
            cwd=tmp_path / "out",
            capture_output=True,
            text=True,
            check=True,
        )
        printed.append(ran.stdout.partition("result 0: ")[2].split()[0])
    # The lowest eight bits of -2^31, and the whole.
    assert printed == ["0", str(-(2**31))]
    assert "#18 apply-pattern" in (tmp_path / "out/report.txt").read_text()
    assert "arith.index_cast" in (tmp_path / "out/before.mlir").read_text()


TWO_LOOPS = """\
func.func @f(%a: memref<10xf32>, %b: memref<10xf32>) {
  %c = arith.constant 2.0 : f32
  affine.for %i = 0 to 10 {
    %v = affine.load %a[%i] : memref<10xf32>
    %w = arith.mulf %v, %c : f32
    affine.store %w, %b[%i] : memref<10xf32>
  }
  affine.for %i = 0 to 10 {
    %v = affine.load %b[9 - %i] : memref<10xf32>
    affine.store %v, %a[%i] : memref<10xf32>
  }
  return
}
"""


def test_a_pass_without_patterns_is_narrowed(mlir_opt: str, tmp_path: Path) -> None:
    """The second loop reads backwards, which the vectorizer of LLVM 22 does not see."""
    (tmp_path / "in.mlir").write_text(TWO_LOOPS)
    option = "--affine-super-vectorize=virtual-vector-size=4"
    found = validated("-o", "out", "--", mlir_opt, "in.mlir", option, cwd=tmp_path)
    pipeline = "builtin.module(func.func(affine-super-vectorize{virtual-vector-size=4}))"
    assert found["pipeline"] == pipeline
    assert found["reduced"].count("affine.for") == 1
    assert "-%arg" in found["reduced"]
    reduced = ("out/reduced.mlir", f"--pass-pipeline={pipeline}")
    again = validated("--", mlir_opt, *reduced, cwd=tmp_path)
    assert again["culprit"]["name"] == "affine-super-vectorize"


RIGHT = """\
func.func @right(%x: i32, %y: i32) -> i32 {
  %two = arith.constant 2 : i32
  %a = arith.muli %x, %two : i32
  %b = arith.muli %x, %two : i32
  %c = arith.addi %a, %b : i32
  %zero = arith.constant 0 : i32
  %d = arith.addi %c, %zero : i32
  %e = arith.xori %y, %y : i32
  %f = arith.addi %d, %e : i32
  return %f : i32
}
"""


def test_right_passes_are_proved(mlir_opt: str, tmp_path: Path) -> None:
    (tmp_path / "in.mlir").write_text(RIGHT)
    done = validate("--", mlir_opt, "in.mlir", "--cse", "--canonicalize", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "#1 pass-execution (cse) on builtin.module: equivalent (1 function proved)",
        "#2 pass-execution (canonicalize) on builtin.module: equivalent (1 function proved)",
        "",
        "2 changing passes: 2 equivalent.",
    ]


BITCASTS = """\
func.func @wider(%x: vector<4xi8>) -> vector<2xi16> {
  %r = vector.bitcast %x : vector<4xi8> to vector<2xi16>
  return %r : vector<2xi16>
}
func.func @narrower(%x: vector<1xf64>) -> vector<2xf32> {
  %r = vector.bitcast %x : vector<1xf64> to vector<2xf32>
  return %r : vector<2xf32>
}
"""


def test_a_lowering_of_bitcasts_is_proved(mlir_opt: str, tmp_path: Path) -> None:
    (tmp_path / "in.mlir").write_text(BITCASTS)
    done = validate("--", mlir_opt, "in.mlir", "--convert-vector-to-llvm", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == (
        "#1 pass-execution (convert-vector-to-llvm) on builtin.module: "
        "equivalent (2 functions proved)"
    )


_SCAN = """
func.func @{name}(%w: vector<3x2x{type}>) -> (vector<3x2x{type}>, vector<2x{type}>) {{
  %v = arith.constant dense<{initial}> : vector<2x{type}>
  %a, %b = vector.scan <{kind}>, %w, %v {{inclusive = {inclusive}, reduction_dim = 0 : i64}}
    : vector<3x2x{type}>, vector<2x{type}>
  return %a, %b : vector<3x2x{type}>, vector<2x{type}>
}}
"""
_NEUTRAL = [
    *((kind, "i32", "0") for kind in ("add", "or", "xor", "maxui")),
    *(("and", "i32", "-1"), ("minui", "i32", "-1"), ("mul", "i32", "1")),
    *(("maxsi", "i8", "-128"), ("minsi", "i8", "127")),
    *(("add", "f32", "0.0"), ("mul", "f32", "1.0")),
    *(("maximumf", "f32", "0xFF800000"), ("minimumf", "f32", "0x7F800000")),
    *((kind, "f32", "0x7FC00000") for kind in ("maxnumf", "minnumf")),
]
_LOWERED_SCANS = """
module attributes {{transform.with_named_sequence}} {{
  {functions}
  transform.named_sequence @__transform_main(%root: !transform.any_op) {{
    %all = transform.structured.match ops{{["func.func"]}} in %root
      : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %all {{
      transform.apply_patterns.vector.lower_scan
    }} : !transform.any_op
    transform.yield
  }}
}}
"""


def test_a_lowering_of_scans(mlir_opt: str, tmp_path: Path) -> None:
    scans = [
        _SCAN.format(name=f"{kind}_{type}", kind=kind, type=type, initial=initial, inclusive="true")
        for kind, type, initial in _NEUTRAL
    ]
    exclusive = {"kind": "mul", "type": "i8", "initial": "3", "inclusive": "false"}
    other = {"kind": "add", "type": "i32", "initial": "[0, 5]", "inclusive": "true"}
    scans += [_SCAN.format(name="exclusive", **exclusive), _SCAN.format(name="other", **other)]
    (tmp_path / "in.mlir").write_text(_LOWERED_SCANS.format(functions="".join(scans)))
    found = validated("--all", "--", mlir_opt, "in.mlir", "--transform-interpreter", cwd=tmp_path)
    (judged,) = found["passes"]
    functions = {each["function"]: each for each in judged["functions"]}
    reason = functions.pop("other")
    assert reason["verdict"] == "unknown"
    assert "an inclusive vector.scan with an initial value that is not neutral" in reason["detail"]
    assert {each["verdict"] for each in functions.values()} == {"equivalent"}
    assert len(functions) == len(_NEUTRAL) + 1


UNKNOWN = """\
func.func private @outside(i32) -> i32
func.func @uses(%x: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %one = func.call @outside(%x) : (i32) -> i32
  %two = "a.b"(%one) : (i32) -> i32
  %sum = arith.addi %two, %zero : i32
  return %sum : i32
}
"""


def test_what_is_not_known_may_stay_the_same(mlir_opt: str, tmp_path: Path) -> None:
    (tmp_path / "in.mlir").write_text(UNKNOWN)
    options = ("--allow-unregistered-dialect", "--canonicalize")
    found = validated("--", mlir_opt, "in.mlir", *options, cwd=tmp_path)
    assert found["verdict"] == "equivalent"


# The parser of MLIR 22 aborts at a negative case in a build with assertions.
ABORTS = """\
func.func @aborts(%x: i32) -> i32 {
  cf.switch %x : i32, [
    default: ^bb1,
    -1: ^bb1
  ]
^bb1:
  %zero = arith.constant 0 : i32
  %sum = arith.addi %x, %zero : i32
  return %sum : i32
}
func.func @lives(%x: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %sum = arith.addi %x, %zero : i32
  return %sum : i32
}
"""


def test_a_judge_that_dies_costs_its_function(mlir_opt: str, tmp_path: Path) -> None:
    (tmp_path / "in.mlir").write_text(ABORTS)
    pipeline = "--pass-pipeline=builtin.module(func.func(canonicalize))"
    found = validated("--", mlir_opt, "in.mlir", pipeline, cwd=tmp_path)
    verdicts = {
        each["function"]: each for judged in found["passes"] for each in judged["functions"]
    }
    assert verdicts["lives"]["verdict"] == "equivalent"
    if verdicts["aborts"]["verdict"] == "unknown":  # of a build with assertions
        assert "SIGABRT" in verdicts["aborts"]["detail"]


def test_a_recording_is_validated_without_the_tool(mlir_opt: str, tmp_path: Path) -> None:
    source = str(MISCOMPILES / "while-if.mlir")
    record = ["record", "-q", "-o", "run.adbrec"]
    tool = ["--", mlir_opt, source, "--canonicalize", "-o", "out.mlir"]
    command_line.run(*record, "--ir", "function", *tool, cwd=tmp_path, check=True)
    assert validated("run.adbrec", cwd=tmp_path)["culprit"]["ordinal"] == 8
    command_line.run(*record, *tool, cwd=tmp_path, check=True)
    refused = validate("run.adbrec", cwd=tmp_path)
    assert (refused.returncode, refused.stderr) == (
        1,
        "actiondbg: 'run.adbrec' does not hold the IR of functions: record it with --ir "
        "function.\n",
    )


def test_the_same_in_python(mlir_opt: str, tmp_path: Path) -> None:
    source = str(MISCOMPILES / "while-if.mlir")
    recording = tmp_path / "run.adbrec"
    record = ["record", "-q", "-o", str(recording), "--ir", "function"]
    command_line.run(*record, "--", mlir_opt, source, "--canonicalize", cwd=tmp_path, check=True)
    culprit = actiondbg.validate(recording, inputs=2).culprit
    assert culprit is not None
    assert culprit.step.ordinal == 8


def test_a_tool_that_fails_in_python(mlir_opt: str, tmp_path: Path) -> None:
    (tmp_path / "in.mlir").write_text("nothing")
    with pytest.raises(ActiondbgError, match="outside of passes: no action is there to judge"):
        actiondbg.validate([mlir_opt, str(tmp_path / "in.mlir"), "--canonicalize"])
    (tmp_path / "in.mlir").write_text(RIGHT + NOT_CONVERTED)
    told: list[str] = []
    tool = [mlir_opt, str(tmp_path / "in.mlir"), "--cse", "--convert-memref-to-emitc"]
    assert actiondbg.validate(tool, warn=told.append).verdict == "unknown"
    assert told == [
        "The tool ends with status 1 in convert-memref-to-emitc: its actions up to then are judged."
    ]


def test_a_pass_with_a_pass_in_it_is_judged(mlir_opt: str, tmp_path: Path) -> None:
    """The schedule runs canonicalize, then merges iterations that depend on one another."""
    (tmp_path / "in.mlir").write_text(SCHEDULE)
    found = validated("--", mlir_opt, "in.mlir", "--transform-interpreter", cwd=tmp_path)
    passes = {each["name"]: each["verdict"] for each in found["passes"]}
    assert passes == {"transform-interpreter": "different", "canonicalize": "equivalent"}
    assert found["culprit"]["name"] == "transform-interpreter"


def test_a_recording_of_passes_names_the_pass(mlir_opt: str, tmp_path: Path) -> None:
    source = str(MISCOMPILES / "while-if.mlir")
    record = ["record", "-q", "-o", "run.adbrec", "--ir", "pass"]
    tool = ["--", mlir_opt, source, "--canonicalize", "-o", "out.mlir"]
    command_line.run(*record, *tool, cwd=tmp_path, check=True)
    found = validated("run.adbrec", cwd=tmp_path)
    assert found["culprit"]["ordinal"] == 1
    assert found["unjudged"] > 2


def test_the_passes_of_a_network(mlir_opt: str, tmp_path: Path) -> None:
    """The arguments have 150,528 elements: named operations are proved, fused ones run smaller."""
    packed = ROOT / "tests" / "inputs" / "resnet18_fwd.linalg.mlir.xz"
    (tmp_path / "net.mlir").write_bytes(lzma.decompress(packed.read_bytes()))
    passes = "func.func(linalg-generalize-named-ops,linalg-fuse-elementwise-ops),canonicalize,cse"
    pipeline = f"--pass-pipeline=builtin.module({passes})"
    found = validated("--", mlir_opt, "net.mlir", pipeline, cwd=tmp_path)
    assert found["verdict"] == "equivalent"
    evidence = [each["evidence"] for one in found["passes"] for each in one["functions"]]
    assert evidence[:2] == ["proof", "execution"]


TABLE = """\
func.func @f(%i: index) -> i32 {{
  %table = arith.constant dense<{values}> : tensor<{count}xi32>
  %x = tensor.extract %table[%i] : tensor<{count}xi32>
  %zero = arith.constant 0 : i32
  %y = arith.addi %x, %zero : i32
  return %y : i32
}}
"""


@pytest.mark.parametrize(("count", "verdict"), [(20, "equivalent"), (4097, "unknown")])
def test_the_elements_of_constants(count: int, verdict: str, mlir_opt: str, tmp_path: Path) -> None:
    (tmp_path / "in.mlir").write_text(TABLE.format(values=list(range(count)), count=count))
    found = validated("--", mlir_opt, "in.mlir", "--canonicalize", cwd=tmp_path)
    assert found["verdict"] == verdict
    if verdict == "unknown":
        sentence = "the recording elides elements of its constants"
        assert [each["detail"] for each in found["passes"][0]["functions"]] == [sentence]


NOT_CONVERTED = """\
func.func @not_converted(%m: memref<?xf32>, %i: index) -> f32 {
  %x = memref.load %m[%i] : memref<?xf32>
  return %x : f32
}
"""


def test_a_run_that_fails_after_right_passes_is_not_equivalent(
    mlir_opt: str, tmp_path: Path
) -> None:
    (tmp_path / "in.mlir").write_text(RIGHT + NOT_CONVERTED)
    tool = (mlir_opt, "in.mlir", "--cse", "--convert-memref-to-emitc")
    done = validate("--", *tool, cwd=tmp_path)
    assert done.returncode == 4
    assert "1 equivalent" in done.stdout
    assert done.stderr.splitlines()[-1] == (
        "actiondbg: The tool ends with status 1 in convert-memref-to-emitc: its actions up to then "
        "are judged."
    )


def test_a_tool_that_refuses_its_input_is_not_judged(mlir_opt: str, tmp_path: Path) -> None:
    (tmp_path / "in.mlir").write_text("nothing")
    done = validate("--", mlir_opt, "in.mlir", "--canonicalize", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("error: ") == 1  # it ran once
    assert done.stderr.splitlines()[-1] == (
        "actiondbg: The tool ends with status 1 outside of passes: no action is there to judge."
    )


def test_a_recording_that_was_cut_off(mlir_opt: str, tmp_path: Path) -> None:
    source = str(MISCOMPILES / "while-if.mlir")
    record = ["record", "-q", "-o", "run.adbrec", "--ir", "function"]
    tool = ["--", mlir_opt, source, "--canonicalize", "-o", "out.mlir"]
    command_line.run(*record, *tool, cwd=tmp_path, check=True)
    whole = (tmp_path / "run.adbrec").read_bytes()
    (tmp_path / "run.adbrec").write_bytes(whole[: len(whole) // 2])
    done = validate("run.adbrec", cwd=tmp_path)
    assert done.returncode == 4
    assert done.stderr


def test_a_recording_that_was_cut_off_before_its_actions(mlir_opt: str, tmp_path: Path) -> None:
    source = str(MISCOMPILES / "while-if.mlir")
    record = ["record", "-q", "-o", "run.adbrec", "--ir", "function"]
    tool = ["--", mlir_opt, source, "--canonicalize", "-o", "out.mlir"]
    command_line.run(*record, *tool, cwd=tmp_path, check=True)
    whole = (tmp_path / "run.adbrec").read_bytes()
    second = whole.index(b"ADBC", whole.index(b"ADBC") + 4)
    (tmp_path / "run.adbrec").write_bytes(whole[: second + 100])
    done = validate("run.adbrec", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (4, "The recording has no pass that changed IR.\n")
    assert "(0 actions)" in done.stderr


def imported(name: str, text: str, cwd: Path) -> str:
    """Import a log of a tool; return the name of the recording."""
    (cwd / f"{name}.log").write_text(text)
    command_line.run("import", "-q", f"{name}.log", cwd=cwd, check=True)
    return f"{name}.adbrec"


def test_an_imported_log(mlir_opt: str, tmp_path: Path) -> None:
    source = str(MISCOMPILES / "while-if.mlir")
    tool = [mlir_opt, source, "--canonicalize", "--mlir-disable-threading"]
    logs = [
        subprocess.run([*tool, *options], capture_output=True, text=True, check=True).stderr
        for options in (
            ["--mlir-print-ir-before-all", "--mlir-print-ir-after-all"],
            ["--mlir-print-ir-after-all"],
        )
    ]
    found = validated(imported("both", logs[0], tmp_path), cwd=tmp_path)
    assert (found["verdict"], found["culprit"]["name"]) == ("different", "canonicalize")
    done = validate(imported("after", logs[1], tmp_path), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (4, "No pass is judged yet. 1 action not judged.\n")
    assert "lacks the IR before or after 1 pass, such as #1 (canonicalize)" in done.stderr


def test_an_imported_log_of_a_pass_that_failed(tmp_path: Path) -> None:
    dump = "// -----// IR Dump {} Own{} (own) //----- //\nmodule {{\n}}\n\n\n"
    log = dump.format("Before", "") + dump.format("After", " Failed")
    done = validate(imported("failed", log, tmp_path), cwd=tmp_path)
    assert done.returncode == 4
    assert "#1 (own) failed: what ran is judged." in done.stderr


def test_an_action_at_the_prompt(mlir_opt: str, tmp_path: Path) -> None:
    script = tmp_path / "script"
    validates = "next\nvalidate\nnext\nvalidate --inputs 2 #8\n"
    script.write_text(f"break pattern:WhileMoveIfDown\nrun\n{validates}")
    source = str(MISCOMPILES / "while-if.mlir")
    command = ["-x", str(script), "--", mlir_opt, source, "--canonicalize"]
    done = command_line.run(*command, cwd=tmp_path, check=True)
    assert done.stdout.count("@count: different: result 0: 3 before, 50 after") == 2


def test_the_oracle_of_a_bisection(mlir_opt: str, tmp_path: Path) -> None:
    source = str(MISCOMPILES / "index-compare.mlir")
    command = ["bisect", "--validate", "-o", "out"]
    done = command_line.run(*command, "--", mlir_opt, source, "--canonicalize", cwd=tmp_path)
    assert "Found: #6 apply-pattern" in done.stdout
    assert "verified: shows good and bad" not in done.stdout
    assert "ends with status 3" in done.stdout
    assert subprocess.run(["sh", "out/repro.sh"], cwd=tmp_path).returncode == 3


def test_interrupted(mlir_opt: str, tmp_path: Path) -> None:
    source = str(MISCOMPILES / "while-if.mlir")
    command = [COMMAND, "validate", "--", mlir_opt, source, *["--canonicalize"] * 20]
    started = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    _wait_for(lambda: _judges(started.pid))
    started.send_signal(signal.SIGINT)
    _, errors = started.communicate(timeout=60)
    assert started.returncode == 130
    assert "Interrupted" in errors
    assert not list(tmp_path.glob("actiondbg-*"))


def _wait_for(condition: Any) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def _judges(parent: int) -> list[str]:
    """Return the commands of the processes that judge for one."""
    found: list[str] = []
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = each.read_text().rpartition(")")[2].split()
            command = (each.parent / "cmdline").read_text().replace("\0", " ")
        except OSError:
            continue
        if int(fields[1]) == parent and "validation.worker" in command:
            found.append(command)
    return found


def test_bad_usage() -> None:
    done = validate("--budget", "-1", "--", "mlir-opt")
    assert done.returncode == 2
    assert "a positive number of seconds" in done.stderr
    none = validate()
    assert none.returncode == 2
    assert "the tool or recording is missing" in none.stderr
