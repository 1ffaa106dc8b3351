"""Diff: equal values have equal names, and nothing that changed looks the same."""

from __future__ import annotations

import difflib
import re
import time
from itertools import product
from string import ascii_letters

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from actiondbg.ir.diff import Diff, Row, make_diff
from tests.elements import some

Names = list[tuple[str, str]]


def listed(text: str) -> Names:
    """Read "%NAME:KEY ..."."""
    return [(name, key) for name, _, key in (word.partition(":") for word in text.split())]


def changes(diff: Diff) -> list[str]:
    return [line for line in diff.unified(0) if not line.startswith("@@")]


SUM = """\
func.func @sum(%arg0: i32) -> i32 {
  %c0_i32 = arith.constant 0 : i32
  %0 = arith.addi %arg0, %c0_i32 : i32
  %1 = arith.muli %0, %0 : i32
  return %1 : i32
}
"""
SUM_NAMES = listed("%arg0:f %c0_i32:c %0:add %1:mul")


def test_a_new_operation_changes_only_its_line_and_its_uses() -> None:
    after = SUM.replace("%0, %0", "%1, %0").replace("return %1", "return %2")
    after = after.replace("%1 = ", "%2 = ").replace("%0 = ", "%1 = ")
    after = after.replace("  %1 =", "  %0 = arith.subi %arg0, %arg0 : i32\n  %1 =")
    diff = make_diff(SUM, after, SUM_NAMES, listed("%arg0:f %c0_i32:c %0:new %1:add %2:mul"))
    assert changes(diff) == [
        "+  %2 = arith.subi %arg0, %arg0 : i32",
        "-  %1 = arith.muli %0, %0 : i32",
        "+  %1 = arith.muli %0, %2 : i32",
    ]


def test_replacement_with_the_text_of_its_predecessor_is_a_difference() -> None:
    diff = make_diff(SUM, SUM, SUM_NAMES, listed("%arg0:f %c0_i32:c %0:new %1:mul"))
    assert changes(diff) == [
        "-  %0 = arith.addi %arg0, %c0_i32 : i32",
        "-  %1 = arith.muli %0, %0 : i32",
        "+  %2 = arith.addi %arg0, %c0_i32 : i32",
        "+  %1 = arith.muli %2, %2 : i32",
    ]


def test_name_of_a_new_value() -> None:
    before = listed("%arg0:a %0:b %1:c %2:d %c0_i32:e %c0_i32_0:f %c0_i32_1:g")
    expected = "%0:%3 %3:%3 %c0_i32:%c0_i32_2 %c0_i32_0:%c0_i32_2 %c7_i32:%c7_i32 %arg0:%arg1"
    for name, fresh in some(listed(expected)):
        after = f'  {name} = "t.new"() : () -> i32\n'
        assert make_diff("", after, before, [(name, "new")]).after == after.replace(name, fresh)


def test_groups_strings_comments_and_longer_names() -> None:
    after = (
        '  %0:2 = x.b {text = "%0 = \\"%0#1", other = "a // b"} loc("%0":1:1)\n'
        "  %1 = x.a // %0 and %1\n"
        "  %00, %a.b:3 = x.c %0#1, %0#0, %1, %0, %a.b#2 : !x<%0>\n"
    )
    before = "  %0 = x.a\n  %1:2 = x.b\n"
    names = listed("%0:b %1:a %00:c %a.b:d")
    assert make_diff(before, after, listed("%0:a %1:b"), names).after == (
        '  %1:2 = x.b {text = "%0 = \\"%0#1", other = "a // b"} loc("%0":1:1)\n'
        "  %0 = x.a // %0 and %1\n"
        "  %00, %a.b:3 = x.c %1#1, %1#0, %0, %1, %a.b#2 : !x<%1>\n"
    )


LOOPS = """\
func.func @f(%arg0: index, %arg1: index) {
  scf.for %arg2 = %arg0 to %arg0 step %arg0 {
    %0 = x.first %arg2
    x.use %0
  }
  scf.for %arg2 = %arg0 to %arg0 step %arg0 {
    %0 = x.second %arg2
    x.use %0
  }
  return
}
"""
LOOPS_NAMES = listed("%arg0:n %arg1:unused %arg2:i %0:first %arg2:j %0:second")


def test_sibling_regions_reuse_a_name() -> None:
    # The unused argument goes, so that everything is numbered anew.
    after = LOOPS.replace(", %arg1: index", "").replace("%arg2", "%arg1")
    names = listed("%arg0:n %arg1:i %0:first %arg1:j %0:second")
    assert changes(make_diff(LOOPS, after, LOOPS_NAMES, names)) == [
        "-func.func @f(%arg0: index, %arg1: index) {",
        "+func.func @f(%arg0: index) {",
    ]


def test_a_hoisted_value_does_not_take_the_name_of_one_in_another_region() -> None:
    # The first loop's moves out, and the second loop uses it instead of its own.
    after = LOOPS.replace("    %0 = x.first %arg2\n", "").replace("%0 = x.second", "%1 = x.second")
    after = after.replace("  scf.for", "  %0 = x.first %arg0\n  scf.for", 1)
    names = listed("%arg0:n %arg1:unused %0:first %arg2:i %arg2:j %1:second")
    lines = changes(make_diff(LOOPS, after, LOOPS_NAMES, names))
    assert lines[:2] == ["+  %1 = x.first %arg0", "-    %0 = x.first %arg2"]
    assert lines[2:] == ["-    x.use %0", "+    x.use %1"] * 2


MODULE = """\
module {
  func.func @f(%arg0: i32) -> i32 {
    %0 = x.a %arg0
    return %0 : i32
  }
  func.func private @extern(i32)
  func.func @g(%arg0: i32) -> i32 attributes {x.y = {z = 1 : i32}} {
    %0 = x.c %arg0
    %1 = x.d %0
    return %1 : i32
  }
}
"""
MODULE_NAMES = listed("%arg0:f %0:a %arg0:g %0:c %1:d")


def test_functions_of_a_module_have_their_own_names() -> None:
    after = MODULE.replace("    %0 = x.c %arg0\n    %1 = x.d %0\n    return %1", "    return %arg0")
    after = after.replace("return %arg0", "%0 = x.d %arg0\n    return %0")
    names = listed("%arg0:f %0:a %arg0:g %0:d")
    lines = changes(make_diff(MODULE, after, MODULE_NAMES, names))
    assert lines == ["-    %0 = x.c %arg0", "-    %1 = x.d %0", "+    %1 = x.d %arg0"]


def test_uses_before_the_definition() -> None:
    # In a second function, where the name was defined in the first.
    before = MODULE.replace(
        "    %0 = x.c %arg0\n    %1 = x.d %0\n    return %1 : i32\n",
        """\
    cf.br ^bb2(%arg0 : i32)
  ^bb1:  // pred: ^bb2
    x.use %0
    return %1 : i32
  ^bb2(%1: i32):  // 2 preds: ^bb0, ^bb2
    %0 = x.d %1
    cf.cond_br %c, ^bb1, ^bb2(%0 : i32)
""",
    )
    head, tail = before.split("extern")
    after = f"{head}extern" + re.sub("%([01])", lambda match: f"%{1 - int(match[1])}", tail)
    names = (listed(f"%arg0:f %0:a %arg0:g %{at}:block %{1 - at}:d") for at in (1, 0))
    assert make_diff(before, after, *names).is_empty


BLOCKS = """\
  %0 = scf.while : () -> i32 {
    scf.for %arg1 = %a to %b step %c {
      x.first %arg1
    }
  } do {
  ^bb0(%arg2: i32):
    x.second %arg2
  }
  cf.br ^bb1(%0 : i32)
^bb1(%1: i32):  // 2 preds: ^bb0, ^bb1
  cf.br ^bb1(%1 : i32)
"""


@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize(
    "order",
    # As the agent lists them, an operation's before what is in its blocks; and as in the text.
    [
        "%arg0:f %1:last %0:w %arg2:second %arg1:first",
        "%arg0:f %0:w %arg1:first %arg2:second %1:last",
    ],
)
def test_either_order_of_block_arguments(order: str, last: bool) -> None:
    new = {"%arg1": "%arg7", "%arg2": "%arg7", "%1": "%5", "%0": "%1"}
    before = f"func.func @f(%arg0: i1) {{\n{BLOCKS if last else BLOCKS.split('^bb1(%1')[0]}}}\n"
    after = re.sub(r"%\w+", lambda match: new.get(match[0], match[0]), before)
    names = [pair for pair in listed(order) if last or pair[0] != "%1"]
    renamed = [(new.get(name, name), key) for name, key in names]
    assert make_diff(before, after, names, renamed).is_empty


def test_values_that_are_not_printed() -> None:
    # The list has what is in the region that linalg.matmul does not print. That %2 cannot be told
    # from the printed one, but all others can.
    before = """\
  %0 = x.a
  linalg.matmul ins(%arg0) outs(%arg0)
  scf.if %arg1 {
    %1 = x.b
  }
  %2 = x.c
"""
    after = before.replace("%1 =", "%2 =").replace("%2 = x.c", "%1 = x.c")
    old = listed("%0:a %in:h %out:i %7:hidden %1:b %2:c")
    new = listed("%0:a %in:h %out:i %2:hidden %2:b %1:c")
    assert make_diff(before, after, old, new).is_empty
    without = after.replace("  %0 = x.a\n", "")
    assert changes(make_diff(before, without, old, new[1:])) == ["-  %0 = x.a"]


@pytest.mark.parametrize("names", [listed("%6:k"), []])
@pytest.mark.parametrize("tail", ["\n", " {\n  x.use %3\n}\n"])
def test_an_operand_from_outside_keeps_its_name(names: Names, tail: str) -> None:
    # To take %arg0 for %3, as it is in the place of it, would hide the change.
    before, after = f"%5 = x.a %3, %arg0{tail}", f"%6 = x.a %arg0, %3{tail}"
    diff = make_diff(before, after, listed("%5:k") if names else [], names)
    assert diff.after == after.replace("%6", "%5")


def test_names_in_the_line_that_opens_a_region() -> None:
    # Those from outside, which are not listed, come before those of the region.
    before, after = "%5 = x.a %3 {\n  %7 = x.b\n}\n", "%6 = x.a %7 {\n  %9 = x.b\n}\n"
    diff = make_diff(before, after, listed("%5:a %7:b"), listed("%6:a %9:b"))
    assert diff.after == "%5 = x.a %7 {\n  %8 = x.b\n}\n"
    for text in ("x.a(%0: i32) at(%0) {\n  x.use %0\n}\n", "x.declaration(%0: i32)\n"):
        assert make_diff(text, text.replace("%0", "%1"), listed("%0:k"), listed("%1:k")).is_empty


def test_maps_serve_where_names_are_unique() -> None:
    after = SUM.replace("%1", "%5").replace("%0", "%1")
    names = {"%5": "mul", "%1": "add", "%c0_i32": "c", "%arg0": "f"}
    assert make_diff(SUM, after, dict(SUM_NAMES), names).is_empty
    other = MODULE.replace("x.d %0", "x.d %arg0")
    diff = make_diff(MODULE, other, dict(MODULE_NAMES), {**dict(MODULE_NAMES), "%0": "new"})
    assert changes(diff) == ["-    %1 = x.d %0", "+    %1 = x.d %arg0"]


def test_without_names_equal_lines_match() -> None:
    after = SUM.replace("%1", "%2").replace("%0", "%1")
    after = after.replace("  %1 =", "  %0 = arith.subi %arg0, %arg0 : i32\n  %1 =", 1)
    assert [line[0] for line in changes(make_diff(SUM, after, {}, {}))] == ["+"]
    assert make_diff(LOOPS, LOOPS.replace("%arg2", "%arg7"), {}, {}).is_empty
    # A text without values has no names to tell.
    diff = make_diff("module {\n}\n", "module {\n  %0 = x.a\n}\n", [], listed("%0:a"))
    assert changes(diff) == ["+  %0 = x.a"]


@given(erased=st.sets(st.sampled_from(ascii_letters), max_size=20), renamed=st.integers(0, 31))
def test_unified_is_like_that_of_difflib(erased: set[str], renamed: int) -> None:
    before = list(ascii_letters)
    after = [line for line in before if line not in erased]
    after[renamed] = "new"
    for new, context in product((after, before[:1], []), (0, 1, 3)):
        expected = list(difflib.unified_diff(before, new, n=context, lineterm=""))[2:]
        assert Diff("\n".join(before), "\n".join(new)).unified(context) == expected


@given(
    before=st.lists(st.sampled_from("abcdefgh}"), min_size=1, max_size=60),
    edits=st.lists(st.tuples(st.integers(0, 59), st.sampled_from(["", "a", None])), max_size=8),
)
def test_both_views_have_all_lines(before: list[str], edits: list[tuple[int, str | None]]) -> None:
    after = list(before)
    for place, line in edits:
        if line is None:
            del after[place : place + 1]
        else:
            after.insert(place, line)
    # An empty line at the end is no line in a text.
    assume(after != before and after[-1:] not in ([], [""]))
    diff = Diff("\n".join(before), "\n".join(after))
    assert [line[1:] for line in diff.unified(99)[1:] if line[0] != "+"] == before
    assert [line[1:] for line in diff.unified(99)[1:] if line[0] != "-"] == after
    for side, kinds, sign in (("left", "-!", "-"), ("right", "+!", "+")):
        shown = [getattr(row, side) for row in diff.side_by_side(80) if row.kind in kinds]
        assert shown == [line[1:] for line in changes(diff) if line[0] == sign]


def test_side_by_side_pairs_similar_lines() -> None:
    before = "d\n  %0 = x.add %arg0, %c0 : i32\n  x.end %0 : i32\n}"
    after = "d\n  x.br\n  %0 = x.add %arg0, %c1 : i32\n  x.end %1 : i32"
    assert Diff(before, after).side_by_side(200) == [
        Row("d", "d", " "),
        Row(None, "  x.br", "+"),
        Row("  %0 = x.add %arg0, %c0 : i32", "  %0 = x.add %arg0, %c1 : i32", "!"),
        Row("  x.end %0 : i32", "  x.end %1 : i32", "!"),
        Row("}", None, "-"),
    ]
    unlike = Diff("x.a %0, %1, %2", "x.b %0, %8, %9").side_by_side(80)
    assert [row.kind for row in unlike] == ["-", "+"]
    parted = Diff("\n".join(ascii_letters), "\n".join(ascii_letters[1:-1]))
    assert parted.side_by_side(80).count(Row(None, None, " ")) == 1


def test_side_by_side_wraps_and_cuts_nothing() -> None:
    before, after = "x.op " + "a" * 40 + "b", "x.op " + "a" * 40 + "c"
    rows = Diff(before, after).side_by_side(43)
    assert "".join(row.left or "" for row in rows) == before
    assert max(len(row.left or "") for row in rows) == 20
    assert Diff("x.op a b c d e f g", "x.op a b c").side_by_side(0) == [
        Row("x.op a b c", "x.op a b c", "!"),
        Row(" d e f g", None, "!"),
    ]
    assert Diff("a", "a\n\n").side_by_side(80)[-1] == Row(None, "", "+")


def test_the_end_of_the_last_line_is_no_difference() -> None:
    diff = Diff("a\nb\n", "a\nb")
    assert (diff.ordinal, diff.title, diff.is_empty, diff.unified()) == (0, "", True, [])
    assert not Diff("a\nb\n", "a\nb\n\n").is_empty


def long_function(added: set[int]) -> tuple[str, Names]:
    lines, names, last = ["func.func @f(%arg0: i32) -> i32 {"], [("%arg0", "b0")], "%arg0"
    for at in range(10_000):
        for op, key in (("muli", f"new{at}"), ("addi", f"{at}.0")):
            if op == "addi" or at in added:
                name = f"%{len(names) - 1}"
                lines.append(f"  {name} = arith.{op} {last}, %arg0 : i32")
                names.append((name, key))
                last = name
    return "\n".join([*lines, f"  return {last} : i32", "}", ""]), names


@pytest.mark.parametrize("named", [True, False])
def test_ten_thousand_lines_are_fast(named: bool) -> None:
    before, names = long_function(set())
    after, others = long_function({0, 3_000, 5_000, 9_999})
    start = time.process_time()
    diff = make_diff(before, after, names if named else [], others if named else [])
    unified = diff.unified()
    diff.side_by_side(160)
    # It takes half a second; what is quadratic takes minutes.
    assert time.process_time() - start < 5
    assert sum(line.startswith("+  ") and "muli" in line for line in unified) == 4
    assert len(unified) < 60


def test_pathological_text_takes_linear_time() -> None:
    operands = "\n%a" + ", %a" * 100_000
    for text in ('"' + "\\" * 200_000, "%" * 200_000, "%" + "-" * 200_000, operands):
        assert make_diff(text, text + "x", [], []).after == text + "x"
