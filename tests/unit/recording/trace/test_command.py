"""The command trace, on recordings."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from actiondbg.recording import open_recording
from tests.fakes import command_line
from tests.fakes.recording.recordings import fake_recording
from tests.fakes.recording.traces import (
    chrome_slices,
    expected,
    read_json,
    read_perfetto,
    tracy_zones,
)
from tests.paths import COMMAND


def trace(*words: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return command_line.run("trace", *words, cwd=cwd)


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    return fake_recording(tmp_path / "run.adbrec", actions=500)


# --- recordings ---------------------------------------------------------------------------


def test_file_name_selects_the_format(recording: Path, tmp_path: Path) -> None:
    count = len(expected(open_recording(recording)))
    for name in ("a.json", "a.pftrace", "a.perfetto-trace", "a.tracy.json"):
        done = trace("-o", tmp_path / name, recording)
        assert (done.returncode, done.stdout) == (0, "")
        assert f"{name}: {count} slices of 500 actions; " in done.stderr
    assert len(chrome_slices(read_json(tmp_path / "a.json"))) == count
    assert len(read_perfetto(tmp_path / "a.perfetto-trace").slices) == count
    assert (tmp_path / "a.pftrace").read_bytes() == (tmp_path / "a.perfetto-trace").read_bytes()
    assert len(tracy_zones(read_json(tmp_path / "a.tracy.json"))) == count


def test_options_may_follow_the_recording(recording: Path, tmp_path: Path) -> None:
    out = tmp_path / "trace"
    done = command_line.run(
        "trace", recording, "-o", out, "--format", "chrome", "--failed=keep", "-q"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(chrome_slices(read_json(out))) == 500


def test_zero_keeps_every_duration(recording: Path, tmp_path: Path) -> None:
    done = command_line.run(
        "trace", "-q", "-o", tmp_path / "a.json", "--min-duration", "0", recording
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(chrome_slices(read_json(tmp_path / "a.json"))) > 100


def test_file_that_is_no_recording_is_reported_first(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"")
    done = trace("plain", "-o", "a.json", cwd=tmp_path)
    assert done.returncode == 1
    assert "'plain' is neither a recording (it begins with b'') nor a program" in done.stderr


def test_filter_keeps_parent_actions(recording: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.json"
    rows = open_recording(recording).table("actions").to_pylist()
    name = Counter(row["name"] for row in rows if row["tag"] == "apply-pattern").most_common(1)
    wanted = {row["ordinal"] for row in rows if row["name"] == name[0][0]}
    around = {row["ordinal"]: row["parent"] for row in rows}
    for ordinal in list(wanted):
        while (parent := around[ordinal]) is not None:
            wanted.add(parent)
            ordinal = parent
    words = ("--failed", "keep", "--filter", f'pattern:"{name[0][0]}"')
    assert trace("-o", out, *words, recording).returncode == 0
    assert {each.ordinal for each in chrome_slices(read_json(out))} == wanted


def test_several_filters_add_up(recording: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.json"
    words = ("--filter", "#3", "--filter", "#5")
    assert trace("-o", out, *words, recording).returncode == 0
    assert {3, 5} <= {each.ordinal for each in chrome_slices(read_json(out))} < set(range(1, 6))


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("-o", "a.txt", "run.adbrec"), "does not determine the format"),
        (("-o", "no/such/a.json", "run.adbrec"), "there is no directory"),
        (("-o", "run.adbrec", "--format", "chrome", "run.adbrec"), "is not overwritten"),
        (("-o", "a.json.zst", "run.adbrec"), "only Tracy's importer reads"),
        (("-o", "a.tracy.json.gz", "run.adbrec"), "Tracy's importer does not read"),
        (("-o", "a.json", "--min-duration", "10", "run.adbrec"), "'10' is not a time"),
        (("-o", "a.json", "--min-duration", "-1us", "run.adbrec"), "'-1us' is not a time"),
        (("-o", "a.json", "--min-duration", f"{'9' * 400}s", "run.adbrec"), "9s' is not a time"),
        (("run.adbrec", "-o", "a.json", "--min-duration", "-.5us"), "'-.5us' is not a time"),
        (("-o", "a.json", "--filter", "pattern:", "run.adbrec"), "Nothing follows pattern"),
        (("run.adbrec",), "-o/--output"),
        (("-o", "a.json"), "the tool or recording is missing"),
    ],
)
def test_usage_errors_name_the_way_out(
    recording: Path, tmp_path: Path, words: tuple[str, ...], complaint: str
) -> None:
    before = {each.name: each.stat().st_size for each in tmp_path.iterdir()}
    done = trace(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert {each.name: each.stat().st_size for each in tmp_path.iterdir()} == before


def test_damaged_recording_is_reported_and_read_on_request(tmp_path: Path) -> None:
    recording = fake_recording(tmp_path / "run.adbrec", actions=4000)
    content = bytearray(recording.read_bytes())
    content[len(content) // 2] ^= 0xFF
    recording.write_bytes(content)
    refused = trace("-o", tmp_path / "a.json", recording)
    assert refused.returncode == 1 and "--partial" in refused.stderr
    assert not (tmp_path / "a.json").exists()
    done = trace("-o", tmp_path / "a.json", "--partial", recording)
    assert done.returncode == 0
    assert f"actiondbg: {recording}: The recording is damaged at byte " in done.stderr
    assert chrome_slices(read_json(tmp_path / "a.json"))


def test_failed_write_is_reported(recording: Path) -> None:
    done = trace("-o", "/dev/full", "--format", "chrome", recording)
    assert done.returncode == 1
    assert "'/dev/full' cannot be written (No space left on device): free disk space" in done.stderr


def test_a_pipe_gets_the_trace(recording: Path, tmp_path: Path) -> None:
    words = (COMMAND, "trace", "-o", "/dev/stdout", "--format", "chrome", "-q", str(recording))
    piped = subprocess.run(words, capture_output=True, check=True)
    assert trace("-o", tmp_path / "a.json", recording).returncode == 0
    assert piped.stdout == (tmp_path / "a.json").read_bytes()


def test_missing_tool_is_reported(tmp_path: Path) -> None:
    done = trace("-o", tmp_path / "a.json", "--", "no-such-tool", "x")
    assert done.returncode == 3 and "no-such-tool" in done.stderr
    assert list(tmp_path.iterdir()) == []
