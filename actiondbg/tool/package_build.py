"""What is compiled when actiondbg is built: by setup.py, and by scripts/setup."""

from __future__ import annotations

import platform
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from actiondbg.errors import AgentBuildError
from actiondbg.tool.agent_cache import agent_name, source_files
from actiondbg.tool.agent_compilation import compile_agent
from actiondbg.tool.c_part import CPart, calls, peaks
from actiondbg.tool.compiler import find_compiler
from actiondbg.tool.discovery import UNKNOWN_LLVM, Tool
from actiondbg.tool.shipped import AGENT_SOURCE, SHIPPED
from actiondbg.tool.way import Way


def build_shipped(folder: Path, machine: str = platform.machine()) -> None:
    """Compile all that is shipped into a folder, and remove what is in it of other sources.

    Args:
        folder: of the package to build.
        machine: the architecture that the compilers compile for.

    Raises:
        AgentBuildError: a compiler is missing, or fails.
        OSError: the folder is not writable.
    """
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {agent_name(AGENT_SOURCE, source_files(AGENT_SOURCE, Way.PORTABLE)): _compile_agent}
    if machine == "x86_64":
        wanted[calls().file_name] = calls().compile
    wanted |= {part.file_name: _optional(part) for part in peaks(machine)}
    for file in folder.iterdir():
        # Another process may be building in a folder of its own.
        if file.name not in wanted and not file.is_dir():
            file.unlink(missing_ok=True)
    for name, compile in wanted.items():
        before = AGENT_SOURCE / SHIPPED / name
        if (folder / name).exists():
            continue
        if before.exists():
            shutil.copy(before, folder / name)
        else:
            compile(folder / name)


def _compile_agent(target: Path) -> None:
    tool = Tool(Path(), None, (), UNKNOWN_LLVM, "", way=Way.PORTABLE)
    files = source_files(AGENT_SOURCE, Way.PORTABLE)
    compile_agent(tool, find_compiler(), AGENT_SOURCE, files, target, target)
    target.chmod(0o755)  # for all users of the environment


def _optional(part: CPart) -> Callable[[Path], None]:
    """Return the compilation of a part that an old compiler may not know the instructions of."""

    def compile(target: Path) -> None:
        try:
            part.compile(target)
        except AgentBuildError as error:
            sys.stderr.write(f"left out: {error}\n")

    return compile


if __name__ == "__main__":
    try:
        build_shipped(AGENT_SOURCE / SHIPPED)
    except AgentBuildError as error:
        raise SystemExit(f"error: {error}") from None
