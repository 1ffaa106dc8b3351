"""Large constants, left out of diffs."""

from __future__ import annotations

import pytest

from actiondbg.ir.diff import Diff
from actiondbg.ir.elision import without_elements

HEX = '"0x0000803F00000040"'
LARGE = f"  %0 = arith.constant dense<{HEX}> : tensor<128xf32>\n"
SHORT = "  %0 = arith.constant dense_resource<__elided__> : tensor<128xf32>\n"


def test_large_constants_are_left_out() -> None:
    blob = '  r: "0x04000000AABBCCDDEEFF0011"\n'
    small = "  %1 = arith.constant dense<[1, 2]> : tensor<2xi32>\n"
    splat = "  %2 = arith.constant dense<1.0> : tensor<128xf32>\n"
    kept = Diff(LARGE + blob + small + splat, LARGE + "  test.op\n").elided(8)
    assert kept.before == f'{SHORT}  r: "__elided__"\n{small}{splat}'
    assert kept.after == f"{SHORT}  test.op\n"
    nested = "  %1 = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : vector<2x3xi32>\n"
    assert "__elided__" in Diff(nested, "").elided(5).before
    assert Diff(nested, "").elided(6).before == nested


def test_a_change_within_a_constant_stays_a_change() -> None:
    other = LARGE.replace("803F", "8040")
    diff = Diff(LARGE + "  a\n", other + "  a\n").elided(16)
    removed, added = (line for line in diff.unified() if line[0] in "+-")
    assert removed[1:] != added[1:]
    assert removed.startswith("-  %0 = arith.constant dense_resource<__elided__ #")
    assert HEX not in diff.before + diff.after


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ('dense<["a>", "b]", "c\\22>"]> : tensor<3x!x.s>', 3),
        ("dense<[#x.y<[1, 2]>, #x.y<(a) -> 3>]> : tensor<2x!x.s>", 2),
        ("dense<[[(1, 2), (3, 4)], [(5, 6), (7, 8)]]> : tensor<2x2xcomplex<i32>>", 4),
        ("sparse<[[0, 0], [1, 2]], [1, 5]> : tensor<3x4xi32>", 4),  # the indices
        ("sparse<0, [1, 2]> : tensor<3xi32>", 2),
        (f"dense<{HEX}> : memref<2xf32>", 2),
    ],
)
def test_a_constant_is_elided_by_the_number_of_its_elements(text: str, size: int) -> None:
    line = f'%0 = "x.y"() {{a = {text}, b = 1}} : () -> i32\n'
    constant, _, type = text.rpartition(" : ")
    short = line.replace(constant, "dense_resource<__elided__>")
    assert without_elements(line, size - 1) == short and type in short
    assert without_elements(line, size) == line


@pytest.mark.parametrize(
    "text",
    [
        "dense<1.0> : tensor<128xf32>",
        "sparse<0, 5> : tensor<128xi32>",
        'dense<"0xAB"> : tensor<128x!x.s>',
        '"dense<[1, 2]> : tensor<2xi32>"',
        "array<i32: 1, 2, 3>",
        "#x.dense<[1, 2]>",
        "dense_resource<blob> : tensor<128xf32>",
        "dense<[1, 2",  # a line that was cut
    ],
)
def test_what_the_printer_does_not_elide(text: str) -> None:
    line = f"%0 = x.y {{a = {text}}}\n"
    assert without_elements(line, 0) == line


def test_resources_are_elided_in_diffs_alone() -> None:
    text = '{-#\n  dialect_resources: {\n    r: "0x04000000AABBCCDDEEFF0011"\n'
    assert without_elements(text, 8) == text
    assert Diff(text, "").elided(8).before == text.replace(
        "0x04000000AABBCCDDEEFF0011", "__elided__"
    )


def test_a_type_before_the_constant() -> None:
    line = f"memref.global @g : memref<2x1xf32, 1> = dense<{HEX}> {{alignment = 64 : i64}}\n"
    assert "= dense_resource<__elided__> {" in without_elements(line, 1)
    assert without_elements(line, 2) == line
