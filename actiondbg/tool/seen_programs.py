"""What a program started, where no process of it made an MLIR context that was observed."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from actiondbg.tool.identification.mlir_object import Symbols, symbols_of

VARIABLE = "ACTIONDBG_SEEN"
_SHOWN = 3
_SMALLEST = 1 << 20  # bytes of a program with MLIR in it


class SeenPrograms:
    """The programs that the processes of a program became, as their agents note them in a file.

    Args:
        path: the file, created if it is missing; None for a temporary one.
    """

    def __init__(self, path: Path | None = None) -> None:
        if path is None:
            import tempfile  # late: most tools are started without

            descriptor, name = tempfile.mkstemp(prefix="actiondbg-seen-")
            os.close(descriptor)
            path = Path(name)
        path.touch()
        self._path = path

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables for the program."""
        return {VARIABLE: str(self._path)}

    def close(self) -> None:
        """Remove the file."""
        self._path.unlink(missing_ok=True)

    def explain(self) -> str | None:
        """Return why nothing was observed, and what to do, in a clause; None if it is unknown."""
        ran, lost = self._read()
        if stripped := [path for path in ran if _is_stripped(path)]:
            return (
                f"it ran {_listed(stripped)}, where MLIR is stripped: neither symbol table has the "
                "names of MLIR's functions; use a build that keeps .symtab"
            )
        if lost:
            return (
                f"it started {_listed(lost)} without the agent: keep LD_PRELOAD in the environment "
                "of what the program starts, or debug that tool itself"
            )
        return None

    def _read(self) -> tuple[list[str], list[str]]:
        found: dict[str, dict[str, None]] = {"ran": {}, "lost": {}}
        with contextlib.suppress(OSError):
            for line in self._path.read_text(errors="replace").splitlines():
                kind, _, path = line.partition(" ")
                if kind in found and path:
                    found[kind][path] = None
        return list(found["ran"]), list(found["lost"])


def _is_stripped(path: str) -> bool:
    with contextlib.suppress(OSError, ValueError):
        program = Path(path)
        return program.stat().st_size >= _SMALLEST and symbols_of(program) is Symbols.STRIPPED
    return False


def _listed(paths: list[str]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return ", ".join(repr(path) for path in paths[:_SHOWN]) + more
