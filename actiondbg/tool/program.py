"""The program that is debugged or recorded: its command line, its tool, and how that starts."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, TypeAlias

from actiondbg.errors import LaunchError, UsageError
from actiondbg.tool import Tool, build_agent, expand_driver, find_tool

OpenedStream: TypeAlias = int | IO[str] | IO[bytes] | None  # as subprocess takes it

_PRELOAD = "LD_PRELOAD"


class Program:
    """A command line of a tool, and what surrounds it.

    Args:
        argv: the command line, the tool first.
        mlir_include: the tool's MLIR headers, when they are not found by themselves.
        cwd: where the tool runs; None for here.
        env: its environment; None for ours.
        on_compile: called when the agent is compiled, which takes some seconds.

    Raises:
        UsageError: the command line is empty.
    """

    def __init__(
        self,
        argv: list[str],
        mlir_include: str | os.PathLike[str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        on_compile: Callable[[], None] | None = None,
    ) -> None:
        if not argv or not argv[0]:
            raise UsageError("The command line is empty: name a tool, such as mlir-opt.")
        self.argv = argv
        self.mlir_include = None if mlir_include is None else Path(mlir_include)
        self.cwd = None if cwd is None else Path(cwd)
        self.env = env
        self._on_compile = on_compile
        self._expanded: tuple[list[str], list[str]] | None = None
        self._found: tuple[str, Tool] | None = None

    @property
    def tool(self) -> Tool:
        """The tool, found when it is first asked for; raises LaunchError."""
        name = self._command_line()[0]
        if self._found is None or self._found[0] != name:
            self._found = name, find_tool(name, self.mlir_include)
        return self._found[1]

    def agent(self) -> Path:
        """Return the agent for the tool, compiled if need be; raises LaunchError."""
        return build_agent(self.tool, self._on_compile)

    def popen(
        self,
        agent: Path,
        orders: Mapping[str, str],
        streams: tuple[OpenedStream, OpenedStream, OpenedStream],
        group: int | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start the tool's process with the agent in it.

        Args:
            agent: what ``agent`` returned.
            orders: variables of the environment that tell the agent what to do.
            streams: what ``Streams.opened`` gave.
            group: the process group that it joins, 0 for one of its own; None for ours.

        Raises:
            LaunchError: it cannot be started.
        """
        executable = self.tool.path
        stdin, stdout, stderr = streams
        try:
            return subprocess.Popen(
                self._command_line(),
                executable=executable,
                env={**self._environment(agent), **orders},
                cwd=self.cwd,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                process_group=group,
            )
        except (OSError, ValueError) as error:
            raise LaunchError(
                f"{os.fspath(executable)!r} could not be started ({error}): check the tool and "
                "the directory that it runs in."
            ) from error

    def _environment(self, agent: Path) -> dict[str, str]:
        """Return the environment that puts the agent into the tool.

        The tool's own LD_PRELOAD is kept, and the agent restores it for the tool's children.
        """
        result = dict(os.environ if self.env is None else self.env)
        preloaded = result.get(_PRELOAD)
        result[_PRELOAD] = f"{agent}:{preloaded}" if preloaded else str(agent)
        if preloaded:
            result["ACTIONDBG_PRELOAD"] = preloaded
        return result

    def _command_line(self) -> list[str]:
        """The command line with a driver replaced by the compiler that it would start."""
        if self._expanded is None or self._expanded[0] != self.argv:
            self._expanded = list(self.argv), expand_driver(self.argv, self.cwd)
        return self._expanded[1]
