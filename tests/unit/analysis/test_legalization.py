"""Why operations were not legalized: the tree of what was tried, and what is missing."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from actiondbg.analysis.legalization.explanation import Explanation, cause_of, cause_of_failure
from actiondbg.analysis.legalization.tree import Conversion, read_conversions
from actiondbg.protocol.legalizations import LegalizationEvent

Event = dict[str, Any]
DECODER = msgspec.json.Decoder(LegalizationEvent)


def operation(
    name: str, *inside: Event, legalized: bool = False, id: int = 7, **end: Any
) -> list[Event]:
    """The events of an operation, with those of its patterns inside."""
    begin = {"event": "operation", "id": id, "name": name, "location": "a.mlir:2:3"}
    fields: Event = {"illegal": True, "text": f'"{name}"()', **end}
    return [
        begin | {"legality": "illegal"},
        *inside,
        {"event": "operation-end", "legalized": legalized, **({} if legalized else fields)},
    ]


def pattern(
    name: str,
    result: str,
    *inside: Event,
    ordinal: int | None = 5,
    any: bool = False,
    unheard: bool = False,
) -> list[Event]:
    begin = {"event": "pattern", "name": name, "benefit": 1, "anyOperation": any}
    end = {"event": "pattern-end", "result": result, "unheard": unheard}
    return [begin | {"ordinal": ordinal}, *inside, end]


def reason(text: str) -> Event:
    return {"event": "reason", "text": text}


def type_of(text: str, converter: str | None = "my::Converter") -> Event:
    return {"event": "type", "type": text, "converter": converter}


def error(text: str) -> Event:
    return {"event": "diagnostic", "text": text, "location": None, "notes": []}


def read(*events: Event, failed: bool | None = True, full: bool = False) -> Conversion:
    head = {"event": "conversion", "ordinal": 3, "full": full, "pass": "lower", "function": "f"}
    lines = [head, *events]
    if failed is not None:
        lines.append({"event": "conversion-end", "failed": failed})
    (conversion,) = read_conversions(DECODER.decode(json.dumps(line)) for line in lines)
    return conversion


def test_an_operation_without_patterns() -> None:
    cause = cause_of_failure(read(*operation("x.a")))
    assert (cause.kind, cause.text) == ("no pattern", "no pattern for x.a")
    assert [step.legalization.op for step in cause.way] == ["x.a"]


@pytest.mark.parametrize(
    ("illegal", "types", "text"),
    [
        (
            True,
            ["i7"],
            "the target refuses it, as my::Converter does not convert i7; the conversion ",
        ),
        (True, [], "the target refuses it; the conversion only verifies, and has no patterns"),
        (False, [], "the target does not know it; the conversion only verifies, and has no pat"),
    ],
)
def test_a_conversion_that_only_verifies(illegal: bool, types: list[str], text: str) -> None:
    inside = [type_of(each) for each in types]
    end = {"event": "conversion-end", "failed": True, "verifies": True}
    cause = cause_of_failure(read(*operation("x.a", *inside, illegal=illegal), end, failed=None))
    assert cause.kind == "verified" and cause.text.startswith(text)


def test_the_way_leads_through_what_was_rolled_back() -> None:
    inner = operation("x.c", *pattern("D", "failed", reason("the shape is dynamic")))
    legal = operation("x.b", *pattern("B", "succeeded"), legalized=True)
    conversion = read(
        *operation(
            "x.a",
            *pattern("A", "failed", reason("no")),
            *pattern("{anonymous}::C", "rolled back", *legal, *inner),
        )
    )
    cause = cause_of_failure(conversion)
    assert (cause.kind, cause.text) == (
        "reason",
        "pattern C makes x.c, and pattern D did not match: the shape is dynamic",
    )
    names = [(step.legalization.op, step.tried and step.tried.name) for step in cause.way]
    assert names == [("x.a", "{anonymous}::C"), ("x.c", "D")]
    tried = conversion.legalizations[0].tried
    assert [(one.result, [each.op for each in one.generated]) for one in tried] == [
        ("failed", []),
        ("rolled back", ["x.b", "x.c"]),
    ]


@pytest.mark.parametrize(
    ("patterns", "kind", "text"),
    [
        (
            [pattern("A", "failed"), pattern("B", "failed", type_of("i7"), type_of("vector<i7>"))],
            "type",
            "pattern B needs type i7, which my::Converter does not convert",
        ),
        (
            [pattern("A", "failed", type_of("i7", None))],
            "type",
            "pattern A needs type i7, which its type converter does not convert",
        ),
        (
            [pattern("A", "failed"), pattern("B", "failed", reason("too small"))],
            "reason",
            'none of 2 patterns matched: B says "too small"; 1 gave no reason',
        ),
        (
            [pattern("A", "failed", reason("too odd"), any=True), pattern("mlir::ns::B", "failed")],
            "no reason",
            "pattern mlir::ns::B did not match, and gave no reason",
        ),
        (
            [
                pattern("mlir::ns::(anonymous namespace)::A", "failed", reason("odd"), any=True),
                pattern("B", "failed", any=True),
                pattern("C", "refused", ordinal=None, any=True),
            ],
            "no pattern",
            'no pattern for x.a, but 3 for any operation: A says "odd"; '
            "C is not tried for what it makes itself; 1 gave no reason",
        ),
        (
            [pattern("A", "failed"), pattern("B", "failed")],
            "no reason",
            "none of 2 patterns for x.a matched, and none gave a reason",
        ),
        (
            [pattern("A", "failed")],
            "no reason",
            "pattern A did not match, and gave no reason",
        ),
        (
            [pattern("A", "failed", unheard=True)],
            "no reason",
            "pattern A did not match; the agent cannot hear why",
        ),
        (
            [pattern("A", "failed", unheard=True), pattern("B", "failed", unheard=True)],
            "no reason",
            "none of 2 patterns for x.a matched; the agent cannot hear why",
        ),
        (
            [pattern("A", "failed", unheard=True), pattern("B", "failed", reason("too small"))],
            "reason",
            'none of 2 patterns matched: B says "too small"; '
            "1 failed for reasons that cannot be heard",
        ),
        (
            [pattern("A", "refused", ordinal=None)],
            "recursion",
            "pattern A is not tried for what it makes itself",
        ),
        (
            [pattern("A", "rolled back", reason("rolled back: it could not be legalized"))],
            "generated",
            "what pattern A made could not be legalized",
        ),
    ],
)
def test_the_most_telling_pattern(patterns: list[list[Event]], kind: str, text: str) -> None:
    inside = [event for one in patterns for event in one]
    cause = cause_of_failure(read(*operation("x.a", *inside)))
    assert (cause.kind, cause.text) == (kind, text)


def test_a_pattern_that_is_left_out() -> None:
    left_out = {
        "name": "A",
        "benefit": 2,
        "generates": [
            {"name": "x.ok", "legality": "legal"},
            {"name": "x.b", "legality": "illegal"},
        ],
    }
    cause = cause_of_failure(read(*operation("x.a", untried=[left_out])))
    assert cause.kind == "pattern left out"
    assert cause.text == (
        "pattern A for x.a is left out, as it generates x.b, which is not legal and for which "
        "there is no pattern"
    )


def test_a_check_of_types() -> None:
    begin, end = operation("x.a")
    conversion = read(begin, type_of("i7"), end)
    assert cause_of_failure(conversion).text == (
        "no pattern for x.a, which is legal only if its types are: "
        "my::Converter does not convert i7"
    )


def test_a_materialization_that_is_left() -> None:
    text = (
        "failed to legalize unresolved materialization from ('i32') to ('index', 'index') that "
        "remained live after conversion"
    )
    cause = cause_of_failure(read(*operation("x.a", legalized=True), error(text)))
    assert cause.kind == "materialization" and cause.way == []
    assert cause.text.startswith("a value of type index, index is still needed where only i32 is")


def neighbour(name: str, converted: bool) -> Event:
    return {"id": 4, "name": name, "location": None, "converted": converted}


@pytest.mark.parametrize(
    ("definer", "argument", "user", "text"),
    [
        (True, False, False, "@4 x.b was not converted, and still needs the type i8 of a value "),
        (False, False, True, "@4 x.a was not converted, and still gives type i32 where @4 x.b n"),
        (False, True, True, "an argument of @4 x.a was not converted, and is still of type i32 w"),
        (True, False, True, "@4 x.b needs type i8 where only i32 is left"),
    ],
)
def test_the_side_of_a_cast_that_was_not_converted(
    definer: bool, argument: bool, user: bool, text: str
) -> None:
    message = "failed to legalize unresolved materialization from ('i32') to ('i8') that remained "
    cast = {
        "event": "unresolved",
        "definer": neighbour("x.a", definer),
        "argument": argument,
        "users": [neighbour("x.b", user)],
    }
    legal = operation("x.a", legalized=True)
    cause = cause_of_failure(read(*legal, error(f"{message}live after conversion"), cast))
    assert cause.kind == "materialization" and cause.text.startswith(text)


@pytest.mark.parametrize(
    ("tried", "text"),
    [
        (None, "needs i8"),
        (False, "needs i8; @4 x.br passes it, and the conversion tried no pattern for it"),
        (True, "needs i8; @4 x.br passes it, and was not converted"),
    ],
)
def test_an_argument_that_a_branch_passes(tried: bool | None, text: str) -> None:
    message = "failed to legalize unresolved materialization from ('i32') to ('i8') that remained "
    passer = {**neighbour("x.br", tried is None), "tried": tried is not False}
    block = {"argument": 2, "number": 1, "location": None, "passedBy": [passer]}
    cast = {
        "event": "unresolved",
        "definer": neighbour("x.func", True),
        "argument": True,
        "block": block,
        "users": [neighbour("x.b", True)],
    }
    legal = operation("x.b", legalized=True)
    cause = cause_of_failure(read(*legal, error(f"{message}live after conversion"), cast))
    start = "argument 2 of ^bb1 of @4 x.func is still of type i32 where @4 x.b "
    assert cause.text == f"{start}{text}"


def test_what_a_pattern_makes_and_the_target_refuses() -> None:
    conversion = read(*operation("x.a", *pattern("A", "rolled back", *operation("x.b"))))
    assert cause_of_failure(conversion).text == (
        "pattern A makes x.b, which the target refuses, and for which there is no pattern"
    )


def test_an_error_of_something_else() -> None:
    cause = cause_of_failure(read(*operation("x.a"), error("failed to legalize operation 'x.z'")))
    assert (cause.kind, cause.text) == ("error", "failed to legalize operation 'x.z'")
    assert cause_of_failure(read()).kind == "unknown"


def test_a_conversion_that_has_not_ended() -> None:
    begin, *_ = operation("x.a")
    conversion = read(begin, *pattern("A", "failed")[:1], reason("in the middle"), failed=None)
    assert conversion.failed is None
    assert conversion.legalizations[0].tried[0].reasons == ["in the middle"]
    cause = cause_of_failure(conversion)
    assert (cause.kind, cause.text) == (
        "unfinished",
        "pattern A was being applied when the tool stopped",
    )
    cause = cause_of_failure(read(begin, failed=None))
    assert cause.text == "the tool stopped before a pattern for x.a was called"
    assert Explanation(target=None, conversions=[conversion]).failed is conversion


def test_what_is_behind_a_cut_is_dropped() -> None:
    begin, end = operation("x.a")
    cut = {"event": "cut"}
    conversion = read(begin, *pattern("A", "failed"), cut, reason("lost"), end, failed=True)
    assert conversion.is_cut
    assert [one.name for one in conversion.legalizations[0].tried] == ["A"]
    assert cause_of_failure(conversion).kind == "unknown"


def test_operations_that_are_left_are_grouped() -> None:
    same = operation("x.a", *pattern("A", "failed", reason("no")))
    again = operation("x.a", *pattern("A", "failed", reason("no")), id=8)
    other = operation("x.a", *pattern("A", "failed", reason("never")), id=9)
    left = {"event": "left", "name": "x.b", "legality": "legal", "count": 3, "id": 9}
    conversion = read(*same, *other, *again, left, failed=False)
    found = Explanation(target="op:x.*", conversions=[conversion])
    assert found.failed is None and found.cause is None and found.blockers == []
    assert [(group.count, group.cause.text) for group in found.groups()] == [
        (2, "pattern A did not match: no"),
        (1, "pattern A did not match: never"),
    ]
    assert [left.name for _, left in found.never_tried()] == ["x.b"]


def test_wanted_operations_of_a_failed_conversion_are_told_once() -> None:
    wanted = operation("x.a", *pattern("A", "failed", reason("no")))
    other = operation("y.b", *pattern("B", "failed"), id=8)
    conversion = read(*wanted, *other, *wanted)
    for target, count in (("op:x.*", 1), ("@7", 1), ("op:z.*", 0), ("@9", 0)):
        found = Explanation(target=target, conversions=[conversion])
        assert len(found.groups()) == count, target
    assert Explanation(target="op:x.*", conversions=[conversion]).groups()[0].count == 1


def test_operations_around_that_were_tried_block() -> None:
    around = operation("x.func", *pattern("F", "failed", type_of("i7")))
    ignored = operation("x.module")
    conversion = read(*ignored, *around, *operation("x.return"))
    found = Explanation(target=None, conversions=[conversion])
    assert [one.op for one in found.blockers] == ["x.func"]
    assert cause_of(found.blockers[0]).kind == "type"
