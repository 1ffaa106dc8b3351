"""Patches of printed IR, and the branches that edits begin."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from actiondbg import protocol
from actiondbg.errors import EditRefused
from actiondbg.process.branches import Branches, Edited
from actiondbg.process.stop import Side, Stop
from actiondbg.session.edits.edit_file import apply_patch, make_patch

LINES = some.lists(some.sampled_from(["a", "b", "  c {", "}", "--- d", "+++ e", "@@ f", ""]))


def text_of(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"


@given(LINES, LINES)
def test_patch_turns_a_text_into_the_other(before: list[str], after: list[str]) -> None:
    patch = make_patch(text_of(before), text_of(after))
    assert apply_patch(text_of(before), patch) == text_of(after)


def test_patch_fits_moved_lines() -> None:
    lines = [f"line {number}" for number in range(20)]
    patch = make_patch(text_of(lines), text_of([*lines[:10], "new", *lines[11:]]))
    moved = ["first", "second", *lines]
    assert apply_patch(text_of(moved), patch).splitlines()[12] == "new"


def test_patch_of_other_lines_is_refused() -> None:
    patch = make_patch("a\nb\nc\n", "a\nx\nc\n")
    with pytest.raises(EditRefused, match="the lines from 'a' on are not in it"):
        apply_patch("a\nc\n", patch)


# --- branches ---------------------------------------------------------------------------


def stop(event: int, ordinal: int, when: Side = "before") -> Stop:
    return Stop(when=when, reason="step", event=event, ordinal=ordinal, tag="t", name="n")


def edited(event: int, ordinal: int) -> Edited:
    edit = protocol.Edit(event=event, id=1, path="file")
    return Edited(ordinal=ordinal, tag="t", name="n", when="before", target="module", edit=edit)


def events(branches: Branches) -> list[int]:
    return [one.event for one in branches.request().edits]


def test_edit_begins_a_branch_and_keeps_earlier_ones() -> None:
    branches = Branches()
    for event in (2, 5):
        branches.reach(stop(event, event))
        branches.edit(stop(event, event), edited(event, event))
    assert (branches.current.number, branches.current.parent) == (3, 2)
    assert events(branches) == [2, 5]
    branches.edit(stop(5, 5), edited(5, 5))
    assert branches.current.parent == 3
    assert events(branches) == [2, 5, 5]
    branches.reach(stop(9, 9))
    branches.edit(stop(3, 3), edited(3, 3))
    assert branches.current.parent == 2
    assert events(branches) == [2, 3]


def test_positions_at_the_event_of_an_edit_have_a_side() -> None:
    branches = Branches()
    branches.reach(stop(5, 5))
    assert branches.owner(5, at_event=True).number == 1
    branches.edit(stop(5, 5), edited(5, 5))
    assert branches.owner(5, at_event=True).number == 2
    assert branches.owner(4, at_event=False).number == 1
    assert not branches.holds(1, 5, at_event=True)
    assert branches.holds(1, 4, at_event=False)
    assert branches.holds(2, 5, at_event=True)


def test_edit_leaves_the_skip_at_its_event() -> None:
    branches = Branches()
    assert branches.decide(stop(5, 5), skip=True)
    branches.reach(stop(8, 8))
    branches.edit(stop(5, 5), edited(5, 5))
    assert branches.ordinals() == [5]
    branches.reach(stop(8, 8))
    assert branches.decide(stop(5, 5), skip=False) is True
    assert branches.ordinals() == []
    assert events(branches) == [5]


def test_edits_ahead_do_not_survive_another_control() -> None:
    branches = Branches()
    branches.plan_edits([edited(5, 5)])
    assert events(branches) == [5]
    branches.reach(stop(9, 9))
    branches.decide(stop(3, 3), skip=True)
    assert events(branches) == []
    assert branches.newest_edited() is None
