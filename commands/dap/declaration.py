"""Declarations of requests: name, capability, typed arguments and handler at one place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import TypeVar

from actiondbg.commands.dap.protocol import Arguments, Body
from actiondbg.commands.interpreter.options import arguments_type

Result = Body | dict[str, object] | str | None
RunT = TypeVar("RunT", bound=Callable[..., Result])
PREFIX = "actiondbg/"  # of the requests that the protocol lacks

HANDLERS: dict[str, Handler] = {}
CAPABILITIES: dict[str, object] = {}


@dataclass(eq=False)
class Handler:
    """The handler of a request; declared by using it as the decorator of a function.

    Attributes:
        capability: the field of ``Capabilities`` that announces the request, or empty.
        resumes: whether the response is sent first, and a stop is announced afterwards.
        at_once: whether it runs in the thread that reads, while another request runs.
        needs_session: whether there must be a session of a tool or a recording.
        is_long: whether its progress is shown.
        begins: whether it resumes a tool that has not been started.
        ends_run: whether it overtakes the requests that wait, and ends a wait for the tool.
        is_view: whether it fills a side view, which is read again at the next stop: it is cancelled
            when the tool shall be resumed.
        is_free: whether it resumes the tool up to a breakpoint, so that the tool may be stopped and
            resumed for a request that ``is_change``.
        is_change: whether it changes breakpoints, for which the tool has to be stopped.
        is_command: whether it runs commands of the user, which may move the cursor or the tool.
        run: the function: it takes the client and the arguments. It returns the body of the
            response; where ``resumes``, the command line of the shell that resumes the tool.
    """

    name: str
    _: KW_ONLY
    capability: str = ""
    resumes: bool = False
    at_once: bool = False
    needs_session: bool = True
    is_long: bool = False
    begins: bool = False
    ends_run: bool = False
    is_view: bool = False
    is_free: bool = False
    is_change: bool = False
    is_command: bool = False
    run: Callable[..., Result] = field(init=False)

    def __call__(self, run: RunT) -> RunT:
        """Declare a function as the one that handles the request."""
        self.run = run
        HANDLERS[self.name] = self
        if self.capability:
            provide(self.capability)
        return run

    @property
    def arguments(self) -> type[Arguments]:
        return arguments_type(self.run)

    @property
    def summary(self) -> str:
        return " ".join((self.run.__doc__ or "").partition("\n\n")[0].split())


request = Handler  # as a decorator


def provide(capability: str, value: object = True) -> None:
    """Announce a capability that is no request of its own."""
    CAPABILITIES[capability] = value
