"""One small tree of errors; a front end prints them in one place."""

from __future__ import annotations


class ActiondbgError(Exception):
    """The base of every error of actiondbg: one sentence that says what to do."""

    code: int | None = None


class UsageError(ActiondbgError):
    """A command, specification or option was written wrongly.

    Args:
        message: one sentence.
        text: the text that was parsed, or None.
        offset: where in ``text`` it went wrong, in characters from 0.
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
    """A recording does not hold what is asked for; the message names the way to get it."""


class LaunchError(ActiondbgError):
    """The tool could not be started, or the agent could not be put into it."""


class AgentBuildError(LaunchError):
    """The agent could not be compiled for the tool's MLIR."""


class ToolGone(ActiondbgError):
    """The tool ended, or was killed, while it was asked something."""


class SkipMismatch(ActiondbgError):
    """What is to be skipped is not there: the tool stands where it was looked for."""


class ProtocolError(ActiondbgError):
    """A message of the other side could not be understood."""


class AgentError(ActiondbgError):
    """The agent refused a request; the base of the errors with a wire code."""


class NotStopped(AgentError):
    """The command needs a stop, and the tool is not at one."""

    code = -32001


class NoSuchUnit(AgentError):
    """There is no such IR unit, frame, value or symbol."""

    code = -32002


class UnitErased(AgentError):
    """The IR unit is erased: it cannot be read any more."""

    code = -32003


class ControlRefused(AgentError):
    """The control cannot be carried out at this stop."""

    code = -32004


class FileNotWritten(AgentError):
    """A file that the agent was asked to write cannot be written."""

    code = -32005


class NoAnswer(AgentError):
    """What was asked is not known: the tool cannot be forked, or its past is not there."""

    code = -32006


class OracleError(ActiondbgError):
    """The oracle of a bisection cannot judge: it cannot be run, or what it needs is not there."""


class IRNotParsed(ActiondbgError):
    """The IR at the stop could not be handed over as mlir.ir objects."""


_BY_CODE: dict[int | None, type[AgentError]] = {
    cls.code: cls
    for cls in (NotStopped, NoSuchUnit, UnitErased, ControlRefused, FileNotWritten, NoAnswer)
}


def error_of_code(code: int, message: str) -> AgentError:
    """Return the error that a wire code stands for (docs/protocol.md, Errors)."""
    return _BY_CODE.get(code, AgentError)(message)
