"""Space that is reserved behind the end of a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from actiondbg.support.scratch_directory import reserved_space

SIZE = 4 << 20


def test_reserved_space_is_free_again(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.write_text("first\n")
    before = notes.stat().st_blocks
    with reserved_space(notes, SIZE):
        if notes.stat().st_blocks == before:
            pytest.skip("the file system reserves no space")
        assert notes.stat().st_blocks * 512 >= SIZE
        with notes.open("a") as file:
            file.write("second\n")
    assert notes.read_text() == "first\nsecond\n"
    assert notes.stat().st_blocks == before
