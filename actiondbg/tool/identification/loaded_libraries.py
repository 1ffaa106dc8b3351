"""The libraries that the dynamic loader gives a program."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from actiondbg.errors import LaunchError
from actiondbg.support.executables import answer_of, way_out
from actiondbg.tool.agent_environment import without_agents

_LOADER_SECONDS = 30
# "libc.so.6 => /lib/libc.so.6 (0x7f00)"; a path alone for a library that is named by its path.
_LOADED = r"^\s*(?:(\S+) => )?(?:(/.*?) \(0x[0-9a-f]+\)|(not found))\s*$"
_SUFFIX = r"(-\d+)?\.so(\.|$)"  # of a soname


class LoadedLibraries:
    """The libraries of a program, which is not run for it: as ldd, but with its own loader.

    Args:
        program: an executable with a dynamic loader.

    Raises:
        LaunchError: the program cannot be loaded.
    """

    def __init__(self, program: Path) -> None:
        self.program = program
        listing = _ask_loader(program)
        self._paths: dict[str, str] = {
            m[1] or m[2]: m[2] or "" for m in re.finditer(_LOADED, listing, re.MULTILINE)
        }

    def path_of(self, name: str) -> Path | None:
        """Return the path of a library by its name before a version, such as "libMLIR".

        Raises:
            LaunchError: the program needs it, and it is not found.
        """
        soname = next((one for one in self._paths if re.match(name + _SUFFIX, one)), None)
        if soname is None:
            return None
        if not self._paths[soname]:
            raise self._not_found(soname)
        return Path(self._paths[soname])

    def paths(self) -> list[Path]:
        """Return the paths of all libraries.

        Raises:
            LaunchError: one is not found.
        """
        for soname, path in self._paths.items():
            if not path:
                raise self._not_found(soname)
        return [Path(path) for path in self._paths.values()]

    def _not_found(self, soname: str) -> LaunchError:
        return LaunchError(
            f"{str(self.program)!r} needs {soname}, which is not found: install it, or put its "
            "directory into LD_LIBRARY_PATH."
        )


def _ask_loader(program: Path) -> str:
    try:
        env = {**without_agents(os.environ), "LD_TRACE_LOADED_OBJECTS": "1"}
        return answer_of([program], _LOADER_SECONDS, env=env).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LaunchError(
            f"{str(program)!r} cannot be loaded on this machine ({error}): "
            f"{way_out(error, 'use a tool built for it')}."
        ) from error
