"""A compiler whose threads run passes."""

from __future__ import annotations

import subprocess
from pathlib import Path

from actiondbg.tool import find_tool
from tests.headers import header_flags

SOURCE = Path(__file__).with_name("threaded_tool.cpp")
FLAGS = ["-std=c++17", "-O1", "-fno-rtti", "-fno-exceptions", "-pthread", "-w"]


def build(folder: Path, *flags: str) -> Path:
    """Compile the tool against the installed MLIR's library; return its path."""
    tool = find_tool("mlir-opt")
    assert tool.libmlir is not None
    built = folder / "threaded-tool"
    libraries = [str(tool.libmlir)]
    if tool.libllvm is not None:
        libraries.append(str(tool.libllvm))
    folders = dict.fromkeys(str(Path(library).parent) for library in libraries)
    subprocess.run(
        [
            "g++",
            *FLAGS,
            *flags,
            *header_flags(tool),
            str(SOURCE),
            *libraries,
            *(f"-Wl,-rpath,{path}" for path in folders),
            "-o",
            str(built),
        ],
        check=True,
    )
    return built
