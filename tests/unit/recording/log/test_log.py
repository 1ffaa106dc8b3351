"""The lines of ``actiondbg log``, of recordings."""

from __future__ import annotations

import io
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from actiondbg.commands.cli.log import colored
from actiondbg.recording import open_recording
from actiondbg.recording.log.lines import Fields, joined
from actiondbg.recording.log.log import write_json, write_log
from actiondbg.recording.query.filters import where
from tests.fakes import command_line
from tests.fakes.recording.recordings import (
    Action,
    Change,
    Operation,
    fake_recording,
    write_recording,
)
from tests.paths import COMMAND

_MODULE = Operation(1, "builtin.module", line=1, column=0, function="")
_ADD = Operation(5, "arith.addi", "dir/in.mlir", 7, 11, "shift")


def log_of(path: Path, sql: str | None = None) -> list[str]:
    out = io.BytesIO()
    count = write_log(open_recording(path), out, sql)
    lines = out.getvalue().decode().splitlines()
    assert count == len(lines)
    return lines


def lines_of(tmp_path: Path, actions: list[Action], *operations: Operation) -> list[str]:
    return log_of(write_recording(tmp_path / "run.adbrec", actions, operations))


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return command_line.run("log", *words)


# --- what a line says -------------------------------------------------------------------


def test_each_action_is_a_line(tmp_path: Path) -> None:
    lines = lines_of(
        tmp_path,
        [
            Action("canonicalize", "pass-execution", operation=1, duration=1_314_000),
            Action("iteration 1", "GreedyPatternRewriteIteration", depth=1, operation=1),
            Action("arith.addi", "fold", depth=2, operation=5, outcome="failed", duration=70),
            Action(
                "AddIAddConstant",
                full_name="{anonymous}::AddIAddConstant",
                depth=2,
                operation=5,
                outcome="failed",
                reasons=["no constant", "a second reason"],
            ),
            Action("arith.addi", "fold", depth=2, operation=5, outcome="succeeded", fold="values"),
        ],
        _MODULE,
        _ADD,
    )
    place = "on @5 arith.addi in @shift at dir/in.mlir:7:11"
    assert lines == [
        "#1       t0  unchanged   1.31ms pass-execution (canonicalize) on @1 builtin.module at "
        "in.mlir:1:0",
        "#2       t0  unchanged    500ns   GreedyPatternRewriteIteration (iteration 1) on @1 "
        "builtin.module at in.mlir:1:0",
        f"#3       t0  failed        70ns     fold (arith.addi) {place}",
        f"#4       t0  failed       500ns     apply-pattern (AddIAddConstant) {place}: no constant",
        f"#5       t0  succeeded    500ns     fold (arith.addi) {place}: folded to values",
    ]


def test_unknown_values_are_omitted(tmp_path: Path) -> None:
    lines = lines_of(
        tmp_path,
        [
            Action("", "walk-and-apply-patterns"),
            Action("A", operation=6),
            Action("B", operation=7),
            Action("C", operation=8),
        ],
        Operation(6, "a.b", line=0, file="", function=""),
        Operation(7, "a.b", line=0, function="f"),
        Operation(8, "a.b", function=""),
    )
    assert [line[32:] for line in lines[:2]] == [
        "walk-and-apply-patterns",
        "apply-pattern (A) on @6 a.b",
    ]
    assert lines[2].endswith(" on @7 a.b in @f")
    assert lines[3].endswith(" on @8 a.b at in.mlir:1:1")


def test_outcomes_and_notes(tmp_path: Path) -> None:
    lines = lines_of(
        tmp_path,
        [
            Action(outcome="skipped", duration=0),
            Action(duration=None),
            Action(outcome="failed", changed=True),
            Action(outcome="failed", rolled_back=True, reasons=["rolled back: illegal"]),
            Action(outcome="succeeded", tag="fold", fold="in-place"),
            Action(outcome="failed", reasons=["two\n  lines \r\nor three"]),
            Action("a\nb", outcome="failed", reasons=[""]),
        ],
    )
    assert [line[13:32] for line in lines[:3]] == [
        "skipped        0ns ",
        "unfinished         ",
        "failed       500ns ",
    ]
    assert [line[32:] for line in lines[2:]] == [
        "apply-pattern (A): though it changed the IR",
        "apply-pattern (A): rolled back: illegal",
        "fold (A): folded in place",
        "apply-pattern (A): two lines or three",
        "apply-pattern (a b)",
    ]


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        *((0, "0ns"), (7, "7ns"), (999, "999ns"), (1000, "1.00us"), (1004, "1.00us")),
        *((1005, "1.01us"), (9994, "9.99us"), (9995, "10.0us"), (99_949, "99.9us")),
        *((99_950, "100us"), (999_499, "999us"), (999_500, "1.00ms"), (12_345_678, "12.3ms")),
        *((999_500_000, "1.00s"), (61_000_000_000, "61.0s"), (600 * 10**9, "600s")),
        *((1234 * 10**9, "1230s"), (86_400 * 10**9, "86400s"), (10**15, "99900s")),
    ],
)
def test_durations_have_three_digits(nanoseconds: int, text: str) -> None:
    assert Fields().ending(2, nanoseconds) == f"unchanged  {text:>7}".encode()


def test_large_ordinals_keep_their_columns(tmp_path: Path) -> None:
    path = fake_recording(tmp_path / "run.adbrec", 100_010)
    lines = log_of(path)
    for ordinal in (1, 9, 10, 99, 100, 9_999, 10_000, 99_999, 100_000, 100_010):
        assert lines[ordinal - 1].startswith(f"#{ordinal:<8}t0  ")


def test_ordinals_too_wide_for_their_column_move_the_others() -> None:
    ordinals = np.array([7, 99_999_999, 100_000_000])
    none = np.zeros(3, np.int64)
    fields = joined(Fields().parts(ordinals, none, none, none)).to_pylist()
    starts = ["#7         t0  unf", "#99999999  t0  unf", "#100000000 t0  unf"]
    assert [each[:18] for each in fields] == starts
    assert all(each[Fields.ending_start(ordinals) :].startswith("unfinished") for each in fields)


def test_threads_are_in_the_order_of_their_begin(tmp_path: Path) -> None:
    path = fake_recording(tmp_path / "run.adbrec", 2000, threads=True)
    rows = open_recording(path).table("actions").to_pylist()
    lines = log_of(path)
    assert [int(line[1:9]) for line in lines] == list(range(1, 2001))
    assert [line[9:12].strip() for line in lines] == [f"t{row['thread']}" for row in rows]
    assert {line[9:11] for line in lines} == {"t0", "t1", "t2"}
    # Nested in what another thread does.
    assert [len(line[32:]) - len(line[32:].lstrip()) for line in lines] == [
        2 * row["depth"] for row in rows
    ]


def test_operation_has_its_name_at_the_action(tmp_path: Path) -> None:
    lines = lines_of(
        tmp_path,
        [Action(operation=5) for _ in range(4)],
        _ADD,
        Operation(5, "arith.addi", "dir/in.mlir", 7, 11, "other", row=2),
    )
    assert ["in @shift" in line for line in lines] == [True, True, False, False]
    assert ["in @other" in line for line in lines] == [False, False, True, True]


def test_colours_are_as_long_for_each_outcome(tmp_path: Path) -> None:
    painted = Fields(colored)
    assert len({len(painted.ending(outcome, 5)) for outcome in range(5)}) == 1
    assert painted.ending(3, 5).startswith(b"\x1b[31mfailed")
    path = write_recording(tmp_path / "r", [Action("AddI", outcome="failed")])
    out = io.BytesIO()
    write_log(open_recording(path), out, paint=lambda role, text: f"<{role}>{text}</>")
    assert b"<failed>failed     </>" in out.getvalue()
    assert b"apply-pattern (<name>AddI</>)" in out.getvalue()


def test_fields_of_an_empty_selection() -> None:
    none = np.zeros(0, np.int64)
    assert len(joined(Fields().parts(none, none, none, none))) == 0


# --- filters, JSON ------------------------------------------------------------------------


@pytest.mark.slow
def test_selected_actions_keep_their_lines(tmp_path: Path) -> None:
    path = fake_recording(tmp_path / "run.adbrec", 70_000)
    lines, rows = log_of(path), open_recording(path).table("actions").to_pylist()
    wanted = [line for line, row in zip(lines, rows, strict=True) if row["op"] == "arith.addi"]
    assert log_of(path, where("op:arith.addi")) == wanted
    assert 0 < len(wanted) < len(lines)
    assert log_of(path, "false") == []


def test_json_lines_equal_the_table(tmp_path: Path) -> None:
    path = write_recording(
        tmp_path / "run.adbrec",
        [
            Action('q"\n', labels=["a", "b"], operation=5, changes=[Change("erased", 5)]),
            Action("B", duration=None, reasons=["é \x1f"], outcome="failed"),
        ],
        [_ADD],
    )
    recording = open_recording(path)
    out = io.BytesIO()
    assert write_json(recording, out) == 2
    assert [json.loads(line) for line in out.getvalue().splitlines()] == (
        recording.table("actions").to_pylist()
    )


# --- the command ---------------------------------------------------------------------------


def test_filters_are_joined(tmp_path: Path) -> None:
    path = fake_recording(tmp_path / "run.adbrec", 3000)
    rows = open_recording(path).table("actions").to_pylist()

    def ordinals(*words: str) -> list[int]:
        done = run(path, *words)
        none = "actiondbg: No action matches, of 3,000.\n"
        assert (done.returncode, done.stderr) == (0, "" if done.stdout else none)
        return [int(line.split()[0][1:]) for line in done.stdout.splitlines()]

    assert ordinals() == list(range(1, 3001))
    failed = {row["ordinal"] for row in rows if row["outcome"] == "failed"}
    folds = {row["ordinal"] for row in rows if row["tag"] == "fold"}
    line = rows[500]["line"]
    there = {row["ordinal"] for row in rows if row["line"] == line}
    changed = {row["ordinal"] for row in rows if row["changed"]}
    assert failed and folds and there and changed
    assert ordinals("--failed") == sorted(failed)
    assert ordinals("--changed") == sorted(changed)
    assert ordinals("--changed", "--failed") == sorted(changed | failed)
    assert ordinals("--outcome", "failed,changed") == sorted(changed | failed)
    assert ordinals("--filter", "tag:fold", "--filter", "#1") == sorted(folds | {1})
    assert ordinals("--loc", f"file:in.mlir:{line}") == sorted(there)
    assert ordinals("--loc", f"in.mlir:{line}", "--filter", "tag:fold", "--failed") == sorted(
        there & folds & failed
    )


def test_a_filter_without_a_match_is_reported(tmp_path: Path) -> None:
    recording = fake_recording(tmp_path / "run.adbrec", 50)
    done = run(recording, "--filter", "context:c99")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "actiondbg: No action matches, of 50.\n"


def test_unfinished_actions_can_be_selected(tmp_path: Path) -> None:
    path = fake_recording(tmp_path / "run.adbrec", 100, killed=True)
    lines = run(path).stdout.splitlines()
    assert run("--outcome", "unfinished", path).stdout.splitlines() == lines[:1]
    both = run("--outcome", "reason:none,unfinished,failed", path).stdout.splitlines()
    assert both == [line for line in lines if line.split()[2] in ("unfinished", "failed")]


def test_a_file_is_written(tmp_path: Path) -> None:
    path = fake_recording(tmp_path / "run.adbrec", 100)
    done = run("-o", tmp_path / "run.log", path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "run.log").read_text() == run(path).stdout
    assert "\x1b" not in run(path).stdout


def test_killed_run_is_reported(tmp_path: Path) -> None:
    path = fake_recording(tmp_path / "run.adbrec", 100, killed=True)
    done = run(path)
    assert done.returncode == 0
    assert "unfinished" in done.stdout.splitlines()[0] and len(done.stdout.splitlines()) == 100
    assert done.stderr == (
        f"actiondbg: {path}: The recording has no end, because the tool was killed or "
        "still runs: it holds the 100 actions up to then.\n"
    )


def test_closed_pipe_is_no_error(tmp_path: Path) -> None:
    path = fake_recording(tmp_path / "run.adbrec", 50_000)
    done = subprocess.run(
        f"{COMMAND} log {path} | head -n 2", shell=True, capture_output=True, text=True
    )
    assert len(done.stdout.splitlines()) == 2 and done.stderr == ""


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ([], 2, "the tool or recording is missing"),
        (["--filter", "tag:", "run.adbrec"], 2, "Nothing follows tag"),
        (["--filter", "tag:* if depth", "run.adbrec"], 2, "neither true nor false"),
        (["--loc", "canonicalize", "run.adbrec"], 2, "is not a location"),
        (["--outcome", "good", "run.adbrec"], 2, "There is no outcome 'good'"),
        (["--upstream-format", "run.adbrec"], 2, "recordings do not contain"),
        (
            ["--upstream-format", "--json", "--", "mlir-opt"],
            2,
            "--upstream-format and --json exclude each other",
        ),
        (["--upstream-format", "--loc", "a:1", "--", "mlir-opt"], 2, "--loc exclude each other"),
        (["--upstream-format", "--failed", "--", "mlir-opt"], 2, "or --failed exclude each other"),
        (["--tool-stdout", "x", "run.adbrec"], 2, "needs a tool, not a recording"),
        (["-o", "run.adbrec", "run.adbrec"], 2, "is a recording and is not overwritten"),
        (["-o", "nowhere/x", "run.adbrec"], 1, "'nowhere/x' cannot be written"),
        (["-o", "/dev/full", "run.adbrec"], 1, "'/dev/full' cannot be written (No space left"),
        (["--", "no-such-tool"], 3, "no-such-tool"),
        (
            ["in.mlir"],
            1,
            "'in.mlir' is neither a recording (it begins with b'module {') nor a program",
        ),
        (["--", "in.mlir"], 3, "There is no tool 'in.mlir'"),
        (["."], 1, "'.' is a directory: name a recording, or"),
        (["damaged.adbrec"], 1, "use --partial to read these"),
    ],
)
def test_errors_are_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], code: int, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    content = fake_recording("run.adbrec", 3000).read_bytes()
    Path("damaged.adbrec").write_bytes(content[:20_000] + b"!" + content[20_001:])
    Path("in.mlir").write_text("module {}")
    before = {path: path.read_bytes() for path in Path().iterdir()}
    done = run(*words)
    assert (done.returncode, done.stdout) == (code, "")
    assert told in done.stderr and "Traceback" not in done.stderr
    assert {path: path.read_bytes() for path in Path().iterdir()} == before


def test_a_damaged_recording_is_read_up_to_the_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    content = fake_recording("run.adbrec", 3000).read_bytes()
    whole = run("run.adbrec").stdout
    Path("run.adbrec").write_bytes(content[:90_000] + b"!" + content[90_001:])
    done = run("--partial", "run.adbrec")
    assert done.returncode == 0 and "damaged at byte" in done.stderr
    read = done.stdout.splitlines()
    assert 0 < len(read) < 3000
    # The first one is over only behind the damage.
    assert read[1:] == whole.splitlines()[1 : len(read)]
