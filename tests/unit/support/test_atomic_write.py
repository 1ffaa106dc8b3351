"""A file is written as a whole, or is as it was; a free name is used once."""

from __future__ import annotations

import os
import resource
import signal
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path

import pytest

from actiondbg.support.atomic_write import (
    create_free,
    make_free_folder,
    open_whole,
    write_whole,
)


def test_failed_write_keeps_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "skips"
    write_whole(file, b"old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(OSError, match="File too large"):
            write_whole(file, b"x" * 2000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert file.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["skips"]


def test_links_are_followed_and_devices_are_not_replaced(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("target")
    write_whole(link, b"new")
    assert link.is_symlink() and (tmp_path / "target").read_bytes() == b"new"
    write_whole(os.devnull, b"new")
    assert not Path(os.devnull).is_file()


def test_mode_of_a_replaced_file_is_kept_and_that_of_a_new_one_is_usual(tmp_path: Path) -> None:
    for mode in (0o600, 0o640, 0o755):
        file = tmp_path / f"{mode:o}"
        file.touch()
        file.chmod(mode)
        write_whole(file, b"new")
        assert stat.S_IMODE(file.stat().st_mode) == mode
    write_whole(tmp_path / "new", b"new")
    (tmp_path / "usual").touch()
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_longest_name_is_written(tmp_path: Path) -> None:
    file = tmp_path / ("x" * os.pathconf(tmp_path, "PC_NAME_MAX"))
    write_whole(file, b"new")
    assert file.read_bytes() == b"new"


@pytest.mark.parametrize("name", ["missing/file", "file/x"])
def test_error_names_the_file_that_was_asked_for(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="directory") as raised:
        write_whole(tmp_path / name, b"new")
    assert str(raised.value).endswith(f": '{tmp_path / name}'")


def test_planted_link_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even where its name is guessed, and where the file system has no files without a name."""
    victim = tmp_path / "victim"
    victim.write_bytes(b"mine")
    monkeypatch.setattr(os, "urandom", bytes)
    monkeypatch.setattr(os, "O_TMPFILE", os.O_DIRECTORY | os.O_EXCL)
    (tmp_path / f".actiondbg-{bytes(8).hex()}").symlink_to(victim)
    with pytest.raises(FileExistsError):
        write_whole(tmp_path / "file", b"new")
    assert victim.read_bytes() == b"mine"


@pytest.mark.parametrize("has_unnamed", [True, False])
def test_write_is_whole_with_and_without_unnamed_files(
    has_unnamed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not has_unnamed:
        # Refused for each folder, as O_TMPFILE is by NFS.
        monkeypatch.setattr(os, "O_TMPFILE", os.O_DIRECTORY)
    file = tmp_path / "file"
    with open_whole(file) as opened:
        opened.write(b"one")
        assert len(os.listdir(tmp_path)) == (0 if has_unnamed else 1)
    assert file.read_bytes() == b"one" and os.listdir(tmp_path) == ["file"]


def test_killed_write_leaves_nothing(tmp_path: Path) -> None:
    pid = os.fork()
    if not pid:
        with open_whole(tmp_path / "file") as opened:
            opened.write(b"x" * 100_000)
            os.kill(os.getpid(), signal.SIGKILL)
    assert os.waitpid(pid, 0)[1] == signal.SIGKILL
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("make", "numbered"), [(create_free, "run-{}.adbrec"), (make_free_folder, "run.adbrec-{}")]
)
def test_free_name_is_given_once(
    make: Callable[[Path], Path], numbered: str, tmp_path: Path
) -> None:
    (tmp_path / "run.adbrec").symlink_to("nowhere")
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(make, repeat(tmp_path / "run.adbrec", 64)))
    assert {path.name for path in made} == {numbered.format(number) for number in range(2, 66)}
    assert (tmp_path / "run.adbrec").is_symlink() and not (tmp_path / "nowhere").exists()
