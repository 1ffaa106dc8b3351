"""``actiondbg query`` on a terminal."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pexpect
import pytest

from tests.fakes.recording.recordings import Action, Operation, write_recording
from tests.paths import COMMAND


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    outer = Action("canonicalize", "pass-execution", operation=1, duration=5500)
    inner = [Action("P", depth=1, operation=2, ir=[(2, "before\n", "after\n")])] * 3
    operations = [Operation(1, "func.func", function="f"), Operation(2, function="f")]
    write_recording("run.adbrec", [outer, *inner], operations, ir="changed")


def spawn(*words: str, width: int = 80) -> pexpect.spawn[str]:
    environment = {**os.environ, "TERM": "xterm", "NO_COLOR": ""}
    return pexpect.spawn(
        COMMAND,
        ["query", *words],
        encoding="utf-8",
        timeout=60,
        env=environment,
        dimensions=(24, width),
    )


def shown(*words: str, width: int = 80) -> list[str]:
    process = spawn(*words, width=width)
    process.expect(pexpect.EOF)
    process.close()
    assert process.exitstatus == 0
    assert process.before is not None
    plain = re.sub(r"\x1b\[\d+m", "", process.before)
    return [line.rstrip() for line in plain.splitlines()]


def test_long_cells_are_cut_on_a_terminal() -> None:
    sql = "select ordinal, repeat('[b]x', 50) as long, repeat('y', 70) as other from actions"
    lines = shown("run.adbrec", sql)
    assert max(map(len, lines)) <= 80
    assert sum("[b]x[b]x" in line and "…" in line for line in lines) == 4


def test_one_cell_is_shown_as_it_is() -> None:
    assert shown("run.adbrec", "select repeat('ab\\n', 200) || 'end'")[0].startswith("ab")
    sql = "select text from ir where \"when\" = 'before' limit 1"
    assert shown("run.adbrec", sql) == ["before", ""]


def test_many_columns_are_shown_below_each_other() -> None:
    lines = shown("run.adbrec", "from actions limit 2")
    assert lines[0] == "--- row 1" and "--- row 2" in lines
    assert "name  canonicalize" in map(str.strip, lines)


def test_many_rows_are_cut_on_a_terminal() -> None:
    lines = shown("run.adbrec", "select range, 'x' as x from range(100000)")
    assert "Only 1,000 rows are shown" in " ".join(lines[-3:])
    assert ["999", "x"] in [line.split() for line in lines[-5:]]
    assert "cannot be printed on a terminal" in shown_error(
        "run.adbrec", "from runs", "--format", "parquet"
    )


def shown_error(*words: str) -> str:
    process = spawn(*words)
    process.expect(pexpect.EOF)
    process.close()
    assert process.exitstatus == 2 and process.before is not None
    return process.before
