"""Oracles: each judges the output or the end of a trial as good, bad or untestable."""

from __future__ import annotations

import functools
import re
import shlex
import shutil
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, get_args

from actiondbg import protocol
from actiondbg.bisection.command_runner import CommandRunner, Completed, failure_text
from actiondbg.bisection.copied_files import CopiedFiles
from actiondbg.bisection.crash import crash_sentence
from actiondbg.bisection.verdict import Judgement, Milestone, Verdict
from actiondbg.errors import FileNotWritten, OracleError
from actiondbg.process.stop import Stop
from actiondbg.support.globs import check_glob
from actiondbg.support.scratch_directory import is_full
from actiondbg.tool.command_line import is_file

_PLACEHOLDER = "{}"
OUTPUT = "TOOL_OUTPUT"  # the environment variable of a test that names the output file
_UNTESTABLE = 125  # the exit status, as in git bisect
_SHOWN = 300  # characters of a reason
ENDED_WELL = '[ "$status" -eq 0 ] || return 125'  # in the function of a judge
KILLED = 137  # the exit status of limit after a timeout; a crash has another one

Predicate = Callable[[Path], bool | Verdict]


def with_variable(command: str, name: str) -> str:
    """Replace the placeholders in a shell command by an environment variable.

    Its value may have any characters: how the variable is quoted depends on the quotes around.
    """
    variables = {'"': f"${{{name}}}", "'": f"'\"${name}\"'"}
    parts: list[str] = []
    end = 0
    for place, quote in _placeholders(command):
        parts += [command[end:place], variables.get(quote, f'"${name}"')]
        end = place + len(_PLACEHOLDER)
    return "".join([*parts, command[end:]])


def _placeholders(command: str) -> Iterator[tuple[int, str]]:
    """Find the placeholders; yield their places, and the innermost quote or bracket around."""
    around = [""]  # open quotes, and the ends of open brackets
    place = 0
    while place < len(command):
        char, inner = command[place], around[-1]
        is_word_start = place == 0 or command[place - 1] in " \t\n;|&("
        if command.startswith(_PLACEHOLDER, place):
            yield place, inner
            place += 1
        elif inner == "'":
            if char == "'":
                around.pop()
        elif char == "\\":
            place += 1
        elif char == inner:
            around.pop()
        elif char == "#" and inner != '"' and is_word_start:
            place = command.find("\n", place) % (len(command) + 1)
        elif command.startswith("$(", place) or (char == "(" and inner != '"'):
            around.append(")")
            place += char == "$"
        elif char in '"`' or (char == "'" and inner != '"'):
            around.append(char)
        place += 1


@dataclass(frozen=True)
class ShellJudge:
    """An oracle as shell commands.

    Args:
        good: describes a good output: "the command 'check.sh {}' ends with status 0".
        lines: the body of a shell function, which uses ``$out``, ``$err`` and ``$status`` of the
            tool, and returns 0 for good, 125 for untestable, and 1 to 124 for bad. None if no
            shell command can judge.
        preamble: commands that run once, before.
    """

    good: str
    lines: Sequence[str] | None
    preamble: Sequence[str] = field(default_factory=list[str])


class TrialFiles(NamedTuple):
    """The files and the end of a trial.

    Attributes:
        output: the file of the tool's -o, or of its stdout.
        errors: the file of its stderr.
        stop: the end of the tool, or where a catch stopped it; None if it timed out.
        is_past: whether the tool got past the milestone of the search, if there is one.
        seconds: the wall time of the run, from where its process was forked; 0 if not known.
    """

    output: Path
    errors: Path
    stop: Stop | None
    is_past: bool = False
    seconds: float = 0.0

    def remove(self) -> None:
        """Remove the files, with their directory."""
        shutil.rmtree(self.output.parent, ignore_errors=True)


class OracleSetup(NamedTuple):
    """The facts of the bisection that an oracle may need.

    Attributes:
        tool: the tool's file.
        argv: its command line.
        input: its input; None if it is not known.
        cwd: the working directory of the tool and of the oracle's commands; None for this
            process's.
        directory: for the files of the oracle; removed after the bisection.
        seconds: the time limit of a command of the oracle; None for no limit.
    """

    tool: Path
    argv: list[str]
    input: Path | None
    cwd: Path | None
    directory: Path
    seconds: float | None

    def compared_input(self, given: Path | None) -> Path:
        """Return the file of the input, for an oracle that compares the output with it.

        Args:
            given: the file that the user names; None to take the input of the command line.

        Raises:
            OracleError: there is none.
        """
        source = given or self.input
        if source is None:
            raise OracleError(
                "Which file is the input of the tool cannot be told from its command line: name it "
                "with --input FILE."
            )
        path = (self.cwd or Path.cwd()) / source
        if not is_file(path):
            raise OracleError(f"There is no file {str(source)!r} to compare with: name another.")
        return path


class Oracle(ABC):
    """Judges trials. This base class judges the tool's end; subclasses judge its output.

    Attributes:
        catches: the events that end a trial as bad.
        is_event: the oracle looks for an event, not at an output. If no run without candidates
            is good, the search is repeated with a ``milestone``.
        milestone: a tool that ends with an error after this pass, without the event, is good; None
            if no tool that ends with an error is.
        needs_actiondbg: whether the oracle as shell commands needs actiondbg.
        explains: the reasons of its verdicts say what is wrong in an output.
        symptom: what is wrong in a bad run, for the title of the report.
        remedy: what to do if its verdicts on one output differ, a sentence.
    """

    catches: tuple[protocol.Catch, ...] = ()
    is_event = False
    milestone: Milestone | None = None
    needs_actiondbg = False
    explains = False
    symptom = "wrong output"
    remedy = (
        "Make it deterministic, for example by comparing with the expected output instead of a "
        "wrong one."
    )

    @abstractmethod
    def as_option(self) -> str:
        """Return the oracle as an option of the command line."""

    def files(self, cwd: Path) -> list[Path]:
        """Return the existing files that the verdicts depend on."""
        return []

    def prepare(self, setup: OracleSetup) -> None:
        """Prepare for ``judge``; raises OracleError if the oracle cannot judge."""
        return

    def judge(self, evidence: TrialFiles, commands: CommandRunner, setup: OracleSetup) -> Judgement:
        """Judge a trial.

        Args:
            setup: as passed to ``prepare``.

        Raises:
            OracleError: the oracle cannot judge.
            FileNotWritten: the disk is full, so that the output may be cut.
        """
        stop = evidence.stop
        if stop is None:
            return Judgement("untestable", "the tool did not end in time")
        if stop.when != "exit":
            return Judgement("bad", shortened(stop.message or "it was caught"))
        if self.is_bad_end(stop):
            return Judgement("bad", crash_sentence(stop, evidence.errors).rstrip("."))
        if stop.status != 0:
            verdict = "good" if evidence.is_past and stop.reason == "exited" else "untestable"
            return Judgement(verdict, _end_of_tool(stop, failure_text(evidence.errors)))
        if is_full(evidence.output.parent):
            raise FileNotWritten(
                f"Outputs may be cut, as no space is left in {str(evidence.output.parent)!r}: free "
                "some, or set TMPDIR to another directory."
            )
        return self.judge_output(evidence.output, commands, setup)

    def judges_output(self, stop: Stop | None) -> bool:
        """Return whether the verdict on a trial of this end depends on its output alone.

        Then outputs of the same content have the same verdict, and one command judges them all.
        """
        return not self.is_event and stop is not None and stop.when == "exit" and stop.status == 0

    def is_bad_end(self, stop: Stop) -> bool:
        """Return whether this end of the tool is the event that the oracle looks for."""
        return False

    def judge_output(self, output: Path, commands: CommandRunner, setup: OracleSetup) -> Judgement:
        """Judge the output of a tool that ended with status 0; see ``judge``."""
        return Judgement("good", "the tool ended well")

    def in_shell(self, copies: CopiedFiles, inside: Path | None = None) -> ShellJudge:
        """Return the oracle as shell commands, for a script that needs no actiondbg.

        Without any, the script runs the tool, and leaves the outputs to be judged.

        Args:
            copies: the files to copy, to which the oracle adds the files that it needs.
            inside: the directory that a command runs in, with its own files; None for the folder.
        """
        return ShellJudge(f"{self.as_option()} finds the output good", None)


@dataclass
class Command(Oracle):
    """``--test CMD``: a command of the shell, in which {} is the output file.

    The output is on its standard input too. Exit status 0 is good, 1 to 124 bad, and 125
    untestable, as in git bisect.
    """

    command: str

    def as_option(self) -> str:
        return f"--test {shlex.quote(self.command)}"

    def files(self, cwd: Path) -> list[Path]:
        try:
            words = shlex.split(self.command)
        except ValueError:
            return []
        return [cwd / word for word in words if word and is_file(cwd / word)]

    def judge_output(self, output: Path, commands: CommandRunner, setup: OracleSetup) -> Judgement:
        test = with_variable(self.command, OUTPUT)
        command = f"export {OUTPUT}={shlex.quote(str(output))}\n{test}"
        done = _run(commands, command, output, setup)
        if done.status is None:
            return _timed_out(setup)
        if done.status < 0 or done.status > _UNTESTABLE:
            raise OracleError(f"The test {self.command!r} cannot be run: {_why(done)}.")
        said = shortened(done.errors)
        reason = f"the test ended with status {done.status}{said and ': '}{said}"
        if done.status == _UNTESTABLE:
            return Judgement("untestable", reason)
        return Judgement("bad" if done.status else "good", reason)

    def in_shell(self, copies: CopiedFiles, inside: Path | None = None) -> ShellJudge:
        text = copies.rewrite(self.command) if inside is None else self.command
        change = "" if inside is None else f"cd -- {shlex.quote(str(inside))} && "
        return ShellJudge(
            f"the command {text!r} ends with status 0",
            [
                ENDED_WELL,
                f'(export {OUTPUT}="$out"; {change}limit sh -c "$test") < "$out"',
                "code=$?",
                '[ "$code" -le 125 ] && return "$code"',
                'echo "The test ended with status $code: it took too long, or cannot be run."',
                "return 125",
            ],
            [f"# The test of an output.\ntest={shlex.quote(with_variable(text, OUTPUT))}\n"],
        )


@dataclass
class FileCheck(Oracle):
    """``--filecheck FILE``: good if the output passes the checks of a file."""

    file: Path

    def as_option(self) -> str:
        return f"--filecheck {shlex.quote(str(self.file))}"

    def files(self, cwd: Path) -> list[Path]:
        return [cwd / self.file] if is_file(cwd / self.file) else []

    def prepare(self, setup: OracleSetup) -> None:
        if not is_file(self._file(setup)):
            raise OracleError(f"There is no file {str(self.file)!r} with checks: name another.")

    def judge_output(self, output: Path, commands: CommandRunner, setup: OracleSetup) -> Judgement:
        command = [sys.executable, "-m", "filecheck", "--input-file", str(output)]
        done = _run(commands, [*command, str(self._file(setup))], output, setup)
        if done.status is None:
            return _timed_out(setup)
        if done.status == 0:
            return Judgement("good", "the checks pass")
        # Status 1 also means that the checks cannot be read.
        if done.status != 1 or "Traceback" in done.errors or "Malformed" in done.errors:
            said = done.errors.splitlines()
            raise OracleError(
                f"The checks in {str(self.file)!r} cannot be run: "
                f"{shortened(said[-1] if 'Traceback' in done.errors else said[0])}"
                if said
                else f"filecheck cannot be run: {_why(done)}."
            )
        return Judgement("bad", shortened(done.errors.partition("\n")[0]))

    def in_shell(self, copies: CopiedFiles, inside: Path | None = None) -> ShellJudge:
        name = copies.add((copies.base / self.file).absolute())
        ours = shlex.quote(str(Path(sys.executable).with_name("filecheck")))
        return ShellJudge(
            f"FileCheck finds what {name} checks in the output",
            [
                ENDED_WELL,
                f'limit "$FILECHECK" {shlex.quote(name)} --input-file "$out"',
                'code=$?; [ "$code" -le 1 ] && return "$code"',
                "return 125",
            ],
            [
                "# LLVM's FileCheck, or filecheck of PyPI.",
                '[ -n "$FILECHECK" ] || '
                f"FILECHECK=$(command -v filecheck || command -v FileCheck || echo {ours})\n",
            ],
        )

    def _file(self, setup: OracleSetup) -> Path:
        return (setup.cwd or Path.cwd()) / self.file


@dataclass
class Crash(Oracle):
    """``--crash``: bad if the tool dies of a signal."""

    is_event = True
    symptom = "crash"

    def as_option(self) -> str:
        return "--crash"

    def is_bad_end(self, stop: Stop) -> bool:
        return stop.reason == "crashed"

    def in_shell(self, copies: CopiedFiles, inside: Path | None = None) -> ShellJudge:
        return ShellJudge(
            "the tool does not die of a signal",
            [
                f'[ "$status" -eq {KILLED} ] && return 125',
                '[ "$status" -ge 128 ] && return 1',
                ENDED_WELL,
            ],
        )


@dataclass
class Verify(Oracle):
    """``--verify``: bad if the verifier rejects the IR."""

    catches = (protocol.Catch(kind="verify"),)
    is_event = True
    symptom = "invalid IR"

    def as_option(self) -> str:
        return "--verify"

    def in_shell(self, copies: CopiedFiles, inside: Path | None = None) -> ShellJudge:
        return ShellJudge(
            "the verifier finds the IR valid",
            [
                '[ "$status" -eq 0 ] && return 0',
                '[ "$status" -lt 128 ] && grep -q "error: " "$err" && return 1',
                "return 125",
            ],
        )


@dataclass
class Diagnostic(Oracle):
    """``--diagnostic GLOB``: bad if the tool emits a diagnostic whose text matches."""

    glob: str
    catches: tuple[protocol.Catch, ...] = field(init=False, default=())
    is_event = True
    symptom = "diagnostic"

    def __post_init__(self) -> None:
        check_glob(self.glob, self.glob, 0)
        self.catches = (protocol.Catch(kind="diagnostic", glob=self.glob),)

    def as_option(self) -> str:
        return f"--diagnostic {shlex.quote(self.glob)}"

    def in_shell(self, copies: CopiedFiles, inside: Path | None = None) -> ShellJudge:
        pattern = re.sub(r"\[\^", "[!", self.glob)  # the syntax of the shell
        return ShellJudge(
            f"no diagnostic matches {self.glob!r}",
            [
                "while IFS= read -r line; do",
                "  case $line in *': '$glob) return 1 ;; esac",
                'done < "$err"',
                ENDED_WELL,
            ],
            [f"glob={shlex.quote(pattern)}\n"],
        )


@dataclass
class PredicateOracle(Oracle):
    """A Python function of the output file, which returns a verdict, or True for good."""

    predicate: Predicate

    def as_option(self) -> str:
        function = self.predicate
        while isinstance(function, functools.partial):
            function = function.func
        module = getattr(function, "__module__", type(function).__module__)
        return f"{module}.{getattr(function, '__qualname__', type(function).__qualname__)}"

    def judge_output(self, output: Path, commands: CommandRunner, setup: OracleSetup) -> Judgement:
        answer: object = self.predicate(output)
        if isinstance(answer, bool):
            return Judgement("good" if answer else "bad", f"the predicate returned {answer}")
        if answer not in get_args(Verdict):
            raise OracleError(
                f"The predicate {self.as_option()} returned {answer!r}, and has to return a bool, "
                f"or one of {', '.join(get_args(Verdict))}."
            )
        return Judgement(answer, f"the predicate returned {answer!r}")


def make_oracle(oracle: Oracle | Predicate | str) -> Oracle:
    """Return an oracle; a string is a command of the shell, see ``Command``."""
    if isinstance(oracle, Oracle):
        return oracle
    return Command(oracle) if isinstance(oracle, str) else PredicateOracle(oracle)


def _run(
    commands: CommandRunner, command: str | list[str], output: Path, setup: OracleSetup
) -> Completed:
    try:
        # The oracle uses the tools beside the debugged one.
        return commands.run(command, output, setup.seconds, setup.cwd, setup.tool.parent)
    except OSError as error:
        raise OracleError(f"{command!r} cannot be run ({error}): check the oracle.") from error


def _timed_out(setup: OracleSetup) -> Judgement:
    return Judgement("untestable", f"the oracle did not end in {setup.seconds:g} s")


def _why(done: Completed) -> str:
    status = done.status or 0
    said = shortened(done.errors)
    if status == 127 and not said:
        said = "the command was not found"
    how = f"it died of signal {-status}" if status < 0 else f"it ended with status {status}"
    meaning = "" if said else ", and has to end with 0 (good), 1 to 124 (bad) or 125 (untestable)"
    return f"{how}{said and ': '}{said.rstrip('.')}{meaning}"


def _end_of_tool(stop: Stop, said: str) -> str:
    """Return how the tool ended, and what it wrote about that."""
    how = (stop.message or "the tool crashed").rstrip(".")
    return f"{how}{said and ': '}{shortened(said)}"


def shortened(text: str) -> str:
    """Return a text on one line, cut at a length."""
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else text[:_SHOWN] + " ..."
