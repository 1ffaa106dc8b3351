"""EXPR: its tree, its types, and where the error is."""

from __future__ import annotations

import pytest

from actiondbg.breakpoints.condition import RESULTS, parse_condition, uses_field
from actiondbg.errors import UsageError
from actiondbg.protocol import Condition


def spelled(node: Condition) -> str:
    """Write a tree with all its parentheses."""
    if node.call is None:
        return node.field or repr(node.value)
    args = [spelled(arg) for arg in node.args or []]
    return f"({node.call} {args[0]})" if len(args) == 1 else f"({args[0]} {node.call} {args[1]})"


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("depth > 1", "(depth > 1)"),
        ("1 <= ordinal", "(1 <= ordinal)"),
        ("iteration == -1", "(iteration == -1)"),
        ("hits != 0", "(hits != 0)"),
        ("name == 'a'", "(name == 'a')"),
        ('name == "it\'s"', '(name == "it\'s")'),
        ("function == func", "(func == func)"),
        ('op ~ "arith.*"', "(op ~ 'arith.*')"),
        ("file !~ '*.mlir'", "(file !~ '*.mlir')"),
        ("op ~ name", "(op ~ name)"),
        ("tag < 'b'", "(tag < 'b')"),
        (
            "line == 1 or line == 2 and depth == 3",
            "((line == 1) or ((line == 2) and (depth == 3)))",
        ),
        (
            "(line == 1 or line == 2) and depth == 3",
            "(((line == 1) or (line == 2)) and (depth == 3))",
        ),
        ("not line == 1 and depth == 3", "((not (line == 1)) and (depth == 3))"),
        ("not (line == 1 and depth == 3)", "(not ((line == 1) and (depth == 3)))"),
        ("not not line == 1", "(not (not (line == 1)))"),
        ("!(line==1)&&depth==3||hits>2", "(((not (line == 1)) and (depth == 3)) or (hits > 2))"),
        (
            "line == 1 and line == 2 and line == 3",
            "(((line == 1) and (line == 2)) and (line == 3))",
        ),
        ("(line) == (1)", "(line == 1)"),
        ("pass == 'cse' and outcome ~ '*ed'", "((pass == 'cse') and (outcome ~ '*ed'))"),
        ("'failed' != outcome", "('failed' != outcome)"),
        ("outcome == name", "(outcome == name)"),
        ("name == 'and' and tag == \"or\"", "((name == 'and') and (tag == 'or'))"),
    ],
)
def test_trees(text: str, tree: str) -> None:
    assert spelled(parse_condition(text)) == tree


@pytest.mark.parametrize(
    ("text", "offset", "message"),
    [
        ("", 0, "ends too early"),
        ("depth >", 7, "ends too early"),
        ("depth > 1 and", 13, "ends too early"),
        ("and depth > 1", 0, "Unexpected 'and'"),
        ("depth > 1 depth", 10, "Unexpected 'depth'"),
        ("depth > 1)", 9, r"Unexpected '\)'"),
        ("(depth > 1", 0, "parenthesis is not closed"),
        ("depth = 1", 6, "no operator '=': write '=='"),
        ("depth > 1 & depth < 3", 10, "write '&&'"),
        ("depth > 1 @", 10, "Unexpected '@'"),
        ("name == 'x", 8, "quote is not closed"),
        ("hits", 0, "an integer, and neither true nor false"),
        ("name and depth > 1", 0, "a text, and neither true nor false"),
        ("not 3", 4, "an integer, and neither true nor false"),
        ("depth > 1 or 'x'", 13, "a text, and neither true nor false"),
        ('depth == "x"', 9, "An integer cannot be compared with a text"),
        ("name < 3", 7, "A text cannot be compared with an integer"),
        ("(depth > 1) == 1", 1, "A truth value cannot be compared"),
        ("depth ~ 'x'", 0, "'~' matches text"),
        ("name ~ 3", 7, "'~' matches text"),
        ("name ~ '[a'", 8, "not closed"),
        ("1 < depth < 3", 10, "cannot be chained"),
        ("dept > 1", 0, "did you mean depth"),
        ("outcome == 'changed'", 11, "'changed': it is succeeded, unchanged, failed or skipped"),
        ("'fail' == outcome", 0, "No action has the outcome 'fail'"),
        ("outcome ~ 'x*'", 10, "No action has the outcome 'x\\*'"),
        ("name == foo", 8, "no field 'foo': is it a text, which needs quotes"),
        ("op == arith.addi", 6, "no field 'arith.addi'"),
        ("depth > 99999999999999999999", 8, "too large"),
        ("depth > " + "9" * 5000, 8, "too large"),
        ("(" * 5000 + "depth > 1" + ")" * 5000, 101, "too deep"),
        ("not " * 5000 + "depth > 1", 404, "too deep"),
    ],
)
def test_errors_point_at_the_position(text: str, offset: int, message: str) -> None:
    with pytest.raises(UsageError, match=message) as raised:
        parse_condition(text)
    assert (raised.value.text, raised.value.offset) == (text, offset)


def test_the_error_shows_the_place() -> None:
    with pytest.raises(UsageError) as raised:
        parse_condition("depth > 1 and dept < 3")
    assert str(raised.value).splitlines()[1:] == [
        "  depth > 1 and dept < 3",
        "                ^",
    ]


def test_only_a_recording_has_actions_without_an_end() -> None:
    with pytest.raises(UsageError, match="No action has the outcome 'unfinished'"):
        parse_condition("outcome == 'unfinished'")
    assert parse_condition("outcome == 'unfinished'", (*RESULTS, "unfinished"))


def test_a_field_is_found_at_any_depth() -> None:
    condition = parse_condition("not (line == 1 or (depth > 2 and outcome == 'failed'))")
    assert uses_field(condition, "outcome") and uses_field(condition, "line")
    assert not uses_field(condition, "pass")
    assert not uses_field(None, "outcome")
