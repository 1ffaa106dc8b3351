"""Operations chosen by the words of users."""

from __future__ import annotations

import pytest

from actiondbg.lineage.stage import scanned_stage, select

TEXT = r"""
module @outer {
  func.func private @"na me \22q\22"()
  module @inner {
    func.func private @f()
  }
  func.func private @f()
}
"""


@pytest.mark.parametrize(
    ("symbol", "lines"),
    [
        (r'@"na me \22q\22"', [3]),
        ('@na me "q"', [3]),
        ("@f", [5, 7]),
        ('@"f"', [5, 7]),
        ("@inner::@f", [5]),
        ('@outer::@"inner"::@f', [5]),
    ],
)
def test_a_symbol(symbol: str, lines: list[int]) -> None:
    stage = scanned_stage(TEXT, "text").stage
    assert [one.line for one in select(stage, symbol)] == lines
