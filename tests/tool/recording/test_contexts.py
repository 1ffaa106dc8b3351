"""Recordings of tools that make one context after the other, each with names of its own."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record
from tests.fakes import command_line
from tests.fakes.recording.report import Page

PARTS = 60
# Names differ from part to part, and so does what stands at one address in memory.
PART = """\
func.func @f{n}(%x: i32) -> i32 {{
  %a = "made.op_{n}"(%x) : (i32) -> i32 loc("s{n}.mlir":{n}:3)
  %b = "{other}"(%a, %x) : (i32, i32) -> i32 loc("s{n}.mlir":{n}:5)
  return %b : i32 loc("s{n}.mlir":{n}:7)
}} loc("s{n}.mlir":{n}:1)
"""
OTHERS = ("made.add", "made.multiply", "made.subtract", "made.xor", "made.or")


def of_part(number: int) -> str:
    return PART.format(n=number, other=OTHERS[number % len(OTHERS)])


@pytest.mark.parametrize("threading", ["--mlir-disable-threading", "--mlir-print-debuginfo"])
def test_each_operation_has_the_names_of_its_own_context(
    mlir_opt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threading: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("parts.mlir").write_text("// -----\n".join(map(of_part, range(1, PARTS + 1))))
    tool = [mlir_opt, "parts.mlir", "--split-input-file", "--allow-unregistered-dialect"]
    passes = "--pass-pipeline=builtin.module(func.func(canonicalize,cse))"
    done = record([*tool, passes, threading], "run.adbrec", stdout=os.devnull)
    assert done.status == 0 and done.path is not None
    table = open_recording(done.path).table("operations", ("op", "function", "file", "line"))
    columns = (column.to_pylist() for column in table.columns)
    found = {row for row in zip(*columns, strict=True) if row[0] != "builtin.module"}
    expected: set[tuple[str, str, str, int]] = set()
    for n in range(1, PARTS + 1):
        for name in ("func.func", f"made.op_{n}", OTHERS[n % len(OTHERS)], "func.return"):
            expected.add((name, f"f{n}", f"s{n}.mlir", n))
    assert found == expected


def front_end(*words: str) -> str:
    return command_line.run(*words, check=True).stdout


def test_logs_reports_and_statistics_of_one_context(
    mlir_opt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("parts.mlir").write_text("// -----\n".join(map(of_part, range(1, 4))))
    tool = [mlir_opt, "parts.mlir", "--split-input-file", "--allow-unregistered-dialect"]
    record([*tool, "--canonicalize", "--cse"], "run.adbrec", stdout=os.devnull)
    actions = open_recording("run.adbrec").table("actions", ("ordinal", "context", "function"))
    rows = [row for row in actions.to_pylist() if row["context"] == "c2"]
    assert {row["function"] for row in rows} == {"f2", None}
    assert 0 < len(rows) < actions.num_rows / 2
    one = ("--filter", "context:c2", "run.adbrec")

    logged = [json.loads(line) for line in front_end("log", "--json", *one).splitlines()]
    assert [action["ordinal"] for action in logged] == [row["ordinal"] for row in rows]
    assert json.loads(front_end("stat", "--json", *one))["measured"] == len(rows)
    front_end("report", "-q", "-o", "c2.html", *one)
    page = Page(Path("c2.html").read_text())
    assert f"{len(rows):,} of {actions.num_rows:,} (--filter context:c2)" in page.text
    assert {row["ordinal"] for row in page.rows("actions")} == {row["ordinal"] for row in rows}
    assert "f2" in page.run["texts"] and "f1" not in page.run["texts"]
