"""SPEC: what it means, and where the error is when it means nothing."""

from __future__ import annotations

from typing import Any

import pytest

from actiondbg.breakpoints.spec import location_spec, parse_spec, split_spec_and_condition
from actiondbg.errors import UsageError
from actiondbg.protocol import Term


def location(path: str, **where: Any) -> Term:
    return Term(kind="location", path=path, **where)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("tag:apply-pattern", [Term(kind="tag", glob="apply-pattern")]),
        ("pattern:*Select*", [Term(kind="pattern", glob="*Select*")]),
        ("pass:cse", [Term(kind="pass", glob="cse")]),
        ("fold:arith.*", [Term(kind="fold", glob="arith.*")]),
        ("op:scf.if", [Term(kind="op", glob="scf.if")]),
        ("func:main", [Term(kind="func", glob="main")]),
        ("canonicalize", [Term(kind="name", glob="canonicalize")]),
        ("in:canonicalize", [Term(kind="in", glob="canonicalize")]),
        ("in:canon*#2", [Term(kind="in", glob="canon*", nth=2)]),
        ('in:"a b"#12', [Term(kind="in", glob="a b", nth=12)]),
        ('in:"a#2"', [Term(kind="in", glob="a#2")]),
        ("#17", [Term(kind="ordinal", ordinal=17)]),
        ("@main", [Term(kind="func", glob="main")]),
        (r'@"g h\22x"', [Term(kind="func", glob='g h"x')]),
        (r'func:"caf\C3\A9*"', [Term(kind="func", glob="café*")]),
        (r"func:a\5Cb\\", [Term(kind="func", glob=r"a\\b\\")]),
        ('@"a b"', [Term(kind="func", glob="a b")]),
        ("fold.mlir", [location("fold.mlir")]),
        ('"a b/fold.mlirbc"', [location("a b/fold.mlirbc")]),
        ("kernel.py", [location("kernel.py")]),
        ("kernel.py:12", [location("kernel.py", line=12)]),
        ("kernel:add_*", [Term(kind="func", glob="add_*")]),
        ("loc:offs", [Term(kind="loc", glob="offs")]),
        ("*.mlir", [Term(kind="name", glob="*.mlir")]),
        ("in.mlir:3", [location("in.mlir", line=3)]),
        ("a/in.mlir:3:7", [location("a/in.mlir", line=3, column=7)]),
        ("in.mlir:3-7", [location("in.mlir", line=3, last_line=7)]),
        ("in.mlir:3-3", [location("in.mlir", line=3, last_line=3)]),
        ('"a b:c.mlir":3', [location("a b:c.mlir", line=3)]),
        ("file:in.mlir", [location("in.mlir")]),
        ("file:tag:3", [location("tag", line=3)]),
        ("mlir::X", [Term(kind="name", glob="mlir::X")]),
        ("pattern:mlir::X", [Term(kind="pattern", glob="mlir::X")]),
        ("(anonymous namespace)::X", [Term(kind="name", glob="(anonymous namespace)::X")]),
        ("pattern:Foo<A, B>", [Term(kind="pattern", glob="Foo<A, B>")]),
        ('pattern:"A and B"', [Term(kind="pattern", glob="A and B")]),
        ("x[]a]y", [Term(kind="name", glob="x[]a]y")]),
        ("x\\[", [Term(kind="name", glob="x\\[")]),
        (
            "pattern:Foo<A, B> and op:arith.*  and  in.mlir:3",
            [
                Term(kind="pattern", glob="Foo<A, B>"),
                Term(kind="op", glob="arith.*"),
                location("in.mlir", line=3),
            ],
        ),
        (
            "pattern:band and in:android",
            [Term(kind="pattern", glob="band"), Term(kind="in", glob="android")],
        ),
    ],
)
def test_specs(text: str, terms: list[Term]) -> None:
    assert parse_spec(text) == terms


@pytest.mark.parametrize(
    ("text", "offset", "message"),
    [
        ("", 0, "empty"),
        ("   ", 0, "empty"),
        ("patern:x", 0, "did you mean 'pattern'"),
        ("zzz:x", 0, "There is no kind of term 'zzz': there are tag, pattern"),
        ("op:x and patern:y", 9, "did you mean 'pattern'"),
        ("#x", 1, "'#x' is not an ordinal"),
        ("@12", 0, "'@12' is the id of an operation: use 'watch @12', or func:12"),
        ("@", 1, "Nothing follows func"),
        ("8", 0, "'8' is a line of an unknown file: write FILE:8"),
        ("op:x and 8-9", 9, "write FILE:8-9"),
        ("0", 0, "0 is not a line"),
        ("9-8", 0, "reversed: write 8-9"),
        ("#0", 1, "'#0' is not an ordinal"),
        ("in:", 3, "Nothing follows in"),
        ("in:#2", 3, "Nothing follows in"),
        ("in:cse#0", 7, "'#0' is not the number of a run"),
        ("op:x and in:cse#x", 16, "'#x' is not the number of a run"),
        ("in:cse#", 7, "numbered from 1, such as in:canonicalize#2"),
        ("#", 1, "not an ordinal"),
        ("#" + "9" * 5000, 1, "not an ordinal"),
        ("in.mlir:0", 8, "0 is not a line"),
        ("in.mlir:3:0", 10, "0 is not a column"),
        ("in.mlir:" + "9" * 5000, 8, "not a line"),
        ("in.mlir:7-3", 8, "reversed: write 3-7"),
        ("in.mlir:", 8, "has no valid line"),
        ("in.mlir:x", 8, "has no valid line"),
        ("in.mlir:3-", 8, "has no valid line"),
        ("op:x and pattern:a[b", 18, r"\[ in 'a\[b' is not closed"),
        ("a[]", 1, "not closed"),
        ("a[z-b]", 2, "'z-b' is empty"),
        ("a\\", 1, "escapes nothing"),
        ("tag:", 4, "Nothing follows tag"),
        ("file:", 5, "Nothing follows file"),
        ('file:"in.mlir":-3', 15, "-3 is not a line"),
        ("file:in.mlir:-3", 13, "-3 is not a line"),
        ('tag:""', 4, "Nothing follows tag"),
        ('op:x and "a', 9, "quote is not closed"),
        ("and tag:x", 0, "precede the word and"),
        ("tag:x and", 6, "follow the word and"),
        ("tag:x and and tag:y", 10, "precede the word and"),
        ("tag:x or tag:y", 6, "joined with and only"),
        ("tag:x && tag:y", 6, "joined with and only"),
    ],
)
def test_errors_point_at_the_position(text: str, offset: int, message: str) -> None:
    with pytest.raises(UsageError, match=message) as raised:
        parse_spec(text)
    assert (raised.value.text, raised.value.offset) == (text, offset)


@pytest.mark.parametrize(
    ("text", "spec", "condition"),
    [
        ("pattern:X", "pattern:X", None),
        (" pattern:X  if depth > 3 ", "pattern:X", "depth > 3"),
        ("op:scf.if if op ~ 'if if'", "op:scf.if", "op ~ 'if if'"),
        ('"what if" if depth > 3', '"what if"', "depth > 3"),
        ("if depth > 3", "", "depth > 3"),
        ("", "", None),
    ],
)
def test_the_condition_is_split_off(text: str, spec: str, condition: str | None) -> None:
    assert split_spec_and_condition(text) == (spec, condition)


def test_a_condition_has_to_follow_if() -> None:
    with pytest.raises(UsageError, match="follow the word if") as raised:
        split_spec_and_condition("tag:x if ")
    assert raised.value.offset == 6


@pytest.mark.parametrize("path", ["in.mlir", "a b.mlir", "tag", "x:3", "a and b", "#3"])
def test_a_location_of_any_file(path: str) -> None:
    assert parse_spec(location_spec(path)) == [location(path)]
    assert parse_spec(location_spec(path, 3)) == [location(path, line=3)]
    assert parse_spec(location_spec(path, 3, 4)) == [location(path, line=3, column=4)]


@pytest.mark.parametrize(
    ("text", "offset", "message"),
    [
        ("op:arith.addi and pass:cse", 18, "No action matches both op:arith.addi and pass:cse"),
        ("op:arith.* and pass:cse", 15, "runs inside the pass, write in:cse"),
        ("pass:cse and pattern:X", 13, "both pattern:X and pass:cse.*write in:cse"),
        ("tag:fold and pass:cse", 13, "both tag:fold and pass:cse.*write in:cse"),
        ("func:f and tag:apply-* and pass:c*", 27, "both tag:apply-\\* and pass:c\\*"),
        ("fold:x.y and pass:cse", 13, "write in:cse"),
        ("fold:x.y and pattern:X", 13, "an action has one tag"),
        ("tag:pass-* and pattern:X", 15, "an action has one tag"),
        ("fold:x.y and op:x.z", 13, "an action has one operation"),
        ("op:x.y and op:x.z", 11, "an action has one operation"),
        ("func:f and func:g", 11, "an action has one function"),
        ("#3 and #4", 7, "both #3 and #4: an action has one ordinal"),
    ],
)
def test_terms_that_exclude_each_other_are_refused(text: str, offset: int, message: str) -> None:
    with pytest.raises(UsageError, match=message) as raised:
        parse_spec(text)
    assert (raised.value.text, raised.value.offset) == (text, offset)


@pytest.mark.parametrize(
    "text",
    [
        *("op:func.func and pass:cse", "op:*.* and pass:cse", "op:my.kernel and pass:cse"),
        *("tag:pass-* and pass:cse", "in:a and pass:b", "in:a and in:b", "pattern:X and in:cse"),
        *("op:x.y and fold:x.*", "op:x.y and op:x.y", "func:f and func:*", "#3 and #3"),
        *("pass:Canonicalizer and pass:canonicalize", "pattern:X and pattern:ns::X"),
        *("a.mlir:3 and b.mlir:4", "tag:*fold and fold:x.y", "x and pass:cse"),
    ],
)
def test_terms_that_may_match_together_are_accepted(text: str) -> None:
    assert len(parse_spec(text)) == 2
