"""Large constants, left out of diffs."""

from __future__ import annotations

from actiondbg.ir.diff import Diff

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
