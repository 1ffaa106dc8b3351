"""``actiondbg query`` and ``actiondbg export`` as a person types them."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import signal
import subprocess
import time
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pyarrow.parquet  # pyright: ignore[reportMissingTypeStubs]
import pytest

from actiondbg.commands.render.query import write_table
from actiondbg.recording import open_recording
from actiondbg.recording.errors import QueryError
from actiondbg.recording.query.database import confine
from actiondbg.recording.query.execution import ask
from actiondbg.recording.query.results import write_json
from actiondbg.recording.query.sources import open_sources
from tests.elements import some
from tests.fakes import command_line
from tests.fakes.recording.chunks import chunk_bytes
from tests.fakes.recording.recordings import Action, Operation, fake_recording, write_recording
from tests.paths import COMMAND

ODD = 'a "quoted", one\nof two lines'
ACTIONS = [
    Action("canonicalize", "pass-execution", operation=1, outcome="succeeded", duration=5500),
    Action("P", depth=1, operation=2, outcome="failed", reasons=[ODD], duration=1500),
    Action("P", depth=1, operation=2, outcome="succeeded", ir=[(2, "before\n", "after\n")]),
    Action("arith.addi", "fold", depth=1, operation=2),
]
OPERATIONS = [
    Operation(1, "func.func", line=1, function="f"),
    Operation(2, "arith.addi", line=2, function="f"),
]
GROUPED = "select name, count(*) as count, avg(self_ns) as ns from actions group by all order by 1"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_recording("run.adbrec", ACTIONS, OPERATIONS, ir="changed")


def run(*words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return command_line.run(*words, stdin=stdin)


def query(*words: str, stdin: str = "") -> str:
    done = run("query", *words, stdin=stdin)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def answer(*words: str) -> list[dict[str, Any]]:
    """Answer as the command does, in this process."""
    *paths, sql = words
    out = BytesIO()
    with contextlib.closing(open_sources(paths).connect()) as database:
        ask(database, sql, lambda reader: write_json(reader, out))
    return json.loads(out.getvalue())


# --- formats -------------------------------------------------------------------------------


def test_a_table() -> None:
    assert query("run.adbrec", GROUPED).splitlines() == [
        "name          count    ns",
        "------------  -----  ----",
        "P                 2  1000",
        "arith.addi        1   500",
        "canonicalize      1  3000",
    ]


def test_cell_is_one_complete_line() -> None:
    said = query("run.adbrec", "select reason, null as n from reasons").splitlines()
    assert said[2] == 'a "quoted", one\\nof two lines  NULL'
    assert len(said) == 3
    assert len(query("run.adbrec", "select repeat('x', 500) as long").splitlines()[2]) == 500


def test_csv() -> None:
    said = query("--format", "csv", "run.adbrec", "select reason, ordinal from actions")
    rows = list(csv.reader(StringIO(said)))
    assert rows == [["reason", "ordinal"], ["", "1"], [ODD, "2"], ["", "3"], ["", "4"]]


def test_json() -> None:
    sql = """select name, sum(duration_ns) as ns, [1, 2] as list, {'a': 'ü'} as struct,
        1.5::decimal(4, 1) as d, 'nan'::double as nan, null as n, 7::hugeint as h,
        date '2020-01-02' as day, 'x'::blob as bytes, interval 1 day as i, 2 as name
        from actions where depth = 0 group by name"""
    (row,) = answer("run.adbrec", sql)
    assert row.pop("i")
    assert row == {
        **{"name": "canonicalize", "ns": 5500, "list": [1, 2], "struct": {"a": "ü"}, "d": 1.5},
        **{"nan": None, "n": None, "h": 7, "day": "2020-01-02", "bytes": "x", "name_1": 2},
    }
    assert answer("run.adbrec", "from actions where false") == []
    assert len(query("--format", "json", "run.adbrec", "from actions").splitlines()) == 4 + 2


def test_nested_values_are_text_in_csv() -> None:
    sql = "select [1, 2] as l, {'a': 'ü'} as s, interval 1 day as i, 'x'::enum('x') as e"
    said = query("--format", "csv", "run.adbrec", sql)
    ((*_, enum),) = list(csv.reader(StringIO(said)))[1:]
    assert list(csv.reader(StringIO(said)))[1][:2] == ["[1, 2]", '{"a": "ü"}']
    assert enum == "x"


def test_a_map_is_an_object() -> None:
    sql = "select map {'a': 1, 'b': 2} as m, map {1: [2]} as n, map {} as e"
    assert answer("run.adbrec", sql) == [{"m": {"a": 1, "b": 2}, "n": {"1": [2]}, "e": {}}]
    assert '{"a": 1, "b": 2}' in query("run.adbrec", sql)


def test_parquet() -> None:
    sql = f"{GROUPED}; select name as a, ordinal as a, interval 1 day as i from actions"
    query("run.adbrec", sql, "-o", "x.parquet")
    parquet: Any = pyarrow.parquet
    table = parquet.read_table("x.parquet")
    assert table.column_names == ["a", "a_1", "i"]
    assert table.column("a_1").to_pylist() == [1, 2, 3, 4]


def test_suffix_selects_the_format() -> None:
    starts = {"x.csv": '"name"', "x.json": "[\n{", "x.txt": "name  ", "x": "name  "}
    for name, start in starts.items():
        assert query("run.adbrec", GROUPED, "-o", name) == ""
        assert Path(name).read_text().startswith(start)
    query("run.adbrec", GROUPED, "--format", "csv", "-o", "y.json")
    assert Path("y.json").read_text() == Path("x.csv").read_text()
    assert not list(Path().glob(".*"))


@pytest.mark.slow
def test_file_is_written_completely_or_not_at_all() -> None:
    Path("x.csv").write_text("before")
    # An error that comes when rows have been written already.
    sql = "select case when i = 900000 then error('here') else i end from range(1000000) t(i)"
    done = run("query", "run.adbrec", sql, "-o", "x.csv")
    assert done.returncode == 1 and "here" in done.stderr
    assert Path("x.csv").read_text() == "before"
    assert not list(Path().glob(".*"))
    done = run("query", "run.adbrec", GROUPED, "-o", "nowhere/x.csv")
    assert (done.returncode, done.stderr) == (
        1,
        "actiondbg: 'nowhere/x.csv' cannot be written (No such file or directory): name another "
        "file.\n",
    )
    for name, why in ((".", "Is a directory"), ("x" * 300, "File name too long")):
        done = run("query", "run.adbrec", GROUPED, "-o", name)
        told = f"actiondbg: {name!r} cannot be written ({why}): name another file.\n"
        assert (done.returncode, done.stderr) == (1, told)
    words = [COMMAND, "query", "run.adbrec", GROUPED, "-o", "/dev/stdout"]
    assert subprocess.check_output(words, text=True).startswith("name ")


@pytest.mark.slow
def test_closed_pipe_is_no_error() -> None:
    done = subprocess.run(
        ["sh", "-c", f"{COMMAND} query --format csv run.adbrec 'from range(9000000)' | head -1"],
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == ('"range"\n', "")


# --- SQL -------------------------------------------------------------------------------------


def test_without_sql_the_columns_are_listed() -> None:
    listed = json.loads(query("--format", "json", "run.adbrec"))
    assert [row["column"] for row in listed if row["table"] == "reasons"] == ["ordinal", "reason"]
    tables = dict.fromkeys(row["table"] for row in listed)
    assert list(tables) == [
        "actions",
        "changes",
        "operations",
        "reasons",
        "findings",
        "links",
        "ir",
        "runs",
    ]
    actions = [(row["column"], row["type"]) for row in listed if row["table"] == "actions"]
    assert actions[:2] == [("ordinal", "BIGINT"), ("parent", "BIGINT")]
    names = open_recording("run.adbrec").columns("actions")
    assert [name for name, _ in actions] == names
    assert "runs_0" not in query("run.adbrec", "show tables")


def test_sql_from_standard_input() -> None:
    assert query("run.adbrec", "-", stdin="select 1 as one").split() == ["one", "---", "1"]


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        (
            "select tags from actions",
            'The SQL cannot be answered (Binder Error): referenced column "tags" not found in FROM '
            'clause; candidate bindings: "tag"',
        ),
        (
            "selec 1",
            'The SQL cannot be answered (Parser Error): syntax error at or near "selec".\n'
            "  selec 1\n"
            "  ^^^^^\n",
        ),
        (
            "select * from action",
            "The SQL cannot be answered (Catalog Error): table with name action does not exist; "
            'did you mean "actions"; a query without SQL lists the tables and their columns.\n',
        ),
        ("select 'x'::int", "(Conversion Error): could not convert string 'x' to INT32."),
        ("select", "(Parser Error): SELECT clause without selection list.\n"),
        ("", "The SQL is empty"),
        ("from os", "table with name os does not exist"),
        ("from sys.path", "does not exist"),
    ],
)
def test_an_error_of_the_sql(sql: str, told: str) -> None:
    done = run("query", "run.adbrec", sql)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("actiondbg: The SQL ")
    assert told in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ([], 2, "required: RUN.adbrec"),
        (["nowhere.adbrec"], 1, "'nowhere.adbrec' cannot be read (No such file or directory)"),
        (["nowhere.adbrec", "select 1"], 1, "'nowhere.adbrec' cannot be read"),
        (["x/*.adbrec", "select 1"], 1, "No file matches 'x/*.adbrec'"),
        ([".", "select 1", "--format", "xml"], 2, "invalid choice: 'xml'"),
        (["empty", "select 1"], 1, "There is no recording in the folder 'empty'"),
        (["text", "select 1"], 1, "'text' is not a recording"),
    ],
)
def test_errors_are_one_sentence(words: list[str], code: int, told: str) -> None:
    Path("empty").mkdir()
    Path("text").write_text("select")
    done = run("query", *words)
    assert (done.returncode, done.stdout) == (code, "")
    assert told in done.stderr and "Traceback" not in done.stderr


def test_a_damaged_recording() -> None:
    path = fake_recording("long.adbrec", 3000)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    done = run("query", "long.adbrec", "select count(*) as n from actions")
    assert done.returncode == 1 and "use --partial to read these." in done.stderr
    done = run("query", "--partial", "long.adbrec", "select count(*) as n from actions")
    assert done.returncode == 0
    count = int(done.stdout.split()[-1])
    assert 0 < count < 3000
    assert f"it is read up to there ({count:,} actions)." in done.stderr


def test_invalid_recording() -> None:
    with Path("run.adbrec").open("ab") as file:
        file.write(chunk_bytes(0, [(7, 0, 2, b"\1\2\3")], first_row=4))
    done = run("query", "run.adbrec", "from changes")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "actiondbg: The recording holds 3 packed numbers where 10 are expected: record it again.\n"
    )


def test_truncated_recording_is_reported_and_read() -> None:
    path = fake_recording("long.adbrec", 3000, killed=True)
    path.write_bytes(path.read_bytes()[:-10])
    done = run("query", "long.adbrec", "select count(*) from actions")
    assert done.returncode == 0
    told = "actiondbg: long: The recording is cut off in the middle of a block, as by a full "
    assert done.stderr.startswith(told)


# --- many recordings ---------------------------------------------------------------------------


def test_recordings_are_queried_together() -> None:
    Path("other").mkdir()
    write_recording("other/run.adbrec", ACTIONS[:1], OPERATIONS, events=["page-faults"])
    write_recording("other/two.adbrec", ACTIONS[:3], OPERATIONS, header={"argv": ["x", "-y z"]})
    sql = "select run, count(*) as n from actions group by run order by run"
    assert answer("run.adbrec", "other/run.adbrec", "other/two.adbrec", sql) == [
        {"run": "other/run.adbrec", "n": 1},
        {"run": "run.adbrec", "n": 4},
        {"run": "two", "n": 3},
    ]
    for words in (["other"], ["other/*.adbrec"], ["other/run.adbrec", "other/two.adbrec"]):
        assert answer(*words, sql) == [{"run": "run", "n": 1}, {"run": "two", "n": 3}]
    runs = answer("other", "select run, command, actions, events, ended from runs order by run")
    assert [list(row.values()) for row in runs] == [
        ["run", "mlir-opt in.mlir --canonicalize", 1, ["page-faults"], "exit"],
        ["two", "x '-y z'", 3, [], "exit"],
    ]


@pytest.mark.parametrize(
    "sql",
    [
        "select * from read_csv('/etc/passwd')",
        "select * from '/etc/passwd'",
        "copy actions to 'out.csv'",
        "attach 'other.db'",
        "install httpfs",
        "set enable_external_access = true",
        "export database 'out'",
    ],
)
def test_a_confined_database_reaches_no_file(sql: str) -> None:
    with contextlib.closing(open_sources(["run.adbrec"]).connect()) as database:
        confine(database)
        with pytest.raises(QueryError):
            ask(database, sql, lambda reader: list(reader))
        counted = ask(database, "select count(*) from actions", lambda reader: reader.read_all())
    assert counted.to_pydict() == {"count_star()": [len(ACTIONS)]}
    assert [each.name for each in Path().iterdir()] == ["run.adbrec"]


def test_a_table_of_many_rows_is_cut_off() -> None:
    out = BytesIO()
    with contextlib.closing(open_sources(["run.adbrec"]).connect()) as database:
        ask(database, "from range(5)", lambda reader: write_table(reader, out, 2))
    assert out.getvalue().decode().splitlines()[2:] == [
        "    0",
        "    1",
        "Only 2 rows are shown: add a LIMIT.",
    ]


def test_one_recording_has_no_column_run() -> None:
    done = run("query", "run.adbrec", "select run from actions")
    assert done.returncode == 1 and '"run" not found' in done.stderr
    assert answer("*.adbrec", "select distinct run from actions") == [{"run": "run"}]


@pytest.mark.slow
def test_exported_recordings_answer_the_same_queries() -> None:
    fake_recording("fake.adbrec", 2000, ir="changed", events=["page-faults"])
    done = run("export", "--parquet", "bucket", "run.adbrec", "fake.adbrec")
    assert (done.returncode, done.stderr) == (0, "")
    first, second = done.stdout.splitlines()
    assert first.startswith("bucket/run=run-") and ": 4 actions, " in first
    assert second.startswith("bucket/run=fake-") and ": 2,000 actions, " in second
    files = {"actions", "changes", "operations", "reasons", "findings", "links", "ir", "runs"}
    for folder in some(Path("bucket").iterdir()):
        assert {file.name for file in folder.iterdir()} == {f"{name}.parquet" for name in files}
        actions: Any = pyarrow.parquet.ParquetFile(folder / "actions.parquet")
        assert actions.metadata.row_group(0).column(0).compression == "ZSTD"
    for table in ("actions", "changes", "operations", "reasons", "findings", "links", "ir"):
        sql = f"select * exclude (run) from {table} where run like '{{}}%' order by all"
        for run_name in ("run", "fake"):
            exported = answer("bucket", sql.format(run_name))
            assert exported == answer("run.adbrec", "fake.adbrec", sql.format(run_name))
    assert len(answer("bucket", "from runs")) == 2
    assert len(answer("bucket/run=f*", "from runs")) == 1
    mixed = "select count(*) as n, count(distinct run) as runs from actions"
    assert answer("bucket", "run.adbrec", mixed) == [{"n": 2008, "runs": 3}]


def test_an_export_without_a_table_of_a_later_version_is_queried() -> None:
    assert run("export", "--parquet", "bucket", "run.adbrec").returncode == 0
    (folder,) = Path("bucket").iterdir()
    (folder / "links.parquet").unlink()
    assert answer("bucket", "select count(*) as n from actions") == [{"n": 4}]
    assert answer("bucket", "run.adbrec", "select count(*) as n from links") == [{"n": 0}]
    assert "links" in run("query", "bucket", "from links").stderr


def test_the_same_recording_is_exported_into_the_same_folder() -> None:
    for _ in range(2):
        assert run("export", "--parquet", "bucket", "run.adbrec").returncode == 0
    assert len(list(Path("bucket").iterdir())) == 1
    write_recording("other.adbrec", ACTIONS, OPERATIONS, header={"pid": 1})
    Path("other.adbrec").rename("run.adbrec")
    assert run("export", "--parquet", "bucket", "run.adbrec").returncode == 0
    assert len(list(Path("bucket").iterdir())) == 2


@pytest.mark.slow
def test_exports_of_a_recording_at_the_same_time() -> None:
    command = [COMMAND, "export", "--parquet", "bucket", "run.adbrec"]
    for _ in range(2):
        started = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(4)]
        assert [process.wait() for process in started] == [0] * 4
    (folder,) = Path("bucket").iterdir()
    assert len(answer("bucket", "from runs")) == 1 and (folder / "actions.parquet").is_file()


def test_an_export_replaces_no_folder_of_the_user() -> None:
    assert run("export", "--parquet", "bucket", "run.adbrec").returncode == 0
    (folder,) = Path("bucket").iterdir()
    (folder / "runs.parquet").unlink()
    (folder / "thesis").write_text("mine")
    done = run("export", "--parquet", "bucket", "run.adbrec")
    assert done.returncode == 1 and "name another folder" in done.stderr
    assert (folder / "thesis").read_text() == "mine"


@pytest.mark.slow
def test_an_export_that_cannot_be_written() -> None:
    Path("file").write_text("")
    done = run("export", "--parquet", "file", "run.adbrec")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "/file/run=run-" in done.stderr and "name another folder" in done.stderr
    fake_recording("big.adbrec", 20_000, ir="changed")
    script = f"ulimit -f 100; {COMMAND} export --parquet bucket big.adbrec"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True)
    assert done.returncode == 1 and "cannot be written" in done.stderr
    assert not Path("bucket").exists()
    assert run("export", "run.adbrec").returncode == 2


# --- Ctrl-C ---------------------------------------------------------------------------


def _processor_seconds(pid: int) -> float:
    """Return how long a process has computed."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.slow
def test_ctrl_c_interrupts() -> None:
    sql = "select count(*) from range(100000000) a, range(100000) b where a.range * b.range % 7 = 3"
    process = subprocess.Popen(
        [COMMAND, "query", "run.adbrec", sql], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        while _processor_seconds(process.pid) < 3:  # it starts in less
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert (process.returncode, out, err) == (130, b"", b"")
