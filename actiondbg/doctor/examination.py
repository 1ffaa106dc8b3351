"""The examination of a tool: what its file is, and what the agent can do in its process."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from actiondbg import protocol
from actiondbg.doctor.subject import Subject
from actiondbg.doctor.trial import run_trial
from actiondbg.errors import LaunchError
from actiondbg.protocol.capabilities import CAPABILITIES, missing_reason
from actiondbg.tool import find_tool
from actiondbg.tool.agent_environment import capabilities_without
from actiondbg.tool.identification.mlir_object import (
    build_id_of,
    compilers_of,
    llvm_version,
    symbols_of,
)


class Examined(msgspec.Struct):
    """What was found out about a tool.

    Args:
        name: of the tool or the package.
        program: what was started.
        object: the file that holds its MLIR, or None.
        build: the build id of that file, or None.
        llvm: its LLVM version, or None if it is unknown.
        compilers: of its parts, as they name themselves.
        symbols: where it has the names of MLIR's functions, or None.
        capabilities: of the agent in this tool, or None without a trial.
        missing: why capabilities are missing, by their names.
        problem: why the tool cannot be debugged, in one sentence with the remedy, or None.
        facts: what the agent knew in the trial, for a report; unset without one.
    """

    name: str
    program: Path
    object: Path | None = None
    build: str | None = None
    llvm: str | None = None
    compilers: list[str] = []
    symbols: str | None = None
    capabilities: list[str] | None = None
    missing: dict[str, str] = {}
    problem: str | None = None
    facts: protocol.Facts | msgspec.UnsetType = msgspec.UNSET

    @property
    def is_usable(self) -> bool:
        """Whether nothing prevents that the tool is debugged."""
        return self.problem is None


def examine(
    subject: Subject,
    seconds: float | None = None,
    without: Sequence[str] = (),
) -> Examined:
    """Examine a tool or a package.

    Args:
        subject: the tool or the package.
        seconds: the limit of the trial; None for no trial.
        without: names of capabilities that the agent does not use.

    Raises:
        UsageError: a capability is unknown.
    """
    found = Examined(subject.name, subject.program)
    off = capabilities_without(without, os.environ)
    try:
        tool = find_tool(str(subject.program))
    except LaunchError as error:
        found.problem = str(error)
        _describe(found, subject.library or subject.program)
        return found
    _describe(found, subject.library or tool.libmlir)
    if seconds is not None:
        _add_trial(found, subject, seconds, off)
    return found


def _describe(found: Examined, holder: Path | None) -> None:
    """Add what is in the object with MLIR."""
    if holder is None:
        return
    try:
        found.symbols = str(symbols_of(holder))
        found.object = holder
        found.build = build_id_of(holder)
        found.llvm = llvm_version(holder)
        found.compilers = compilers_of(holder)
    except OSError:  # it cannot be read, which is the problem
        return


def _add_trial(
    found: Examined,
    subject: Subject,
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
