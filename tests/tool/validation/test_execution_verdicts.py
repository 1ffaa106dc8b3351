"""Verdicts of real runs: of the known miscompilations, and of what is no difference."""

from __future__ import annotations

import cmath
import subprocess
from pathlib import Path

import pytest

from actiondbg.bisection.execute_oracle import PIPELINE, runner_libraries
from actiondbg.validation.agreement import FunctionRun
from actiondbg.validation.domain import POISON
from actiondbg.validation.execution.lowerings import PLAIN
from actiondbg.validation.execution.real_runs import (
    Differs,
    NotRun,
    Same,
    annotated,
    confirm,
    judge_by_running,
)
from actiondbg.validation.execution.runner import Runner, parse_printed
from actiondbg.validation.function_judgement import JudgementLimits, Query
from actiondbg.validation.inputs import Array, Input, View
from actiondbg.validation.machine import Buffer, Elements, FunctionOutcome, RuntimeValue
from actiondbg.validation.module_judge import ModuleJudge
from actiondbg.validation.strictness import Strictness
from actiondbg.validation.types import INDEX, FloatType, IntegerType, ShapedType, Type
from tests.paths import ROOT

BUILDS = ("pypi",)
EXAMPLES = ROOT / "examples/miscompiles"
I32 = IntegerType(32)
F32 = FloatType("f32")
LANES = ShapedType("tensor", (4,), I32)
COPY = "--pass-pipeline=builtin.module(func.func(cse,affine-data-copy-generate{fast-mem-space=0}))"
HOIST = ["--canonicalize", "--affine-loop-invariant-code-motion", "--cse"]
MASKED = Input((Array((4,), (7, 8, 9, 10)), Array((4,), (1, 0, 1, 0))))


@pytest.fixture
def runner(mlir_opt: str, tmp_path: Path) -> Runner:
    return Runner(Path(mlir_opt), tmp_path, seconds=20)


def run_of(
    *results: RuntimeValue,
    types: tuple[Type, ...] = (),
    cells: dict[str, list[RuntimeValue]] | None = None,
) -> FunctionRun:
    """Return what an interpreter would say."""
    memory = {name: Buffer(list(items), I32) for name, items in (cells or {}).items()}
    return FunctionRun(FunctionOutcome(results, (), memory, frozenset()), [], types)


def lanes(*items: RuntimeValue) -> Elements:
    return Elements((4,), items, I32)


def after(runner: Runner, name: str, flags: list[str]) -> tuple[str, str]:
    """Return the text of an example, and of what mlir-opt makes of it."""
    file = EXAMPLES / f"{name}.mlir"
    done = subprocess.run([runner.tool, file, *flags], check=True, capture_output=True, text=True)
    return file.read_text(), done.stdout


# Of the examples: file, options of mlir-opt, function, input, what is right, what is wrong.
WRONG = [
    ("while-if", ["--canonicalize"], "count", Input(()), 3, 50, INDEX),
    (
        *("masked-write", ["--canonicalize"], "zero_masked", MASKED),
        *(lanes(7, 0, 9, 0), lanes(7, 8, 9, 10), LANES),
    ),
    ("index-casts", ["--canonicalize=max-iterations=1"], "low_byte", Input((300,)), 44, 300, INDEX),
    ("wide-switch", ["--convert-scf-to-cf"], "choose", Input((1,)), 30, 20, INDEX),
    (
        *("index-compare", ["--canonicalize"], "difference_is_zero", Input((1,))),
        *(0, 1, IntegerType(1)),
    ),
]


@pytest.mark.parametrize(
    ("name", "flags", "symbol", "input", "right", "wrong", "type"),
    WRONG,
    ids=[each[0] for each in WRONG],
)
def test_known_miscompilations_are_confirmed(
    runner: Runner,
    name: str,
    flags: list[str],
    symbol: str,
    input: Input,
    right: RuntimeValue,
    wrong: RuntimeValue,
    type: Type,
) -> None:
    texts = after(runner, name, flags)
    source, target = run_of(right, types=(type,)), run_of(wrong, types=(type,))
    found = confirm(runner, *texts, symbol, input, source, target)
    assert (found.verdict, found.reason[:8]) == ("confirmed", "result 0")


@pytest.mark.parametrize(
    ("name", "flags", "right", "wrong"),
    [
        ("hoisted-store", HOIST, {"cell": [7]}, {"cell": [9]}),
        ("unfilled-copy", [COPY], {"slow": [5, 20, 30, 40]}, {"slow": [POISON, 20, 30, 40]}),
    ],
)
def test_known_miscompilations_of_memory_are_confirmed(
    runner: Runner,
    name: str,
    flags: list[str],
    right: dict[str, list[RuntimeValue]],
    wrong: dict[str, list[RuntimeValue]],
) -> None:
    texts = after(runner, name, flags)
    found = confirm(runner, *texts, "main", Input(()), run_of(cells=right), run_of(cells=wrong))
    assert found.verdict == "confirmed"


def constant(value: int) -> str:
    return f"""
      func.func @f() -> i32 {{
        %0 = arith.constant {value} : i32
        return %0 : i32
      }}"""


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ((1, 2), "confirmed"),
        ((1, 3), "differs"),  # the interpreter is wrong about what it does after
        ((0, 2), "differs"),
        ((POISON, 2), "same"),  # anything is allowed
        ((1, POISON), "confirmed"),
    ],
)
def test_what_the_interpreter_said_is_compared(
    runner: Runner, said: tuple[RuntimeValue, RuntimeValue], verdict: str
) -> None:
    runs = [run_of(each, types=(I32,)) for each in said]
    found = confirm(runner, constant(1), constant(2), "f", Input(()), *runs)
    assert found.verdict == verdict


def test_a_difference_that_does_not_show(runner: Runner) -> None:
    runs = [run_of(each, types=(I32,)) for each in (1, 2)]
    found = confirm(runner, constant(1), constant(1), "f", Input(()), *runs)
    assert found.verdict == "same"


def test_a_crash_after_the_action(runner: Runner) -> None:
    crash = """
      func.func @f() -> i32 {
        %no = arith.constant false
        %0 = arith.constant 1 : i32
        cf.assert %no, "no"
        return %0 : i32
      }"""
    found = confirm(runner, constant(1), crash, "f", Input(()), run_of(1, types=(I32,)), None)
    assert (found.verdict, found.reason) == (
        "confirmed",
        "the function as it is after died of SIGABRT",
    )


def test_the_test_for_a_person_says_what_is_expected(runner: Runner) -> None:
    runs = [run_of(each, types=(I32,)) for each in (1, 2)]
    found = confirm(runner, constant(1), constant(2), "f", Input(()), *runs)
    assert found.tests is not None
    assert found.before is not None
    assert found.after is not None
    commands = runner.commands(found.tests[1], "wrong.mlir")
    text = annotated(found.tests[1], "@f gives 2.", commands, found.before, found.after)
    lines = text.splitlines()
    expected = lines.index("// Expected:")
    assert lines[expected : expected + 4] == [
        *("// Expected:", "//   result 0: 1"),
        *("// Got:", "//   result 0: 2"),
    ]
    assert lines[0] == "// @f gives 2."


# --- by runs alone ---


@pytest.mark.parametrize(
    ("name", "flags", "symbol", "input", "suspect"),
    [
        ("while-if", ["--canonicalize"], "count", Input(()), "canonicalize"),
        ("masked-write", ["--canonicalize"], "zero_masked", MASKED, "canonicalize"),
        ("hoisted-store", HOIST, "main", Input(()), "affine-loop-invariant-code-motion"),
        ("unfilled-copy", [COPY], "main", Input(()), "affine-data-copy-generate"),
        ("wide-switch", ["--convert-scf-to-cf"], "choose", Input((1,)), "convert-scf-to-cf"),
    ],
)
def test_known_miscompilations_differ(
    runner: Runner, name: str, flags: list[str], symbol: str, input: Input, suspect: str
) -> None:
    texts = after(runner, name, flags)
    found = judge_by_running(
        runner, *texts, symbol, [input], strictness=Strictness(), suspect=suspect
    )
    assert isinstance(found, Differs)
    assert found.input == input


def sum_of(order: str, count: int = 4096, type: str = "f32") -> str:
    """Return a function that adds up elements, from the first, from the last, or but the last."""
    place = {"up": "d0", "down": f"{count - 1} - d0", "short": f"d0 mod {count - 1}"}[order]
    return f"""
      func.func @f(%a: memref<{count}x{type}>) -> {type} {{
        %zero = arith.constant 0.0 : {type}
        %0 = affine.for %i = 0 to {count} iter_args(%sum = %zero) -> {type} {{
          %at = affine.apply affine_map<(d0) -> ({place})>(%i)
          %x = memref.load %a[%at] : memref<{count}x{type}>
          %new = arith.addf %sum, %x : {type}
          affine.yield %new : {type}
        }}
        return %0 : {type}
      }}"""


def numbers(count: int = 4096) -> Input:
    values = tuple(((at * 37) % 101 + 1) / 7 for at in range(count))
    return Input((View(0, 0, (count,), (1,)),), (values,))


def test_another_order_of_a_sum_is_the_same(runner: Runner) -> None:
    found = judge_by_running(runner, sum_of("up"), sum_of("down"), "f", [numbers()])
    assert found == Same((numbers(),))


def test_a_wrong_element_of_a_sum_differs(runner: Runner) -> None:
    found = judge_by_running(runner, sum_of("up"), sum_of("short"), "f", [numbers()])
    assert isinstance(found, Differs)


def test_a_function_of_c_with_another_abi_is_not_judged(runner: Runner) -> None:
    text = """
      func.func @main() {
        %x = arith.constant 0.5 : f32
        %z = complex.create %x, %x : complex<f32>
        %0 = complex.sin %z : complex<f32>
        %1 = complex.re %0 : complex<f32>
        vector.print %1 : f32
        return
      }"""
    command = [runner.tool, "--convert-complex-to-libm"]
    called = subprocess.run(command, input=text, check=True, capture_output=True, text=True).stdout
    found = judge_by_running(runner, text, called, "main", [Input(())])
    assert found == NotRun("a function of C with complex<f32> is not called as C calls it")


# Upstream folds log(exp(z)) to z, which is wrong where the imaginary part is beyond pi.
LOG_OF_EXP = """
  func.func private @power(%z: complex<f64>) -> complex<f64> {{
    %0 = complex.exp %z : complex<f64>
    return %0 : complex<f64>
  }}
  func.func @f(%x: f64) -> f64 {{
    %z = complex.create %x, %x : complex<f64>
    %0 = {power} %z : complex<f64>
    %1 = complex.log %0 : complex<f64>
    %2 = complex.im %1 : complex<f64>
    return %2 : f64
  }}"""


def test_a_fold_that_the_lowering_has_too_differs(runner: Runner) -> None:
    before = LOG_OF_EXP.format(power="complex.exp")
    command = [runner.tool, "--canonicalize"]
    folded = subprocess.run(command, input=before, check=True, capture_output=True, text=True)
    inputs = [Input((1.0,)), Input((4.0,))]
    found = judge_by_running(runner, before, folded.stdout, "f", inputs)
    assert isinstance(found, Differs)
    assert found.where == f"result 0: {cmath.log(cmath.exp(4 + 4j)).imag} before, 4.0 after"
    file = runner.scratch / "before.mlir"
    file.write_text(found.tests[0].text)
    shell = runner.commands(found.tests[0], str(file), found.lowering)
    printed = subprocess.run(shell, shell=True, check=True, capture_output=True, text=True).stdout
    assert parse_printed(printed, found.tests[0].entry, 1, found.tests[0].parts[0]) == found.before


def test_a_fold_of_the_lowering_alone_is_no_difference(runner: Runner) -> None:
    called = LOG_OF_EXP.replace("{power} %z : complex<f64>", "{power}").format(
        power="call @power(%z) : (complex<f64>) -> complex<f64>"
    )
    inlined = LOG_OF_EXP.format(power="complex.exp")
    found = judge_by_running(runner, called, inlined, "f", [Input((4.0,))])
    assert isinstance(found, NotRun)
    assert found.reason.endswith("but not by the plain lowering without folds")


def test_what_needs_folds_to_be_lowered_is_not_judged(runner: Runner) -> None:
    """Upstream folds a reduction of nothing to its source."""
    text = """
      func.func @f(%a: vector<2x2xi32>, %b: vector<2x2xi32>) -> vector<2x2xi32> {
        %0 = vector.multi_reduction <add>, %a, %b [] : vector<2x2xi32> to vector<2x2xi32>
        return %0 : vector<2x2xi32>
      }"""
    source = text.replace("%0 =", "%c = arith.addi %a, %a : vector<2x2xi32>\n%0 =")
    one = Array((2, 2), (1, 2, 3, 4))
    found = judge_by_running(runner, source, text, "f", [Input((one, one))])
    assert isinstance(found, NotRun)
    assert found.reason.startswith("its lowering may fold what the action does")


def test_the_order_matters_where_nothing_leaves_it_open(runner: Runner) -> None:
    found = judge_by_running(
        runner, sum_of("up"), sum_of("down"), "f", [numbers()], strictness=Strictness()
    )
    assert isinstance(found, Differs)


READ_OF_FRESH = """
  func.func @f(%x: i32) -> (i32, i32) {{
    %one = arith.constant 1 : index
    %fresh = memref.{kind}() : memref<4xi32>
    memref.store %x, %fresh[%one] : memref<4xi32>
    %at = arith.constant {at} : index
    %0 = memref.load %fresh[%at] : memref<4xi32>
    return %0, %x : i32, i32
  }}"""


@pytest.mark.parametrize("kind", ["alloc", "alloca"])
def test_memory_that_nobody_wrote_is_not_compared(runner: Runner, kind: str) -> None:
    texts = READ_OF_FRESH.format(kind=kind, at=2), READ_OF_FRESH.format(kind=kind, at=1)
    found = judge_by_running(runner, *texts, "f", [Input((5,))])
    assert isinstance(found, Same)


@pytest.mark.parametrize("kind", ["alloc", "alloca"])
def test_a_read_of_memory_that_nobody_wrote_differs(runner: Runner, kind: str) -> None:
    texts = READ_OF_FRESH.format(kind=kind, at=1), READ_OF_FRESH.format(kind=kind, at=2)
    found = judge_by_running(runner, *texts, "f", [Input((5,))])
    assert isinstance(found, Differs)
    assert found.where.startswith("result 0: 5 before")


def test_inputs_that_leave_memory_do_not_count(runner: Runner) -> None:
    text = """
      func.func @f(%a: memref<4xi32>, %at: index) -> i32 {{
        %0 = memref.load %a[%at] : memref<4xi32>
        {more}
        return %0 : i32
      }}"""
    wrong = "memref.store %0, %a[%at] : memref<4xi32>"
    outside = Input((View(0, 0, (4,), (1,)), 1000), ((1, 2, 3, 4),))
    found = judge_by_running(runner, text.format(more=""), text.format(more=wrong), "f", [outside])
    assert found == NotRun("the function as it was before died of SIGABRT")


def test_a_store_outside_that_nobody_sees_is_no_verdict(runner: Runner) -> None:
    """The row behind is written later, and the memory behind the last one belongs to nobody."""

    def filled(columns: int) -> str:
        return f"""
          func.func @f(%a: memref<4x4xi32>, %x: i32) {{
            %c0 = arith.constant 0 : index
            %c1 = arith.constant 1 : index
            %rows = arith.constant 4 : index
            %columns = arith.constant {columns} : index
            scf.for %i = %c0 to %rows step %c1 {{
              scf.for %j = %c0 to %columns step %c1 {{
                memref.store %x, %a[%i, %j] : memref<4x4xi32>
              }}
            }}
            return
          }}"""

    given = Input((View(0, 0, (4, 4), (4, 1)), 7), ((1,) * 16,))
    assert isinstance(judge_by_running(runner, filled(4), filled(4), "f", [given]), Same)
    found = judge_by_running(runner, filled(4), filled(5), "f", [given])
    assert found == NotRun("the function as it is after died of SIGABRT")


MASKED_SHIFT = """
llvm.func @f(%x: i32, %y: i32) -> i32 {{
  %one = llvm.mlir.constant(1 : i32) : i32
  %mask = llvm.mlir.constant(31 : i32) : i32
  %p = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
  llvm.store %x, %p : i32, !llvm.ptr
  %v = llvm.load %p : !llvm.ptr -> i32
  %low = llvm.and %y, %mask : i32
  %r = llvm.shl %v, {amount} : i32
  llvm.return %r : i32
}}
"""


SELDOM = """
llvm.func @f(%x: i32, %y: i32) -> i32 {{
  %one = llvm.mlir.constant(1 : i32) : i32
  %number = llvm.mlir.constant(77777 : i32) : i32
  %p = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
  llvm.store %x, %p : i32, !llvm.ptr
  %v = llvm.load %p : !llvm.ptr -> i32
  %same = llvm.icmp "eq" %v, %number : i32
  llvm.cond_br %same, ^seldom, ^else
^seldom:
  llvm.return {result} : i32
^else:
  llvm.return %v : i32
}}
"""


def test_numbers_of_the_program_are_run(mlir_opt: str, tmp_path: Path) -> None:
    before, after = (SELDOM.format(result=each) for each in ("%y", "%x"))
    judge = ModuleJudge(JudgementLimits(tool=mlir_opt, scratch=str(tmp_path)))
    (found,) = judge.judge(Query(before, after))
    assert found.verdict == "unknown"  # no check is made for accesses by pointers
    assert "77777 after, but that may be undefined" in found.detail


UNCHANGED = """
func.func @f(%x: i32) -> i32 {
  return %x : i32
}
"""
ENDLESS = """
func.func @f(%x: i32) -> i32 {
  %number = arith.constant 123456789 : i32
  %same = arith.cmpi eq, %x, %number : i32
  scf.while : () -> () {
    scf.condition(%same)
  } do {
    scf.yield
  }
  return %x : i32
}
"""


def test_an_input_that_takes_too_long_is_run(mlir_opt: str, tmp_path: Path) -> None:
    judge = ModuleJudge(JudgementLimits(tool=mlir_opt, scratch=str(tmp_path), seconds=8))
    (found,) = judge.judge(Query(UNCHANGED, ENDLESS))
    assert found.verdict == "unknown"
    assert "the function as it is after did not end" in found.detail


def test_poison_that_runs_do_not_show_is_seen_in_a_piece(mlir_opt: str, tmp_path: Path) -> None:
    """Processors take an amount by its lowest bits."""
    before, after = (MASKED_SHIFT.format(amount=each) for each in ("%low", "%y"))
    judge = ModuleJudge(JudgementLimits(tool=mlir_opt, scratch=str(tmp_path)))
    (found,) = judge.judge(Query(before, after))
    assert found.verdict == "unknown"
    assert "which do not show a changed value" in found.detail
    assert found.detail.endswith("poison after")


# A product and a sum of constants; they may be contracted.
APART = """
func.func @f() -> f32 {{
  %a = arith.constant {a} : f32
  %b = arith.constant {b} : f32
  %c = arith.constant {c} : f32
  %p = arith.mulf %a, %b {flags} : f32
  %r = arith.addf %p, %c {flags} : f32
  return %r : f32
}}
"""
CONTRACTED = """
func.func @f() -> f32 {{
  %a = arith.constant {a} : f32
  %b = arith.constant {b} : f32
  %c = arith.constant {c} : f32
  %r = math.fma %a, %b, %c : f32
  return %r : f32
}}
"""
CANCELLED = {"a": "1.0000001", "b": "2.0e10", "c": "-2.0e10"}
BENIGN = {"a": "1.1", "b": "2.1", "c": "3.1"}
EXACT = {"a": "3.0", "b": "1024.0", "c": "-3072.0"}


@pytest.mark.parametrize(
    ("numbers", "change", "flags", "verdict"),
    [
        # The rounding of the product makes all of the difference, and fast math leaves it open.
        (CANCELLED, {}, "fastmath<contract>", "unknown"),
        (CANCELLED, {}, "fastmath<fast>", "unknown"),
        (BENIGN, {}, "fastmath<contract>", "equivalent"),
        (BENIGN, {"c": "3.2"}, "fastmath<contract>", "different"),
        (EXACT, {"c": "-3071.0"}, "fastmath<contract>", "different"),
    ],
)
def test_a_contraction_may_round_otherwise(
    mlir_opt: str,
    tmp_path: Path,
    numbers: dict[str, str],
    change: dict[str, str],
    flags: str,
    verdict: str,
) -> None:
    texts = APART.format(**numbers, flags=flags), CONTRACTED.format(**numbers | change)
    judge = ModuleJudge(JudgementLimits(tool=mlir_opt, scratch=str(tmp_path)))
    (found,) = judge.judge(Query(*texts))
    assert found.verdict == verdict, found.detail


def shifted(more: int) -> str:
    return f"""
      func.func @f(%x: i32, %amount: i32) -> i32 {{
        %more = arith.constant {more} : i32
        %0 = arith.shli %x, %amount : i32
        %1 = arith.addi %0, %more : i32
        return %1 : i32
      }}"""


def test_a_difference_of_what_may_be_poison_is_no_verdict(runner: Runner) -> None:
    found = judge_by_running(runner, shifted(1), shifted(2), "f", [Input((1, 33))])
    assert isinstance(found, NotRun)
    assert "may be undefined before: it has arith.shli" in found.reason


OVERFLOWING = """
llvm.func @f(%x: i32, %y: i32) -> i32 {{
  %sum = "llvm.intr.sadd.with.overflow"(%x, %y) : (i32, i32) -> !llvm.struct<(i32, i1)>
  %value = llvm.extractvalue %sum[0] : !llvm.struct<(i32, i1)>
  %more = llvm.extractvalue %sum[1] : !llvm.struct<(i32, i1)>
  %zeros = "llvm.intr.ctlz"(%x) <{{is_zero_poison = {poison}}}> : (i32) -> i32
  %one = llvm.select %more, {result}, %value : i1, i32
  %r = llvm.xor %one, %zeros : i32
  llvm.return %r : i32
}}
"""


@pytest.mark.parametrize(("poison", "verdict"), [("false", "different"), ("true", "unknown")])
def test_a_name_does_not_say_what_may_be_poison(
    mlir_opt: str, tmp_path: Path, poison: str, verdict: str
) -> None:
    """Few numbers overflow: more are run, as functions of numbers run fast."""
    texts = (OVERFLOWING.format(result=each, poison=poison) for each in ("%x", "%y"))
    (found,) = ModuleJudge(JudgementLimits(tool=mlir_opt, scratch=str(tmp_path))).judge(
        Query(*texts)
    )
    assert found.verdict == verdict, found.detail


STORING = """
memref.global {visibility} @g : memref<i32> = dense<0>
func.func @f(%x: i32, %y: i32) -> i32 {{
  {store}
  %0 = {value}
  return %0 : i32
}}
func.func @get() -> i32 {{
  %m = memref.get_global @g : memref<i32>
  %v = memref.load %m[] : memref<i32>
  return %v : i32
}}"""
STORE = "%m = memref.get_global @g : memref<i32>\n  memref.store %x, %m[] : memref<i32>"


@pytest.mark.parametrize("visibility", ['"private"', ""])
@pytest.mark.parametrize(
    "value", ["arith.addi %x, %y : i32", "llvm.intr.fshl(%x, %y, %x) : (i32, i32, i32) -> i32"]
)
def test_a_store_to_a_global_that_is_gone(
    mlir_opt: str, tmp_path: Path, visibility: str, value: str
) -> None:
    """The program after has no use of it, and another function reads it."""
    before, other, after = (
        STORING.format(visibility=visibility, store=store, value=value)
        for store in (STORE, f"%c = arith.constant 1 : i32\n  {STORE}", "")
    )
    judge = ModuleJudge(JudgementLimits(tool=mlir_opt, scratch=str(tmp_path)))
    found = {each.symbol: each for each in judge.judge(Query(before, after))}
    assert found["f"].verdict == "different" and "global @g" in found["f"].detail
    assert {each.verdict for each in judge.judge(Query(before, other))} == {"equivalent"}


def test_a_pass_that_lowers_the_program_is_not_judged_by_itself(runner: Runner) -> None:
    found = judge_by_running(
        runner, constant(1), constant(1), "f", [Input(())], suspect="convert-scf-to-cf"
    )
    assert isinstance(found, NotRun)
    assert "convert-scf-to-cf is part of the lowering" in found.reason


def test_a_loop_that_does_not_end_after_the_action(runner: Runner) -> None:
    loop = """
      func.func @f() -> i32 {
        cf.br ^again
      ^again:
        cf.br ^again
      }"""
    runner.seconds = 3
    found = judge_by_running(runner, constant(1), loop, "f", [Input(())])
    assert found == NotRun("the function as it is after did not end in 3 s")


def test_the_whole_pipeline_does_not_fold_what_it_may_have_to_judge(
    runner: Runner, tmp_path: Path
) -> None:
    lowered = tmp_path / "lowered.mlir"
    source = EXAMPLES / "masked-write.mlir"
    flags = [f"--pass-pipeline={PIPELINE}", "-o", lowered]
    subprocess.run([runner.tool, source, *flags], check=True)
    tool = runner.find("mlir-runner", PLAIN)
    libraries = ",".join(runner_libraries(tool))
    words = ["-e", "main", "--entry-point-result=void", f"--shared-libs={libraries}"]
    done = subprocess.run([tool, lowered, *words], check=True, capture_output=True, text=True)
    assert done.stdout == "( 7, 0, 9, 0 )\n"
