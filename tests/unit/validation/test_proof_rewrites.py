"""Rewrites that are known to be right or wrong, proved and refuted."""

from __future__ import annotations

import pytest

from actiondbg.validation.concrete import Concrete
from actiondbg.validation.domain import POISON, UndefinedBehaviour
from actiondbg.validation.inputs import materialize
from actiondbg.validation.interpreter import run_function
from actiondbg.validation.program import Module
from actiondbg.validation.program_reader import ProgramReader
from actiondbg.validation.proof.refinement import NotProved, ProofResult, Proved, Refuted, prove

pytest.importorskip("bitwuzla")
pytest.importorskip("mlir.ir")

_READER = ProgramReader()


def read(signature: str, body: str) -> Module:
    lines = "\n".join(line.strip() for line in body.split(";"))
    return _READER.read(f"func.func @f{signature} {{\n{lines}\n}}")


def verdict(signature: str, before: str, after: str) -> ProofResult:
    return prove(read(signature, before), read(signature, after), "f")


I32 = "(%x: i32, %y: i32) -> i32"
I8 = "(%x: i8, %y: i8) -> i8"
I1 = "(%x: i1, %y: i1) -> i1"
TEST = "(%x: i32, %y: i32) -> i1"
CHOICE = "(%c: i1, %x: i32, %y: i32) -> i32"
INDEX = "(%x: index, %y: index) -> index"
F32 = "(%x: f32, %y: f32) -> f32"
FLOAT_TEST = "(%x: f32, %y: f32) -> i1"
VECTOR = "(%x: vector<4xi32>) -> vector<4xi32>"

RIGHT = {
    "a sum with itself is a shift": (
        I32,
        "%r = arith.addi %x, %x : i32; return %r : i32",
        "%c = arith.constant 1 : i32; %r = arith.shli %x, %c : i32; return %r : i32",
    ),
    "operands are exchanged": (
        I32,
        "%r = arith.muli %x, %y : i32; return %r : i32",
        "%r = arith.muli %y, %x : i32; return %r : i32",
    ),
    "nsw is dropped": (
        I32,
        "%r = arith.addi %x, %y overflow<nsw> : i32; return %r : i32",
        "%r = arith.addi %x, %y : i32; return %r : i32",
    ),
    "two with nsw become nsw of a constant": (
        I32,
        "%c = arith.constant 3 : i32; %d = arith.constant 4 : i32;"
        "%s = arith.addi %x, %c overflow<nsw> : i32;"
        "%r = arith.addi %s, %d overflow<nsw> : i32; return %r : i32",
        "%c = arith.constant 7 : i32; %r = arith.addi %x, %c overflow<nsw> : i32; return %r : i32",
    ),
    "twice with nsw, halved again": (
        I32,
        "%c = arith.constant 2 : i32; %m = arith.muli %x, %c overflow<nsw> : i32;"
        "%r = arith.divsi %m, %c : i32; return %r : i32",
        "return %x : i32",
    ),
    "a number by itself is 1": (
        I32,
        "%r = arith.divsi %x, %x : i32; return %r : i32",
        "%r = arith.constant 1 : i32; return %r : i32",
    ),
    "unsigned division by a power of two is a shift": (
        I32,
        "%c = arith.constant 8 : i32; %r = arith.divui %x, %c : i32; return %r : i32",
        "%c = arith.constant 3 : i32; %r = arith.shrui %x, %c : i32; return %r : i32",
    ),
    "unsigned remainder by a power of two is a mask": (
        I32,
        "%c = arith.constant 8 : i32; %r = arith.remui %x, %c : i32; return %r : i32",
        "%c = arith.constant 7 : i32; %r = arith.andi %x, %c : i32; return %r : i32",
    ),
    "exact signed division by a power of two is a shift": (
        I32,
        "%c = arith.constant 4 : i32; %r = arith.divsi %x, %c exact : i32; return %r : i32",
        "%c = arith.constant 2 : i32; %r = arith.shrsi %x, %c : i32; return %r : i32",
    ),
    "the ceiling of an unsigned quotient": (
        I8,
        "%r = arith.ceildivui %x, %y : i8; return %r : i8",
        "%z = arith.constant 0 : i8; %o = arith.constant 1 : i8; %q = arith.subi %x, %o : i8;"
        "%d = arith.divui %q, %y : i8; %p = arith.addi %d, %o : i8;"
        "%e = arith.cmpi eq, %x, %z : i8; %r = arith.select %e, %z, %p : i8; return %r : i8",
    ),
    "the floor of a signed quotient": (
        I8,
        "%r = arith.floordivsi %x, %y : i8; return %r : i8",
        "%q = arith.divsi %x, %y : i8; %m = arith.muli %q, %y : i8;"
        "%rest = arith.cmpi ne, %x, %m : i8; %z = arith.constant 0 : i8;"
        "%xn = arith.cmpi slt, %x, %z : i8; %yn = arith.cmpi slt, %y, %z : i8;"
        "%signs = arith.cmpi ne, %xn, %yn : i1; %both = arith.andi %rest, %signs : i1;"
        "%o = arith.constant -1 : i8; %less = arith.addi %q, %o : i8;"
        "%r = arith.select %both, %less, %q : i8; return %r : i8",
    ),
    "shifted to the left and back, with nuw": (
        I32,
        "%c = arith.constant 5 : i32; %s = arith.shli %x, %c overflow<nuw> : i32;"
        "%r = arith.shrui %s, %c : i32; return %r : i32",
        "return %x : i32",
    ),
    "shifted to the right and to the left is a mask": (
        I32,
        "%c = arith.constant 5 : i32; %s = arith.shrui %x, %c : i32;"
        "%r = arith.shli %s, %c : i32; return %r : i32",
        "%c = arith.constant -32 : i32; %r = arith.andi %x, %c : i32; return %r : i32",
    ),
    "a shift by the width is poison, which may be anything": (
        I32,
        "%c = arith.constant 32 : i32; %r = arith.shli %x, %c : i32; return %r : i32",
        "return %y : i32",
    ),
    "exclusive or of itself": (
        I32,
        "%r = arith.xori %x, %x : i32; return %r : i32",
        "%r = arith.constant 0 : i32; return %r : i32",
    ),
    "of Morgan": (
        I1,
        "%t = arith.constant true; %a = arith.xori %x, %t : i1; %b = arith.xori %y, %t : i1;"
        "%r = arith.andi %a, %b : i1; return %r : i1",
        "%t = arith.constant true; %a = arith.ori %x, %y : i1; %r = arith.xori %a, %t : i1;"
        "return %r : i1",
    ),
    "extended with its sign twice": (
        "(%x: i8) -> i32",
        "%a = arith.extsi %x : i8 to i16; %r = arith.extsi %a : i16 to i32; return %r : i32",
        "%r = arith.extsi %x : i8 to i32; return %r : i32",
    ),
    "extended with zeros, then with the sign": (
        "(%x: i8) -> i32",
        "%a = arith.extui %x : i8 to i16; %r = arith.extsi %a : i16 to i32; return %r : i32",
        "%r = arith.extui %x : i8 to i32; return %r : i32",
    ),
    "extended and cut": (
        I8,
        "%a = arith.extsi %x : i8 to i32; %r = arith.trunci %a : i32 to i8; return %r : i8",
        "return %x : i8",
    ),
    "cut without loss and extended": (
        I32,
        "%a = arith.trunci %x overflow<nsw> : i32 to i8; %r = arith.extsi %a : i8 to i32;"
        "return %r : i32",
        "return %x : i32",
    ),
    "a sum of extended numbers is narrowed": (
        "(%x: i8, %y: i8) -> i8",
        "%a = arith.extsi %x : i8 to i32; %b = arith.extsi %y : i8 to i32;"
        "%s = arith.addi %a, %b : i32; %r = arith.trunci %s : i32 to i8; return %r : i8",
        "%r = arith.addi %x, %y : i8; return %r : i8",
    ),
    "a selection of equal ways": (
        CHOICE,
        "%r = arith.select %c, %x, %x : i32; return %r : i32",
        "return %x : i32",
    ),
    "a selection by a negated condition": (
        CHOICE,
        "%t = arith.constant true; %n = arith.xori %c, %t : i1;"
        "%r = arith.select %n, %x, %y : i32; return %r : i32",
        "%r = arith.select %c, %y, %x : i32; return %r : i32",
    ),
    "a selection of the smaller": (
        I32,
        "%c = arith.cmpi slt, %x, %y : i32; %r = arith.select %c, %x, %y : i32; return %r : i32",
        "%r = arith.minsi %x, %y : i32; return %r : i32",
    ),
    "a selection of equals": (
        I32,
        "%c = arith.cmpi eq, %x, %y : i32; %r = arith.select %c, %x, %y : i32; return %r : i32",
        "return %y : i32",
    ),
    "a sum compared with a sum": (
        TEST,
        "%c = arith.constant 9 : i32; %a = arith.addi %x, %c : i32;"
        "%b = arith.addi %y, %c : i32; %r = arith.cmpi eq, %a, %b : i32; return %r : i1",
        "%r = arith.cmpi eq, %x, %y : i32; return %r : i1",
    ),
    "a sum with nsw compared with a constant": (
        TEST,
        "%c = arith.constant 9 : i32; %d = arith.constant 12 : i32;"
        "%a = arith.addi %x, %c overflow<nsw> : i32;"
        "%r = arith.cmpi slt, %a, %d : i32; return %r : i1",
        "%d = arith.constant 3 : i32; %r = arith.cmpi slt, %x, %d : i32; return %r : i1",
    ),
    "the carry of an addition": (
        TEST,
        "%s, %r = arith.addui_extended %x, %y : i32, i1; return %r : i1",
        "%s = arith.addi %x, %y : i32; %r = arith.cmpi ult, %s, %x : i32; return %r : i1",
    ),
    "the high half of a signed product": (
        I8,
        "%l, %r = arith.mulsi_extended %x, %y : i8; return %r : i8",
        "%a = arith.extsi %x : i8 to i16; %b = arith.extsi %y : i8 to i16;"
        "%m = arith.muli %a, %b : i16; %c = arith.constant 8 : i16;"
        "%s = arith.shrsi %m, %c : i16; %r = arith.trunci %s : i16 to i8; return %r : i8",
    ),
    "casts of an index and back": (
        "(%x: i32) -> i32",
        "%i = arith.index_cast %x : i32 to index; %r = arith.index_cast %i : index to i32;"
        "return %r : i32",
        "return %x : i32",
    ),
    "an index operation is one of arith": (
        INDEX,
        "%r = index.ceildivs %x, %y; return %r : index",
        "%r = arith.ceildivsi %x, %y : index; return %r : index",
    ),
    "an operation of llvm is one of arith": (
        I32,
        "%r = arith.addi %x, %y overflow<nsw> : i32; return %r : i32",
        "%r = llvm.add %x, %y overflow<nsw> : i32; return %r : i32",
    ),
    "elements of a vector": (
        VECTOR,
        "%r = arith.addi %x, %x : vector<4xi32>; return %r : vector<4xi32>",
        "%c = arith.constant dense<1> : vector<4xi32>; %r = arith.shli %x, %c : vector<4xi32>;"
        "return %r : vector<4xi32>",
    ),
    "a frozen argument": (
        I32,
        "%r = arith.addi %x, %y : i32; return %r : i32",
        "%z = llvm.freeze %x : i32; %r = arith.addi %z, %y : i32; return %r : i32",
    ),
    "minus zero is added": (
        F32,
        "%c = arith.constant -0.0 : f32; %r = arith.addf %x, %c : f32; return %r : f32",
        "return %x : f32",
    ),
    "zero is subtracted": (
        F32,
        "%c = arith.constant 0.0 : f32; %r = arith.subf %x, %c : f32; return %r : f32",
        "return %x : f32",
    ),
    "a float is multiplied by one": (
        F32,
        "%c = arith.constant 1.0 : f32; %r = arith.mulf %x, %c : f32; return %r : f32",
        "return %x : f32",
    ),
    "a float is doubled": (
        F32,
        "%c = arith.constant 2.0 : f32; %r = arith.mulf %x, %c : f32; return %r : f32",
        "%r = arith.addf %x, %x : f32; return %r : f32",
    ),
    "a float is divided by a power of two": (
        F32,
        "%c = arith.constant 4.0 : f32; %r = arith.divf %x, %c : f32; return %r : f32",
        "%c = arith.constant 0.25 : f32; %r = arith.mulf %x, %c : f32; return %r : f32",
    ),
    "a negated float is added": (
        F32,
        "%n = arith.negf %y : f32; %r = arith.addf %x, %n : f32; return %r : f32",
        "%r = arith.subf %x, %y : f32; return %r : f32",
    ),
    "two floats are negated and multiplied": (
        F32,
        "%a = arith.negf %x : f32; %b = arith.negf %y : f32; %r = arith.mulf %a, %b : f32;"
        "return %r : f32",
        "%r = arith.mulf %x, %y : f32; return %r : f32",
    ),
    "an ordered comparison is negated": (
        FLOAT_TEST,
        "%t = arith.constant true; %c = arith.cmpf olt, %x, %y : f32;"
        "%r = arith.xori %c, %t : i1; return %r : i1",
        "%r = arith.cmpf uge, %x, %y : f32; return %r : i1",
    ),
    "a float is not itself if it is NaN": (
        FLOAT_TEST,
        "%r = arith.cmpf une, %x, %x : f32; return %r : i1",
        "%r = arith.cmpf uno, %x, %x : f32; return %r : i1",
    ),
    "a minimum by comparison": (
        F32,
        "%r = arith.minimumf %x, %y : f32; return %r : f32",
        "%c = arith.cmpf ult, %x, %y : f32; %a = arith.select %c, %x, %y : f32;"
        "%n = arith.cmpf uno, %y, %y : f32; %b = arith.select %n, %y, %a : f32;"
        "%z = arith.constant 0.0 : f32; %xz = arith.cmpf oeq, %x, %z : f32;"
        "%yz = arith.cmpf oeq, %y, %z : f32; %both = arith.andi %xz, %yz : i1;"
        "%xi = arith.bitcast %x : f32 to i32; %yi = arith.bitcast %y : f32 to i32;"
        "%o = arith.ori %xi, %yi : i32; %of = arith.bitcast %o : i32 to f32;"
        "%r = arith.select %both, %of, %b : f32; return %r : f32",
    ),
    "extended and cut floats": (
        "(%x: f16) -> f16",
        "%a = arith.extf %x : f16 to f32; %r = arith.truncf %a : f32 to f16; return %r : f16",
        "return %x : f16",
    ),
    "small integers as floats": (
        "(%x: i8) -> i8",
        "%a = arith.sitofp %x : i8 to f32; %r = arith.fptosi %a : f32 to i8; return %r : i8",
        "return %x : i8",
    ),
    "the absolute value is a mask": (
        "(%x: f32) -> i32",
        "%a = math.absf %x : f32; %r = arith.bitcast %a : f32 to i32; return %r : i32",
        "%c = arith.constant 2147483647 : i32; %a = arith.bitcast %x : f32 to i32;"
        "%r = arith.andi %a, %c : i32; return %r : i32",
    ),
    "the same unknown function": (
        F32,
        "%a = math.sin %x : f32; %r = arith.addf %a, %y : f32; return %r : f32",
        "%a = math.sin %x : f32; %r = arith.addf %y, %a : f32; return %r : f32",
    ),
    "no NaN, so a number less itself is zero": (
        F32,
        "%r = arith.subf %x, %x fastmath<nnan> : f32; return %r : f32",
        "%r = arith.constant 0.0 : f32; return %r : f32",
    ),
    "a maximum whose zeros have any sign, by comparison": (
        F32,
        "%r = arith.maxnumf %x, %y : f32; return %r : f32",
        "%c = arith.cmpf ugt, %x, %y : f32; %a = arith.select %c, %x, %y : f32;"
        "%n = arith.cmpf uno, %x, %x : f32; %r = arith.select %n, %y, %a : f32; return %r : f32",
    ),
    "the same maximum": (
        F32,
        "%r = arith.maxnumf %x, %y : f32; return %r : f32",
        "%r = arith.maxnumf %y, %x : f32; return %r : f32",
    ),
    "a maximum of integers as floats is exact": (
        "(%x: i8, %y: i8) -> f32",
        "%a = arith.sitofp %x : i8 to f32; %b = arith.sitofp %y : i8 to f32;"
        "%r = arith.maximumf %a, %b : f32; return %r : f32",
        "%a = arith.sitofp %x : i8 to f32; %b = arith.sitofp %y : i8 to f32;"
        "%r = arith.maxnumf %a, %b : f32; return %r : f32",
    ),
    "zero is added where its sign does not matter": (
        F32,
        "%c = arith.constant 0.0 : f32; %r = arith.addf %x, %c fastmath<nsz> : f32;return %r : f32",
        "return %x : f32",
    ),
    "a sum of bfloats by floats": (
        "(%x: bf16, %y: bf16) -> bf16",
        "%r = arith.addf %x, %y : bf16; return %r : bf16",
        "%a = arith.extf %x : bf16 to f32; %b = arith.extf %y : bf16 to f32;"
        "%s = arith.addf %b, %a : f32; %r = arith.truncf %s : f32 to bf16; return %r : bf16",
    ),
    "a bfloat extended and cut": (
        "(%x: bf16) -> bf16",
        "%a = arith.extf %x : bf16 to f32; %r = arith.truncf %a : f32 to bf16; return %r : bf16",
        "return %x : bf16",
    ),
    "the same fast operation": (
        F32,
        "%r = arith.addf %x, %y fastmath<fast> : f32; return %r : f32",
        "%r = arith.addf %y, %x fastmath<fast> : f32; return %r : f32",
    ),
}

WRONG = {
    "nsw is added": (
        I32,
        "%r = arith.addi %x, %y : i32; return %r : i32",
        "%r = arith.addi %x, %y overflow<nsw> : i32; return %r : i32",
    ),
    "nuw instead of nsw": (
        I32,
        "%r = arith.muli %x, %y overflow<nsw> : i32; return %r : i32",
        "%r = arith.muli %x, %y overflow<nuw> : i32; return %r : i32",
    ),
    "nsw is added in llvm": (
        I32,
        "%r = llvm.add %x, %y : i32; return %r : i32",
        "%r = llvm.add %x, %y overflow<nsw> : i32; return %r : i32",
    ),
    "twice, halved again": (
        I32,
        "%c = arith.constant 2 : i32; %m = arith.muli %x, %c : i32;"
        "%r = arith.divsi %m, %c : i32; return %r : i32",
        "return %x : i32",
    ),
    "shifted to the left and back": (
        I32,
        "%c = arith.constant 5 : i32; %s = arith.shli %x, %c : i32;"
        "%r = arith.shrui %s, %c : i32; return %r : i32",
        "return %x : i32",
    ),
    "signed division by a power of two is no shift": (
        I32,
        "%c = arith.constant 4 : i32; %r = arith.divsi %x, %c : i32; return %r : i32",
        "%c = arith.constant 2 : i32; %r = arith.shrsi %x, %c : i32; return %r : i32",
    ),
    "an unsigned shift for a signed one": (
        I32,
        "%c = arith.constant 2 : i32; %r = arith.shrsi %x, %c : i32; return %r : i32",
        "%c = arith.constant 2 : i32; %r = arith.shrui %x, %c : i32; return %r : i32",
    ),
    "a division that nobody asked for": (
        I32,
        "return %x : i32",
        "%r = arith.divsi %x, %y : i32; return %x : i32",
    ),
    "a quotient multiplied back": (
        I8,
        "%q = arith.divui %x, %y : i8; %r = arith.muli %q, %y : i8; return %r : i8",
        "return %x : i8",
    ),
    "a shift beyond the width is no zero": (
        I32,
        "%r = arith.constant 0 : i32; return %r : i32",
        "%c = arith.constant 32 : i32; %r = arith.shli %x, %c : i32; return %r : i32",
    ),
    "two shifts beyond the width together": (
        I32,
        "%c = arith.constant 20 : i32; %a = arith.shli %x, %c : i32;"
        "%r = arith.shli %a, %c : i32; return %r : i32",
        "%c = arith.constant 40 : i32; %r = arith.shli %x, %c : i32; return %r : i32",
    ),
    "a difference is not commutative": (
        I32,
        "%r = arith.subi %x, %y : i32; return %r : i32",
        "%r = arith.subi %y, %x : i32; return %r : i32",
    ),
    "extended with zeros for the sign": (
        "(%x: i8) -> i32",
        "%r = arith.extsi %x : i8 to i32; return %r : i32",
        "%r = arith.extui %x : i8 to i32; return %r : i32",
    ),
    "cut and extended": (
        I32,
        "%a = arith.trunci %x : i32 to i8; %r = arith.extsi %a : i8 to i32; return %r : i32",
        "return %x : i32",
    ),
    "cut with nuw, extended with the sign": (
        I32,
        "%a = arith.trunci %x overflow<nuw> : i32 to i8; %r = arith.extsi %a : i8 to i32;"
        "return %r : i32",
        "return %x : i32",
    ),
    "a selection with ways exchanged": (
        CHOICE,
        "%r = arith.select %c, %x, %y : i32; return %r : i32",
        "%r = arith.select %c, %y, %x : i32; return %r : i32",
    ),
    "a selection as an and": (
        "(%c: i1, %x: i1) -> i1",
        "%f = arith.constant false; %r = arith.select %c, %f, %x : i1; return %r : i1",
        "%r = arith.andi %c, %x : i1; return %r : i1",
    ),
    "a sum compared with a constant": (
        TEST,
        "%c = arith.constant 9 : i32; %d = arith.constant 12 : i32;"
        "%a = arith.addi %x, %c : i32; %r = arith.cmpi slt, %a, %d : i32; return %r : i1",
        "%d = arith.constant 3 : i32; %r = arith.cmpi slt, %x, %d : i32; return %r : i1",
    ),
    "the ceiling that overflows": (
        I8,
        "%r = arith.ceildivui %x, %y : i8; return %r : i8",
        "%o = arith.constant 1 : i8; %s = arith.addi %x, %y : i8; %p = arith.subi %s, %o : i8;"
        "%r = arith.divui %p, %y : i8; return %r : i8",
    ),
    "casts of a wide index and back": (
        "(%x: index) -> index",
        "%i = arith.index_cast %x : index to i32; %r = arith.index_cast %i : i32 to index;"
        "return %r : index",
        "return %x : index",
    ),
    "one element of a vector": (
        VECTOR,
        "%r = arith.addi %x, %x : vector<4xi32>; return %r : vector<4xi32>",
        "%c = arith.constant dense<[1, 1, 2, 1]> : vector<4xi32>;"
        "%r = arith.shli %x, %c : vector<4xi32>; return %r : vector<4xi32>",
    ),
    "zero is added": (
        F32,
        "%c = arith.constant 0.0 : f32; %r = arith.addf %x, %c : f32; return %r : f32",
        "return %x : f32",
    ),
    "a float is multiplied by zero": (
        F32,
        "%c = arith.constant 0.0 : f32; %r = arith.mulf %x, %c : f32; return %r : f32",
        "%c = arith.constant 0.0 : f32; return %c : f32",
    ),
    "a float less itself is zero": (
        F32,
        "%r = arith.subf %x, %x : f32; return %r : f32",
        "%r = arith.constant 0.0 : f32; return %r : f32",
    ),
    "a float is subtracted from zero": (
        F32,
        "%c = arith.constant 0.0 : f32; %r = arith.subf %c, %x : f32; return %r : f32",
        "%r = arith.negf %x : f32; return %r : f32",
    ),
    "a float is divided by three": (
        F32,
        "%c = arith.constant 3.0 : f32; %r = arith.divf %x, %c : f32; return %r : f32",
        "%c = arith.constant 0.333333343 : f32; %r = arith.mulf %x, %c : f32; return %r : f32",
    ),
    "sums of floats in another order": (
        F32,
        "%a = arith.addf %x, %y : f32; %r = arith.subf %a, %y : f32; return %r : f32",
        "return %x : f32",
    ),
    "a comparison forgets NaN": (
        FLOAT_TEST,
        "%t = arith.constant true; %c = arith.cmpf olt, %x, %y : f32;"
        "%r = arith.xori %c, %t : i1; return %r : i1",
        "%r = arith.cmpf oge, %x, %y : f32; return %r : i1",
    ),
    "a minimum that ignores NaN": (
        F32,
        "%r = arith.minimumf %x, %y : f32; return %r : f32",
        "%r = arith.minnumf %x, %y : f32; return %r : f32",
    ),
    "a maximum that forgets the sign of zero": (
        F32,
        "%r = arith.maximumf %x, %y : f32; return %r : f32",
        "%c = arith.cmpf ugt, %x, %y : f32; %a = arith.select %c, %x, %y : f32;"
        "%n = arith.cmpf uno, %y, %y : f32; %r = arith.select %n, %y, %a : f32; return %r : f32",
    ),
    "a fused multiplication and addition": (
        "(%x: f32, %y: f32, %z: f32) -> f32",
        "%a = arith.mulf %x, %y : f32; %r = arith.addf %a, %z : f32; return %r : f32",
        "%r = math.fma %x, %y, %z : f32; return %r : f32",
    ),
    "cut and extended floats": (
        F32,
        "%a = arith.truncf %x : f32 to f16; %r = arith.extf %a : f16 to f32; return %r : f32",
        "return %x : f32",
    ),
    "wide integers as floats": (
        I32,
        "%a = arith.sitofp %x : i32 to f32; %r = arith.fptosi %a : f32 to i32; return %r : i32",
        "return %x : i32",
    ),
    "rounding half to even for half away": (
        F32,
        "%r = math.round %x : f32; return %r : f32",
        "%r = math.roundeven %x : f32; return %r : f32",
    ),
    "a comparison of bfloats forgets NaN": (
        "(%x: bf16, %y: bf16) -> i1",
        "%r = arith.cmpf ult, %x, %y : bf16; return %r : i1",
        "%r = arith.cmpf olt, %x, %y : bf16; return %r : i1",
    ),
    "a flag that excludes NaN": (
        F32,
        "%r = arith.addf %x, %y : f32; return %r : f32",
        "%r = arith.addf %x, %y fastmath<nnan> : f32; return %r : f32",
    ),
}

OPEN = {
    "a maximum whose zeros have the sign that nobody asked for": (
        F32,
        "%r = arith.maximumf %x, %y : f32; return %r : f32",
        "%n = arith.addf %x, %y : f32; %c = arith.cmpf uno, %n, %n : f32;"
        "%m = arith.maxnumf %x, %y : f32; %p = arith.maximumf %x, %y : f32;"
        "%r = arith.select %c, %p, %m : f32; return %r : f32",
    ),
    "another sign of zero than the flag allows": (
        F32,
        "%c = arith.constant 0.0 : f32; %a = arith.addf %x, %c fastmath<nsz> : f32;"
        "%r = arith.mulf %y, %c : f32; return %r : f32",
        "%c = arith.constant 0.0 : f32; %a = arith.addf %x, %c fastmath<nsz> : f32;"
        "%m = arith.mulf %y, %c : f32; %r = arith.addf %m, %c fastmath<nsz> : f32; return %r : f32",
    ),
    "two unknown functions": (
        F32,
        "%r = math.sin %x : f32; return %r : f32",
        "%r = math.cos %x : f32; return %r : f32",
    ),
    "an unknown function and a number": (
        F32,
        "%r = math.exp %x : f32; return %r : f32",
        "%r = arith.constant 1.0 : f32; return %r : f32",
    ),
    "operations that may be reordered": (
        "(%x: f32, %y: f32, %z: f32) -> f32",
        "%a = arith.addf %x, %y fastmath<reassoc> : f32;"
        "%r = arith.addf %a, %z fastmath<reassoc> : f32; return %r : f32",
        "%a = arith.addf %y, %z fastmath<reassoc> : f32;"
        "%r = arith.addf %x, %a fastmath<reassoc> : f32; return %r : f32",
    ),
    "a flag that allows reordering is added": (
        F32,
        "%r = arith.addf %x, %y : f32; return %r : f32",
        "%r = arith.addf %x, %y fastmath<reassoc> : f32; return %r : f32",
    ),
    "the bits of a NaN": (
        "(%x: f32) -> i32",
        "%c = arith.constant 1.0 : f32; %a = arith.mulf %x, %c : f32;"
        "%r = arith.bitcast %a : f32 to i32; return %r : i32",
        "%r = arith.bitcast %x : f32 to i32; return %r : i32",
    ),
    "a bfloat that is one of many NaNs": (
        "(%x: bf16) -> bf16",
        "%n = arith.constant 0x7FC0 : bf16; %r = arith.maximumf %x, %n : bf16; return %r : bf16",
        "%n = arith.constant 0x7FC0 : bf16; return %n : bf16",
    ),
    "an unknown format": (
        "(%x: bf16, %y: bf16) -> bf16",
        "%r = arith.addf %x, %y : bf16; return %r : bf16",
        "%r = arith.mulf %x, %y : bf16; return %r : bf16",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_rewrite_is_proved(name: str) -> None:
    found = verdict(*RIGHT[name])
    assert isinstance(found, Proved), found
    assert found.bounds is None


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_rewrite_is_refuted_by_an_input(name: str) -> None:
    signature, before, after = WRONG[name]
    found = verdict(signature, before, after)
    assert isinstance(found, Refuted), found
    results = [run(read(signature, body), found) for body in (before, after)]
    assert results[0] is not POISON
    assert results[0] != "undefined"
    assert repr(results[0]) != repr(results[1])


def run(module: Module, found: Refuted) -> object:
    """Run a function on the input of a refutation, with numbers."""
    function = module.functions["f"]
    arguments, _ = materialize(found.input, function.inputs, Concrete().constant)
    try:
        (result,) = run_function(module, "f", arguments, Concrete()).results
    except UndefinedBehaviour:
        return "undefined"
    return result


@pytest.mark.parametrize("name", OPEN)
def test_what_is_open_is_neither_proved_nor_refuted(name: str) -> None:
    assert isinstance(verdict(*OPEN[name]), NotProved)


PREDICATES = {
    "eq": "ne",
    "slt": "sge",
    "sle": "sgt",
    "ult": "uge",
    "ule": "ugt",
    "ne": "eq",
    "sgt": "sle",
    "sge": "slt",
    "ugt": "ule",
    "uge": "ult",
}


@pytest.mark.parametrize("predicate", PREDICATES)
def test_a_negated_predicate_is_proved_and_another_refuted(predicate: str) -> None:
    negated = (
        f"%t = arith.constant true; %c = arith.cmpi {predicate}, %x, %y : i32;"
        "%r = arith.xori %c, %t : i1; return %r : i1"
    )
    right = f"%r = arith.cmpi {PREDICATES[predicate]}, %x, %y : i32; return %r : i1"
    wrong = f"%r = arith.cmpi {predicate}, %x, %y : i32; return %r : i1"
    assert isinstance(verdict(TEST, negated, right), Proved)
    assert isinstance(verdict(TEST, negated, wrong), Refuted)


def test_a_branch_on_a_condition_is_wrong_if_it_may_be_poison() -> None:
    before = "%r = arith.select %c, %x, %y : i32; return %r : i32"
    after = "%r = scf.if %c -> i32 {; scf.yield %x : i32; } else {; scf.yield %y : i32; };"
    after += "return %r : i32"
    assert isinstance(verdict(CHOICE, before, after), Proved)
    maybe = "%s = arith.addi %x, %y overflow<nsw> : i32; %c = arith.cmpi eq, %s, %x : i32;"
    assert isinstance(verdict(I32, maybe + before, maybe + after), Refuted)


def test_freezing_poison_twice_is_not_freezing_it_once() -> None:
    maybe = "%s = arith.addi %x, %y overflow<nsw> : i32; %a = llvm.freeze %s : i32;"
    once = maybe + "%r = arith.subi %a, %a : i32; return %r : i32"
    twice = maybe + "%b = llvm.freeze %s : i32; %r = arith.subi %a, %b : i32; return %r : i32"
    assert isinstance(verdict(I32, once, once), Proved)
    assert isinstance(verdict(I32, once, twice), NotProved)


def test_functions_of_other_types_are_not_compared() -> None:
    before = read(I32, "return %x : i32")
    after = read(I8, "return %x : i8")
    found = prove(before, after, "f")
    assert isinstance(found, NotProved)
    assert "type" in found.reason
