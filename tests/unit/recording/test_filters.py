"""What a SPEC, a condition and an OUTCOME select of a recording."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from actiondbg.breakpoints.condition import FIELDS
from actiondbg.errors import UsageError
from actiondbg.recording import open_recording
from actiondbg.recording.query.database import open_database
from actiondbg.recording.query.filters import where, where_location
from actiondbg.recording.recording import Recording
from tests.fakes.recording.recordings import Action, Operation, write_recording


def selected(recording: Recording, sql: str) -> list[int]:
    with contextlib.closing(open_database(recording)) as database:
        found = database.sql(f"SELECT ordinal, {sql} FROM actions ORDER BY ordinal").fetchall()
    assert all(is_selected is not None for _, is_selected in found), sql
    return [ordinal for ordinal, is_selected in found if is_selected]


# --- what the tools at hand do not show -------------------------------------------------


def names_recording(path: Path, names: list[str]) -> Recording:
    """Record an application of a pattern of each name, as the compiler spelled it."""
    plain = [each.replace("(anonymous namespace)::", "") for each in names]
    actions = [Action(short, full_name=name) for short, name in zip(plain, names, strict=True)]
    return open_recording(write_recording(path, actions))


@pytest.mark.parametrize(
    ("glob", "ordinals"),
    [
        ("X", [1, 2, 3, 4]),
        ("ns::X", [3]),
        ("(anonymous namespace)::X", [2]),
        ("X<*", [5, 6]),
        ("X<a::b<c::d>, e::f>", [6]),
        ("operator<", [7]),
        ("b::X", []),
        ("d>>", []),
        ("?", [1, 2, 3, 4]),
    ],
)
def test_names_match_by_their_last_component(
    tmp_path: Path, glob: str, ordinals: list[int]
) -> None:
    names = ["X", "(anonymous namespace)::X", "ns::X", "a<b::c>::X"]
    names += ["m::X<n::Y>", "ns::X<a::b<c::d>, e::f>", "ns::operator<"]
    recording = names_recording(tmp_path / "r", names)
    assert selected(recording, where(f'pattern:"{glob}"')) == ordinals


def test_pattern_without_a_name_matches_by_its_shown_name(tmp_path: Path) -> None:
    shown = "<unnamed, root arith.addi, benefit 1>"
    path = write_recording(tmp_path / "r", [Action(shown, full_name=""), Action("A")])
    recording = open_recording(path)
    assert selected(recording, where('pattern:"<unnamed*addi*"')) == [1]
    assert selected(recording, where("pattern:*")) == [1, 2]


@pytest.mark.parametrize("field", FIELDS)
def test_each_field_of_conditions_has_a_meaning_in_recordings(tmp_path: Path, field: str) -> None:
    path = write_recording(tmp_path / "r", [Action("A", operation=1), Action("B")], [Operation(1)])
    assert selected(open_recording(path), where(f"tag:* if {field} == {field}")) == [1, 2]


def test_quotes_in_a_spec_are_no_end_of_the_text(tmp_path: Path) -> None:
    path = write_recording(
        tmp_path / "r", [Action("it's", operation=1)], [Operation(1, file="o'b/in.mlir")]
    )
    recording = open_recording(path)
    for spec in ("pattern:it's", "pattern:*t's", "file:o'b/in.mlir", 'tag:* if name == "it\'s"'):
        assert selected(recording, where(spec)) == [1]
        assert selected(recording, where(spec.replace("'s", "''s").replace("o'b", "o''b"))) == []


@pytest.mark.parametrize(
    "text", ["", "tag:", "#0", "in.mlir:0", "tag:[", "nothing:x:", "tag:fold if", "tag:* if depth"]
)
def test_specs_that_break_refuses_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        where(text)


def test_a_location_is_only_a_place() -> None:
    assert where_location("in.mlir:3") == where("in.mlir:3")
    for text in ("canonicalize", "tag:fold", "in.mlir:3 and tag:fold", "#3", "in.mlir:0"):
        with pytest.raises(UsageError):
            where_location(text)
