"""``actiondbg report`` on recordings, and the manual in docs/report.md."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.fakes import command_line

pytest.importorskip("duckdb")

from tests.fakes.recording.recordings import fake_recording
from tests.fakes.recording.report import Page
from tests.paths import ROOT

PAGE = (ROOT / "docs/report.md").read_text()


def report(*words: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    done = command_line.run("report", *words)
    assert done.returncode == status, done.stdout + done.stderr
    return done


def page(name: str = "report.html") -> Page:
    return Page(Path(name).read_text())


# --- of a recording -------------------------------------------------------------------------------


@pytest.fixture
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return fake_recording(tmp_path / "run.adbrec", 500).name


@pytest.mark.slow
@pytest.mark.parametrize("words", [["run.adbrec", "-o", "a.html"], ["-o", "a.html", "run.adbrec"]])
def test_options_may_be_on_either_side(recording: str, words: list[str]) -> None:
    done = report(*words)
    assert done.stderr.startswith("actiondbg: 500 actions in a.html (")
    assert f"actiondbg query {recording} " in page("a.html").text
    report("-q", *words)  # a report is replaced


@pytest.mark.slow
def test_the_actions_of_a_filter_are_counted(recording: str) -> None:
    told = report(recording, "--filter", "#7").stderr
    assert told.startswith("actiondbg: 1 of 500 actions in report.html (")


@pytest.mark.slow
def test_other_files_are_not_overwritten(recording: str) -> None:
    Path("thesis.html").write_text("<h1>Mine</h1>")
    done = report(recording, "-o", "thesis.html", status=2)
    assert "exists and is not a report" in done.stderr
    assert Path("thesis.html").read_text() == "<h1>Mine</h1>"
    Path("empty.html").touch()
    report(recording, "-o", "empty.html")


@pytest.mark.parametrize(
    "words, status, said",
    [
        ([], 2, "the tool or recording is missing"),
        (["run.adbrec", "--ir", "changed"], 2, "is a recording"),
        (["run.adbrec", "-o", "none/a.html"], 2, "its directory does not exist"),
        (["run.adbrec", "-o", "."], 2, "is a directory"),
        (["run.adbrec", "--size", "0"], 2, "is not a number from 0.5 to 500"),
        (["run.adbrec", "pass:cse"], 2, "not an option: select actions with --filter pass:cse"),
        (["none.adbrec"], 1, "none.adbrec"),
        (["cut.adbrec"], 1, "--partial"),
    ],
)
def test_errors_are_reported(recording: str, words: list[str], status: int, said: str) -> None:
    content = bytearray(Path(recording).read_bytes())
    content[len(content) // 2] ^= 0xFF
    Path("cut.adbrec").write_bytes(content)
    assert said in report(*words, status=status).stderr
    assert not Path("report.html").exists()


@pytest.mark.slow
def test_a_damaged_recording_is_reported_in_part(tmp_path: Path) -> None:
    path = fake_recording(tmp_path / "a.adbrec", 50_000)
    content = bytearray(path.read_bytes())
    content[len(content) * 3 // 4] ^= 0xFF
    path.write_bytes(content)
    output = tmp_path / "a.html"
    told = report("--partial", str(path), "-o", str(output)).stderr
    assert told.startswith(f"actiondbg: {path}: The recording is damaged at byte ")
    made = page(str(output))
    assert 0 < made.run["count"] < 50_000 and "damaged" in made.text


@pytest.mark.slow
def test_smaller_page_has_fewer_actions(recording: str, tmp_path: Path) -> None:
    fake_recording(tmp_path / "big.adbrec", 30_000)
    sizes: list[int] = []
    for size in ("0.5", "2"):
        report("-q", "big.adbrec", "--size", size, "-o", "a.html")
        sizes.append(Path("a.html").stat().st_size)
        assert sizes[-1] <= float(size) * 1e6
    assert sizes[0] < sizes[1]


# --- the manual -----------------------------------------------------------------------------------


def test_every_option_is_in_the_manual() -> None:
    from actiondbg.commands.cli.report import run

    options = {word for action in run.build_parser()._actions for word in action.option_strings}  # type: ignore[attr-defined]
    assert [word for word in sorted(options - {"-h", "--help"}) if f"`{word}" not in PAGE] == []
