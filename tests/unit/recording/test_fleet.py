"""Many recordings, of which some cannot be read, or are found twice."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from actiondbg.recording import RecordingError
from actiondbg.recording.query.sources import open_sources
from tests.fakes import command_line
from tests.fakes.recording.recordings import Action, write_recording

EMPTY = "'fleet/a.adbrec' is empty: "


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("fleet").mkdir()
    Path("fleet/a.adbrec").touch()
    for name in "bc":
        write_recording(f"fleet/{name}.adbrec", [Action("canonicalize", "pass-execution")])


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return command_line.run(*words)


def test_unreadable_recording_is_skipped_on_request() -> None:
    sql = "select string_agg(run, ' ' order by run) as r from runs"
    done = run("query", "fleet", sql)
    assert done.returncode == 1 and EMPTY in done.stderr
    assert done.stderr.endswith("record it again, or use --partial to leave it out.\n")
    done = run("query", "--partial", "fleet", sql)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "b c")
    assert f"Left out: {EMPTY}" in done.stderr


def test_the_others_are_exported() -> None:
    assert run("export", "--parquet", "bucket", "fleet").returncode == 1
    done = run("export", "--parquet", "bucket", "--partial", "fleet")
    assert done.returncode == 0 and f"Left out: {EMPTY}" in done.stderr
    assert len(done.stdout.splitlines()) == len(list(Path("bucket").iterdir())) == 2


def test_one_recording_must_be_readable() -> None:
    Path("x.adbrec").write_text("no recording")
    for words in (["fleet/a.adbrec"], ["fleet/a.adbrec", "x.adbrec"]):
        with pytest.raises(RecordingError, match=r"a.adbrec' is empty: .*; record it again\.$"):
            open_sources(words, partial=True)
    with pytest.raises(RecordingError, match=r"'nowhere.adbrec' cannot be read"):
        open_sources(["fleet/b.adbrec", "nowhere.adbrec"], partial=True)


def test_recording_found_twice_is_read_once() -> None:
    Path("fleet/a.adbrec").unlink()
    for words in (["fleet", "fleet/b.adbrec"], ["fleet/*", "./fleet", "fleet"]):
        assert list(open_sources(words).recordings) == ["b", "c"]
    both = open_sources(["fleet/b.adbrec", "fleet/../fleet/b.adbrec"])
    assert list(both.recordings) == ["b"] and not both.alone


def test_export_is_not_repeated() -> None:
    run("export", "--parquet", "bucket", "fleet/b.adbrec")
    done = run("export", "--parquet", "bucket", "bucket")
    assert (done.returncode, done.stdout) == (2, "")
    assert "'bucket/run=*' is an export already: name recordings" in done.stderr
