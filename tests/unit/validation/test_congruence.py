"""Functions compared by what computes their values, and the pieces that are left."""

from __future__ import annotations

import random

import pytest

from actiondbg.validation.function_judge import FunctionJudge
from actiondbg.validation.function_judgement import FunctionJudgement, JudgementLimits, Query
from actiondbg.validation.module_judge import ModuleJudge
from actiondbg.validation.pieces import NotScaled, Uncut, cuts, scaled
from actiondbg.validation.program import Function, FunctionPair
from actiondbg.validation.program_reader import ProgramReader
from actiondbg.validation.proof.refinement import Refuted, prove
from actiondbg.validation.scalar_operations import BY_NAME

READER = ProgramReader()
HEAD = (
    "func.func @f(%x: i32, %y: i32, %m: memref<4xi32>) -> i32 {\n%c0 = arith.constant 0 : index\n"
)


def function(body: str) -> Function:
    return READER.read(f"{HEAD}{body}\n}}").functions["f"]


ORIGINAL = """
%a = arith.addi %x, %y : i32
%b = arith.addi %x, %y : i32
%dead = arith.muli %b, %b : i32
memref.store %a, %m[%c0] : memref<4xi32>
%c = arith.muli %a, %b : i32
return %c : i32
"""
SAME = {
    "an operation twice": """
%a = arith.addi %x, %y : i32
memref.store %a, %m[%c0] : memref<4xi32>
%c = arith.muli %a, %a : i32
return %c : i32
""",
    "another order": """
%a = arith.addi %x, %y : i32
%c = arith.muli %a, %a : i32
%zero = arith.constant 0 : index
memref.store %a, %m[%zero] : memref<4xi32>
return %c : i32
""",
}
OTHER = {
    "no store": """
%a = arith.addi %x, %y : i32
%c = arith.muli %a, %a : i32
return %c : i32
""",
    "a division that may trap": """
%a = arith.addi %x, %y : i32
%q = arith.divsi %x, %y : i32
memref.store %a, %m[%c0] : memref<4xi32>
%c = arith.muli %a, %a : i32
return %c : i32
""",
    "another store": """
%a = arith.addi %x, %y : i32
memref.store %a, %m[%c0] : memref<4xi32>
memref.store %x, %m[%c0] : memref<4xi32>
%c = arith.muli %a, %a : i32
return %c : i32
""",
}


@pytest.mark.parametrize("name", SAME)
def test_nothing_is_left(name: str) -> None:
    assert cuts(function(ORIGINAL), function(SAME[name])) == []


REORDERED = {
    "vector<2x4xi32>": [
        "vector.scan <add>, %w, %v {inclusive = false, reduction_dim = 0 : i64}"
        " : vector<2x4xi32>, vector<4xi32>",
        "vector.scan <mul>, %w, %v {inclusive = false, reduction_dim = 0 : i64}"
        " : vector<2x4xi32>, vector<4xi32>",
    ],
    "i32": ["llvm.mul %x, %x : i32", "llvm.mlir.poison : i32"],
    "i64": [
        "builtin.unrealized_conversion_cast %n : index to i64",
        "builtin.unrealized_conversion_cast %k : index to i64",
    ],
}


@pytest.mark.parametrize("type", REORDERED)
def test_pure_operations_have_no_order(type: str) -> None:
    arguments = "%v: vector<4xi32>, %w: vector<2x4xi32>, %x: i32, %n: index, %k: index"
    count = ":2" if "vector" in type else ":1"
    lines = [f"%{name}{count} = {each}\n" for name, each in zip("ab", REORDERED[type], strict=True)]
    before, after = (
        READER.read(
            f"func.func @f({arguments}) -> ({type}, {type}) {{\n"
            f"{''.join(each)} return %a#0, %b#0 : {type}, {type}\n}}"
        ).functions["f"]
        for each in (lines, lines[::-1])
    )
    assert cuts(before, after) == []


DIVISIONS = sorted(name for name, each in BY_NAME.items() if each.is_division)


@pytest.mark.parametrize("name", [*DIVISIONS, "math.ipowi"])
def test_a_division_that_may_trap_is_not_free(name: str) -> None:
    value, type = ("%c0", "index") if name.startswith("index.") else ("%x", "i32")
    line = f'%q = "{name}"({value}, {value}) : ({type}, {type}) -> {type}\n'
    with pytest.raises(Uncut):
        cuts(function("return %x : i32"), function(f"{line}return %x : i32"))


def test_threads_that_insert_other_slices_are_not_the_same() -> None:
    text = """
func.func @f(%a: tensor<2xi32>, %o: tensor<6xi32>) -> tensor<6xi32> {{
  %r = scf.forall (%i) in (1) shared_outs(%out = %o) -> (tensor<6xi32>) {{
    scf.forall.in_parallel {{
      tensor.parallel_insert_slice %a into %out[{}] [2] [1] : tensor<2xi32> into tensor<6xi32>
    }}
  }}
  return %r : tensor<6xi32>
}}
"""
    assert judged(text.format(0), text.format(1)).verdict == "different"


@pytest.mark.parametrize("name", OTHER)
def test_effects_are_not_cut(name: str) -> None:
    with pytest.raises(Uncut):
        cuts(function(ORIGINAL), function(OTHER[name]))


def test_a_dead_division_may_go() -> None:
    divides = "%q = arith.divsi %x, %y : i32\nreturn %x : i32"
    assert cuts(function(divides), function("return %x : i32")) == []


def test_a_changed_value_is_cut_out() -> None:
    changed = ORIGINAL.replace("arith.muli %a, %b", "arith.muli %b, %twice").replace(
        "%c = ", "%one = arith.constant 1 : i32\n%twice = arith.shli %a, %one : i32\n%c = "
    )
    (cut,) = cuts(function(ORIGINAL), function(changed))
    # The common value, x + y, is the argument.
    assert [str(each) for each in cut.before.functions["cut"].inputs] == ["i32"]


# Of tensors that are too large to be interpreted.
TENSORS = """
func.func @f(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>) -> tensor<512x512xf32> {{
  %e = tensor.empty() : tensor<512x512xf32>
  %r = linalg.{name} ins(%{left}, %{right} : tensor<512x512xf32>, tensor<512x512xf32>)
    outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
}}
"""


def judged(before: str, after: str) -> FunctionJudgement:
    (found,) = ModuleJudge(JudgementLimits(seconds=5)).judge(Query(before, after))
    return found


def test_large_tensors_are_judged_by_small_ones() -> None:
    before = TENSORS.format(name="add", left="a", right="b")
    same = judged(before, TENSORS.format(name="add", left="b", right="a"))
    assert (same.verdict, same.evidence) == ("equivalent", "execution")
    other = judged(before, TENSORS.format(name="sub", left="a", right="b"))
    assert other.verdict == "unknown"


# A sum of two large memrefs, as a structured operation, as a loop, and as a graph of blocks.
MAP = "affine_map<(d0, d1) -> (d0, d1)>"
LARGE = "memref<512x300xf32>"
SUM = f"""
func.func @f(%a: {LARGE}, %b: {LARGE}, %r: {LARGE}) {{
  linalg.generic {{indexing_maps = [{MAP}, {MAP}, {MAP}],
      iterator_types = ["parallel", "parallel"]}}
      ins(%a, %b : {LARGE}, {LARGE}) outs(%r : {LARGE}) {{
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  }}
  return
}}
"""
LOOPS = """
func.func @f(%a: memref<512x300xf32>, %b: memref<512x300xf32>, %r: memref<512x300xf32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = arith.constant {rows} : index
  %columns = arith.constant {columns} : index
  scf.for %i = %c0 to %rows step %c1 {{
    scf.for %j = %c0 to %columns step %c1 {{
      %x = memref.load %a[%i, %j] : memref<512x300xf32>
      %y = memref.load %b[%i, %j] : memref<512x300xf32>
      %s = arith.addf %x, %y : f32
      memref.store %s, %r[%i, {column}] : memref<512x300xf32>
    }}
  }}
  return
}}
"""
BLOCKS = """
func.func @f(%a: memref<512x300xf32>, %b: memref<512x300xf32>, %r: memref<512x300xf32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = arith.constant 512 : index
  %columns = arith.constant 300 : index
  cf.br ^rows(%c0 : index)
^rows(%i: index):
  %more = arith.cmpi slt, %i, %rows : index
  cf.cond_br %more, ^columns(%c0 : index), ^end
^columns(%j: index):
  %left = arith.cmpi {compared}, %j, %columns : index
  cf.cond_br %left, ^body, ^next
^body:
  %x = memref.load %a[%i, %j] : memref<512x300xf32>
  %y = memref.load %b[%i, %j] : memref<512x300xf32>
  %s = arith.addf %x, %y : f32
  memref.store %s, %r[%i, %j] : memref<512x300xf32>
  %j1 = arith.addi %j, %c1 : index
  cf.br ^columns(%j1 : index)
^next:
  %i1 = arith.addi %i, %c1 : index
  cf.br ^rows(%i1 : index)
^end:
  return
}}
"""


def test_loops_over_large_memrefs_are_judged_by_small_ones() -> None:
    right = [LOOPS.format(rows=512, columns=300, column="%j"), BLOCKS.format(compared="slt")]
    for text in right:
        found = judged(SUM, text)
        assert (found.verdict, found.evidence) == ("equivalent", "execution")
        assert "smaller sizes" in found.detail
    wrong = [
        LOOPS.format(rows=300, columns=300, column="%j"),
        LOOPS.format(rows=512, columns=299, column="%j"),
        LOOPS.format(rows=512, columns=300, column="%c0"),
        BLOCKS.format(compared="sle"),
        BLOCKS.format(compared="sgt"),
    ]
    assert {judged(SUM, text).verdict for text in wrong} == {"unknown"}


SQUARES = "(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %c: tensor<512x512xf32>)"
MATMUL = f"""
func.func @f{SQUARES} -> tensor<512x512xf32> {{
  %r = linalg.matmul ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>)
    outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
}}
"""
GENERIC = """
#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> ({right})>
#out = affine_map<(i, j, k) -> (i, j)>
func.func @f{squares} -> tensor<512x512xf32> {{
  %r = linalg.generic {{indexing_maps = [#left, #right, #out],
      iterator_types = ["parallel", "parallel", "{loop}"]}}
      ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>)
      outs(%c : tensor<512x512xf32>) {{
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.{combined} %z, %p : f32
    linalg.yield %s : f32
  }} -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
}}
"""


@pytest.mark.parametrize(
    ("right", "combined", "loop", "verdict"),
    [
        ("k, j", "addf", "reduction", "equivalent"),
        ("j, k", "addf", "reduction", "unknown"),
        ("k, j", "subf", "reduction", "unknown"),
    ],
)
def test_a_named_operation_is_a_generic_one(
    right: str, combined: str, loop: str, verdict: str
) -> None:
    generic = GENERIC.format(right=right, combined=combined, loop=loop, squares=SQUARES)
    found = judged(MATMUL, generic)
    assert found.verdict == verdict
    assert (found.evidence == "proof") == (verdict == "equivalent")


def test_a_reduction_that_becomes_parallel_is_not_the_same() -> None:
    kept, wrong = (
        GENERIC.format(right="k, j", combined="addf", loop=loop, squares=SQUARES)
        for loop in ("reduction", "parallel")
    )
    assert judged(kept, wrong).verdict == "unknown"
    assert judged(MATMUL, wrong).verdict == "unknown"


def test_sizes_that_matter_are_kept() -> None:
    text = """
func.func @f(%a: tensor<512xf32>) -> tensor<512xf32> {
  %c = arith.constant 511 : index
  %x = tensor.extract %a[%c] : tensor<512xf32>
  %e = tensor.empty() : tensor<512xf32>
  %r = linalg.fill ins(%x : f32) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  return %r : tensor<512xf32>
}
"""
    module = READER.read(text)
    with pytest.raises(NotScaled):
        scaled(FunctionPair("f", module, module))


_NAMES = ("addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minui")


def random_body(random: random.Random, count: int) -> list[str]:
    lines: list[str] = []
    values = ["%x", "%y"]
    for at in range(count):
        left, right = random.choice(values[-6:]), random.choice(values)
        lines.append(f"%v{at} = arith.{random.choice(_NAMES)} {left}, {right} : i8")
        values.append(f"%v{at}")
        if not at % 5:
            lines.append(f"memref.store %v{at}, %m[%c0] : memref<4xi8>")
    return [*lines, f"return {values[-1]} : i8"]


def mutated(random: random.Random, body: list[str]) -> list[str]:
    """Return a body with another operation, or with the operands of one exchanged."""
    changed = list(body)
    at = random.choice([at for at, line in enumerate(body) if "arith" in line])
    result, _, rest = changed[at].partition(" = arith.")
    name, _, operands = rest.partition(" ")
    if random.random() < 0.5:
        changed[at] = f"{result} = arith.{random.choice(_NAMES)} {operands}"
        return changed
    pair, _, kind = operands.partition(" : ")
    left, right = pair.split(", ")
    changed[at] = f"{result} = arith.{name} {right}, {left} : {kind}"
    return changed


@pytest.mark.parametrize("seed", range(24))
def test_pieces_never_hide_a_difference(seed: int) -> None:
    """What the pieces call the same is so on all 65,536 arguments of the solver."""
    chooser = random.Random(seed)
    head = (
        "func.func @f(%x: i8, %y: i8, %m: memref<4xi8>) -> i8 {\n%c0 = arith.constant 0 : index\n"
    )
    body = random_body(chooser, 20)
    before, after = (
        READER.read("\n".join((head, *lines, "}"))) for lines in (body, mutated(chooser, body))
    )
    by_pieces = FunctionJudge(
        FunctionPair("f", before, after), JudgementLimits(seconds=10)
    )._by_cuts()
    is_refuted = isinstance(prove(before, after, "f"), Refuted)
    assert not (is_refuted and by_pieces is not None)


_MASKED = """\
func.func private @ext(memref<4xi32>)
func.func @f(%m: vector<4xi1>, %v: vector<4xi32>, %a: i32, %o: memref<4xi32>) -> (i32, i32) {{
  {call}
  {first} = vector.reduction <add>, %v, %a : vector<4xi32> into i32
  {second} = vector.mask %m {{ {inner} }} : vector<4xi1> -> i32
  return %r, %u : i32, i32
}}
"""
_REDUCTION = "vector.reduction <add>, %v, %a : vector<4xi32> into i32"
_CALL = "call @ext(%o) : (memref<4xi32>) -> ()"


@pytest.mark.parametrize("call", ["", _CALL])
@pytest.mark.parametrize("back", [False, True])
def test_an_operation_in_a_mask_is_none_outside(call: str, back: bool) -> None:
    """Common subexpression elimination takes a reduction out of its mask."""
    before = _MASKED.format(call=call, first="%u", second="%r", inner=_REDUCTION)
    after = _MASKED.format(call=call, first="%u", second="%r", inner="vector.yield %u : i32")
    found = judged(*((after, before) if back else (before, after)))
    assert found.verdict == ("unknown" if call else "different")


def test_a_piece_keeps_its_mask() -> None:
    body = """\
func.func private @ext(memref<4xi32>)
func.func @f(%a: i32, %b: i32, %m: vector<4xi1>, %o: memref<4xi32>) -> i32 {{
  call @ext(%o) : (memref<4xi32>) -> ()
  %z = arith.constant 0 : i32
  %v = vector.from_elements {operands}, %z, %z : vector<4xi32>
  %r = vector.mask %m {{ {reduction} }} : vector<4xi1> -> i32
  return %r : i32
}}
"""
    before, after = (
        body.format(operands=operands, reduction=_REDUCTION.replace("%a", "%z"))
        for operands in ("%a, %b", "%b, %a")
    )
    assert judged(before, after).verdict == "unknown"


_CHOICE = """\
func.func @f(%x: i32) -> i32 {{
  %t = ub.poison : i1
  %a = arith.constant {first} : i32
  %b = arith.constant {second} : i32
  %r = {result}
  return %r : i32
}}
"""


@pytest.mark.parametrize(("first", "second"), [(5, 5), (5000, 5000), (5, 7)])
def test_a_choice_by_poison_is_poison(first: int, second: int) -> None:
    chosen, known = (
        _CHOICE.format(first=first, second=second, result=result)
        for result in ("arith.select %t, %a, %b : i32", "arith.constant 0 : i32")
    )
    assert judged(chosen, known).verdict == "equivalent"
    assert judged(known, chosen).verdict == "different"
    same, other = (
        _CHOICE.format(first=first, second=second, result=result)
        for result in ("arith.select %t, %x, %x : i32", "arith.addi %x, %a : i32")
    )
    assert judged(same, other).verdict == "equivalent"
    assert judged(other, same).verdict == "different"


def test_an_input_without_a_meaning_is_left_out() -> None:
    """A product of no lanes has none; other inputs show the difference."""
    body = """\
func.func @f(%a: i32, %b: i32) -> (i32, i32) {{
  %q = arith.constant 7 : i32
  %bb = arith.andi %b, %q : i32
  %i = arith.index_castui %bb : i32 to index
  %t = vector.create_mask %i : vector<4xi1>
  %v = vector.broadcast %a : i32 to vector<4xi32>
  %r = vector.mask %t {{
    vector.reduction <mul>, %v : vector<4xi32> into i32
  }} : vector<4xi1> -> i32
  %c = arith.constant 3 : i32
  %eq = arith.cmpi {predicate}, %b, %c : i32
  %x = arith.select %eq, %a, %b : i32
  return %r, %x : i32, i32
}}
"""
    before, after = (body.format(predicate=each) for each in ("uge", "ugt"))
    found = judged(before, after)
    assert found.verdict == "different"
    assert found.detail.startswith("result 1: ")


# Values in a program may be poison, and indices in it larger than an argument's.
_PIECES_THAT_DIFFER = {
    "a choice that hides poison": (
        "arith.cmpi slt, %s, %i : index",
        ("arith.select %c, %x, %false : i1", "arith.andi %c, %x : i1"),
    ),
    "a large index": (
        "arith.cmpi slt, %s, %i : index",
        ("arith.cmpi slt, %p, %i : index", "arith.cmpi slt, %q, %i : index"),
    ),
}


@pytest.mark.parametrize("name", _PIECES_THAT_DIFFER)
def test_a_piece_begins_with_any_values(name: str) -> None:
    condition, results = _PIECES_THAT_DIFFER[name]
    before, after = (
        f"""\
func.func @f(%c: i1, %i: index, %j: index) -> i1 {{
  %unknown = "foo.region"(%i) ({{ "foo.end"() : () -> () }}) : (index) -> i1
  %false = arith.constant false
  %s = arith.addi %i, %j overflow<nsw> : index
  %x = {condition}
  %p = arith.muli %i, %j : index
  %n = arith.index_cast %p : index to i32
  %q = arith.index_cast %n : i32 to index
  %r = {result}
  return %r : i1
}}
"""
        for result in results
    )
    assert judged(before, after).verdict == "unknown"


@pytest.mark.parametrize(
    "line", ["", '"foo.region"(%x) ({ "foo.end"() : () -> () }) : (i64) -> ()']
)
def test_poison_divided_by_minus_one_may_be_any_number_so_divided(line: str) -> None:
    """A piece of the dividend alone and the whole function say the same."""
    before, after = (
        f"""\
func.func @f(%x: i64, %y: i32) {{
  {line}
  %n = arith.trunci %x {flags} : i64 to i32
  %r = arith.divsi %n, %y : i32
  return
}}
"""
        for flags in ("overflow<nsw>", "")
    )
    assert judged(before, after).verdict == "equivalent"


@pytest.mark.parametrize(("index", "is_proved"), [("%k", True), ("%p", False)])
def test_a_piece_of_what_counts_is_as_small_as_an_argument(index: str, is_proved: bool) -> None:
    before, after = (
        f"""\
func.func @f(%i: index, %j: index, %m: memref<?xi32>) {{
  %p = "foo.region"(%i) ({{ "foo.end"() : () -> () }}) : (index) -> index
  %x = arith.constant 7 : i32
  affine.for %k = 0 to %i {{
    %s = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)>({index}, %j)
    %q = {line}
    memref.store %x, %m[%q] : memref<?xi32>
  }}
  return
}}
"""
        for line in (
            "affine.apply affine_map<(d0) -> (d0 * 4)>(%s)",
            f"affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1 * 4)>({index}, %j)",
        )
    )
    assert (judged(before, after).evidence == "proof") == is_proved


_HOISTED = """\
func.func @f(%c: i1, %a: tensor<4xi32>, %b: tensor<4xi32>, %i: index) -> tensor<4xi32> {{
  {early}
  %r = scf.if %c -> tensor<4xi32> {{
    {late}
    scf.yield %d : tensor<4xi32>
  }} else {{
    scf.yield %a : tensor<4xi32>
  }}
  return %r : tensor<4xi32>
}}
"""
_BODIES_THAT_MAY_TRAP = {
    "a division": """%d = linalg.map { arith.divsi }
      ins(%a, %b : tensor<4xi32>, tensor<4xi32>) outs(%a : tensor<4xi32>)""",
    "a vector": """%x = arith.constant 0 : i32
    %v = vector.transfer_read %a[%i], %x {in_bounds = [true]} : tensor<4xi32>, vector<2xi32>
    %d = vector.transfer_write %v, %a[%i] {in_bounds = [true]} : vector<2xi32>, tensor<4xi32>""",
    "an element": """%d = tensor.generate {
    ^bb0(%at: index):
      %e = tensor.extract %a[%i] : tensor<4xi32>
      tensor.yield %e : i32
    } : tensor<4xi32>""",
}


@pytest.mark.parametrize("name", _BODIES_THAT_MAY_TRAP)
def test_an_operation_with_a_body_that_may_trap_stays(name: str) -> None:
    body = _BODIES_THAT_MAY_TRAP[name]
    early, late = _HOISTED.format(early=body, late=""), _HOISTED.format(early="", late=body)
    assert judged(early, late).verdict == "equivalent"
    assert judged(late, early).verdict == "different"


_DIVIDED = """
func.func @f(%a: tensor<8xi32>, %n: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = arith.constant {divisor} : i32
  {early}
  scf.for %i = %c0 to %n step %c1 {{
    {late}
    "foo.use"(%0) ({{ "foo.end"() : () -> () }}) : (tensor<8xi32>) -> ()
  }}
  return
}}
"""
_MAP = """%0 = linalg.map ins(%a : tensor<8xi32>) outs(%a : tensor<8xi32>) (%in: i32, %out: i32) {
    %q = arith.divsi %in, %k : i32
    linalg.yield %q : i32
  }"""


@pytest.mark.parametrize(("divisor", "is_proved"), [(8, True), (0, False), (-1, False)])
def test_a_division_by_a_constant_that_never_traps_is_free(divisor: int, is_proved: bool) -> None:
    before = _DIVIDED.format(divisor=divisor, early="", late=_MAP)
    after = _DIVIDED.format(divisor=divisor, early=_MAP, late="")
    assert (judged(before, after).verdict == "equivalent") is is_proved


def test_an_operation_that_may_trap_is_the_same_as_its_copy() -> None:
    use = '"foo.use"(%{}) ({{ "foo.end"() : () -> () }}) : (i32) -> ()'
    text = """
func.func @f(%a: i32, %b: i32, %d: i32) {{
  %p = arith.divsi %a, %b : i32
  {}
  {}
  return
}}
"""
    again = "%q = arith.divsi %a, %{} : i32\n  {}"
    after = text.format(use.format("p"), use.format("p"))
    same = text.format(use.format("p"), again.format("b", use.format("q")))
    other = text.format(use.format("p"), again.format("d", use.format("q")))
    assert judged(same, after).verdict == "equivalent"
    assert judged(other, after).verdict == "unknown"


def test_a_variable_of_a_loop_is_as_large_as_its_bounds() -> None:
    text = """
func.func @f(%i: index, %j: index, %m: memref<?xindex>) {{
  "foo.x"() ({{ "foo.end"() : () -> () }}) : () -> ()
  %c1 = arith.constant 1 : index
  %p = arith.{bound} %i, %j : index
  %q = arith.addi %p, %c1 : index
  scf.for %k = %p to %q step %c1 {{
    %n = arith.index_cast %k : index to i32
    %l = arith.index_cast %n : i32 to index
    memref.store {stored}, %m[%i] : memref<?xindex>
  }}
  return
}}
"""
    for bound, verdict in (("muli", "unknown"), ("addi", "equivalent")):
        texts = [text.format(bound=bound, stored=each) for each in ("%l", "%k")]
        assert judged(*texts).verdict == verdict
