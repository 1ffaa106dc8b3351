"""Run a reproducer's scripts and read their verdicts."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from actiondbg.bisection.command_runner import CommandRunner
from actiondbg.bisection.oracles.oracle import Evidence, Oracle, OracleSetup
from actiondbg.bisection.reproducer.pipelines import dumped_pipelines
from actiondbg.bisection.reproducer.portable_command import OUT, PortableCommand
from actiondbg.bisection.reproducer.scripts import ShellJudge, Step, make_script, read_verdicts
from actiondbg.bisection.verdict import Verdict
from actiondbg.errors import ActiondbgError, FileNotWritten
from actiondbg.process.stop import exit_of
from actiondbg.support.atomic_directory import executable_mode

SCRIPT = "repro.sh"
_SECONDS = 600.0  # the time limit of one run of the tool, if the user gives none
_JOINED = ("sh", "-c", 'exec "$@" 2>&1', "sh")  # joins stderr with stdout
_SIGNALLED = 128  # the shell's exit status is this plus the signal


@dataclass(frozen=True)
class StepResult:
    """The result of a step.

    Args:
        step: the step.
        verdict: on its output.
    """

    step: Step
    verdict: Verdict

    @property
    def confirmed(self) -> bool:
        """Whether the verdict is the expected one."""
        return self.verdict == self.step.expected


class ReproducerRun:
    """Runs the scripts of a reproducer in its folder.

    Args:
        folder: the folder.
        tool: the stock tool.
        oracle: judges outputs that no shell command can judge.
        setup: the facts that the oracle was prepared with.
        environment: the tool's; None for this process's.
    """

    def __init__(
        self,
        folder: Path,
        tool: Path,
        oracle: Oracle,
        setup: OracleSetup,
        environment: Mapping[str, str] | None,
    ) -> None:
        self.seconds = setup.seconds or _SECONDS
        self._folder, self._tool = folder, tool
        self._oracle, self._setup = oracle, setup
        self._environment = environment
        self._verdicts: dict[tuple[str, ...], Verdict] = {}

    def try_steps(self, steps: Sequence[Step], judge: ShellJudge) -> list[StepResult]:
        """Return the results of steps; only those that were not run yet are run."""
        new = [step for step in steps if tuple(step.args) not in self._verdicts]
        if new:
            for result in self.run(new, judge, ["An attempt."])[0]:
                self._verdicts[tuple(result.step.args)] = result.verdict
        return [StepResult(step, self._verdicts[tuple(step.args)]) for step in steps]

    def forget_verdicts(self) -> None:
        """Forget the verdicts of ``try_steps``: another judge is tried."""
        self._verdicts.clear()

    def run(
        self, steps: Sequence[Step], judge: ShellJudge, head: Sequence[str]
    ) -> tuple[list[StepResult], bool]:
        """Write repro.sh and run it.

        Returns:
            The results of the steps, and whether the script ended with status 0.

        Raises:
            FileNotWritten: the script cannot be written.
        """
        script = self._folder / SCRIPT
        try:
            text = make_script(head, steps, judge, self._tool, self.seconds)
            script.write_text(text, encoding="utf-8", errors="surrogateescape")
            script.chmod(executable_mode(script))
        except OSError as error:
            raise FileNotWritten(
                f"The script {str(script)!r} cannot be written ({error.strerror}): "
                "is there room left on the disk?"
            ) from error
        with self._scratch() as scratch:
            kept = Path(scratch, "kept")
            status, text = self._execute(
                ["sh", f"./{SCRIPT}"],
                Path(scratch),
                {"KEEP": str(kept), "MLIR_OPT": str(self._tool), "TMPDIR": scratch},
                self.seconds * (2 * len(steps) + 1),
            )
            verdicts = read_verdicts(text)
            results = [
                StepResult(step, verdicts.get(number) or self._verdict(kept, number, Path(scratch)))
                for number, step in enumerate(steps, 1)
            ]
        return results, status == 0

    def session(self, script: str, command: PortableCommand, python: str) -> tuple[bool, str]:
        """Run a script of actiondbg's shell.

        Returns:
            Whether all commands succeeded, and the text on stdout and stderr.
        """
        words = [os.devnull if word == OUT else word for word in command.args]
        options = ["--batch", "-nx", "--no-color", "--tool-stdout", os.devnull, "-x", script]
        line = [python, "-m", "actiondbg", *options, "--", str(self._tool), *words]
        line = [*_JOINED, *line]
        with self._scratch() as scratch:
            stdin = self._folder / command.source if command.piped and command.source else None
            status, text = self._execute(line, Path(scratch), {}, self.seconds, stdin)
        return status == 0, text

    def pipelines(self, command: PortableCommand) -> list[str]:
        """Return the pipelines that the tool runs; empty if it cannot dump them."""
        words = [word for word in command.args if word not in ("-o", OUT, command.source)]
        line = [str(self._tool), *words, "--dump-pass-pipeline", "-o", os.devnull]
        with self._scratch() as scratch:
            empty = Path(scratch, "empty.mlir")
            empty.write_text("module {}\n")
            _, text = self._execute([*_JOINED, *line], Path(scratch), {}, self.seconds, empty)
        return dumped_pipelines(text)

    def _scratch(self) -> tempfile.TemporaryDirectory[str]:
        """Make a temporary directory, in one that is removed even if this process is killed."""
        return tempfile.TemporaryDirectory(prefix="repro-", dir=self._setup.directory)

    def _execute(
        self,
        words: Sequence[str],
        scratch: Path,
        variables: Mapping[str, str],
        seconds: float,
        stdin: Path | None = None,
    ) -> tuple[int | None, str]:
        """Run a command in the folder; return its status (None: timed out) and its output."""
        environment = [f"{name}={value}" for name, value in variables.items()]
        if self._environment is not None:
            given = (f"{name}={value}" for name, value in self._environment.items())
            environment = ["-i", *given, *environment]
        completed = CommandRunner(scratch).run(
            ["env", *environment, *words], stdin, seconds, self._folder
        )
        return completed.status, completed.output.read_text(encoding="utf-8", errors="replace")

    def _verdict(self, kept: Path, number: int, scratch: Path) -> Verdict:
        """Judge the output of a step by the oracle."""
        try:
            status = int((kept / f"{number}.status").read_text())
        except (OSError, ValueError):
            return "untestable"  # the script ended before this step
        signal = status - _SIGNALLED if status > _SIGNALLED else 0
        stop = exit_of(-signal if signal else status, True, None, None)
        evidence = Evidence(kept / f"{number}.out", kept / f"{number}.err", stop)
        try:
            return self._oracle.judge(evidence, CommandRunner(scratch), self._setup).verdict
        except ActiondbgError:
            return "untestable"
