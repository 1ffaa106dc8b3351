"""``bisect --validate``: the output does what the input does."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from actiondbg.bisection.command_runner import CommandRunner
from actiondbg.bisection.oracles import Oracle, OracleSetup
from actiondbg.bisection.verdict import Judgement, Verdict
from actiondbg.tool.command_line import is_file
from actiondbg.validation.function_judgement import JudgementLimits, Query
from actiondbg.validation.workers import judge_apart

_SECONDS = 30.0  # for a function
_ONE_AT_A_TIME = Lock()  # as a judgement has a time limit


@dataclass
class Validate(Oracle):
    """Judges by proof, and by running each function of the input and of the output."""

    input: Path | None = None  # the input, if the tool's command line does not name it
    symptom = "a program that does something else than the input"
    _before: str = ""
    _limits: JudgementLimits = field(default_factory=JudgementLimits)

    def as_option(self) -> str:
        words = ["--validate"] if self.input is None else ["--validate", "--input", str(self.input)]
        return shlex.join(words)

    def files(self, cwd: Path) -> list[Path]:
        return [cwd / self.input] if self.input and is_file(cwd / self.input) else []

    def prepare(self, setup: OracleSetup) -> None:
        path = setup.compared_input(self.input)
        self._before = path.read_text(encoding="utf-8", errors="replace")
        scratch = str(setup.directory / "validation")
        self._limits = JudgementLimits(
            tool=str(setup.tool), scratch=scratch, seconds=setup.seconds or _SECONDS
        )

    def judge_output(self, output: Path, commands: CommandRunner, setup: OracleSetup) -> Judgement:
        after = output.read_text(encoding="utf-8", errors="replace")
        query = Query(self._before, after)
        # A process for each, as it ends with the thread that started it.
        with _ONE_AT_A_TIME:
            found = judge_apart(query, self._limits)
        verdicts: dict[str, Verdict] = {"different": "bad", "unknown": "untestable"}
        for verdict, means in verdicts.items():
            for each in found:
                if each.verdict == verdict:
                    return Judgement(means, f"@{each.symbol}: {each.detail}")
        return Judgement("good", "the same")
