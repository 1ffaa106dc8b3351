"""A file is written as a whole, or is as it was."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest

from actiondbg.support.atomic_write import write_whole


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
