"""The lines of printed IR, by the numbers of MLIR's printer."""

from __future__ import annotations

import pytest

from actiondbg.ir.line_numbers import actual_lines, actual_range

OPAQUE = """\
#alias = #a.target<"x > {", {
  size = [1,
    2], map = (i1) -> i1
}>
// A comment: #a.target<
module attributes {a.t = #alias, b.s = "#a.t<"} {
  func.func @f(%x: !a.pair<i32,
i32>) {
    return
  }
}
"""
PLAIN = """\
#map = affine_map<(d0) -> (d0)>
module {
  func.func @f(%x: !llvm.struct<(ptr, array<2 x i64>)>) -> !a.fn<() -> i1> {
    %0 = test.op {set = affine_set<(d0) : (d0 >= 0)>} : !llvm.ptr<1>
    return
  }
}
"""


def test_newlines_in_attributes_of_unknown_dialects_are_not_counted() -> None:
    actual = actual_lines(OPAQUE)
    assert [actual(line) for line in range(1, 8)] == [1, 5, 6, 7, 9, 10, 11]


@pytest.mark.parametrize("text", [PLAIN, "", "%0 = x.y #a.cut<\n\n", OPAQUE.split("\n")[0]])
def test_other_texts_have_the_lines_of_the_printer(text: str) -> None:
    actual = actual_lines(text)
    assert [actual(line) for line in range(1, 8)] == [1, 2, 3, 4, 5, 6, 7]


def test_an_operation_ends_with_its_attribute_that_spans_lines() -> None:
    text = 'module {\n  "x.y"() {a = #p.q<[\n 1,\n 2]>} : () -> ()\n  x.z\n}\n'
    assert [actual_range(text, *each) for each in ((2, 2), (2, 3), (3, 3), (1, 4))] == [
        (2, 4),
        (2, 5),
        (5, 5),
        (1, 6),
    ]
    assert actual_range(PLAIN, 3, 4) == (3, 4)


def test_brackets_in_strings_do_not_close() -> None:
    actual = actual_lines('x.y {a = #p.q<{s = "a>b",\n n = 2}>}\nx.z\n')
    assert [actual(line) for line in (1, 2)] == [1, 3]


def test_long_lines_are_read_once() -> None:
    elements = f'dense<"0x{"F0" * 2**20}"> : tensor<{2**20}xi8>'
    line = f"x.y {{a = {elements}, b = #p.q<[{'1, ' * 2**18}]>}}"
    actual = actual_lines(f"{line}\n" * 3)
    assert [actual(each) for each in (1, 2, 3)] == [1, 2, 3]
