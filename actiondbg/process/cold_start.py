"""Runs of a tool that start anew, in the place of forks."""

from __future__ import annotations

import contextlib
import copy
import itertools
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from actiondbg import protocol
from actiondbg.errors import LaunchError, NoAnswer
from actiondbg.process.forked_tool import ForkedTool, ForkOwner, ForkProcess, closed_on_error
from actiondbg.process.streams import Redirection, Streams
from actiondbg.process.tool_process import Listener, Process, start_process
from actiondbg.protocol.client import Client, ConnectionEnded
from actiondbg.support.interrupts import HeldInterrupts
from actiondbg.tool import find_tool
from actiondbg.tool.agent_environment import without_agents
from actiondbg.tool.program import Program

_HELLO_SECONDS = 600.0  # from the start of the program to its first MLIR context


class StartedTool(NamedTuple):
    """A tool that a program has started."""

    path: Path
    arguments: Sequence[str]
    # Its environment at its start, without what is there for an agent.
    environment: Mapping[str, str]


def started_tool(program: Program, pid: int) -> StartedTool | None:
    """Return the tool in a process of a program, if the program did no more than start it.

    That is not so if the program itself loads MLIR, or has started the tool with other arguments
    than the last ones of its own, or in another directory.
    """
    if not program.is_followed:
        return None
    process = Path(f"/proc/{pid}")
    try:
        path = Path(os.readlink(process / "exe"))
        arguments = _texts(process / "cmdline")[1:]
        environment: dict[str, str] = {}
        for each in _texts(process / "environ"):
            name, _, value = each.partition("=")
            environment[name] = value
        directory = os.readlink(process / "cwd")
        if find_tool(str(path)).libmlir is None:
            return None
    except (OSError, LaunchError):
        return None
    own = program.command[1:]
    # 'env NAME=VALUE TOOL ARGS...' has more words before the arguments of the tool.
    is_passed_on = own[len(own) - len(arguments) :] == arguments and bool(arguments or not own)
    if not is_passed_on or directory != os.path.realpath(program.cwd or "."):
        return None
    return StartedTool(path, arguments, without_agents(environment))


def _texts(file: Path) -> list[str]:
    return [os.fsdecode(text) for text in file.read_bytes().split(b"\0")[:-1]]


class ColdStart:
    """The beginning of a run of a tool that cannot be forked: each run of it is a new process.

    It stands for a fork that is frozen before the first action, and threads may share it.

    Args:
        with_output: the command line with another output file.
        prepare: requests for each process, which is stopped before its first action.
    """

    def __init__(
        self,
        program: Program,
        with_output: Callable[[Path], list[str]],
        stdin: Redirection,
        directory: Path,
        forks: ForkOwner,
        held: HeldInterrupts,
        prepare: list[protocol.Request[protocol.Empty]],
    ) -> None:
        self._program = program
        self._with_output = with_output
        self._stdin = stdin
        self._directory = directory
        self._forks = forks
        self._held = held
        self._prepare = prepare
        self._numbers = itertools.count()

    def fork(
        self,
        role: protocol.Role = "replica",
        *,
        stdout: str | None = None,
        stderr: str | None = None,
        output: str | None = None,
    ) -> ForkedTool:
        """Start the tool, and stop it before its first action; its role is not used.

        Args:
            stdout: the file for its standard output; None for none; ``stderr`` likewise.
            output: the file in the place of the output that the command line names.

        Raises:
            LaunchError: the tool cannot be started.
            NoAnswer: it ended before its first action.
        """
        number = next(self._numbers)
        program = copy.copy(self._program)
        written = Path(output) if output else self._directory / f"cold{number}.output"
        program.argv = self._with_output(written)
        streams = Streams(self._stdin, stdout or os.devnull, stderr or os.devnull)
        with self._held:
            tool = self._start(program, streams, self._directory / f"c{number % 4096:x}")
        with closed_on_error(tool):
            for request in self._prepare:
                tool.request(request)
            tool.resume("step")
        return tool

    def close(self) -> None:
        """Do nothing: the owner of forks ends the processes."""

    def _start(self, program: Program, streams: Streams, path: Path) -> ForkedTool:
        listener = Listener(path)
        with contextlib.ExitStack() as undo:
            undo.callback(listener.close)
            process = start_process(program, listener, streams, self._directory)
            with contextlib.ExitStack() as started:
                started.callback(process.end, kill=True)
                try:
                    connection = listener.accept(process.pidfd, self._held, _HELLO_SECONDS)
                    if connection is None:
                        raise ConnectionEnded
                    client = Client(connection, process.pidfd, self._held)
                    started.callback(client.close)
                    hello = client.receive_hello(_HELLO_SECONDS)
                except (ConnectionEnded, TimeoutError) as error:
                    raise NoAnswer("The tool ended before it made an MLIR context.") from error
                started.pop_all()
            started_process = _StartedProcess(client, process)
            return self._forks.keep(ForkedTool(self._forks, started_process, hello, None))


class _StartedProcess(ForkProcess):
    """The process of a cold start: our child, which is reaped."""

    def __init__(self, client: Client, process: Process) -> None:
        super().__init__(client, os.dup(process.pidfd), process.pid)
        self._process = process
        self._reaping = threading.Lock()

    def end(self) -> None:
        super().end()
        with self._reaping:
            self._process.end(kill=True)
