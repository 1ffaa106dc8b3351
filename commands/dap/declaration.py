"""Declarations of requests: name, capability, typed arguments and handler at one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar, get_type_hints

import msgspec

from actiondbg.commands.dap.protocol.base import Arguments, Body

if TYPE_CHECKING:
    from actiondbg.commands.dap.client import Client

ArgumentsT = TypeVar("ArgumentsT", bound=Arguments)
Result = Body | dict[str, object] | str | None
ResultT = TypeVar("ResultT", bound=Result)
Run = Callable[["Client", ArgumentsT], ResultT]
PREFIX = "actiondbg/"  # of the requests that the protocol lacks


class Handler(msgspec.Struct, frozen=True, kw_only=True):
    """The handler of a request.

    Attributes:
        name: of the request.
        run: takes the client and the arguments. It returns the body of the response; where
            ``resumes``, the command line of the shell that resumes the tool.
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
    """

    name: str
    run: Callable[..., Result]
    capability: str
    resumes: bool
    at_once: bool
    needs_session: bool
    is_long: bool
    begins: bool
    ends_run: bool
    is_view: bool
    is_free: bool
    is_change: bool
    is_command: bool

    @property
    def arguments(self) -> type[Arguments]:
        """The type of the arguments."""
        hints = get_type_hints(self.run)
        return next(kind for name, kind in hints.items() if name == "arguments")

    @property
    def summary(self) -> str:
        """The first paragraph of the docstring."""
        return " ".join((self.run.__doc__ or "").partition("\n\n")[0].split())


HANDLERS: dict[str, Handler] = {}
CAPABILITIES: dict[str, object] = {}


def request(
    name: str,
    *,
    capability: str = "",
    resumes: bool = False,
    at_once: bool = False,
    needs_session: bool = True,
    is_long: bool = False,
    begins: bool = False,
    ends_run: bool = False,
    is_view: bool = False,
    is_free: bool = False,
    is_change: bool = False,
    is_command: bool = False,
) -> Callable[[Run[ArgumentsT, ResultT]], Run[ArgumentsT, ResultT]]:
    """Declare the decorated function as the handler of a request; see ``Handler``."""

    def declare(run: Run[ArgumentsT, ResultT]) -> Run[ArgumentsT, ResultT]:
        HANDLERS[name] = Handler(
            name=name,
            run=run,
            capability=capability,
            resumes=resumes,
            at_once=at_once,
            needs_session=needs_session,
            is_long=is_long,
            begins=begins,
            ends_run=ends_run,
            is_view=is_view,
            is_free=is_free,
            is_change=is_change,
            is_command=is_command,
        )
        if capability:
            provide(capability)
        return run

    return declare


def provide(capability: str, value: object = True) -> None:
    """Announce a capability that is no request of its own."""
    CAPABILITIES[capability] = value
