"""Running a reproducer's script, and reading what it showed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from actiondbg.bisection.command_runner import Runner
from actiondbg.bisection.oracles.oracle import Evidence, Oracle, Surroundings
from actiondbg.bisection.reproducer.pipelines import dumped_pipelines
from actiondbg.bisection.reproducer.portable import OUT, Command
from actiondbg.bisection.reproducer.script import Judge, Step, make_script, read_verdicts
from actiondbg.bisection.verdict import Verdict
from actiondbg.errors import ActiondbgError, FileNotWritten
from actiondbg.process.stop import exit_of
from actiondbg.support.atomic_directory import executable_mode

SCRIPT = "repro.sh"
_SECONDS = 600.0  # for one run of the tool, when no limit is given
_JOINED = ("sh", "-c", 'exec "$@" 2>&1', "sh")  # stderr goes where stdout does
_SIGNALLED = 128  # the shell's exit status of a command that died of a signal, less the signal


@dataclass(frozen=True)
class Shown:
    """What a step showed.

    Args:
        step: which.
        verdict: of its output.
    """

    step: Step
    verdict: Verdict

    @property
    def confirmed(self) -> bool:
        """Whether it is as expected."""
        return self.verdict == self.step.wanted


class Show:
    """Runs scripts in the folder of the reproducer.

    Args:
        folder: it.
        tool: the stock tool.
        oracle: judges where the shell cannot.
        around: the oracle's surroundings.
        environment: of the tool; None for ours.
    """

    def __init__(
        self,
        folder: Path,
        tool: Path,
        oracle: Oracle,
        around: Surroundings,
        environment: Mapping[str, str] | None,
    ) -> None:
        self.seconds = around.seconds or _SECONDS
        self._folder, self._tool = folder, tool
        self._oracle, self._around = oracle, around
        self._environment = environment
        self._known: dict[tuple[str, ...], Verdict] = {}

    def try_steps(self, steps: Sequence[Step], judge: Judge) -> list[Shown]:
        """Run what has not been run yet, and tell what each step showed."""
        new = [step for step in steps if tuple(step.args) not in self._known]
        if new:
            for shown in self.run(new, judge, ["An attempt."])[0]:
                self._known[tuple(shown.step.args)] = shown.verdict
        return [Shown(step, self._known[tuple(step.args)]) for step in steps]

    def forget(self) -> None:
        """Run everything again: another judge will judge it."""
        self._known.clear()

    def run(
        self, steps: Sequence[Step], judge: Judge, head: Sequence[str]
    ) -> tuple[list[Shown], bool]:
        """Write the script and run it.

        Returns:
            What each step showed, and whether the script said that all are as expected.

        Raises:
            FileNotWritten: it cannot be written.
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
            done, text = self._execute(
                ["sh", f"./{SCRIPT}"],
                Path(scratch),
                {"KEEP": str(kept), "MLIR_OPT": str(self._tool), "TMPDIR": scratch},
                self.seconds * (2 * len(steps) + 1),
            )
            verdicts = read_verdicts(text)
            shown = [
                Shown(step, verdicts.get(number) or self._judged(kept, number, Path(scratch)))
                for number, step in enumerate(steps, 1)
            ]
        return shown, done == 0

    def session(self, script: str, command: Command, python: str) -> tuple[bool, str]:
        """Run a script of actiondbg's shell.

        Returns:
            Whether all of its commands succeeded, and what it wrote to stdout and stderr.
        """
        words = [os.devnull if word == OUT else word for word in command.args]
        options = ["--batch", "-nx", "--no-color", "--tool-stdout", os.devnull, "-x", script]
        line = [python, "-m", "actiondbg", *options, "--", str(self._tool), *words]
        line = [*_JOINED, *line]
        with self._scratch() as scratch:
            stdin = self._folder / command.source if command.piped and command.source else None
            status, text = self._execute(line, Path(scratch), {}, self.seconds, stdin)
        return status == 0, text

    def pipelines(self, command: Command) -> list[str]:
        """Return all that the tool runs, as pipelines; none if it cannot tell."""
        words = [word for word in command.args if word not in ("-o", OUT, command.source)]
        line = [str(self._tool), *words, "--dump-pass-pipeline", "-o", os.devnull]
        with self._scratch() as scratch:
            empty = Path(scratch, "empty.mlir")
            empty.write_text("module {}\n")
            _, text = self._execute([*_JOINED, *line], Path(scratch), {}, self.seconds, empty)
        return dumped_pipelines(text)

    def _scratch(self) -> tempfile.TemporaryDirectory[str]:
        """Make a directory for a moment, in one that is removed after us if we are killed."""
        return tempfile.TemporaryDirectory(prefix="repro-", dir=self._around.directory)

    def _execute(
        self,
        words: Sequence[str],
        scratch: Path,
        variables: Mapping[str, str],
        seconds: float,
        stdin: Path | None = None,
    ) -> tuple[int | None, str]:
        """Run a command in the folder; return its status, None when it was late, and its output."""
        environment = [f"{name}={value}" for name, value in variables.items()]
        if self._environment is not None:
            given = (f"{name}={value}" for name, value in self._environment.items())
            environment = ["-i", *given, *environment]
        runner = Runner(scratch)
        done = runner.run(["env", *environment, *words], stdin, seconds, self._folder)
        return done.status, done.output.read_text(encoding="utf-8", errors="replace")

    def _judged(self, kept: Path, number: int, scratch: Path) -> Verdict:
        """Judge what a step left, as the shell could not."""
        try:
            status = int((kept / f"{number}.status").read_text())
        except (OSError, ValueError):
            return "untestable"  # the script did not come so far
        signal = status - _SIGNALLED if status > _SIGNALLED else 0
        stop = exit_of(-signal if signal else status, True, None, None)
        evidence = Evidence(kept / f"{number}.out", kept / f"{number}.err", stop)
        try:
            return self._oracle.judge(evidence, Runner(scratch), self._around).verdict
        except ActiondbgError:
            return "untestable"
