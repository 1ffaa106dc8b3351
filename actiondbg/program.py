"""The program that is debugged: its command line, its tool, and how a run of it starts."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from actiondbg.beginning import Beginning
from actiondbg.errors import UsageError
from actiondbg.process import Listener, Streams, agent_environment, start_process
from actiondbg.run import Run
from actiondbg.toolchain import Tool, build_agent, expand_driver, find_tool


@dataclass
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

    argv: list[str]
    mlir_include: Path | None = None
    cwd: Path | None = None
    env: Mapping[str, str] | None = None
    on_compile: Callable[[], None] | None = None
    _expanded: tuple[list[str], list[str]] | None = field(default=None, repr=False)
    _found: tuple[str, Tool] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not self.argv or not self.argv[0]:
            raise UsageError("The command line is empty: name a tool, such as mlir-opt.")

    @property
    def tool(self) -> Tool:
        """The tool, found when it is first asked for; raises LaunchError."""
        name = self._command_line()[0]
        if self._found is None or self._found[0] != name:
            self._found = name, find_tool(name, self.mlir_include)
        return self._found[1]

    def agent(self) -> Path:
        """Return the agent for the tool, compiled if need be; raises LaunchError."""
        return build_agent(self.tool, self.on_compile)

    def start(
        self,
        agent: Path,
        directory: Path,
        streams: Streams,
        beginning: Beginning,
    ) -> Run:
        """Start the tool with the agent in it.

        Args:
            agent: what ``agent`` returned.
            directory: of the session, or in it.
            streams: where the tool's standard streams go.
            beginning: how it goes on after its first context.

        Raises:
            LaunchError: it cannot be started.
        """
        listener = Listener(directory / "sock")
        base = os.environ if self.env is None else self.env
        try:
            process = start_process(
                self._command_line(),
                self.tool.path,
                agent_environment(base, agent, listener.path),
                self.cwd,
                streams,
                directory,
            )
        except BaseException:
            listener.close()
            raise
        return Run(process, listener, beginning)

    def _command_line(self) -> list[str]:
        """The command line with a driver replaced by the compiler that it would start."""
        if self._expanded is None or self._expanded[0] != self.argv:
            self._expanded = list(self.argv), expand_driver(self.argv, self.cwd)
        return self._expanded[1]
