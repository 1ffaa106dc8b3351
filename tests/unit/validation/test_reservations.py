"""What neither runs nor proofs see: atomic accesses, pointers, flags, NaNs, memory of llvm."""

from __future__ import annotations

import struct

import pytest

from actiondbg.validation.function_judgement import JudgementLimits, Query
from actiondbg.validation.module_judge import ModuleJudge
from actiondbg.validation.program import Module
from actiondbg.validation.program_reader import ProgramReader
from actiondbg.validation.reservations import reservation

_READER = ProgramReader()
_THREADS = "but nothing shows what other threads see of atomic and volatile accesses"
_MEMORY = "but nothing shows the memory of @g"
_NANS = "but the program has other NaN constants after the action"


def _function(*lines: str, rest: str = "") -> Module:
    body = "\n".join(lines)
    return _READER.read(
        f"{rest}\nllvm.func @f(%x: i32, %p: !llvm.ptr) -> i32 {{\n"
        f"%one = llvm.mlir.constant(1 : i32) : i32\n{body}\n}}"
    )


def _reservation(before: Module, after: Module, *, is_proved: bool = False) -> str:
    return reservation(before, after, "f", is_proved=is_proved, is_run=not is_proved)


_STORE = "llvm.store %x, %p : i32, !llvm.ptr"
_LOAD = "%v = llvm.load %p : !llvm.ptr -> i32"
_RETURN = "llvm.return %v : i32"
_ADD = "%v = llvm.atomicrmw add %p, %x seq_cst : !llvm.ptr, i32"
_RELEASE = "llvm.store %x, %p atomic release {alignment = 4 : i64} : i32, !llvm.ptr"
_SWAP = (
    "%s = llvm.cmpxchg %p, %x, %one acq_rel monotonic : !llvm.ptr, i32\n"
    "%v = llvm.extractvalue %s[0] : !llvm.struct<(i32, i1)>"
)
_OTHER_SHARED = {
    "a weaker order": ((_ADD, _RETURN), (_ADD.replace("seq_cst", "monotonic"), _RETURN)),
    "another atomic operation": ((_ADD, _RETURN), (_ADD.replace(" add", " sub"), _RETURN)),
    "a load and a store instead": (
        (_ADD, _RETURN),
        (_LOAD, "%w = llvm.add %v, %x : i32\nllvm.store %w, %p : i32, !llvm.ptr", _RETURN),
    ),
    "a store that is not atomic": ((_RELEASE, _LOAD, _RETURN), (_STORE, _LOAD, _RETURN)),
    "a volatile load": ((_LOAD.replace("load", "load volatile"), _RETURN), (_LOAD, _RETURN)),
    "no fence": ((_STORE, "llvm.fence seq_cst", _LOAD, _RETURN), (_STORE, _LOAD, _RETURN)),
    "a store before a fence": (
        (_LOAD, "llvm.fence seq_cst", _STORE, _RETURN),
        (_LOAD, _STORE, "llvm.fence seq_cst", _LOAD.replace("%v", "%w"), _RETURN),
    ),
    "one that may fail": ((_SWAP, _RETURN), (_SWAP.replace("cmpxchg", "cmpxchg weak"), _RETURN)),
}


@pytest.mark.parametrize("name", _OTHER_SHARED)
@pytest.mark.parametrize("is_proved", [False, True])
def test_what_other_threads_may_see_is_not_known(name: str, is_proved: bool) -> None:
    before, after = (_function(*each) for each in _OTHER_SHARED[name])
    assert _reservation(before, after, is_proved=is_proved) == _THREADS


_SAME_SHARED = {
    "another value that is stored": (
        (_RELEASE, _LOAD, _RETURN),
        ("%y = llvm.add %x, %one : i32", _RELEASE.replace("%x", "%y"), _LOAD, _RETURN),
    ),
    "another order of what is not shared": (
        (_STORE, _LOAD, _RETURN),
        (_LOAD, _STORE, _RETURN),
    ),
    "another alignment": (
        (_ADD, _RETURN),
        (_ADD.replace("seq_cst", "seq_cst {alignment = 4 : i64}"), _RETURN),
    ),
}


@pytest.mark.parametrize("name", _SAME_SHARED)
def test_the_same_accesses_are_no_doubt(name: str) -> None:
    before, after = (_function(*each) for each in _SAME_SHARED[name])
    assert _reservation(before, after) == ""


_ATOMIC = """
func.func @f(%m: memref<4xi32>, %x: i32) {{
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %y = arith.addi %x, %zero : i32
  {change}
  return
}}
"""
_CHANGE = "%r = memref.atomic_rmw addi {value}, %m[%c1] : (i32, memref<4xi32>) -> i32"
_GENERIC = """
  %r = memref.generic_atomic_rmw %m[%c1] : memref<4xi32> {
  ^a(%old: i32):
    %new = arith.addi %old, %x : i32
    memref.atomic_yield %new : i32
  }
"""
_APART = """
  %old = memref.load %m[%c1] : memref<4xi32>
  %new = arith.addi %old, %x : i32
  memref.store %new, %m[%c1] : memref<4xi32>
"""


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (_CHANGE.format(value="%y"), "equivalent"),
        (_GENERIC, "equivalent"),
        (_APART, "unknown"),
    ],
    ids=["same", "generic", "apart"],
)
def test_an_atomic_change_of_a_memref(change: str, verdict: str) -> None:
    before, after = (_ATOMIC.format(change=each) for each in (_CHANGE.format(value="%x"), change))
    (found,) = ModuleJudge(JudgementLimits(seconds=5, inputs=8)).judge(Query(before, after))
    assert found.verdict == verdict
    assert found.detail.endswith(_THREADS) == (verdict == "unknown")


def test_an_atomic_change_of_a_memref_orders_no_other_access() -> None:
    load = "%one = memref.load %m[%c1] : memref<4xi32>\n  "
    change = _CHANGE.format(value="%x")
    texts = [_ATOMIC.format(change=each) for each in (load + change, change)]
    (found,) = ModuleJudge(JudgementLimits(seconds=5, inputs=8)).judge(Query(*texts))
    assert (found.verdict, found.evidence) == ("equivalent", "proof")


_LOOP = """
func.func @f(%m: memref<4xi32>, %o: memref<4xi32>, %x: i32) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  scf.parallel (%i) = (%c0) to (%c3) step (%c1) {{
    {place}
    %r = memref.atomic_rmw addi %x, %m[%c1] : (i32, memref<4xi32>) -> i32
    memref.store %r, %o[%j] : memref<4xi32>
  }}
  return
}}
"""


def test_a_result_that_depends_on_the_order_of_iterations_is_not_run() -> None:
    places = ("%j = arith.addi %i, %c0 : index", "%j = arith.subi %c2, %i : index")
    before, after = (_LOOP.format(place=each) for each in places)
    (found,) = ModuleJudge(JudgementLimits(seconds=5)).judge(Query(before, after))
    assert found.verdict == "unknown"
    assert found.detail.endswith("the result of memref.atomic_rmw in a parallel loop")


_FLAGGED = {
    "nsw": ("%v = llvm.add %x, %x : i32", "%v = llvm.add %x, %x overflow<nsw> : i32"),
    "exact": ("%v = llvm.udiv %x, %one : i32", "%v = llvm.udiv exact %x, %one : i32"),
    "invariant": (_LOAD, _LOAD.replace("%p :", "%p invariant :")),
    "disjoint": ("%v = llvm.or %x, %one : i32", "%v = llvm.or disjoint %x, %one : i32"),
}


@pytest.mark.parametrize("flag", _FLAGGED)
def test_a_flag_that_only_the_action_says_is_not_run(flag: str) -> None:
    before, after = (_function(each, _RETURN) for each in _FLAGGED[flag])
    assert _reservation(before, after) == f"but the action says more of values ({flag})"
    assert _reservation(after, before) == ""
    assert _reservation(before, after, is_proved=True) == ""


_FAST = "%v = llvm.fadd %a, %a {fastmathFlags = #llvm.fastmath<reassoc>} : f32"
_FLOATS = "%a = llvm.sitofp %x : i32 to f32\n%b = llvm.fadd %a, %a : f32"
_WHOLE = "%w = llvm.fptosi %v : f32 to i32\nllvm.return %w : i32"


def test_a_flag_of_fast_math_on_one_more_operation_is_not_run() -> None:
    before = _function(_FLOATS, _FAST, _WHOLE)
    after = _function(_FLOATS.replace("%a, %a : f32", _FAST.partition("fadd ")[2]), _FAST, _WHOLE)
    assert _reservation(before, after) == "but the action allows other results (reassoc)"
    assert _reservation(after, before) == ""


_UNDEFINED = "%v = llvm.mlir.undef : i32"
_MAYBE = "%s = llvm.add %x, %x overflow<nsw> : i32\n%v = llvm.freeze %s : i32"
_POISON = {
    "one more freeze": ((_MAYBE,), (_MAYBE, "%w = llvm.freeze %s : i32")),
    "one freeze less": ((_MAYBE,), ("%v = llvm.add %x, %x overflow<nsw> : i32",)),
    "a value of no meaning": (("%v = llvm.add %x, %x : i32",), (_UNDEFINED,)),
    "poison for any number": ((_UNDEFINED,), (_UNDEFINED.replace("undef", "poison"),)),
}


@pytest.mark.parametrize("name", _POISON)
def test_poison_is_not_run(name: str) -> None:
    before, after = (_function(*each, _RETURN) for each in _POISON[name])
    assert _reservation(before, after) == "but no run shows what is poison"
    assert _reservation(before, before) == ""


_ASSUMED = '%c = llvm.icmp "ne" %x, %one : i32'
_UNSEEN = {
    "an assumption": ((_ASSUMED,), (_ASSUMED, "llvm.intr.assume %c : i1")),
    "a division": ((), ("%d = llvm.sdiv %one, %x : i32",)),
    "a block that is not reached": (
        ("llvm.br ^end", "^other:", "llvm.br ^end", "^end:"),
        ("llvm.br ^end", "^other:", "llvm.unreachable", "^end:"),
    ),
}


@pytest.mark.parametrize("name", _UNSEEN)
def test_what_is_undefined_is_not_run(name: str) -> None:
    before, after = (_function(*each, "llvm.return %x : i32") for each in _UNSEEN[name])
    assert _reservation(before, after) == "but no run shows what is undefined"
    assert _reservation(after, before) == ""


_ASSEMBLY = '%v = llvm.inline_asm has_side_effects "nop", "=r,0" %x : (i32) -> i32'
_OTHER_ASSEMBLY = {
    "without effects": _ASSEMBLY.replace("has_side_effects ", ""),
    "another text": _ASSEMBLY.replace("nop", "nop; nop"),
    "twice": f"{_ASSEMBLY}\n{_ASSEMBLY.replace('%v', '%w')}",
    "none": "%v = llvm.add %x, %one : i32",
}


@pytest.mark.parametrize("name", _OTHER_ASSEMBLY)
def test_effects_of_assembly_are_not_run(name: str) -> None:
    before, after = (_function(each, _RETURN) for each in (_ASSEMBLY, _OTHER_ASSEMBLY[name]))
    assert _reservation(before, after) == "but no run shows what else assembly does"


def test_assembly_that_stays_or_has_no_effects_is_run() -> None:
    kept = _function("%y = llvm.add %x, %one : i32", _ASSEMBLY.replace("%x", "%y"), _RETURN)
    assert not _reservation(_function(_ASSEMBLY, _RETURN), kept)
    without = _OTHER_ASSEMBLY["without effects"]
    assert not _reservation(_function(without, _RETURN), _function(_LOAD, _RETURN))


def test_a_division_by_a_number_is_run() -> None:
    before, after = (
        _function(*each, "llvm.return %x : i32")
        for each in ((), ("%d = llvm.sdiv %x, %one : i32",))
    )
    assert _reservation(before, after) == ""


@pytest.mark.parametrize(
    ("divisors", "is_defined"),
    [("[1, 2]", True), ("[0, 2]", False), ("[3, -1]", False), ("0", False), ("2", True)],
)
def test_a_division_by_numbers_is_run_if_none_is_undefined(divisors: str, is_defined: bool) -> None:
    constant = f"%c = llvm.mlir.constant(dense<{divisors}> : vector<2xi32>) : vector<2xi32>"
    division = "%d = llvm.sdiv %v, %c : vector<2xi32>"
    before, after = (
        _function("%v = llvm.mlir.undef : vector<2xi32>", constant, *each, "llvm.return %x : i32")
        for each in ((), (division,))
    )
    found = "" if is_defined else "but no run shows what is undefined"
    assert _reservation(before, after) == found


_PLACE = "%q = llvm.getelementptr %p[{at}] : (!llvm.ptr) -> !llvm.ptr, i32"


def test_another_place_is_not_run() -> None:
    near, far = (_PLACE.format(at=at) for at in (1, 9))
    load = _LOAD.replace("%p", "%q")
    before, after = (_function(each, load, _RETURN) for each in (near, far))
    assert _reservation(before, after) == "but no run checks that pointers stay in their memory"
    # A lowering makes the first ones.
    assert _reservation(_function(_LOAD, _RETURN), before) == ""


_GLOBAL = "llvm.mlir.global internal {kind}@g(0 : i32) : i32"
_ADDRESS = "%g = llvm.mlir.addressof @g : !llvm.ptr"


def test_the_memory_of_a_global_of_llvm_is_not_compared() -> None:
    written = (_ADDRESS, _STORE.replace("%p", "%g"), "llvm.return %x : i32")
    mutable, constant = (_GLOBAL.format(kind=kind) for kind in ("", "constant "))
    before = _function(*written, rest=mutable)
    after = _function("llvm.return %x : i32", rest=mutable)
    assert _reservation(before, after) == _MEMORY
    assert _reservation(before, before, is_proved=True) == ""
    read = (_ADDRESS, _LOAD.replace("%p", "%g"), _RETURN)
    assert _reservation(*(_function(*read, rest=constant),) * 2) == ""


_MEMREF = """
memref.global "private" @g : memref<1xi32> = dense<0>
func.func @f(%x: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %g = memref.get_global @g : memref<1xi32>
  memref.store %x, %g[%c0] : memref<1xi32>
  return %x : i32
}
"""
_LOWERED = """
llvm.mlir.global private @g(dense<0> : tensor<1xi32>) : !llvm.array<1 x i32>
llvm.func @f(%x: i32) -> i32 {
  llvm.return %x : i32
}
"""


def test_a_global_that_became_one_of_llvm_is_not_compared() -> None:
    (found,) = ModuleJudge(JudgementLimits(seconds=5)).judge(Query(_MEMREF, _LOWERED))
    assert found.verdict == "unknown"
    assert _MEMORY in found.detail


def _identity(
    type: str = "i8", *, kind: str = "", argument: str = "", result: str = "", says: str = ""
) -> str:
    returned = f"({type} {{{result}}})" if result else type
    given = f"{type} {{{argument}}}" if argument else type
    attributes = f" attributes {{{says}}}" if says else ""
    return f"func.func{kind} @f(%x: {given}) -> {returned}{attributes} {{\nreturn %x : {type}\n}}"


_MEMORY_TYPE = "memref<4xf32>"
_SAID = {
    "private": (_identity(), _identity(kind=" private"), "it becomes private"),
    "an argument": (
        _identity(_MEMORY_TYPE),
        _identity(_MEMORY_TYPE, argument="llvm.noalias"),
        "something else of @f (llvm.noalias)",
    ),
    "another value": (
        _identity(_MEMORY_TYPE, argument="bufferization.writable = false"),
        _identity(_MEMORY_TYPE),
        "something else of @f (bufferization.writable)",
    ),
    "a result": (
        _identity(result="llvm.zeroext"),
        _identity(result="llvm.signext"),
        "something else of @f (llvm.signext, llvm.zeroext)",
    ),
    "the function": (
        _identity(),
        _identity(says='passthrough = ["noreturn"]'),
        "something else of @f (passthrough)",
    ),
}


@pytest.mark.parametrize("name", _SAID)
def test_what_an_action_says_of_a_function_is_not_known(name: str) -> None:
    before, after, why = _SAID[name]
    (judgement,) = ModuleJudge().judge(Query(before, after))
    assert judgement.verdict == "unknown"
    assert why in judgement.detail


def test_what_an_action_says_of_a_callee_is_not_known() -> None:
    text = """
func.func private @g(i32) -> i32{}
func.func @f(%x: i32) -> i32 {{
  %r = func.call @g(%x) : (i32) -> i32
  return %r : i32
}}
"""
    query = Query(text.format(""), text.format(" attributes {llvm.readnone}"))
    (judgement,) = ModuleJudge().judge(query)
    assert judgement.verdict == "unknown"
    assert "something else of @g (llvm.readnone)" in judgement.detail


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (_identity(kind=" private"), _identity()),
        (_identity(_MEMORY_TYPE, argument="llvm.noalias"), _identity(_MEMORY_TYPE)),
        (_identity(), _identity(says="llvm.emit_c_interface")),
        (_identity(), _identity(says="other.note")),
    ],
)
def test_what_says_nothing_of_a_function_is_equivalent(before: str, after: str) -> None:
    (judgement,) = ModuleJudge().judge(Query(before, after))
    assert judgement.verdict == "equivalent", judgement.detail


_OTHER_NAN = "%n = arith.constant 0xFFC00000 : f32"
_IGNORED = "%r = arith.maxnumf %x, %n : f32"  # the number that is the other operand


def _with_nans(*lines: str) -> str:
    body = "\n".join(lines)
    return f"func.func @f(%x: f32, %i: index) -> f32 {{\n{body}\nreturn %r : f32\n}}"


def _large(**special: int) -> str:
    """A constant that is printed as one string, and one element of it."""
    elements = [special.get(f"at{at}", 0x3F800000) for at in range(120)]
    packed = struct.pack("<120I", *elements).hex().upper()
    return (
        f'%c = arith.constant dense<"0x{packed}"> : tensor<120xf32>\n'
        "%r = tensor.extract %c[%i] : tensor<120xf32>"
    )


_HARMLESS_NANS = {
    "without users": (
        (_OTHER_NAN, "%r = arith.negf %x : f32"),
        ("%r = arith.negf %x : f32",),
    ),
    "for arithmetic": (
        (_OTHER_NAN, _IGNORED, "%s = arith.addf %n, %x : f32"),
        ("%z = arith.constant 1.0 : f32", _IGNORED.replace("%n", "%x")),
    ),
    "that are folded": (
        (_OTHER_NAN, "%r = arith.addf %n, %x : f32"),
        ("%r = arith.constant 0xFFC00000 : f32",),
    ),
    "among many elements": (
        (_large(at1=0xFFC00000),),
        (_large(at1=0xFFC00000, at5=0x40000000, at7=0x7FC00000),),
    ),
}


@pytest.mark.parametrize("name", _HARMLESS_NANS)
def test_nans_whose_bits_are_not_seen_are_no_doubt(name: str) -> None:
    before, after = (_READER.read(_with_nans(*each)) for each in _HARMLESS_NANS[name])
    for one, other in ((before, after), (after, before)):
        assert reservation(one, other, "f", is_proved=False, is_run=False) == ""


def test_a_nan_constant_that_is_removed_leaves_a_proof() -> None:
    before, after = (_with_nans(*each) for each in _HARMLESS_NANS["without users"])
    (found,) = ModuleJudge(JudgementLimits(seconds=5)).judge(Query(before, after))
    assert (found.verdict, found.evidence) == ("equivalent", "proof")


_SEEN_NANS = {
    "with another sign": "%r = arith.constant 0x7FC00000 : f32",
    "with another payload": "%r = arith.constant 0xFFC00001 : f32",
    "among many elements": _large(at1=0xFFC00000, at7=0xFFC00001),
}


@pytest.mark.parametrize("name", _SEEN_NANS)
@pytest.mark.parametrize("is_proved", [False, True])
def test_nans_with_other_bits_are_not_known(name: str, is_proved: bool) -> None:
    before = _READER.read(_with_nans("%r = arith.constant 0xFFC00000 : f32"))
    after = _READER.read(_with_nans(_SEEN_NANS[name]))
    assert reservation(before, after, "f", is_proved=is_proved, is_run=False) == _NANS
