"""``actiondbg explain`` over a tool and over a recording."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.conftest import LIBRARY, PYPI
from tests.fakes import command_line
from tests.fakes import stock_tool as stock
from tests.tool.session.test_explain import LEFT, NO_REASON_IN_TOOL, REASON

BUILDS = LIBRARY

CASTS = "op:builtin.unrealized_conversion_cast"
TOSA = "--pass-pipeline=builtin.module(func.func(tosa-to-linalg-named))"


@pytest.fixture(autouse=True)
def _directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def explain(*words: str) -> subprocess.CompletedProcess[str]:
    return command_line.run("explain", *words)


def test_a_failure(mlir_opt: str) -> None:
    stock.write("a.mlir", NO_REASON_IN_TOOL)
    done = explain("--html", "why.html", "--", mlir_opt, "a.mlir", "--convert-arith-to-spirv")
    assert done.returncode == 0
    first, second, *_ = done.stdout.splitlines()
    assert first.startswith("@2 arith.muli at a.mlir:4:10 was not legalized: pattern ")
    assert first.endswith(
        " needs type vector<5xi32>, which mlir::SPIRVTypeConverter does not convert."
    )
    assert second == "in the partial conversion #2 of convert-arith-to-spirv"
    own = stock.run([mlir_opt, "a.mlir", "--convert-arith-to-spirv"])
    assert own.stderr in done.stderr
    page = Path("why.html").read_text()
    assert "<title>@2 arith.muli at a.mlir:4:10 was not legalized" in page
    assert "mlir::SPIRVTypeConverter does not convert vector&lt;5xi32&gt;" in page


@pytest.mark.parametrize("wrong", ["missing.mlir", "--no-such-option"])
def test_a_tool_that_ends_early_has_nothing_to_explain(mlir_opt: str, wrong: str) -> None:
    done = explain("--", mlir_opt, wrong)
    assert done.returncode == 1 and wrong in done.stderr
    assert "There is nothing to explain. The tool ended with status 1 before" in done.stderr


def test_operations_that_were_left(mlir_opt: str) -> None:
    stock.write("a.mlir", LEFT)
    argv = ["--", mlir_opt, "a.mlir", "--finalize-memref-to-llvm"]
    done = explain("--left", "op:memref.*", "--html", "why.html", *argv)
    assert done.returncode == 0
    assert done.stdout.startswith("2 x memref.load, first @2 at a.mlir:2:8: left by the partial ")
    assert "2 x memref.load" in Path("why.html").read_text()
    done = explain("--left", "op:gpu.*", *argv)
    assert done.returncode == 1
    assert done.stdout == "No dialect conversion up to now left op:gpu.*.\n"
    done = explain("--", mlir_opt, "a.mlir", "--cse")
    assert done.returncode == 1
    sentence, hint = done.stdout.splitlines()
    assert sentence == "No dialect conversion failed up to now." and "--left" in hint


def test_operations_behind_the_limit_are_counted_and_no_name_is_left_out(mlir_opt: str) -> None:
    """What was tried is kept for 1,000 operations, and for the first of each name."""
    loads = [f'  %{n} = memref.load %m[%c] : memref<4xf32, "here">' for n in range(1005)]
    lines = [
        'func.func @f(%m: memref<4xf32, "here">, %v: f32) {',
        "  %c = arith.constant 0 : index",
        *loads,
        '  memref.store %v, %m[%c] : memref<4xf32, "here">',
        "  return",
        "}",
    ]
    stock.write("a.mlir", "\n".join(lines))
    argv = ["--left", "op:memref.*", "--", mlir_opt, "a.mlir", "--finalize-memref-to-llvm"]
    done = explain("--html", "why.html", *argv).stdout
    assert "1,000 x memref.load, first @3" in done
    assert "memref.store at a.mlir:1008:3: left by" in done
    assert "StoreOpLowering" in done and "no pattern was tried" not in done
    assert "left as well: 5 x memref.load." in done
    assert "left as well: 5 x memref.load." in Path("why.html").read_text()


def test_a_later_pass_is_explained_behind_the_limit_of_an_earlier_one(mlir_opt: str) -> None:
    lines = [
        f"  %{n + 1} = arith.addi %{n}, %{n} : tensor<4xi32>".replace("%0", "%a")
        for n in range(1200)
    ]
    text = "\n".join(lines)
    stock.write("a.mlir", f"func.func @f(%a: tensor<4xi32>) {{\n{text}\n  return\n}}\n")
    passes = ["--convert-index-to-llvm", "--convert-arith-to-llvm"]
    done = explain("--left", "op:arith.addi", "--", mlir_opt, "a.mlir", *passes).stdout
    assert "of convert-arith-to-llvm" in done and "needs type tensor<4xi32>" in done
    # Each of the two left them all: 1,200 less 10 that are kept of the second.
    assert "left as well: 1,190 x arith.addi." in done


IGNORED = """\
module attributes {mpi.dlti = #dlti.map<"MPI:comm_world_rank" = 1>} {
  shard.grid @g(shape = 3x4x5)
  func.func @f(%a: tensor<2xf32>, %m: memref<4xf32>, %v: f32) {
    %0 = shard.all_gather %a on @g grid_axes = [0] gather_axis = 0 : tensor<2xf32> -> tensor<6xf32>
    affine.for %i = 0 to 4 {
      affine.store %v, %m[%i] : memref<4xf32>
    }
    return
  }
}
"""


def test_a_failed_conversion_that_its_pass_ignores_is_not_the_reason(mlir_opt: str) -> None:
    """convert-shard-to-mpi succeeds whatever its conversion does."""
    stock.write("a.mlir", IGNORED)
    loops = (
        "--pass-pipeline=builtin.module(convert-shard-to-mpi,func.func(convert-affine-for-to-gpu))"
    )
    argv = ["--", mlir_opt, "a.mlir", loops]
    command_line.run("record", "-q", "-o", "a.adbrec", *argv)
    for answer in (explain(*argv), explain("a.adbrec")):
        first = answer.stdout.splitlines()[0]
        assert first.startswith("A dialect conversion failed, and its pass did not. #")
        assert " pass-execution (convert-affine-for-to-gpu) failed" in first
        assert "expected a nested loop" in first
    alone = explain("--", mlir_opt, "a.mlir", "--convert-shard-to-mpi").stdout
    assert "no pattern for shard.all_gather" in alone.splitlines()[0]


LOOP = """\
func.func @f(%m: memref<8x8xf32>, %n: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %s = memref.subview %m[%i, 0] [1, 8] [1, 1]
        : memref<8x8xf32> to memref<8xf32, strided<[1], offset: ?>>
    memref.store %v, %s[%i] : memref<8xf32, strided<[1], offset: ?>>
  }
  return
}
"""


def test_of_a_pipeline_the_conversion_that_had_a_pattern_comes_first(mlir_opt: str) -> None:
    stock.write("a.mlir", LOOP)
    others = ["convert-scf-to-cf", "convert-cf-to-llvm", "convert-arith-to-llvm"]
    passes = [*others, "finalize-memref-to-llvm", "convert-func-to-llvm"]
    argv = ["--", mlir_opt, "a.mlir", *(f"--{each}" for each in passes)]
    lines = explain("--left", "op:memref.subview", *argv).stdout.splitlines()
    assert lines[0].endswith(" of finalize-memref-to-llvm")
    assert lines[1].endswith(
        "did not match: subview operations should have been expanded beforehand"
    )
    heads = [line.rpartition(" of ")[2] for line in lines if line.startswith("@")]
    assert heads == ["finalize-memref-to-llvm", "convert-arith-to-llvm", "convert-scf-to-cf"]
    likewise = [line.rpartition(" of ")[2] for line in lines if "likewise in 1 later" in line]
    assert likewise == ["convert-func-to-llvm", "convert-cf-to-llvm"]


SPACE = """\
memref.global "private" @g : memref<4xf32, "dev">
"""


def test_what_is_reported_is_no_debug_output(mlir_opt: str) -> None:
    stock.write("a.mlir", SPACE)
    argv = ["--left", "op:memref.global", "--", mlir_opt, "a.mlir", "--finalize-memref-to-llvm"]
    lines = explain(*argv).stdout.splitlines()
    reports = [line.strip() for line in lines if "to integer address space failed" in line]
    assert len(reports) == 1 and reports[0].startswith('"conversion of memref memory space "dev"')


SILENT = """\
func.func @f(%a: !shape.shape, %b: complex<f16>) -> (!shape.size, f16) {
  %0 = shape.rank %a : !shape.shape -> !shape.size
  %1 = complex.abs %b : complex<f16>
  return %0, %1 : !shape.size, f16
}
"""


@pytest.mark.parametrize(
    ("passes", "left", "pattern"),
    [
        ("--convert-shape-to-std", ["--left", "op:shape.*"], "RankOpConverter"),
        ("--convert-complex-to-libm", [], "ScalarOpToLibmCall*"),
    ],
)
def test_of_a_silent_pattern_the_way_on_is_named(
    mlir_opt: str, passes: str, left: list[str], pattern: str
) -> None:
    stock.write("a.mlir", SILENT)
    argv = ["--", mlir_opt, "a.mlir", passes]
    shown = explain(*left, *argv).stdout
    [command] = re.findall(r"^'(why-not .*)', at the prompt", shown, re.M)
    assert command == f"why-not --native {pattern}"
    asked = ["-ex", "run", "-ex", command.replace(" --native", "")]
    done = command_line.run("--batch", "-nx", *asked, *argv)
    assert "failed, and the pattern gave no reason" in done.stdout


def test_a_recording_tells_patterns_and_reasons(mlir_opt: str) -> None:
    stock.write("a.mlir", REASON)
    command_line.run("record", "-q", "-o", "a.adbrec", "--", mlir_opt, "a.mlir", TOSA)
    live = explain("--", mlir_opt, "a.mlir", TOSA).stdout.splitlines()
    recorded = explain("a.adbrec").stdout.splitlines()
    assert recorded[0] == live[0]
    assert recorded[0].endswith("input zero point cannot be statically determined.")
    assert any("explain a run" in line for line in recorded)
    tree = json.loads(explain("--json", "a.adbrec").stdout)["conversions"][0]["legalizations"]
    (tried,) = tree[-1]["tried"]
    assert (tried["name"], tried["result"]) == ("DepthwiseConvConverter", "failed")

    stock.write("b.mlir", LEFT)
    argv = [mlir_opt, "b.mlir", "--finalize-memref-to-llvm", "-o", "b.out"]
    command_line.run("record", "-q", "-o", "b.adbrec", "--", *argv)
    done = explain("--left", "op:memref.*", "b.adbrec")
    assert done.stdout.startswith("@2 memref.load at b.mlir:2:8: left by the conversion #2")


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        ([], 2, "the tool or recording is missing"),
        (["--left", "nothing", "--", "mlir-opt"], 2, "'nothing' is not an operation"),
        (["--left", "op:", "--", "mlir-opt"], 2, "'op:' lacks a name"),
        (["--left", "%3", "--", "mlir-opt"], 2, "give an id such as @12, or op:GLOB"),
        (["--html", "no/such/why.html", "--", "mlir-opt"], 2, "its directory does not exist"),
        (["--", "/no/such/tool"], 3, "/no/such/tool"),
    ],
)
def test_bad_usage(words: list[str], status: int, text: str) -> None:
    done = explain(*words)
    assert done.returncode == status
    assert text in done.stderr and "Traceback" not in done.stderr


# A loop that is in no other one.
CRASHING = """\
func.func @store(%m: memref<4xi1>, %v: i1, %i: index) {
  memref.store %v, %m[%i] : memref<4xi1>
  return
}
"""
NOT_NESTED = """\
func.func @f(%m: memref<4xf32>) {
  %f = arith.constant 0.0 : f32
  affine.for %i = 0 to 4 {
    affine.store %f, %m[%i] : memref<4xf32>
  }
  return
}
"""


@pytest.mark.parametrize("recorded", [False, True])
def test_a_pass_that_fails_without_a_conversion(recorded: bool, mlir_opt: str) -> None:
    """The first error is what it reports, about the operation that it names."""
    stock.write("a.mlir", NOT_NESTED)
    tool = [
        mlir_opt,
        "a.mlir",
        "--pass-pipeline=builtin.module(func.func(convert-affine-for-to-gpu))",
    ]
    own = stock.run(tool)
    error = own.stderr.partition("error: ")[2].partition("\n")[0]
    assert own.returncode == 1 and error
    if recorded:
        command_line.run("record", "-q", "-o", "a.adbrec", "--", *tool)
        done = explain("a.adbrec")
        about = ""
    else:
        done = explain("--", *tool)
        about = ", on @3 affine.store at a.mlir:4:5"
        assert "\n  affine.store %f, %m[%i] : memref<4xf32>\n" in done.stdout
    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == (
        "No dialect conversion failed. #2 pass-execution (convert-affine-for-to-gpu) failed"
        f"{about}: {error}."
    )


TARGET = """\
module attributes {gpu.container_module, spirv.target_env = #spirv.target_env<#spirv.vce<v1.0,
    [Shader], [SPV_KHR_storage_buffer_storage_class]>, #spirv.resource_limits<>>} {
"""


def test_several_patterns_that_did_not_match(mlir_opt: str) -> None:
    """None of them is more likely to be the right one: one of them is for images only."""
    source = """\
  gpu.module @k {
    gpu.func @f(%m: memref<?x?xi8, #spirv.storage_class<StorageBuffer>>) kernel
        attributes {spirv.entry_point_abi = #spirv.entry_point_abi<workgroup_size = [32, 1, 1]>} {
      %i = gpu.thread_id x
      %v = memref.load %m[%i, %i] : memref<?x?xi8, #spirv.storage_class<StorageBuffer>>
      memref.store %v, %m[%i, %i] : memref<?x?xi8, #spirv.storage_class<StorageBuffer>>
      gpu.return
    }
  }
}
"""
    stock.write("a.mlir", TARGET + source)
    done = explain("--", mlir_opt, "a.mlir", "--convert-gpu-to-spirv")
    lines = done.stdout.splitlines()
    assert " was not legalized: none of 3 patterns matched: ImageLoadOpPattern says " in lines[0]
    assert lines[0].endswith("; 2 gave no reason.")
    silent = next(line for line in lines if "IntLoadOpPattern" in line and "x " in line)
    assert "LoadOpPattern #" in silent and silent.endswith("did not match, and gave no reason")


def test_what_a_check_of_the_target_says() -> None:
    """Both patterns make what needs a capability: the tool, with assertions, says which."""
    source = """\
func.func @f(%a: vector<8xf32>) -> vector<8xi1> {
  %0 = arith.cmpf ord, %a, %a : vector<8xf32>
  return %0 : vector<8xi1>
}
}
"""
    stock.write("a.mlir", TARGET + source)
    tool = [str(PYPI / "mlir-opt"), "a.mlir", "--convert-arith-to-spirv"]
    done = explain("--", *tool)
    assert ": CmpFOpNanKernelPattern makes spirv.Ordered; CmpFOpNan" in done.stdout
    own = stock.run([*tool, "-debug-only=mlir-spirv-conversion"])
    for what in ("spirv.Ordered illegal: requires", "spirv.IsNan illegal: requires"):
        said = next(line for line in own.stderr.splitlines() if what in line)
        assert f"debug output: {said[said.index(what) :].strip()}" in done.stdout


def test_a_check_of_the_target_that_accepts_an_operation(mlir_opt: str) -> None:
    """Without the attribute for it, the check of the pass accepts a loop."""
    loop = "  scf.parallel (%i) = (%a) to (%a) step (%a) {\n    scf.reduce\n  }\n"
    stock.write("a.mlir", f"func.func @f(%a: index) {{\n{loop}  return\n}}\n")
    done = explain(
        "--left", "op:scf.parallel", "--", mlir_opt, "a.mlir", "--convert-parallel-loops-to-gpu"
    )
    assert done.stdout.splitlines()[1] == (
        "  the target accepts it, by a check, so that no pattern was tried"
    )


@pytest.mark.parametrize("how", ["recorded", "caught"])
def test_what_the_printer_drops_is_no_reason(how: str, mlir_opt: str) -> None:
    """A pattern reports a remark about an operation in the middle of its change: the printer
    verifies that first, and keeps to itself what the verifier says.
    """
    source = """\
  gpu.module @k {
    gpu.func @f(%m: memref<8xf32>) kernel {
      %i = gpu.thread_id x
      %v = memref.load %m[%i] : memref<8xf32>
      memref.store %v, %m[%i] : memref<8xf32>
      gpu.return
    }
  }
}
"""
    stock.write("a.mlir", TARGET + source)
    tool = [mlir_opt, "a.mlir", "--convert-gpu-to-spirv"]
    own = stock.run(tool)
    assert "missing 'spirv.entry_point_abi'" in own.stderr and "expects parent" not in own.stderr
    if how == "recorded":
        command_line.run("record", "-q", "-o", "a.adbrec", "--", *tool)
        assert "expects parent" not in explain("a.adbrec").stdout
        return
    words = ["--batch", "-nx", "-ex", "catch verify", "-ex", "catch diagnostic", "-ex", "run"]
    done = command_line.run(*words, "--", *tool)
    assert "missing 'spirv.entry_point_abi'" in done.stdout
    assert "expects parent" not in done.stdout


def test_an_operation_that_several_conversions_leave(mlir_opt: str) -> None:
    """It is told once, in the order of the run."""
    source = "func.func @f(%a: f32) -> f32 {\n  %0 = math.erf %a : f32\n  return %0 : f32\n}\n"
    stock.write("a.mlir", source)
    passes = ["--finalize-memref-to-llvm", "--convert-arith-to-llvm", "--convert-func-to-llvm"]
    done = explain("--left", "op:math.erf", "--", mlir_opt, "a.mlir", *passes)
    lines = done.stdout.splitlines()
    assert lines[0].startswith("@2 math.erf at a.mlir:2:8: left by the partial conversion #2 of ")
    assert lines[1].strip() == "no pattern for math.erf"
    assert lines[2].strip().startswith("likewise in 2 later conversions, up to the partial ")
    assert lines[2].endswith(" of convert-func-to-llvm")
    assert done.stdout.count("no pattern for math.erf") == 1


# The argument of ^next comes from a branch, for which these passes have no pattern.
BLOCKS = """\
func.func @f(%a: i64) -> i64 {
  cf.br ^next(%a : i64)
^next(%x: i64):
  %y = arith.muli %x, %x : i64
  return %y : i64
}
"""
MEMORY_IN_BLOCKS = """\
func.func @f(%m: memref<f32>) -> f32 {
  cf.br ^next(%m : memref<f32>)
^next(%x: memref<f32>):
  %y = memref.load %x[] : memref<f32>
  return %y : f32
}
"""


def test_an_argument_of_a_block_is_that_of_the_branch(mlir_opt: str) -> None:
    stock.write("a.mlir", BLOCKS)
    tool = [mlir_opt, "a.mlir", "--arith-emulate-wide-int=widest-int-supported=32"]
    lines = explain("--", *tool).stdout.splitlines()
    assert re.search(
        r" failed: argument 0 of \^bb1 of @\d+ func.func is still of type i64 where @\d+ "
        r"vector.extract needs vector<2xi32>; @2 cf.br at a.mlir:2:3 passes it, and the conversion "
        r"tried no pattern for it\.$",
        lines[0],
    )
    assert lines[2].startswith("  the value is argument 0 of ^bb1 at a.mlir:3:7, of @")
    assert lines[3] == "  passed by @2 cf.br at a.mlir:2:3, not converted"


ROWS = """\
func.func @f(%i: index, %m: memref<8xf32>) -> f32 {
  %c = arith.constant 1 : index
  %j = affine.apply affine_map<(d0) -> (d0 * 2)>(%i)
  %k = arith.addi %j, %c : index
  %0 = memref.load %m[%k] : memref<8xf32>
  return %0 : f32
}
"""
NO_FAILURE = "No dialect conversion failed"
TO_LLVM = [
    "--finalize-memref-to-llvm",
    "--convert-arith-to-llvm",
    "--convert-func-to-llvm",
    "--reconcile-unrealized-casts",
]


def test_of_casts_those_left_at_the_end_are_told_with_the_cause_first(mlir_opt: str) -> None:
    stock.write("a.mlir", ROWS)
    tool = [mlir_opt, "a.mlir", *TO_LLVM]
    output = stock.run(tool).stdout
    done = explain("--left", CASTS, "--html", "why.html", "--", *tool).stdout
    lines = done.splitlines()
    assert lines[0] == "Casts are left as @3 affine.apply at a.mlir:3:8 was not converted:"
    assert "left by the partial conversion #2 of finalize-memref-to-llvm" in lines[1]
    assert lines[2] == "    no pattern for affine.apply"
    told = re.findall(r"^  @\d+ from (\S+) to (\S+),", done, re.MULTILINE)
    left = re.findall(r"unrealized_conversion_cast %\S+ : (\S+) to (\S+)", output)
    assert sorted(told) == sorted(left) and len(left) == 2
    assert "Casts are left as @3 affine.apply" in Path("why.html").read_text()
    (beside,) = json.loads(explain("--left", CASTS, "--json", "--", *tool).stdout)["beside"]
    assert (beside["op"], beside["first"], beside["count"]) == ("affine.apply", 3, 1)
    everything = explain("--left", CASTS, "--all", "--", *tool).stdout
    assert everything.startswith(lines[0]) and everything.count(" from ") > len(left)


def test_casts_left_by_a_run_that_succeeded_are_explained_without_an_option(mlir_opt: str) -> None:
    stock.write("a.mlir", ROWS)
    tool = [mlir_opt, "a.mlir", *TO_LLVM]
    assert "unrealized_conversion_cast" in stock.run(tool).stdout
    done = explain("--html", "why.html", "--", *tool)
    first, second, *_ = done.stdout.splitlines()
    assert (done.returncode, first) == (0, f"{NO_FAILURE}, but casts are left in the output.")
    assert second == "Casts are left as @3 affine.apply at a.mlir:3:8 was not converted:"
    assert done.stdout.endswith(explain("--left", CASTS, "--", *tool).stdout)
    assert "Casts are left as @3 affine.apply" in Path("why.html").read_text()
    (beside,) = json.loads(explain("--json", "--", *tool).stdout)["casts"]["beside"]
    assert (beside["op"], beside["first"]) == ("affine.apply", 3)
    cleaned = [mlir_opt, "a.mlir", "--lower-affine", *TO_LLVM]
    assert explain("--", *cleaned).stdout.startswith(f"{NO_FAILURE} up to now.")


def test_where_no_cast_is_left_at_the_end_those_on_the_way_are_told(mlir_opt: str) -> None:
    stock.write("a.mlir", ROWS)
    tool = [mlir_opt, "a.mlir", "--lower-affine", *TO_LLVM]
    assert "unrealized" not in stock.run(tool).stdout
    done = explain("--left", CASTS, "--", *tool).stdout
    assert "unrealized_conversion_cast, first @" in done and " from " in done
    assert "Casts are left" not in done


def test_a_cast_of_an_argument_of_a_block_names_the_branch(mlir_opt: str) -> None:
    stock.write("a.mlir", MEMORY_IN_BLOCKS)
    tool = [mlir_opt, "a.mlir", "--finalize-memref-to-llvm"]
    lines = explain("--left", CASTS, "--", *tool).stdout
    assert "Casts are left as @2 cf.br at a.mlir:2:3 was not converted:" in lines
    assert "the value is argument 0 of ^bb1 at a.mlir:3:7, of @" in lines
    assert "passed by @2 cf.br at a.mlir:2:3, not converted" in lines


# convert-arith-to-emitc has a pattern for addi, and none for the other two.
CHAIN = """\
func.func @f(%a: i32) -> i32 {
  %s, %c = arith.addui_extended %a, %a : i32, i1
  %t = arith.addi %s, %a : i32
  %l, %h = arith.mulsi_extended %s, %t : i32
  return %h : i32
}
"""


def test_what_needs_an_operation_and_was_left_before_is_named(mlir_opt: str) -> None:
    stock.write("a.mlir", CHAIN)
    tool = [mlir_opt, "a.mlir", "--finalize-memref-to-llvm", "--convert-arith-to-emitc"]
    done = explain("--html", "why.html", "--", *tool)
    first, *lines = done.stdout.splitlines()
    assert first == (
        "@2 arith.addui_extended at a.mlir:2:12 was not legalized: no pattern for "
        "arith.addui_extended; @4 arith.mulsi_extended at a.mlir:4:12 needs it, and no conversion "
        "before legalized it."
    )
    left = next(n for n, line in enumerate(lines) if line.startswith("@4 arith.mulsi_extended "))
    assert "left by the partial conversion #2 of finalize-memref-to-llvm" in lines[left]
    assert lines[left + 1] == "  no pattern for arith.mulsi_extended"
    assert "no pattern for arith.mulsi_extended" in Path("why.html").read_text()
    found = json.loads(explain("--json", "--", *tool).stdout)
    assert [(one["first"], one["conversion"]) for one in found["needed_by"]] == [(4, 2)]


@pytest.mark.parametrize(
    ("user", "before"),
    [("addi", ["--finalize-memref-to-llvm"]), ("maxsi", [])],
    ids=["it has a pattern", "no conversion was before"],
)
def test_what_needs_an_operation_is_not_named(user: str, before: list[str], mlir_opt: str) -> None:
    head, _, tail = CHAIN.partition("  %l, %h")
    use = f"  %h = arith.{user} %s, %t : i32\n"
    stock.write("a.mlir", head + use + tail.partition("\n")[2])
    done = explain("--", mlir_opt, "a.mlir", *before, "--convert-arith-to-emitc")
    assert done.stdout.startswith("@2 arith.addui_extended ")
    assert "needs it" not in done.stdout


def test_the_action_of_a_crash_is_named() -> None:
    stock.write("a.mlir", CRASHING)
    done = explain("--", str(PYPI / "mlir-opt"), "a.mlir", "--finalize-memref-to-llvm")
    first = done.stdout.splitlines()[0]
    assert re.fullmatch(
        r"The tool crashes in #\d+ apply-pattern \(StoreOpLowering\): SIG[A-Z]+.*[^.]\.", first
    )
