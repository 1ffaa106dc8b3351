"""The worker processes of the server: started, asked, cancelled and ended."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path

import msgspec

from actiondbg.commands.mcp.answers import Result
from actiondbg.commands.mcp.restrictions import Restrictions
from actiondbg.commands.mcp.worker import INTERRUPT_SECONDS, Cancel, FromWorker, Progress, Request
from actiondbg.errors import ActiondbgError
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


class WorkerPool:
    """The workers of a server, one for each open session and each job.

    Args:
        most: the number of workers at a time.
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
