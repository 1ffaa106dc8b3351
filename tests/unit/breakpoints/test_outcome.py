"""OUTCOME, TARGET and EVENT: what is understood, and what is refused where."""

from __future__ import annotations

from typing import Any

import pytest

from actiondbg.breakpoints.targets import (
    Target,
    catch_spec,
    parse_catch,
    parse_operation,
    parse_outcome,
    parse_target,
    split_catch,
    watch_spec,
)
from actiondbg.errors import UsageError
from actiondbg.protocol import Catch, Watch


@pytest.mark.parametrize(
    ("text", "results", "reason"),
    [
        ("failed", ["failed"], None),
        (" skipped , succeeded", ["skipped", "succeeded"], None),
        ("changed,unchanged", ["changed", "unchanged"], None),
        ("reason:*no use*", [], "*no use*"),
        ("reason:", None, "Nothing follows reason"),
        ("failed,reason:*a,b*", ["failed"], "*a,b*"),
        ("reason:*a, b*,failed", ["failed"], "*a, b*"),
        ('reason:"a b"', [], "a b"),
    ],
)
def test_outcomes(text: str, results: list[str] | None, reason: str | None) -> None:
    if results is None:
        with pytest.raises(UsageError, match=reason):
            parse_outcome(text)
        return
    parsed = parse_outcome(text)
    assert (parsed.results, parsed.reason) == (results, reason)


@pytest.mark.parametrize(
    ("text", "complaint", "offset"),
    [
        ("", "There is no outcome ''", 0),
        ("failed, fail", "There is no outcome 'fail': take succeeded, failed, changed", 8),
        ("failed,", "There is no outcome ''", 7),
        ("reason:a,reason:b", "Only one reason", 9),
        ("failed,reason:[a", r"The \[ in '\[a' is not closed", 14),
    ],
)
def test_wrong_outcomes(text: str, complaint: str, offset: int) -> None:
    with pytest.raises(UsageError, match=complaint) as raised:
        parse_outcome(text)
    assert raised.value.offset == offset


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("cursor", Target("operation", "cursor")),
        (" @12 ", Target("operation", 12)),
        ("%3", Target("operation", "%3")),
        ("%x#1", Target("operation", "%x#1")),
        ("op:arith.* count", Target("count", name="arith.*")),
        ("attribute value of cursor", Target("attribute", "cursor", "value")),
        ('attribute "a b" of @3', Target("attribute", 3, "a b")),
        ("attribute 'a \"b' of @3", Target("attribute", 3, 'a "b')),
        ("op:'a b' count", Target("count", name="a b")),
    ],
)
def test_targets(text: str, target: Target) -> None:
    assert parse_target(text) == target
    assert parse_target(str(target)) == target


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("@0", "'@0' cannot be watched"),
        ("", "'' cannot be watched"),
        ("arith.addi", "give cursor, @ID, %SSA, op:GLOB count or attribute NAME of cursor"),
        ("attribute x of y", "'y' is not an operation"),
        ("op:[ count", "not closed"),
    ],
)
def test_wrong_targets(text: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        parse_target(text)


def test_an_operation_is_named_in_three_ways() -> None:
    assert [parse_operation(text) for text in ("cursor", "@7", "%a")] == ["cursor", 7, "%a"]
    with pytest.raises(UsageError, match="is not an operation"):
        parse_operation("op:x count")


@pytest.mark.parametrize(
    ("fields", "spec"),
    [
        ({"kind": "operation", "id": 12}, "@12"),
        ({"kind": "attribute", "id": 12, "attribute": "a b"}, 'attribute "a b" of @12'),
        ({"kind": "count", "glob": "arith.*"}, "op:arith.* count"),
    ],
)
def test_a_watch_can_be_written_and_read_again(fields: dict[str, Any], spec: str) -> None:
    assert watch_spec(Watch(**fields)) == f"watch {spec}"
    assert watch_spec(Watch(**fields, exact=True)) == f"watch --exact {spec}"
    parsed = parse_target(spec)
    assert (parsed.kind, parsed.operation) == (fields["kind"], fields.get("id"))
    assert parsed.name == fields.get("glob", fields.get("attribute"))


def test_events() -> None:
    assert parse_catch("crash", None) == Catch(kind="crash")
    assert catch_spec("failure", "cse") == "catch failure cse"
    assert catch_spec("diagnostic", "a > b") == 'catch diagnostic "a > b"'
    assert catch_spec("diagnostic", "a if b") == 'catch diagnostic "a if b"'
    assert catch_spec("diagnostic", "if") == 'catch diagnostic "if"'
    with pytest.raises(UsageError, match="no event 'crush'"):
        parse_catch("crush", None)
    with pytest.raises(UsageError, match="catch crash takes no glob, got 'x'"):
        parse_catch("crash", "x")
    with pytest.raises(UsageError, match="not closed"):
        parse_catch("failure", "[")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("crash", ("crash", None, None)),
        ("crash if depth > 1", ("crash", None, "depth > 1")),
        ("failure cs* if depth > 1", ("failure", "cs*", "depth > 1")),
        ("diagnostic *can't be*", ("diagnostic", "*can't be*", None)),
        ('diagnostic "*what if*"', ("diagnostic", "*what if*", None)),
        ('diagnostic "*what if*" if line == 3', ("diagnostic", "*what if*", "line == 3")),
        ("diagnostic *differs*", ("diagnostic", "*differs*", None)),
        ('diagnostic ""', ("diagnostic", None, None)),
        ('diagnostic "if" if line == 3', ("diagnostic", "if", "line == 3")),
        ("", ("", None, None)),
    ],
)
def test_the_parts_of_a_catch(text: str, parts: tuple[str, str | None, str | None]) -> None:
    assert split_catch(text) == parts


@pytest.mark.parametrize("text", ["crash if", "failure cs* if "])
def test_a_catch_whose_condition_is_missing(text: str) -> None:
    with pytest.raises(UsageError, match="A condition must follow the word if"):
        split_catch(text)
