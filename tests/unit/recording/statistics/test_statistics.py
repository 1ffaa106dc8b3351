"""``actiondbg stat`` over recordings whose samples are known."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from actiondbg.recording import open_recording
from actiondbg.recording.statistics.run_measurement import Measured, MeasuredSelection, measure
from actiondbg.recording.statistics.samples import samples_of
from tests.elements import some
from tests.fakes import command_line
from tests.fakes.recording.recordings import Action, fake_recording, write_recording
from tests.paths import ROOT

DOCS = ROOT / "docs/stat.md"
EVENTS, US = ("page-faults", "task-clock"), 1000  # ns


def nested(path: Path) -> Path:
    """A pass with two patterns, and a fold in one of these; an unfinished pass at the end."""
    return write_recording(
        path,
        [
            Action("canonicalize", "pass-execution", start=0, duration=100 * US, samples=[20, 90]),
            Action("A", full_name="n::A", depth=1, start=10_000, duration=30_000, samples=[7, 30]),
            Action("addi", "fold", depth=2, start=12 * US, duration=4 * US, samples=[2, 3]),
            Action("A", full_name="n::A", depth=1, start=50 * US, duration=10 * US, samples=[0, 8]),
            Action("B", depth=1, start=70 * US, duration=20 * US, samples=[1, 18]),
            Action("cse", "pass-execution", start=200 * US, duration=None),
        ],
        events=EVENTS,
        killed=True,
    )


def measured(path: Path, **how: Any) -> Measured:
    return measure(open_recording(path), MeasuredSelection(**how))


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return command_line.run("stat", *words)


def printed(*words: str | Path) -> str:
    done = run(*words)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def shown(*words: str | Path) -> dict[str, Any]:
    return json.loads(printed("--json", *words))


# --- totals -----------------------------------------------------------------------------


def test_totals_of_a_known_recording(tmp_path: Path) -> None:
    found = measured(nested(tmp_path / "a.adbrec"))
    rows = [
        (total.tag, total.name, total.calls, total.duration / US, total.events["page-faults"].total)
        for total in found.names
    ]
    assert rows == [
        ("pass-execution", "canonicalize", 1, 100, 20),
        ("apply-pattern", "A", 2, 40, 7),
        ("apply-pattern", "B", 1, 20, 1),
        ("fold", "addi", 1, 4, 2),
    ]
    assert found.names[1].events["task-clock"].per_call == 19
    assert [(total.tag, total.calls) for total in found.tags] == [
        ("pass-execution", 1),
        ("apply-pattern", 3),
        ("fold", 1),
    ]


def test_own_totals_sum_to_the_whole(tmp_path: Path) -> None:
    found = measured(nested(tmp_path / "a.adbrec"), own=True, sort="name")
    assert [(total.name, total.events["page-faults"].total) for total in found.names] == [
        ("A", 5),
        ("B", 1),
        ("addi", 2),
        ("canonicalize", 12),
    ]
    assert sum(total.events["task-clock"].total for total in found.names) == 90
    assert sum(total.duration for total in found.names) == 100 * US


@pytest.mark.parametrize(
    "key", ["calls", "duration", "duration/call", "task-clock/call", "page-faults", "name"]
)
def test_totals_are_sorted(tmp_path: Path, key: str) -> None:
    found = shown("--sort", key, nested(tmp_path / "a.adbrec"))["names"]
    assert len(found) == 4
    values: dict[str, Callable[[dict[str, Any]], Any]] = {
        "calls": lambda row: -row["calls"],
        "duration": lambda row: -row["duration_ns"],
        "duration/call": lambda row: -row["duration_ns"] / row["calls"],
        "task-clock/call": lambda row: -row["events"]["task-clock"]["per_call"],
        "page-faults": lambda row: -row["events"]["page-faults"]["total"],
        "name": lambda row: (row["tag"], row["name"]),
    }
    assert found == sorted(found, key=values[key])


@pytest.mark.parametrize("threads", [False, True])
@pytest.mark.parametrize("own", [False, True])
def test_totals_against_adding_up(tmp_path: Path, threads: bool, own: bool) -> None:
    path = fake_recording(tmp_path / "a.adbrec", 5000, seed=3, events=EVENTS, threads=threads)
    rows = open_recording(path).table("actions").to_pylist()
    events = ("page_faults", "task_clock")
    threads_of = {row["ordinal"]: row["thread"] for row in rows}
    below: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for row in rows:
        if own and threads_of.get(row["parent"]) == row["thread"]:
            below[row["parent"]] = [
                sum(pair)
                for pair in zip(below[row["parent"]], (row[event] for event in events), strict=True)
            ]
    expected: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for row in rows:
        values = [row[event] - below[row["ordinal"]][i] for i, event in enumerate(events)]
        duration = row["self_ns" if own else "duration_ns"]
        cells = (1, duration, *values)
        key = (row["tag"], row["name"])
        expected[key] = [a + b for a, b in zip(expected[key], cells, strict=True)]
    found = {
        (total.tag, total.name): [
            total.calls,
            total.duration,
            *(total.events[event].total for event in EVENTS),
        ]
        for total in measured(path, own=own).names
    }
    assert found == expected


def test_actions_that_were_not_counted(tmp_path: Path) -> None:
    path = write_recording(
        tmp_path / "a.adbrec",
        [Action("A", samples=[4]), Action("A"), Action("A", samples=[2]), Action("B")],
        events=["page-faults"],
    )
    found = measured(path, sort="name")
    a, b = (total.events["page-faults"] for total in found.names)
    assert (a.total, a.calls, a.per_call) == (6, 2, 3)
    assert (b.total, b.calls, b.per_call) == (0, 0, None)
    assert found.notes == [
        "Not counted: 2 of 4 actions, because their thread could not open the events (too few "
        "counters, or 'ulimit -n' too low)."
    ]
    statistics = measured(path, name="A").statistics
    assert statistics and (statistics.calls, statistics.uncounted) == (2, 1)
    done = run("--name", "B", path)
    assert (
        done.returncode == 1
        and "The events were not counted in any action that matches 'B'" in done.stderr
    )


def test_a_recording_without_events(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "a.adbrec", [Action("A", duration=d) for d in (10, 20, 30)])
    text = printed("--name", "A", "--buckets", "3", path)
    assert "Note: No events were counted." in text
    assert "mean     20 ns" in text


def test_a_recording_without_actions(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "a.adbrec", [], events=EVENTS)
    assert shown(path)["names"] == []
    assert "0 of 0 actions" in printed(path)
    assert run("--name", "*", path).returncode == 1


# --- what is left out -------------------------------------------------------------------


def test_the_start_is_skipped(tmp_path: Path) -> None:
    path = nested(tmp_path / "a.adbrec")
    found = shown("--skip-start", "0.05", path)
    assert [(row["name"], row["calls"]) for row in found["names"]] == [("B", 1), ("A", 1)]
    assert "Actions within --skip-start, left out: 3." in found["notes"]
    assert "Unfinished actions, left out: 1." in found["notes"]
    assert shown("--skip-start", "0", path)["measured"] == 5


def test_names_match_short_or_full(tmp_path: Path) -> None:
    path = nested(tmp_path / "a.adbrec")
    assert measured(path, name="A").samples.ordinal.tolist() == [2, 4]
    assert measured(path, name="n::*").samples.ordinal.tolist() == [2, 4]
    assert measured(path, name="[AB]").samples.ordinal.tolist() == [2, 4, 5]
    done = run("--name", "C", path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "actiondbg: No action has a name that matches 'C': without --name the totals list all "
        "names.\n"
    )


# --- the statistics of a name -----------------------------------------------------------


def correlated(path: Path) -> Path:
    """32 calls: every other one has page faults, and takes longer."""
    actions = [
        Action("P", duration=100 + i if i % 2 else 10 + i, samples=[i % 2 * 3, 1])
        for i in range(32)
    ]
    return write_recording(path, actions, events=["page-faults", "cs"])


def test_statistics_of_a_known_recording(tmp_path: Path) -> None:
    found = shown("--name", "P", "--buckets", "4", correlated(tmp_path / "a.adbrec"))
    statistics = found["statistics"]
    faults = statistics["events"]["page-faults"]
    assert (statistics["calls"], statistics["uncounted"]) == (32, 0)
    duration = statistics["duration_ns"]
    assert [bucket["calls"] for bucket in duration["buckets"]] == [8, 8, 8, 8]
    assert [bucket["mean"] for bucket in duration["buckets"]] == [17, 33, 108, 124]
    assert duration["mean"] == (17 + 33 + 108 + 124) / 4
    assert [bucket["calls"] for bucket in faults["buckets"]] == [16, 16]
    assert faults["duration_given_event"] == [[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]]
    assert faults["event_given_duration"] == [[1, 0], [1, 0], [0, 1], [0, 1]]
    assert 0.95 < faults["pearson"] < 1
    assert 0.8 < faults["spearman"] < faults["pearson"]
    constant = statistics["events"]["cs"]
    assert (constant["pearson"], constant["spearman"]) == (None, None)
    assert len(constant["buckets"]) == 1


def test_statistics_in_words(tmp_path: Path) -> None:
    text = printed("--name", "P", "--buckets", "4", correlated(tmp_path / "a.adbrec"))
    (example,) = re.findall(r"^```text\n(.*?)^```$", DOCS.read_text(), re.M | re.S)
    assert text == example
    without = printed("--no-tables", "--name", "P", correlated(tmp_path / "a.adbrec"))
    assert "Correlation of page-faults with the duration: 0.98" in without
    assert "P(" not in without


def test_rows_are_aligned(tmp_path: Path) -> None:
    path = fake_recording(tmp_path / "a.adbrec", 5000, seed=1, events=EVENTS)
    lines = printed("--name", "*", path).splitlines()
    for number in some([i for i, line in enumerate(lines) if line.startswith("P(bucket of ")]):
        end = lines[number + 1].index("1  2  3  4")
        rows = lines[number + 2 : number + 18]
        assert len(rows) == 16
        for row in some(rows):
            assert row[end - 2 : end] == "  " and row[end - 3].isdigit()
            cells = row[end:].ljust(16 * 3 - 1)
            assert all(cells[i] == " " for i in some(range(2, len(cells), 3)))
            assert set(cells) <= set(" ·░▒▓█")


# --- files ------------------------------------------------------------------------------


def test_the_raw_samples_are_written(tmp_path: Path) -> None:
    path = fake_recording(tmp_path / "a.adbrec", 3000, seed=2, events=EVENTS)
    printed("--csv", tmp_path / "raw" / "deep", path)
    with (tmp_path / "raw" / "deep" / "samples.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    table = open_recording(path).table("actions", list(rows[0]))
    assert list(rows[0]) == [
        *("ordinal", "thread", "tag", "name", "full_name", "start_ns", "duration_ns"),
        *("page_faults", "task_clock"),
    ]
    for row, expected in zip(rows, table.to_pylist(), strict=True):
        texts = ("" if value is None else str(value) for value in expected.values())
        assert list(row.values()) == list(texts)


def test_uncounted_and_odd_names_in_the_raw_samples(tmp_path: Path) -> None:
    actions = [Action('a "b", c\n', samples=[2**53]), Action("é"), Action("A")]
    path = write_recording(tmp_path / "a.adbrec", actions, events=["page-faults"])
    printed("--name", "[!A]*", "--csv", tmp_path, path)
    with (tmp_path / "samples.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["name"], row["page_faults"]) for row in rows] == [
        ('a "b", c\n', str(2**53)),
        ("é", ""),
    ]


@pytest.mark.slow
def test_a_picture_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from matplotlib.image import imread

    path = correlated(tmp_path / "a.adbrec")
    printed("--name", "P", "--plot", tmp_path / "p.png", path)
    picture = np.asarray(imread(tmp_path / "p.png"))
    assert picture.shape[0] > 500 and picture.shape[1] > 1000
    # Two heat maps: from white to the darkest blue of all that is drawn.
    darkest = picture[..., 2] - picture[..., 0]
    assert darkest.max() > 0.3 and picture.min() < 0.1
    assert len(np.unique(picture.reshape(-1, picture.shape[2]), axis=0)) > 100


def test_picture_of_durations_only(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    # What stands between dollars is no formula.
    path = write_recording(tmp_path / "a.adbrec", [Action("P$\\x$", duration=d) for d in range(9)])
    printed("--name", "P$*$", "--plot", tmp_path / "p.svg", path)
    assert "<svg" in (tmp_path / "p.svg").read_text()


def test_a_picture_needs_matplotlib(tmp_path: Path) -> None:
    path = correlated(tmp_path / "a.adbrec")
    (tmp_path / "hook.py").write_text(
        "import importlib.util as u, sys\n"
        "real = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'matplotlib' else real(name, *a)\n"
        "from actiondbg.cli import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    words = ["stat", "--name", "P", "--plot", str(tmp_path / "p.png"), str(path)]
    done = subprocess.run(
        [sys.executable, str(tmp_path / "hook.py"), *words], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "actiondbg: --plot needs the package matplotlib: pip install 'actiondbg[plot]'.\n"
    )


def test_output_file_has_the_printed_text(tmp_path: Path) -> None:
    path = nested(tmp_path / "a.adbrec")
    done = command_line.run("stat", path)
    assert (done.returncode, done.stdout, done.stderr) == (0, printed(path), "")
    assert printed("-o", tmp_path / "out.txt", path) == ""
    assert (tmp_path / "out.txt").read_text() == printed(path)


def test_names_are_limited(tmp_path: Path) -> None:
    path = nested(tmp_path / "a.adbrec")
    assert "... and 2 more names; --limit 0 lists all" in printed("--limit", "2", path)
    assert "fold (addi)" in printed(path, "--limit", "0")


# --- bad usage --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "the tool or recording is missing: actiondbg stat [options] -- TOOL ARGS..."),
        (
            ["--plot", "p.png", "R"],
            "--plot plots the statistics of --name GLOB: give --name as well.",
        ),
        (["--name", "P", "--plot", "p.jpeg", "R"], "'p.jpeg' has no supported image format"),
        (["--name", "P", "--plot", "no/p.png", "R"], "'no/p.png' cannot be written: its directory"),
        (["--name", "[a", "R"], "The [ in '[a' is not closed"),
        (["--csv", "R", "R"], "'R' is not a directory: name one for --csv."),
        (["--sort", "page-fault", "R"], "There is no sort key 'page-fault': did you mean"),
        (["--buckets", "1", "R"], "argument --buckets: '1' is not an integer from 2 to 64"),
        (["--skip-start", "-1", "R"], "argument --skip-start: '-1' is not a non-negative number"),
        (["R", "S"], "'S' after the recording is not an option: select actions with --filter S"),
        (["--limit", "x", "R"], "argument --limit: 'x' is not a non-negative integer"),
    ],
)
def test_bad_usage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    correlated(Path("R"))
    done = run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


@pytest.mark.slow
def test_a_damaged_recording(tmp_path: Path) -> None:
    path = fake_recording(tmp_path / "a.adbrec", 20_000, seed=1, events=EVENTS)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    done = run(path)
    assert done.returncode == 1 and "use --partial" in done.stderr
    notes = shown("--partial", path)["notes"]
    assert any("damaged" in note for note in notes)


def test_own_events_of_nested_actions_are_not_negative(tmp_path: Path) -> None:
    samples = samples_of(open_recording(nested(tmp_path / "a.adbrec")), own=True)
    assert all((values >= 0).all() for values in some(samples.events.values()))
