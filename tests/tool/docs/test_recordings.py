"""The examples and queries of docs/recordings.md, run on a real recording."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record
from actiondbg.recording.query.database import open_database
from actiondbg.recording.recording import Recording
from tests.elements import some
from tests.paths import ROOT

PAGE = (ROOT / "docs/recordings.md").read_text()
QUERIES = dict(re.findall(r"^### (.*?)\n.*?^```sql\n(.*?)^```$", PAGE, re.M | re.S))
# Line 184 holds an addition that merges with the one before; a pass makes multiplications.
LINES_BEFORE = 9
SOURCE = """\
func.func @f{n}(%x: i32, %y: index) -> (i32, index) {{
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %a = arith.addi %x, %c1 : i32
  %b = arith.addi %a, %c2 : i32
  %c = affine.apply affine_map<(d0) -> (d0 * 8 + 1)>(%y)
  %d = arith.subi %b, %b : i32
  %e = arith.addi %b, %d : i32
  return %e, %c : i32, index
}}
"""
PIPELINE = "builtin.module(func.func(canonicalize,cse),lower-affine,canonicalize)"


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    folder = tmp_path_factory.mktemp("recording")
    source = folder / "in.mlir"
    source.write_text("\n" * LINES_BEFORE + "".join(SOURCE.format(n=n) for n in range(30)))
    assert source.read_text().splitlines()[183] == "  %b = arith.addi %a, %c2 : i32"
    tool = ["mlir-opt", str(source), f"--pass-pipeline={PIPELINE}"]
    done = record(tool, folder / "run.adbrec", ir="changed", stdout=os.devnull)
    assert done.path is not None
    return open_recording(done.path)


@pytest.fixture
def ask(recording: Recording) -> Iterator[Any]:
    with contextlib.closing(open_database(recording)) as database:

        def ask(title: str) -> list[dict[str, Any]]:
            return database.sql(QUERIES[title]).to_arrow_table().to_pylist()

        yield ask


@pytest.mark.parametrize("title", QUERIES)
def test_query(ask: Any, title: str) -> None:
    assert ask(title), "it finds nothing"


def test_page_has_ten_queries() -> None:
    assert len(QUERIES) >= 10
    assert PAGE.count("```sql") == len(QUERIES)


# --- what they find ----------------------------------------------------------------------


def test_patterns(ask: Any, recording: Recording) -> None:
    slow = {row["name"]: row for row in ask("Which patterns take the time")}
    merged = slow["AddIAddConstant"]
    assert merged["changed"] == 30 and merged["attempts"] > 30 and merged["ms"] > 0
    idle = [row["name"] for row in ask("Which patterns never match")]
    assert "AddIAddConstant" not in idle and "AddIMulNegativeOneRhs" in idle


def test_a_line(ask: Any) -> None:
    touched = [(row["name"], row["kind"]) for row in ask("What touched line 184")]
    assert ("AddIAddConstant", "replaced") in touched
    became = ask("The replacements of an operation")
    told = [(row["generation"], row["kind"], row["name"]) for row in became]
    assert (0, "replaced", "AddIAddConstant") in told and (1, "inserted", "AddIAddConstant") in told


def test_the_pass_that_made_an_operation(ask: Any) -> None:
    made = ask("Which pass made an operation")
    assert len(made) == 30
    assert {row["pass"] for row in made} == {"lower-affine"}


def test_reasons_and_folds(ask: Any, recording: Recording) -> None:
    reasons = ask("Why patterns do not match")
    assert all(row["times"] >= 30 for row in some(reasons[:5]))
    folds = {row["name"]: row for row in ask("Which folds cost most")}
    assert folds["arith.subi"]["folded"] == 30


def test_passes_and_iterations(ask: Any) -> None:
    passes = {row["name"]: row for row in ask("How long each pass takes")}
    assert passes["cse"]["runs"] == 30
    assert passes["canonicalize"]["runs"] == 31
    assert passes["lower-affine"]["runs"] == 1
    assert {row["iterations"] for row in ask("Which functions take many iterations to converge")}


# --- the rest of the page ----------------------------------------------------------------


def described_tables() -> dict[str, str]:
    """Return the part of the page about each table."""
    text = PAGE.partition("## The tables")[2].partition("## Useful queries")[0]
    parts = re.split(r"\n\n`(\w+)`[:,]", text)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def quoted(text: str) -> list[str]:
    return [one.strip('"') for one in re.findall(r"`([^`]+)`", text)]


def test_every_table_and_column_of_the_page_is_queried(recording: Recording) -> None:
    described = described_tables()
    with contextlib.closing(open_database(recording)) as database:
        for table, text in some(described.items()):
            columns = database.sql(f"FROM {table} LIMIT 0").columns
            cells = re.findall(r"^\| (.*?) \|", text, re.M)
            listed = [one for cell in cells for one in quoted(cell)]
            events = {"page_faults"}  # with --events only
            assert set(listed) - events <= set(columns)
            assert set(columns) <= set(quoted(text))
        tables = {row[0] for row in database.sql("SHOW TABLES").fetchall()}
    assert tables == described.keys() == {*recording.tables, "runs"}


def test_the_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.mlir").write_text(SOURCE.format(n=0))
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    (commands,) = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.M | re.S)
    done = subprocess.run(
        ["sh", "-e", "-c", commands],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"^canonicalize +1$", done.stdout, re.M)
    assert "@f0" in Path("out.mlir").read_text()
    (script,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "22.1.8 exit None" in done.stdout


@pytest.mark.parametrize("command", ["record", "query", "export"])
def test_every_option_is_on_the_page(command: str) -> None:
    words = [str(Path(sys.executable).with_name("actiondbg")), command, "--help"]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    listed = text.partition("options:")[2].partition("examples")[0]
    options = set(re.findall(r"(--[a-z-]+)", listed)) - {"--help", "--output", "--quiet"}
    assert {option for option in options if option not in PAGE} == set()
