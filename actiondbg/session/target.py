"""The debugged program: its command line, its tool with the output, and its processes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from actiondbg import protocol
from actiondbg.process.branches import actions_at
from actiondbg.process.execution import Execution
from actiondbg.process.process_status import ProcessStatus, mapped_files, process_status
from actiondbg.process.program_run import FollowedProcess, OtherTurn
from actiondbg.process.stop import Stop
from actiondbg.process.streams import Streams
from actiondbg.process.tool_process import LaunchOptions
from actiondbg.session.agent_options import AgentOptions
from actiondbg.session.breakpoints import AgentBreakpoints
from actiondbg.session.executions import Executions
from actiondbg.session.skip_plan import SkipPlan
from actiondbg.tool import Tool
from actiondbg.tool.identification import find_mlir_object, llvm_version
from actiondbg.tool.known_names import option_names
from actiondbg.tool.shipped import shipped_agent


class Target:
    """The debugged program."""

    def __init__(self, executions: Executions) -> None:
        self._program = executions.program
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
    def without(self) -> tuple[str, ...]:
        """The names of the capabilities that the agent does not use."""
        return self._program.without

    @property
    def environment(self) -> Mapping[str, str] | None:
        """The environment of the tool; None for ours."""
        return self._program.env

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
        return option_names(self.tool, self._program.env, self._program.cwd)

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


class ProcessFollower:
    """Debugs the processes of a program one after the other."""

    def __init__(
        self,
        executions: Executions,
        options: AgentOptions,
        breakpoints: AgentBreakpoints,
        skips: SkipPlan,
        on_next: Callable[[], None],
    ) -> None:
        self._executions = executions
        self._options = options
        self._breakpoints = breakpoints
        self._skips = skips
        self._on_next = on_next

    def follow(self, ended: Stop) -> Stop:
        """Debug the next process of the program; return the end if there is none."""
        last = self._executions.need()
        execution = self._executions.follow(self.at_start("continue"))
        if execution is None:
            last.stop = end_of_program(ended, last)
            return last.stop
        return self._begin(execution)

    def turn(self, turn: OtherTurn) -> Stop:
        """Debug another process of the program, while the current one runs on."""
        return self._begin(self._executions.turn(turn, self.at_start("continue")))

    def at_start(self, control: protocol.Control) -> LaunchOptions:
        """Return the options of a process that begins with a control."""
        resume = protocol.Resume(control=control)
        skips = self._skips.rules.at_start()
        return self._options.launch(resume, self._breakpoints.all(), skips)

    def _begin(self, execution: Execution) -> Stop:
        self._on_next()
        if not execution.has_begun:
            self._skips.rules.begin_run(execution)
        return execution.wait()


def end_of_program(ended: Stop, last: Execution) -> Stop:
    """Return the end of a program, after that of its last process that was debugged."""
    status = last.program.end(kill=False) if last.program else ended.status
    if status is None or status == ended.status:
        return ended
    # Its last line is about the end; what is before it was shown then.
    how = (ended.message or "").rpartition("\n")[2]
    if last.program is not None and last.program.is_tool:  # it became another one
        message = f"{how.removesuffix('.')}, which ended with status {status}."
    else:
        message = f"{how} The program that started it ended with status {status}."
    return msgspec.structs.replace(ended, status=status, message=message)


def process_of(execution: Execution, argv: list[str]) -> FollowedProcess:
    """Describe the process of a tool that was started itself."""
    stop = execution.stop
    if execution.state != "exited" or stop is None:
        return FollowedProcess("p0", execution.pid, argv)
    return FollowedProcess("p0", execution.pid, argv, "exited", stop.status, stop.actions)


def processes_of(execution: Execution | None, argv: list[str]) -> list[FollowedProcess]:
    """List the processes that were debugged, in their order."""
    if execution is None:
        return []
    program = execution.program
    found = [process_of(execution, argv)]
    if program is not None:
        found = [dataclasses.replace(one) for one in program.processes]
    for one in found:
        # The current one need not be the newest: a parent goes on after its child.
        is_current = program is None or one == program.current
        if is_current and execution.state == "stopped" and execution.stop is not None:
            one.actions = actions_at(execution.stop)
            one.state = "exited" if execution.has_died else "alive"
    return found
