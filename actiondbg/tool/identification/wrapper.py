"""Scripts of Python packages that only start a compiled tool in the package."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

# Of a package, the tools in it. A tool's name is on PATH only if the package has a script for it.
PACKAGED_TOOLS = {
    "mlir": ("bin/mlir-opt",),
    "iree.compiler": ("_mlir_libs/iree-opt", "_mlir_libs/iree-compile"),
    "torch_mlir": ("_mlir_libs/torch-mlir-opt",),
}
# With which a user names another tool.
_VARIABLES = {"iree.compiler": "IREE_TOOL_PATH"}
_LARGEST = 1 << 14  # bytes of a script of pip's
# As pip writes it, also where the interpreter's path is long or has blanks.
_INTERPRETER = re.compile(r"#!(?:/bin/sh\n'''exec' )?\"?(?P<path>/[^\"\n]*/python[\d.]*)\b")
_MODULE = re.compile(r"^from (?P<module>[\w.]+) import \w+$", re.MULTILINE)


def wrapped_tool(script: Path) -> Path | None:
    """Return the tool that a script starts with its own arguments.

    Args:
        script: an executable.

    Returns:
        The tool; None if it is no script of a package with such a tool, or the tool is not found.
    """
    try:
        with script.open("rb") as file:
            text = file.read(_LARGEST + 1).decode(errors="replace")
    except OSError:
        return None
    interpreter, module = _INTERPRETER.match(text), _MODULE.search(text)
    if interpreter is None or module is None or len(text) > _LARGEST:
        return None
    roots = dict.fromkeys((script.parent.parent, Path(interpreter["path"]).parent.parent))
    found = (
        tool
        for package, tools in PACKAGED_TOOLS.items()
        if f"{module['module']}.".startswith(f"{package}.") and not _is_replaced(package)
        for name in tools
        if Path(name).name == script.name
        for root in roots
        for tool in _installed(root, package, name)
    )
    return next(found, None)


def _is_replaced(package: str) -> bool:
    return bool(os.environ.get(_VARIABLES.get(package, "")))


def _installed(root: Path, package: str, name: str) -> Iterator[Path]:
    """List the tools of a package below the root of an environment."""
    place = package.replace(".", "/")
    for libraries in sorted(root.glob("lib*/python*/*-packages")):
        if os.access(libraries / place / name, os.X_OK):
            yield libraries / place / name
