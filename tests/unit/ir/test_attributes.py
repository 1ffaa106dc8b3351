"""The attributes of an operation in the generic form."""

from __future__ import annotations

import pytest

from actiondbg.ir.attributes import attributes_of, operands_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"func.return"(%0) : (i32) -> ()', []),
        ('%0 = "arith.constant"() <{value = 2 : i32}> : () -> i32', [("value", "2 : i32")]),
        (
            '%2:2 = "a.b"(%0, %1)[^bb1, ^bb2] <{map = affine_map<(d0, d1) -> (d1)>, s = "x, }>"}> '
            '({\n  ^bb0:\n}) {unit, "q.w" = [1, 2], t = (i32) -> i64} : (i32, i32) -> (i1, i1)',
            [
                ("map", "affine_map<(d0, d1) -> (d1)>"),
                ("s", '"x, }>"'),
                ("unit", ""),
                ("q.w", "[1, 2]"),
                ("t", "(i32) -> i64"),
            ],
        ),
        ("module {...}", []),
        ("", []),
    ],
)
def test_attributes_and_properties(text: str, expected: list[tuple[str, str]]) -> None:
    assert attributes_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"func.return"(%0) : (i32) -> ()', ["%0"]),
        ('%0 = "arith.constant"() <{value = 2 : i32}> : () -> i32', []),
        ('%2:2 = "a.b"(%x, %1#1, %x)[^bb1] : (i32, i32, i32) -> (i1, i1)', ["%x", "%1#1", "%x"]),
        ("module {...}", []),
    ],
)
def test_operands(text: str, expected: list[str]) -> None:
    assert operands_of(text) == expected
