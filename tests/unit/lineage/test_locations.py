"""Locations: their ranges, the files that they name, and the index of many."""

from __future__ import annotations

import random

import pytest

from actiondbg.errors import UsageError
from actiondbg.lineage.locations import (
    UNKNOWN,
    FileRemap,
    Location,
    LocationIndex,
    SourceRange,
    parse_remap,
    same_file,
)


def ranges(text: str) -> list[str]:
    return sorted(map(str, Location(text).ranges))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("unknown", []),
        ('"a.mlir":3:5', ["a.mlir:3:5"]),
        ('"a.mlir":3:5 to :9', ["a.mlir:3:5-3:9"]),
        ('"a.mlir":3:5 to 7:2', ["a.mlir:3:5-7:2"]),
        ('"name"', []),
        ('"name"("a.mlir":3:5)', ["a.mlir:3:5"]),
        ('"name"(unknown)', []),
        ('callsite("a.mlir":1:1 at "b.mlir":2:2)', ["a.mlir:1:1", "b.mlir:2:2"]),
        (
            'callsite("f"("a.mlir":1:1) at callsite("b.mlir":2:2 at "c.mlir":3:3))',
            ["a.mlir:1:1", "b.mlir:2:2", "c.mlir:3:3"],
        ),
        (
            'fused["a.mlir":9:1, "a.mlir":2:2, "b.mlir":3:3]',
            ["a.mlir:2:2", "a.mlir:9:1", "b.mlir:3:3"],
        ),
        ('fused<"meta":1:1>["a.mlir":2:2]', ["a.mlir:2:2"]),
        ('fused<#x.y<"a>b", (i32) -> i32>>["a.mlir":2:2]', ["a.mlir:2:2"]),
        ('"a b\\22c.mlir":3:5', ['a b"c.mlir:3:5']),
        ('"a\\"\\\\\\n.mlir":3:5', ['a"\\\n.mlir:3:5']),
        ('"\\E6\\97\\A5\\c3\\bc.mlir":3:5', ["日ü.mlir:3:5"]),
        ('"a.mlir":0:0', ["a.mlir:0:0"]),
    ],
)
def test_ranges_of_each_kind_of_location(text: str, expected: list[str]) -> None:
    assert ranges(text) == expected


def test_call_sites_of_any_depth_have_all_their_ranges() -> None:
    text = '"a.mlir":1:1'
    for line in range(2, 5000):
        text = f'callsite("a.mlir":{line}:1 at {text})'
    assert len(Location(text).ranges) == 4999


def overlap(one: str, other: str) -> bool:
    return bool(LocationIndex([Location(one)]).overlapping(Location(other).ranges))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("unknown", "unknown", False),
        ('"a":0:0', '"a":0:0', False),
        ('"a":3:5', '"a":3:5', True),
        ('"a":3:5', '"a":3:6', False),
        ('"a":3:0', '"a":3:6', True),  # column 0: the whole line
        ('"a":3:0', '"a":4:6', False),
        ('"a":3:5 to :9', '"a":3:9', True),
        ('"a":3:5 to :9', '"a":3:10', False),
        ('"a":3:5 to 7:2', '"a":5:80', True),
        ('"a":3:5 to 7:2', '"a":7:2 to 9:1', True),
        ('"a":3:5 to 7:2', '"a":7:3 to 9:1', False),
        ('"a":3:5', '"b":3:5', False),
        ('"x/a":3:5', '"/w/x/a":3:5', True),
        ('"y/a":3:5', '"/w/x/a":3:5', False),
        ('"xa":3:5', '"a":3:5', False),
        # A set of ranges, not the box around them.
        ('fused["a":1:1, "a":9:1]', '"a":5:1', False),
        ('fused["a":1:1, "b":9:1]', '"b":9:1', True),
        ('callsite("a":1:1 at "b":2:2)', '"b":2:2', True),
        ('callsite("a":1:1 at "b":2:2)', '"a":1:1', True),
    ],
)
def test_which_locations_overlap(one: str, other: str, expected: bool) -> None:
    assert overlap(one, other) is expected
    assert overlap(other, one) is expected


def test_index_finds_what_comparing_each_finds() -> None:
    draw = random.Random(5)

    def draw_range() -> SourceRange:
        line, column = draw.randrange(1, 60), draw.randrange(0, 9)
        if draw.random() < 0.5:
            return SourceRange("a", line, column, line, column)
        return SourceRange("a", line, column, line + draw.choice((0, 1, 40)), 9)

    def text(one: SourceRange) -> str:
        return f'"a":{one.line}:{one.column} to {one.end_line}:{one.end_column}'

    for count in (1, 2, 3, 50, 301):
        members = [draw_range() for _ in range(count)]
        index = LocationIndex([Location(text(one)) for one in members])
        for asked in (draw_range() for _ in range(200)):
            expected = {at for at, one in enumerate(members) if one.meets(asked)}
            assert index.overlapping([asked]) == expected


def test_unknown_locations_are_in_no_index() -> None:
    index = LocationIndex([UNKNOWN, Location('"a":0:0'), Location('"name"')])
    assert index.files == ["a"]  # its line is unknown, its file is not
    assert index.overlapping(Location('"a":0:0').ranges) == set()


def test_files_match_by_the_components_of_their_paths() -> None:
    assert same_file("a.mlir", "/x/a.mlir")
    assert same_file("x/a.mlir", "/w/x/a.mlir")
    assert same_file("./a.mlir", "a.mlir")
    assert not same_file("x/a.mlir", "y/a.mlir")
    assert not same_file("aa.mlir", "a.mlir")
    assert not same_file("", "a.mlir")


def test_remap_replaces_files_and_reports_unused_names() -> None:
    remap = FileRemap([("gen/a.mlir", "b.mlir"), ("other.mlir", "c.mlir")])
    assert remap("/tmp/gen/a.mlir") == "b.mlir"
    assert remap("d.mlir") == "d.mlir"
    assert remap.unused() == ["other.mlir"]
    index = LocationIndex([Location('"/tmp/gen/a.mlir":1:1')], remap)
    assert index.overlapping(Location('"b.mlir":1:1').ranges) == {0}


@pytest.mark.parametrize("text", ["a", "=b", "a=", "a=b=c"])
def test_remap_needs_two_names(text: str) -> None:
    with pytest.raises(UsageError, match="write OLD=NEW"):
        parse_remap(text)
