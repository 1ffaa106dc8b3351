"""Oracles: each judges what a trial left, good, bad or untestable."""

from __future__ import annotations

import functools
import shlex
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, get_args

from actiondbg import protocol
from actiondbg.bisection.command_line import is_file
from actiondbg.bisection.command_runner import Completed, Runner
from actiondbg.bisection.verdict import Judgement, Verdict
from actiondbg.errors import OracleError
from actiondbg.process.stop import Stop
from actiondbg.support.globs import check_glob

_UNTESTABLE = 125  # as in git bisect
_SHOWN = 300  # characters of a reason

Predicate = Callable[[Path], "bool | Verdict"]


class Evidence(NamedTuple):
    """What a trial left.

    Attributes:
        output: what the tool wrote: the file of its -o, or its stdout.
        errors: what it wrote to its stderr.
        stop: how it ended, or where it was caught; None when it did not end in time.
    """

    output: Path
    errors: Path
    stop: Stop | None


class Surroundings(NamedTuple):
    """What an oracle may need to know of the bisection.

    Attributes:
        tool: the tool's file.
        argv: its command line.
        input: its input, or None if it is not known.
        cwd: where the tool and the commands of the oracle run; None for here.
        directory: for the files of the oracle; it is there as long as the bisection runs.
        seconds: how long a command of the oracle may take; None for as long as it does.
    """

    tool: Path
    argv: list[str]
    input: Path | None
    cwd: Path | None
    directory: Path
    seconds: float | None


class Oracle(ABC):
    """Judges what trials leave: this one by the tool's end alone, and those below otherwise.

    Attributes:
        catches: the events at which a trial is over, as it is bad.
        is_event: it looks for something that happens, not at an output: a tool that ends with an
            error before may still be called good.
        is_lenient: such an end is good.
    """

    catches: tuple[protocol.Catch, ...] = ()
    is_event = False
    is_lenient = False

    @abstractmethod
    def words(self) -> str:
        """Return what it is, as an option of the command line."""

    def files(self, cwd: Path) -> list[Path]:
        """Return the files that it judges by, which are there."""
        return []

    def prepare(self, around: Surroundings) -> None:
        """Make ready for ``judge``; raises OracleError when it cannot judge."""
        return

    def judge(self, evidence: Evidence, runner: Runner, around: Surroundings) -> Judgement:
        """Judge what a trial left.

        Args:
            evidence: what it left.
            runner: for commands.
            around: what ``prepare`` got.

        Raises:
            OracleError: it cannot judge.
        """
        stop = evidence.stop
        if stop is None:
            return Judgement("untestable", "the tool did not end in time")
        if stop.when != "exit":
            return Judgement("bad", shortened(stop.message or "it was caught"))
        if self.sees_end(stop):
            return Judgement("bad", shortened(stop.message or "the tool crashed"))
        if stop.status != 0:
            said = shortened(_last_words(evidence.errors))
            verdict = "good" if self.is_lenient and stop.reason == "exited" else "untestable"
            return Judgement(verdict, f"{(stop.message or '').rstrip('.')}{said and ': '}{said}")
        return self.judge_output(evidence.output, runner, around)

    def sees_end(self, stop: Stop) -> bool:
        """Tell whether this end of the tool is what it looks for."""
        return False

    def judge_output(self, output: Path, runner: Runner, around: Surroundings) -> Judgement:
        """Judge the output of a tool that ended well; see ``judge``."""
        return Judgement("good", "the tool ended well")


@dataclass
class Command(Oracle):
    """``--test CMD``: a command of the shell, in which {} is the output file.

    It has the output on its standard input too. Exit status 0 is good, 1 to 124 bad, and 125
    untestable, as in git bisect.
    """

    command: str

    def words(self) -> str:
        return f"--test {shlex.quote(self.command)}"

    def files(self, cwd: Path) -> list[Path]:
        try:
            words = shlex.split(self.command)
        except ValueError:
            return []
        return [cwd / word for word in words if word and is_file(cwd / word)]

    def judge_output(self, output: Path, runner: Runner, around: Surroundings) -> Judgement:
        command = self.command.replace("{}", shlex.quote(str(output)))
        done = _run(runner, command, output, around)
        if done.status is None:
            return _late(around)
        if done.status < 0 or done.status > _UNTESTABLE:
            raise OracleError(f"The test {self.command!r} cannot be run: {_why(done)}.")
        said = shortened(done.errors)
        reason = f"the test ended with status {done.status}{said and ': '}{said}"
        if done.status == _UNTESTABLE:
            return Judgement("untestable", reason)
        return Judgement("bad" if done.status else "good", reason)


@dataclass
class FileCheck(Oracle):
    """``--filecheck FILE``: the output passes the checks of a file, or not."""

    file: Path

    def words(self) -> str:
        return f"--filecheck {shlex.quote(str(self.file))}"

    def files(self, cwd: Path) -> list[Path]:
        return [cwd / self.file] if is_file(cwd / self.file) else []

    def prepare(self, around: Surroundings) -> None:
        if not is_file(self._file(around)):
            raise OracleError(f"There is no file {str(self.file)!r} with checks: name another.")

    def judge_output(self, output: Path, runner: Runner, around: Surroundings) -> Judgement:
        command = [sys.executable, "-m", "filecheck", "--input-file", str(output)]
        done = _run(runner, [*command, str(self._file(around))], output, around)
        if done.status is None:
            return _late(around)
        if done.status == 0:
            return Judgement("good", "the checks pass")
        # It ends with 1 for checks that cannot be read as well.
        if done.status != 1 or "Traceback" in done.errors or "Malformed" in done.errors:
            said = done.errors.splitlines()
            raise OracleError(
                f"The checks in {str(self.file)!r} cannot be run: "
                f"{shortened(said[-1] if 'Traceback' in done.errors else said[0])}"
                if said
                else f"filecheck cannot be run: {_why(done)}."
            )
        return Judgement("bad", shortened(done.errors.partition("\n")[0]))

    def _file(self, around: Surroundings) -> Path:
        return (around.cwd or Path.cwd()) / self.file


@dataclass
class Crash(Oracle):
    """``--crash``: bad when the tool dies of a signal."""

    is_event = True

    def words(self) -> str:
        return "--crash"

    def sees_end(self, stop: Stop) -> bool:
        return stop.reason == "crashed"


@dataclass
class Verify(Oracle):
    """``--verify``: bad when the verifier finds the IR broken."""

    catches = (protocol.Catch(kind="verify"),)
    is_event = True

    def words(self) -> str:
        return "--verify"


@dataclass
class Diagnostic(Oracle):
    """``--diagnostic GLOB``: bad when the tool emits a diagnostic whose text matches."""

    glob: str
    catches: tuple[protocol.Catch, ...] = field(init=False, default=())
    is_event = True

    def __post_init__(self) -> None:
        check_glob(self.glob, self.glob, 0)
        self.catches = (protocol.Catch(kind="diagnostic", glob=self.glob),)

    def words(self) -> str:
        return f"--diagnostic {shlex.quote(self.glob)}"


@dataclass
class Function(Oracle):
    """A predicate in Python: of the output file, True for good, or a verdict."""

    predicate: Predicate

    def words(self) -> str:
        function = self.predicate
        while isinstance(function, functools.partial):
            function = function.func
        module = getattr(function, "__module__", type(function).__module__)
        return f"{module}.{getattr(function, '__qualname__', type(function).__qualname__)}"

    def judge_output(self, output: Path, runner: Runner, around: Surroundings) -> Judgement:
        answer: object = self.predicate(output)
        if isinstance(answer, bool):
            return Judgement("good" if answer else "bad", f"the predicate returned {answer}")
        if answer not in get_args(Verdict):
            raise OracleError(
                f"The predicate {self.words()} returned {answer!r}, and has to return a bool, or "
                f"one of {', '.join(get_args(Verdict))}."
            )
        return Judgement(answer, f"the predicate returned {answer!r}")


def make_oracle(oracle: Oracle | Predicate | str) -> Oracle:
    """Return an oracle: a text is a command of the shell, see ``Command``."""
    if isinstance(oracle, Oracle):
        return oracle
    return Command(oracle) if isinstance(oracle, str) else Function(oracle)


# --- behind them --------------------------------------------------------------------


def _run(runner: Runner, command: str | list[str], output: Path, around: Surroundings) -> Completed:
    try:
        # The tools that stand beside the one under suspicion are those that it is judged with.
        return runner.run(command, output, around.seconds, around.cwd, around.tool.parent)
    except OSError as error:
        raise OracleError(f"{command!r} cannot be run ({error}): check the oracle.") from error


def _late(around: Surroundings) -> Judgement:
    return Judgement("untestable", f"the oracle did not end in {around.seconds:g} s")


def _why(done: Completed) -> str:
    status = done.status or 0
    said = shortened(done.errors)
    if status == 127 and not said:
        said = "the command was not found"
    how = f"it died of signal {-status}" if status < 0 else f"it ended with status {status}"
    meaning = "" if said else ", and has to end with 0 (good), 1 to 124 (bad) or 125 (untestable)"
    return f"{how}{said and ': '}{said.rstrip('.')}{meaning}"


def _last_words(errors: Path) -> str:
    try:
        with errors.open(encoding="utf-8", errors="replace") as file:
            return next((line for line in file if "error:" in line), "").strip()
    except OSError:
        return ""


def shortened(text: str) -> str:
    """Return a text in one line of a bounded length."""
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else text[:_SHOWN] + " ..."
