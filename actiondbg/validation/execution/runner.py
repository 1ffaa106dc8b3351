"""Tests lowered and executed by the tools of MLIR."""

from __future__ import annotations

import re
import shlex
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

from actiondbg.bisection.command_runner import STDERR, CommandRunner, Completed, failure_text
from actiondbg.bisection.execute_oracle import (
    WITHOUT_AVX512,
    beside,
    runner_libraries,
    without_folds,
)
from actiondbg.bisection.oracles import shortened
from actiondbg.errors import ActiondbgError, OracleError
from actiondbg.ir.tokens import RESULTS
from actiondbg.validation.execution.harness import Element, Part, Test, all_numbers, bits_in
from actiondbg.validation.execution.lowerings import PLAIN, Lowering, fitted
from actiondbg.validation.inputs import Number

_INTEGER = re.compile(r"-?\d+")
_MOST_TEXT = 2**26  # bytes of output that are read
# The first operation of a line, if it is of another dialect.
_NOT_LOWERED = re.compile(rf'^ *(?:{RESULTS})?"?((?!llvm\.)[a-z]\w*\.[a-z]\w*)', re.MULTILINE)
_MEMORY = 8192  # MiB of addresses


@dataclass(frozen=True, slots=True)
class PrintedPart:
    """Values that a test printed."""

    key: str  # what they are: ``result 0``, ``memory 1``, ``global @cell``
    type: Element  # of each value
    shape: tuple[int, ...]  # of all; empty for a scalar
    bits: tuple[int, ...]  # of each value, row by row, unsigned

    def numbers(self) -> tuple[Number, ...]:
        """Return the values; integers are unsigned."""
        return tuple(all_numbers(self.bits, self.type))


@dataclass(frozen=True, slots=True)
class ExecutedCall:
    """What a call of a function did."""

    # Results, the memory of arguments, and globals, as they were after the call; empty if it did
    # not return.
    parts: tuple[PrintedPart, ...]
    text: str = ""  # what the function itself printed
    # How the process ended, if it did not end well: ``died of SIGFPE``, ``did not end in 10 s``;
    # else empty.
    failure: str = ""

    def part(self, key: str) -> PrintedPart:
        """Return the values of a key."""
        return next(each for each in self.parts if each.key == key)


@dataclass(eq=False)
class Runner:
    """Runs tests, one after another."""

    tool: Path  # the debugged tool; the others are looked for beside it, then on PATH
    scratch: Path  # a folder for files, of this runner alone
    seconds: float = 10.0  # the most that a command takes
    _count: int = 0  # of the tests

    def __post_init__(self) -> None:
        self._commands = CommandRunner(self.scratch)

    def run(
        self, test: Test, lowering: Lowering = PLAIN, environment: dict[str, str] | None = None
    ) -> list[ExecutedCall]:
        """Lower a test and execute it; return what it did for each input.

        Raises:
            NotLowered: the tools are missing, or the test cannot be lowered.
        """
        return self.execute(self.lower(test, lowering), test, lowering, environment)

    def lower(self, test: Test, lowering: Lowering = PLAIN) -> Path:
        """Lower a test to the LLVM dialect; return the file.

        Raises:
            NotLowered: the tools are missing, or it cannot be lowered.
        """
        self._count += 1
        source = self.scratch / f"test{self._count}.mlir"
        source.write_text(test.text, encoding="utf-8")
        lowered = source.with_suffix(".lowered.mlir")
        why = self._lower(test, fitted(lowering, test.text), source, lowered)
        if why:  # a pass was needed after all
            why = self._lower(test, lowering, source, lowered)
        if why:
            raise NotLowered(f"{lowering.name} {why}")
        return lowered

    def _lower(self, test: Test, lowering: Lowering, source: Path, lowered: Path) -> str:
        """Lower a test; return why that fails, or nothing."""
        words = self._lowering_command(test, lowering, str(source))
        done = self._run([*words, "-o", str(lowered)], {})
        if done.status != 0:
            return f"fails: {self._reason(done)}"
        left = _NOT_LOWERED.findall(lowered.read_text(encoding="utf-8"))
        # Casts are left around what is left.
        left.sort(key=lambda name: name.startswith("builtin."))
        return f"leaves {left[0]}" if left else ""

    def _lowering_command(self, test: Test, lowering: Lowering, source: str) -> list[str]:
        tool = str(self.find("mlir-opt", lowering))
        pipeline = lowering.pipeline.replace("ENTRY", test.entry)
        words = [tool, source, "--allow-unregistered-dialect", f"--pass-pipeline={pipeline}"]
        return words if lowering.folds else without_folds(words)

    def _execution_command(self, entry: str, lowering: Lowering, lowered: str) -> list[str]:
        runner = self.find("mlir-runner", lowering)
        libraries = ",".join(runner_libraries(runner))
        shared = [f"--shared-libs={libraries}"] if libraries else []
        return [str(runner), lowered, "-e", entry, "--entry-point-result=void", *shared]

    def commands(self, test: Test, file: str, lowering: Lowering = PLAIN) -> str:
        """Return the commands that run a test in a file, for a shell."""
        lower = shlex.join(self._lowering_command(test, fitted(lowering, test.text), file))
        if not lowering.folds:  # actiondbg prints, too
            lowered = f"{file}.lowered"
            execute = self._execution_command(test.entry, lowering, lowered)
            return f"{lower} -o {shlex.quote(lowered)} && {shlex.join(execute)}"
        # The runner reads from its standard input.
        return f"{lower} | {shlex.join(self._execution_command(test.entry, lowering, '-'))}"

    def execute(
        self,
        lowered: Path,
        test: Test,
        lowering: Lowering = PLAIN,
        environment: dict[str, str] | None = None,
    ) -> list[ExecutedCall]:
        """Execute a lowered test; return what it did for each input.

        Inputs run in one process. If it dies, each runs in a process of its own.

        Raises:
            NotLowered: the tools are missing, or they cannot run the program.
        """
        if not test.is_isolated:
            found = self._process(lowered, test, test.entry, lowering, environment or {})
            if len(test.entries) == 1 or not found[0].failure:
                return found
        return [
            self._process(lowered, test, entry, lowering, environment or {})[at]
            for at, entry in enumerate(test.entries)
        ]

    def cancel(self) -> None:
        """Kill the running command and refuse later ones; another thread may call this."""
        self._commands.cancel()

    def _process(
        self, lowered: Path, test: Test, entry: str, lowering: Lowering, environment: dict[str, str]
    ) -> list[ExecutedCall]:
        words = self._execution_command(entry, lowering, str(lowered))
        done = self._run(words, environment)
        if done.in_compiler:
            done = self._run([*words, WITHOUT_AVX512], environment)
        if done.in_compiler or (done.status or 0) > 0:
            raise NotLowered(f"the lowered program cannot be run: {self._reason(done)}")
        if done.status != 0:
            return [ExecutedCall((), failure=self._ending(done))] * len(test.entries)
        size = done.output.stat().st_size
        if size > _MOST_TEXT:
            return [ExecutedCall((), failure=f"printed {size:,} bytes")] * len(test.entries)
        text = done.output.read_text(encoding="utf-8", errors="replace")
        return [
            parse_printed(text, test.entry, number, parts)
            for number, parts in enumerate(test.parts, 1)
        ]

    def _run(self, words: Sequence[str], environment: dict[str, str]) -> Completed:
        # Without symbols in the stack trace of a crash, which take seconds.
        settings = {"LLVM_DISABLE_SYMBOLIZATION": "1", **environment}
        given = [f"{name}={value}" for name, value in settings.items()]
        limit = f'ulimit -v {_MEMORY * 1024}; ulimit -c 0; exec env "$@"'
        command = ["/bin/sh", "-c", limit, "sh", *given, *words]
        return self._commands.run(command, None, self.seconds, self.scratch)

    def find(self, name: str, lowering: Lowering) -> Path:
        """Return a tool.

        Raises:
            NotLowered: there is none.
        """
        try:
            if not lowering.of_path:
                return beside(name, self.tool)
            return beside(name, Path("/nowhere/tool"))
        except OracleError as error:
            raise NotLowered(str(error)) from error

    def _reason(self, done: Completed) -> str:
        said = failure_text(self.scratch / STDERR)
        return shortened(said) if said and done.status is not None else self._ending(done)

    def _ending(self, done: Completed) -> str:
        if done.status is None:
            return f"did not end in {self.seconds:g} s"
        if done.status < 0:
            return f"died of {signal.Signals(-done.status).name}"
        return f"ended with status {done.status}: {self._reason(done)}"


class NotLowered(ActiondbgError):
    """A test cannot be lowered to the LLVM dialect, or there is no tool for it."""


def parse_printed(text: str, name: str, number: int, parts: Sequence[Part]) -> ExecutedCall:
    """Read what a test of a name printed for an input, counted from 1."""
    begin, end = f"\n[{name}] input {number}\n", f"\n[{name}] end {number}\n"
    inner = text.partition(begin)[2]
    if not inner or end not in inner:
        return ExecutedCall((), failure="printed something else than a test does")
    inner = inner.partition(end)[0]
    printed, _, after = inner.partition(f"\n[{name}] returned\n")
    found: dict[str, str] = {}
    for section in after.split(f"[{name}] ")[1:]:
        key, _, values = section.partition(": ")
        found[key] = values
    return ExecutedCall(tuple(_values(part, found[part.key]) for part in parts), printed)


def _values(part: Part, text: str) -> PrintedPart:
    shape = part.shape
    if shape is None:
        sizes, _, text = text.partition("elements: ")
        shape = tuple(int(word) for word in _INTEGER.findall(sizes))
    bits = [int(word) for word in _INTEGER.findall(text)]
    mask = (1 << bits_in(part.type)) - 1
    assert len(bits) == prod(max(size, 0) for size in shape), part  # a wrong program's may be less
    return PrintedPart(part.key, part.type, shape, tuple(each & mask for each in bits))
