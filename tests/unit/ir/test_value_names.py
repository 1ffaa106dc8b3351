"""The names of values, which they keep while the printer numbers anew."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actiondbg.ir.printed_values import PrintedValues
from actiondbg.ir.value_names import NamedKey, NamedKeys, ValueNames, hint_of, read_names

FUNCTION = [
    NamedKey("%arg0", "9/0/0.0", 9),
    NamedKey("%c0_i32", "1.0", 9),
    NamedKey("%0", "4.0", 9),
    NamedKey("%1", "5.0", 9),
]


def printed(*named: NamedKey) -> NamedKeys:
    return NamedKeys(list(named), list(named))


@pytest.fixture
def names() -> ValueNames:
    names = ValueNames()
    names.learn(9, printed(*FUNCTION))
    return names


def test_learned_values_keep_the_printers_names(names: ValueNames) -> None:
    assert [names.name(key, 9, "") for _, key, _ in FUNCTION] == ["%arg0", "%c0_i32", "%0", "%1"]
    assert names.knows(9) and not names.knows(8)


def test_later_values_get_unused_names(names: ValueNames) -> None:
    assert names.name("10.0", 9, "") == "%2"
    assert names.name("11.0", 9, "c0_i32") == "%c0_i32_0"
    assert names.name("12.0", 9, "arg") == "%arg1"
    assert names.name("10.0", 9, "") == "%2", "and keep them"


def test_names_are_of_a_scope(names: ValueNames) -> None:
    assert names.name("20.0", 30, "") == "%0"
    assert names.keys("%0", 9) == ["4.0"] and names.keys("%0", 30) == ["20.0"]
    assert names.keys("%0") == ["4.0", "20.0"]
    assert names.keys("%0#1", 9) == ["4.0"], "a result's number is ignored"
    assert names.keys("%77") == []


def test_relearning_keeps_names(names: ValueNames) -> None:
    names.learn(9, printed(NamedKey("%0", "10.0", 9), NamedKey("%1", "4.0", 9)))
    assert names.known("4.0") == "%0"


def test_values_keep_their_names_in_the_scope_that_they_move_to(names: ValueNames) -> None:
    """As the body of a func.func moves to an llvm.func."""
    names.learn(40, printed(NamedKey("%0", "12.0", 40), NamedKey("%1", "4.0", 40)))
    assert (names.known("4.0"), names.known("12.0")) == ("%0", "%1"), "the new value gives way"
    assert names.keys("%0", 40) == ["4.0"]
    assert names.name("5.0", 40, "") == "%2", "its name is taken there"
    assert names.keys("%2", 40) == ["5.0"]


def test_a_value_in_no_scope_keeps_its_name(names: ValueNames) -> None:
    assert names.name("4.0", 0, "") == "%0"
    assert names.name("4.0", 9, "") == "%0"


def test_another_future_has_other_operations_and_blocks(names: ValueNames) -> None:
    assert names.name("10.0", 9, "c7_i32") == "%c7_i32"
    assert names.name("/3.0", 9, "arg") == "%arg1"
    assert names.name("4/0/1'.0", 9, "arg") == "%arg2"
    assert names.name("20.0", 11, "") == "%0"
    past = names.current
    names.current = past.of_first(operations=9, blocks=2)
    assert names.known("4.0") == "%0"
    assert [names.known(key) for key in ("10.0", "/3.0", "20.0")] == [None] * 3
    assert names.knows(9) and not names.knows(11)
    assert names.name("10.0", 9, "c3_i32") == "%c3_i32"
    assert names.name("/3.0", 9, "arg") == "%arg3", "%arg2 is that of a block which both have"
    names.current = past
    assert names.known("10.0") == "%c7_i32"


def test_forgotten_names_are_given_anew(names: ValueNames) -> None:
    names.clear()
    assert not names.knows(9) and names.keys("%0") == [] and names.known("4.0") is None
    assert names.name("5.0", 9, "") == "%0"


def test_keys_in_a_text_become_names(names: ValueNames) -> None:
    text = "\x1a10.0 9 \x1a = arith.addi \x1a4.0 9 \x1a, \x1a11.0 9 c0_i32\x1a : i32"
    assert names.scopes(text) == {9}
    assert names.fill(text) == "%2 = arith.addi %0, %c0_i32_0 : i32"


@given(st.lists(st.tuples(st.integers(0, 30), st.sampled_from(["", "arg", "c", "c_0"]))))
def test_names_are_unique_in_a_scope(values: list[tuple[int, str]]) -> None:
    names = ValueNames()
    names.learn(1, printed(NamedKey("%3", "a", 1), NamedKey("%c", "b", 1)))
    given_names = {number: names.name(f"{number}.0", 1, hint) for number, hint in values}
    assert len({*given_names.values(), "%3", "%c"}) == len(given_names) + 2


# The input names @4 %508 and @5 %c; @5 is erased. The printer numbers @4 and @12, which is new.
WITH_INPUT = """\
!508 -1
@9
.4.0 %508
.5.0 %c
%0 4.0
%c 12.0
%1 13.0
"""


def test_a_value_has_the_name_of_the_input() -> None:
    names = ValueNames()
    names.learn(9, read_names(WITH_INPUT))
    assert names.known("4.0") == "%508"
    assert names.known("12.0") == "%c_0", "the input's %c is erased, and keeps its name"
    assert names.known("13.0") == "%509", "no other value of the input has that name"
    assert names.keys("%508", 9) == ["4.0"] and names.keys("%c", 9) == ["5.0"]


def test_a_name_that_another_value_got_is_not_given_again() -> None:
    """The printer numbers values anew, and the first number is a name of the input."""
    given = NamedKey("%0", "2.0", 9)
    around = [NamedKey(f"%{i}", key, 9) for i, key in enumerate(["18.0", "17.0", "2.0", "16.0"])]
    names = ValueNames()
    names.learn(9, NamedKeys(around, around, given=[given]))
    found = [names.name(one.key, 9, "") for one in around]
    assert found[2] == "%0"
    assert len(set(found)) == 4


def test_new_values_of_other_scopes_have_no_name_of_the_input() -> None:
    names = ValueNames()
    names.learn(9, read_names(WITH_INPUT))
    assert names.name("20.0", 30, "") == "%509"
    assert names.name("21.0", 30, "c") == "%c_0"
    assert names.name("22.0", 30, "arg") == "%arg0", "the input has no numbered argument"


def test_another_future_keeps_the_names_of_the_input() -> None:
    names = ValueNames()
    names.learn(9, read_names(WITH_INPUT))
    kept = names.current.of_first(operations=9, blocks=0)
    names.current = kept
    assert names.known("4.0") == "%508" and names.known("12.0") is None
    assert names.name("12.0", 9, "") == "%509"


def test_the_agents_list_is_read_by_scopes() -> None:
    read = read_names("@9\n%0 4.0\n=\n@9\n%arg0 9/0/0.0\n%0 4.0\n@3\n%0 2.0\n")
    assert read.inside == [NamedKey("%0", "4.0", 9)]
    assert read.around[1:] == [NamedKey("%0", "4.0", 9), NamedKey("%0", "2.0", 3)]
    assert read_names("@9\n%0 4.0\n").around == [NamedKey("%0", "4.0", 9)]
    assert read.used == []
    assert read_names("@9\n%1 5.0\n=\n@9\n%0 4.0\n+\n%0 4.0\n").used == [NamedKey("%0", "4.0", 0)]


@pytest.mark.parametrize(
    ("name", "hint"),
    [("%12", ""), ("%arg3", "arg"), ("%c0_i32", "c0_i32"), ("%c0_i32_3", "c0_i32"), ("%in", "in")],
)
def test_a_name_tells_its_hint(name: str, hint: str) -> None:
    assert hint_of(name) == hint


def test_a_print_is_renamed(names: ValueNames) -> None:
    """After an insertion the printer's %1 is the value that was %0 before."""
    text = (
        "func.func @f(%arg0: i32) -> i32 {\n"
        "  %c0_i32 = arith.constant 0 : i32\n"
        "  %0 = arith.muli %arg0, %arg0 : i32\n"
        "  %1 = arith.addi %0, %c0_i32 : i32\n"
        "  return %1 : i32\n"
        "}\n"
    )
    now = [*FUNCTION[:2], NamedKey("%0", "10.0", 9), NamedKey("%1", "4.0", 9)]
    renamed = PrintedValues(text, NamedKeys(now, now)).renamed(names)
    assert "  %2 = arith.muli %arg0, %arg0 : i32\n  %0 = arith.addi %2, %c0_i32" in renamed
    assert "return %0 : i32" in renamed
    line = "%1 = arith.addi %0, %c0_i32 : i32\n"
    one = PrintedValues(line, NamedKeys([now[3]], now))
    assert one.renamed(names) == "%0 = arith.addi %2, %c0_i32 : i32\n"


def test_a_print_with_the_same_names_is_untouched(names: ValueNames) -> None:
    text = "%0 = arith.addi %arg0, %c0_i32 : i32\n"
    assert PrintedValues(text, NamedKeys([FUNCTION[2]], FUNCTION)).renamed(names) is text
