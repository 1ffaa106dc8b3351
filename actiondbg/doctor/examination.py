"""The examination of a tool: what its file is, and what the agent can do in its process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from actiondbg import protocol
from actiondbg.doctor.subject import ExaminedSubject
from actiondbg.errors import ActiondbgError, LaunchError, UnusableMLIR
from actiondbg.protocol.capabilities import CAPABILITIES, missing_reason
from actiondbg.session.session import launch
from actiondbg.support.scratch_directory import scratch_directory
from actiondbg.tool import find_tool
from actiondbg.tool.agent_environment import capabilities_without
from actiondbg.tool.identification import (
    Symbols,
    build_id_of,
    compilers_of,
    llvm_version,
    symbols_of,
)

_LEARNING = 20  # events
_CRASHES = ("crash", "crashed")


class Examined(msgspec.Struct):
    """What was found out about a tool."""

    name: str  # of the tool or the package
    program: Path  # what was started
    object: Path | None = None  # the file that holds its MLIR, or None
    build: str | None = None  # the build id of that file, or None
    llvm: str | None = None  # the version of its LLVM, or None if it is unknown
    compilers: list[str] = []  # of its parts, as they name themselves
    symbols: str | None = None  # where it has the names of MLIR's functions, or None
    capabilities: list[str] | None = None  # of the agent in this tool, or None without a trial
    missing: dict[str, str] = {}  # why capabilities are missing, by their names
    # Why the tool cannot be debugged, in one sentence with the remedy, or None.
    problem: str | None = None
    # What the agent knew in the trial, for a report; unset without one.
    facts: protocol.Facts | msgspec.UnsetType = msgspec.UNSET

    @property
    def is_usable(self) -> bool:
        """Whether nothing prevents that the tool is debugged."""
        return self.problem is None


def examine(
    subject: ExaminedSubject,
    seconds: float | None = None,
    without: Sequence[str] = (),
) -> Examined:
    """Examine a tool or a package.

    Args:
        seconds: the limit of the trial; None for no trial.

    Raises:
        UsageError: a capability is unknown.
    """
    found = Examined(subject.name, subject.program)
    off = capabilities_without(without, os.environ)
    try:
        tool = find_tool(str(subject.program))
    except LaunchError as error:
        found.problem = str(error)
        holder = error.holder if isinstance(error, UnusableMLIR) else subject.program
        _describe(found, subject.library or holder)
        return found
    _describe(found, subject.library or tool.libmlir)
    # The version may be in another object, as in a build with a library for each folder.
    found.llvm = found.llvm or tool.llvm()
    if seconds is not None:
        _add_trial(found, subject, seconds, off)
    return found


def _describe(found: Examined, holder: Path | None) -> None:
    """Add what is in the object with MLIR; nothing if it holds none."""
    if holder is None:
        return
    try:
        symbols = symbols_of(holder)
        if symbols is Symbols.ABSENT:
            return
        found.symbols = str(symbols)
        found.object = holder
        found.build = build_id_of(holder)
        found.llvm = llvm_version(holder)
        found.compilers = compilers_of(holder)
    except OSError:  # it cannot be read, which is the problem
        return


def _add_trial(
    found: Examined,
    subject: ExaminedSubject,
    limit: float,
    without: Sequence[str],
) -> None:
    """Add what the agent has checked in the process of a tool."""
    result = run_trial(subject, limit, without)
    if result.refusal is not None:
        found.problem = result.refusal
        return
    if result.hello is None:
        what = result.problem or "it made no MLIR context"
        no_mlir = "there is no MLIR in it or in the libraries that it names, and "
        found.problem = (
            f"{'' if found.object else no_mlir}it could not be tried: {what}; if it uses MLIR with "
            f"other arguments, start a session with these (actiondbg -- {subject.program} ...)."
        )
        return
    reasons = {
        name: missing_reason(result.hello, name)
        for name in CAPABILITIES
        if name not in result.hello.capabilities
    }
    if result.facts is not None:
        found.facts = result.facts
    if result.crash is not None:
        found.problem = (
            f"{result.crash.removesuffix('.')}, in a trial: if it does not end so without "
            "actiondbg, switch off what it crashes in (--without CAPABILITY), and report it with "
            "the file of --report."
        )
    found.capabilities = [name for name in CAPABILITIES if name not in reasons]
    found.missing = reasons


class SampleResult(msgspec.Struct):
    """The result of a trial."""

    hello: protocol.Hello | None  # of the agent, or None if the tool made no MLIR context
    # Why the tool did not reach an action: the end of a sentence, or None.
    problem: str | None = None
    # Why the tool cannot be debugged: a sentence with the remedy, or None.
    refusal: str | None = None
    # How a signal ended the tool after its first action: a sentence, or None.
    crash: str | None = None
    facts: protocol.Facts | None = None  # what the agent knew near the first action, or None


def run_trial(
    subject: ExaminedSubject, seconds: float, without: Sequence[str] = ()
) -> SampleResult:
    """Run a tool on its sample to its end, with stops near its first action."""
    with scratch_directory("trial") as directory:
        subject.sample.write(directory)
        argv = [str(subject.program), *subject.sample.arguments]
        off = ",".join(without)
        command = [sys.executable, "-m", "actiondbg.doctor.examination", off, *argv]
        try:
            done = subprocess.run(
                command,
                cwd=directory,
                env={**os.environ, **subject.sample.environment},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return SampleResult(None, f"it reached no action within {seconds:g} s")
    try:
        return msgspec.json.decode(done.stdout, type=SampleResult)
    except msgspec.DecodeError:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        return SampleResult(None, f"the trial failed ({' '.join(last)})")


def _try(without: str, argv: list[str]) -> SampleResult:
    try:
        off = without.split(",") if without else ()
        with launch(argv, without=off) as session:
            stop = session.start()
            hello = session.target.hello
            if stop.when != "exit":
                facts = session.target.facts()
                # The agent learns layouts from the IR of the first actions that have some.
                stop = session.step(_LEARNING)
                if stop.when != "exit":
                    facts = session.target.facts()
                hello = session.target.hello or hello
                crash = None
                while stop.when != "exit":
                    stop = session.continue_()  # a tool may stop once more, in its crash
                    crash = crash or (stop.message if stop.reason in _CRASHES else None)
                return SampleResult(hello, crash=crash, facts=facts)
            errors = session.target.errors().strip().splitlines()[-1:]
    except ActiondbgError as error:
        return SampleResult(None, refusal=str(error))
    how = f"it ended with status {stop.status} before any action"
    return SampleResult(hello, f"{how} ({errors[0]})" if errors else how)


def main() -> None:
    """Print the result of a trial as JSON."""
    result = _try(sys.argv[1], sys.argv[2:])
    sys.stdout.write(json.dumps(msgspec.to_builtins(result)))


if __name__ == "__main__":
    main()
