"""The tree of errors; a front end prints them in one place."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class ActiondbgError(Exception):
    """The base of all errors of actiondbg: one sentence with the cause and the way out."""

    code: int | None = None


class UsageError(ActiondbgError):
    """An invalid command, specification or option.

    Args:
        message: one sentence.
        text: the parsed text, or None.
        offset: the position of the error in ``text``, in characters from 0.
    """

    def __init__(self, message: str, text: str | None = None, offset: int = 0) -> None:
        super().__init__(message)
        self.text = text
        self.offset = offset

    def __str__(self) -> str:
        message = super().__str__()
        if self.text is None:
            return message
        return f"{message}\n  {self.text}\n  {' ' * self.offset}^"


class NotRecorded(UsageError):
    """A recording lacks the requested data; the message names the way to record it."""


class LaunchError(ActiondbgError):
    """The tool cannot be started, or is unsuitable for the agent."""


class UnusableMLIR(LaunchError):
    """The MLIR of a tool cannot be debugged, such as a stripped one.

    Args:
        holder: the file with that MLIR: the tool, or a library of it.
    """

    def __init__(self, message: str, holder: Path) -> None:
        super().__init__(message)
        self.holder = holder


class AgentBuildError(LaunchError):
    """The agent is missing, or cannot be compiled when actiondbg is built."""


class ToolGone(ActiondbgError):
    """The tool ended, or was killed, before it replied to a request."""


class SkipMismatch(ActiondbgError):
    """A saved skip matches no action; the tool is stopped at its ordinal."""


class ProtocolError(ActiondbgError):
    """The agent sent an invalid message."""


class AgentError(ActiondbgError):
    """The agent refused a request; the base of the errors with a wire code."""


class NotStopped(AgentError):
    """The command needs a stop, and the tool is not stopped."""

    code = -32001


class NoSuchUnit(AgentError):
    """Unknown IR unit, frame, value or symbol."""

    code = -32002


class UnitErased(AgentError):
    """The IR unit is erased and cannot be read."""

    code = -32003


class ControlRefused(AgentError):
    """The control is impossible at this stop."""

    code = -32004


class FileNotWritten(AgentError):
    """A requested file cannot be written."""

    code = -32005


class NoAnswer(AgentError):
    """A query cannot be answered: the tool cannot be forked, or its past is lost."""

    code = -32006


class EditRefused(AgentError):
    """An edit is impossible: the IR does not parse or verify, or moves at this stop."""

    code = -32007


class CapabilityMissing(AgentError):
    """The agent lacks a capability; the message names the remedy."""


class OracleError(ActiondbgError):
    """The oracle of a bisection cannot judge: it cannot run, or its inputs are missing."""


class IRNotParsed(ActiondbgError):
    """The IR at the stop cannot be parsed into mlir.ir objects."""


_BY_CODE = {cls.code: cls for cls in AgentError.__subclasses__()}


def error_of_code(code: int, message: str) -> AgentError:
    """Return the error of a wire code (docs/protocol.md, Errors)."""
    return _BY_CODE.get(code, AgentError)(message)


class InternalError(ActiondbgError):
    """An unexpected exception: a fault of actiondbg, which a command does not end by.

    Args:
        message: sentences with the fault, and how to report it.
        report: the path of the report, or None if it could not be written.
    """

    def __init__(self, message: str, report: str | None = None) -> None:
        super().__init__(message)
        self.report = report


class ActiondbgWarning(UserWarning):
    """The base of all warnings: what is done goes on, in another way than requested."""


class RandomizationWarning(ActiondbgWarning):
    """The kernel refused to choose whether addresses are random."""
