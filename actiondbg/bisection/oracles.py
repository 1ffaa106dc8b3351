"""Oracles: each judges the output or the end of a trial as good, bad or untestable."""

from __future__ import annotations

import functools
import itertools
import math
import re
import shlex
import shutil
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from actiondbg import protocol
from actiondbg.bisection.command_runner import CommandRunner, Completed, failure_text, fatal_error
from actiondbg.bisection.verdict import Judgement, Milestone, Verdict
from actiondbg.errors import FileNotWritten, LaunchError, OracleError
from actiondbg.process.stop import Stop
from actiondbg.support.globs import check_glob
from actiondbg.support.scratch_directory import is_full
from actiondbg.tool.command_line import is_file
from actiondbg.tool.identification import locate

_PLACEHOLDER = "{}"
OUTPUT = "TOOL_OUTPUT"  # the environment variable of a test that names the output file
_UNTESTABLE = 125  # the exit status, as in git bisect
_SHOWN = 300  # characters of a reason

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


class Evidence(NamedTuple):
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
        symptom: what is wrong in a bad run, for the title of the report.
        remedy: what to do if its verdicts on one output differ, a sentence.
    """

    catches: tuple[protocol.Catch, ...] = ()
    is_event = False
    milestone: Milestone | None = None
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

    def judge(self, evidence: Evidence, commands: CommandRunner, setup: OracleSetup) -> Judgement:
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
            return Judgement("bad", _end_of_tool(stop, fatal_error(evidence.errors)))
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


@dataclass
class Verify(Oracle):
    """``--verify``: bad if the verifier rejects the IR."""

    catches = (protocol.Catch(kind="verify"),)
    is_event = True
    symptom = "invalid IR"

    def as_option(self) -> str:
        return "--verify"


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


# --- --execute: the lowered program prints the same with and without the suspect passes ---


EntryResult = Literal["void", "i32", "i64", "f32"]

# No canonicalize and no cse: they may be the passes with the bug. Passes that apply patterns
# greedily fold all else on the way, so they come after bufferization.
PIPELINE = (
    "builtin.module(convert-elementwise-to-linalg,"
    "one-shot-bufferize{bufferize-function-boundaries},convert-bufferization-to-memref,"
    "func.func(lower-vector-mask,lower-vector-multi-reduction),expand-realloc,scf-forall-to-for,"
    "convert-linalg-to-loops,convert-vector-to-scf,lower-affine,convert-math-to-funcs,arith-expand,"
    "memref-expand,convert-scf-to-cf,expand-strided-metadata,lower-affine,convert-complex-to-libm,"
    "convert-complex-to-standard,convert-math-to-llvm,convert-math-to-libm,convert-vector-to-llvm,"
    "convert-complex-to-llvm,convert-index-to-llvm,convert-arith-to-llvm,finalize-memref-to-llvm,"
    "convert-cf-to-llvm,convert-func-to-llvm,convert-ub-to-llvm,reconcile-unrealized-casts)"
)
TOLERANCE = 1e-5  # printf's %g gives six digits

# Removes the schedules of the transform dialect from IR as mlir-opt prints it: they are no part of
# the program, and the runner cannot read them. An operation ends at its indentation.
WITHOUT_SCHEDULES = r"""
/^ *transform[.]/ || /^ +module.*[{].*transform[.]with_named_sequence/ {
  if ($0 ~ /[{]$/ && !within) { within = 1; match($0, /^ */); indentation = RLENGTH }
  next
}
within { match($0, /^ */); if (RLENGTH == indentation && $0 ~ /^ *}/) within = 0; next }
{ gsub(/, transform[.]with_named_sequence|transform[.]with_named_sequence(, )?/, ""); print }
"""
_SCHEDULE = b"transform."

# LLVM 22 fails on vectors of a single bit on CPUs that have it.
WITHOUT_AVX512 = "--mattr=-avx512f"
_LIBRARIES = ("libmlir_runner_utils.so", "libmlir_c_runner_utils.so")
_NUMBER = re.compile(
    r"(?<![\w.])[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|inf|nan)(?![\w.])", re.IGNORECASE
)
_INTEGER = re.compile(r"[-+]?\d+")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+\b")  # of a memref: differs between runs


@dataclass
class Execute(Oracle):
    """Judges by the output of the program, after it is lowered and executed.

    The reference is the tool's input, lowered and executed without the suspect passes.

    Args:
        lower: the pipeline that lowers the input and each output to the LLVM dialect.
        entry: the function to call.
        entry_result: its result type; a result is printed.
        shared_libs: libraries of the runner; None for its own, if they are found.
        tolerance: relative and absolute, for numbers that are not integers.
        input: the input, if the tool's command line does not name it.
    """

    lower: str = PIPELINE
    entry: str = "main"
    entry_result: EntryResult = "void"
    shared_libs: tuple[str, ...] | None = None
    tolerance: float = TOLERANCE
    input: Path | None = None
    _expected: str = ""

    def __post_init__(self) -> None:
        if self.entry_result not in get_args(EntryResult):
            raise OracleError(
                f"The runner cannot call a function that returns {self.entry_result!r}: it takes "
                f"{', '.join(get_args(EntryResult))}."
            )

    def as_option(self) -> str:
        words = ["--execute"]
        if self.lower != PIPELINE:
            words += ["--lower", self.lower]
        if self.entry != "main":
            words += ["--entry", self.entry]
        if self.entry_result != "void":
            words += ["--entry-result", self.entry_result]
        if self.shared_libs is not None:
            words += ["--shared-libs", ",".join(self.shared_libs)]
        if self.tolerance != TOLERANCE:
            words += ["--tolerance", f"{self.tolerance:g}"]
        if self.input is not None:
            words += ["--input", str(self.input)]
        return shlex.join(words)

    def files(self, cwd: Path) -> list[Path]:
        return [cwd / self.input] if self.input and is_file(cwd / self.input) else []

    def prepare(self, setup: OracleSetup) -> None:
        path = setup.compared_input(self.input)
        commands = CommandRunner(setup.directory)
        self._expected, again = (self._reference(path, commands, setup) for _ in range(2))
        if first_difference(self._expected, again, self.tolerance):
            raise OracleError(
                "The input prints something else each time that it is run, so nothing can be "
                "compared with it: use --test with what is expected."
            )
        if not self._expected.strip():
            raise OracleError(
                f"The input prints nothing when {self.entry!r} is called, so no output can differ "
                "from it: let it print its result (printI64, printMemrefF32), or return it with "
                "--entry-result."
            )

    def judge_output(self, output: Path, commands: CommandRunner, setup: OracleSetup) -> Judgement:
        lowered = output.with_name(f"{output.name}.lowered.mlir")
        done = self._lower(output, lowered, commands, setup)
        if done.status != 0:
            return Judgement("untestable", f"the output cannot be lowered{_reason(done)}")
        done = self._execute(lowered, commands, setup)
        if done.status is None:
            return Judgement("untestable", f"the program did not end in {setup.seconds:g} s")
        if done.in_compiler:
            return Judgement("untestable", f"the output cannot be compiled{_reason(done)}")
        if done.status < 0:
            return Judgement("bad", f"the program died of signal {-done.status}")
        if done.status != 0:
            return Judgement("untestable", f"the output cannot be executed{_reason(done)}")
        difference = first_difference(self._expected, _printed(done), self.tolerance)
        return Judgement("bad", difference) if difference else Judgement("good", "the same")

    def _reference(self, source: Path, commands: CommandRunner, setup: OracleSetup) -> str:
        lowered = setup.directory / "reference.mlir"
        done = self._lower(source, lowered, commands, setup)
        if done.status != 0:
            raise OracleError(
                f"The input cannot be lowered without the suspect passes{_reason(done)}; give the "
                "pipeline that lowers it with --lower."
            )
        done = self._execute(lowered, commands, setup)
        if done.status != 0:
            raise OracleError(
                f"The input, lowered without the suspect passes, cannot be executed{_reason(done)};"
                " see --entry, --entry-result, --shared-libs and --lower."
            )
        return _printed(done)

    def _lower(
        self, source: Path, target: Path, commands: CommandRunner, setup: OracleSetup
    ) -> Completed:
        tool = [str(beside("mlir-opt", setup.tool))]
        if "--allow-unregistered-dialect" in setup.argv:
            tool.append("--allow-unregistered-dialect")
        if _SCHEDULE in source.read_bytes():
            printed = _run_tool(commands, [*tool, str(source), "-o", str(target)], setup)
            if printed.status != 0:
                return printed
            program = _run_tool(commands, ["awk", WITHOUT_SCHEDULES, str(target)], setup)
            source = target.with_suffix(".program.mlir")
            shutil.copyfile(program.output, source)
        words = [str(source), f"--pass-pipeline={self.lower}", "-o", str(target)]
        return _run_tool(commands, [*tool, *words], setup)

    def _execute(self, lowered: Path, commands: CommandRunner, setup: OracleSetup) -> Completed:
        tool = beside("mlir-runner", setup.tool)
        libraries = self.shared_libs
        if libraries is None:
            libraries = runner_libraries(tool)
        words = ["-e", self.entry, f"--entry-point-result={self.entry_result}"]
        if libraries:
            words.append(f"--shared-libs={','.join(libraries)}")
        done = _run_tool(commands, [str(tool), str(lowered), *words], setup)
        if done.in_compiler:
            done = _run_tool(commands, [str(tool), str(lowered), *words, WITHOUT_AVX512], setup)
        return done


def first_difference(expected: str, printed: str, tolerance: float) -> str | None:
    """Compare two texts: numbers within a tolerance, the rest exactly except for blanks.

    Returns:
        A description of the first difference, or None.
    """
    pairs = itertools.zip_longest(_lines(expected), _lines(printed))
    for number, (left, right) in enumerate(pairs, 1):
        if left is None or right is None:
            fewer = "more" if left is None else "fewer"
            return f"line {number}: {fewer} lines are printed than expected"
        if not _same_line(left, right, tolerance):
            return f"line {number}: expected {shortened(left)!r}, printed {shortened(right)!r}"
    return None


def _lines(text: str) -> list[str]:
    lines = [" ".join(_ADDRESS.sub("0x", line).split()) for line in text.splitlines()]
    return [line for line in lines if line]


def _same_line(left: str, right: str, tolerance: float) -> bool:
    if left == right:
        return True
    if _NUMBER.sub("0", left) != _NUMBER.sub("0", right):
        return False
    numbers = zip(_NUMBER.findall(left), _NUMBER.findall(right), strict=True)
    return all(_same_number(a, b, tolerance) for a, b in numbers)


def _same_number(left: str, right: str, tolerance: float) -> bool:
    if _INTEGER.fullmatch(left) and _INTEGER.fullmatch(right):
        return left == right  # -0 is no integer
    a, b = float(left), float(right)
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance)


def _run_tool(commands: CommandRunner, command: list[str], setup: OracleSetup) -> Completed:
    try:
        return commands.run(command, None, setup.seconds, setup.cwd)
    except OSError as error:
        raise OracleError(f"{command[0]!r} cannot be run ({error}): check the tools.") from error


def _printed(done: Completed) -> str:
    return done.output.read_text(encoding="utf-8", errors="replace")


def _reason(done: Completed) -> str:
    if done.status is None:
        return ": it did not end in time"
    lines = done.errors.splitlines()
    said = next((line for line in lines if "error" in line.lower()), lines[0] if lines else "")
    if not said and done.status < 0:
        said = f"it died of signal {-done.status}"
    return f": {shortened(said)}" if said else ""


def beside(name: str, tool: Path) -> Path:
    """Find a tool beside the debugged one, on PATH, or in this environment.

    Raises:
        OracleError: there is none.
    """
    if tool.name != str(tool):
        if tool.name == name:
            return tool
        for folder in (tool.parent, tool.resolve().parent):
            if (folder / name).is_file():
                return folder / name
    try:
        return locate(name)
    except LaunchError as error:
        raise OracleError(
            f"There is no {name}, neither beside {str(tool)!r} nor on PATH: install it, or use "
            "another oracle."
        ) from error


def runner_libraries(runner: Path) -> tuple[str, ...]:
    """Return the libraries that lowered programs call, if they are with the runner."""
    root = runner.resolve().parent.parent
    for folder in (root / "lib", root / "lib64"):
        found = [folder / name for name in _LIBRARIES]
        if all(file.is_file() for file in found):
            return tuple(map(str, found))
    return ()


Compare = Execute  # the former name
