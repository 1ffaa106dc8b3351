"""A suite whose recordings fill the disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.small_disk import SmallDisk, small_disk
from tests.paths import COMMAND
from tests.tool.suite.conftest import ADDS, query, record, run, runs

BUILDS = ("pypi",)


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallDisk]:
    monkeypatch.chdir(tmp_path)
    with small_disk(tmp_path / "disk") as disk:
        Path("disk/suite").mkdir()
        Path("suite").symlink_to("disk/suite")
        yield disk


@pytest.fixture
def driver(tmp_path: Path, mlir_opt: str) -> str:
    """A script of twelve runs, of which some fit."""
    function = """
  func.func @f{}(%x: i32) -> i32 {{
    %two = arith.constant 2 : i32
    %once = arith.addi %x, %two : i32
    %twice = arith.addi %once, %two : i32
    return %twice : i32
  }}"""
    many = tmp_path / "many.mlir"
    many.write_text("".join(map(function.format, range(400))))
    return f"for i in $(seq 12); do {mlir_opt} {many} --canonicalize > $i.mlir || exit; done"


def test_all_processes_are_listed_and_the_rest_is_recorded_later(
    disk: SmallDisk, driver: str
) -> None:
    done = record("bash", "-c", driver)
    assert done.returncode == 0
    assert len({Path(f"{i}.mlir").read_text() for i in range(1, 13)}) == 1
    assert "The index of suite could not be written" in done.stderr
    assert "record the rest with --resume" in done.stderr
    found = runs()
    whole = [one for one in found if one["missing"] is None]
    kinds = [one["ended"] for one in found]
    assert len(found) == 12 and 0 < len(whole) < 10
    assert kinds == ["exit"] * len(whole) + ["killed"] + ["unrecorded"] * (11 - len(whole))
    assert {one["actions"] for one in whole} == {whole[0]["actions"]}
    assert "or the disk was full" in found[len(whole)]["missing"]
    assert query("SELECT count(*) AS many FROM runs") == [{"many": 12}]

    refused = record("bash", "-c", driver, options=("--resume",))
    assert refused.returncode == 1
    assert "suite' cannot be written (No space left on device): free disk space" in refused.stderr

    disk.grow()
    assert record("bash", "-c", driver, options=("--resume",)).returncode == 0
    found = runs()
    assert [(one["ended"], one["missing"]) for one in found] == [("exit", None)] * 12
    assert {one["actions"] for one in found} == {whole[0]["actions"]}


def test_a_folder_for_which_there_is_no_room_is_left_as_it_was(
    disk: SmallDisk, driver: str
) -> None:
    disk.fill()
    done = run(COMMAND, "suite", "record", "-o", "disk/new", "--", "bash", "-c", driver)
    assert done.returncode == 1
    assert "new' cannot be written (No space left on device): free disk space" in done.stderr
    assert not Path("disk/new").exists()


def test_a_note_that_the_disk_cut_does_not_take_the_next_with_it(
    disk: SmallDisk, driver: str
) -> None:
    """Here nothing was reserved: the notes were cut long ago."""
    disk.grow()
    assert record("bash", "-c", driver).returncode == 0
    notes = Path("suite/seen")
    notes.write_bytes(notes.read_bytes().rstrip()[:-5])
    assert record("bash", "-c", driver, options=("--resume",)).returncode == 0
    assert [one["ended"] for one in runs()] == ["exit"] * 12


def test_a_coverage_and_a_comparison_name_what_is_not_recorded(
    disk: SmallDisk, driver: str
) -> None:
    """What a full disk left out differs in nothing."""
    whole = run(
        *(COMMAND, "suite", "record", "-o", "whole", "--ir", "output"), "--", "bash", "-c", driver
    )
    assert whole.returncode == 0
    assert record("bash", "-c", driver, options=("--ir", "output")).returncode == 0
    missing = sum(one["missing"] is not None for one in runs())
    assert 2 < missing < 12
    covered = run(COMMAND, "suite", "coverage", "suite")
    assert f"Without {missing} runs that could not be recorded" in covered.stdout
    against = run(COMMAND, "suite", "coverage", "suite", "--against", "whole")
    assert f"suite: Without {missing} runs" in against.stderr
    compared = run(COMMAND, "compare", "whole", "suite")
    assert compared.returncode == 0, compared.stdout + compared.stderr
    assert (
        f"{missing}  not compared: a recording is missing or incomplete, for lack of disk space"
        in compared.stdout
    )
    assert f"{12 - missing}  the same output by the same actions" in compared.stdout
    assert "only in" not in compared.stdout
    assert "other output" not in compared.stdout


def test_a_merge_that_does_not_fit_leaves_no_suite(
    disk: SmallDisk, mlir_opt: str, tmp_path: Path
) -> None:
    (tmp_path / "adds.mlir").write_text(ADDS)
    for name in ("cse", "canonicalize"):
        done = run(
            *(COMMAND, "suite", "record", "-o", name, "--"),
            *("bash", "-c", f"{mlir_opt} adds.mlir --{name}"),
        )
        assert done.returncode == 0
    disk.fill(16384)
    merged = run(COMMAND, "suite", "merge", "-o", "disk/merged", "cse", "canonicalize")
    assert merged.returncode == 1
    assert "merged' cannot be written (No space left on device): free disk" in merged.stderr
    assert not Path("disk/merged").exists()
    disk.grow()
    assert (
        run(COMMAND, "suite", "merge", "-o", "disk/merged", "cse", "canonicalize").returncode == 0
    )
    assert len(runs("disk/merged")) == 2
