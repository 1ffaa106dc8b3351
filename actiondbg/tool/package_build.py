"""What is compiled when actiondbg is built: by setup.py, and by scripts/setup."""

from __future__ import annotations

import platform
import shutil
import sys
import tempfile
import time
from pathlib import Path

from actiondbg.errors import AgentBuildError
from actiondbg.tool.agent_compilation import compile_agent
from actiondbg.tool.c_part import calls, peaks
from actiondbg.tool.shipped import AGENT, SHIPPED, SUM, sum_in, sum_of_sources

_ABANDONED_SECONDS = 3600


def build_shipped(folder: Path, machine: str = platform.machine()) -> None:
    """Compile all that is shipped into a folder, if it is not there yet.

    Raises:
        AgentBuildError: a compiler is missing, or fails.
        OSError: the folder is not writable.
    """
    wanted = sum_of_sources()
    if sum_in(folder) == wanted:
        return
    folder.mkdir(parents=True, exist_ok=True)
    # Beside others that build at the same time, and tools that run with what is there.
    with tempfile.TemporaryDirectory(prefix="build-", dir=folder) as made:
        directory = Path(made)
        if folder != SHIPPED and sum_in(SHIPPED) == wanted:
            for file in SHIPPED.iterdir():
                if file.is_file():
                    shutil.copy(file, directory)
        else:
            _compile_all(directory, machine)
            (directory / SUM).write_text(wanted)
        names = {file.name for file in directory.iterdir()}
        for name in sorted(names, key=lambda name: name == SUM):  # the sum last
            (directory / name).replace(folder / name)
    for file in folder.iterdir():
        if file.is_file() and file.name not in names:
            file.unlink(missing_ok=True)
        elif file.is_dir() and time.time() - file.stat().st_mtime > _ABANDONED_SECONDS:
            shutil.rmtree(file, ignore_errors=True)  # of a compilation that was killed


def _compile_all(directory: Path, machine: str) -> None:
    compile_agent(directory / AGENT)
    if machine == "x86_64":
        calls().compile(directory)
    for part in peaks(machine):
        try:
            part.compile(directory)
        except AgentBuildError as error:  # an old compiler may not know its instructions
            sys.stderr.write(f"left out: {error}\n")


if __name__ == "__main__":
    try:
        build_shipped(SHIPPED)
    except AgentBuildError as error:
        raise SystemExit(f"error: {error}") from None
