"""Lines and tables that fit a width."""

from __future__ import annotations

import re

import pytest

from actiondbg.commands.render.tables import aligned, fitted, wrapped
from tests.elements import some

_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def test_a_line_that_fits_stays() -> None:
    assert wrapped("  a  b", 6) == ["  a  b"]


def test_prose_goes_on_a_little_to_the_right() -> None:
    assert wrapped("one two three four", 10) == ["one two", "  three", "  four"]
    assert wrapped("    one two three", 11) == ["    one two", "      three"]


def test_rows_begin_below_the_last_column() -> None:
    assert wrapped("name  one two three", 13) == ["name  one two", "      three"]
    assert wrapped("-> 0  #5 fold (x) at y", 14) == ["-> 0  #5 fold", "      (x) at y"]


def test_a_last_column_far_to_the_right_goes_below_the_row() -> None:
    row = "     23        12      6  convert-arith"
    assert wrapped(row, 32) == ["     23        12      6", "    convert-arith"]


def test_a_word_that_fits_nowhere_stays_beside_its_name() -> None:
    path = "/" + "x" * 30
    assert wrapped(f"path  {path}", 20) == [f"path  {path}"]


def test_escape_sequences_take_no_columns() -> None:
    line = "\x1b[1mone two\x1b[0m three"
    assert wrapped(line, 13) == [line]
    assert [_ESCAPE.sub("", row) for row in wrapped(line, 9)] == ["one two", "  three"]


@pytest.mark.parametrize("width", [20, 33, 47, 60])
def test_no_word_is_lost(width: int) -> None:
    rows = [["id", "state", "what"], ["1", "yes", "a b c " * 9], ["22", "no", "long-word " * 5]]
    text = "\n".join(aligned(rows, left=(0, 1, 2)))
    shown = fitted(text, width)
    assert shown.split() == text.split()
    assert all(len(row) <= width for row in some(shown.split("\n")))
    assert fitted(text, None) == text
