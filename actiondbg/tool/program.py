"""The program to debug or record: its command line, its tool, and its start."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple, TypeAlias

from actiondbg.errors import LaunchError, UsageError
from actiondbg.support.executables import way_out
from actiondbg.support.globs import check_glob
from actiondbg.support.user_directories import cache_directory
from actiondbg.tool import Tool, expand_driver, find_tool
from actiondbg.tool.address_layout import address_layout
from actiondbg.tool.agent_environment import (
    FRONT_END,
    KEPT,
    PRELOAD,
    USERS_PRELOAD,
    WITHOUT,
    bypassing_caches,
    capabilities_without,
    preload_with,
    without_agents,
)
from actiondbg.tool.program_guard import VARIABLE, ProgramGuard, new_mark
from actiondbg.tool.shipped import shipped_agent

OpenedStream: TypeAlias = int | IO[str] | IO[bytes] | None  # as subprocess takes it


def command_words(argv: Sequence[str]) -> list[str]:
    """Return a command line as a list.

    Raises:
        UsageError: it is one text.
    """
    if isinstance(argv, str):
        words = argv.split() or ["mlir-opt", "in.mlir"]
        raise UsageError(f"A command line is a list of words, not a text: write {words}.")
    return list(argv)


class StartedProgram(NamedTuple):
    """A process that was started.

    Args:
        process: the tool, or a program that may start tools.
        guard: of the processes that a program starts; None for a tool.
    """

    process: subprocess.Popen[bytes]
    guard: ProgramGuard | None


class Program:
    """The command line of a tool, with its environment.

    Args:
        argv: the command line, the tool first.
        cwd, env, randomize, follow: as the arguments of ``launch``.
        without: names of capabilities that the agent does not use, beside those in
            ``$ACTIONDBG_WITHOUT``.
        starts_tools: whether it is a program that starts tools, even if it is a tool itself.

    Raises:
        UsageError: the command line is empty, the glob is none, or a capability is unknown.
    """

    def __init__(
        self,
        argv: Sequence[str],
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        randomize: bool = False,
        follow: str | None = None,
        without: Sequence[str] = (),
        starts_tools: bool = False,
    ) -> None:
        self.argv = command_words(argv)
        if not argv or not argv[0]:
            raise UsageError("The command line is empty: name a tool, such as mlir-opt.")
        self.cwd = None if cwd is None else Path(cwd)
        self.env = env
        self.randomize = randomize
        self.follow = follow
        self.without = capabilities_without(without, os.environ if env is None else env)
        self._starts_tools = starts_tools
        self._expanded: tuple[list[str], list[str]] | None = None
        self._found: tuple[str, Tool] | None = None

    @property
    def tool(self) -> Tool:
        """The tool, looked up at the first use; raises LaunchError."""
        name = self.command[0]
        if self._found is None or self._found[0] != name:
            self._found = name, find_tool(name)
        return self._found[1]

    @property
    def follow(self) -> str | None:
        """The glob of the processes to debug; None for each that makes an MLIR context."""
        return self._follow

    @follow.setter
    def follow(self, glob: str | None) -> None:
        if glob is not None:
            check_glob(glob, glob, 0)
        self._follow = glob or None

    @property
    def is_followed(self) -> bool:
        """Whether it is no tool, but a program that loads MLIR later, or starts tools."""
        return self._starts_tools or self.tool.libmlir is None

    def prepare(self) -> None:
        """Look for the tool and the agent; raises LaunchError if one is missing or unsuitable."""
        _ = self.tool
        shipped_agent()

    def popen(
        self,
        variables: Mapping[str, str],
        streams: tuple[OpenedStream, OpenedStream, OpenedStream],
        group: int | None = None,
    ) -> StartedProgram:
        """Start the tool's process with the agent in it.

        Args:
            variables: environment variables with settings for the agent.
            streams: the result of ``Streams.opened``.
            group: the process group to join, 0 for a new one; None for ours.

        Raises:
            LaunchError: the tool cannot be started.
        """
        executable = self.tool.path
        stdin, stdout, stderr = streams
        environment = {**self.environment(shipped_agent()), **variables}
        if self.cwd is not None and not Path(self.cwd).is_dir():
            raise LaunchError(
                f"The working directory {os.fspath(self.cwd)!r} of {os.fspath(executable)!r} is "
                "not a directory: make it, or run in another one."
            )
        try:
            with address_layout(self.randomize):
                process = subprocess.Popen(
                    self.command,
                    executable=executable,
                    env=environment,
                    cwd=self.cwd,
                    stdin=stdin,
                    stdout=stdout,
                    stderr=stderr,
                    process_group=group,
                )
        except (OSError, ValueError) as error:
            raise LaunchError(
                f"{os.fspath(executable)!r} could not be started ({error}): "
                f"{way_out(error, 'check the tool and its working directory')}."
            ) from error
        mark = environment.get(VARIABLE)
        if mark is None:
            return StartedProgram(process, None)
        try:
            return StartedProgram(process, ProgramGuard(process.pid, mark))
        except OSError as error:
            process.kill()
            process.wait()
            raise LaunchError(
                f"The Python at {sys.executable!r} could not be started, which ends the program "
                f"with actiondbg ({error}): run actiondbg with another Python."
            ) from error

    def environment(self, agent: Path) -> dict[str, str]:
        """Return the environment that preloads the agent into the tool, for one start of it.

        The tool's own LD_PRELOAD is kept, and the agent restores it for the tool's children.
        """
        result = without_agents(os.environ if self.env is None else self.env)
        preloaded = result.get(PRELOAD)
        # A sanitizer that the tool is linked with has to be the first library, too.
        first = () if self.is_followed else self.tool.sanitizers
        users = ":".join([*map(str, first), preloaded or ""])
        result[PRELOAD] = preload_with(agent, users)
        if preloaded:
            result[USERS_PRELOAD] = preloaded
        if self.without:
            result[WITHOUT] = ",".join(self.without)
        # For the places of MLIR's functions, which take a while to find in a large library, and for
        # what was proved of a build.
        cache = cache_directory()
        with suppress(OSError):
            cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        result["ACTIONDBG_CACHE"] = str(cache)
        if self.is_followed:
            result[VARIABLE] = new_mark()
            if self.follow:
                result["ACTIONDBG_FOLLOW"] = self.follow
            caches = bypassing_caches(result)
            result |= {**caches, KEPT: ",".join(caches)}
        elif threading.current_thread() is threading.main_thread():
            # Any other thread may end before the tool, and the kernel takes that for our end.
            result[FRONT_END] = str(os.getpid())
        return result

    @property
    def command(self) -> list[str]:
        """The command line, with a driver replaced by its compiler, unless all it starts counts."""
        if self._starts_tools:
            return self.argv
        if self._expanded is None or self._expanded[0] != self.argv:
            self._expanded = list(self.argv), expand_driver(self.argv, self.cwd)
        return self._expanded[1]
