"""Patterns of upstream that fail without a reason, and inputs in which they fail and succeed.

The precondition is what the source of the pattern demands. The cases were chosen before the
contrast was tried on them.
"""

from __future__ import annotations

from typing import NamedTuple


class Case(NamedTuple):
    """A pattern and an input.

    Attributes:
        pattern: its name, a glob.
        passes: the options of mlir-opt.
        precondition: of the pattern, in words.
        statements: that name it.
        source: the input, in which the last failure is due to the precondition.
    """

    pattern: str
    passes: tuple[str, ...]
    precondition: str
    statements: frozenset[str]
    source: str


_CANONICALIZE = ("--canonicalize",)


def _case(
    pattern: str,
    precondition: str,
    statements: set[str],
    source: str,
    passes: tuple[str, ...] = _CANONICALIZE,
) -> Case:
    return Case(pattern, passes, precondition, frozenset(statements), source)


CASES = (
    _case(
        "SimplifyAllocConst<mlir::memref::AllocOp>",
        "a dynamic size is a constant",
        {"an operand is a constant", "an operand of the operation is defined by arith.constant"},
        """\
func.func private @use(memref<?xf32>)
func.func private @use2(memref<?x?xf32>)
func.func @f(%n: index, %m: index, %s: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %d = memref.dim %s, %c0 : memref<?xf32>
  %a = memref.alloc(%c4) : memref<?xf32>
  call @use(%a) : (memref<?xf32>) -> ()
  %b = memref.alloc(%n) : memref<?xf32>
  call @use(%b) : (memref<?xf32>) -> ()
  %c = memref.alloc(%n, %c8) : memref<?x?xf32>
  call @use2(%c) : (memref<?x?xf32>) -> ()
  %e = memref.alloc(%c4, %m) : memref<?x?xf32>
  call @use2(%e) : (memref<?x?xf32>) -> ()
  %g = memref.alloc(%n, %m) : memref<?x?xf32>
  call @use2(%g) : (memref<?x?xf32>) -> ()
  %h = memref.alloc(%d) : memref<?xf32>
  call @use(%h) : (memref<?xf32>) -> ()
  return
}
""",
    ),
    _case(
        "SimplifyDeadAlloc<mlir::memref::AllocOp>",
        "all users store into it or free it",
        {"all users of the result are memref.store", "all users of the result are memref.dealloc"},
        """\
func.func private @use(memref<4xf32>)
func.func @f(%x: f32, %i: index) -> f32 {
  %a = memref.alloc() : memref<4xf32>
  memref.store %x, %a[%i] : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  call @use(%b) : (memref<4xf32>) -> ()
  %c = memref.alloc() : memref<4xf32>
  memref.store %x, %c[%i] : memref<4xf32>
  memref.store %x, %c[%i] : memref<4xf32>
  %d = memref.alloc() : memref<8xf32>
  memref.store %x, %d[%i] : memref<8xf32>
  %e = memref.alloc() : memref<4xf32>
  memref.store %x, %e[%i] : memref<4xf32>
  call @use(%e) : (memref<4xf32>) -> ()
  %g = memref.alloc() : memref<4xf32>
  memref.store %x, %g[%i] : memref<4xf32>
  %v = memref.load %g[%i] : memref<4xf32>
  return %v : f32
}
""",
    ),
    _case(
        "FoldEmptyCopy",
        "the type of the source or the target has a size of 0",
        {
            "size 0 of operand 0 is 0",
            "size 0 of operand 1 is 0",
            "the last size of operand 0 is 0",
            "the last size of operand 1 is 0",
        },
        """\
func.func @f(%a: memref<0xf32>, %b: memref<?xf32>, %c: memref<4xf32>, %d: memref<4xf32>) {
  %e = memref.cast %a : memref<0xf32> to memref<?xf32>
  %m = memref.alloc() : memref<0xf32>
  memref.copy %b, %a : memref<?xf32> to memref<0xf32>
  memref.copy %c, %d : memref<4xf32> to memref<4xf32>
  memref.copy %m, %a : memref<0xf32> to memref<0xf32>
  memref.copy %b, %d : memref<?xf32> to memref<4xf32>
  memref.copy %a, %m : memref<0xf32> to memref<0xf32>
  memref.copy %d, %c : memref<4xf32> to memref<4xf32>
  memref.copy %c, %b : memref<4xf32> to memref<?xf32>
  return
}
""",
    ),
    _case(
        "FoldSelfCopy",
        "the source and the target are the same value",
        {"operand 0 and operand 1 are the same value", "two operands are the same value"},
        """\
func.func private @use(memref<4xf32>)
func.func @f(%a: memref<4xf32>, %b: memref<4xf32>) {
  memref.copy %a, %a : memref<4xf32> to memref<4xf32>
  memref.copy %a, %b : memref<4xf32> to memref<4xf32>
  %m = memref.alloc() : memref<4xf32>
  call @use(%m) : (memref<4xf32>) -> ()
  memref.copy %m, %m : memref<4xf32> to memref<4xf32>
  memref.copy %m, %a : memref<4xf32> to memref<4xf32>
  memref.copy %b, %b : memref<4xf32> to memref<4xf32>
  memref.copy %b, %a : memref<4xf32> to memref<4xf32>
  return
}
""",
    ),
    _case(
        "SubViewOpMemRefCastFolder",
        "the source is defined by memref.cast, and no offset, size or stride is a constant",
        {"operand 0 is defined by memref.cast", "the operand is defined by memref.cast"},
        """\
!v = memref<?xf32, strided<[1], offset: ?>>
func.func private @use(!v)
func.func @f(%a: memref<16xf32>, %b: memref<?xf32>, %n: index, %m: index) {
  %x = memref.cast %a : memref<16xf32> to memref<?xf32>
  %c = memref.alloc(%n) : memref<?xf32>
  %0 = memref.subview %x[%n] [%m] [1] : memref<?xf32> to !v
  call @use(%0) : (!v) -> ()
  %1 = memref.subview %b[%n] [%m] [1] : memref<?xf32> to !v
  call @use(%1) : (!v) -> ()
  %2 = memref.subview %x[%m] [%n] [1] : memref<?xf32> to !v
  call @use(%2) : (!v) -> ()
  %3 = memref.subview %c[%m] [%m] [1] : memref<?xf32> to !v
  call @use(%3) : (!v) -> ()
  %4 = memref.subview %x[%n] [%n] [1] : memref<?xf32> to !v
  call @use(%4) : (!v) -> ()
  %5 = memref.subview %b[%m] [%n] [1] : memref<?xf32> to !v
  call @use(%5) : (!v) -> ()
  return
}
""",
    ),
    _case(
        "ExtractFromTensorCast",
        "the source is defined by tensor.cast",
        {"operand 0 is defined by tensor.cast"},
        """\
func.func private @make() -> tensor<?xf32>
func.func @f(%a: tensor<4xf32>, %b: tensor<?xf32>, %i: index, %j: index)
    -> (f32, f32, f32, f32, f32) {
  %x = tensor.cast %a : tensor<4xf32> to tensor<?xf32>
  %y = call @make() : () -> tensor<?xf32>
  %0 = tensor.extract %x[%i] : tensor<?xf32>
  %1 = tensor.extract %b[%i] : tensor<?xf32>
  %2 = tensor.extract %x[%j] : tensor<?xf32>
  %3 = tensor.extract %y[%j] : tensor<?xf32>
  %4 = tensor.extract %b[%j] : tensor<?xf32>
  return %0, %1, %2, %3, %4 : f32, f32, f32, f32, f32
}
""",
    ),
    _case(
        "ChainedTensorCast",
        "the source is defined by tensor.cast",
        {"the operand is defined by tensor.cast"},
        """\
func.func private @make() -> tensor<?xf32>
func.func private @use(tensor<4xf32>)
func.func @f(%a: tensor<4xf32>, %b: tensor<?xf32>, %c: tensor<4x4xf32>) -> tensor<?x?xf32> {
  %0 = tensor.cast %b : tensor<?xf32> to tensor<4xf32>
  call @use(%0) : (tensor<4xf32>) -> ()
  %1 = tensor.cast %c : tensor<4x4xf32> to tensor<?x4xf32>
  %2 = tensor.cast %1 : tensor<?x4xf32> to tensor<?x?xf32>
  %y = call @make() : () -> tensor<?xf32>
  %3 = tensor.cast %y : tensor<?xf32> to tensor<4xf32>
  call @use(%3) : (tensor<4xf32>) -> ()
  %4 = tensor.cast %a : tensor<4xf32> to tensor<?xf32>
  %5 = tensor.cast %4 : tensor<?xf32> to tensor<4xf32>
  call @use(%5) : (tensor<4xf32>) -> ()
  return %2 : tensor<?x?xf32>
}
""",
    ),
    _case(
        "DimOfCastOp",
        "the source is defined by tensor.cast",
        {"operand 0 is defined by tensor.cast"},
        """\
func.func private @make() -> tensor<?xf32>
func.func @f(%a: tensor<4x?xf32>, %b: tensor<?x?xf32>, %i: index, %j: index)
    -> (index, index, index, index, index) {
  %c1 = arith.constant 1 : index
  %x = tensor.cast %a : tensor<4x?xf32> to tensor<?x?xf32>
  %y = call @make() : () -> tensor<?xf32>
  %0 = tensor.dim %x, %i : tensor<?x?xf32>
  %1 = tensor.dim %b, %i : tensor<?x?xf32>
  %2 = tensor.dim %x, %c1 : tensor<?x?xf32>
  %3 = tensor.dim %b, %c1 : tensor<?x?xf32>
  %4 = tensor.dim %y, %j : tensor<?xf32>
  return %0, %1, %2, %3, %4 : index, index, index, index, index
}
""",
    ),
    _case(
        "OpWithOffsetSizesAndStridesConstantArgumentFolder<mlir::tensor::ExtractSliceOp*",
        "an offset, a size or a stride is a constant",
        {"an operand is a constant", "an operand of the operation is defined by arith.constant"},
        """\
func.func @f(%a: tensor<?xf32>, %b: tensor<?xf32>, %n: index, %m: index)
    -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %d = tensor.dim %a, %c0 : tensor<?xf32>
  %0 = tensor.extract_slice %a[%n] [%c4] [1] : tensor<?xf32> to tensor<?xf32>
  %1 = tensor.extract_slice %a[%n] [%m] [1] : tensor<?xf32> to tensor<?xf32>
  %2 = tensor.extract_slice %b[%c4] [%m] [1] : tensor<?xf32> to tensor<?xf32>
  %3 = tensor.extract_slice %b[%m] [%m] [1] : tensor<?xf32> to tensor<?xf32>
  %4 = tensor.extract_slice %b[%n] [%d] [1] : tensor<?xf32> to tensor<?xf32>
  return %0, %1, %2, %3, %4
      : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}
""",
    ),
    _case(
        "RemoveEmptyElseBranch",
        "there is no result, and the else branch holds its terminator only",
        {
            "the number of operations in region 1 is 1",
            "the number of operations in region 1 is 1 or less",
        },
        """\
func.func private @a()
func.func private @b()
func.func @f(%p: i1, %q: i1, %r: i1) {
  scf.if %p { func.call @a() : () -> () } else { }
  scf.if %q { func.call @a() : () -> () } else { func.call @b() : () -> () }
  scf.if %r { func.call @b() : () -> () } else { }
  scf.if %p {
    func.call @b() : () -> ()
  } else {
    func.call @a() : () -> ()
    func.call @a() : () -> ()
  }
  scf.if %q { func.call @b() : () -> () } else { func.call @a() : () -> () }
  return
}
""",
    ),
    _case(
        "CombineNestedIfs",
        "the then branch holds one scf.if and its terminator only, and there is no else branch",
        {
            "the number of operations in region 0 is 2",
            "the number of operations in region 0 is 2 or less",
            "region 0 contains scf.if",
            "region 0 contains no func.call",
        },
        """\
func.func private @a()
func.func private @b()
func.func @f(%p: i1, %q: i1, %r: i1) {
  scf.if %p {
    scf.if %q { func.call @a() : () -> () }
  }
  func.call @b() : () -> ()
  scf.if %q {
    func.call @b() : () -> ()
    scf.if %p { func.call @a() : () -> () }
  }
  func.call @a() : () -> ()
  scf.if %r {
    scf.if %p {
      func.call @b() : () -> ()
      func.call @a() : () -> ()
    }
  }
  func.call @a() : () -> ()
  scf.if %p { func.call @a() : () -> () }
  func.call @b() : () -> ()
  scf.if %q {
    scf.if %r { func.call @a() : () -> () }
    func.call @b() : () -> ()
  }
  return
}
""",
    ),
    _case(
        "CombineIfs",
        "the operation before it is an scf.if on the same condition",
        {
            "the operand is an operand of the operation before it too",
            "the operation before it is scf.if",
        },
        """\
func.func private @a()
func.func private @b()
func.func @f(%p: i1, %q: i1, %r: i1) {
  scf.if %p { func.call @a() : () -> () }
  scf.if %p { func.call @b() : () -> () }
  scf.if %q { func.call @a() : () -> () }
  func.call @a() : () -> ()
  scf.if %q { func.call @b() : () -> () }
  scf.if %q { func.call @a() : () -> () }
  func.call @b() : () -> ()
  scf.if %r { func.call @b() : () -> () }
  scf.if %r { func.call @a() : () -> () }
  scf.if %p { func.call @b() : () -> () }
  scf.if %q { func.call @b() : () -> () }
  return
}
""",
    ),
    _case(
        "ConvertTrivialIfToSelect",
        "a result is yielded from outside by both branches",
        {
            "region 0 yields a value from outside",
            "region 1 yields a value from outside",
        },
        """\
func.func private @a() -> i32
func.func private @b() -> i32
func.func @f(%p: i1, %q: i1, %x: i32, %y: i32) -> (i32, i32, i32, i32, i32) {
  %0 = scf.if %p -> i32 {
    func.call @a() : () -> i32
    scf.yield %x : i32
  } else { scf.yield %y : i32 }
  %1 = scf.if %q -> i32 {
    %k = func.call @a() : () -> i32
    scf.yield %k : i32
  } else { scf.yield %y : i32 }
  %2 = scf.if %q -> i32 { scf.yield %y : i32 } else {
    func.call @b() : () -> i32
    scf.yield %x : i32
  }
  %3 = scf.if %p -> i32 { scf.yield %x : i32 } else {
    %k = func.call @b() : () -> i32
    scf.yield %k : i32
  }
  %4 = scf.if %q -> i32 {
    %k = func.call @b() : () -> i32
    scf.yield %k : i32
  } else {
    %l = func.call @b() : () -> i32
    scf.yield %l : i32
  }
  return %0, %1, %2, %3, %4 : i32, i32, i32, i32, i32
}
""",
    ),
    _case(
        "SimplifyConstCondBranchPred",
        "the condition is a constant",
        {"operand 0 is a constant", "the operand is a constant", "an operand is a constant"},
        """\
func.func private @use(i32)
func.func @a(%p: i1, %x: i32, %y: i32) {
  %t = arith.constant true
  cf.cond_br %t, ^bb1(%x : i32), ^bb2(%y : i32)
^bb1(%k: i32):
  call @use(%k) : (i32) -> ()
  return
^bb2(%l: i32):
  call @use(%l) : (i32) -> ()
  call @use(%l) : (i32) -> ()
  return
}
func.func @b(%p: i1, %x: i32, %y: i32) {
  cf.cond_br %p, ^bb1(%x : i32), ^bb2(%y : i32)
^bb1(%k: i32):
  call @use(%k) : (i32) -> ()
  return
^bb2(%l: i32):
  call @use(%l) : (i32) -> ()
  call @use(%l) : (i32) -> ()
  return
}
func.func @c(%p: i1, %x: i32, %y: i32) {
  %t = arith.constant false
  cf.cond_br %t, ^bb1(%x : i32), ^bb2(%y : i32)
^bb1(%k: i32):
  call @use(%k) : (i32) -> ()
  return
^bb2(%l: i32):
  call @use(%l) : (i32) -> ()
  call @use(%l) : (i32) -> ()
  return
}
func.func @d(%x: i32, %y: i32) {
  %t = arith.cmpi slt, %x, %y : i32
  cf.cond_br %t, ^bb1(%y : i32), ^bb2(%x : i32)
^bb1(%k: i32):
  call @use(%k) : (i32) -> ()
  return
^bb2(%l: i32):
  call @use(%l) : (i32) -> ()
  call @use(%l) : (i32) -> ()
  return
}
""",
    ),
    _case(
        "SimplifyCondBranchIdenticalSuccessors",
        "both successors are the same block",
        {"the successors are the same block"},
        """\
func.func private @use(i32)
func.func @a(%p: i1, %x: i32, %y: i32) {
  cf.cond_br %p, ^bb1(%x : i32), ^bb1(%y : i32)
^bb1(%k: i32):
  call @use(%k) : (i32) -> ()
  return
}
func.func @b(%p: i1, %x: i32, %y: i32) {
  cf.cond_br %p, ^bb1(%x : i32), ^bb2(%y : i32)
^bb1(%k: i32):
  call @use(%k) : (i32) -> ()
  return
^bb2(%l: i32):
  call @use(%l) : (i32) -> ()
  call @use(%l) : (i32) -> ()
  return
}
func.func @c(%p: i1, %x: i32, %y: i32) {
  call @use(%x) : (i32) -> ()
  cf.cond_br %p, ^bb1(%x : i32), ^bb1(%x : i32)
^bb1(%k: i32):
  call @use(%k) : (i32) -> ()
  return
}
func.func @d(%p: i1, %x: i32, %y: i32) {
  call @use(%x) : (i32) -> ()
  cf.cond_br %p, ^bb1(%y : i32), ^bb2(%x : i32)
^bb1(%k: i32):
  call @use(%k) : (i32) -> ()
  return
^bb2(%l: i32):
  call @use(%l) : (i32) -> ()
  call @use(%l) : (i32) -> ()
  return
}
""",
    ),
    _case(
        "TransposeFolder",
        "the source is defined by vector.transpose",
        {"the operand is defined by vector.transpose"},
        """\
func.func @f(%a: vector<2x4x8xf32>, %b: vector<4x2x8xf32>)
    -> (vector<8x4x2xf32>, vector<4x8x2xf32>, vector<2x4x8xf32>, vector<2x8x4xf32>) {
  %0 = vector.transpose %a, [1, 0, 2] : vector<2x4x8xf32> to vector<4x2x8xf32>
  %1 = vector.transpose %0, [2, 0, 1] : vector<4x2x8xf32> to vector<8x4x2xf32>
  %2 = arith.addf %b, %b : vector<4x2x8xf32>
  %3 = vector.transpose %2, [0, 2, 1] : vector<4x2x8xf32> to vector<4x8x2xf32>
  %4 = vector.transpose %b, [1, 0, 2] : vector<4x2x8xf32> to vector<2x4x8xf32>
  %5 = vector.transpose %4, [0, 2, 1] : vector<2x4x8xf32> to vector<2x8x4xf32>
  return %1, %3, %4, %5
      : vector<8x4x2xf32>, vector<4x8x2xf32>, vector<2x4x8xf32>, vector<2x8x4xf32>
}
""",
    ),
    _case(
        "BroadcastFolder",
        "the source is defined by vector.broadcast",
        {"the operand is defined by vector.broadcast"},
        """\
func.func @f(%a: f32, %b: vector<4xf32>, %c: f32)
    -> (vector<2x4xf32>, vector<2x4xf32>, vector<3x2x4xf32>, vector<8xf32>, vector<2x4xf32>) {
  %0 = vector.broadcast %a : f32 to vector<4xf32>
  %1 = vector.broadcast %0 : vector<4xf32> to vector<2x4xf32>
  %2 = arith.addf %b, %b : vector<4xf32>
  %3 = vector.broadcast %2 : vector<4xf32> to vector<2x4xf32>
  %4 = vector.broadcast %b : vector<4xf32> to vector<2x4xf32>
  %5 = vector.broadcast %4 : vector<2x4xf32> to vector<3x2x4xf32>
  %6 = vector.broadcast %c : f32 to vector<8xf32>
  return %1, %3, %5, %6, %4
      : vector<2x4xf32>, vector<2x4xf32>, vector<3x2x4xf32>, vector<8xf32>, vector<2x4xf32>
}
""",
    ),
    _case(
        "*FuseElementwiseOps",
        "an input is defined by a linalg.generic whose result has one use",
        {
            "operand 0 has one use",
            "operand 1 has one use",
            "the number of uses of operand 0 is 1 or less",
        },
        """\
#id = affine_map<(d0) -> (d0)>
#t = {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
func.func private @use(tensor<4xf32>)
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic #t ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%i: f32, %o: f32):
    %k = arith.addf %i, %i : f32
    linalg.yield %k : f32
  } -> tensor<4xf32>
  %1 = linalg.generic #t ins(%0 : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%i: f32, %o: f32):
    %k = arith.mulf %i, %i : f32
    linalg.yield %k : f32
  } -> tensor<4xf32>
  call @use(%1) : (tensor<4xf32>) -> ()
  %2 = linalg.generic #t ins(%b : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%i: f32, %o: f32):
    %k = arith.mulf %i, %i : f32
    linalg.yield %k : f32
  } -> tensor<4xf32>
  %3 = linalg.generic #t ins(%2 : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%i: f32, %o: f32):
    %k = arith.subf %i, %i : f32
    linalg.yield %k : f32
  } -> tensor<4xf32>
  call @use(%3) : (tensor<4xf32>) -> ()
  %4 = linalg.generic #t ins(%c : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%i: f32, %o: f32):
    %k = arith.subf %i, %i : f32
    linalg.yield %k : f32
  } -> tensor<4xf32>
  call @use(%4) : (tensor<4xf32>) -> ()
  %5 = linalg.generic #t ins(%4 : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%i: f32, %o: f32):
    %k = arith.addf %i, %i : f32
    linalg.yield %k : f32
  } -> tensor<4xf32>
  call @use(%5) : (tensor<4xf32>) -> ()
  return
}
""",
        ("--linalg-fuse-elementwise-ops",),
    ),
    _case(
        "SimplifyAffineOp<mlir::affine::AffineLoadOp>",
        "an index is defined by affine.apply, or can be simplified otherwise",
        {
            "operand 1 is defined by affine.apply",
            "an operand of the operation is defined by affine.apply",
        },
        """\
#m = affine_map<(d0) -> (d0 + 1)>
func.func private @index() -> index
func.func @f(%m: memref<?xf32>, %n: memref<?xf32>, %x: f32) {
  affine.for %i = 0 to 4 {
    %k = affine.apply #m(%i)
    %0 = affine.load %m[%k] : memref<?xf32>
    %1 = affine.load %m[%i] : memref<?xf32>
    affine.store %0, %n[%i] : memref<?xf32>
    affine.store %1, %n[%i + 4] : memref<?xf32>
  }
  affine.for %i = 0 to 8 {
    %k = affine.apply #m(%i)
    %0 = affine.load %n[%k] : memref<?xf32>
    %1 = affine.load %n[%i + 1] : memref<?xf32>
    affine.store %0, %m[%i] : memref<?xf32>
    affine.store %1, %m[%i + 4] : memref<?xf32>
  }
  affine.for %i = 0 to 16 {
    %1 = affine.load %m[%i] : memref<?xf32>
    affine.store %1, %n[%i + 4] : memref<?xf32>
  }
  return
}
""",
    ),
    _case(
        "EraseIdentityLinalgOp<mlir::linalg::GenericOp>",
        "the body yields its argument and the map of the input is that of the result",
        {"the region yields an argument of its own", "the number of operations in the region is 1"},
        """\
#id = affine_map<(d0) -> (d0)>
#t = {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: f32)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic #t ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%i: f32, %o: f32):
    linalg.yield %i : f32
  } -> tensor<4xf32>
  %1 = linalg.generic #t ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%i: f32, %o: f32):
    %k = arith.addf %i, %i : f32
    linalg.yield %k : f32
  } -> tensor<4xf32>
  %2 = linalg.generic #t ins(%b : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%i: f32, %o: f32):
    linalg.yield %i : f32
  } -> tensor<4xf32>
  %3 = linalg.generic #t ins(%b : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%i: f32, %o: f32):
    %k = arith.mulf %i, %i : f32
    linalg.yield %k : f32
  } -> tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
""",
    ),
)
