"""Programs that differ in something that MLIR's Python bindings hide, or round."""

from __future__ import annotations

import pytest

from actiondbg.validation.function_judgement import Query
from actiondbg.validation.module_judge import ModuleJudge

_FUNCTION = (
    "func.func @f(%x: i32, %p: !llvm.ptr, %q: !ptr.ptr<#ptr.generic_space>) {{\n{}\nreturn\n}}"
)
_OTHERS = {
    "a sign": (
        "%0 = emitc.cast %x : i32 to ui32\n%1 = emitc.cmp lt, %0, %0 : (ui32, ui32) -> i1",
        "%0 = emitc.cast %x : i32 to si32\n%1 = emitc.cmp lt, %0, %0 : (si32, si32) -> i1",
    ),
    "a flag of getelementptr": (
        "%0 = llvm.getelementptr %p[%x] : (!llvm.ptr, i32) -> !llvm.ptr, i32",
        "%0 = llvm.getelementptr inbounds %p[%x] : (!llvm.ptr, i32) -> !llvm.ptr, i32",
    ),
    "an alignment of ptr": (
        "%0 = ptr.load %q alignment = 4 : !ptr.ptr<#ptr.generic_space> -> i32",
        "%0 = ptr.load %q alignment = 8 : !ptr.ptr<#ptr.generic_space> -> i32",
    ),
    "a long float": (
        "%0 = arith.constant 0x3FFF0000000000000000000000000000 : f128",
        "%0 = arith.constant 0x3FFF0000000000000000000000000001 : f128",
    ),
    "an element that is a long float": (
        "%0 = arith.constant dense<[0x3FFF0000000000000000000000000000, 0.0]> : vector<2xf128>",
        "%0 = arith.constant dense<[0x3FFF0000000000000000000000000001, 0.0]> : vector<2xf128>",
    ),
    "the payload of a NaN": (
        "%0 = arith.constant 0x7FC00000 : f32\n%1 = arith.bitcast %0 : f32 to i32",
        "%0 = arith.constant 0x7FC00001 : f32\n%1 = arith.bitcast %0 : f32 to i32",
    ),
    "the sign of a NaN": (
        "%0 = arith.constant 0x7E00 : f16\n%1 = arith.bitcast %0 : f16 to i16",
        "%0 = arith.constant 0xFE00 : f16\n%1 = arith.bitcast %0 : f16 to i16",
    ),
    "an element that is a NaN with a payload": (
        "%0 = arith.constant dense<[1.0, 0x7FC00000]> : vector<2xf32>",
        "%0 = arith.constant dense<[1.0, 0x7FC00001]> : vector<2xf32>",
    ),
    "an element of two bytes that is a NaN with a payload": (
        "%0 = arith.constant dense<[1.0, 0x7FC0]> : vector<2xbf16>",
        "%0 = arith.constant dense<[1.0, 0x7FC1]> : vector<2xbf16>",
    ),
    "elements that are NaNs with a sign": (
        "%0 = arith.constant dense<0x7FC00000> : vector<2xf32>",
        "%0 = arith.constant dense<0xFFC00000> : vector<2xf32>",
    ),
    "one of many elements that is a NaN with a payload": (
        f"%0 = arith.constant dense<[{'1.0, ' * 110}0x7FC00000]> : vector<111xf32>",
        f"%0 = arith.constant dense<[{'1.0, ' * 110}0x7FC00001]> : vector<111xf32>",
    ),
    "elements that are one long integer": (
        "%0 = arith.constant dense<1> : vector<2xi128>",
        "%0 = arith.constant dense<36893488147419103233> : vector<2xi128>",
    ),
}


@pytest.mark.parametrize("name", _OTHERS)
def test_a_difference_is_read(name: str) -> None:
    before, after = (f"{_FUNCTION.format(each)}" for each in _OTHERS[name])
    assert not ModuleJudge().judge(Query(before, before))
    assert [each.symbol for each in ModuleJudge().judge(Query(before, after))] == ["f"]
