"""The debugged program: its command line, its tool, and the tool's output."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from actiondbg import protocol
from actiondbg.process.process_status import ProcessStatus, mapped_files, process_status
from actiondbg.process.streams import Streams
from actiondbg.session.executions import Executions
from actiondbg.tool import Tool
from actiondbg.tool.identification.mlir_object import find_mlir_object, llvm_version
from actiondbg.tool.known_names import option_names
from actiondbg.tool.program import Program
from actiondbg.tool.shipped import shipped_agent


class Target:
    """The debugged program.

    Args:
        program: the command line and its environment.
        executions: its processes.
    """

    def __init__(self, program: Program, executions: Executions) -> None:
        self._program = program
        self._executions = executions

    @property
    def argv(self) -> list[str]:
        """The command line of the tool."""
        return self._program.argv

    @property
    def directory(self) -> Path | None:
        """The working directory of the tool; None for ours."""
        return self._program.cwd

    @property
    def environment(self) -> Mapping[str, str] | None:
        """The environment of the tool; None for ours."""
        return self._program.env

    @property
    def without(self) -> tuple[str, ...]:
        """The names of the capabilities that the agent does not use."""
        return self._program.without

    @property
    def streams(self) -> Streams:
        """The redirections of the tool's standard streams in this run."""
        return self._executions.streams

    @property
    def tool(self) -> Tool:
        """The tool; raises LaunchError when it is missing or unsuitable for the agent."""
        return self._program.tool

    def option_names(self) -> list[str]:
        """Return the options that the tool's ``--help`` lists; none of a program that starts tools.

        Raises:
            LaunchError: the tool is missing or unsuitable.
        """
        if self._program.is_followed:
            return []
        return option_names(self.tool, self.environment, self.directory)

    def process(self) -> ProcessStatus | None:
        """Return the status of the tool's process; None before its start and after its end."""
        execution = self._executions.current
        if execution is None or execution.state == "exited":
            return None
        return process_status(execution.pid)

    def forks(self) -> list[int]:
        """Return the pids of the checkpoints of the timeline, that of the beginning last."""
        execution = self._executions.current
        return [] if execution is None else [one.tool.pid for one in execution.frozen()]

    @property
    def hello(self) -> protocol.Hello | None:
        """The hello of the agent in this run, or None."""
        current = self._executions.current
        return current.hello if current else None

    def facts(self) -> protocol.Facts:
        """Return what the agent knows of the tool's MLIR at this stop, for a report about a build.

        Raises:
            NotStopped: the tool is not stopped.
        """
        return self._executions.ask(protocol.GetFacts())

    @property
    def pid(self) -> int | None:
        """The process id of the tool; None when there is no process."""
        current = self._executions.current
        return current.pid if current and current.state != "exited" else None

    @property
    def loaded_mlir(self) -> Path | None:
        """The file with MLIR that the process of a program has loaded, such as a wheel's library.

        None without a process, before it has loaded one, and for a tool that names its own.
        """
        if self._program.tool.libmlir is not None or self.pid is None:
            return None
        agent = shipped_agent().resolve()
        found = find_mlir_object(one for one in mapped_files(self.pid) if one != agent)
        return found[0] if found else None

    def llvm(self) -> str | None:
        """Return the LLVM version of the tool's MLIR; None if it is unknown."""
        loaded = self.loaded_mlir
        return self.tool.llvm() if loaded is None else llvm_version(loaded)

    def output(self) -> str:
        """Return the tool's stdout so far; raises UsageError when it is redirected."""
        return self._executions.spooled("stdout", self.streams.stdout)

    def errors(self) -> str:
        """Return the tool's stderr so far; raises UsageError when it is redirected."""
        return self._executions.spooled("stderr", self.streams.stderr)
