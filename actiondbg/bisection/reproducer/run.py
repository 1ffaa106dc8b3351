"""Run a reproducer's scripts, read their verdicts, and search in a schedule by them."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from actiondbg.analysis.textual_pipelines import dumped_pipelines
from actiondbg.bisection.command_runner import STDERR, STDOUT, Cancelled, CommandRunner
from actiondbg.bisection.evaluator import content_digest
from actiondbg.bisection.folder import FolderFile
from actiondbg.bisection.minimizer import Interval
from actiondbg.bisection.oracles import Oracle, OracleSetup, ShellJudge, TrialFiles
from actiondbg.bisection.reproducer.scripts import (
    OUT,
    ScriptStep,
    make_script,
    read_verdicts,
)
from actiondbg.bisection.reproducer.strategies import PortableCommand
from actiondbg.bisection.verdict import Verdict
from actiondbg.bisection.verdict_store import VerdictStore
from actiondbg.errors import ActiondbgError, FileNotWritten
from actiondbg.ir.tree.outline import Printed, find, operations_in
from actiondbg.process.stop import exit_of
from actiondbg.support.atomic_write import executable_mode
from actiondbg.tool.address_layout import address_layout

_SECONDS = 600.0  # the time limit of one run of the tool, if the user gives none
_JOINED = ("sh", "-c", 'exec "$@" 2>&1', "sh")  # joins stderr with stdout
_KEPT = "kept"  # the directory of the outputs
_POLL_SECONDS = 0.1
_LONGEST_ERRORS = 20_000  # characters of stderr that are kept of a tool that died
_SIGNALLED = 128  # the shell's exit status is this plus the signal


@dataclass(frozen=True)
class StepResult:
    """The result of a step.

    Args:
        signal: the signal that the tool died of, 0 for none.
        errors: the beginning of what a tool that died wrote to stderr.
    """

    step: ScriptStep
    verdict: Verdict
    signal: int = 0
    errors: str = ""

    @property
    def confirmed(self) -> bool:
        """Whether the verdict is the expected one."""
        return self.verdict == self.step.expected


@dataclass(eq=False)
class ReproducerRun:
    """Runs the scripts of a reproducer in its folder.

    Args:
        oracle: judges outputs that no shell command can judge.
        environment: the tool's; None for this process's.
        jobs: how many outputs are judged at a time.
        directory: of a program, which runs there; None for a tool, which runs in the folder.

    Attributes:
        judged: how often an output was judged.
        tries: how often a run is repeated with random addresses; 1 for fixed ones.
    """

    folder: Path
    tool: Path
    oracle: Oracle
    setup: OracleSetup
    environment: Mapping[str, str] | None
    verdicts: VerdictStore
    jobs: int = 1
    directory: Path | None = None
    judged: int = field(default=0, init=False)
    tries: int = field(default=1, init=False)

    def __post_init__(self) -> None:
        self.seconds = self.setup.seconds or _SECONDS
        self._known: dict[tuple[str, ...], Verdict | None] = {}
        self._tried: dict[tuple[str, ...], StepResult] = {}
        self._runners: list[CommandRunner] = []
        self._lock = threading.Lock()  # of ``judged``

    def known_verdicts(self, steps: Sequence[ScriptStep]) -> list[Verdict | None]:
        """Run steps, and return the verdicts on those outputs that need not be judged again.

        Returns:
            For each step the verdict that a trial with the same output had, or "untestable" if
            the tool ended with an error; None if its output has to be judged.
        """
        new = [step for step in steps if step.key not in self._known]
        self._in_threads(self._look_up, new, os.cpu_count() or 1)
        return [self._known.get(step.key) for step in steps]

    def try_steps(self, steps: Sequence[ScriptStep], judge: ShellJudge) -> list[StepResult]:
        """Run and judge steps; only those that were not judged yet are run."""
        new = [step for step in steps if step.key not in self._tried]

        def attempt(step: ScriptStep, scratch: Path) -> None:
            self._tried[step.key] = self._attempt(step, judge, scratch)

        self._in_threads(attempt, new, self.jobs)
        return [replace(self._tried[step.key], step=step) for step in steps]

    def tried(self, steps: Sequence[ScriptStep]) -> list[StepResult]:
        """Return the results of those steps that ``try_steps`` has judged, or that are known."""
        found: list[StepResult] = []
        for step in steps:
            words = step.key
            verdict = self._known.get(words)
            if words in self._tried:
                found.append(replace(self._tried[words], step=step))
            elif verdict is not None:
                found.append(StepResult(step, verdict))
        return found

    def forget_verdicts(self) -> None:
        """Forget the verdicts of ``try_steps``: another judge is tried."""
        self._tried.clear()

    def write(
        self,
        steps: Sequence[ScriptStep],
        judge: ShellJudge,
        head: Sequence[str],
        name: str = FolderFile.SCRIPT,
    ) -> None:
        """Write a script, by default repro.sh; raises FileNotWritten."""
        script = self.folder / name
        try:
            text = make_script(
                head, steps, judge, self.tool, self.seconds, self.tries, self.directory
            )
            script.write_text(text, encoding="utf-8", errors="surrogateescape")
            script.chmod(executable_mode(script))
        except OSError as error:
            raise FileNotWritten(
                f"The script {str(script)!r} cannot be written ({error.strerror}): "
                "is there room left on the disk?"
            ) from error

    def _attempt(self, step: ScriptStep, judge: ShellJudge, scratch: Path) -> StepResult:
        """Run and judge a step by a script of its own, which is removed; see ``write``."""
        name = f"attempt-{os.urandom(8).hex()}.sh"
        try:
            self.write([step], judge, ["An attempt."], name)
            _, text = self._execute(
                ["sh", f"./{name}"],
                scratch,
                {
                    "KEEP": str(scratch / _KEPT),
                    "MLIR_OPT": str(self.tool),
                    "TMPDIR": os.fspath(scratch),
                },
                self.seconds * (2 * self.tries + 1),
                runner=self._new_runner(scratch),
            )
        finally:
            (self.folder / name).unlink(missing_ok=True)  # the user's test may remove it
        verdict, evidence = read_verdicts(text).get(1), _evidence(scratch / _KEPT)
        if verdict is None:
            verdict = self._verdict(evidence, scratch)
        elif evidence is not None and self.oracle.judges_output(evidence.stop):
            with self._lock:
                self.judged += 1
        return StepResult(step, verdict, *_death(evidence))

    def start_session(
        self, script: str, command: PortableCommand, python: str
    ) -> Callable[[], tuple[bool, str]]:
        """Start a script of actiondbg's shell, beside other runs.

        Returns:
            A function that waits for its end, and returns whether all commands succeeded, and the
            text on stdout and stderr.
        """
        words = [os.devnull if word == OUT else word for word in command.args]
        options = ["--batch", "-nx", "--no-color", "--tool-stdout", os.devnull]
        # A crash must not leave a file here.
        options += ["-ex", "set reproducer-directory off", "-x", str(self.folder / script)]
        line = [python, "-m", "actiondbg", *options, "--", str(self.tool), *words]
        line = [*_JOINED, *line]
        stdin = self.folder / command.source if command.piped and command.source else None
        ended: list[tuple[int | None, str]] = []
        scratch = Path(tempfile.mkdtemp(prefix="session-", dir=self.setup.directory))
        runner = self._new_runner(scratch)

        def work() -> None:
            with contextlib.suppress(Cancelled):
                ended.append(
                    self._execute(line, scratch, {}, self.seconds, stdin, runner, command.base)
                )

        def wait() -> tuple[bool, str]:
            self._join([thread])
            status, text = ended[0] if ended else (None, "")
            return status == 0, text

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        return wait

    def close(self) -> None:
        """End what is still running."""
        for runner in self._runners:
            runner.cancel()

    def pipelines(self, command: PortableCommand) -> list[str]:
        """Return the pipelines that the tool runs; empty if it cannot dump them."""
        words = [word for word in command.args if word not in ("-o", OUT, command.source)]
        line = [str(self.tool), *words, "--dump-pass-pipeline", "-o", os.devnull]
        with self._scratch() as scratch:
            empty = Path(scratch, "empty.mlir")
            empty.write_text("module {}\n")
            _, text = self._execute([*_JOINED, *line], Path(scratch), {}, self.seconds, empty)
        return dumped_pipelines(text)

    def _scratch(self) -> tempfile.TemporaryDirectory[str]:
        """Make a temporary directory, in one that is removed even if this process is killed."""
        return tempfile.TemporaryDirectory(prefix="repro-", dir=self.setup.directory)

    def _execute(
        self,
        words: Sequence[str],
        scratch: Path,
        variables: Mapping[str, str],
        seconds: float,
        stdin: Path | None = None,
        runner: CommandRunner | None = None,
        base: Path | None = None,
    ) -> tuple[int | None, str]:
        """Run a command; return its status (None: timed out) and its output.

        It runs in a directory, by default the folder.
        """
        environment = [f"{name}={value}" for name, value in variables.items()]
        if self.environment is not None:
            given = (f"{name}={value}" for name, value in self.environment.items())
            environment = ["-i", *given, *environment]
        with address_layout(randomize=self.tries > 1):
            completed = (runner or CommandRunner(scratch)).run(
                ["env", *environment, *words], stdin, seconds, base or self.folder
            )
        return completed.status, completed.output.read_text(encoding="utf-8", errors="replace")

    def _new_runner(self, scratch: Path) -> CommandRunner:
        """Return a runner that ``close`` cancels."""
        runner = CommandRunner(scratch)
        self._runners.append(runner)
        return runner

    def _in_threads(
        self, work: Callable[[ScriptStep, Path], None], steps: Sequence[ScriptStep], jobs: int
    ) -> None:
        """Call a function with each step and a directory, a number of them at a time."""
        slots = threading.BoundedSemaphore(jobs)
        failures: list[BaseException] = []

        def run(step: ScriptStep, directory: Path) -> None:
            with slots, contextlib.suppress(Cancelled):
                try:
                    directory.mkdir()
                    work(step, directory)
                except BaseException as error:  # raised again below
                    failures.append(error)

        with self._scratch() as scratch:
            threads = [
                threading.Thread(target=run, args=(step, Path(scratch, str(number))), daemon=True)
                for number, step in enumerate(steps)
            ]
            try:
                for thread in threads:
                    thread.start()
            finally:
                self._join(threads)
        if failures:
            raise failures[0]

    def _join(self, threads: Sequence[threading.Thread]) -> None:
        """Wait for threads; an exception such as KeyboardInterrupt ends what they run."""
        try:
            for thread in threads:
                while thread.is_alive():
                    thread.join(_POLL_SECONDS)  # a signal that another thread gets wakes no join
        except BaseException:
            self.close()
            raise

    def _look_up(self, step: ScriptStep, directory: Path) -> None:
        self._known[step.key] = self._run_step(step, directory)

    def _run_step(self, step: ScriptStep, directory: Path) -> Verdict | None:
        """Run a step; return the verdict on its output, if no oracle has to be run for it."""
        output = directory / "output"
        words = [os.fspath(output) if word == OUT else word for word in step.args]
        stdin = self.folder / step.piped if step.piped else None
        runner = self._new_runner(directory)
        status, _ = self._execute(
            [os.fspath(self.tool), *words], directory, {}, self.seconds, stdin, runner
        )
        if status is None or status < 0 or self.oracle.is_event:
            return None if self.oracle.is_event else "untestable"
        stop = exit_of(status, True, None, None)
        written = output if output.exists() and output.stat().st_size else directory / STDOUT
        return self._known_verdict(TrialFiles(written, directory / STDERR, stop))

    def _verdict(self, evidence: TrialFiles | None, scratch: Path) -> Verdict:
        """Judge the output of an attempt by the oracle, if no trial had such an output."""
        if evidence is None:
            return "untestable"  # the script ended before this step
        known = self._known_verdict(evidence)
        if known is not None:
            return known
        with self._lock:
            self.judged += 1
        try:
            return self.oracle.judge(evidence, CommandRunner(scratch), self.setup).verdict
        except ActiondbgError:
            return "untestable"

    def _known_verdict(self, evidence: TrialFiles) -> Verdict | None:
        """Return the verdict on a step's output, if no oracle has to be run for it."""
        if self.oracle.is_event:
            return None
        if not self.oracle.judges_output(evidence.stop):
            return "untestable"
        judgement = self.verdicts.get_output(content_digest(evidence.output))
        return None if judgement is None else judgement.verdict


def _evidence(kept: Path) -> TrialFiles | None:
    """Return what an attempt left; None if the script ended before its step."""
    try:
        status = int((kept / "1.status").read_text())  # as the shell gives it
    except (OSError, ValueError):
        return None
    if status > _SIGNALLED:
        status = _SIGNALLED - status
    return TrialFiles(kept / "1.out", kept / "1.err", exit_of(status, True, None, None))


def _death(evidence: TrialFiles | None) -> tuple[int, str]:
    """Return the signal that ended a step, and what the tool wrote to stderr before."""
    status = evidence.stop.status if evidence is not None and evidence.stop is not None else None
    if evidence is None or status is None or status >= 0:
        return 0, ""
    try:
        with evidence.errors.open(encoding="utf-8", errors="replace") as file:
            return -status, file.read(_LONGEST_ERRORS)
    except OSError:
        return -status, ""


# --- the schedule of the transform dialect in a module: its operations, and its beginnings ---


_OPTION = re.compile(r"transform-interpreter\{[^}]*\bentry-point=(?P<name>[^\s}]+)")
_ENTRY = "__transform_main"


@dataclass(frozen=True)
class TransformSchedule:
    """A schedule in the text of a module.

    Args:
        text: the module.
        operations: the operations of the schedule, without the terminator.
        end: where the terminator begins.
    """

    text: str
    operations: Sequence[Printed]
    end: int

    def beginning(self, count: int) -> str:
        """Return the module with only the first operations of the schedule."""
        cut = self.operations[count].begin if count < len(self.operations) else self.end
        return self.text[:cut] + self.text[self.end :]

    def name(self, number: int) -> str:
        """Return the name of an operation, numbered from 1."""
        return self.operations[number - 1].name


def read_schedule(text: str, pipeline: str) -> TransformSchedule | None:
    """Return the schedule that a pass of a pipeline interprets, in a module as MLIR prints it.

    Args:
        pipeline: the pass with its options.

    Returns:
        None if the pass interprets none, or none in this module.
    """
    if "transform-interpreter" not in pipeline:
        return None
    option = _OPTION.search(pipeline)
    sequences = find(text, "transform.named_sequence", option["name"] if option else _ENTRY)
    operations = list(operations_in(text, sequences[0])) if sequences else []
    if not operations or operations[-1].name != "transform.yield":
        return None
    return TransformSchedule(text, operations[:-1], operations[-1].begin)


class ScheduleCulprit(NamedTuple):
    """The operation of a schedule that turns good to bad.

    Attributes:
        sentence: names it.
        results: the runs without it and with it; both end the schedule there.
        files: the names of their modules in the folder, and what they are.
    """

    sentence: str
    results: list[StepResult]
    files: dict[str, str]


def find_in_schedule(
    folder: Path,
    source: str,
    pipeline: str,
    bad: ScriptStep,
    try_step: Callable[[ScriptStep], StepResult],
) -> ScheduleCulprit | None:
    """Search for the operation of a schedule whose interpretation turns good to bad.

    The schedule is cut off after an operation, so that none needs what is left out.

    Args:
        folder: has the module, and gets the modules of the runs.
        source: the name of the module before the pass.
        pipeline: the pass that interprets the schedule.
        bad: a run of the module that is bad.
        try_step: runs and judges a step.

    Returns:
        None if there is no schedule in the module, or not one operation of it is the culprit.
    """
    text = (folder / source).read_text(encoding="utf-8", errors="surrogateescape")
    schedule = read_schedule(text, pipeline)
    if schedule is None or not schedule.operations:
        return None
    total = len(schedule.operations)
    tried: dict[int, StepResult] = {}
    prefix = _free_prefix(folder)

    def module(count: int) -> str:
        return f"{prefix}-{count}.mlir"

    def verdict(count: int) -> Verdict:
        name = module(count)
        (folder / name).write_text(
            schedule.beginning(count), encoding="utf-8", errors="surrogateescape"
        )
        args = [name if word == source else word for word in bad.args]
        title = f"{name}, {source} with only the first {count} of {total} operations"
        if not count:
            title = f"{name}, {source} with no operation in its schedule"
        tried[count] = try_step(replace(bad, title=title, args=args))
        return tried[count].verdict

    interval = Interval(0, total)
    if verdict(0) == "good" and verdict(total) == "bad":
        while (count := interval.next()) is not None:
            interval.add(count, verdict(count))
    is_found = interval.is_narrow and len(tried) > 1 and tried[interval.bad].verdict == "bad"
    kept = (interval.good, interval.bad) if is_found else ()
    for count in tried.keys() - set(kept):
        (folder / module(count)).unlink()
    if not is_found:
        return None
    good, wrong = tried[interval.good], tried[interval.bad]
    return ScheduleCulprit(
        f"In its schedule, operation {interval.bad} of {total} turns good to bad: "
        f"{schedule.name(interval.bad)}.",
        [replace(good, step=replace(good.step, expected="good")), wrong],
        {module(count): f"{source} with {count} operations in its schedule" for count in kept},
    )


def _free_prefix(folder: Path) -> str:
    """Return a prefix for the names of modules, with which no copy of a user's file begins."""
    prefix = "schedule"
    while any(folder.glob(f"{prefix}-*")):
        prefix = f"cut-{prefix}"
    return prefix
