"""``actiondbg lineage`` over dumps, as a person types it."""

from __future__ import annotations

import csv
import json
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

from tests.fakes import command_line

BEFORE = """\
func.func @net(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = "test.conv"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = "test.conv"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %c = "test.conv"(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %d = "test.dead"(%c) : (tensor<4xf32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}
"""
BETWEEN = """\
func.func @net(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = "test.conv"(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("a.mlir":2:8)
  %b = "test.pad"(%a) : (tensor<4xf32>) -> tensor<4xf32> loc("a.mlir":3:8)
  %c = "test.conv"(%b) : (tensor<4xf32>) -> tensor<4xf32> loc("a.mlir":3:8)
  %d = "test.conv"(%c) : (tensor<4xf32>) -> tensor<4xf32> loc("a.mlir":4:8)
  return %d : tensor<4xf32> loc("a.mlir":6:3)
} loc("a.mlir":1:1)
"""
AFTER = """\
func.func @net(%x: tensor<4xf32>) -> tensor<4xf32> {
  %k = "test.kernel"(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("a.mlir":2:8)
  %m = "test.matmul"(%k) : (tensor<4xf32>) -> tensor<4xf32> loc("a.mlir":3:8)
  %n = "test.kernel"(%m) : (tensor<4xf32>) -> tensor<4xf32> loc("a.mlir":4:8)
  %o = "test.extra"(%n) : (tensor<4xf32>) -> tensor<4xf32> loc(unknown)
  return %o : tensor<4xf32> loc("a.mlir":6:3)
} loc("a.mlir":1:1)
"""
DUMPS = ("--input", "a.mlir", "--then", "b.mlir", "--then", "c.mlir")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (("a.mlir", BEFORE), ("b.mlir", BETWEEN), ("c.mlir", AFTER)):
        Path(name).write_text(text)


def lineage(*words: str, status: int = 0, stdin: str = "") -> str:
    done = command_line.run("lineage", *DUMPS, *words, stdin=stdin)
    assert (done.returncode, done.stderr) == (status, "")
    return done.stdout


def refused(*words: str, status: int = 2) -> str:
    done = command_line.run("lineage", *words)
    assert (done.returncode, done.stdout) == (status, "")
    return done.stderr.strip().splitlines()[-1].partition("error: ")[2] or done.stderr.strip()


def test_groups_and_where_their_ways_part() -> None:
    assert (
        lineage("--kind", "test.conv", "--became", "test.matmul")
        == """\
3 test.conv: 1 became test.matmul, 2 did not.

Became test.matmul (1):
  line 3 test.conv %b at a.mlir:3:8

Became test.conv, test.kernel instead (2):
  line 2 test.conv %a at a.mlir:2:8
  line 4 test.conv %c at a.mlir:4:8
  Their ways part in b.mlir, at test.pad:
    it is on the way of 1 of the 1 that became test.matmul, and of 0 of these 2
    such as line 3 test.conv %b at a.mlir:3:8
"""
    )


def test_groups_as_json() -> None:
    found = json.loads(lineage("--kind", "*.conv", "--became", "test.matmul", "--json"))["groups"]
    assert [one["result"] for one in found["became"]] == ["%b"]
    (other,) = found["others"]
    assert other["kinds"] == ["test.conv", "test.kernel"]
    assert [one["line"] for one in other["operations"]] == [2, 4]
    assert (other["parting"]["pass"], other["parting"]["kind"]) == ("b.mlir", "test.pad")
    assert (other["parting"]["became"], other["parting"]["others"]) == ([1, 1], [0, 2])


def test_kinds() -> None:
    assert (
        lineage("--kinds", "test.*")
        == """\
test.conv  3 -> test.kernel 2, test.matmul 1
test.dead  1 -> no location overlaps 1
"""
    )


def test_orphans() -> None:
    assert (
        lineage("--fail-on-orphan", status=1)
        == """\
Traced to c.mlir: 5 of 6 operations of a.mlir. With an origin: 5 of 6 operations of c.mlir.
Without a trace: 1
  1 no location overlaps
Without an origin: 1
  1 no location is known
2 unexplained orphans:
  a.mlir: line 5 test.dead %d at a.mlir:5:8
  c.mlir: line 5 test.extra %o
"""
    )
    allowed = lineage("--fail-on-orphan", "--allow-orphan", "test.dead", "--allow-orphan", "*.e*")
    assert allowed.endswith("There is no unexplained orphan.\n")


def test_the_matrix_as_csv() -> None:
    lineage("--matrix", "m.csv", "--level", "operation")
    rows = list(csv.DictReader(StringIO(Path("m.csv").read_text())))
    conv = next(row for row in rows if row["input_line"] == "3")
    assert (conv["relation"], conv["input"], conv["unit"], conv["unit_line"], conv["exact"]) == (
        *("traced", "test.conv", "test.matmul in @net line 3", "3", "false"),
    )
    (lost,) = (row for row in rows if row["relation"] == "lost")
    assert (lost["input"], lost["reason"], lost["unit"]) == ("test.dead", "unmatched", "")
    (unfounded,) = (row for row in rows if row["relation"] == "unfounded")
    assert (unfounded["output"], unfounded["output_line"]) == ("test.extra", "5")


def test_the_matrix_as_parquet_and_as_a_page() -> None:
    lineage("--matrix", "m.parquet")
    parquet: Any = import_module("pyarrow.parquet")
    rows: list[dict[str, Any]] = parquet.read_table("m.parquet").to_pylist()
    counts = {row["input_line"]: row["operations"] for row in rows}
    assert counts[3] == 1
    lineage("--matrix", "m.html")
    page = Path("m.html").read_text()
    assert "test.dead" in page and "unexplained orphans" in page


def test_a_sankey_diagram_of_dumps() -> None:
    lineage("--sankey", "s.svg", "--after", "b.mlir")
    svg = Path("s.svg").read_text()
    assert svg.startswith("<svg ") and "test.pad" in svg and "test.matmul" in svg


def test_pictures_of_chosen_operations() -> None:
    lineage("--of", "a.mlir:3", "--svg", "p.svg", "--html", "p.html", "--dot", "p.dot")
    svg = Path("p.svg").read_text()
    assert "line 3 test.conv" in svg and "line 3 test.matmul" in svg and "test.kernel" not in svg
    assert "test.matmul" in Path("p.html").read_text()
    assert "style=dashed" in Path("p.dot").read_text()
    lineage("--of", "test.matmul", "--of", "%k", "--back", "--svg", "p.svg")
    assert Path("p.svg").read_text().count("test.conv</text>") == 2
    lineage("--of", "%k", "--back", "--level", "function", "--svg", "p.svg")
    assert Path("p.svg").read_text().count("func.func</text>") == 1
    lineage("--of", "%k", "--of", "%m", "--back", "--level", "function", "--dot", "p.dot")
    dot = Path("p.dot").read_text()
    assert dot.count('label="line 1 func.func') == 1 and dot.count('[label="inside"') == 2


def test_sql() -> None:
    sql = "select i.result, o.name, o.function, exact from input i join lineage on i.node = source"
    sql += " join output o on target = o.node where i.name = 'test.conv' order by i.line"
    rows = json.loads(lineage(sql, "--format", "json"))
    assert [(row["result"], row["name"], row["function"]) for row in rows] == [
        ("%a", "test.kernel", "@net"),
        ("%b", "test.matmul", "@net"),
        ("%c", "test.kernel", "@net"),
    ]
    assert lineage("-", stdin="select count(*) as n from steps where evidence = 'location'") == (
        " n\n--\n12\n"
    )


def test_the_source_of_operations_in_sql() -> None:
    sql = "select file, source_line from output where name = 'test.matmul'"
    assert lineage(sql, "--format", "csv") == '"file","source_line"\n"a.mlir",3\n'
    assert lineage("select count(*) as n from output where file is null").split()[-1] == "1"


def test_tables_are_listed() -> None:
    listed = lineage("--tables")
    assert listed == lineage()
    for line in ("input    node", "output   source_line", "lineage  exact", "steps    evidence"):
        assert line in listed


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((*DUMPS, "--kind", "x"), "--kind and --became belong together"),
        ((*DUMPS, "--of", "%a"), "--of needs a file for the picture"),
        ((*DUMPS, "--svg", "p.svg"), "--of needs a file for the picture"),
        ((*DUMPS, "--back"), "--back is for a picture"),
        ((*DUMPS, "--of", "%a", "--svg", "a.mlir"), "'a.mlir' is named twice"),
        ((*DUMPS, "--after", "cse"), "--after adds a column to a picture"),
        ((*DUMPS, "--allow-orphan", "x"), "--allow-orphan needs --orphans"),
        ((*DUMPS, "--matrix", "m.txt"), "'m.txt' has no known suffix"),
        ((*DUMPS, "--matrix", "none/m.csv"), "its directory does not exist"),
        ((*DUMPS, "--sankey", "s.png"), "name a file with .html or .svg"),
        ((*DUMPS, "select 1", "select 2"), "'select 2' is one word too many"),
        ((*DUMPS, "select 1", "--orphans"), "Several of SQL, --tables and other questions"),
        ((*DUMPS, "select 1", "--json"), "use --format json with SQL"),
        ((*DUMPS, "--tables", "--json"), "use --format json with SQL"),
        ((*DUMPS, "--tables", "--orphans"), "Several of SQL, --tables and other questions"),
        ((*DUMPS, "--orphans", "-o", "o.csv"), "-o and --format are for an answer to SQL"),
        ((*DUMPS, "--kinds", "*", "--format", "csv"), "-o and --format are for an answer to SQL"),
        ((*DUMPS, "--kinds", "test.[a"), "The [ in 'test.[a' is not closed"),
        ((*DUMPS, "--loss"), "Dumps do not show which action made an operation"),
        ((*DUMPS, "--orphans", "--allow-orphan", "["), "is not closed"),
        (("none",), "'none' is not a recording"),
        ((), "The source is missing: name a recording of record --lineage"),
        (("--remap",), "expected one argument"),
    ],
)
def test_bad_usage(words: tuple[str, ...], message: str) -> None:
    assert message in refused(*words)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("lineage", "--sankey", "s.svg", "--after", "["), "is not closed"),
        (("lineage", "--kind", "x", "--became", "[b-a]"), "The range 'b-a' is empty"),
        (("lineage", "-o", "none/o.csv", "select 1"), "its directory does not exist"),
        (("lineage", "selec 1"), "The SQL cannot be answered (Parser Error)"),
        (("track", "--from", "%a", "--to", "["), "is not closed"),
        (("annotate", "--origin", "["), "is not closed"),
        (("annotate", "-o", "none/o.mlir"), "its directory does not exist"),
        (("cost", "profile.json", "--html", "none/c.html"), "its directory does not exist"),
    ],
)
def test_bad_usage_is_told_before_a_tool_runs(words: tuple[str, ...], message: str) -> None:
    Path("profile.json").write_text("{}")
    done = command_line.run(*words, "--", "/no/such/tool", "a.mlir")
    assert done.returncode and message in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("annotate", *DUMPS, "-o", "b.mlir"),
        ("annotate", *DUMPS, "--snapshot", "b.mlir"),
        ("annotate", *DUMPS, "-o", "new.mlir", "--snapshot", "new.mlir"),
        ("annotate", "-o", "b.mlir", "--", "mlir-opt", "b.mlir"),
        ("cost", "profile.json", *DUMPS, "--html", "b.mlir"),
        ("cost", "b.mlir", *DUMPS[:2], "--then", "c.mlir", "--html", "b.mlir"),
    ],
)
def test_what_is_read_is_not_overwritten(words: tuple[str, ...]) -> None:
    Path("profile.json").write_text('{"net": 1}')
    done = command_line.run(*words)
    assert done.returncode == 2 and "is named twice on the command line" in done.stderr
    assert Path("b.mlir").read_text() == BETWEEN and not Path("new.mlir").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--input", "a.mlir"), "A later dump is missing"),
        (("--input", "a.mlir", "--then", "none.mlir"), "'none.mlir' cannot be read"),
        ((*DUMPS, "--kinds", "test.convs"), "matches 'test.convs': its most frequent are"),
        ((*DUMPS, "--of", "%q", "--svg", "p.svg"), "No operation of a.mlir defines %q"),
        ((*DUMPS, "--sankey", "s.svg", "--after", "cse"), "choose one of b.mlir."),
        ((*DUMPS[:4], "--sankey", "s.svg", "--after", "cse"), "There is no stage between a.mlir"),
    ],
)
def test_what_cannot_be_answered(words: tuple[str, ...], message: str) -> None:
    assert message in refused(*words)


def test_a_query_that_fails() -> None:
    message = refused(*DUMPS, "select x from inputs", status=1)
    assert "a query without SQL lists the tables" in message
