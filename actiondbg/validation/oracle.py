"""``bisect --validate``: the output does what the input does."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import finalize

from actiondbg.bisection.command_runner import CommandRunner
from actiondbg.bisection.oracles.oracle import Oracle, OracleSetup
from actiondbg.bisection.verdict import Judgement, Verdict
from actiondbg.errors import OracleError
from actiondbg.tool.command_line import is_file
from actiondbg.validation.judgement import Limits, Query
from actiondbg.validation.workers import Numbered, Workers

_SECONDS = 30.0  # for a function
_GRACE = 15.0  # for the start of the process


@dataclass
class Validate(Oracle):
    """Judges by proof, and by running each function of the input and of the output.

    Args:
        input: the input, if the tool's command line does not name it.
    """

    input: Path | None = None
    symptom = "a program that does something else than the input"
    _before: str = ""
    _limits: Limits = field(default_factory=Limits)
    _lock: Lock = field(default_factory=Lock, repr=False)
    _workers: Workers | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what a copy in another process makes for itself."""
        return {**self.__dict__, "_lock": None, "_workers": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = Lock()

    def as_option(self) -> str:
        return "--validate" if self.input is None else f"--validate --input {self.input}"

    def prepare(self, setup: OracleSetup) -> None:
        source = self.input or setup.input
        if source is None:
            raise OracleError(
                "Which file is the input of the tool cannot be told from its command line: name it "
                "with --input FILE."
            )
        path = (setup.cwd or Path.cwd()) / source
        if not is_file(path):
            raise OracleError(f"There is no file {str(source)!r} to compare with: name another.")
        self._before = path.read_text(encoding="utf-8", errors="replace")
        scratch = str(setup.directory / "validation")
        self._limits = Limits(
            tool=str(setup.tool), scratch=scratch, seconds=setup.seconds or _SECONDS
        )

    def _running(self) -> Workers:
        """Return the process that judges all outputs; it ends with the oracle."""
        if self._workers is None:
            self._workers = Workers(1, self._limits.seconds + _GRACE, self._limits)
            finalize(self, self._workers.close)
        return self._workers

    def judge_output(self, output: Path, commands: CommandRunner, setup: OracleSetup) -> Judgement:
        after = output.read_text(encoding="utf-8", errors="replace")
        with self._lock:  # one at a time, as a judgement has a time limit
            ((_, found),) = self._running().answers([Numbered(0, Query(self._before, after))])
        verdicts: dict[str, Verdict] = {"different": "bad", "unknown": "untestable"}
        for verdict, means in verdicts.items():
            for each in found:
                if each.verdict == verdict:
                    return Judgement(means, f"@{each.symbol}: {each.detail}")
        return Judgement("good", "the same")
