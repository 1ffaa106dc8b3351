"""How exactly floats must agree: what the order of sums leaves open, and what it does not."""

from __future__ import annotations

import pytest

from actiondbg.validation.function_judgement import JudgementLimits, Query
from actiondbg.validation.module_judge import ModuleJudge
from actiondbg.validation.program_reader import ProgramReader
from actiondbg.validation.strictness import strictness

_SUM = """
func.func @f(%a: f32, %b: f32, %c: f32) -> f32 {
  %0 = arith.addf %a, %b : f32
  %1 = arith.addf %0, %c : f32
  return %1 : f32
}
"""
_OTHER_ORDER = """
func.func @f(%a: f32, %b: f32, %c: f32) -> f32 {
  %0 = arith.addf %b, %c : f32
  %1 = arith.addf %a, %0 : f32
  return %1 : f32
}
"""
_FAST = """
func.func @fast(%x: f32) -> f32 {
  %r = arith.addf %x, %x fastmath<reassoc> : f32
  return %r : f32
}
"""
_MAXIMUM = """
func.func @f(%v: vector<4xf32>, %s: f32) -> f32 {{
  %r = vector.reduction <{kind}>, %v, %s : vector<4xf32> into f32
  return %r : f32
}}
"""


def _verdict(before: str, after: str) -> str:
    judged = ModuleJudge(JudgementLimits(seconds=10)).judge(Query(before, after))
    (found,) = (each for each in judged if each.symbol == "f")
    return found.verdict


def test_another_function_does_not_open_the_order() -> None:
    assert _verdict(_SUM + _FAST, _OTHER_ORDER + _FAST) == "different"


def test_a_pass_does_not_open_the_order() -> None:
    fast = _OTHER_ORDER.replace(": f32\n", "fastmath<reassoc> : f32\n")
    fast = fast.replace("return %1 fastmath<reassoc>", "return %1")
    assert _verdict(_SUM, fast) == "unknown"  # without real runs: the solver knows no order


def test_a_called_function_opens_the_order() -> None:
    before, after = (
        text.replace("return %1", "%r = func.call @fast(%1) : (f32) -> f32\n  return %r")
        for text in (_SUM, _OTHER_ORDER)
    )
    assert _verdict(before + _FAST, after + _FAST) == "equivalent"
    exact = _FAST.replace("fastmath<reassoc> ", "")
    assert _verdict(before + exact, after + exact) == "different"


@pytest.mark.parametrize(
    ("before", "after"), [("maximumf", "maxnumf"), ("maxnumf", "maximumf"), ("minnumf", "minimumf")]
)
def test_a_maximum_has_no_order(before: str, after: str) -> None:
    texts = _MAXIMUM.format(kind=before), _MAXIMUM.format(kind=after)
    assert _verdict(*texts) == "different"


_LINALG = """
func.func @f(%t: tensor<4x{type}>, %o: tensor<{sizes}{type}>) -> tensor<{sizes}{type}> {{
  %r = linalg.generic {{
    indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ({place})>],
    iterator_types = ["{loop}"]
  }} ins(%t : tensor<4x{type}>) outs(%o : tensor<{sizes}{type}>) {{
  ^bb0(%x: {type}, %y: {type}):
    {body}
    linalg.yield %s : {type}
  }} -> tensor<{sizes}{type}>
  return %r : tensor<{sizes}{type}>
}}
"""
_WHOLE = {"type": "f32", "sizes": "", "place": "", "loop": "reduction"}
_EACH = {"type": "f32", "sizes": "4x", "place": "i", "loop": "parallel"}
_GREATER = "%c = arith.cmpf ogt, %x, %y : f32\n    %s = arith.select %c, %x, %y : f32"


@pytest.mark.parametrize(
    ("parts", "body", "bits", "zeros"),
    [
        (_WHOLE, "%s = arith.addf %x, %y : f32", False, False),
        (_WHOLE, "%s = arith.maximumf %x, %y : f32", True, True),
        (_WHOLE, "%s = arith.minnumf %x, %y : f32", True, False),
        (_WHOLE, _GREATER, False, False),  # of NaNs, the order decides
        (_EACH, "%s = arith.addf %x, %y : f32", True, True),
        (_EACH, "%s = math.exp %x : f32", True, True),
        ({**_WHOLE, "type": "i32"}, "%s = arith.addi %x, %y : i32", True, True),
    ],
)
def test_loops_of_linalg(parts: dict[str, str], body: str, bits: bool, zeros: bool) -> None:
    module = ProgramReader().read(_LINALG.format(**parts, body=body))
    found = strictness(module, module, "f")
    assert (found.bits, found.zeros) == (bits, zeros)


@pytest.mark.parametrize(
    ("line", "bits"),
    [
        ("linalg.copy ins(%m : memref<4xi32>) outs(%m : memref<4xi32>)", True),
        (
            "linalg.matmul ins(%a, %a : memref<4x4xf32>, memref<4x4xf32>)"
            " outs(%a : memref<4x4xf32>)",
            False,
        ),
        ("linalg.fill ins(%x : f32) outs(%a : memref<4x4xf32>)", True),
        ("%r = math.ctpop %i : i32", True),
        ("%r = math.roundeven %x : f32", True),
        (
            "%r = vector.outerproduct %v, %v, %w {kind = #vector.kind<add>}"
            " : vector<4xf32>, vector<4xf32>",
            False,
        ),
        ("%r = vector.outerproduct %v, %v, %w : vector<4xf32>, vector<4xf32>", False),
        (
            "%r = vector.multi_reduction <maximumf>, %w, %v [0] : vector<4x4xf32> to vector<4xf32>",
            True,
        ),
        (
            "%r:2 = vector.scan <add>, %w, %v {inclusive = false, reduction_dim = 0 : i64}"
            " : vector<4x4xf32>, vector<4xf32>",
            False,
        ),
        ("scf.parallel (%p) = (%c) to (%c) step (%c) { scf.reduce }", True),
        (
            "scf.parallel (%p) = (%c) to (%c) step (%c) {\n"
            "memref.atomic_rmw addf %x, %a[%c, %c] : (f32, memref<4x4xf32>) -> f32\n}",
            False,
        ),
        ("memref.atomic_rmw addf %x, %a[%c, %c] : (f32, memref<4x4xf32>) -> f32", True),
        (
            'affine.parallel (%p) = (0) to (8) reduce ("addf") -> (f32) { affine.yield %x : f32 }',
            False,
        ),
        (
            'affine.parallel (%p) = (0) to (8) reduce ("maximumf") -> (f32)'
            " { affine.yield %x : f32 }",
            True,
        ),
    ],
)
def test_what_opens_the_order(line: str, bits: bool) -> None:
    text = f"""
func.func @f(%m: memref<4xi32>, %a: memref<4x4xf32>, %i: i32, %x: f32, %v: vector<4xf32>,
             %w: vector<4x4xf32>, %c: index) {{
  {line}
  return
}}
"""
    module = ProgramReader().read(text)
    assert strictness(module, module, "f").bits is bits


_APPROXIMATED = """
func.func @f(%x: f32, %y: f32) -> f32 {{
  %one = arith.constant {one} : f32
  %e = math.{name} %x : f32
  %p = arith.mulf %e, %one {flags} : f32
  return %p : f32
}}
"""


@pytest.mark.parametrize(
    ("flags", "after", "bits"),
    [
        ("", {}, True),
        ("fastmath<nnan>", {}, True),
        ("fastmath<nsz>", {}, False),
        ("", {"name": "expm1"}, False),
    ],
)
def test_the_same_approximations_open_nothing(
    flags: str, after: dict[str, str], bits: bool
) -> None:
    """A difference as small as that of another approximation is one."""
    usual = {"one": "1.0", "name": "exp", "flags": flags}
    texts = [_APPROXIMATED.format(**usual | each) for each in ({}, {"one": "1.00001"} | after)]
    before, changed = map(ProgramReader().read, texts)
    assert strictness(before, changed, "f").bits is bits
    if not after:  # without real runs, nothing confirms a difference
        assert _verdict(*texts) == ("unknown" if bits else "equivalent")


_ACCESS = """
func.func @f(%m: memref<8xi32>{argument}, %x: i32) {{
  %c0 = arith.constant 0 : index
  {line}
  %a = memref.alloc() {{alignment = {made} : i64}} : memref<8xi32>
  memref.store %x, %a[%c0] {{alignment = {stored} : i64}} : memref<8xi32>
  memref.copy %a, %m : memref<8xi32> to memref<8xi32>
  return
}}
"""
_NATURAL = "memref.store %x, %m[%c0] {alignment = 4 : i64} : memref<8xi32>"
_PLAIN = {"argument": "", "line": "", "made": "16", "stored": "4"}


@pytest.mark.parametrize(
    ("change", "alignment"),
    [
        ({"stored": "64"}, 64),
        ({"made": "2"}, 4),
        ({"argument": " {llvm.align = 32 : i64}"}, 32),
        (
            {"line": "%n = memref.assume_alignment %m, 64 : memref<8xi32>"},
            64,
        ),
    ],
)
def test_an_alignment_that_an_action_adds_is_not_checked(
    change: dict[str, str], alignment: int
) -> None:
    before, after = (_ACCESS.format(**_PLAIN | each) for each in ({}, change))
    (found,) = ModuleJudge(JudgementLimits(seconds=5)).judge(Query(before, after))
    assert found.verdict == "unknown"
    assert f", if memory is aligned to {alignment} bytes as the action says" in found.detail


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"stored": "16"}),  # its memory is made so
        ({"stored": "64"}, {}),
        ({"argument": " {llvm.align = 32 : i64}"}, {}),
        ({"line": "memref.store %x, %m[%c0] : memref<8xi32>"}, {"line": _NATURAL}),
    ],
)
def test_an_alignment_that_memory_has_may_be_relied_on(
    before: dict[str, str], after: dict[str, str]
) -> None:
    texts = [_ACCESS.format(**_PLAIN | each) for each in (before, after)]
    assert _verdict(*texts) == "equivalent"


def test_an_alignment_of_other_memory_does_not_count() -> None:
    line = "memref.store %x, %m[%c0] {{alignment = {} : i64}} : memref<8xi32>"
    before, after = (
        _ACCESS.format(**_PLAIN | {"made": "64", "line": line.format(each)}) for each in (4, 64)
    )
    assert _verdict(before, after) == "unknown"
    assert _verdict(after, before) == "equivalent"


def test_a_flag_of_one_operation_does_not_allow_that_of_another() -> None:
    text = """
func.func @f(%x: f32, %y: f32) -> f32 {{
  %p = arith.mulf %x, %y fastmath<nnan> : f32
  %s = arith.addf %p, %y {flags} : f32
  return %s : f32
}}
"""
    before, after = text.format(flags=""), text.format(flags="fastmath<nsz,reassoc>")
    assert _verdict(before, after) == "unknown"


@pytest.mark.parametrize("flag", ["nsz", "contract", "reassoc", "fast"])
def test_a_pass_does_not_allow_other_results(flag: str) -> None:
    text = """
func.func @f(%x: f32, %y: f32) -> f32 {{
  %s = arith.addf %x, %y {flags} : f32
  return %s : f32
}}
"""
    before, after = text.format(flags=""), text.format(flags=f"fastmath<{flag}>")
    assert _verdict(before, after) == "unknown"
    assert _verdict(after, before) == "equivalent"
    assert _verdict(after, after.replace("%x, %y", "%y, %x")) == "equivalent"


_FLAGGED = """
func.func @f(%x: f32, %y: f32, %v: vector<4xf32>) -> f32 {{
  %z = complex.create %x, %y : complex<f32>
  %r = {operation}
  return %r : f32
}}
"""


@pytest.mark.parametrize("flag", ["nnan", "ninf"])
@pytest.mark.parametrize(
    ("operation", "verdict"),
    [
        ("complex.re %z {} : complex<f32>", "different"),
        ("complex.im %z {} : complex<f32>", "different"),
        # The order is open: inputs are small whole numbers.
        ("vector.reduction <add>, %v {} : vector<4xf32> into f32", "unknown"),
    ],
)
def test_a_flag_that_excludes_numbers(operation: str, verdict: str, flag: str) -> None:
    before, after = (
        _FLAGGED.format(operation=operation.format(flags)) for flags in ("", f"fastmath<{flag}>")
    )
    assert _verdict(before, after) == verdict
    assert _verdict(after, before) == "equivalent"


@pytest.mark.parametrize("flag", ["nnan", "ninf"])
def test_a_conjugate_excludes_numbers_of_both_parts(flag: str) -> None:
    text = """
func.func @f(%x: f32, %y: f32) -> f32 {{
  %z = complex.create %x, %y : complex<f32>
  %c = complex.conj %z {} : complex<f32>
  %r = complex.re %c : complex<f32>
  return %r : f32
}}
"""
    before, after = text.format(""), text.format(f"fastmath<{flag}>")
    assert _verdict(before, after) == "different"
    assert _verdict(after, before) == "equivalent"


_BESIDE = """
func.func @f(%v: vector<4xf32>, %x: f32, %y: f32) -> (f32, f32) {{
  %s = vector.reduction <add>, %v : vector<4xf32> into f32
  %m = arith.{maximum} : f32
  return %s, %m : f32, f32
}}
"""


@pytest.mark.parametrize(
    ("maximum", "verdict"), [("maximumf %y, %x", "equivalent"), ("maxnumf %x, %y", "unknown")]
)
def test_an_exact_value_beside_an_open_one_is_judged_alone(maximum: str, verdict: str) -> None:
    """The inputs of the whole have no NaNs, for which the two maxima differ."""
    before, after = (_BESIDE.format(maximum=each) for each in ("maximumf %x, %y", maximum))
    assert _verdict(before, after) == verdict
