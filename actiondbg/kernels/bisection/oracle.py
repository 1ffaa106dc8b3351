"""The oracle of a wrong kernel, and the file from which it judges an output."""

from __future__ import annotations

import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import msgspec

from actiondbg.bisection.command_runner import CommandRunner
from actiondbg.bisection.oracles import Command, OracleSetup, shortened
from actiondbg.bisection.verdict import Judgement
from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.kernels.errors import CompileError
from actiondbg.kernels.generated import check_version, from_json, to_json
from actiondbg.kernels.model import Configuration, Dispatch
from actiondbg.kernels.operations.registry import find_kind
from actiondbg.kernels.profiling.profiler import TimeLimit
from actiondbg.kernels.providers.provider import StepwiseProvider
from actiondbg.kernels.providers.steps import CompilationSteps
from actiondbg.kernels.results.entry import TIME_VERDICTS, Verdict, Verification
from actiondbg.kernels.verification.verifier import DispatchVerifier
from actiondbg.support.atomic_write import write_whole
from actiondbg.support.scratch_directory import scratch_directory

_SYMPTOM = "wrong kernel"
_SECONDS = 120.0  # of a command of a compilation, unless the bisection has a limit
# A kernel that writes out of bounds crashes in some runs only; it is right if all of these are.
_RUNS = 5
_VERSION = 1


@dataclass(frozen=True)
class WrongKernel:
    """A kernel that is wrong, and how.

    Attributes:
        compiler: its identity, which verdicts depend on.
        limit: of its time, if that is what is wrong.
    """

    dispatch: Dispatch
    verdict: Verdict
    compiler: str
    limit: TimeLimit | None = None


@dataclass(frozen=True)
class _Stored:
    version: int
    kind: str
    operation: msgspec.Raw
    configuration: Configuration
    verdict: Verdict
    compiler: str
    limit: TimeLimit | None = None


def write_kernel(path: Path, kernel: WrongKernel) -> None:
    """Write the file."""
    operation, configuration = kernel.dispatch.operation, kernel.dispatch.configuration
    fields = msgspec.Raw(to_json(operation))
    how = (kernel.verdict, kernel.compiler, kernel.limit)
    stored = _Stored(_VERSION, operation.kind, fields, configuration, *how)
    write_whole(path, to_json(stored))


def read_kernel(path: Path) -> WrongKernel:
    """Read the file.

    Raises:
        ActiondbgError: it is missing, not such a file, or of another version.
    """
    try:
        content = path.read_bytes()
        check_version(path, content, _VERSION, "bisect the kernel again")
        stored = from_json(content, _Stored)
        operation = from_json(bytes(stored.operation), find_kind(stored.kind))
    except OSError as error:
        raise ActiondbgError(f"{str(path)!r} cannot be read ({error.strerror}).") from error
    except (msgspec.DecodeError, UsageError) as error:
        raise ActiondbgError(
            f"{str(path)!r} does not describe a wrong kernel ({error}): take kernel.json of the "
            "folder of its bisection."
        ) from error
    dispatch = Dispatch(operation, stored.configuration)
    return WrongKernel(dispatch, stored.verdict, stored.compiler, stored.limit)


class KernelJudge:
    """Judges outputs of the configured step of a wrong kernel."""

    def __init__(
        self, kernel: WrongKernel, provider: StepwiseProvider, verifier: DispatchVerifier
    ) -> None:
        self.kernel = kernel
        self._provider = provider
        self._verifier = verifier
        self._fails = kernel.verdict == "NOT COMPILED"

    def judge(self, output: Path, seconds: float | None = None) -> Judgement:
        """Judge an output; may be called from several threads.

        Args:
            output: in the place of what the configured step wrote.
            seconds: the time limit of a command of the compilation.
        """
        dispatch = self.kernel.dispatch
        with scratch_directory("kernel") as folder:
            steps = CompilationSteps(folder, seconds or _SECONDS)
            try:
                compiled = self._provider.finish(dispatch, folder, steps, output.absolute())
            except CompileError as error:
                reason = f"the kernel cannot be compiled: {error}"
                return Judgement("bad" if self._fails else "untestable", reason)
            if self._fails:
                return Judgement("good", "the kernel can be compiled")
            runs = 1 if self.kernel.verdict in ("FAILED", *TIME_VERDICTS) else _RUNS
            for _ in range(runs - 1):
                verification = self._verifier.verify(dispatch, compiled)
                if verification.verdict != "SUCCESS":
                    return self._judgement(verification)
            return self._judgement(self._verifier.verify(dispatch, compiled))

    def _judgement(self, verification: Verification) -> Judgement:
        verdict, detail = verification.verdict, verification.detail
        if verdict == "SUCCESS":
            return Judgement("good", "the kernel is right")
        if self.kernel.verdict in TIME_VERDICTS and verdict != self.kernel.verdict:
            return Judgement("untestable", f"the kernel is {verdict.lower()}: {detail}")
        if verdict == "FAILED":
            count = f"{verification.wrong:,} of {verification.total:,} elements are wrong"
            return Judgement("bad", count if verification.wrong else detail)
        is_complete = self._provider.configured_step(self.kernel.dispatch).compiles
        if (verdict == "CRASHED" and not is_complete) or verdict == self.kernel.verdict:
            # Each pass alone has to keep a kernel right: it is at fault whatever is skipped.
            return Judgement("bad", detail or f"the kernel is {verdict.lower()}")
        # Without its optimizations, a kernel may need more time or memory than it is allowed.
        return Judgement("untestable", detail or f"the kernel is {verdict.lower()}")


class KernelOracle(Command):
    """The oracle of a bisection: ``KernelJudge`` in this process, and as a command in a script."""

    def __init__(self, judge: KernelJudge, file: Path) -> None:
        program = (
            ["actiondbg"] if shutil.which("actiondbg") else [sys.executable, "-m", "actiondbg"]
        )
        super().__init__(f"{shlex.join([*program, 'kernels', 'judge', str(file)])} {{}}")
        self._judge = judge
        verdict = judge.kernel.verdict
        self.symptom = _SYMPTOM
        if verdict in TIME_VERDICTS:
            self.symptom = f"kernel that is {verdict.lower()}"
            self.remedy = "The kernel's time is near the limit: choose a limit farther from it."

    def judge_output(self, output: Path, commands: CommandRunner, setup: OracleSetup) -> Judgement:
        """Judge without a process of its own for Python, which takes most of the time."""
        judgement = self._judge.judge(output, setup.seconds)
        return Judgement(judgement.verdict, shortened(judgement.reason))
