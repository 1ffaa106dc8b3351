"""The sessions of clients, each in a worker process: whose they are, and when they end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from actiondbg.commands.mcp.answers import LongAnswers, Result
from actiondbg.commands.mcp.declaration import Arguments, Tool
from actiondbg.commands.mcp.restrictions import Restrictions
from actiondbg.commands.mcp.worker import INTERRUPT_SECONDS, Cancel, FromWorker, Progress, Request
from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.support.counts import counted
from actiondbg.support.interrupts import signal_name
from actiondbg.support.scratch_directory import make_scratch, remove_directory

_LONGEST = 1 << 26  # bytes of a message of a worker
_CANCELS = 3  # until a worker is killed
_END_SECONDS = 10.0  # until a worker that was asked to end is killed

Report = Callable[[Progress], Awaitable[None]]


class WorkerEnded(Exception):
    """The worker process has ended without an answer."""


class WorkerProcess:
    """A worker process; one request at a time.

    Use ``start`` to make one, and ``close`` to end it.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        scratch: Path,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._process = process
        self._scratch = scratch
        self._reader = reader
        self._writer = writer
        self._number = 0
        self._turn = asyncio.Lock()
        self._decoder = msgspec.json.Decoder(FromWorker)
        self._late: set[asyncio.Task[None]] = set()

    @classmethod
    async def start(cls, restrictions: Restrictions) -> WorkerProcess:
        ours, theirs = socket.socketpair()
        # For all temporary files: an interrupt may come before their owner has noted them.
        scratch = make_scratch("mcp")
        words = [str(theirs.fileno()), msgspec.json.encode(restrictions).decode()]
        try:
            with theirs:
                process = subprocess.Popen(
                    [sys.executable, "-P", "-m", "actiondbg.commands.mcp.worker", *words],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    cwd=restrictions.directory,
                    env={**os.environ, "TMPDIR": str(scratch)},
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,  # a terminal's Ctrl-C is the server's
                )
            reader, writer = await asyncio.open_connection(sock=ours, limit=_LONGEST)
        except BaseException:
            ours.close()  # which ends the worker
            remove_directory(scratch)
            raise
        return cls(process, scratch, reader, writer)

    async def call(self, tool: str, arguments: msgspec.Struct, report: Report) -> Result:
        """Run a tool in the worker; a cancelled call ends what it runs.

        Raises:
            WorkerEnded: the worker ended.
        """
        await self._turn.acquire()
        number = self._number = self._number + 1
        is_late = False
        try:
            raw = msgspec.Raw(msgspec.json.encode(arguments))
            self._send(Request(number, tool, raw))
            return await self._reply(report)
        except asyncio.CancelledError:
            # The worker answers soon; only then is it another request's turn.
            is_late = True
            task = asyncio.create_task(self._await_cancelled(number))
            self._late.add(task)
            task.add_done_callback(self._late.discard)
            raise
        finally:
            if not is_late:
                self._turn.release()

    async def close(self) -> None:
        """End the worker, and with it the tool."""
        if self._late:
            await asyncio.wait(self._late)  # a second interrupt would disturb its cleaning up
        self._writer.close()
        await self._ended_in(_END_SECONDS)
        await asyncio.to_thread(remove_directory, self._scratch)

    async def _await_cancelled(self, number: int) -> None:
        reply = asyncio.create_task(self._reply(None))
        try:
            for _ in range(_CANCELS):
                self._send(Cancel(number))
                await asyncio.wait([reply], timeout=INTERRUPT_SECONDS)
                if reply.done():
                    break
            else:
                self._end_group(signal.SIGKILL)
            with contextlib.suppress(WorkerEnded):
                await reply
        finally:
            self._turn.release()

    async def _reply(self, report: Report | None) -> Result:
        while True:
            try:
                line = await self._reader.readline()
            except (ConnectionError, ValueError):  # ValueError: a line is too long
                line = b""
            if not line.endswith(b"\n"):
                status = await self._ended_in(0)
                how = (
                    f"was killed by {signal_name(-status)}"
                    if status < 0
                    else f"ended with status {status}"
                )
                raise WorkerEnded(f"its process {how}")
            message = self._decoder.decode(line)
            if not isinstance(message, Progress):
                return message.result
            if report is not None:
                await report(message)

    def _send(self, message: Request | Cancel) -> None:
        self._writer.write(msgspec.json.encode(message) + b"\n")

    async def _ended_in(self, seconds: float) -> int:
        """Wait for the end of the process; after the time, kill it and what it started."""
        loop = asyncio.get_running_loop()
        waiting = loop.run_in_executor(None, self._process.wait)
        try:
            async with asyncio.timeout(seconds or 0.2):
                return await asyncio.shield(waiting)
        except TimeoutError:
            self._end_group(signal.SIGKILL)
            return await waiting

    def _end_group(self, number: signal.Signals) -> None:
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)


@dataclass
class OpenSession:
    id: str
    worker: WorkerProcess
    command: str
    used: float = field(default_factory=time.monotonic)
    calls: int = 0  # that run now


class Client:
    """The sessions of one client, which end with it."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
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
            async with self._sessions.worker() as worker:
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
        worker = await self._sessions.take()
        try:
            result = await _called(worker, tool, arguments, report)
        except BaseException:
            await self._sessions.give_back(worker)
            raise
        if result.error:  # nothing was opened
            await self._sessions.give_back(worker)
            return result, None
        words = getattr(arguments, "command", None) or [getattr(arguments, "recording", "")]
        session = OpenSession(self._sessions.new_id(), worker, " ".join(map(str, words)))
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
            await self._sessions.give_back(session.worker)


async def _called(
    worker: WorkerProcess, tool: Tool, arguments: Arguments, report: Report
) -> Result:
    try:
        return await worker.call(tool.name, arguments, report)
    except WorkerEnded as ended:
        raise ActiondbgError(f"{tool.name} failed: {ended}.") from None


class Sessions:
    """The workers of a server.

    Args:
        most: how many there may be at a time.
    """

    def __init__(self, restrictions: Restrictions, most: int) -> None:
        self.restrictions = restrictions
        self._most = most
        self._workers: set[WorkerProcess] = set()
        self._places = 0
        self._count = 0

    def new_id(self) -> str:
        """Return an id that no session of this server had."""
        self._count += 1
        return f"s{self._count}"

    async def take(self) -> WorkerProcess:
        """Start a worker; raises ActiondbgError if there are too many."""
        if self._places >= self._most:
            raise ActiondbgError(
                f"{counted(self._places, 'session')} and jobs run already, as many as the server "
                "allows: close one, or wait for the end of a job."
            )
        self._places += 1
        try:
            worker = await WorkerProcess.start(self.restrictions)
        except BaseException:
            self._places -= 1
            raise
        self._workers.add(worker)
        return worker

    async def give_back(self, worker: WorkerProcess) -> None:
        """End a worker, also if the caller is cancelled meanwhile."""
        await asyncio.shield(asyncio.ensure_future(self._end(worker)))

    async def _end(self, worker: WorkerProcess) -> None:
        if worker in self._workers:
            self._workers.discard(worker)
            try:
                await worker.close()
            finally:
                self._places -= 1

    @contextlib.asynccontextmanager
    async def worker(self) -> AsyncGenerator[WorkerProcess]:
        """Lend a worker for one job."""
        worker = await self.take()
        try:
            yield worker
        finally:
            await self.give_back(worker)

    async def close(self) -> None:
        await asyncio.gather(*map(self._end, list(self._workers)))
