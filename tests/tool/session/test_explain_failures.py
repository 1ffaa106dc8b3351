"""The leaves of explanations of real failures of conversions."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

import actiondbg
from tests.fakes import stock_tool as stock

Launch = Callable[..., actiondbg.Session]


class Failure(NamedTuple):
    """A failed conversion: options and input of the tool, and the cause to be found."""

    options: list[str]
    source: str
    kind: str
    text: str


def body(lines: str, arguments: str = "", results: str = "") -> str:
    arrow = f" -> {results}" if results else ""
    return f"func.func @f({arguments}){arrow} {{\n{lines}\n}}\n"


def kernel(lines: str, arguments: str = "") -> str:
    """A SPIR-V kernel for a device with no more than shaders."""
    return f"""\
module attributes {{gpu.container_module, spirv.target_env = #spirv.target_env<
    #spirv.vce<v1.4, [Shader], [SPV_KHR_storage_buffer_storage_class]>,
    #spirv.resource_limits<>>}} {{
  gpu.module @k {{
    gpu.func @f({arguments}) kernel attributes
        {{spirv.entry_point_abi = #spirv.entry_point_abi<workgroup_size = [16, 1, 1]>}} {{
      {lines}
      gpu.return
    }}
  }}
}}
"""


MEMREF_TO_EMITC = ["--convert-memref-to-emitc"]
ARITH_TO_EMITC = ["--convert-arith-to-emitc"]
ARITH_TO_SPIRV = ["--convert-arith-to-spirv"]
GPU_TO_SPIRV = ["--convert-gpu-to-spirv"]
SPIRV_TO_LLVM = ["--convert-spirv-to-llvm"]
WIDE = ["--arith-emulate-wide-int=widest-int-supported=32"]
WIDE_MEMORY = ["--memref-emulate-wide-int=widest-int-supported=32"]
SPARSE = "#S = #sparse_tensor.encoding<{map = (d0) -> (d0 : compressed)}>\n"


def tosa(name: str) -> list[str]:
    return [f"--pass-pipeline=builtin.module(func.func({name}))"]


FAILURES = {
    "emitc-copy": Failure(
        MEMREF_TO_EMITC,
        """\
func.func @f(%a: memref<2x?xf32>, %b: memref<2x?xf32>) {
  memref.copy %a, %b : memref<2x?xf32> to memref<2x?xf32>
  return
}
""",
        "type",
        "pattern ConvertCopy needs type memref<2x?xf32>, which its type converter does not convert",
    ),
    "emitc-alloca-dynamic": Failure(
        MEMREF_TO_EMITC,
        """\
func.func @f(%n: index) {
  %0 = memref.alloca(%n) : memref<4x?xf32>
  return
}
""",
        "reason",
        "pattern ConvertAlloca did not match: cannot transform alloca with dynamic shape",
    ),
    "emitc-global": Failure(
        MEMREF_TO_EMITC,
        """\
memref.global "nested" constant @g : memref<3x7xf32>
""",
        "reason",
        "pattern ConvertGlobal did not match: only public and private visibility is "
        "currently supported",
    ),
    "emitc-extsi-i1": Failure(
        ARITH_TO_EMITC,
        """\
func.func @f(%a: i1) -> i32 {
  %0 = arith.extsi %a : i1 to i32
  return %0 : i32
}
""",
        "reason",
        "pattern SignedCastConversion<mlir::arith::ExtSIOp> did not match: operation not "
        "supported on i1 type",
    ),
    "emitc-truncf-rounding": Failure(
        ARITH_TO_EMITC,
        """\
func.func @f(%a: f64) -> f32 {
  %0 = arith.truncf %a to_nearest_away : f64 to f32
  return %0 : f32
}
""",
        "reason",
        "pattern FpCastOpConversion<mlir::arith::TruncFOp> did not match: unsupported "
        "rounding mode",
    ),
    "emitc-func-results": Failure(
        ["--convert-func-to-emitc"],
        """\
func.func @f(%a: i32, %b: i32) -> (i32, i32) {
  return %a, %b : i32, i32
}
""",
        "reason",
        "pattern FuncOpConversion did not match: only functions with zero or one result "
        "can be converted",
    ),
    "spirv-divui": Failure(
        ARITH_TO_SPIRV,
        """\
func.func @f(%a: vector<2xi16>) -> vector<2xi16> {
  %0 = arith.divui %a, %a : vector<2xi16>
  return %0 : vector<2xi16>
}
""",
        "reason",
        "pattern mlir::spirv::ElementwiseOpPattern<mlir::arith::DivUIOp, "
        "mlir::spirv::UDivOp> did not match: bitwidth emulation is not implemented yet "
        "on unsigned op pattern version",
    ),
    "spirv-const-i64": Failure(
        ARITH_TO_SPIRV,
        """\
func.func @f() -> i64 {
  %0 = arith.constant 4294967296 : i64
  return %0 : i64
}
""",
        "type",
        "pattern ConstantScalarOpPattern needs type i64, which mlir::SPIRVTypeConverter "
        "does not convert",
    ),
    "spirv-extsi-result": Failure(
        ARITH_TO_SPIRV,
        """\
module attributes {spirv.target_env =
    #spirv.target_env<#spirv.vce<v1.0, [], []>, #spirv.resource_limits<>>} {
  func.func @f(%a: i32) -> i64 {
    %0 = arith.extsi %a : i32 to i64
    return %0 : i64
  }
}
""",
        "type",
        "pattern ExtSIPattern needs type i64, which mlir::SPIRVTypeConverter does not convert",
    ),
    "gpu-shuffle32": Failure(
        GPU_TO_SPIRV,
        kernel("""%c = arith.constant 32 : i32
      %o = arith.constant 1 : i32
      %v = arith.constant 1.0 : f32
      %0, %p = gpu.shuffle xor %v, %o, %c : f32"""),
        "no pattern",
        "pattern GPUShuffleConversion makes spirv.GroupNonUniformShuffleXor, which the "
        "target refuses, and for which there is no pattern",
    ),
    "gpu-allreduce": Failure(
        GPU_TO_SPIRV,
        kernel("%0 = gpu.all_reduce add %p uniform {} : (f32) -> f32", "%p: f32"),
        "no pattern",
        "pattern GPUAllReduceConversion makes spirv.GroupFAdd, which the target refuses, "
        "and for which there is no pattern",
    ),
    "gpu-rotate": Failure(
        GPU_TO_SPIRV,
        kernel("%0, %p = gpu.rotate %v, 4, 16 : f32", "%v: f32"),
        "no pattern",
        "pattern GPURotateConversion makes spirv.GroupNonUniformRotateKHR, which the "
        "target refuses, and for which there is no pattern",
    ),
    "gpu-printf": Failure(
        GPU_TO_SPIRV,
        kernel('gpu.printf "%d", %v : i32', "%v: i32"),
        "no pattern",
        "pattern GPUPrintfConversion makes spirv.GlobalVariable, which the target "
        "refuses, and for which there is no pattern",
    ),
    "gpu-alloc": Failure(
        GPU_TO_SPIRV,
        kernel("%0 = memref.alloc() : memref<16xf32>"),
        "reason",
        "pattern AllocOpPattern did not match: unhandled allocation type",
    ),
    "gpu-memref-of-f64": Failure(
        GPU_TO_SPIRV,
        kernel(
            "%c = arith.constant 0 : i32", "%b: memref<16xf64, #spirv.storage_class<StorageBuffer>>"
        ),
        "type",
        "pattern GPUFuncOpConversion needs type memref<16xf64, "
        "#spirv.storage_class<StorageBuffer>>, which mlir::SPIRVTypeConverter does not "
        "convert",
    ),
    "gpu-dim": Failure(
        GPU_TO_SPIRV,
        kernel(
            """%i = arith.constant 0 : index
      %0 = memref.dim %b, %i : memref<?xf32, #spirv.storage_class<StorageBuffer>>""",
            "%b: memref<?xf32, #spirv.storage_class<StorageBuffer>>",
        ),
        "no pattern",
        "no pattern for memref.dim",
    ),
    "gpu-erf-in-loop": Failure(
        GPU_TO_SPIRV,
        kernel(
            """%i = arith.constant 0 : index
      %s = arith.constant 1 : index
      scf.for %j = %i to %s step %s {
        %0 = math.erf %v : f32
      }""",
            "%v: f32",
        ),
        "no pattern",
        "no pattern for math.erf",
    ),
    "spirv-llvm-array": Failure(
        SPIRV_TO_LLVM,
        """\
spirv.module Logical GLSL450 {
  spirv.func @f(%a: !spirv.array<4 x f32, stride=8>) -> () "None" {
    spirv.Return
  }
}
""",
        "type",
        "pattern FuncConversionPattern needs type !spirv.array<4 x f32, stride=8>, which "
        "mlir::LLVMTypeConverter does not convert",
    ),
    "spirv-llvm-loop": Failure(
        SPIRV_TO_LLVM,
        """\
spirv.module Logical GLSL450 {
  spirv.func @f(%c: i1) -> () "None" {
    spirv.mlir.loop control(Unroll) {
      spirv.Branch ^header
    ^header:
      spirv.BranchConditional %c, ^body, ^merge
    ^body:
      spirv.Branch ^continue
    ^continue:
      spirv.Branch ^header
    ^merge:
      spirv.mlir.merge
    }
    spirv.Return
  }
}
""",
        "no reason",
        "pattern LoopPattern did not match, and gave no reason",
    ),
    "spirv-llvm-nopattern": Failure(
        SPIRV_TO_LLVM,
        """\
spirv.module Logical GLSL450 {
  spirv.func @f(%a: vector<4xf32>, %b: vector<4xf32>) -> f32 "None" {
    %0 = spirv.Dot %a, %b : vector<4xf32> -> f32
    spirv.ReturnValue %0 : f32
  }
}
""",
        "no pattern",
        "no pattern for spirv.Dot",
    ),
    "tosa-unranked": Failure(
        tosa("tosa-to-linalg"),
        """\
func.func @f(%a: tensor<*xi8>) -> tensor<*xi8> {
  %0 = tosa.abs %a : (tensor<*xi8>) -> tensor<*xi8>
  return %0 : tensor<*xi8>
}
""",
        "reason",
        "pattern PointwiseConverter<mlir::tosa::AbsOp> did not match: Unranked tensors "
        "not supported",
    ),
    "tosa-conv2d": Failure(
        tosa("tosa-to-linalg-named"),
        """\
func.func @f(%a: tensor<1x5x5x?xf32>, %w: tensor<2x3x3x4xf32>, %b: tensor<2xf32>
    , %zp: tensor<1xf32>) -> tensor<1x?x?x2xf32> {
  %0 = tosa.conv2d %a, %w, %b, %zp, %zp {acc_type = f32, dilation = array<i64: 1, 1>,
      pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
          : (tensor<1x5x5x?xf32>, tensor<2x3x3x4xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>)
      -> tensor<1x?x?x2xf32>
  return %0 : tensor<1x?x?x2xf32>
}
""",
        "reason",
        "pattern ConvConverter<mlir::tosa::Conv2DOp, mlir::linalg::Conv2DNhwcFhwcOp, "
        "mlir::linalg::Conv2DNhwcFhwcQOp> did not match: input zero point cannot be "
        "statically determined",
    ),
    "tosa-while": Failure(
        tosa("tosa-to-linalg-named,tosa-to-linalg"),
        """\
func.func @f(%a: tensor<i32>) -> tensor<i32> {
  %0 = tosa.while_loop (%x = %a) : (tensor<i32>) -> tensor<i32> {
    %c = tosa.greater_equal %a, %x : (tensor<i32>, tensor<i32>) -> tensor<i1>
    tosa.yield %c : tensor<i1>
  } do {
  ^bb0(%y: tensor<i32>):
    tosa.yield %y : tensor<i32>
  }
  return %0 : tensor<i32>
}
""",
        "no pattern",
        "no pattern for tosa.yield",
    ),
    "wide-i128": Failure(
        WIDE,
        """\
func.func @f(%a: i64) -> i64 {
  %0 = arith.extsi %a : i64 to i128
  %1 = arith.trunci %0 : i128 to i64
  return %1 : i64
}
""",
        "type",
        "pattern ConvertExtSI needs type i128, which "
        "mlir::arith::WideIntEmulationConverter does not convert",
    ),
    "wide-signature": Failure(
        WIDE,
        """\
func.func @f(%a: vector<4xi128>) -> vector<4xi64> {
  %0 = arith.trunci %a : vector<4xi128> to vector<4xi64>
  return %0 : vector<4xi64>
}
""",
        "type",
        "pattern FunctionOpInterfaceSignatureConversion needs type vector<4xi128>, which "
        "mlir::arith::WideIntEmulationConverter does not convert",
    ),
    "wide-store": Failure(
        WIDE,
        """\
func.func @f(%m: memref<4xi64>, %i: index, %a: i32) {
  %0 = arith.extsi %a : i32 to i64
  memref.store %0, %m[%i] : memref<4xi64>
  return
}
""",
        "materialization",
        "@3 memref.store was not converted, and still needs the type i64 of a value that "
        "is now vector<2xi32>",
    ),
    "wide-load": Failure(
        WIDE,
        """\
func.func @f(%m: memref<4xi64>, %i: index) -> i64 {
  %0 = memref.load %m[%i] : memref<4xi64>
  %1 = arith.addi %0, %0 : i64
  return %1 : i64
}
""",
        "materialization",
        "@2 memref.load was not converted, and still gives type i64 where @11 "
        "vector.extract needs vector<2xi32>",
    ),
    "wide-argument": Failure(
        WIDE_MEMORY,
        """\
func.func @f(%m: memref<4xi64>, %i: index) {
  %0 = memref.load %m[%i] : memref<4xi64>
  return
}
""",
        "materialization",
        "an argument of @4 func.func was not converted, and is still of type "
        "memref<4xi64> where @7 memref.load needs memref<4xvector<2xi32>>",
    ),
    "wide-subview": Failure(
        WIDE_MEMORY,
        """\
func.func @f(%i: index) {
  %m = memref.alloc() : memref<4xi64>
  %s = memref.subview %m[0] [2] [1] : memref<4xi64> to memref<2xi64>
  return
}
""",
        "no pattern",
        "no pattern for memref.subview",
    ),
    "async-load": Failure(
        ["--convert-async-to-llvm"],
        """\
func.func @f(%a: !async.value<tensor<4xf32>>) -> tensor<4xf32> {
  %0 = async.runtime.load %a : !async.value<tensor<4xf32>>
  return %0 : tensor<4xf32>
}
""",
        "type",
        "pattern RuntimeLoadOpLowering needs type tensor<4xf32>, which "
        "mlir::LLVMTypeConverter does not convert",
    ),
    "emitc-if-of-vector": Failure(
        ["--convert-scf-to-emitc"],
        """\
func.func @f(%c: i1, %a: vector<4xf32>) -> vector<4xf32> {
  %0 = scf.if %c -> vector<4xf32> { scf.yield %a : vector<4xf32> } else { scf.yield %a
      : vector<4xf32> }
  return %0 : vector<4xf32>
}
""",
        "type",
        "pattern IfLowering needs type vector<4xf32>, which its type converter does not convert",
    ),
    "cf-block-argument": Failure(
        ["--convert-cf-to-llvm"],
        """\
func.func @f(%c: i1, %a: tensor<4xf32>) {
  cf.cond_br %c, ^a(%a : tensor<4xf32>), ^b
^a(%x: tensor<4xf32>):
  cf.br ^b
^b:
  return
}
""",
        "type",
        "pattern CondBranchOpLowering needs type tensor<4xf32>, which "
        "mlir::LLVMTypeConverter does not convert",
    ),
    "sparse-select": Failure(
        ["--sparse-tensor-conversion"],
        SPARSE
        + """\
func.func @f(%a: tensor<8xf32, #S>, %c: i1, %b: tensor<8xf32, #S>) -> tensor<8xf32, #S> {
  %n = sparse_tensor.number_of_entries %a : tensor<8xf32, #S>
  %0 = arith.select %c, %a, %b : tensor<8xf32, #S>
  return %0 : tensor<8xf32, #S>
}
""",
        "materialization",
        "@3 arith.select was not converted",
    ),
    "sparse-concatenate": Failure(
        ["--sparse-tensor-codegen"],
        SPARSE
        + """\
func.func @f(%a: tensor<8xf32, #S>, %p: tensor<2xf32, #S>) -> tensor<10xf32, #S> {
  %0 = sparse_tensor.concatenate %a, %p {dimension = 0 : index}
      : tensor<8xf32, #S>, tensor<2xf32, #S> to tensor<10xf32, #S>
  return %0 : tensor<10xf32, #S>
}
""",
        "no pattern",
        "no pattern for sparse_tensor.concatenate",
    ),
    "openmp-atomic": Failure(
        ["--convert-openmp-to-llvm"],
        """\
func.func @f(%a: memref<i32, "x">, %v: i32) {
  omp.atomic.write %a = %v : memref<i32, "x">, i32
  return
}
""",
        "type",
        "pattern OpenMPOpConversion<mlir::omp::AtomicWriteOp> needs type memref<i32, "
        '"x">, which mlir::LLVMTypeConverter does not convert',
    ),
    "linalg-on-tensors": Failure(
        ["--convert-linalg-to-std"],
        """\
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0)
      -> (d0)>], iterator_types = ["parallel"]} outs(%a : tensor<4xf32>) {
  ^bb0(%x: f32):
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
""",
        "reason",
        "pattern mlir::linalg::LinalgOpToLibraryCallRewrite did not match: Library call "
        "for linalg operation can be generated only for ops that have void return types",
    ),
    "math-libm": Failure(
        ["--convert-math-to-libm"],
        """\
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.tanh %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
""",
        "no reason",
        "none of 3 patterns for math.tanh matched, and none gave a reason",
    ),
    "math-fpowi": Failure(
        ["--convert-math-to-funcs"],
        """\
func.func @f(%a: f32, %b: tensor<4xf32>, %c: tensor<4xi32>) -> tensor<4xf32> {
  %0 = math.fpowi %b, %c : tensor<4xf32>, tensor<4xi32>
  return %0 : tensor<4xf32>
}
""",
        "materialization",
        "@3 func.return was not converted, and still needs the type tensor<4xf32> of a "
        "value that is now f32",
    ),
    "clone-with-stride": Failure(
        ["--convert-bufferization-to-memref"],
        """\
func.func @f(%a: memref<?xf32, strided<[2], offset: ?>>) -> memref<?xf32,
    strided<[2], offset: ?>> {
  %0 = bufferization.clone %a : memref<?xf32, strided<[2], offset: ?>> to memref<?xf32,
      strided<[2], offset: ?>>
  return %0 : memref<?xf32, strided<[2], offset: ?>>
}
""",
        "no reason",
        "pattern CloneOpConversion did not match, and gave no reason",
    ),
    "xegpu": Failure(
        ["--convert-xegpu-to-xevm"],
        """\
gpu.module @k {
  gpu.func @f(%a: memref<?x16xf32, "x">) {
    %0 = xegpu.create_nd_tdesc %a[0, 0], shape: [8, 16], strides: [16, 1]
        : memref<?x16xf32, "x"> -> !xegpu.tensor_desc<8x16xf32>
    gpu.return
  }
}
""",
        "reason",
        "pattern CreateNdDescToXeVMPattern did not match: Offsets not supported",
    ),
    "amdgpu-wmma": Failure(
        ["--convert-amdgpu-to-rocdl=chipset=gfx942"],
        """\
func.func @f(%a: vector<16xf16>, %c: vector<8xf32>) -> vector<8xf32> {
  %0 = amdgpu.wmma 16x16x16 %a * %a + %c : vector<16xf16>, vector<16xf16>, vector<8xf32>
  return %0 : vector<8xf32>
}
""",
        "reason",
        "pattern WMMAOpLowering did not match: 'amdgpu.wmma' op WMMA only supported on "
        "gfx11 and gfx12",
    ),
}


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES.keys())
def test_the_cause_of_a_failure(launch: Launch, failure: Failure) -> None:
    session = launch(*failure.options, source=stock.write("a.mlir", failure.source))
    session.breakpoints.catch("failure")
    assert session.run().reason == "catch"
    cause = session.past.explain().cause
    assert cause is not None
    assert cause.kind == failure.kind
    # Which of several casts comes first depends on addresses.
    assert (
        cause.text.startswith(failure.text)
        if failure.kind == "materialization"
        else (cause.text == failure.text)
    )


CRASH = """\
func.func @f(%a: tensor<*xf32>) -> tensor<13x1x3xf32> {
  %s = tosa.const_shape {values = dense<[13, 1, 3]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %0 = tosa.reshape %a, %s : (tensor<*xf32>, !tosa.shape<3>) -> tensor<13x1x3xf32>
  return %0 : tensor<13x1x3xf32>
}
"""


def test_a_pattern_that_crashes(launch: Launch) -> None:
    session = launch("--tosa-to-tensor", source=stock.write("a.mlir", CRASH))
    stop = session.run()
    if stop.reason != "crash":
        pytest.skip("this build has no assertion that fails")
    found = session.past.explain()
    assert found.failed is not None and found.failed.failed is None
    assert found.cause is not None and found.cause.kind == "unfinished"
    assert found.cause.text == "pattern ReshapeConverter was being applied when the tool stopped"


CAST = """\
func.func @f(%a: memref<4xf32>, %i: index) -> f32 {
  %0 = memref.load %a[%i] : memref<4xf32>
  return %0 : f32
}
"""


def test_casts_that_a_conversion_left(launch: Launch) -> None:
    session = launch("--finalize-memref-to-llvm", source=stock.write("a.mlir", CAST))
    assert session.run().when == "exit"
    found = session.past.explain("op:builtin.unrealized_conversion_cast")
    ((_, left),) = found.never_tried()
    index = next(cast for cast in left.casts if cast.source == ["index"])
    assert left.count == len(left.casts) == 2
    assert index.target == ["i64"] and index.made and index.argument
    assert index.definer is not None and index.definer.name == "func.func"
    assert [(user.name, user.converted) for user in index.users] == [("llvm.getelementptr", True)]
    (of_memref,) = (cast for cast in left.casts if cast is not index)
    assert of_memref.source == ["memref<4xf32>"]
