"""MLIR's headers beside the installed tools, for plug-ins and programs that tests compile."""

from __future__ import annotations

import sysconfig
from pathlib import Path

from actiondbg.tool import Tool


def header_flags(tool: Tool) -> list[str]:
    """Return the compiler's options for the headers of the package's build, or of Debian's."""
    assert tool.libmlir is not None
    packages = Path(sysconfig.get_path("purelib"))
    if tool.path.is_relative_to(packages):
        folders = [packages / "mlir/include", packages / "llvm/include"]
    else:
        folders = [tool.libmlir.resolve().parent.parent / "include"]
    assert all(folder.is_dir() for folder in folders), folders
    return [word for folder in folders for word in ("-isystem", str(folder))]
