"""What an agent with headers refers to, and whether the tool has all of it.

The linker leaves out of a statically linked tool what the tool itself does not call. Headers
cannot supply it, and a call of it would crash the tool.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable
from pathlib import Path

from actiondbg.errors import UnfitTool
from actiondbg.support.executables import which
from actiondbg.tool.discovery import Tool
from actiondbg.tool.elf import defined_symbols

_SHOWN = 3
# Used in a dialect conversion only, which a tool without these functions does not run.
_OF_CONVERSIONS = (b"13TypeConverter", b"16ConversionTarget")
_CONVERSIONS = (
    b"_ZN4mlir19applyFullConversion",
    b"_ZN4mlir22applyPartialConversion",
    b"_ZN4mlir23applyAnalysisConversion",
)


def check_references(tool: Tool, names: Iterable[bytes]) -> None:
    """Refuse a tool that lacks functions which the agent refers to.

    Args:
        tool: a tool whose functions are detoured.
        names: the mangled names of functions and data.

    Raises:
        UnfitTool: some are missing.
    """
    missing = set(names)
    converts = False
    for path in (tool.libmlir, tool.libllvm):
        if path is not None:
            converts |= _remove_defined(path, missing)
    if not converts:
        missing = {name for name in missing if not any(word in name for word in _OF_CONVERSIONS)}
    if missing:
        shown = ", ".join(_readable(sorted(missing, key=len)[:_SHOWN]))
        others = f" and {len(missing) - _SHOWN} others" if len(missing) > _SHOWN else ""
        raise UnfitTool(
            f"The linker left out of {str(tool.libmlir)!r} functions that an agent with headers "
            f"calls ({shown}{others}): link it with -DMLIR_LINK_MLIR_DYLIB=ON, or without "
            "--gc-sections."
        )


def _remove_defined(path: Path, missing: set[bytes]) -> bool:
    """Remove what an object defines from ``missing``; return whether it converts dialects."""
    converts = False
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        for name in defined_symbols(content):
            missing.discard(name)
            converts = converts or name.startswith(_CONVERSIONS)
    return converts


def _readable(names: list[bytes]) -> list[str]:
    """Return names as in C++, if there is c++filt."""
    import subprocess

    mangled = [name.decode(errors="replace") for name in names]
    program = which("c++filt")
    if program is None:
        return mangled
    done = subprocess.run(
        [program, *mangled], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    return done.stdout.splitlines() if done.returncode == 0 else mangled
