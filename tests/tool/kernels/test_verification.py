"""Kernels verified in processes of their own, right ones and every kind of wrong one."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from actiondbg.kernels.execution.kernel_process import KernelProcess
from actiondbg.kernels.generated import GeneratedFolder
from actiondbg.kernels.model import Configuration, Dispatch, Operation
from actiondbg.kernels.operations.generic import Elementwise, Reduction
from actiondbg.kernels.operations.matmul import Matmul
from actiondbg.kernels.programs.extraction import cut
from actiondbg.kernels.programs.structured_operation import parse_program
from actiondbg.kernels.providers.provider import CompiledKernel
from actiondbg.kernels.results.entry import Verification
from actiondbg.kernels.verification.expectation import ReferenceCache
from actiondbg.kernels.verification.operands import make_operands
from actiondbg.kernels.verification.verifier import Verifier
from tests.fakes.kernels.c_kernel import MATMUL, compile_kernel

_MATMUL = Matmul(24, 40, 16)
_BODY = MATMUL.format(m=24, n=40, k=16)


def _verify(
    folder: Path, body: str, memory: int | None = None, operation: Operation = _MATMUL
) -> Verification:
    binary = compile_kernel(folder, operation, body)
    verifier = Verifier(ReferenceCache(GeneratedFolder(folder)), seconds=3, memory=memory)
    dispatch = Dispatch(operation, Configuration("c", "c_default"))
    return verifier.verify(dispatch, CompiledKernel(binary, binary, "default"))


def test_a_right_kernel_equals_the_reference(tmp_path: Path) -> None:
    found = _verify(tmp_path, f'puts("printed by the kernel");\n{_BODY}')
    method = "equal, bound 8 u |A||B|"
    assert (found.verdict, found.method, found.wrong, found.total) == ("SUCCESS", method, 0, 960)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("rhs[k * 40 + j]", "(_Float16)rhs[k * 40 + j]"),
        ("rhs[k * 40 + j]", "(signed char)rhs[k * 40 + j]"),
        ("lhs[i * 16 + k]", "(lhs[i * 16 + k] > 3 ? 3 : lhs[i * 16 + k])"),
        ("= sum;", "= (_Float16)sum;"),
    ],
)
def test_lost_precision_is_found(tmp_path: Path, right: str, wrong: str) -> None:
    assert right in _BODY
    assert _verify(tmp_path, _BODY.replace(right, wrong)).verdict == "FAILED"


_MAXIMUM = Reduction((24, 40), (1,), "max")
_MAXIMA = """\
for (int i = 0; i < 24; i++) {
  float largest = -__builtin_inff();
  for (int j = 0; j < 40; j++) {
    float element = operand[i * 40 + j];
    largest = element > largest || element != element ? element : largest;
    if (largest != largest) break;
    if (element == 0 && largest == 0) largest = element + largest;
  }
  result[i] = largest;
}
"""


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("j < 40;", "j < 39;"),
        ("j < 40;", "j < 10;"),
        ("int j = 0", "int j = 1"),
        ("j < 40;", "j < (i == 23 ? 39 : 40);"),
        ("operand[i * 40 + j]", "operand[j]"),
        ("operand[i * 40 + j]", "operand[(i * 40 + j) / 2 * 2]"),
        ("-__builtin_inff()", "0"),
        ("-__builtin_inff()", "-3.4e38f"),
        ("-__builtin_inff()", "result[i]"),
        ("|| element != element", ""),
        ("= largest;", "= (_Float16)largest;"),
        ("element > largest", "element < largest"),
    ],
)
def test_wrong_maxima_are_found(tmp_path: Path, right: str, wrong: str) -> None:
    assert right in _MAXIMA
    assert _verify(tmp_path, _MAXIMA, operation=_MAXIMUM).verdict == "SUCCESS"
    body = _MAXIMA.replace(right, wrong, 1)
    (tmp_path / "wrong").mkdir()  # a library of another name: the first one is loaded
    assert _verify(tmp_path / "wrong", body, operation=_MAXIMUM).verdict == "FAILED"


def test_memory_that_a_kernel_allocates_is_not_zero(tmp_path: Path) -> None:
    sums = "float *sums = malloc(960 * sizeof(float));\n"
    body = _BODY.replace("float sum = 0;", "float *at = sums + i * 40 + j;").replace(
        "sum +=", "*at +="
    )
    body = body.replace("= sum;", "= *at;")
    zeroed = f"{sums}memset(sums, 0, 960 * sizeof(float));\n{body}"
    assert _verify(tmp_path, zeroed).verdict == "SUCCESS"
    (tmp_path / "wrong").mkdir()
    assert _verify(tmp_path / "wrong", sums + body).verdict == "FAILED"


@pytest.mark.parametrize("size", [200, 256, 800, 1032, 4096])
def test_allocated_memory_is_nan_or_large(tmp_path: Path, size: int) -> None:
    """Also a small block: such blocks are reused as the process left them."""
    body = f"char *block = malloc({size}); memcpy(result, block, 200); free(block);"
    binary = compile_kernel(tmp_path, _MATMUL, body)
    operands = make_operands(_MATMUL, "integers")
    with KernelProcess(binary, caches=False) as process:
        made = [process.run(operands).ravel()[49] for _ in range(4)]
    assert np.isnan(made[3])
    assert made[1] > 1e30
    assert made[2] < -1e30


def test_a_maximum_of_numbers_begins_with_a_fill(tmp_path: Path) -> None:
    """One that ignores NaN does not see that its memory is one."""
    program = """
    func.func @f(%x: tensor<8x16xf32>) -> tensor<8xf32> {
      %lowest = arith.constant 0xFF800000 : f32
      %empty = tensor.empty() : tensor<8xf32>
      %fill = linalg.fill ins(%lowest : f32) outs(%empty : tensor<8xf32>) -> tensor<8xf32>
      %max = linalg.reduce { arith.maxnumf } ins(%x : tensor<8x16xf32>)
        outs(%fill : tensor<8xf32>) dimensions = [1]
      return %max : tensor<8xf32>
    }"""
    (operation,) = cut(parse_program(program, "The program")).operations
    right = """for (int i = 0; i < 8; i++) {
      result[i] = -__builtin_inff();
      for (int j = 0; j < 16; j++) result[i] = __builtin_fmaxf(result[i], arg0[i * 16 + j]);
    }"""
    assert _verify(tmp_path, right, operation=operation).verdict == "SUCCESS"
    (tmp_path / "wrong").mkdir()
    wrong = right.replace("result[i] = -__builtin_inff();", "")
    assert _verify(tmp_path / "wrong", wrong, operation=operation).verdict == "FAILED"


def test_a_wrong_tile_is_shown(tmp_path: Path) -> None:
    found = _verify(tmp_path, f"{_BODY} result[17 * 40 + 39] += 1;")
    assert (found.verdict, found.wrong, found.error_ratio) == ("FAILED", 1, 1.0)
    assert found.first[0].startswith("[17, 39] is ")
    assert found.detail == "The wrong element has d0 = 17 and d1 = 39."


def test_elements_that_are_never_written_are_wrong(tmp_path: Path) -> None:
    found = _verify(tmp_path, _BODY.replace("j < 40", "j < 32"))
    assert found.verdict == "FAILED"
    assert found.wrong == 24 * 8
    assert found.first[0].startswith("[0, 32] is nan (unwritten memory), expected ")
    assert found.detail == (
        "All 192 wrong elements have d1 >= 32, and no other element has. "
        "Each is unwritten memory, or computed from it."
    )
    assert found.map.splitlines()[1] == "................####"


@pytest.mark.parametrize(
    ("body", "verdict", "detail"),
    [
        ("abort();", "CRASHED", "SIGABRT"),
        ("*(volatile int *)8 = 1;", "CRASHED", "SIGSEGV"),
        ("_exit(3);", "CRASHED", "exit status 3"),
        ("for (volatile int i = 0;; i++);", "TIMED OUT", "3 s"),
        (
            "for (;;) memset(malloc(1 << 20), 1, 1 << 20);",
            "OUT OF MEMORY",
            "limit of 256 MiB",
        ),
        (f"{_BODY} result[24 * 40] = 1;", "CRASHED", "past the end of result"),
    ],
    ids=["abort", "segfault", "exit", "loop", "memory", "bounds"],
)
def test_a_kernel_that_does_not_end_well_is_a_verdict(
    tmp_path: Path, body: str, verdict: str, detail: str
) -> None:
    found = _verify(tmp_path, body, memory=256 << 20)
    assert found.verdict == verdict
    assert detail in found.detail


@pytest.mark.parametrize(
    ("measured", "verdict", "detail"),
    [
        (_BODY, "SUCCESS", ""),
        ("", "Not verified", "The kernel is right, but the binary that is measured"),
        (_BODY.replace("k < 16", "k < 15"), "Not verified", "elements otherwise"),
        ("abort();", "CRASHED", "The binary that is measured: The kernel was killed by SIGABRT"),
    ],
)
def test_the_binary_that_is_measured_is_verified_too(
    tmp_path: Path, measured: str, verdict: str, detail: str
) -> None:
    (tmp_path / "many").mkdir()
    one = compile_kernel(tmp_path, _MATMUL, _BODY)
    many = compile_kernel(tmp_path / "many", _MATMUL, measured)
    verifier = Verifier(ReferenceCache(GeneratedFolder(tmp_path)), seconds=3)
    dispatch = Dispatch(_MATMUL, Configuration("c", "c_default"))
    found = verifier.verify(dispatch, CompiledKernel(one, many, "default"))
    assert (found.verdict, found.wrong) == (verdict, 0)
    assert detail in found.detail


def test_denormals_are_kept_unless_the_compiler_says_that_it_flushes_them(tmp_path: Path) -> None:
    flush = "(__builtin_fabsf({0}) < 0x1p-126f ? 0 : {0})"
    flushed = _BODY.replace("rhs[k * 40 + j]", flush.format("rhs[k * 40 + j]"))
    binary = compile_kernel(tmp_path, _MATMUL, flushed)
    verifier = Verifier(ReferenceCache(GeneratedFolder(tmp_path)), seconds=3)
    dispatch = Dispatch(_MATMUL, Configuration("c", "c_default"))
    kept = CompiledKernel(binary, binary, "default")
    assert verifier.verify(dispatch, kept).verdict == "FAILED"
    assert verifier.verify(dispatch, replace(kept, flushes_denormals=True)).verdict == "SUCCESS"


_SUM_IN_F16 = """
func.func @f(%x: tensor<24x40xf32>, %y: tensor<24x40xf32>) -> tensor<24x40xf16> {
  %e = tensor.empty() : tensor<24x40xf16>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<24x40xf32>, tensor<24x40xf32>) outs(%e : tensor<24x40xf16>) {
  ^bb0(%a: f32, %b: f32, %old: f16):
    %s = arith.addf %a, %b : f32
    %t = arith.truncf %s : f32 to f16
    %zero = arith.constant 0.0 : f16
    %m = arith.maximumf %t, %zero : f16
    linalg.yield %m : f16
  } -> tensor<24x40xf16>
  return %r : tensor<24x40xf16>
}"""


@pytest.mark.parametrize(
    ("wrong", "verdict"),
    [
        ("", "SUCCESS"),
        ("if (narrow > sum) bits--;", "FAILED"),
        ("if (narrow < sum) bits++;", "FAILED"),
        ("bits &= ~1;", "FAILED"),
    ],
    ids=["nearest", "down", "up", "one bit less"],
)
def test_the_last_rounding_is_to_the_nearest(tmp_path: Path, wrong: str, verdict: str) -> None:
    (operation,) = cut(parse_program(_SUM_IN_F16, "The program")).operations
    wrong = f"if (sum > 0 && sum < 65504) {{ {wrong} }}"
    body = f"""for (int i = 0; i < 960; i++) {{
      float sum = arg0[i] + arg1[i];
      _Float16 narrow = sum;
      unsigned short bits;
      memcpy(&bits, &narrow, 2);
      {wrong}
      memcpy(&narrow, &bits, 2);
      result[i] = sum != sum || narrow > 0 ? narrow : 0;
    }}"""
    assert _verify(tmp_path, body, operation=operation).verdict == verdict


@pytest.mark.parametrize("step", ["add", "sub", "mul"])
def test_one_operation_is_rounded_to_the_nearest(tmp_path: Path, step: str) -> None:
    sign = {"add": "+", "sub": "-", "mul": "*"}[step]
    body = f"""for (int i = 0; i < 960; i++) {{
      double exact = (double)x0[i] {sign} x1[i];
      float near = exact;
      int bits;
      memcpy(&bits, &near, 4);
      if (0 && exact > 0 && exact < 1e38 && near > exact) bits--;
      memcpy(&result[i], &bits, 4);
    }}"""
    verify = partial(_verify, operation=Elementwise((24, 40), (step,)))
    assert verify(tmp_path, body).verdict == "SUCCESS"
    (tmp_path / "wrong").mkdir()
    assert verify(tmp_path / "wrong", body.replace("0 &&", "")).verdict == "FAILED"
