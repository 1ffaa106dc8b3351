"""What a bisection is asked to find: the tool's command line, the oracle and the options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from actiondbg.bisection.command_line import CommandLine, digest, look_at
from actiondbg.bisection.filters import Choice
from actiondbg.bisection.oracles.oracle import Oracle
from actiondbg.bisection.verdict import Mode
from actiondbg.errors import ActiondbgError
from actiondbg.tool.program import Program


@dataclass(frozen=True)
class Request:
    """What is to be found.

    Args:
        argv: the tool's command line.
        oracle: judges the outputs.
        mode: what is looked for.
        choice: which actions may be candidates.
        jobs: how many trials run at a time; None for one here, or as many as the workers can.
        seconds: how long a trial, or a command of the oracle, may take; None: the oracle as long
            as it does, and a trial 20 times what the whole run takes, at least a minute.
        repeat: how often each output is judged.
        stdin: the file on the tool's standard input, or None for nothing.
        cwd: where the tool and the oracle run; None for here.
        env: the tool's environment; None for ours.
        mlir_include: the tool's MLIR headers, when they are not found by themselves.
        on_compile: called when the agent is compiled.
    """

    argv: list[str]
    oracle: Oracle
    choice: Choice
    mode: Mode = "first"
    jobs: int | None = None
    seconds: float | None = None
    repeat: int = 1
    stdin: Path | None = None
    cwd: Path | None = None
    env: Mapping[str, str] | None = None
    mlir_include: Path | None = None
    on_compile: Callable[[], None] | None = field(default=None, compare=False)

    @property
    def keys(self) -> bool:
        """Whether actions are told apart by keys."""
        return self.mode != "first"

    def line(self) -> CommandLine:
        """Return the command line, looked at."""
        return look_at(self.argv, self.cwd)

    def source(self) -> Path | None:
        """Return the tool's input, or None if it is not known."""
        line = self.line()
        return self.stdin if line.reads_stdin else line.input

    def program(self, argv: list[str]) -> Program:
        """Return the tool with a command line."""
        return Program(
            argv=argv,
            mlir_include=self.mlir_include,
            cwd=self.cwd,
            env=self.env,
            on_compile=self.on_compile,
        )

    def identity(self) -> dict[str, str]:
        """Return what verdicts hold for, in named parts."""
        cwd = self.cwd or Path.cwd()
        files = [*self.line().files, *([self.stdin] if self.stdin else [])]
        tool = self.program(self.argv).tool
        return {
            "command line": " ".join(self.argv),
            "tool": f"{tool.path} of build {tool.build_id}",
            "input": _contents(files, cwd),
            "oracle": self.oracle.words(),
            "oracle's files": _contents(self.oracle.files(cwd), cwd),
            "choice of candidates": self.choice.words,
        }


def _contents(files: list[Path], cwd: Path) -> str:
    if not files:
        return "none"
    try:
        return f"{', '.join(str(file) for file in files)} of digest {digest(files, cwd)[:16]}"
    except OSError as error:
        raise ActiondbgError(f"{error.filename!r} cannot be read ({error.strerror}).") from error
