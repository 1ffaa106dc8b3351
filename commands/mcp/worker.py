"""A worker process: it holds one session, or does one job, and answers requests over a socket.

A process of its own gives a session what the shell has: a main thread, whose waits SIGINT ends.
Nothing that a request does can stop the server, and the kernel cleans up after the process.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import NoReturn

import msgspec

from actiondbg.commands.interpreter.error_text import as_reported, message_of
from actiondbg.commands.mcp.answers import Result
from actiondbg.commands.mcp.desk import Desk
from actiondbg.commands.mcp.restrictions import Restrictions
from actiondbg.commands.mcp.tools import TOOLS
from actiondbg.support.interrupts import raise_interrupt
from actiondbg.support.scratch_directory import remove_directory

# A tool is stopped before its next action, then inside an action, then it is killed.
_INTERRUPTS = 3
INTERRUPT_SECONDS = 2.5  # after each of them
_PRINTED = 1 << 20  # bytes of what a permitted command prints


class Request(msgspec.Struct, tag="request"):
    number: int
    tool: str
    arguments: msgspec.Raw = msgspec.Raw(b"{}")


class Cancel(msgspec.Struct, tag="cancel"):
    """The wish to end a request early."""

    number: int


class Progress(msgspec.Struct, tag="progress", omit_defaults=True):
    text: str
    done: int | None = None
    total: int | None = None


class Reply(msgspec.Struct, tag="reply"):
    number: int
    result: Result


ToWorker = Request | Cancel
FromWorker = Progress | Reply


class Worker:
    """The loop of a worker process."""

    def __init__(self, connection: socket.socket, restrictions: Restrictions) -> None:
        self._connection = connection
        self._sending = threading.Lock()
        self._requests: list[Request] = []
        self._arrived = threading.Condition()
        self._is_over = False
        self._current: int | None = None  # the request that Cancel may interrupt
        self._interrupted = 0.0  # when; cleaning up is not interrupted again at once
        self._desk = Desk(restrictions, self._report)
        # What a permitted command of the system's shell prints is not for the server's output.
        self._printed = os.memfd_create("printed")
        os.dup2(self._printed, 1)

    def run(self) -> None:
        """Answer requests until the server closes the connection."""
        signal.signal(signal.SIGINT, self._interrupt)
        signal.signal(signal.SIGTERM, _exit)
        threading.Thread(target=self._read, daemon=True).start()
        try:
            while (request := self._next()) is not None:
                self._send(Reply(request.number, self._answer(request)))
        finally:
            self._desk.close()
            remove_directory(Path(os.environ["TMPDIR"]))  # the server may have been killed

    def _next(self) -> Request | None:
        """Wait for a request; return None when the server has gone."""
        with self._arrived:
            self._arrived.wait_for(lambda: self._requests or self._is_over)
            return None if self._is_over else self._requests.pop(0)

    def _answer(self, request: Request) -> Result:
        tool = TOOLS[request.tool]
        try:
            arguments = msgspec.json.decode(request.arguments, type=tool.kind)
            self._current = request.number
            try:
                result = None if tool.run is None else tool.run(self._desk, arguments)
            finally:
                self._current = None
            return self._with_printed(self._desk.answered(result))
        except KeyboardInterrupt:
            return self._desk.failed(f"{tool.name} was cancelled.")
        except Exception as error:
            return self._desk.failed(message_of(as_reported(error, tool.name)))

    def _with_printed(self, result: Result) -> Result:
        """Add what a command of the system's shell has printed."""
        size = os.lseek(self._printed, 0, os.SEEK_END)
        if not size:
            return result
        text = os.pread(self._printed, min(size, _PRINTED), 0).decode(errors="replace")
        os.lseek(self._printed, 0, os.SEEK_SET)
        os.ftruncate(self._printed, 0)
        return msgspec.structs.replace(result, text=f"{text}{result.text}".rstrip())

    # --- the connection ---

    def _read(self) -> None:
        """Receive requests in a thread, so that Cancel and the end reach a running request."""
        decoder = msgspec.json.Decoder(ToWorker)
        for line in _lines(self._connection):
            message = decoder.decode(line)
            if isinstance(message, Cancel):
                if message.number == self._current:
                    self._interrupt_current()
                continue
            with self._arrived:
                self._requests.append(message)
                self._arrived.notify()
        with self._arrived:
            self._is_over = True
            self._arrived.notify()
        for _ in range(_INTERRUPTS):
            if time.monotonic() - self._interrupted > INTERRUPT_SECONDS:
                self._interrupt_current()
            time.sleep(INTERRUPT_SECONDS)  # this process ends before, unless it hangs
        os._exit(1)

    def _interrupt_current(self) -> None:
        if self._current is not None:
            self._interrupted = time.monotonic()
            os.kill(os.getpid(), signal.SIGINT)

    def _report(self, text: str, done: int | None, total: int | None) -> None:
        self._send(Progress(text, done, total))

    def _send(self, message: FromWorker) -> None:
        try:
            with self._sending:
                self._connection.sendall(msgspec.json.encode(message) + b"\n")
        except OSError:
            return  # the server has gone, which the reader notices

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._current is not None:  # else the request has just ended
            raise_interrupt(number, frame)


def _lines(connection: socket.socket) -> Iterator[bytes]:
    # A server that ends with messages of ours unread resets the connection.
    with contextlib.suppress(ConnectionResetError), connection.makefile("rb") as stream:
        yield from stream


def _exit(number: int, _: FrameType | None) -> NoReturn:
    """Exit by an exception, so that the session is closed."""
    signal.signal(number, signal.SIG_IGN)
    sys.exit(0)


def main() -> None:
    """Run a worker: the arguments are the number of its socket and the restrictions."""
    restrictions = msgspec.json.decode(sys.argv[2], type=Restrictions)
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        connection.set_inheritable(False)
        Worker(connection, restrictions).run()


if __name__ == "__main__":
    main()
