"""The task of a bisection: the tool's command line, the oracle, and the options of the search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from actiondbg.bisection.candidates import CandidateFilter
from actiondbg.bisection.oracles import Oracle, OracleSetup
from actiondbg.bisection.progress import SearchLimit
from actiondbg.bisection.verdict import Mode
from actiondbg.errors import ActiondbgError
from actiondbg.tool.command_line import CommandLine, digest_of_files, inspect_command_line
from actiondbg.tool.program import Program


@dataclass(frozen=True)
class BisectionTask:
    """The task of a bisection.

    Args:
        filter: the user's filter of candidates.
        seconds: the time limit of a trial and of a command of the oracle. None: no limit for the
            oracle, and for a trial limits that follow from the whole run.
        stdin: the file on the tool's standard input; None for no input.
        layouts: how many random address layouts a good whole run is repeated in.
        limit: of the search.

    The other fields are as the arguments of ``bisect``.
    """

    argv: list[str]
    oracle: Oracle
    filter: CandidateFilter
    mode: Mode = "first"
    jobs: int | None = None
    seconds: float | None = None
    repeat: int = 1
    stdin: Path | None = None
    cwd: Path | None = None
    env: Mapping[str, str] | None = None
    layouts: int = 8
    no_fork: bool = False
    limit: SearchLimit = field(default_factory=SearchLimit)
    without: tuple[str, ...] = ()

    @property
    def keys(self) -> bool:
        """Whether plans name actions by keys, not by ordinals."""
        return self.mode != "first"

    def command_line(self) -> CommandLine:
        """Return the files of the command line."""
        return inspect_command_line(self.argv, self.cwd)

    def source(self) -> Path | None:
        """Return the tool's input; None if it is not known."""
        line = self.command_line()
        return self.stdin if line.reads_stdin else line.input

    def program(self, argv: list[str], randomize: bool = False) -> Program:
        """Return the tool with another command line, and with fixed or random addresses."""
        return Program(
            argv=argv,
            cwd=self.cwd,
            env=self.env,
            randomize=randomize,
            without=self.without,
        )

    def oracle_setup(self, tool: Path, directory: Path, source: Path | None) -> OracleSetup:
        """Return the facts that the oracle is prepared with; see ``OracleSetup``."""
        return OracleSetup(tool, self.argv, source, self.cwd, directory, self.seconds)

    def identity(self) -> dict[str, str]:
        """Return the names and values of what verdicts depend on."""
        cwd = self.cwd or Path.cwd()
        files = [*self.command_line().files, *([self.stdin] if self.stdin else [])]
        tool = self.program(self.argv).tool
        return {
            "command line": " ".join(self.argv),
            "tool": f"{tool.path} of build {tool.build_id}",
            "input": _contents(files, cwd),
            "oracle": self.oracle.as_option(),
            "oracle's files": _contents(self.oracle.files(cwd), cwd),
            "choice of candidates": self.filter.options,
        }


def _contents(files: list[Path], cwd: Path) -> str:
    if not files:
        return "none"
    try:
        digest = digest_of_files(files, cwd)[:16]
    except OSError as error:
        raise ActiondbgError(f"{error.filename!r} cannot be read ({error.strerror}).") from error
    return f"{', '.join(str(file) for file in files)} of digest {digest}"
