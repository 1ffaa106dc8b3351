"""A client of the server: its sessions, each in a worker, and the rest of its long answers."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field

from actiondbg.commands.mcp.answers import LongAnswers, Result
from actiondbg.commands.mcp.declaration import Arguments, Tool
from actiondbg.commands.mcp.worker_pool import Report, WorkerEnded, WorkerPool, WorkerProcess
from actiondbg.errors import ActiondbgError, UsageError


@dataclass
class OpenSession:
    id: str
    worker: WorkerProcess
    command: str
    used: float = field(default_factory=time.monotonic)
    calls: int = 0  # that run now


class Client:
    """The sessions of one client, which end with it."""

    def __init__(self, workers: WorkerPool) -> None:
        self._workers = workers
        self._open: dict[str, OpenSession] = {}
        self.long_answers = LongAnswers()

    def sessions(self) -> list[OpenSession]:
        return list(self._open.values())

    async def call(
        self, tool: Tool, arguments: Arguments, report: Report
    ) -> tuple[Result, str | None]:
        """Run a tool in the worker of its session, or in one for this call.

        Returns:
            The result, and the id of the session.

        Raises:
            ActiondbgError: there is no such session, or there are too many.
        """
        if tool.name == "open":
            return await self._open_session(tool, arguments, report)
        if not tool.in_session:
            async with self._workers.worker() as worker:
                return await _called(worker, tool, arguments, report), None
        session = self.session(str(getattr(arguments, "session", "")))
        if tool.name == "close":
            await self._end(session)
            return Result(f"Session {session.id} is closed."), None
        session.calls += 1
        try:
            return await session.worker.call(tool.name, arguments, report), session.id
        except WorkerEnded as ended:
            await self._end(session)
            raise ActiondbgError(f"Session {session.id} is over: {ended}. Open another.") from None
        finally:
            session.calls -= 1
            session.used = time.monotonic()

    def session(self, id: str) -> OpenSession:
        """Return a session; without an id the only one.

        Raises:
            UsageError: there is none, or several and no id.
        """
        if id in self._open:
            return self._open[id]
        known = f"open are {', '.join(self._open)}" if self._open else "none is open: call open"
        if id:
            raise UsageError(f"There is no session {id!r}; {known}.")
        if len(self._open) != 1:
            raise UsageError(f"Which session? Give the argument session; {known}.")
        return next(iter(self._open.values()))

    async def _open_session(
        self, tool: Tool, arguments: Arguments, report: Report
    ) -> tuple[Result, str | None]:
        worker = await self._workers.take()
        try:
            result = await _called(worker, tool, arguments, report)
        except BaseException:
            await self._workers.give_back(worker)
            raise
        if result.error:  # nothing was opened
            await self._workers.give_back(worker)
            return result, None
        words = getattr(arguments, "command", None) or [getattr(arguments, "recording", "")]
        session = OpenSession(self._workers.new_id(), worker, " ".join(map(str, words)))
        self._open[session.id] = session
        return result, session.id

    async def end_unused(self, seconds: float) -> None:
        now = time.monotonic()
        for session in self.sessions():
            if not session.calls and now - session.used > seconds:
                await self._end(session)

    async def close(self) -> None:
        await asyncio.gather(*map(self._end, self.sessions()))

    async def _end(self, session: OpenSession) -> None:
        if self._open.pop(session.id, None) is not None:
            await self._workers.give_back(session.worker)


async def _called(
    worker: WorkerProcess, tool: Tool, arguments: Arguments, report: Report
) -> Result:
    try:
        return await worker.call(tool.name, arguments, report)
    except WorkerEnded as ended:
        raise ActiondbgError(f"{tool.name} failed: {ended}.") from None
