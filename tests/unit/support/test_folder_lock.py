"""A lock of a folder excludes other processes, on file systems that lock no folder, too."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from actiondbg.support.atomic_write import locked

# Holds the lock while it counts; a second process in between would read the same number.
_COUNT = """
import errno, fcntl, os, stat, sys, time
from pathlib import Path
from actiondbg.support.atomic_write import locked

folder, without_folders = Path(sys.argv[1]), sys.argv[2] == "True"
flock = fcntl.flock
def on_nfs(file, operation):
    if stat.S_ISDIR(os.fstat(file).st_mode):
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    flock(file, operation)
if without_folders:
    fcntl.flock = on_nfs
for _ in range(20):
    with locked(folder / "made"):
        number = folder / "number"
        read = int(number.read_text())
        time.sleep(0.001)
        number.write_text(str(read + 1))
"""


@pytest.mark.parametrize("without_folders", [False, True])
def test_lock_excludes_other_processes(without_folders: bool, tmp_path: Path) -> None:
    (tmp_path / "number").write_text("0")
    command = [sys.executable, "-c", _COUNT, str(tmp_path), str(without_folders)]
    processes = [subprocess.Popen(command) for _ in range(3)]
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert (tmp_path / "number").read_text() == "60"
    assert os.listdir(tmp_path / "made") == ([".lock"] if without_folders else [])


def test_lock_is_given_up_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError), locked(tmp_path):
        raise KeyError
    file = os.open(tmp_path, os.O_RDONLY)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(file)
