"""Lines of IR on a terminal: what changed, cut to the width, with short names of maps."""

from __future__ import annotations

import re

import pytest

from actiondbg.commands.render.ir_text.ir_view import IRView
from actiondbg.commands.render.ir_text.lines import lines_text, names_text
from actiondbg.commands.render.ir_text.marks import MarkedLine, compare, compare_words
from actiondbg.commands.render.ir_text.short_names import ShortNames
from actiondbg.ir.printed import without_inner_regions
from actiondbg.protocol import Line
from tests.fakes.session.driver import Driver


def line(id: int, text: str, depth: int = 1, part: int = 0) -> Line:
    return Line(kind="part" if part else "operation", id=id, part=part, depth=depth, text=text)


class ColoredView(IRView):
    """A view on a terminal, with brackets instead of the colours of IR."""

    @property
    def colored(self) -> bool:
        return True

    def paint(self, text: str) -> str:
        return f"<{text}>"


def view(width: int = 60, kind: type[IRView] = IRView) -> IRView:
    return kind(Driver().console).in_columns(width)


BEFORE = [line(2, "%0 = a"), line(3, "%1 = b %0"), line(4, "use %1"), line(5, "end")]


def test_an_action_is_shown_as_a_diff() -> None:
    after = [line(2, "%0 = a"), line(9, "%2 = c %0"), line(4, "use %2"), line(5, "end")]
    marked = compare(BEFORE, after, inserted={9}, erased={3})
    assert [(each.sign, each.line.id) for each in marked] == [
        (" ", 2),
        ("-", 3),
        ("+", 9),
        ("~", 4),
        (" ", 5),
    ]


def test_lines_that_leave_the_window_are_not_erased() -> None:
    marked = compare(BEFORE, BEFORE[2:], inserted=set(), erased={77})
    assert [(each.sign, each.line.id) for each in marked] == [(" ", 4), (" ", 5)]


def test_a_constant_that_was_elided_before_is_not_modified() -> None:
    """The setting was changed between the two stops."""
    elided = line(2, "%0 = arith.constant dense_resource<__elided__> : tensor<20xi8>")
    whole = line(2, "%0 = arith.constant dense<[0, 1]> : tensor<20xi8>")
    for before, after in ((elided, whole), (whole, elided)):
        assert compare([before], [after], set(), set()) == [MarkedLine(after)]
    other = line(2, "%0 = arith.constant dense<[0, 2]> : tensor<20xi8>")
    assert compare([whole], [other], set(), set()) == [MarkedLine(other, "~", whole.text)]


def test_each_line_has_its_id_and_the_current_one_an_arrow() -> None:
    lines = [line(2, "scf.for {"), line(13, "x", 2), line(2, "}", 1, part=1)]
    texts = lines_text(view(), [MarkedLine(each) for each in lines], lines[1])
    assert texts == ["      @2 scf.for {", "-->  @13   x", "         }"]


@pytest.mark.parametrize("width", [40, 50, 60, 100])
def test_lines_are_cut_between_words(width: int) -> None:
    text = "%0 = arith.addi %some_operand, %another_operand : tensor<64x64xi32>"
    (shown,) = lines_text(view(width), [MarkedLine(line(2, text))], None)
    assert len(shown) <= width
    assert (shown.endswith("…")) == (width < len(text) + 9)
    kept = shown.removesuffix("…").split()[1:]
    assert text.split()[: len(kept)] == kept


def test_changed_words_stand_out() -> None:
    changed = MarkedLine(line(4, "use %2 : i32"), "~", "use %1 : i32")
    (shown,) = lines_text(view(kind=ColoredView), [changed], None)
    assert "\x1b[1;33m%2\x1b[0m" in shown and "<use >" in shown and "< : i32>" in shown
    assert "\x1b[32m" in lines_text(view(kind=ColoredView), [MarkedLine(BEFORE[0], "+")], None)[0]
    assert "\x1b[31m" in lines_text(view(kind=ColoredView), [MarkedLine(BEFORE[0], "-")], None)[0]


def test_words_that_differ_are_found_on_both_sides() -> None:
    before, after = compare_words("return %1 : i32", "return %2 : i32")
    assert [each.text for each in before if each.is_changed] == ["%1"]
    assert [each.text for each in after if each.is_changed] == ["%2"]
    assert "".join(each.text for each in after) == "return %2 : i32"


def test_maps_are_short_and_keep_their_names() -> None:
    names = ShortNames()
    first = "affine_map<(d0, d1) -> (d0, d1)>"
    second = "affine_map<(d0)[s0] -> (d0 ceildiv s0)>"
    assert names.shorten(f"[{first}, {second}, {first}]") == "[#map, #map1, #map]"
    assert names.shorten(f"{second} x") == "#map1 x"
    assert names.shorten("affine_set<(d0) : (d0 - 4 >= 0)>") == "#set"


BLOCKED = "#ttg.blocked<{sizePerThread = [1, 8], order = [1, 0]}>"


@pytest.mark.parametrize(
    ("text", "short"),
    [
        (f"tensor<4xf16, {BLOCKED}>", "tensor<4xf16, #blocked>"),
        (
            f"#ttg.slice<{{dim = 1, parent = {BLOCKED}}}>",
            "#ttg.slice<{dim = 1, parent = #blocked}>",
        ),
        ("#arith.fastmath<fast>", "#arith.fastmath<fast>"),
        ('{t = #hal.device.target<"a<b", {x = 1 : i32}>}', "{t = #device_target}"),
        (f'{{text = "{BLOCKED}"}}', f'{{text = "{BLOCKED}"}}'),
        (f'"a \\" b" {BLOCKED}', '"a \\" b" #blocked'),
        ("#ttg.blocked<{sizePerThread = [1, 8],", "#ttg.blocked<{sizePerThread = [1, 8],"),
        ("affine_map<(d0) -> (d0), ", "affine_map<(d0) -> (d0), "),
        ("!llvm.struct<(ptr, ptr, i64, i64, i64, i64)>",) * 2,
    ],
)
def test_long_attributes_are_short(text: str, short: str) -> None:
    assert ShortNames().shorten(text) == short


def test_a_name_is_explained_once() -> None:
    other = BLOCKED.replace("1, 8", "2, 2")
    lines = [
        MarkedLine(line(2, f"%0 = a : tensor<4xf16, {BLOCKED}>")),
        MarkedLine(line(3, f"%1 = b : tensor<4xf16, {other}>, tensor<4xf16, {BLOCKED}>")),
        MarkedLine(line(4, "%2 = c")),
    ]
    shown = view(50)
    assert names_text(shown, lines[1:2]) == [
        "     #blocked = #ttg.blocked<{sizePerThread = [2,",
        "       2], order = [1, 0]}>",
        "     #blocked1 = #ttg.blocked<{sizePerThread = [1,",
        "       8], order = [1, 0]}>",
    ]
    assert names_text(shown, lines) == []


def test_regions_of_inner_operations_are_left_out() -> None:
    text = (
        "func.func @f(%c: i1) {\n"
        "  %0 = scf.if %c -> (i32) {\n"
        "    scf.yield %a : i32\n"
        "  } else {\n"
        "    scf.for %i = %x to %y {\n"
        "      use %i\n"
        "    }\n"
        "  }\n"
        "  return\n"
        "}\n"
    )
    assert without_inner_regions(text) == (
        "func.func @f(%c: i1) {\n  %0 = scf.if %c -> (i32) {...} else {...}\n  return\n}\n"
    )
    assert not re.search("yield", without_inner_regions(text))
